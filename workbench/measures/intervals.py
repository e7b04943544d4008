"""Standard errors and intervals: Student's over repetitions, batch means of a chain, bootstrap over documents."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from workbench.runs.afterwards.heldout_by_document import Scored

LEVEL = 0.95
N_RESAMPLES = 1000
"""Enough to estimate the bounds of a 95 % interval to about a tenth of its width."""


def mean_and_error(values: ArrayLike) -> tuple:
    """Return the mean over the first axis and its standard error; NaN if there are too few values."""
    values = np.asarray(values, float)
    n, unknown = len(values), np.full(values.shape[1:], np.nan)
    mean, error = (
        values.mean(axis=0) if n else unknown,
        values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else unknown,
    )
    return (mean, error) if values.ndim > 1 else (float(mean), float(error))


def t_interval(values: np.ndarray) -> tuple[float, float]:
    """Return Student's 95 % interval of the mean of repetitions; NaN for fewer than two."""
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2) * np.std(values, ddof=1) / np.sqrt(n))
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def batch_means(values: np.ndarray) -> float:
    """Return the standard error of the mean of an autocorrelated chain by batch means; NaN for fewer than four values.

    sqrt(n) consecutive batches of sqrt(n) values, rounded down, without the first values: their means are nearly independent.

    Flegal & Jones (2010), section 3.
    """
    size = int(np.sqrt(len(values)))
    if size < 2:
        return np.nan
    return mean_and_error(values[-size * (len(values) // size) :].reshape(-1, size).mean(axis=1))[1]


def resampled_perplexities(scored: Scored, n: int = N_RESAMPLES, seed: int = 0) -> np.ndarray:
    """Return (resample,) bootstrap perplexities over the documents with a held-out token.

    NaN for fewer than two such documents. Runs scored on the same documents get the same resamples, so their differences are
    paired.

    Efron (1979); Koehn (2004), who pairs them.
    """
    held_out = np.flatnonzero(scored.n_tokens)
    if len(held_out) < 2:
        return np.full(n, np.nan)
    sums = np.stack([scored.log_likelihood[held_out], scored.n_tokens[held_out]], axis=1)
    rng = np.random.default_rng(seed)
    totals = np.array([sums[rng.integers(len(sums), size=len(sums))].sum(axis=0) for _ in range(n)])
    return np.exp(-totals[:, 0] / totals[:, 1])


def percentile_interval(resamples: np.ndarray) -> tuple[float, float]:
    """Return the 95 % percentile interval; NaN without values."""
    return (
        tuple(np.quantile(resamples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist())
        if len(resamples)
        else (np.nan, np.nan)
    )
