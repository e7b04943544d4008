"""Gaussian processes given Polya-gamma numbers, by exact means and covariances; the fit of their kernel."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from toys import read_oracles

from workbench.kernels.stick_breaking import gaussian_process
from workbench.kernels.stick_breaking.gaussian_process import (
    Dense,
    Inputs,
    Kernel,
    LowRank,
    covariance,
    dense,
    log_normaliser,
    low_rank,
    normals,
    posterior_draws,
    prior_draws,
)
from workbench.kernels.uniforms import draw_key

ORACLES = read_oracles("stick_breaking")
ALGEBRA = 1e-10
HYPER = Kernel(8.0, 3.0, 1.3, 0.5)


def inputs(n=12, seed=0, n_time=1, n_space=2):
    """Rows anywhere, so that no two share a time or a place."""
    random = np.random.default_rng(seed)
    return Inputs(20.0 * random.random((n, n_time)), 5.0 * random.random((n, n_space)))


def grid(n_times=9, n_places=6, seed=0):
    """All times by all places, shuffled."""
    random = np.random.default_rng(seed)
    t, s = (each.ravel() for each in np.indices((n_times, n_places)))
    order, places = random.permutation(len(t)), 5.0 * random.random((n_places, 2))
    return Inputs(2.0 * t[order, None], places[s[order]])


def likelihood(n=12, seed=0, empty=(2, 7, 8)):
    """(omega, h) with rows that are not observed."""
    random = np.random.default_rng(seed)
    omega, h = random.uniform(0.05, 4.0, n), random.normal(size=n)
    omega[list(empty)] = h[list(empty)] = 0.0
    return omega, h


def exact(full, omega, h):
    """(mean, covariance) by the plain formula (J, h)."""
    J = np.linalg.inv(full) + np.diag(omega)
    return np.linalg.solve(J, h), np.linalg.inv(J)


def test_the_covariance_is_the_oracle():
    of, z = ORACLES["gp_kernel"], np.array(ORACLES["gp_kernel"]["Z"])
    found = covariance(
        Inputs(z[:, :1], z[:, 1:]), Kernel(of["l_t"], of["l_x"], of["s_t"] * of["s_x"], 1.0)
    )
    np.testing.assert_allclose(found, of["C"], rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("n_time, n_space", [(1, 0), (0, 1), (0, 3)])
def test_one_kind_of_inputs_is_enough(n_time, n_space):
    where = inputs(6, n_time=n_time, n_space=n_space)
    r = (
        math.sqrt(5.0) * np.abs(np.subtract.outer(where.time[:, 0], where.time[:, 0])) / 8.0
        if n_time
        else 0.0
    )
    apart = ((where.space[:, None] - where.space) ** 2).sum(axis=2) if n_space else 0.0
    wanted = 1.3 * (1.0 + r + r * r / 3.0) * np.exp(-r - apart / 18.0)
    np.testing.assert_allclose(covariance(where, HYPER), wanted, atol=1e-14)  # rounding
    # the threshold
    np.testing.assert_allclose(full_of(low_rank(where, HYPER, 1e-12)), wanted, atol=1e-11)


def full_of(prior: LowRank):
    return prior.weights @ prior.weights.T


@pytest.mark.parametrize(
    "where",
    [
        grid(),
        inputs(40),
        Inputs(*(each[:50] for each in grid())),
        Inputs(*(np.repeat(each, 2, axis=0) for each in inputs(9))),
    ],
    ids=["a grid", "rows anywhere", "a grid with gaps", "rows twice"],
)
def test_a_low_rank_factor_is_the_covariance(where):
    smooth = Kernel(30.0, 6.0, 1.3, 0.5)
    prior = low_rank(where, smooth, 1e-6)
    assert prior.n_noise < len(where.time)
    # eigenvalues up to 60 * 1e-6 are left out
    np.testing.assert_allclose(full_of(prior), covariance(where, smooth), atol=1e-4)


def test_the_oracle_given_omega_is_the_posterior():
    """The sticks of a row in place of the rows of a stick: any covariance will do."""
    of = {name: np.array(value) for name, value in ORACLES["psi_given_omega"].items()}
    x, n = of["x"][:2], np.array([6, 3])
    h = x - n / 2 - of["omega"] * of["mu"]
    prior = Dense(of["Sigma"], np.linalg.cholesky(of["Sigma"]))
    mean, spread = by_unit_vectors(prior, of["omega"], h)
    np.testing.assert_allclose(of["mu"] + mean, of["mean"], rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(spread, of["cov"], rtol=0, atol=ALGEBRA)


def by_unit_vectors(prior, omega, h):
    """(mean, covariance) of the draws, which are linear in their noise."""
    mean = posterior_draws(prior, omega, h, np.zeros((prior.n_noise, 1)))
    root = posterior_draws(prior, omega, h, np.eye(prior.n_noise)) - mean
    return mean[:, 0], root @ root.T


@pytest.mark.parametrize("empty", [(), (2, 7, 8), tuple(range(11)), tuple(range(12))])
@pytest.mark.parametrize("form", ["dense", "low rank"])
def test_draws_have_the_mean_and_covariance_of_the_plain_formula(form, empty):
    where, (omega, h) = inputs(), likelihood(empty=empty)
    if form == "dense":
        prior = dense(where, HYPER)
        full = prior.covariance
    else:  # all eigenvalues, of a covariance that can be inverted
        full = covariance(where, HYPER) + 1e-6 * np.eye(12)
        prior = LowRank(np.linalg.cholesky(full))
    mean, spread = by_unit_vectors(prior, omega, h)
    wanted_mean, wanted_spread = exact(full, omega, h)
    np.testing.assert_allclose(mean, wanted_mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(spread, wanted_spread, rtol=0, atol=ALGEBRA)
    gaussian = 0.5 * h @ wanted_mean - 0.5 * np.linalg.slogdet(np.eye(12) + full * omega)[1]
    assert log_normaliser(prior, omega, h) == pytest.approx(gaussian, abs=ALGEBRA)


def test_low_rank_and_dense_have_the_same_posterior():
    where = grid(12, 8)
    omega, h = likelihood(96, empty=range(88, 96))
    (one, spread), (other, spread_other) = (
        by_unit_vectors(make(where, HYPER), omega, h) for make in (dense, low_rank)
    )
    # the threshold of 1e-8, and the jitter of 1e-6
    np.testing.assert_allclose(one, other, atol=1e-4)
    np.testing.assert_allclose(spread, spread_other, atol=1e-4)


@pytest.mark.parametrize("make", [dense, low_rank])
def test_without_counts_the_prior_is_drawn_and_its_integral_is_1(make):
    where = grid()
    prior, nothing = make(where, HYPER), np.zeros(54)
    noise = np.random.default_rng(1).normal(size=(prior.n_noise, 3))
    np.testing.assert_allclose(
        posterior_draws(prior, nothing, nothing, noise), prior_draws(prior, noise), atol=1e-12
    )
    assert log_normaliser(prior, nothing, nothing) == 0.0
    full = (
        prior_draws(prior, np.eye(prior.n_noise)[:, : prior.n_noise])
        @ prior_draws(prior, np.eye(prior.n_noise)).T
    )
    # the jitter, and the threshold
    np.testing.assert_allclose(full, covariance(where, HYPER), atol=3e-6)


def test_posterior_draws_of_rows_that_are_not_observed_are_the_collapsed_prediction():
    where, (omega, h) = inputs(), likelihood()
    here, there = np.flatnonzero(omega > 0), np.flatnonzero(omega == 0)
    mean, spread = by_unit_vectors(dense(where, HYPER), omega, h)
    old, new = (Inputs(*(each[rows] for each in where)) for rows in (here, there))
    # the plain formula
    w, cross = np.sqrt(omega[here]), covariance(new, HYPER, old) * np.sqrt(omega[here])
    inner = np.eye(len(w)) + w[:, None] * covariance(old, HYPER) * w
    inner[np.diag_indices(len(w))] += 1e-6 * HYPER.scale * w**2
    solved = np.linalg.solve(inner, np.column_stack([h[here] / w, cross.T]))
    found_mean = cross @ solved[:, 0]
    found_spread = covariance(new, HYPER) - cross @ solved[:, 1:]
    np.testing.assert_allclose(found_mean, mean[there], atol=ALGEBRA)
    np.testing.assert_allclose(
        found_spread + 1e-6 * HYPER.scale * np.eye(3), spread[np.ix_(there, there)], atol=ALGEBRA
    )


@pytest.mark.parametrize(
    "where",
    [grid(4, 3), inputs(12), inputs(12, n_space=0), inputs(12, n_time=0)],
    ids=["a grid", "anywhere", "time", "space"],
)
def test_the_marginal_likelihood_is_the_gaussian_density_and_its_gradient_that_of_differences(
    where,
):
    outputs, logs = np.random.default_rng(3).normal(size=(12, 5)), np.log([3.0, 2.0, 0.9, 0.4])
    log_p = gaussian_process.log_likelihood_of(where, outputs)
    on_grid = len(np.unique(where.time, axis=0)) * len(np.unique(where.space, axis=0)) == 12
    assert isinstance(log_p, gaussian_process.Grid if on_grid else gaussian_process.Rows)
    value, gradient = log_p(Kernel(*np.exp(logs)))
    full = covariance(where, Kernel(*np.exp(logs))) + 0.4 * np.eye(12)
    assert value == pytest.approx(
        multivariate_normal(np.zeros(12), full).logpdf(outputs.T).sum(), abs=1e-9
    )
    for i, step in enumerate(1e-5 * np.eye(4)):
        slope = (
            log_p(Kernel(*np.exp(logs + step)))[0] - log_p(Kernel(*np.exp(logs - step)))[0]
        ) / 2e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-6)  # of central differences


def test_the_fit_finds_the_kernel_that_outputs_were_drawn_with():
    where, true, random = grid(30, 12), Kernel(12.0, 2.5, 0.8, 0.3), np.random.default_rng(5)
    root = np.linalg.cholesky(covariance(where, true) + 0.3 * np.eye(360))
    found = gaussian_process.fitted(
        where, root @ random.normal(size=(360, 40)), Kernel(30.0, 5.0, 1.0, 1.0)
    )
    # 14 400 numbers that are far from independent
    np.testing.assert_allclose(found, true, rtol=0.15)
    assert gaussian_process.fitted(where, np.zeros((360, 4)), true) == true


def test_the_smoothing_is_the_regression():
    where, observed, outputs = grid(), np.arange(40), np.random.default_rng(2).normal(size=(40, 3))
    full = covariance(where, HYPER)
    wanted = full[:, :40] @ np.linalg.solve(full[:40, :40] + 0.5 * np.eye(40), outputs)
    for prior in (dense(where, HYPER), low_rank(where, HYPER)):
        # jitter, threshold
        np.testing.assert_allclose(
            gaussian_process.smoothed(prior, observed, outputs, 0.5), wanted, atol=1e-4
        )


def test_normal_numbers_of_a_draw_do_not_depend_on_how_many_there_are():
    key = np.uint64(draw_key(0, 2, 0, 0))
    np.testing.assert_array_equal(normals(key, 0, (7, 3))[:5, :2], normals(key, 0, (5, 2)))
