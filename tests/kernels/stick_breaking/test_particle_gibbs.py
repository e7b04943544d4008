"""Particle Gibbs with ancestor sampling: its law by quadrature, its weights, and forecasts against exact probabilities."""

import itertools
import math

import numpy as np
import pytest
from geweke import key_of, z_of
from scipy import stats
from scipy.special import log_softmax
from toys import called

from workbench.kernels.stick_breaking.particle_gibbs import (
    _anchor,
    _resample_evenly,
    draw_path,
    filter_particles,
    forecast,
    weigh,
)
from workbench.kernels.stick_breaking.sticks import log_probabilities

SYSTEM, NOISE, FIRST_MEAN, FIRST_VARIANCE = 0.8, 0.15, 0.3, 0.7
COUNTS = np.array([[2, 0, 1], [0, 0, 0], [0, 4, 1]])
LOADINGS, OFFSET = np.array([[1.5], [-1.0], [0.4]]), np.array([0.2, -0.3, 0.1])


def log_words(psi, sticks):
    return log_probabilities(psi) if sticks else log_softmax(psi, axis=-1)


def pairs_of(table):
    """(indptr, rows, counts) of a table (time, word)."""
    times, rows = np.nonzero(table)
    return np.searchsorted(times, np.arange(len(table) + 1)), rows, table[times, rows]


def parameters(sticks):
    """C, d, whether by sticks, and the laws of the first state and of a step, as the kernels take them."""
    n_rows = 2 if sticks else 3
    return (
        LOADINGS[:n_rows],
        OFFSET[:n_rows],
        sticks,
        np.array([FIRST_MEAN]),
        np.array([[FIRST_VARIANCE]]),
        np.array([[SYSTEM]]),
        np.array([[NOISE]]),
    )


def on_a_grid(table, sticks):
    """Axes and weights (z_1, z_2, z_3) of p(z | counts), normalised, and the sum that normalised them: p(counts)."""
    axis = np.linspace(-4.5, 4.5, 181)
    one, two, three = np.ix_(axis, axis, axis)
    logs = -0.5 * (one - FIRST_MEAN) ** 2 / FIRST_VARIANCE
    logs = logs - 0.5 * ((two - SYSTEM * one) ** 2 + (three - SYSTEM * two) ** 2) / NOISE
    loadings, offset, *_ = parameters(sticks)
    for z, counts in zip((one, two, three), table, strict=True):
        logs = logs + log_words(z[..., None] * loadings[:, 0] + offset, sticks) @ counts
    constant = np.log(axis[1] - axis[0]) * 3 - 0.5 * np.log(
        (2 * np.pi) ** 3 * FIRST_VARIANCE * NOISE**2
    )
    mass = np.exp(logs)
    return axis, mass / mass.sum(), mass.sum() * math.exp(constant)


