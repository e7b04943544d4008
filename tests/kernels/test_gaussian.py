"""Gaussian draws in information form, and the normal-inverse-Wishart: against NumPy, SciPy and the oracle."""

import numpy as np
import pytest
from geweke import key_of
from scipy import stats
from toys import read_oracles

from workbench.kernels.gaussian import (
    draw_gaussian,
    draw_niw,
    factor,
    inverse,
    log_determinant,
    niw_posterior,
    niw_posterior_in_slices,
)
from workbench.kernels.jit import kernel
from workbench.kernels.uniforms import absorb, stream_of

ORACLES = read_oracles("stick_breaking")


@kernel
def factored(a):
    factor(a)


@kernel
def draws_of(precision, h, key, n):
    drawn = np.empty((n, len(h)))
    for i in range(n):
        drawn[i] = h
        draw_gaussian(stream_of(key, i), precision.copy(), drawn[i])
    return drawn


@kernel
def niws_of(mean, kappa, nu, scale, key, n):
    mus, sigmas = np.empty((n, len(mean))), np.empty((n, len(mean), len(mean)))
    for i in range(n):
        mu, sigma, precision = draw_niw(mean, kappa, nu, scale, absorb(key, i))
        mus[i], sigmas[i] = mu, sigma
    return mus, sigmas


def some_matrix(n, seed=0):
    rows = np.random.default_rng(seed).normal(size=(2 * n + 2, n))
    return rows.T @ rows / n + 0.1 * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 23, 50, 99])
def test_the_factor_is_that_of_lapack(n):
    matrix = some_matrix(n)
    upper = matrix.copy()
    factored(upper)
    assert np.triu(upper) == pytest.approx(np.linalg.cholesky(matrix).T, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 7, 18, 99])
def test_the_inverse_and_the_log_determinant_are_those_of_numpy(n):
    matrix = some_matrix(n)
    found = inverse(matrix)
    assert found == pytest.approx(np.linalg.inv(matrix), rel=1e-9, abs=1e-9)
    assert np.array_equal(found, found.T)
    assert log_determinant(matrix) == pytest.approx(np.linalg.slogdet(matrix)[1], abs=1e-9)


def test_a_matrix_that_is_not_positive_definite_gives_nan():
    matrix = np.array([[1.0, 2.0], [2.0, 1.0]])
    factored(matrix)
    assert np.isnan(matrix[1, 1])


def test_nothing_is_drawn_in_no_dimension():
    assert draws_of(np.empty((0, 0)), np.empty(0), key_of(0), 3).shape == (3, 0)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_draws_have_the_mean_and_covariance_of_the_information_form(n):
    precision, h, n_draws = some_matrix(n, 3), np.arange(1.0, n + 1), 100_000
    drawn = draws_of(precision, h, key_of(n), n_draws)
    covariance = np.linalg.inv(precision)
    white = (drawn - covariance @ h) @ np.linalg.cholesky(precision)
    assert np.abs(white.mean(axis=0)).max() * np.sqrt(n_draws) < 4.5
    assert np.abs(np.cov(white.T).reshape(n, n) - np.eye(n)).max() * np.sqrt(n_draws / 2) < 4.5
    assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3


def test_the_posterior_is_that_of_the_oracle():
    case = ORACLES["niw"]
    psi, prior = np.array(case["psi"]), np.array(case["Psi0"], dtype=float)
    mean, kappa, nu, scale = niw_posterior(
        psi, np.array(case["m0"]), case["k0"], case["nu0"], prior
    )
    for got, name in ((mean, "mn"), (kappa, "kn"), (nu, "nun"), (scale, "Psin")):
        assert got == pytest.approx(np.array(case[name]), rel=1e-10), name


def test_no_rows_give_the_prior_back():
    mean, scale = np.array([0.1, -0.2]), some_matrix(2)
    again = niw_posterior(np.empty((0, 2)), mean, 0.5, 6.0, scale)
    assert (
        np.array_equal(again[0], mean)
        and again[1:3] == (0.5, 6.0)
        and np.array_equal(again[3], scale)
    )


def test_draws_have_the_moments_of_the_normal_inverse_wishart():
    n, n_draws, kappa, nu = 3, 40_000, 0.7, 14.5
    mean, scale = np.array([1.0, -2.0, 0.5]), some_matrix(n, 5)
    mus, sigmas = niws_of(mean, kappa, nu, scale, key_of(9), n_draws)
    wanted = scale / (nu - n - 1)
    for got, expected in (
        (sigmas, wanted),
        (mus, mean),
        ((mus[:, :, None] - mean) * (mus[:, None] - mean), wanted / kappa),
    ):
        z = (got.mean(axis=0) - expected) / (got.std(axis=0) / np.sqrt(n_draws))
        assert np.abs(z).max() < 4.5
    i = np.arange(n)  # variance of a diagonal entry of an inverse Wishart
    variance = 2 * np.diag(scale) ** 2 / ((nu - n - 1) ** 2 * (nu - n - 3))
    assert sigmas[:, i, i].var(axis=0) == pytest.approx(variance, rel=0.08)
    law = stats.invwishart(df=nu, scale=scale).rvs(n_draws, random_state=1)
    assert stats.ks_2samp(sigmas[:, 0, 1], law[:, 0, 1]).pvalue > 1e-3


@pytest.mark.parametrize("n", [1, 4, 30])
def test_the_precision_that_is_returned_is_the_inverse_of_the_covariance(n):
    _, sigma, precision = draw_niw(np.zeros(n), 1.0, n + 3.0, some_matrix(n), key_of(3))
    assert sigma @ precision == pytest.approx(np.eye(n), abs=1e-8)
    assert np.array_equal(sigma, sigma.T) and np.array_equal(precision, precision.T)


@pytest.mark.parametrize("shape", [(0, 3), (5, 1), (40, 7), (3000, 40)])
def test_the_posterior_has_the_same_bits_on_any_number_of_threads(shape):
    rng, n = np.random.default_rng(0), shape[1]
    rows, prior = rng.normal(size=shape), (rng.normal(size=n), 0.5, n + 2.0, np.eye(n))
    alone = niw_posterior(rows, *prior)
    for n_threads in (1, 3):
        found = niw_posterior_in_slices(rows, prior, n_threads, lambda: None)
        assert all(np.array_equal(one, other) for one, other in zip(found, alone, strict=True))
