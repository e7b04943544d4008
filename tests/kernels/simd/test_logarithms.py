"""Vectors of logarithms and log-gammas against numpy and scipy, and the sums of them over pairs against exact sums."""

import math

import numba
import numpy as np
import pytest
from scipy.special import gammaln

from workbench.kernels.log_likelihood import log_likelihood, take_in
from workbench.kernels.simd.lanes import LANES
from workbench.kernels.simd.special import log_gammas, logs
from workbench.kernels.simd.vectors import load, store

UNITS = 5e-16
"""Relative: two or three in the last place."""


@numba.njit(error_model="numpy")
def compute(x, log, log_gamma):
    for i in range(0, len(x), LANES):
        v = load(x, i)
        store(log, i, logs(v))
        store(log_gamma, i, log_gammas(v))


def computed(x):
    """log and log-gamma of each."""
    x = np.resize(x, -(-len(x) // LANES) * LANES)
    out = np.empty((2, len(x)))
    compute(x, *out)
    return x, *out


def test_logs_are_right_to_the_last_bits():
    for x in (np.geomspace(1e-307, 1e307, 40_001), np.linspace(0.4, 2.5, 40_001)):
        x, found, _ = computed(x)
        np.testing.assert_allclose(found, np.log(x), rtol=UNITS, atol=0)


def test_the_log_of_nothing_is_minus_infinity_and_what_is_no_number_stays_none():
    found = computed(np.array([0.0, 1e-310, np.inf, np.nan, 1.0]))[1]
    np.testing.assert_array_equal(found[:5], [-np.inf, -np.inf, np.inf, np.nan, 0.0])


def test_log_gammas_meet_scipy():
    for low, high, absolute, relative in (
        (1e-8, 10, 5e-14, UNITS),  # the series at 8 is cut at 1e-14, and logs up to 37 cancel
        (10, 1e9, 0.0, 4 * UNITS),
    ):
        x, _, found = computed(np.geomspace(low, high, 20_001))
        np.testing.assert_allclose(found, gammaln(x), rtol=relative, atol=absolute)


def exact(counts, probability):
    return math.fsum(
        c * math.log(p) for c, p in zip(counts.tolist(), probability.tolist(), strict=True)
    )


RANDOM = np.random.default_rng(5)
LIKELY = RANDOM.uniform(1e-6, 1e-2, 1000)
PAIRS = {
    "singletons": (np.ones(1000, np.int32), LIKELY),
    "small counts": (RANDOM.integers(1, 4, 1000), LIKELY),
    "any counts": (RANDOM.geometric(0.3, 1000), LIKELY),
    "a count of millions": (np.r_[np.ones(20), 5_000_000, np.ones(20)], LIKELY[:41]),
    "nearly impossible": (
        RANDOM.integers(1, 4, 1000),
        RANDOM.choice([1e-300, 1e-150, 1e-90, 0.5], 1000),
    ),
    "nearly certain": (RANDOM.integers(1, 4, 1000), 1 - LIKELY * 1e-6),
}
ROUNDING = 1e-13
"""Relative: logs of a product of up to a few hundred factors, each right to 1e-16."""


@pytest.mark.parametrize("name", PAIRS)
def test_the_log_likelihood_is_the_exact_sum(name):
    counts, probability = PAIRS[name][0].astype(np.int32), PAIRS[name][1]
    assert log_likelihood(counts, probability) == pytest.approx(
        exact(counts, probability), rel=ROUNDING
    )


@pytest.mark.parametrize("n_pairs", [0, 1, 2, 15, 16, 17, 31, 32, 33])
def test_no_pair_is_left_out_or_counted_twice(n_pairs):
    counts, probability = np.arange(1, n_pairs + 1, dtype=np.int32) % 5 + 1, LIKELY[:n_pairs]
    assert log_likelihood(counts, probability) == pytest.approx(
        exact(counts, probability), rel=ROUNDING
    )


@pytest.mark.parametrize(("wrong", "expected"), [(0.0, -math.inf), (math.nan, math.nan)])
@pytest.mark.parametrize("at", [0, 20, 39])
def test_one_impossible_pair_makes_all_impossible(wrong, expected, at):
    probability = LIKELY[:40].copy()
    probability[at] = wrong
    np.testing.assert_equal(log_likelihood(np.ones(40, np.int32), probability), expected)


@pytest.mark.parametrize("n_pairs", [0, 5, 16, 37])
def test_a_mean_takes_in_one_more(n_pairs):
    counts, before, p = (
        np.arange(n_pairs, dtype=np.int32) % 5 + 1,
        LIKELY[:n_pairs],
        LIKELY[100 : 100 + n_pairs],
    )
    mean = np.empty(n_pairs)
    logs_of = take_in(counts, p, before, 3, mean)
    np.testing.assert_allclose(mean, (3 * before + p) / 4, rtol=UNITS)
    assert logs_of == (log_likelihood(counts, p), log_likelihood(counts, mean))


def test_the_first_of_a_mean_is_the_mean():
    mean = np.empty(37)
    alone, of_mean = take_in(np.ones(37, np.int32), LIKELY[:37], np.zeros(37), 0, mean)
    assert np.array_equal(mean, LIKELY[:37])
    assert alone == of_mean
