"""Inference of unseen documents given the learnt rows of a network, which stay fixed (spec D.6, B.4).

Counts of documents are fitted as in training until they rest, and what a document then says of each row of the last level is
the sum over its paths of posterior means. Documents that name authors of the run are by these; any other is by an author of
its own, of whom nothing is known but the document: its rows by author are fitted like those of a document, from the prior.
So documents handed over without their authors are all refitted. Labels of unseen documents are what a run is asked for, so
every document may have the values of all labels.

The numbers of cells that are multiplied along a path follow from counts: means to predict with (spec D.6), and exp of expected
logarithms. Estimated and known rows are as they are.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import Options, State, StepContext
from workbench.engines.lda.fold_in import (
    LearntTopics,
    each_document,
    mixture_probability,
    word_probabilities,
)
from workbench.engines.networks.compiled import (
    CompiledNetwork,
    alphas_of,
    compile_network,
    hidden_levels,
    initial_alphas,
    label_sizes,
    languages_of,
    owners_of,
    row_sizes,
)
from workbench.kernels.lda.fold_in import MOST_PASSES, TOLERANCE
from workbench.kernels.lda.standard_vb import NOTHING_SAMPLED, OUT_OF_REACH, log_row
from workbench.kernels.networks.field import NEVER, Owners, mean_ends, mean_rest, mix
from workbench.kernels.networks.path_slots import Counts
from workbench.kernels.networks.vb import fit_documents, sum_rows, weigh_rest, weigh_words
from workbench.kernels.simd.vectors import aligned_zeros
from workbench.kernels.threads import each_slice
from workbench.kernels.uniforms import FOLD_IN
from workbench.models.model import ModelError, Priors
from workbench.models.networks.estimates import FLOOR, row_means
from workbench.models.networks.leaves import words_of_leaves
from workbench.models.networks.levels import WORD, level_priors, narrowed
from workbench.models.networks.network import AUTHORS, DOCUMENT, Network


def check(network: Network) -> Network:
    """Return the network unchanged; raise ModelError if its last level has rows by author, which cannot predict words.

    Raises
    ------
    ModelError
    """
    if any(network.is_author(name) for rows in network.levels[-1].rows for name in rows.by):
        raise ModelError(
            f"rows over words by author, as level '{network.levels[-1].name}' has them, cannot be predicted from; "
            "put a variable between authors and words, as 'author-topic' has"
        )
    return network


def predict(
    corpus: Corpus,
    model: Network,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) (pair,) of held-out pairs by posterior means, given the counts of a state."""
    return predictive(
        compile_network(model, state.alphas, languages_of(corpus, model)),
        owners_of(model, corpus),
        state,
        pairs,
    )


def predictive(
    compiled: CompiledNetwork, owners: Owners, state: State, pairs: Corpus
) -> np.ndarray:
    """Return p(w|d) (pair,) of held-out pairs by posterior means, for a compiled network.

    state : with n_own (document, D), n_rest, n_wk (word, R), n_k (R,), integer or real
    """
    probability = np.empty(pairs.n_pairs)
    ends, phi = (
        row_shares(compiled, owners, state.n_own, state.n_rest),
        word_means(compiled, state.n_wk, state.n_k),
    )
    mix(0, pairs.n_documents, pairs.indptr, pairs.words, ends, phi, probability)
    return probability


def row_shares(
    compiled: CompiledNetwork, owners: Owners, n_own: np.ndarray, n_rest: np.ndarray
) -> np.ndarray:
    """Return p(row of the last level | document) (document, row), padded, from posterior means, estimates and known tables."""
    paths = compiled.paths
    x, rest = np.zeros(paths.n_flat), n_rest[None]
    x[paths.one_at] = 1.0
    rest_means = x[paths.rest_at :]
    if len(n_rest):
        mean_rest(compiled.rest, rest, np.zeros(len(n_rest)), rest_means)
        for cells in compiled.points:
            rest_means[cells] = raise_to_floor(row_means(n_rest[cells], 0.0, "point"))
        rest_means[compiled.priors.known] = compiled.priors.rest[compiled.priors.known]
    ends = np.empty((len(n_own), paths.n_leaves))
    mean_ends(
        0, len(n_own), owners, compiled.field, compiled.own, n_own, np.zeros(paths.n_own), x, ends
    )
    if len(owners.mask):
        n, total, allowed = label_sizes(compiled, owners, n_own)
        ends *= ((total + n) / (allowed + n))[:, None]
    return ends


