"""What a network predicts of words, given its counts (spec D.6): of documents that it was inferred from, and of unseen ones."""

from __future__ import annotations

import numpy as np

from workbench.engines.networks.field import CompiledNetwork, compile_network
from workbench.engines.networks.paths import owners_of
from workbench.kernels.networks.field import Owners
from workbench.kernels.networks.means import mean_ends, mean_rest, mix

FLOOR = 1e-10
"""Of a probability of an estimated row, renormalised, where words are predicted: of unseen words it would be 0 (spec D.7)."""


def predict(corpus, model, options, state, pairs) -> np.ndarray:
    """p(w | d) of each pair by posterior means, given the counts of one state: (pair,)."""
    return predictive(compile_network(model, state.alphas, corpus.n_words), owners_of(model, corpus), state, pairs)


def predictive(compiled: CompiledNetwork, owners: Owners, state, pairs) -> np.ndarray:
    """p(w | d) of each pair: (pair,).

    state : with n_own (document, D), n_rest, n_wk (word, R), n_k (R,), integer or real
    """
    probability = np.empty(pairs.n_pairs)
    ends, phi = row_shares(compiled, owners, state.n_own, state.n_rest), word_means(compiled, state.n_wk, state.n_k)
    mix(0, pairs.n_documents, pairs.indptr, pairs.words, ends, phi, probability)
    return probability


def row_shares(compiled: CompiledNetwork, owners: Owners, n_own, n_rest) -> np.ndarray:
    """P(row of the last level | document), (document, R), by posterior means."""
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
    mean_ends(0, len(n_own), owners, compiled.field, compiled.own, n_own, np.zeros(paths.n_own), x, ends)
    return ends


def word_means(compiled: CompiledNetwork, n_wk, n_k) -> np.ndarray:
    """(word, R) probabilities of words in the rows of the last level, 0 in padding."""
    if compiled.words_are_points:
        phi = np.zeros(n_wk.shape)
        live = compiled.live > 0
        phi[:, live] = floored(estimates(n_wk[:, live].T)).T
        return phi
    return (compiled.priors.beta + n_wk) * (compiled.live / (compiled.priors.beta_total + n_k))


def estimates(counts) -> np.ndarray:
    """(row, value) n / sum n; even where a row has no tokens."""
    sizes = counts.sum(axis=1, keepdims=True)
    return np.where(sizes > 0, counts, 1.0) / np.where(sizes > 0, sizes, counts.shape[1])


def floored(table) -> np.ndarray:
    """(row, value) probabilities of at least `FLOOR`, before they are brought to a sum of 1 again."""
    raised = np.maximum(table, FLOOR)
    return raised / raised.sum(axis=1, keepdims=True)
