"""The stick-breaking map, its inverse, Jacobian and densities: against the oracle, SciPy and finite differences."""

import numpy as np
import pytest
from scipy import integrate, stats
from toys import read_oracles

from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking import sticks as sb

ORACLES = read_oracles("stick_breaking")
MAP = {name: np.array(values) for name, values in ORACLES["sb_map"].items()}


@kernel
def broken(sticks, theta):
    sb.break_stick(sticks, theta)


def test_the_map_is_that_of_the_oracle_into_the_far_tails():
    assert sb.log_probabilities(MAP["psi"]) == pytest.approx(MAP["log_pi"], rel=1e-10)
    assert sb.probabilities(MAP["psi"]) == pytest.approx(MAP["pi"], rel=1e-10)
    assert sb.log_jacobian(MAP["psi"]) == pytest.approx(MAP["logdet"], rel=1e-10)
    assert sb.probabilities(MAP["psi"]).sum(axis=-1) == pytest.approx(1.0, abs=1e-14)


def test_the_compiled_map_is_the_same():
    for sticks in [*MAP["psi"], *np.random.default_rng(0).normal(0, 5, size=(50, 30)), np.empty(0)]:
        theta = np.empty(len(sticks) + 1)
        broken(sticks, theta)
        assert theta == pytest.approx(sb.probabilities(sticks), rel=1e-11, abs=1e-300)


def test_infinite_sticks_give_exact_probabilities():
    assert sb.probabilities([np.inf, 0.0]).tolist() == [1.0, 0.0, 0.0]
    assert sb.probabilities([-np.inf, np.inf]).tolist() == [0.0, 1.0, 0.0]
    assert sb.sticks_of(np.log([0.5, 0.5, 1e-300]))[1] > 600


def test_the_inverse_comes_back_to_the_sticks():
    sticks = np.random.default_rng(1).normal(0, 5, size=(200, 30))
    assert sb.sticks_of(sb.log_probabilities(sticks)) == pytest.approx(sticks, abs=1e-12)
    with np.errstate(divide="ignore"):
        assert sb.sticks_of(np.log([0.25, 0.75, 0.0])).tolist() == pytest.approx(
            [-np.log(3), np.inf]
        )
        assert sb.sticks_of(np.log([1.0, 0.0, 0.0])).tolist() == [np.inf, 0.0]


def test_one_category_has_no_stick():
    assert sb.probabilities(np.empty((4, 0))).tolist() == [[1.0]] * 4
    assert sb.sticks_of(np.zeros((4, 1))).shape == sb.remaining(np.ones((4, 1))).shape == (4, 0)
    assert sb.log_jacobian(np.empty(0)) == 0.0 and sb.log_multinomial([3], np.empty(0)) == 0.0


def test_the_jacobian_is_that_of_finite_differences():
    sticks, step = np.array([0.4, -1.1, 0.7, 2.0]), 1e-5
    plus, minus = (
        np.stack([sb.probabilities(sticks + sign * step * row)[:-1] for row in np.eye(4)])
        for sign in (1, -1)
    )
    assert np.linalg.slogdet((plus - minus) / (2 * step))[1] == pytest.approx(
        sb.log_jacobian(sticks), abs=1e-8
    )


def test_counts_that_remain_and_kappa_are_those_of_the_oracle():
    for case in ORACLES["N_kappa"]:
        assert (
            sb.remaining(case["x"]).tolist() == case["N"]
            and sb.kappa(case["x"]).tolist() == case["kappa"]
        )


def test_the_multinomial_is_that_of_the_oracle_and_of_scipy():
    case = ORACLES["log_mult"]
    assert sb.log_multinomial(case["x"], case["psi"]) == pytest.approx(case["value"], rel=1e-10)
    rng = np.random.default_rng(2)
    for _ in range(20):
        sticks, counts = rng.normal(0, 2, 5), rng.integers(0, 6, 6)
        expected = stats.multinomial(counts.sum(), sb.probabilities(sticks)).logpmf(counts)
        assert sb.log_multinomial(counts, sticks) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert sb.log_multinomial([3, 0, 0], [np.inf, 0.3]) == 0.0


def test_moments_of_the_sticks_of_a_dirichlet_are_those_of_the_oracle():
    for case in ORACLES["dirichlet_match"]:
        mean, variance = sb.dirichlet_moments(case["alpha"])
        assert mean == pytest.approx(case["mean"], rel=1e-10) and variance == pytest.approx(
            case["var"], rel=1e-10
        )


def test_densities_are_those_of_the_change_of_variables():
    alpha, sticks = np.array([0.7, 2.0, 1.3]), np.array([[0.3, -0.8], [2.0, 1.0]])
    logs = sb.log_probabilities(sticks)
    dirichlet = [stats.dirichlet(alpha).logpdf(np.exp(row)) for row in logs]
    assert sb.log_density_of_sticks(sticks, alpha) == pytest.approx(
        dirichlet + sb.log_jacobian(sticks), rel=1e-10
    )
    mean, covariance = np.array([0.2, -0.4]), np.array([[1.0, 0.6], [0.6, 1.5]])
    gaussian = stats.multivariate_normal(mean, covariance).logpdf(sticks)
    expected = gaussian - sb.log_jacobian(sticks)
    assert sb.log_density_of_probabilities(logs, mean, covariance) == pytest.approx(
        expected, rel=1e-9
    )
    assert sb.log_density_of_probabilities(logs[0], mean, covariance).shape == ()
    stacked = sb.log_density_of_probabilities(np.stack([logs, logs, logs]), mean, covariance)
    assert stacked == pytest.approx(np.stack([expected] * 3), rel=1e-9)
    assert (
        sb.log_density_of_probabilities(np.zeros((5, 1)), np.zeros(0), np.zeros((0, 0))).tolist()
        == [0.0] * 5
    )


def test_the_density_of_probabilities_integrates_to_1():
    mean, covariance = np.array([0.2]), np.array([[1.5]])

    def density(p):
        return float(np.exp(sb.log_density_of_probabilities(np.log([p, 1 - p]), mean, covariance)))

    assert integrate.quad(density, 0, 1)[0] == pytest.approx(1.0, abs=1e-6)
