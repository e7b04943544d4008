"""Samplers of Gaussian processes over rows: the exact posterior by quadrature, and Geweke's test."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from kernels.stick_breaking.geweke import assert_same_expectations, z_of
from scipy.special import expit, log_expit, softmax

from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking.sbm_gp import draw_sticks, draw_weights
from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.gaussian_process import Inputs, Kernel, covariance, low_rank
from workbench.kernels.stick_breaking.logistic_normal import draw_columns
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.kernels.threads import one_blas_thread
from workbench.kernels.uniforms import absorb, draw_key, normal, stream_of, uniform

ROWS, N_WORDS, LENGTHS = 4, 3, np.array([3, 0, 2, 5])
WHERE = Inputs(np.array([[0.0], [1.0], [2.5], [4.0]]), np.array([[0.0], [1.0], [0.0], [1.5]]))
PROCESS = Kernel(3.0, 2.0, 1.2, 1.0)
MEANS = np.array([-0.4, 0.2, 0.1])


def sticks_chain(counts, n_sweeps, prior, mean, redraw=None, psi=None, predict="conditional"):
    """psi (sweep, row, stick) of the sampler; `redraw(psi, sweep)` gives the next counts."""
    state = SimpleNamespace(
        psi=np.zeros((len(counts), len(mean))) if psi is None else psi, mean=mean
    )
    empty = np.flatnonzero(counts.sum(axis=1) == 0)
    state.prediction, found = (
        np.zeros((len(empty), len(mean))),
        np.empty((n_sweeps, *state.psi.shape)),
    )
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
    points = (
        np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2)
        @ np.linalg.cholesky(full[:2, :2]).T
    )
    psi = 0.3 + points
    share = np.outer(weights, weights).ravel() * np.exp(
        (counts[:2, 0] * log_expit(psi) + counts[:2, 1] * log_expit(-psi)).sum(axis=1)
    )
    share /= share.sum()
    pull = np.linalg.solve(full[:2, :2], full[:2, 2])
    left = full[2, 2] - full[2, :2] @ pull
    ahead = np.average(
        [expit(0.3 + points @ pull + math.sqrt(left) * z) for z in nodes], axis=0, weights=weights
    )
    wanted = np.concatenate(
        [
            share @ expit(psi),
            share @ expit(psi) ** 2,
            [share @ expit(psi).prod(axis=1), share @ ahead],
        ]
    )
    for predict in ("conditional", "collapsed"):
        found, _ = sticks_chain(counts, n_sweeps, prior, mean, predict=predict)
        p = expit(found[200:, :, 0])
        chain = np.column_stack([p[:, :2], p[:, :2] ** 2, p[:, :2].prod(axis=1), p[:, 2]])
        assert z_of(chain, wanted).max() < 4.5


@pytest.mark.slow  # 8 s: 24,000 sweeps of small matrices
def test_successive_conditional_draws_of_sticks_follow_the_prior(n_sweeps=24_000):
    """Geweke: rows of 3, 0, 2 and 5 tokens over three words."""
    random, prior = np.random.default_rng(1), low_rank(WHERE, PROCESS, 1e-12)
    root, mean = (
        np.linalg.cholesky(prior.weights @ prior.weights.T + 1e-12 * np.eye(ROWS)),
        MEANS[:2],
    )

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
    neighbours = (
        bounded[:, 0] * bounded[:, 1],
        bounded[:, 1] * bounded[:, 3],
        bounded[:, 0, :1] * bounded[:, 2, 1:2],
    )
    flat = [
        each.reshape(len(psi), -1)
        for each in (bounded, bounded**2, with_data, *neighbours, shares[:, LENGTHS > 0])
    ]
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
    points = (
        np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2)
        @ np.linalg.cholesky(2 * full[:2, :2]).T
    )
    psi = 0.3 + points
    log_p = (counts[0, :2] * log_expit(psi) + counts[1, :2] * log_expit(-psi)).sum(axis=1)
    share = np.outer(weights, weights).ravel() * np.exp(log_p)
    share /= share.sum()
    pull = np.linalg.solve(full[:2, :2], full[:2, 2])
    left = 2 * (full[2, 2] - full[2, :2] @ pull)
    ahead = np.average(
        [expit(0.3 + points @ pull + math.sqrt(left) * z) for z in nodes], axis=0, weights=weights
    )
    wanted = np.concatenate([share @ expit(psi), share @ expit(psi) ** 2, [share @ ahead]])
    found, key = np.empty((200_000, 2, 3)), np.uint64(draw_key(0, 1, 0, 0))
    root, mean, lengths = np.linalg.cholesky(full), np.array([0.4, 0.1]), np.array([5, 2, 0])
    columns_chain(
        len(found),
        root,
        mean,
        lengths,
        np.array([0, 1]),
        key,
        np.zeros((2, 3)),
        counts,
        found,
        np.empty((0, 2, 3)),
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
    columns_chain(
        n_sweeps, root, MEANS, LENGTHS, np.flatnonzero(LENGTHS), key, psi, counts, found, seen
    )
    independent = MEANS + np.einsum(
        "mn,dnk->dmk", root, random.normal(size=(300_000, ROWS, N_WORDS))
    )
    data = random.multinomial(LENGTHS, softmax(independent, axis=2))
    assert_same_expectations(
        statistics(found.swapaxes(1, 2), seen.swapaxes(1, 2)), statistics(independent, data)
    )


def test_columns_whose_tokens_are_all_of_one_word_or_none_follow_the_prior():
    root, key = np.linalg.cholesky(covariance(WHERE, PROCESS)), np.uint64(draw_key(2, 1, 0, 0))
    for rows, lengths in ((np.arange(4), np.array([3, 1, 2, 5])), (np.arange(0), np.zeros(4, int))):
        found = np.empty((50_000, 1, 4))
        counts = lengths[None].astype(float)
        unseen = np.empty((0, 1, 4))
        columns_chain(
            len(found), root, MEANS[:1], lengths, rows, key, np.zeros((1, 4)), counts, found, unseen
        )
        f = found[:, 0] - MEANS[0]
        full = covariance(WHERE, PROCESS)
        wanted = np.concatenate([np.zeros(4), np.diag(full), [full[0, 3]]])
        assert z_of(np.column_stack([f, f**2, f[:, 0] * f[:, 3]]), wanted).max() < 4.5
