"""Expectations of functions of a count, a sum of independent Bernoulli draws: exact, and by the expansions that engines use."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import gammaln, ndtr, polygamma, psi

from workbench.measures.selection import MeasureError
from workbench.models.lda import LARGEST_PRIOR, SMALLEST_PRIOR

MOST_DRAWS = 2000


class Curve(NamedTuple):
    """A function of x = a + n, and its second derivative."""

    value: Callable
    bend: Callable
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
"""How an expectation is computed → its definition."""


def poisson_binomial(q: np.ndarray) -> np.ndarray:
    """(count, …) distribution of the number of successes in independent draws; q (draw, …) their probabilities."""
    q = np.asarray(q, float)
    found = np.zeros((len(q) + 1, *q.shape[1:]))
    found[0] = 1.0
    for n, p in enumerate(q, start=1):
        found[1 : n + 1] = found[1 : n + 1] * (1.0 - p) + found[:n] * p
        found[0] *= 1.0 - p
    return found


def count_expectations(q, a: float) -> xr.Dataset:
    """Expectations of `FUNCTIONS` of a + n by each of `APPROXIMATIONS`, where n counts successes of independent draws.

    Parameters
    ----------
    q : (draw,) probabilities
        Such as the responsibilities of one topic, once for each token: n is then one of the counts n_dk, n_wk or n_k.
    a : float
        The prior that is added to the count.

    Returns
    -------
    Dataset
        ``expectation`` (function, approximation) and its ``error``, less the exact one; ``probability`` and ``gaussian``
        (count,), of the count exactly and by the normal distribution. ``attrs``: ``mean`` E, ``variance`` V and ``zero`` P(0)
        of the count, ``mean_positive`` E+ and ``variance_positive`` V+ given that it is not 0.

    Raises
    ------
    MeasureError
        For no draw, more than 2000, probabilities beyond 0 to 1, and a prior that no model has.

    Teh, Newman & Welling (2007), for the second order; Teh, Kurihara & Welling (2008), eq. 11-14, for the improved one.
    """
    q = _checked(q)
    if not SMALLEST_PRIOR <= a <= LARGEST_PRIOR:
        raise MeasureError(
            f"the prior a must be a number from {SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}; got {a:g}"
        )
    found = _expectations(q, np.array(a, float))
    values = np.array(
        [[float(found.value[name][each]) for each in APPROXIMATIONS] for name in FUNCTIONS]
    )
    return xr.Dataset(
        {
            "expectation": (
                ("function", "approximation"),
                values,
                _about("expectation of a function of the count"),
            ),
            "error": (
                ("function", "approximation"),
                values - values[:, :1],
                _about("error of an expectation"),
            ),
            "probability": ("count", found.exact, _about("probability of the count")),
            "gaussian": ("count", found.gaussian, _about("probability by a normal distribution")),
        },
        {
            "function": list(FUNCTIONS),
            "approximation": list(APPROXIMATIONS),
            "count": np.arange(len(q) + 1),
        },
        {"a": a, **{name: float(value) for name, value in found.moments.items()}},
    )


def error_map(
    function: str, approximation: str, n_draws: int, means: np.ndarray, priors: np.ndarray
) -> xr.DataArray:
    """The error of an expectation over the mean of the count and the prior, all draws equally probable.

    function, approximation : of `FUNCTIONS`, `APPROXIMATIONS`. n_draws : tokens; means : (mean,) from 0 to n_draws;
    priors : (prior,).
    Dims ``prior`` and ``mean``: what the approximation gives less the exact expectation.
    """
    if function not in FUNCTIONS or approximation not in APPROXIMATIONS:
        known, wrong = (
            (FUNCTIONS, function) if function not in FUNCTIONS else (APPROXIMATIONS, approximation)
        )
        raise MeasureError(f"no '{wrong}'; there are {', '.join(known)}")
    means, priors = np.asarray(means, float), np.asarray(priors, float)
    q = _checked(np.broadcast_to(means / n_draws, (n_draws, len(means))))
    found = _expectations(q[:, None, :], priors[:, None])
    values = found.value[function][approximation] - found.value[function]["exact"]
    of = {"function": function, "approximation": approximation, "n_draws": n_draws}
    coords, about = {"prior": priors, "mean": means}, _about("error of an expectation")
    return xr.DataArray(values, coords, ("prior", "mean"), "error", about | of)


class _Found(NamedTuple):
    exact: np.ndarray  # (count, …)
    gaussian: np.ndarray  # (count, …)
    moments: dict
    value: dict  # function → approximation → (…)


def _expectations(q: np.ndarray, a: np.ndarray) -> _Found:
    """All expectations of draws q (draw, …) at priors a that broadcast with the rest."""
    exact, mean, variance = poisson_binomial(q), q.sum(axis=0), (q * (1.0 - q)).sum(axis=0)
    counts = np.arange(len(exact)).reshape(-1, *[1] * (exact.ndim - 1))
    zero = exact[0]
    positive = exact[1:].sum(axis=0)
    some = np.where(positive > 0, positive, 1.0)
    mean_positive = np.where(positive > 0, (counts * exact).sum(axis=0) / some, 1.0)
    variance_positive = np.where(
        positive > 0, ((counts - mean_positive) ** 2 * exact)[1:].sum(axis=0) / some, 0.0
    )
    gaussian, found = normal_on_counts(mean, variance, len(q)), {}
    for name, (f, bend, _) in FUNCTIONS.items():
        at_counts, at_mean = f(a + counts), a + mean
        given_positive = f(a + mean_positive) + variance_positive * bend(a + mean_positive) / 2
        found[name] = {
            "exact": (exact * at_counts).sum(axis=0),
            "gaussian": (gaussian * at_counts).sum(axis=0),
            "zeroth": f(at_mean) + 0.0 * mean,
            "second": f(at_mean) + variance * bend(at_mean) / 2,
            "improved": zero * f(a + 0.0 * mean) + positive * given_positive,
        }
    moments = {
        "mean": mean,
        "variance": variance,
        "zero": zero,
        "mean_positive": mean_positive,
        "variance_positive": variance_positive,
    }
    return _Found(exact, gaussian, moments, found)


def _about(meaning: str) -> dict[str, str]:
    return {"long_name": meaning, "units": ""}


def normal_on_counts(mean: np.ndarray, variance: np.ndarray, n: int) -> np.ndarray:
    """(count, …) mass of a normal distribution between n - 1/2 and n + 1/2; what lies beyond is on 0 and on the largest."""
    edges = np.arange(n).reshape(-1, *[1] * np.ndim(mean)) + 0.5
    width = np.sqrt(np.maximum(variance, 1e-300))
    below = np.concatenate(
        [
            np.zeros((1, *np.shape(mean))),
            ndtr((edges - mean) / width),
            np.ones((1, *np.shape(mean))),
        ]
    )
    return np.diff(below, axis=0)


def _checked(q) -> np.ndarray:
    q = np.asarray(q, float)
    if q.ndim == 0 or not 1 <= len(q) <= MOST_DRAWS:
        raise MeasureError(
            f"a count has from 1 to {MOST_DRAWS:,} tokens; got {np.size(q) if q.ndim else 'one number'}"
        )
    if not ((q >= 0) & (q <= 1)).all():
        wrong = q[~((q >= 0) & (q <= 1))].flat[0]
        raise MeasureError(f"a responsibility is a number from 0 to 1; got {wrong:g}")
    return q
