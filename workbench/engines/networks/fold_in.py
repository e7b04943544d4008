"""Unseen documents under what a run of a network has learnt of the corpus, which stays as it is (spec D.6, B.4).

Counts of documents are fitted as in training until they rest, and what a document then says of each row of the last level is
the sum over its paths of posterior means. Documents that name authors of the run are by these; any other is by an author of
its own, of whom nothing is known but the document: its rows by author are fitted like those of a document, from the prior.
So documents handed over without their authors are all refitted.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.engines.engine import StepContext
from workbench.engines.lda.fold_in import PASSES
from workbench.engines.networks.compiled import (
    alphas_of,
    compile_network,
    hidden_levels,
    initial_alphas,
    owners_of,
)
from workbench.engines.networks.weights import (
    NO_CHAIN,
    corpus_numbers,
    row_shares,
    word_means,
    word_numbers,
)
from workbench.kernels.lda.fold_in import MOST_PASSES, TOLERANCE
from workbench.kernels.networks.vb import fit_documents, sum_rows
from workbench.kernels.simd.lanes import aligned_zeros
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import FOLD_IN
from workbench.models.networks.levels import WORD
from workbench.models.networks.network import AUTHORS, DOCUMENT, Network
from workbench.models.networks.variables import level_priors, narrowed


class Learnt(NamedTuple):
    """The part of a fitted network that inference of unseen documents needs."""

    network: Network  # with the authors that it knows
    # by name of the level, of those without rows by document, as `Engine.counts` gives them
    counts: dict[str, np.ndarray]
    alphas: np.ndarray  # all priors, as `networks.compiled.alphas_of` reads them


def learnt_of(network: Network, last: Mapping, topics) -> Learnt:
    """Return the learnt part of a run, from its last snapshot (arrays by name)."""
    counts = {
        level.name: np.asarray(last["n_kw" if level.draws == WORD else f"n_{level.name}"])
        for level in network.levels
        if level.kind != "observed" and not level.of_documents
    }
    priors, alphas = level_priors(last, network), initial_alphas(network)
    for name, own in alphas_of(network, alphas).items():
        own[...] = priors[name]
    return Learnt(network, counts, alphas)


def by_variational_bayes(learnt: Learnt, options, documents, context: StepContext) -> np.ndarray:
    """Return theta (document, row of the last level) of unseen documents over the words of the run.

    documents : Corpus
        Of whom no author is known to the run: by somebody new.
    context : its seed separates rows of a document with one prior, such as those of super-topics; else it plays no part
    """
    network, author = learnt.network, learnt.network.author
    if author is None:
        return _fold(network, learnt, documents, context)
    known = set(author.values)
    named = np.array(
        [
            bool(known.intersection(names or ()))
            for names in documents.authors or [()] * documents.n_documents
        ]
    )
    theta = np.empty((documents.n_documents, network.n_topics))
    for which, of in ((np.flatnonzero(named), network), (np.flatnonzero(~named), None)):
        if len(which):
            part = documents.of_documents(which)
            theta[which] = _fold(of or by_themselves(network), learnt, part, context)
    return theta


def by_themselves(network: Network) -> Network:
    """Return the network in which every document is an author of its own, so that rows by author become rows by document."""
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
        variables=tuple(each for each in network.variables if each.name != author),
        levels=levels,
    )


def _fold(network: Network, learnt, documents, context: StepContext) -> np.ndarray:
    """Infer theta of documents whose authors, if the network has any, are known."""
    n_kw = learnt.counts[network.levels[-1].name]
    compiled = compile_network(network, learnt.alphas, n_kw.shape[1])
    paths, owners = compiled.paths, owners_of(network, documents)
    n_rest, n_wk = (
        rest_counts(compiled, learnt.counts),
        aligned_zeros((n_kw.shape[1], paths.n_leaves), np.float64),
    )
    n_wk[:, paths.leaf_places] = n_kw.T
    n_k, words = n_wk.sum(axis=0), [aligned_zeros(n_wk.shape, np.float64) for _ in range(2)]
    if compiled.words_are_points:
        words[1][:] = word_means(compiled, n_wk, n_k)
        words[0][:] = np.log(np.maximum(words[1], np.finfo(float).tiny))
    else:
        word_numbers(compiled, n_wk, n_k, [(0, len(n_wk))], *words, context)
    n_own = first_counts(compiled, documents, context)
    of_rows = [aligned_zeros((documents.n_documents, paths.n_leaves), np.float64) for _ in range(3)]
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
            *of_rows,
            ratios,
            x.copy(),
            logs.copy(),
            np.zeros(len(x)),
        )

    each_slice(
        work,
        slice_bounds(documents.indptr, paths.n_leaves * PASSES),
        context.n_threads,
        context.interrupt,
    )
    return row_shares(compiled, owners, n_own, n_rest)[:, paths.leaf_places]


def first_counts(compiled, documents, context: StepContext) -> np.ndarray:
    """Return (document, D) initial counts, even over a level's values; random where a level has several rows.

    Without that, rows with one prior would stay alike for ever (spec D.7).
    """
    paths, n_own = (
        compiled.paths,
        aligned_zeros((documents.n_documents, compiled.paths.n_own), np.float64),
    )
    random = np.random.Generator(np.random.Philox(int(context.key(FOLD_IN))))
    for level in hidden_levels(paths.network):
        if level.of_documents:
            cells = paths.places[level.name].cells
            uneven = 2.0 * random.random(cells.shape) if len(cells) > 1 else 1.0
            n_own[:, cells] = documents.document_tokens[:, None, None] * uneven / cells.size
    sum_rows(compiled.own, n_own)
    return n_own


def rest_counts(compiled, counts: dict) -> np.ndarray:
    """Return counts of the corpus and of authors in the layout of the paths, from those by level."""
    paths = compiled.paths
    n_rest = aligned_zeros((paths.n_flat - paths.rest_at,), np.float64)
    for level in hidden_levels(paths.network):
        if not level.of_documents:
            cells = paths.places[level.name].cells
            n_rest[cells - paths.rest_at] = narrowed(paths.network, level, counts[level.name])
    sum_rows(compiled.rest, n_rest[None])
    return n_rest
