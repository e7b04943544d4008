"""Expectations of functions of a count, a sum of independent Bernoulli draws: exact, and by the engines' approximations."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtr, polygamma, psi

from workbench.measures.selection import MeasureError, attributes
from workbench.models.word_priors import LARGEST_PRIOR, SMALLEST_PRIOR

MOST_DRAWS = 2000


class Curve(NamedTuple):
    """A function of x = prior + count whose expectation is approximated, with its second derivative."""

    value: Callable
    second_derivative: Callable
    meaning: str


FUNCTIONS = {
    "log": Curve(np.log, lambda x: -1.0 / x**2, "log(a + n), in the update of cvb"),
    "digamma": Curve(psi, lambda x: polygamma(2, x), "ψ(a + n), in the update of svb"),
    "exp_digamma": Curve(
        lambda x: np.exp(psi(x)),
        lambda x: np.exp(psi(x)) * (polygamma(1, x) ** 2 + polygamma(2, x)),
        "exp ψ(a + n), the weights of svb",
    ),
    "log_gamma": Curve(gammaln, lambda x: polygamma(1, x), "log Γ(a + n), in the bounds"),
}
APPROXIMATIONS = {
    "exact": "the sum over the Poisson-binomial distribution of n",
    "gaussian": "the sum over a normal distribution of the same mean and variance, its mass put on whole counts from 0 to N",
    "zeroth": "f(a + E), at the mean",
    "second": "f(a + E) + V f''(a + E) / 2",
    "improved": "P(0) f(a) + P(+) (f(a + E+) + V+ f''(a + E+) / 2), with mean and variance given n > 0",
}
"""Method → definition of the expectation."""


def poisson_binomial(q: np.ndarray) -> np.ndarray:
    """Return the distribution (count, …) of the number of successes in independent draws of probability q (draw, …)."""
    q = np.asarray(q, float)
    distribution = np.zeros((len(q) + 1, *q.shape[1:]))
    distribution[0] = 1.0
    for n, p in enumerate(q, start=1):
        distribution[1 : n + 1] = distribution[1 : n + 1] * (1.0 - p) + distribution[:n] * p
        distribution[0] *= 1.0 - p
    return distribution


def count_expectations(q: ArrayLike, a: float) -> xr.Dataset:
    """Return the expectation of each of `FUNCTIONS` at prior plus count, exact and by each of `APPROXIMATIONS`.

    Parameters
    ----------
    q : (draw,) probabilities
        For instance the responsibilities of one topic, one per token: n is then one of the counts n_dk, n_wk or n_k.
    a : float
        The prior that is added to the count.

    Returns
    -------
    Dataset
        ``expectation`` (function, approximation) and its ``error``, the difference from the exact one; ``probability`` and
        ``gaussian`` (count,), the exact and the normal distribution of the count. ``attrs``: ``mean`` E, ``variance`` V and
        ``zero`` P(0) of the count, ``mean_positive`` E+ and ``variance_positive`` V+ given that it is positive.

    Raises
    ------
    MeasureError
        For no draw or more than 2000, probabilities outside 0 to 1, and a prior outside the range of the models.

    Teh, Newman & Welling (2007), for the second order; Teh, Kurihara & Welling (2008), eq. 11-14, for the improved one.
    """
    q = _check(q)
    if not SMALLEST_PRIOR <= a <= LARGEST_PRIOR:
        raise MeasureError(
            f"the prior a must be a number from {SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}; got {a:g}"
        )
    expectations, exact, gaussian, moments = _expectations(q, np.array(a, float))
    values = np.array(
        [
            [float(expectations[name][approximation]) for approximation in APPROXIMATIONS]
            for name in FUNCTIONS
        ]
    )
    return xr.Dataset(
        {
            "expectation": (
                ("function", "approximation"),
                values,
                attributes("expectation of a function of the count"),
            ),
            "error": (
                ("function", "approximation"),
                values - values[:, :1],
                attributes("error of an expectation"),
            ),
            "probability": ("count", exact, attributes("probability of the count")),
            "gaussian": (
                "count",
                gaussian,
                attributes("probability by a normal distribution"),
            ),
        },
        {
            "function": list(FUNCTIONS),
            "approximation": list(APPROXIMATIONS),
            "count": np.arange(len(q) + 1),
        },
        {"a": a, **{name: float(value) for name, value in moments.items()}},
    )


def error_map(
    function: str, approximation: str, n_draws: int, means: np.ndarray, priors: np.ndarray
) -> xr.DataArray:
    """Return an approximation's error on a grid of count means and priors, for draws of equal probability.

    function, approximation : keys of `FUNCTIONS`, `APPROXIMATIONS`. means : (mean,) from 0 to n_draws.
    priors : (prior,).
    Dims ``prior`` and ``mean``: the approximation minus the exact expectation.
    """
    MeasureError.one_of("function", function, FUNCTIONS)
    MeasureError.one_of("approximation", approximation, APPROXIMATIONS)
    means, priors = np.asarray(means, float), np.asarray(priors, float)
    q = _check(np.broadcast_to(means / n_draws, (n_draws, len(means))))
    expectations = _expectations(q[:, None, :], priors[:, None])[0][function]
    values = expectations[approximation] - expectations["exact"]
    settings = {"function": function, "approximation": approximation, "n_draws": n_draws}
    coords = {"prior": priors, "mean": means}
    about = attributes("error of an expectation") | settings
    return xr.DataArray(values, coords, ("prior", "mean"), "error", about)


def _expectations(
    q: np.ndarray, a: np.ndarray
) -> tuple[dict[str, dict[str, np.ndarray]], np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the expectations for draws of probability q (draw, …) and priors a, broadcast against q's other axes.

    Returns function → approximation → (…); the exact and the normal distribution of the count (count, …); its moments by name.
    """
    exact, mean, variance = poisson_binomial(q), q.sum(axis=0), (q * (1.0 - q)).sum(axis=0)
    counts = np.arange(len(exact)).reshape(-1, *[1] * (exact.ndim - 1))
    zero = exact[0]
    positive = exact[1:].sum(axis=0)
    positive_or_one = np.where(positive > 0, positive, 1.0)
    mean_positive = np.where(positive > 0, (counts * exact).sum(axis=0) / positive_or_one, 1.0)
    variance_positive = np.where(
        positive > 0, ((counts - mean_positive) ** 2 * exact)[1:].sum(axis=0) / positive_or_one, 0.0
    )
    gaussian, values = normal_on_counts(mean, variance, len(q)), {}
    for name, (f, second_derivative, _) in FUNCTIONS.items():
        at_counts, at_mean = f(a + counts), a + mean
        if_positive = (
            f(a + mean_positive) + variance_positive * second_derivative(a + mean_positive) / 2
        )
        values[name] = {
            "exact": (exact * at_counts).sum(axis=0),
            "gaussian": (gaussian * at_counts).sum(axis=0),
            "zeroth": f(at_mean) + 0.0 * mean,
            "second": f(at_mean) + variance * second_derivative(at_mean) / 2,
            "improved": zero * f(a + 0.0 * mean) + positive * if_positive,
        }
    moments = {
        "mean": mean,
        "variance": variance,
        "zero": zero,
        "mean_positive": mean_positive,
        "variance_positive": variance_positive,
    }
    return values, exact, gaussian, moments


