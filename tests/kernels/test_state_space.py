"""States over time given their potentials, against the oracle and the joint Gaussian; the posterior of a linear system."""

import numpy as np
import pytest
from geweke import key_of
from scipy import stats
from toys import read_oracles

from workbench.kernels.jit import kernel
from workbench.kernels.state_space import (
    draw_inverse_gamma,
    draw_mniw,
    draw_states,
    draw_walk,
    factor_states,
    mniw_posterior,
)
from workbench.kernels.uniforms import absorb, stream_of

ORACLES = read_oracles("stick_breaking")
N_DRAWS = 100_000
Z = 4.5  # standard errors, of some dozens of statistics


@kernel
def walks_of(precision, h, mean, variance, step, key, n):
    drawn, squares, walk = np.empty((n, len(h))), np.empty(n), np.empty(len(h))
    for i in range(n):
        _, squares[i] = draw_walk(
            stream_of(key, i), precision.copy(), h.copy(), mean, variance, step, walk
        )
        drawn[i] = walk
    return drawn, squares


@kernel
def states_of(precision, h, first_precision, first_mean, system, offset, noise_precision, key, n):
    drawn = np.empty((n, *h.shape))
    for i in range(n):
        drawn[i] = draw_states(
            precision.copy(),
            h.copy(),
            first_precision,
            first_mean,
            system,
            offset,
            noise_precision,
            absorb(key, i),
        )
    return drawn


@kernel
def mniws_of(mean, precision, nu, scale, key, n):
    drawn, noises = np.empty((n, *mean.shape)), np.empty((n, *scale.shape))
    for i in range(n):
        drawn[i], noises[i], _ = draw_mniw(mean, precision, nu, scale, absorb(key, i))
    return drawn, noises