def word_means(compiled: CompiledNetwork, n_wk: np.ndarray, n_k: np.ndarray) -> np.ndarray:
    """Return the word probabilities (word, row) of last-level rows, posterior means or floored estimates, padded by zeros.

    With several leaves they are the probabilities given the leaf of the word.
    """
    if compiled.words_are_points:
        phi = np.zeros(n_wk.shape)
        live = compiled.live > 0
        phi[:, live] = raise_to_floor(row_means(n_wk[:, live].T, 0.0, "point")).T
        return phi
    inverse = (compiled.live_sizes / (compiled.priors.beta_total + n_k)).reshape(-1, n_wk.shape[1])
    if len(inverse) > 1:
        inverse = inverse[compiled.priors.size_at // n_wk.shape[1]]
    return (compiled.priors.beta + n_wk) * inverse


def raise_to_floor(table: np.ndarray) -> np.ndarray:
    """Return probabilities (row, value), raised to at least `FLOOR`, as unseen words have 0, and renormalised (spec D.7)."""
    bounded_table = np.maximum(table, FLOOR)
    return bounded_table / bounded_table.sum(axis=1, keepdims=True)


NO_CHAIN = Counts(NOTHING_SAMPLED[0], NOTHING_SAMPLED[2], NOTHING_SAMPLED[1], NOTHING_SAMPLED[2])
"""The sampled counts of an engine that samples nothing."""


def corpus_numbers(
    compiled: CompiledNetwork, n_rest: np.ndarray, sampled: Counts = NO_CHAIN
) -> tuple[np.ndarray, np.ndarray]:
    """Return, by address, the path factors that all documents share, and their logs; 0 and `NEVER` at other addresses."""
    paths = compiled.paths
    x, logs = np.zeros(paths.n_flat), np.full(paths.n_flat, NEVER)
    x[paths.one_at], logs[paths.one_at] = 1.0, 0.0
    if len(n_rest):
        rest, log_rest = x[paths.rest_at :], logs[paths.rest_at :]
        weigh_rest(
            compiled.rest, n_rest[None], sampled.n_rest, np.zeros(len(n_rest)), rest, log_rest
        )
        for cells in compiled.points:
            rest[cells] = row_means(n_rest[cells], 0.0, "point")
        is_known = compiled.priors.known
        rest[is_known] = compiled.priors.rest[is_known]
        fixed = np.concatenate(
            [np.flatnonzero(is_known), *(cells.ravel() for cells in compiled.points)]
        )
        log_rest[fixed] = np.log(rest[fixed], out=np.full(len(fixed), NEVER), where=rest[fixed] > 0)
    return x, logs


def word_numbers(
    compiled: CompiledNetwork,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    slices,
    logs: np.ndarray,
    weights: np.ndarray,
    context: StepContext,
    sampled: Counts = NO_CHAIN,
) -> None:
    """Compute weights (word, row) exp < psi(beta + n_wk) - psi(W beta + n_k) >, or n_wk / n_k of point estimates.

    < > is the mean over chains, whose sampled counts are added. ``logs`` are stored for tiny weights; ``slices`` are ranges of
    words.
    """
    betas, totals = compiled.priors.beta, compiled.priors.beta_total
    if compiled.words_are_points:
        betas = np.where(n_k > 0, 0.0, 1.0)
        totals = betas * len(n_wk)
    betas = np.where(compiled.live > 0, betas, 1.0)
    chain_sizes = n_k + sampled.n_k[:, 0] if len(sampled.n_k) else n_k[None]
    sizes = np.empty(chain_sizes.shape)
    for chain in range(len(sizes)):
        log_row(
            chain,
            totals,
            chain_sizes,
            NOTHING_SAMPLED[1],
            np.zeros(len(n_k)),
            compiled.words_are_points,
            sizes,
        )
    sizes, size_at = (
        np.where(compiled.live_sizes > 0, sizes.mean(axis=0), OUT_OF_REACH),
        compiled.priors.size_at,
    )
    each_slice(
        lambda a, b: weigh_words(
            a,
            b,
            size_at,
            betas,
            n_wk,
            sampled.n_wk,
            sizes,
            compiled.words_are_points,
            logs,
            weights,
        ),
        slices,
        context.n_threads,
        context.interrupt,
    )


class Learnt(NamedTuple):
    """The part of a fitted network that inference of unseen documents needs."""

    network: Network  # includes the names of the training authors
    # by name: counts, as in a snapshot, of levels whose rows the corpus shares
    counts: dict[str, np.ndarray]
    alphas: np.ndarray  # all priors, in the order of `networks.compiled.alphas_of`


def learnt_of(network: Network, last: Mapping, topics: LearntTopics) -> Learnt:
    """Return the learnt parameters of a run from the arrays of its last snapshot, by name."""
    counts = {
        level.name: np.asarray(last["n_kw" if level.draws == WORD else f"n_{level.name}"])
        for level in network.levels
        if level.kind != "observed" and not level.of_documents
    }
    priors, alphas = level_priors(last, network), initial_alphas(network)
    for name, prior in alphas_of(network, alphas).items():
        prior[...] = priors[name]
    return Learnt(network, counts, alphas)


def by_variational_bayes(
    parameters: Learnt, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta (document, row of the last level) of unseen documents, whose words have the run's word ids.

    documents : Corpus
        A document without a known author is treated as by a new author.
    context : the seed is used only to break the symmetry of a document's rows with equal priors, e.g. of super-topics
    """
    network, author = parameters.network, parameters.network.author
    if author is None:
        return _fold(network, parameters, documents, context)
    author_names = set(author.values)
    is_named = np.array(
        [
            bool(author_names.intersection(names or ()))
            for names in documents.authors or [()] * documents.n_documents
        ]
    )
    theta = np.empty((documents.n_documents, network.n_topics))
    for numbers, of in ((np.flatnonzero(is_named), network), (np.flatnonzero(~is_named), None)):
        if len(numbers):
            part = documents.of_documents(numbers)
            theta[numbers] = _fold(of or authorless_network(network), parameters, part, context)
    return theta


def unseen(parameters: Learnt, theta: np.ndarray, pairs: Corpus) -> np.ndarray:
    """Return p(w | d) (pair,) of unseen documents; of a network with several leaves p(w | d, leaf of w)."""
    network, last = parameters.network, parameters.network.levels[-1]
    beta = FLOOR
    if last.kind == "dirichlet":
        beta = float(alphas_of(network, parameters.alphas)[last.name].flat[0])
    n_kw = np.asarray(parameters.counts[last.name], np.float64)
    phi = np.empty(n_kw.T.shape)
    for words in words_of_leaves(network.leaves, pairs.vocabulary):
        phi[words] = word_probabilities(
            Priors(np.empty(0), beta), np.ascontiguousarray(n_kw[:, words])
        )
    return mixture_probability(theta, phi, pairs)


def authorless_network(network: Network) -> Network:
    """Return the network without its author variable: rows by author become rows by document, with a Dirichlet prior."""
    author = network.author.name
    levels = tuple(
        replace(
            level,
            rows=tuple(
                replace(rows, by=tuple(DOCUMENT if name == author else name for name in rows.by))
                for rows in level.rows
            ),
            kind="dirichlet" if any(author in rows.by for rows in level.rows) else level.kind,
        )
        for level in network.levels
        if level.table != AUTHORS
    )
    return replace(
        network,
        variables=tuple(variable for variable in network.variables if variable.name != author),
        levels=levels,
    )


def _fold(network: Network, parameters, documents: Corpus, context: StepContext) -> np.ndarray:
    """Return theta of unseen documents by variational inference; their authors, if any, are known to the network."""
    n_kw = parameters.counts[network.levels[-1].name]
    if network.labelled is not None and documents.labels is not None:
        documents = replace(documents, labels=None)
    languages = (
        languages_of(documents, network) if network.leaves else np.zeros(n_kw.shape[1], np.uint8)
    )
    compiled = compile_network(network, parameters.alphas, languages)
    paths, owners = compiled.paths, owners_of(network, documents)
    n_rest, n_wk = (
        rest_counts(compiled, parameters.counts),
        aligned_zeros((n_kw.shape[1], paths.n_leaves), np.float64),
    )
    n_wk[:, paths.leaf_addresses] = n_kw.T
    n_k, words = (
        row_sizes(n_wk, compiled.priors.size_at),
        [aligned_zeros(n_wk.shape, np.float64) for _ in range(2)],
    )
    if compiled.words_are_points:
        words[1][:] = word_means(compiled, n_wk, n_k)
        words[0][:] = np.log(np.maximum(words[1], np.finfo(float).tiny))
    else:
        word_numbers(compiled, n_wk, n_k, [(0, len(n_wk))], *words, context)
    n_own = first_counts(compiled, documents, context)
    row_arrays = [
        aligned_zeros((documents.n_documents, paths.n_leaves), np.float64) for _ in range(3)
    ]
    x, logs = corpus_numbers(compiled, n_rest)
    ratios = np.empty(documents.n_pairs)

    def work(first: int, last: int):
        fit_documents(
            first,
            last,
            documents.indptr,
            documents.words,
            documents.counts,
            owners,
            compiled.field,
            compiled.own,
            NO_CHAIN.n_own,
            *words,
            compiled.n_rows,
            MOST_PASSES,
            TOLERANCE,
            n_own,
            *row_arrays,
            ratios,
            x.copy(),
            logs.copy(),
            np.zeros(len(x)),
        )

    each_document(work, documents, paths.n_leaves, context)
    return row_shares(compiled, owners, n_own, n_rest)[:, paths.leaf_addresses]


def first_counts(compiled, documents: Corpus, context: StepContext) -> np.ndarray:
    """Return initial counts of documents: uniform over a level's values, random if a document has several rows.

    Otherwise rows with the same prior would stay equal (spec D.7).
    """
    paths, n_own = (
        compiled.paths,
        aligned_zeros((documents.n_documents, compiled.paths.n_own), np.float64),
    )
    random = np.random.Generator(np.random.Philox(int(context.key(FOLD_IN))))
    for level in hidden_levels(paths.network):
        if level.of_documents:
            cells = paths.addresses[level.name].cells
            uneven = 2.0 * random.random(cells.shape) if len(cells) > 1 else 1.0
            n_own[:, cells] = documents.document_tokens[:, None, None] * uneven / cells.size
    sum_rows(compiled.own, n_own)
    return n_own


def rest_counts(compiled, counts: dict) -> np.ndarray:
    """Return n_rest: the counts of levels that documents share, given by level name, in the memory layout of `Paths`."""
    paths = compiled.paths
    n_rest = aligned_zeros((paths.n_flat - paths.rest_at,), np.float64)
    for level in hidden_levels(paths.network):
        if not level.of_documents:
            cells = paths.addresses[level.name].cells
            n_rest[cells - paths.rest_at] = narrowed(paths.network, level, counts[level.name])
    sum_rows(compiled.rest, n_rest[None])
    return n_rest
