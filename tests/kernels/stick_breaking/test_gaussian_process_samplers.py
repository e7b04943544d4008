"""Samplers of Gaussian processes over rows: the exact posterior by quadrature."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from geweke import z_of
from scipy.special import expit, log_expit

from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking.sbm_gp import draw_sticks, draw_weights
from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.gaussian_process import Inputs, Kernel, covariance, low_rank
from workbench.kernels.stick_breaking.logistic_normal import draw_columns
from workbench.kernels.threads import one_blas_thread
from workbench.kernels.uniforms import absorb, draw_key, normal, stream_of

WHERE = Inputs(np.array([[0.0], [1.0], [2.5], [4.0]]), np.array([[0.0], [1.0], [0.0], [1.5]]))
PROCESS = Kernel(3.0, 2.0, 1.2, 1.0)
MEANS = np.array([-0.4, 0.2, 0.1])
THREE = Inputs(np.array([[0.0], [1.0], [3.0]]), np.zeros((3, 0)))


def by_quadrature(full, counts):
    """psi at two rows with these counts (word, row), about 0.3, the share of each, and the mean share of a third row."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    points = (
        np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2)
        @ np.linalg.cholesky(full[:2, :2]).T
    )
    psi = 0.3 + points
    log_p = (counts[0] * log_expit(psi) + counts[1] * log_expit(-psi)).sum(axis=1)
    share = np.outer(weights, weights).ravel() * np.exp(log_p)
    pull = np.linalg.solve(full[:2, :2], full[:2, 2])
    left = full[2, 2] - full[2, :2] @ pull
    ahead = np.average(
        [expit(0.3 + points @ pull + math.sqrt(left) * z) for z in nodes], axis=0, weights=weights
    )
    share /= share.sum()
    return psi, share, share @ ahead


def sticks_chain(counts, n_sweeps, prior, mean, predict):
    """psi (sweep, row, stick) of the sampler."""
    shape = len(counts), len(mean)
    empty = np.flatnonzero(counts.sum(axis=1) == 0)
    prediction, found = np.zeros((len(empty), len(mean))), np.empty((n_sweeps, *shape))
    state = SimpleNamespace(psi=np.zeros(shape), mean=mean, prediction=prediction)
    with one_blas_thread():
        for sweep in range(n_sweeps):
            context = StepContext(0, sweep)
            omega, h = draw_weights(counts, state.psi, mean, context)
            draw_sticks(prior, omega, h, empty, predict, state, context)
            found[sweep] = state.psi
            if predict == "collapsed":
                found[sweep, empty] = state.prediction
    return found


def test_sticks_with_the_same_counts_have_numbers_of_their_own():
    counts = np.array([[0, 4, 2], [0, 1, 1]])
    omega, _ = draw_weights(counts, np.zeros((2, 2)), np.zeros(2), StepContext(0, 1))
    again, _ = draw_weights(counts, np.zeros((2, 2)), np.zeros(2), StepContext(0, 1, n_threads=2))
    np.testing.assert_array_equal(omega, again)
    assert len(np.unique(omega)) == 4


@pytest.mark.slow  # 4 s: 12,000 sweeps
def test_sticks_follow_the_exact_posterior_of_two_points(n_sweeps=6_000):
    """Two words, so one stick of two rows, and a third row that is predicted: by quadrature in two dims."""
    prior, counts = low_rank(THREE, PROCESS, 1e-12), np.array([[4, 1], [0, 2], [0, 0]])
    psi, share, ahead = by_quadrature(covariance(THREE, PROCESS), counts[:2].T)
    wanted = np.concatenate(
        [
            share @ expit(psi),
            share @ expit(psi) ** 2,
            [share @ expit(psi).prod(axis=1), ahead],
        ]
    )
    for predict in ("conditional", "collapsed"):
        found = sticks_chain(counts, n_sweeps, prior, np.array([0.3]), predict)
        p = expit(found[200:, :, 0])
        chain = np.column_stack([p[:, :2], p[:, :2] ** 2, p[:, :2].prod(axis=1), p[:, 2]])
        assert z_of(chain, wanted).max() < 4.5


@kernel
def columns_chain(root, mean, lengths, rows, key, psi, counts, found):
    """psi (sweep, word, row) by elliptical slices, into found."""
    n_words, n_rows = psi.shape
    n, prior = lengths.astype(np.float64), np.empty(psi.shape)
    for sweep in range(len(found)):
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


@pytest.mark.slow  # 8 s: mostly compiling
def test_columns_follow_the_exact_posterior_of_two_points():
    """Two words: the difference of their processes is one of twice the variance, and a third row is predicted."""
    full, counts = covariance(THREE, PROCESS), np.array([[4.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
    psi, share, ahead = by_quadrature(2 * full, counts[:, :2])
    wanted = np.concatenate([share @ expit(psi), share @ expit(psi) ** 2, [ahead]])
    found, key = np.empty((200_000, 2, 3)), np.uint64(draw_key(0, 1, 0, 0))
    root, mean, lengths = np.linalg.cholesky(full), np.array([0.4, 0.1]), np.array([5, 2, 0])
    columns_chain(root, mean, lengths, np.array([0, 1]), key, np.zeros((2, 3)), counts, found)
    p = expit(found[:, 0] - found[:, 1])
    assert z_of(np.column_stack([p[:, :2], p[:, :2] ** 2, p[:, 2]]), wanted).max() < 4.5


def test_columns_whose_tokens_are_all_of_one_word_or_none_follow_the_prior():
    root, key = np.linalg.cholesky(covariance(WHERE, PROCESS)), np.uint64(draw_key(2, 1, 0, 0))
    for rows, lengths in ((np.arange(4), np.array([3, 1, 2, 5])), (np.arange(0), np.zeros(4, int))):
        found = np.empty((50_000, 1, 4))
        counts = lengths[None].astype(float)
        columns_chain(root, MEANS[:1], lengths, rows, key, np.zeros((1, 4)), counts, found)
        f = found[:, 0] - MEANS[0]
        full = covariance(WHERE, PROCESS)
        wanted = np.concatenate([np.zeros(4), np.diag(full), [full[0, 3]]])
        assert z_of(np.column_stack([f, f**2, f[:, 0] * f[:, 3]]), wanted).max() < 4.5
