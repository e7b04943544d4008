"""Gaussian processes given Polya-gamma numbers: exact means and covariances, quadrature, and Geweke's test."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from kernels.stick_breaking.geweke import assert_same_expectations, z_of
from scipy.special import expit, log_expit, softmax
from scipy.stats import multivariate_normal

from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking.sbm_gp import draw_sticks, draw_weights
from workbench.kernels.blas import one_blas_thread
from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking import kernel_fit
from workbench.kernels.stick_breaking.elliptical_slice import draw_columns
from workbench.kernels.stick_breaking.gaussian_process import (
    Dense,
    Inputs,
    Kernel,
    LowRank,
    collapsed_prediction,
    covariance,
    dense,
    log_normaliser,
    low_rank,
    normals,
    posterior_draws,
    prior_draws,
)
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.kernels.uniforms import absorb, draw_key, uniform
from workbench.kernels.variates import normal, stream_of

ORACLES = json.loads((Path(__file__).parents[2] / "oracles" / "stick_breaking.json").read_text())
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
    found = covariance(Inputs(z[:, :1], z[:, 1:]), Kernel(of["l_t"], of["l_x"], of["s_t"] * of["s_x"], 1.0))
    np.testing.assert_allclose(found, of["C"], rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("n_time, n_space", [(1, 0), (0, 1), (0, 3)])
def test_one_kind_of_inputs_is_enough(n_time, n_space):
    where = inputs(6, n_time=n_time, n_space=n_space)
    r = math.sqrt(5.0) * np.abs(np.subtract.outer(where.time[:, 0], where.time[:, 0])) / 8.0 if n_time else 0.0
    apart = ((where.space[:, None] - where.space) ** 2).sum(axis=2) if n_space else 0.0
    wanted = 1.3 * (1.0 + r + r * r / 3.0) * np.exp(-r - apart / 18.0)
    np.testing.assert_allclose(covariance(where, HYPER), wanted, atol=1e-14)  # rounding
    np.testing.assert_allclose(full_of(low_rank(where, HYPER, 1e-12)), wanted, atol=1e-11)  # the threshold


def full_of(prior: LowRank):
    return prior.weights @ prior.weights.T


@pytest.mark.parametrize("where", [
    grid(), inputs(40), Inputs(*(each[:50] for each in grid())), Inputs(*(np.repeat(each, 2, axis=0) for each in inputs(9))),
], ids=["a grid", "rows anywhere", "a grid with gaps", "rows twice"])
def test_a_low_rank_factor_is_the_covariance(where):
    smooth = Kernel(30.0, 6.0, 1.3, 0.5)
    prior = low_rank(where, smooth, 1e-6)
    assert prior.n_noise < len(where.time)
    np.testing.assert_allclose(full_of(prior), covariance(where, smooth), atol=1e-4)  # eigenvalues up to 60 * 1e-6 are left out


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
    (one, spread), (other, spread_other) = (by_unit_vectors(make(where, HYPER), omega, h) for make in (dense, low_rank))
    np.testing.assert_allclose(one, other, atol=1e-4)  # the threshold of 1e-8, and the jitter of 1e-6
    np.testing.assert_allclose(spread, spread_other, atol=1e-4)


@pytest.mark.parametrize("make", [dense, low_rank])
def test_without_counts_the_prior_is_drawn_and_its_integral_is_1(make):
    where = grid()
    prior, nothing = make(where, HYPER), np.zeros(54)
    noise = np.random.default_rng(1).normal(size=(prior.n_noise, 3))
    np.testing.assert_allclose(posterior_draws(prior, nothing, nothing, noise), prior_draws(prior, noise), atol=1e-12)
    assert log_normaliser(prior, nothing, nothing) == 0.0
    full = prior_draws(prior, np.eye(prior.n_noise)[:, : prior.n_noise]) @ prior_draws(prior, np.eye(prior.n_noise)).T
    np.testing.assert_allclose(full, covariance(where, HYPER), atol=3e-6)  # the jitter, and the threshold


def test_the_collapsed_prediction_is_that_of_rows_that_are_not_observed():
    where, (omega, h) = inputs(), likelihood()
    here, there = np.flatnonzero(omega > 0), np.flatnonzero(omega == 0)
    mean, spread = by_unit_vectors(dense(where, HYPER), omega, h)
    old, new = (Inputs(*(each[rows] for each in where)) for rows in (here, there))
    found_mean, found_spread = collapsed_prediction(old, new, HYPER, omega[here], h[here])
    np.testing.assert_allclose(found_mean, mean[there], atol=ALGEBRA)
    np.testing.assert_allclose(found_spread + 1e-6 * HYPER.scale * np.eye(3), spread[np.ix_(there, there)], atol=ALGEBRA)


@pytest.mark.parametrize("where", [grid(4, 3), inputs(12), inputs(12, n_space=0), inputs(12, n_time=0)],
                         ids=["a grid", "anywhere", "time", "space"])
def test_the_marginal_likelihood_is_the_gaussian_density_and_its_gradient_that_of_differences(where):
    outputs, logs = np.random.default_rng(3).normal(size=(12, 5)), np.log([3.0, 2.0, 0.9, 0.4])
    log_p = kernel_fit.log_likelihood_of(where, outputs)
    on_grid = len(np.unique(where.time, axis=0)) * len(np.unique(where.space, axis=0)) == 12
    assert isinstance(log_p, kernel_fit.Grid if on_grid else kernel_fit.Rows)
    value, gradient = log_p(Kernel(*np.exp(logs)))
    full = covariance(where, Kernel(*np.exp(logs))) + 0.4 * np.eye(12)
    assert value == pytest.approx(multivariate_normal(np.zeros(12), full).logpdf(outputs.T).sum(), abs=1e-9)
    for i, step in enumerate(1e-5 * np.eye(4)):
        slope = (log_p(Kernel(*np.exp(logs + step)))[0] - log_p(Kernel(*np.exp(logs - step)))[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-6)  # of central differences


def test_the_fit_finds_the_kernel_that_outputs_were_drawn_with():
    where, true, random = grid(30, 12), Kernel(12.0, 2.5, 0.8, 0.3), np.random.default_rng(5)
    root = np.linalg.cholesky(covariance(where, true) + 0.3 * np.eye(360))
    found = kernel_fit.fitted(where, root @ random.normal(size=(360, 40)), Kernel(30.0, 5.0, 1.0, 1.0))
    np.testing.assert_allclose(found, true, rtol=0.15)  # 14 400 numbers that are far from independent
    assert kernel_fit.fitted(where, np.zeros((360, 4)), true) == true


def test_the_smoothing_is_the_regression():
    where, observed, outputs = grid(), np.arange(40), np.random.default_rng(2).normal(size=(40, 3))
    full = covariance(where, HYPER)
    wanted = full[:, :40] @ np.linalg.solve(full[:40, :40] + 0.5 * np.eye(40), outputs)
    for prior in (dense(where, HYPER), low_rank(where, HYPER)):
        np.testing.assert_allclose(kernel_fit.smoothed(prior, observed, outputs, 0.5), wanted, atol=1e-4)  # jitter, threshold


# ---------------------------------------------------------------- the sampler, on tables that change from sweep to sweep

ROWS, N_WORDS, LENGTHS = 4, 3, np.array([3, 0, 2, 5])
WHERE = Inputs(np.array([[0.0], [1.0], [2.5], [4.0]]), np.array([[0.0], [1.0], [0.0], [1.5]]))
PROCESS = Kernel(3.0, 2.0, 1.2, 1.0)
MEANS = np.array([-0.4, 0.2, 0.1])


def sticks_chain(counts, n_sweeps, prior, mean, redraw=None, psi=None, predict="conditional"):
    """psi (sweep, row, stick) of the sampler; `redraw(psi, sweep)` gives the next counts."""
    state = SimpleNamespace(psi=np.zeros((len(counts), len(mean))) if psi is None else psi, mean=mean)
    empty = np.flatnonzero(counts.sum(axis=1) == 0)
    state.prediction, found = np.zeros((len(empty), len(mean))), np.empty((n_sweeps, *state.psi.shape))
    seen = np.empty((n_sweeps, *counts.shape))
    with one_blas_thread():
        for sweep in range(n_sweeps):
            context = StepContext(0, sweep)
            omega, h = draw_weights(counts, state.psi, mean, context)
            draw_sticks(prior, omega, h, empty, predict, state, context)
            found[sweep] = state.psi
            if predict == "collapsed":
                found[sweep, empty] = state.prediction
            if redraw:
                counts = redraw(state.psi, sweep)
            seen[sweep] = counts
    return found, seen


def test_sticks_with_the_same_counts_have_numbers_of_their_own():
    counts = np.array([[0, 4, 2], [0, 1, 1]])
    omega, _ = draw_weights(counts, np.zeros((2, 2)), np.zeros(2), StepContext(0, 1))
    again, _ = draw_weights(counts, np.zeros((2, 2)), np.zeros(2), StepContext(0, 1, n_threads=2))
    np.testing.assert_array_equal(omega, again)
    assert len(np.unique(omega)) == 4


@pytest.mark.slow  # 4 s: 12,000 sweeps
def test_sticks_follow_the_exact_posterior_of_two_points(n_sweeps=6_000):
    """Two words, so one stick of two rows, and a third row that is predicted: by quadrature in two dims."""
    where = Inputs(np.array([[0.0], [1.0], [3.0]]), np.zeros((3, 0)))
    prior, counts = low_rank(where, PROCESS, 1e-12), np.array([[4, 1], [0, 2], [0, 0]])
    full, mean = covariance(where, PROCESS), np.array([0.3])
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    points = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2) @ np.linalg.cholesky(full[:2, :2]).T
    psi = 0.3 + points
    share = np.outer(weights, weights).ravel() * np.exp(
        (counts[:2, 0] * log_expit(psi) + counts[:2, 1] * log_expit(-psi)).sum(axis=1)
    )
    share /= share.sum()
    pull = np.linalg.solve(full[:2, :2], full[:2, 2])
    left = full[2, 2] - full[2, :2] @ pull
    ahead = np.average([expit(0.3 + points @ pull + math.sqrt(left) * z) for z in nodes], axis=0, weights=weights)
    wanted = np.concatenate([share @ expit(psi), share @ expit(psi) ** 2, [share @ expit(psi).prod(axis=1), share @ ahead]])
    for predict in ("conditional", "collapsed"):
        found, _ = sticks_chain(counts, n_sweeps, prior, mean, predict=predict)
        p = expit(found[200:, :, 0])
        chain = np.column_stack([p[:, :2], p[:, :2] ** 2, p[:, :2].prod(axis=1), p[:, 2]])
        assert z_of(chain, wanted).max() < 4.5


@pytest.mark.slow  # 8 s: 24,000 sweeps of small matrices
def test_successive_conditional_draws_of_sticks_follow_the_prior(n_sweeps=24_000):
    """Geweke: rows of 3, 0, 2 and 5 tokens over three words."""
    random, prior = np.random.default_rng(1), low_rank(WHERE, PROCESS, 1e-12)
    root, mean = np.linalg.cholesky(full_of(prior) + 1e-12 * np.eye(ROWS)), MEANS[:2]

    def data(psi, _=None):
        return random.multinomial(LENGTHS, probabilities(psi))

    psi = mean + root @ random.normal(size=(ROWS, 2))
    chain = sticks_chain(data(psi), n_sweeps, prior, mean, data, psi)
    independent = mean + np.einsum("mn,dnk->dmk", root, random.normal(size=(100_000, ROWS, 2)))
    counts = random.multinomial(LENGTHS, probabilities(independent))
    assert_same_expectations(statistics(*chain), statistics(independent, counts))


def statistics(psi, counts):
    """(draw, statistic): bounded functions of psi, and their products with the data."""
    bounded, shares = np.tanh(psi), counts[..., :2] / np.maximum(LENGTHS, 1)[:, None]
    with_data = (bounded[..., :2] * shares)[:, LENGTHS > 0]
    neighbours = bounded[:, 0] * bounded[:, 1], bounded[:, 1] * bounded[:, 3], bounded[:, 0, :1] * bounded[:, 2, 1:2]
    flat = [each.reshape(len(psi), -1) for each in (bounded, bounded**2, with_data, *neighbours, shares[:, LENGTHS > 0])]
    return np.concatenate(flat, axis=1)


@kernel
def columns_chain(n_sweeps, root, mean, lengths, rows, key, psi, counts, found, seen):
    """psi (sweep, word, row) by elliptical slices; with lengths the data are drawn anew after each sweep."""
    n_words, n_rows = psi.shape
    n, prior, p = lengths.astype(np.float64), np.empty(psi.shape), np.empty(n_words)
    for sweep in range(n_sweeps):
        here = absorb(key, sweep)
        stream = stream_of(here, 0)
        for k in range(n_words):
            noise = np.empty(n_rows)
            for m in range(n_rows):
                stream, noise[m] = normal(stream)
            for m in range(n_rows):
                prior[k, m] = (root[m] * noise).sum()
        draw_columns(rows, counts, n, mean, prior, psi, absorb(here, 1))
        found[sweep] = psi
        if len(seen):
            counts[:] = 0.0
            for m in range(n_rows):
                for k in range(n_words):
                    p[k] = math.exp(psi[k, m])
                for i in range(lengths[m]):
                    u, k = uniform(absorb(absorb(here, 2), m), i) * p.sum(), 0
                    while k < n_words - 1 and u >= p[k]:
                        u -= p[k]
                        k += 1
                    counts[k, m] += 1.0
            seen[sweep] = counts


@pytest.mark.slow  # 8 s: mostly compiling
def test_columns_follow_the_exact_posterior_of_two_points():
    """Two words: the difference of their processes is one of twice the variance, and a third row is predicted."""
    where = Inputs(np.array([[0.0], [1.0], [3.0]]), np.zeros((3, 0)))
    full, counts = covariance(where, PROCESS), np.array([[4.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    points = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2) @ np.linalg.cholesky(2 * full[:2, :2]).T
    psi = 0.3 + points
    log_p = (counts[0, :2] * log_expit(psi) + counts[1, :2] * log_expit(-psi)).sum(axis=1)
    share = np.outer(weights, weights).ravel() * np.exp(log_p)
    share /= share.sum()
    pull = np.linalg.solve(full[:2, :2], full[:2, 2])
    left = 2 * (full[2, 2] - full[2, :2] @ pull)
    ahead = np.average([expit(0.3 + points @ pull + math.sqrt(left) * z) for z in nodes], axis=0, weights=weights)
    wanted = np.concatenate([share @ expit(psi), share @ expit(psi) ** 2, [share @ ahead]])
    found, key = np.empty((200_000, 2, 3)), np.uint64(draw_key(0, 1, 0, 0))
    root, mean, lengths = np.linalg.cholesky(full), np.array([0.4, 0.1]), np.array([5, 2, 0])
    columns_chain(
        len(found), root, mean, lengths, np.array([0, 1]), key, np.zeros((2, 3)), counts, found, np.empty((0, 2, 3)),
    )
    p = expit(found[:, 0] - found[:, 1])
    assert z_of(np.column_stack([p[:, :2], p[:, :2] ** 2, p[:, 2]]), wanted).max() < 4.5


@pytest.mark.slow  # 5 s: 300,000 sweeps
def test_successive_conditional_draws_of_columns_follow_the_prior(n_sweeps=300_000):
    """Geweke, as for the sticks."""
    random, root = np.random.default_rng(1), np.linalg.cholesky(covariance(WHERE, PROCESS))
    psi = MEANS[:, None] + random.normal(size=(N_WORDS, ROWS)) @ root.T
    counts = random.multinomial(LENGTHS, softmax(psi.T, axis=1)).T.astype(float)
    found, seen = np.empty((2, n_sweeps, N_WORDS, ROWS))
    key = np.uint64(draw_key(1, 1, 0, 0))
    columns_chain(n_sweeps, root, MEANS, LENGTHS, np.flatnonzero(LENGTHS), key, psi, counts, found, seen)
    independent = MEANS + np.einsum("mn,dnk->dmk", root, random.normal(size=(300_000, ROWS, N_WORDS)))
    data = random.multinomial(LENGTHS, softmax(independent, axis=2))
    assert_same_expectations(statistics(found.swapaxes(1, 2), seen.swapaxes(1, 2)), statistics(independent, data))


def test_columns_of_one_word_and_of_no_tokens_follow_the_prior():
    root, key = np.linalg.cholesky(covariance(WHERE, PROCESS)), np.uint64(draw_key(2, 1, 0, 0))
    for rows, lengths in ((np.arange(4), np.array([3, 1, 2, 5])), (np.arange(0), np.zeros(4, int))):
        found = np.empty((50_000, 1, 4))
        counts = lengths[None].astype(float)
        unseen = np.empty((0, 1, 4))
        columns_chain(len(found), root, MEANS[:1], lengths, rows, key, np.zeros((1, 4)), counts, found, unseen)
        f = found[:, 0] - MEANS[0]
        full = covariance(WHERE, PROCESS)
        wanted = np.concatenate([np.zeros(4), np.diag(full), [full[0, 3]]])
        assert z_of(np.column_stack([f, f**2, f[:, 0] * f[:, 3]]), wanted).max() < 4.5


def test_normal_numbers_of_a_draw_do_not_depend_on_how_many_there_are():
    key = np.uint64(draw_key(0, 2, 0, 0))
    np.testing.assert_array_equal(normals(key, 0, (7, 3))[:5, :2], normals(key, 0, (5, 2)))
