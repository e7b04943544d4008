"""What variational Bayes multiplies along a path: exp of expected logarithms of cells; estimated and known rows as they are."""

from __future__ import annotations

import numpy as np

from workbench.engines.network_field import Bound
from workbench.engines.network_posterior import estimates
from workbench.kernels.path_field import NEVER
from workbench.kernels.path_vb import weigh_rest
from workbench.kernels.slices import each_slice
from workbench.kernels.standard_vb import NOTHING_SAMPLED, OUT_OF_REACH, log_row, weigh_rows


def corpus_numbers(bound: Bound, n_rest) -> tuple[np.ndarray, np.ndarray]:
    """x of every cell of the corpus and log x, where the vector of the paths has them; 0 and `NEVER` elsewhere."""
    paths = bound.paths
    x, logs = np.zeros(paths.n_flat), np.full(paths.n_flat, NEVER)
    x[paths.one_at], logs[paths.one_at] = 1.0, 0.0
    if len(n_rest):
        rest, log_rest = x[paths.rest_at :], logs[paths.rest_at :]
        weigh_rest(bound.rest, n_rest[None], np.zeros(len(n_rest)), rest, log_rest)
        for cells in bound.points:
            rest[cells] = estimates(n_rest[cells])
        known = bound.priors.known
        rest[known] = bound.priors.rest[known]
        given = np.flatnonzero(known | np.isin(np.arange(len(rest)), np.concatenate([c.ravel() for c in bound.points] or [[]])))
        log_rest[given] = np.log(rest[given], out=np.full(len(given), NEVER), where=rest[given] > 0)
    return x, logs


def word_numbers(bound: Bound, n_wk, n_k, slices, logs, weights, turn) -> None:
    """Weights (word, R) of all words, exp{ psi(beta + n_wk) - psi(W beta + n_k) }, or n_wk / n_k where rows are estimates.

    Logarithms are stored where they are faint; slices are ranges of words.
    """
    betas, totals = bound.priors.beta, bound.priors.beta_total
    if bound.words_are_points:
        betas = np.where(n_k > 0, 0.0, 1.0)
        totals = betas * len(n_wk)
    betas = np.where(bound.live > 0, betas, 1.0)
    sizes = np.empty((1, len(n_k)))
    log_row(0, totals, n_k[None], NOTHING_SAMPLED[1], np.zeros(len(n_k)), bound.words_are_points, sizes)
    sizes = np.where(bound.live > 0, sizes[0], OUT_OF_REACH)
    each_slice(
        lambda a, b: weigh_rows(
            a, b, betas, n_wk, NOTHING_SAMPLED[1], sizes, bound.words_are_points, logs, weights
        ),
        slices, turn.n_threads, turn.pulse,
    )
