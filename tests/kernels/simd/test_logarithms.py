"""Vectors of logarithms, log-gammas and exponentials of digamma against numpy and scipy, and their sums."""

import math
import platform

import numba
import numpy as np
import pytest
from numba import njit
from scipy.special import gammaln, psi
from toys import called

from workbench.kernels.jit import lean
from workbench.kernels.lda.initial_topics import sixteen_uniforms
from workbench.kernels.log_likelihood import log_likelihood, take_in
from workbench.kernels.simd import functions
from workbench.kernels.simd.functions import log_gammas, logs
from workbench.kernels.simd.libm_log import NEAR_ONE, libm_log
from workbench.kernels.simd.vectors import LANES, load, store
from workbench.kernels.uniforms import draw_key, fill_uniform

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


@pytest.mark.parametrize(
    ("counts", "probability"),
    [
        *PAIRS.values(),
        *(
            (np.arange(1, n_pairs + 1) % 5 + 1, LIKELY[:n_pairs])
            for n_pairs in (0, 1, 2, 15, 16, 17, 31, 32, 33)
        ),
    ],
)
def test_the_log_likelihood_is_the_exact_sum_and_no_pair_is_left_out(counts, probability):
    assert log_likelihood(counts.astype(np.int32), probability) == pytest.approx(
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


# ---------------------------------------------------------------------- the logarithms and uniforms of starts


@lean
def logs_of(x, found):
    for at in range(0, len(x), 16):
        store(found, at, libm_log(load(x, at)))


@njit
def logs_one_by_one(x, found):
    for at in range(len(x)):
        found[at] = math.log(x[at])


@lean
def uniforms_of(key, first, found):
    for at in range(0, len(found), 16):
        store(found, at, sixteen_uniforms(key, first + at))


def arguments(seed: int) -> np.ndarray:
    """2^20 numbers from 2^-53 to 1: even ones, small ones, those next to 1, and where the two series meet."""
    random = np.random.default_rng(seed)
    even = 1.0 - random.random(2**18)
    small = np.ldexp(even, -random.integers(0, 53, len(even)))
    next_to_one = 1.0 - np.ldexp(np.floor(np.ldexp(small, 53)), -53)
    where = np.nextafter(NEAR_ONE, random.choice([0.0, 1.0], len(even)))
    found = np.concatenate([even, small, next_to_one, where])
    found[:4] = 1.0, 2.0**-53, NEAR_ONE, 1.0 - 2.0**-53
    return found[found > 0][: len(found) // 2 // 16 * 32]


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc",
    reason="another C library rounds its logarithms in another way",
)
@pytest.mark.parametrize("seed", range(4))
def test_logarithms_have_the_bits_of_the_c_library(seed):
    x = arguments(seed)
    x = x[: len(x) // 16 * 16]
    found, expected = np.empty_like(x), np.empty_like(x)
    logs_of(x, found)
    logs_one_by_one(x, expected)
    np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))


def test_logarithms_are_right():
    """One unit in the last place: what the algorithm promises is 0.52."""
    x = arguments(9)[: 2**16]
    found = np.empty_like(x)
    logs_of(x, found)
    np.testing.assert_array_max_ulp(found, np.log(x), 1)


@pytest.mark.parametrize("first", [0, 7, 2**40])
def test_uniforms_have_the_bits_of_those_drawn_one_by_one(first):
    key = draw_key(3, 1, 0, 0)
    found = np.empty(160)
    uniforms_of(key, first, found)
    if first < 100:
        expected = np.empty(160 + first)
        fill_uniform(key, expected)
        np.testing.assert_array_equal(found, expected[first:])
    shifted = np.empty(144)
    uniforms_of(key, first + 16, shifted)
    np.testing.assert_array_equal(found[16:], shifted)


# ---------------------------------------------------------------------- digamma and exponential

digamma = called(functions.digamma)
fast_exp, fast_log, exp_nearly = (
    called(functions.fast_exp),
    called(functions.fast_log),
    called(functions.exp_nearly),
)
shifted, exp_digamma_ratio = called(functions.shifted), called(functions.exp_digamma_ratio)


@njit
def exp_digamma(x):
    """exp(psi(x)), as the variational updates compute it."""
    series, reciprocals = functions.shifted(x)
    return series * functions.exp_nearly(0.0 - reciprocals)


