"""Numbers of cells that are multiplied along a path, given counts: means to predict with, and exp of expected logarithms.

What a network predicts of words is spec D.6; estimated and known rows are as they are.
"""

from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.networks.compiled import CompiledNetwork, compile_network, owners_of
from workbench.kernels.lda.standard_vb import NOTHING_SAMPLED, OUT_OF_REACH, log_row, weigh_rows
from workbench.kernels.networks.field import NEVER, Owners, mean_ends, mean_rest, mix
from workbench.kernels.networks.vb import weigh_rest
from workbench.kernels.threads import each_slice
from workbench.models.model import ModelError
from workbench.models.networks.network import Network

FLOOR = 1e-10
"""Of a probability of an estimated row, renormalised, where words are predicted: of unseen words it would be 0 (spec D.7)."""


def check(network: Network) -> Network:
    """Return the network if words of its documents can be predicted; raise an error otherwise.

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
    options,
    state,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w | d) of each pair by posterior means, given the counts of one state: (pair,)."""
    return predictive(
        compile_network(model, state.alphas, corpus.n_words), owners_of(model, corpus), state, pairs
    )


def predictive(compiled: CompiledNetwork, owners: Owners, state, pairs) -> np.ndarray:
    """Return p(w | d) of each pair: (pair,).

    state : with n_own (document, D), n_rest, n_wk (word, R), n_k (R,), integer or real
    """
    probability = np.empty(pairs.n_pairs)
    ends, phi = (
        row_shares(compiled, owners, state.n_own, state.n_rest),
        word_means(compiled, state.n_wk, state.n_k),
    )
    mix(0, pairs.n_documents, pairs.indptr, pairs.words, ends, phi, probability)
    return probability


def row_shares(compiled: CompiledNetwork, owners: Owners, n_own, n_rest) -> np.ndarray:
    """Return P(row of the last level | document), (document, R), by posterior means."""
    paths = compiled.paths
    x, rest = np.zeros(paths.n_flat), n_rest[None]
    x[paths.one_at] = 1.0
    of_rest = x[paths.rest_at :]
    if len(n_rest):
        mean_rest(compiled.rest, rest, np.zeros(len(n_rest)), of_rest)
        for cells in compiled.points:
            of_rest[cells] = floored(estimates(n_rest[cells]))
        of_rest[compiled.priors.known] = compiled.priors.rest[compiled.priors.known]
    ends = np.empty((len(n_own), paths.n_leaves))
    mean_ends(
        0, len(n_own), owners, compiled.field, compiled.own, n_own, np.zeros(paths.n_own), x, ends
    )
    return ends


def word_means(compiled: CompiledNetwork, n_wk, n_k) -> np.ndarray:
    """Return (word, R) probabilities of words in the rows of the last level, 0 in padding."""
    if compiled.words_are_points:
        phi = np.zeros(n_wk.shape)
        live = compiled.live > 0
        phi[:, live] = floored(estimates(n_wk[:, live].T)).T
        return phi
    return (compiled.priors.beta + n_wk) * (compiled.live / (compiled.priors.beta_total + n_k))


def estimates(counts) -> np.ndarray:
    """Return (row, value) n / sum n; even if a row has no tokens."""
    sizes = counts.sum(axis=1, keepdims=True)
    return np.where(sizes > 0, counts, 1.0) / np.where(sizes > 0, sizes, counts.shape[1])


def floored(table) -> np.ndarray:
    """Return (row, value) probabilities raised to at least `FLOOR` and normalised."""
    raised = np.maximum(table, FLOOR)
    return raised / raised.sum(axis=1, keepdims=True)


class Sampled(NamedTuple):
    """Sampled counts of chains, as arguments of the kernels; see `gibbs.State`."""

    n_own: np.ndarray  # (chain, document, D) int32
    n_rest: np.ndarray  # (chain, 1, C + A * authors) int64
    n_wk: np.ndarray  # (chain, word, R) int32
    n_k: np.ndarray  # (chain, 1, R) int64


NO_CHAIN = Sampled(NOTHING_SAMPLED[0], NOTHING_SAMPLED[2], NOTHING_SAMPLED[1], NOTHING_SAMPLED[2])
"""Where nothing is sampled."""


def corpus_numbers(
    compiled: CompiledNetwork, n_rest, sampled: Sampled = NO_CHAIN
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and log x of every cell of the corpus, in the layout of the paths; 0 and `NEVER` elsewhere."""
    paths = compiled.paths
    x, logs = np.zeros(paths.n_flat), np.full(paths.n_flat, NEVER)
    x[paths.one_at], logs[paths.one_at] = 1.0, 0.0
    if len(n_rest):
        rest, log_rest = x[paths.rest_at :], logs[paths.rest_at :]
        weigh_rest(
            compiled.rest, n_rest[None], sampled.n_rest, np.zeros(len(n_rest)), rest, log_rest
        )
        for cells in compiled.points:
            rest[cells] = estimates(n_rest[cells])
        known = compiled.priors.known
        rest[known] = compiled.priors.rest[known]
        given = np.concatenate(
            [np.flatnonzero(known), *(cells.ravel() for cells in compiled.points)]
        )
        log_rest[given] = np.log(rest[given], out=np.full(len(given), NEVER), where=rest[given] > 0)
    return x, logs


def word_numbers(
    compiled: CompiledNetwork,
    n_wk,
    n_k,
    slices,
    logs,
    weights,
    context: StepContext,
    sampled: Sampled = NO_CHAIN,
) -> None:
    """Return weights (word, R) of all words, exp < psi(beta + n_wk) - psi(W beta + n_k) >, or n_wk / n_k for estimated rows.

    < > is the mean over chains, with the counts of each beside. Logarithms are stored where they are faint; slices are
    ranges of words.
    """
    betas, totals = compiled.priors.beta, compiled.priors.beta_total
    if compiled.words_are_points:
        betas = np.where(n_k > 0, 0.0, 1.0)
        totals = betas * len(n_wk)
    betas = np.where(compiled.live > 0, betas, 1.0)
    of_chains = n_k + sampled.n_k[:, 0] if len(sampled.n_k) else n_k[None]
    sizes = np.empty(of_chains.shape)
    for chain in range(len(sizes)):
        log_row(
            chain,
            totals,
            of_chains,
            NOTHING_SAMPLED[1],
            np.zeros(len(n_k)),
            compiled.words_are_points,
            sizes,
        )
    sizes = np.where(compiled.live > 0, sizes.mean(axis=0), OUT_OF_REACH)
    each_slice(
        lambda a, b: weigh_rows(
            a, b, betas, n_wk, sampled.n_wk, sizes, compiled.words_are_points, logs, weights
        ),
        slices,
        context.n_threads,
        context.interrupt,
    )
