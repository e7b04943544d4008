"""Fast digamma and exponential against scipy, numpy and 40-digit values."""

import numpy as np
import pytest
from scipy.special import psi

from workbench.kernels.special import digamma, exp_digamma, exp_digamma_ratio, fast_exp, shift_sum

ARGUMENTS = np.geomspace(0.01, 1e6, 4001)
SERIES_ERROR = 3e-10  # the series after a shift by six is cut at its fourth term: 2.7e-10 relative, spec A.11


def values(function, *arguments):
    return np.array([function(*x) for x in zip(*arguments, strict=True)])


def test_exp_digamma_meets_its_40_digit_values(oracles):
    for x, exact in oracles["expdigamma"].items():
        assert exp_digamma(float(x)) == pytest.approx(exact, rel=SERIES_ERROR)


def test_exp_digamma_is_the_exponential_of_digamma():
    np.testing.assert_allclose(values(exp_digamma, ARGUMENTS), np.exp(psi(ARGUMENTS)), rtol=SERIES_ERROR)


def test_exp_digamma_rises_from_zero_without_nan():
    found = values(exp_digamma, np.geomspace(1e-8, 1, 2001))
    assert found[0] == 0.0
    assert np.all(np.diff(found) >= 0)
    assert exp_digamma(0.0013) == 0.0  # exp(-770) is below the smallest double


def test_a_ratio_of_exp_digammas_needs_no_more_than_three_series():
    x, y = ARGUMENTS, ARGUMENTS[::-1]
    z = y + 3.0
    found = values(exp_digamma_ratio, x, y, z)
    np.testing.assert_allclose(found, np.exp(psi(x) + psi(y) - psi(z)), rtol=3 * SERIES_ERROR)


def test_digamma_is_right_to_the_error_of_the_series():
    """Absolute, since it is the logarithm of the series; 1e-16 of the value is rounding."""
    np.testing.assert_allclose(values(digamma, ARGUMENTS), psi(ARGUMENTS), rtol=1e-15, atol=SERIES_ERROR)


def test_six_reciprocals_share_one_division():
    expected = sum(1.0 / (ARGUMENTS + j) for j in range(6))
    np.testing.assert_allclose(values(shift_sum, ARGUMENTS), expected, rtol=2e-15)  # a dozen roundings


def test_fast_exp_is_exp_to_the_last_bits():
    x = np.linspace(-707.9, 699, 20001)
    np.testing.assert_allclose(values(fast_exp, x), np.exp(x), rtol=5e-16)  # two units in the last place
    assert fast_exp(0.0) == 1.0
    assert fast_exp(-708.5) == 0.0
    assert fast_exp(-np.inf) == 0.0
