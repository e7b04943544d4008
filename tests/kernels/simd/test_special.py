"""Fast digamma and exponential against scipy, numpy and 40-digit values."""

import numpy as np
import pytest
from numba import njit
from scipy.special import psi
from toys import called

from workbench.kernels.simd import special
from workbench.kernels.simd.vectors import load, store

digamma = called(special.digamma)
fast_exp, fast_log, exp_nearly = (
    called(special.fast_exp),
    called(special.fast_log),
    called(special.exp_nearly),
)
shifted, exp_digamma_ratio = called(special.shifted), called(special.exp_digamma_ratio)


@njit
def exp_digamma(x):
    """exp(psi(x)), as the variational updates compute it."""
    series, reciprocals = special.shifted(x)
    return series * special.exp_nearly(0.0 - reciprocals)


RANDOM = np.random.default_rng(0)

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
    x = RANDOM.permutation(ARGUMENTS[:1600])
    np.testing.assert_array_equal(in_lanes(function, x), values(function, x))


def test_exp_digamma_meets_its_40_digit_values(oracles):
    for x, exact in oracles["expdigamma"].items():
        assert exp_digamma(float(x)) == pytest.approx(exact, rel=SERIES_ERROR)


def test_exp_digamma_is_the_exponential_of_digamma():
    """scipy rounds psi, so that its exponential has an error of 2e-16 of psi."""
    np.testing.assert_allclose(
        values(exp_digamma, ARGUMENTS), np.exp(psi(ARGUMENTS)), rtol=SERIES_ERROR
    )


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


def test_digamma_is_right_to_the_error_of_the_series():
    """Absolute, since it is the logarithm of the series; 1e-15 of the value is rounding."""
    np.testing.assert_allclose(
        values(digamma, ARGUMENTS), psi(ARGUMENTS), rtol=1e-15, atol=SERIES_ERROR
    )


def test_reciprocals_share_one_division():
    series, reciprocals = np.array([shifted(x) for x in ARGUMENTS]).T
    # twenty roundings
    np.testing.assert_allclose(
        reciprocals, sum(1.0 / (ARGUMENTS + j) for j in range(6)), rtol=4e-15
    )
    np.testing.assert_allclose(series, np.exp(psi(ARGUMENTS + 6)), rtol=SERIES_ERROR)


def test_fast_exp_is_exp_to_the_last_bits():
    x = np.linspace(-707.9, 699, 20001)
    # two units in the last place
    np.testing.assert_allclose(values(fast_exp, x), np.exp(x), rtol=5e-16)
    assert fast_exp(0.0) == 1.0
    assert fast_exp(-708.5) == 0.0
    assert fast_exp(-np.inf) == 0.0


def test_the_shorter_exponential_is_right_to_twelve_digits():
    x = np.linspace(-707.9, 699, 200_001)
    np.testing.assert_allclose(values(exp_nearly, x), np.exp(x), rtol=1e-12)
    assert exp_nearly(0.0) == 1.0
    assert exp_nearly(-708.5) == exp_nearly(-1e9) == exp_nearly(-np.inf) == 0.0


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