def sweeps(n, n_particles, sticks, table=COUNTS):
    """(sweep, time) paths, one given the other."""
    path, lanes, kept = np.zeros((3, 1)), -(-n_particles // 16) * 16, np.empty((n, 3))
    particles, ancestors, log_weights = (
        np.zeros((3, 1, lanes)),
        np.zeros((3, n_particles), np.int64),
        np.zeros(lanes),
    )
    fixed = *pairs_of(table), *parameters(sticks), np.array([[1 / NOISE]]), n_particles
    for i in range(n):
        filter_particles(0, 3, *fixed, path, key_of(2 * i), particles, ancestors, log_weights)
        draw_path(particles, ancestors, log_weights, n_particles, path, key_of(2 * i + 1))
        kept[i] = path[:, 0]
    return kept


@pytest.mark.parametrize(
    ("n_particles", "sticks"), [(2, False), (5, False), (20, False), (5, True), (20, True)]
)
def test_paths_have_the_law_of_quadrature(n_particles, sticks):
    """Means, variances and products, whatever the number of particles; with sticks it is what the Gibbs sampler draws too."""
    axis, mass, _ = on_a_grid(COUNTS, sticks)
    kept = sweeps(40_000, n_particles, sticks)
    for powers in [
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (2, 0, 0),
        (0, 2, 0),
        (0, 0, 2),
        (1, 1, 0),
        (0, 1, 1),
        (1, 0, 1),
    ]:
        wanted = np.einsum("ijk,i,j,k", mass, *(axis**power for power in powers))
        assert z_of(np.prod(kept**powers, axis=1), wanted) < 4.5, powers


@pytest.mark.parametrize("sticks", [False, True])
def test_weights_are_log_probabilities_of_the_counts(sticks):
    random = np.random.default_rng(0)
    for n_words in (2, 6, 9):
        n_rows = n_words - 1 if sticks else n_words
        loadings, offset = (
            random.normal(scale=3, size=(n_rows, 4)),
            random.normal(scale=3, size=n_rows),
        )
        counts, particles = random.integers(0, 3, n_words), np.zeros((4, 32))
        particles[:, :20] = random.normal(size=(4, 20))
        rows, added = np.flatnonzero(counts), np.zeros(32)
        arguments = 0, len(rows), rows, counts[rows], particles, np.empty((n_words + 1, 16)), added
        weigh(loadings, offset, sticks, *arguments)
        wanted = log_words(particles.T @ loadings.T + offset, sticks) @ counts
        # rounding of sums of numbers up to a hundred
        assert added == pytest.approx(wanted, abs=1e-11)
    weigh(1e3 * loadings, offset, sticks, *arguments)
    assert np.isfinite(added).all()  # probabilities below the smallest float


def test_ancestors_are_weighed_by_the_density_of_the_step_to_the_reference():
    random = np.random.default_rng(0)
    means, log_weights, reference = (
        random.normal(size=(3, 16)),
        random.normal(size=16),
        random.normal(size=3),
    )
    found = np.empty(16)
    noise = stats.wishart(5, np.eye(3)).rvs(random_state=1)
    root = np.linalg.cholesky(np.linalg.inv(noise)).T.copy()
    called(_anchor)(log_weights, reference, means, root, found)
    wanted = log_weights + [
        stats.multivariate_normal(mean, noise).logpdf(reference) for mean in means.T
    ]
    # rounding; up to a constant
    assert found - found[0] == pytest.approx(wanted - wanted[0], abs=1e-10)


@pytest.mark.parametrize(("n_known", "variance"), [(0, FIRST_VARIANCE), (1, 0.0), (1, 0.5)])
@pytest.mark.parametrize("sticks", [False, True])
def test_forecasts_multiply_to_an_unbiased_estimate_of_the_probability_of_what_is_held_out(
    sticks, n_known, variance
):
    """The mean over runs of the product is p(counts), by quadrature, over the law of the state that forecasts begin at too."""
    path, (indptr, rows, counts), n, random = (
        np.full((3, 1), 0.4),
        pairs_of(COUNTS),
        20_000,
        np.random.default_rng(0),
    )
    (loadings, offset, *_), of_forecast = (
        parameters(sticks),
        (*parameters(sticks)[:3], *parameters(sticks)[5:]),
    )
    starts = (0.4 if n_known else FIRST_MEAN) + math.sqrt(variance) * random.normal(size=(n, 4, 1))
    found, probability = np.empty(n), np.empty(len(rows))
    for i in range(n):
        forecast(
            n_known, indptr, rows, counts, *of_forecast, starts[i], path, key_of(i), probability
        )
        found[i] = math.exp(counts @ np.log(probability))
    if n_known == 0:
        wanted = on_a_grid(COUNTS, sticks)[2]
    else:  # z_3 is Gaussian, and there is nothing at the second time; the first is scored by the path
        nodes, weights = np.polynomial.hermite_e.hermegauss(80)
        spread = math.sqrt(SYSTEM**4 * variance + NOISE * (1 + SYSTEM**2))
        first, last = (
            np.exp(log_words(np.multiply.outer(z, loadings[:, 0]) + offset, sticks) @ x)
            for z, x in ((0.4, COUNTS[0]), (SYSTEM**2 * 0.4 + spread * nodes, COUNTS[2]))
        )
        wanted = first * (weights @ last) / math.sqrt(2 * math.pi)
    assert abs(found.mean() - wanted) < 4.5 * found.std() / math.sqrt(n)
    # so that a wrong order of resampling would be seen
    assert found.std() / math.sqrt(n) < 0.02 * wanted


@pytest.mark.parametrize("sticks", [False, True])
def test_words_held_out_at_known_times_have_their_probability_given_the_state(sticks):
    path, (indptr, rows, counts), probability = (
        np.array([[0.4], [-1.0], [2.0]]),
        pairs_of(COUNTS),
        np.empty(4),
    )
    loadings, offset, sticks, _, _, system, noise = parameters(sticks)
    forecast(
        3,
        indptr,
        rows,
        counts,
        loadings,
        offset,
        sticks,
        system,
        noise,
        np.ones((20, 1)),
        path,
        key_of(0),
        probability,
    )
    times = np.repeat(np.arange(3), np.diff(indptr))
    wanted = log_words(path @ loadings.T + offset, sticks)[times, rows]
    assert np.log(probability) == pytest.approx(wanted, abs=1e-12)  # rounding


def test_one_word_is_certain():
    """There is no stick."""
    probability, one = np.empty(2), np.eye(1)
    forecast(
        1,
        np.array([0, 1, 2]),
        np.zeros(2, np.int64),
        np.array([2, 1]),
        np.empty((0, 1)),
        np.empty(0),
        True,
        one,
        one,
        np.zeros((3, 1)),
        np.zeros((2, 1)),
        key_of(7),
        probability,
    )
    assert (probability == 1).all()


def test_systematic_resampling_copies_each_particle_as_often_as_its_weight_says():
    """Over a thousand streams a particle of weight w is copied n w times in the mean, and never one more or less."""
    weights, parents, copies = np.array([0.47, 0.03, 0.31, 0.19]), np.empty(4, np.int64), []
    resample = called(_resample_evenly)
    for i in range(1000):
        resample(key_of(i), np.log(weights) - 3.0, 4, parents, np.empty(4))
        copies.append(np.bincount(parents, minlength=4))
    # 4.5 standard errors of at most 0.5 / sqrt(1000)
    assert np.mean(copies, axis=0) == pytest.approx(4 * weights, abs=0.07)
    assert np.abs(np.array(copies) - 4 * weights).max() < 1


def test_a_filter_in_parts_is_that_of_the_whole():
    fixed = (
        *pairs_of(COUNTS),
        *parameters(False),
        np.array([[1 / NOISE]]),
        5,
        np.zeros((3, 1)),
        key_of(3),
    )
    whole, parts = (
        (np.zeros((3, 1, 16)), np.zeros((3, 5), np.int64), np.zeros(16)) for _ in range(2)
    )
    filter_particles(0, 3, *fixed, *whole)
    for t in range(3):
        filter_particles(t, t + 1, *fixed, *parts)
    assert all(np.array_equal(a, b) for a, b in itertools.zip_longest(whole, parts))
