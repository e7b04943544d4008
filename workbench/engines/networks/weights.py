"""What variational Bayes multiplies along a path: exp of expected logarithms of cells; estimated and known rows as they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.networks.field import CompiledNetwork
from workbench.engines.networks.posterior import estimates
from workbench.kernels.lda.standard_vb import NOTHING_SAMPLED, OUT_OF_REACH, log_row, weigh_rows
from workbench.kernels.networks.field import NEVER
from workbench.kernels.networks.vb import weigh_rest
from workbench.kernels.threads import each_slice


class Sampled(NamedTuple):
    """Sampled counts of chains, as arguments of the kernels; see `gibbs.State`."""

    n_own: np.ndarray    # (chain, document, D) int32
    n_rest: np.ndarray   # (chain, 1, C + A * authors) int64
    n_wk: np.ndarray     # (chain, word, R) int32
    n_k: np.ndarray      # (chain, 1, R) int64


NO_CHAIN = Sampled(NOTHING_SAMPLED[0], NOTHING_SAMPLED[2], NOTHING_SAMPLED[1], NOTHING_SAMPLED[2])
"""Where nothing is sampled."""


def corpus_numbers(compiled: CompiledNetwork, n_rest, sampled: Sampled = NO_CHAIN) -> tuple[np.ndarray, np.ndarray]:
    """x and log x of every cell of the corpus, in the layout of the vector of the paths; 0 and `NEVER` elsewhere."""
    paths = compiled.paths
    x, logs = np.zeros(paths.n_flat), np.full(paths.n_flat, NEVER)
    x[paths.one_at], logs[paths.one_at] = 1.0, 0.0
    if len(n_rest):
        rest, log_rest = x[paths.rest_at :], logs[paths.rest_at :]
        weigh_rest(compiled.rest, n_rest[None], sampled.n_rest, np.zeros(len(n_rest)), rest, log_rest)
        for cells in compiled.points:
            rest[cells] = estimates(n_rest[cells])
        known = compiled.priors.known
        rest[known] = compiled.priors.rest[known]
        given = np.flatnonzero(
            known | np.isin(np.arange(len(rest)), np.concatenate([c.ravel() for c in compiled.points] or [[]]))
        )
        log_rest[given] = np.log(rest[given], out=np.full(len(given), NEVER), where=rest[given] > 0)
    return x, logs


def word_numbers(compiled: CompiledNetwork, n_wk, n_k, slices, logs, weights, context, sampled: Sampled = NO_CHAIN) -> None:
    """Weights (word, R) of all words, exp < psi(beta + n_wk) - psi(W beta + n_k) >, or n_wk / n_k where rows are estimates.

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
        log_row(chain, totals, of_chains, NOTHING_SAMPLED[1], np.zeros(len(n_k)), compiled.words_are_points, sizes)
    sizes = np.where(compiled.live > 0, sizes.mean(axis=0), OUT_OF_REACH)
    each_slice(
        lambda a, b: weigh_rows(
            a, b, betas, n_wk, sampled.n_wk, sizes, compiled.words_are_points, logs, weights
        ),
        slices, context.n_threads, context.interrupt,
    )
