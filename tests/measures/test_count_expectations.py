"""Expectations of functions of a count: exact sums, printed values, and where each expansion is right."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln, psi
from toys import read_oracles

from workbench.measures import MeasureError
from workbench.measures.count_expectations import (
    APPROXIMATIONS,
    FUNCTIONS,
    count_expectations,
    error_map,
    poisson_binomial,
)

ORACLES = read_oracles("hdp")["poisson_binomial"]
ROUNDING = 1e-12  # sums of some thousand probabilities
Q = [0.3, 0.9, 0.05, 0.5]


def by_outcomes(q, f):
    """E[f(n)] over all 2^N outcomes."""
    outcomes = np.array(list(itertools.product((0, 1), repeat=len(q))))
    p = np.prod(np.where(outcomes == 1, q, 1 - np.array(q)), axis=1)
    return float(p @ f(outcomes.sum(axis=1)))


@pytest.mark.parametrize(
    "name, f",
    [
        ("log", np.log),
        ("digamma", psi),
        ("exp_digamma", lambda x: np.exp(psi(x))),
        ("log_gamma", gammaln),
    ],
)
def test_the_exact_expectation_is_the_sum_over_all_outcomes(name, f):
    result = count_expectations(Q, 0.4)["expectation"].sel(function=name, approximation="exact")
    assert float(result) == pytest.approx(by_outcomes(Q, lambda n: f(0.4 + n)), abs=ROUNDING)


def test_the_distribution_of_the_count_is_that_of_all_outcomes():
    for n in range(5):
        assert poisson_binomial(Q)[n] == pytest.approx(
            by_outcomes(Q, lambda count, n=n: count == n), abs=ROUNDING
        )
    result = count_expectations(Q, 1.0)
    assert result["gaussian"].sum() == pytest.approx(1, abs=ROUNDING)


@pytest.mark.parametrize("printed", ORACLES)
def test_moments_and_expectations_are_the_printed_ones(printed):
    """Relative 1e-9, and 1e-7 of q = 1e-6, spec of the HDP, 16."""
    tolerance = 1e-7 if max(printed["q"]) < 1e-5 else 1e-9
    result, a = count_expectations(printed["q"], printed["a"]), printed["a"]
    for name, key in (
        ("mean", "E"),
        ("variance", "V"),
        ("mean_positive", "Eplus"),
        ("variance_positive", "Vplus"),
    ):
        assert result.attrs[name] == pytest.approx(printed[key], rel=tolerance, abs=1e-9), name
    value, exact = result["expectation"].sel, printed["exact"]
    log = float(value(function="log", approximation="exact"))
    assert log == pytest.approx(exact["E_log_a_plus_n"], rel=tolerance, abs=1e-12)
    lgamma = [
        float(value(function="log_gamma", approximation=each)) - gammaln(a)
        for each in ("exact", "improved")
    ]
    assert lgamma == pytest.approx(
        [exact["E_lgam"], printed["approx"]["F_lgam"]], rel=tolerance, abs=1e-12
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_second_derivative_is_that_of_differences(name):
    f, bend, _ = FUNCTIONS[name]
    for x in (0.3, 1.0, 7.5):
        h = 1e-4 * x
        # of h^2, and rounding / h^2
        assert bend(x) == pytest.approx((f(x + h) - 2 * f(x) + f(x - h)) / h**2, rel=1e-4)


def test_all_approximations_are_exact_for_a_constant_count():
    for q in ([1.0, 1.0, 0.0], [0.0]):
        result = count_expectations(q, 0.7)
        np.testing.assert_allclose(result["error"].values, 0.0, rtol=0, atol=ROUNDING)


def test_near_zero_the_second_order_fails_where_the_improved_one_does_not():
    result = count_expectations([0.02] * 5, 0.05)["error"].sel(function="log")
    assert (
        abs(float(result.sel(approximation="second")))
        > 1.0
        > 1e-3
        > abs(float(result.sel(approximation="improved")))
    )


def test_the_map_has_the_errors_of_equal_draws():
    result = error_map("digamma", "improved", 6, [0.3, 3.0], [0.1, 2.0])
    assert result.dims == ("prior", "mean")
    for prior, mean in itertools.product((0.1, 2.0), (0.3, 3.0)):
        one = count_expectations([mean / 6] * 6, prior)["error"].sel(
            function="digamma", approximation="improved"
        )
        assert float(result.sel(prior=prior, mean=mean)) == pytest.approx(float(one), abs=ROUNDING)
    assert (error_map("log", "exact", 3, [1.0], [1.0]) == 0).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: count_expectations([], 1.0), "from 1 to 2,000 tokens"),
        (lambda: count_expectations([0.2, 1.2], 1.0), "from 0 to 1; got 1.2"),
        (lambda: count_expectations([0.5], 0.0), "from 1e-08 to 1e.12; got 0"),
        (lambda: count_expectations([float("nan")], 1.0), "got nan"),
        (
            lambda: error_map("log", "third", 3, [1.0], [1.0]),
            f"approximation must be one of {', '.join(APPROXIMATIONS)}; got 'third'",
        ),
    ],
)
def test_count_expectations_refuses_invalid_draws_and_priors(call, sentence):
    with pytest.raises(MeasureError, match=sentence):
        call()