RNG = np.random.default_rng(0)

ARGUMENTS = np.concatenate([np.geomspace(0.002, 1e9, 8000), [1.0, 1.46163]])
# the series after a shift by six is cut at its fourth term: 2.7e-10 relative, spec A.11
SERIES_ERROR = 3e-10


def values(function, *arguments):
    return np.array([function(*x) for x in zip(*arguments, strict=True)])


@njit
def in_lanes(function, x):
    out = np.empty(len(x))
    for i in range(0, len(x), 16):
        store(out, i, function(load(x, i)))
    return out


@pytest.mark.parametrize("function", [fast_exp, exp_nearly, fast_log, exp_digamma, digamma])
def test_a_lane_has_the_bits_of_a_number(function):
    x = RNG.permutation(ARGUMENTS[:1600])
    np.testing.assert_array_equal(in_lanes(function, x), values(function, x))


def test_exp_digamma_meets_its_40_digit_values(oracles):
    for x, exact in oracles["expdigamma"].items():
        assert exp_digamma(float(x)) == pytest.approx(exact, rel=SERIES_ERROR)


def test_exp_digamma_rises_from_zero_without_nan():
    found = values(exp_digamma, np.geomspace(1e-8, 1, 2001))
    assert found[0] == 0.0
    assert np.all(np.diff(found) >= 0)
    assert exp_digamma(0.0013) == 0.0  # exp(-770) is below the smallest double


@pytest.mark.parametrize("x", [1e-300, 1e-8, 1e12, 1e40])
def test_digamma_holds_far_outside_of_what_counts_are(x):
    assert digamma(x) == pytest.approx(psi(x), rel=1e-11)


def test_a_ratio_of_exp_digammas_needs_no_more_than_three_series():
    x, y = ARGUMENTS, ARGUMENTS[::-1]
    z = y + 3.0
    found = values(exp_digamma_ratio, x, y, z)
    np.testing.assert_allclose(found, np.exp(psi(x) + psi(y) - psi(z)), rtol=3 * SERIES_ERROR)


@pytest.mark.parametrize(
    ("function", "exact", "errors"),
    [
        # scipy rounds psi, so that its exponential has an error of 2e-16 of psi
        (exp_digamma, np.exp(psi(ARGUMENTS)), {"rtol": SERIES_ERROR}),
        # absolute, since it is the logarithm of the series; 1e-15 of the value is rounding
        (digamma, psi(ARGUMENTS), {"rtol": 1e-15, "atol": SERIES_ERROR}),
    ],
)
def test_digamma_and_its_exponential_are_right_to_the_error_of_the_series(function, exact, errors):
    np.testing.assert_allclose(values(function, ARGUMENTS), exact, **errors)


def test_reciprocals_share_one_division():
    series, reciprocals = np.array([shifted(x) for x in ARGUMENTS]).T
    # twenty roundings
    np.testing.assert_allclose(
        reciprocals, sum(1.0 / (ARGUMENTS + j) for j in range(6)), rtol=4e-15
    )
    np.testing.assert_allclose(series, np.exp(psi(ARGUMENTS + 6)), rtol=SERIES_ERROR)


@pytest.mark.parametrize(
    # two units in the last place; twelve digits
    ("function", "tolerance"),
    [(fast_exp, 5e-16), (exp_nearly, 1e-12)],
)
def test_fast_exponentials_are_exp_as_far_as_they_say(function, tolerance):
    x = np.linspace(-707.9, 699, 200_001)
    np.testing.assert_allclose(values(function, x), np.exp(x), rtol=tolerance)
    assert function(0.0) == 1.0
    assert function(-708.5) == function(-1e9) == function(-np.inf) == 0.0


def test_fast_log_is_log_to_the_last_bits():
    """Relative to the value, near 1 too."""
    near = np.sqrt([0.5, 2.0])
    x = np.concatenate(
        [
            np.geomspace(1e-300, 1e300, 20001),
            np.linspace(0.5, 2, 20001),
            near,
            np.nextafter(near, 0),
        ]
    )
    # two units in the last place
    np.testing.assert_allclose(values(fast_log, x), np.log(x), rtol=5e-16)
    assert fast_log(1.0) == 0.0
    assert fast_log(1.0 + 2**-52) == 2**-52