def normal_on_counts(mean: np.ndarray, variance: np.ndarray, n: int) -> np.ndarray:
    """Return a normal's mass on each count ± 1/2 (count, …); the first and last count also get the tails."""
    edges = np.arange(n).reshape(-1, *[1] * np.ndim(mean)) + 0.5
    deviation = np.sqrt(np.maximum(variance, 1e-300))
    cumulative = np.concatenate(
        [
            np.zeros((1, *np.shape(mean))),
            ndtr((edges - mean) / deviation),
            np.ones((1, *np.shape(mean))),
        ]
    )
    return np.diff(cumulative, axis=0)


def _check(q: ArrayLike) -> np.ndarray:
    """Return the probabilities as floats; raise MeasureError for too many, or for one outside [0, 1]."""
    q = np.asarray(q, float)
    if q.ndim == 0 or not 1 <= len(q) <= MOST_DRAWS:
        raise MeasureError(
            f"a count has from 1 to {MOST_DRAWS:,} tokens; got {np.size(q) if q.ndim else 'one number'}"
        )
    if not ((q >= 0) & (q <= 1)).all():
        outlier = q[~((q >= 0) & (q <= 1))].flat[0]
        raise MeasureError(f"a responsibility is a number from 0 to 1; got {outlier:g}")
    return q