def assert_moments(drawn, mean, covariance):
    """Draws (draw, dim) have this mean and covariance, to a few standard errors."""
    off = (drawn.mean(axis=0) - mean) / np.sqrt(np.diag(covariance) / len(drawn))
    assert np.abs(off).max() < Z
    centred = drawn - mean
    found = centred.T @ centred / len(drawn)
    error = np.sqrt(
        (np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / len(drawn)
    )
    assert (np.abs(found - covariance) / error).max() < Z


def joint(precision, h, first_precision, first_mean, system, offset, noise_precision):
    """(precision, information) of all states at once, written out factor by factor."""
    n_times, n = h.shape
    P, v = np.zeros((n_times * n, n_times * n)), h.ravel().copy()
    for t in range(n_times):
        now = slice(t * n, (t + 1) * n)
        P[now, now] += precision[t]
        if t == 0:
            P[now, now] += first_precision
            v[now] += first_precision @ first_mean
            continue
        both = slice((t - 1) * n, (t + 1) * n)
        step = np.hstack([-system, np.eye(n)])
        P[both, both] += step.T @ noise_precision @ step
        v[both] += step.T @ noise_precision @ offset
    return P, v


WALK = np.array([0.7, 0.0, 0.0, 2.0, 0.1]), np.array([0.4, 0.0, 0.0, -1.5, 0.2]), 0.3, 1.8, 0.25
"""Potentials of five times, two of them without one; mean and variance of the first, and the variance of a step."""


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_random_walk_has_the_mean_and_covariance_of_its_joint_gaussian(n):
    precision, h, mean, variance, step = WALK
    precision, h = precision[:n], h[:n]
    drawn, squares = walks_of(precision, h, mean, variance, step, key_of(1), N_DRAWS)
    one = np.ones((1, 1))
    P, v = joint(
        precision[:, None, None] * one,
        h[:, None],
        one / variance,
        np.array([mean]),
        one,
        np.zeros(1),
        one / step,
    )
    assert_moments(drawn, np.linalg.solve(P, v), np.linalg.inv(P))
    assert squares == pytest.approx((np.diff(drawn, axis=1) ** 2).sum(axis=1), rel=1e-12)


def test_a_walk_without_potentials_is_drawn_from_its_prior():
    _, _, mean, variance, step = WALK
    drawn, _ = walks_of(np.zeros(4), np.zeros(4), mean, variance, step, key_of(2), N_DRAWS)
    assert_moments(
        drawn, np.full(4, mean), variance + step * np.minimum.outer(np.arange(4), np.arange(4))
    )


def of_oracle():
    """The potentials and the system of the oracle `lds_ffbs`, with what it found."""
    o = {name: np.array(value) for name, value in ORACLES["lds_ffbs"].items()}
    n_remaining = np.cumsum(o["x"][:, ::-1], axis=1)[:, ::-1][:, :-1]
    kappa, C = o["x"][:, :-1] - 0.5 * n_remaining, o["C"]
    precision = np.einsum("tk,ki,kj->tij", o["omega"], C, C)
    h = (kappa - o["omega"] * o["d"]) @ C
    return o, (
        precision,
        h,
        np.linalg.inv(o["S1"]),
        o["m1"],
        o["A"],
        np.zeros(3),
        np.linalg.inv(o["B"]),
    )


def test_states_are_those_of_the_oracle():
    o, given = of_oracle()
    _, log_normaliser = factor_states(given[0].copy(), given[1].copy(), *given[2:])
    assert log_normaliser == pytest.approx(float(o["logZ"]), rel=1e-10)
    P, v = joint(*given)
    mean, covariance = np.linalg.solve(P, v), np.linalg.inv(P)
    assert mean == pytest.approx(o["post_mean"].ravel(), rel=1e-10)
    assert np.diag(covariance) == pytest.approx(o["post_cov_diag"].ravel(), rel=1e-10)
    assert_moments(states_of(*given, key_of(3), N_DRAWS).reshape(N_DRAWS, -1), mean, covariance)


@pytest.mark.parametrize("n_times", [1, 4])
def test_states_of_a_system_with_an_offset_have_the_joint_gaussian(n_times):
    random = np.random.default_rng(1)
    rows, noise = random.normal(size=(n_times, 3, 2)), random.normal(size=(5, 2))
    precision = np.einsum("tki,tkj->tij", rows, rows)
    precision[1:2] = 0.0  # a time without a potential
    h = random.normal(size=(n_times, 2)) * (precision.sum(axis=(1, 2)) != 0)[:, None]
    given = (
        precision,
        h,
        np.array([[1.0, 0.2], [0.2, 0.5]]),
        np.array([0.4, -0.3]),
        random.normal(size=(2, 2)),
        np.array([0.7, -0.4]),
        noise.T @ noise,
    )
    P, v = joint(*given)
    assert_moments(
        states_of(*given, key_of(4), N_DRAWS).reshape(N_DRAWS, -1),
        np.linalg.solve(P, v),
        np.linalg.inv(P),
    )


def test_the_posterior_of_a_system_is_that_of_the_oracle():
    o = {name: np.array(value) for name, value in ORACLES["mniw"].items()}
    mean, precision, nu, scale = mniw_posterior(
        o["Y"], o["X"], o["M0"], o["K0"], float(o["nu0"]), o["S0"]
    )
    assert mean == pytest.approx(o["Mn"], rel=1e-10, abs=1e-12)
    assert precision == pytest.approx(o["Kn"], rel=1e-10)
    assert nu == o["nun"] and scale == pytest.approx(o["Sn"], rel=1e-10)
    none = np.empty((0, 2))
    for found, prior in zip(
        mniw_posterior(none, none, o["M0"], o["K0"], 9.0, o["S0"]),
        ("M0", "K0", "nu0", "S0"),
        strict=True,
    ):
        assert found == pytest.approx(o[prior], rel=1e-12, abs=1e-12)


def test_drawn_systems_have_the_moments_of_the_matrix_normal_inverse_wishart():
    """E Q = scale / (nu - n - 1), and M has covariance E Q times the inverse of the column precision."""
    mean = np.array([[0.4, 0.1, -1.0], [0.0, 0.3, 0.5]])
    precision = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 3.0]])
    scale, nu = np.array([[3.0, 0.8], [0.8, 2.0]]), 14.0
    drawn, noises = mniws_of(mean, precision, nu, scale, key_of(5), N_DRAWS)
    expected = scale / (nu - 3)
    error = noises.std(axis=0) / np.sqrt(N_DRAWS)
    assert (np.abs(noises.mean(axis=0) - expected) / error).max() < Z
    centred = (drawn - mean).reshape(N_DRAWS, -1)
    assert (np.abs(centred.mean(axis=0)) / (centred.std(axis=0) / np.sqrt(N_DRAWS))).max() < Z
    products = centred[:, :, None] * centred[:, None]
    off = np.abs(products.mean(axis=0) - np.kron(expected, np.linalg.inv(precision)))
    assert (off / (products.std(axis=0) / np.sqrt(N_DRAWS))).max() < Z


def test_a_drawn_noise_and_its_inverse_belong_together():
    mean, precision, nu, scale = (
        np.zeros((2, 2)),
        np.eye(2),
        5.0,
        np.array([[1.0, 0.3], [0.3, 2.0]]),
    )
    _, noise, noise_precision = draw_mniw(mean, precision, nu, scale, key_of(6))
    assert noise @ noise_precision == pytest.approx(np.eye(2), abs=1e-10)


def test_inverse_gamma_numbers_follow_their_distribution():
    drawn = np.array([draw_inverse_gamma(2.5, 0.7, key_of(i)) for i in range(5000)])
    assert stats.kstest(drawn, stats.invgamma(2.5, scale=0.7).cdf).pvalue > 1e-4
