"""Loadings by elliptical slice sampling, and the whole sampler of the logistic-normal system by Geweke's test."""

import math

import numpy as np
import pytest
from kernels.stick_breaking.geweke import assert_same_expectations, z_of
from scipy.special import log_softmax, logsumexp

from workbench.kernels.jit import kernel
from workbench.kernels.state_space import draw_mniw, mniw_posterior
from workbench.kernels.stick_breaking.logistic_normal import (
    draw_loadings,
    largest_psi,
    sums_after,
)
from workbench.kernels.stick_breaking.particle_gibbs import draw_path, filter_particles
from workbench.kernels.uniforms import absorb, draw_key, normal, stream_of, uniform

VARIANCE = 0.6


def key_of(step):
    return np.uint64(draw_key(1, 2, 3, step))


@kernel
def sweep(loadings, offset, states, counts, variance, n_parts, key):
    """One draw of all rows of C, in so many parts, from states (time, state_dim) and counts (time, word)."""
    n_times, n_dims = states.shape
    n_words, lanes = len(offset), (n_times + 15) // 16 * 16
    by_dim, n_tokens, weighted = (
        np.zeros((n_dims, lanes)),
        np.zeros(lanes),
        np.zeros((n_words, n_dims)),
    )
    for t in range(n_times):
        by_dim[:, t] = states[t]
        for k in range(n_words):
            n_tokens[t] += counts[t, k]
            for j in range(n_dims):
                weighted[k, j] += counts[t, k] * states[t, j]
    top, before, after = np.empty(lanes), np.zeros(lanes), np.empty((n_words + 1, lanes))
    largest_psi(loadings, offset, by_dim, top)
    sums_after(loadings, offset, by_dim, top, after)
    for part in range(n_parts):
        first, last = n_words * part // n_parts, n_words * (part + 1) // n_parts
        draw_loadings(
            first,
            last,
            loadings,
            offset,
            by_dim,
            n_tokens,
            weighted,
            variance,
            top,
            before,
            after,
            key,
        )


@kernel
def many_sweeps(n, loadings, offset, states, counts, variance, key):
    """(sweep, word, state_dim)"""
    kept = np.empty((n, *loadings.shape))
    for i in range(n):
        sweep(loadings, offset, states, counts, variance, 2, absorb(key, i))
        kept[i] = loadings
    return kept


def test_loadings_given_states_have_the_law_of_quadrature():
    """Two words, one number in a state: (c_1, c_2) on a grid."""
    states, counts, offset = (
        np.array([[0.8], [-1.5], [0.3]]),
        np.array([[4, 1], [0, 3], [0, 0]]),
        np.array([0.5, -0.2]),
    )
    kept = many_sweeps(40_000, np.zeros((2, 1)), offset, states, counts, VARIANCE, key_of(1))[
        :, :, 0
    ]
    axis = np.linspace(-6, 6, 401)
    one, two = np.ix_(axis, axis)
    logs = -0.5 * (one**2 + two**2) / VARIANCE
    for z, x in zip(states[:, 0], counts, strict=True):
        psi = np.stack(np.broadcast_arrays(one * z + offset[0], two * z + offset[1]), axis=-1)
        logs = logs + log_softmax(psi, axis=-1) @ x
    mass = np.exp(logs - logsumexp(logs))
    for powers in [(1, 0), (0, 1), (2, 0), (0, 2), (1, 1)]:
        wanted = np.einsum("ij,i,j", mass, *(axis**power for power in powers))
        assert z_of(np.prod(kept**powers, axis=1), wanted) < 4.5, powers


def test_loadings_of_words_are_the_same_in_whatever_slices_they_are_drawn():
    random = np.random.default_rng(0)
    states, counts, offset = (
        random.normal(size=(40, 3)),
        random.integers(0, 2, (40, 9)),
        random.normal(size=9),
    )
    whole, parts = (random.normal(size=(9, 3)) * 0 + 0.1 for _ in range(2))
    sweep(whole, offset, states, counts, VARIANCE, 1, key_of(5))
    sweep(parts, offset, states, counts, VARIANCE, 4, key_of(5))
    assert np.array_equal(whole, parts) and not (whole == 0.1).any()


def test_rows_of_words_in_no_document_are_drawn_where_others_are_certain():
    """psi of hundreds: sums of exponentials between 0 and their largest term."""
    states, counts = np.full((20, 1), 30.0), np.zeros((20, 4), np.int64)
    counts[:, 0] = 3
    loadings = np.array([[20.0], [-20.0], [0.0], [1.0]])
    for i in range(50):
        sweep(loadings, np.zeros(4), states, counts, 400.0, 1, key_of(i))
        # the word of all tokens is the first
        assert np.isfinite(loadings).all() and (loadings[0] > loadings[1:, 0]).all()


N_TIMES, N_DIMS, N_WORDS, N_PARTICLES = (3, 2), 2, 3, 4
TOKENS = (2, 0, 3, 1, 2)
"""Tokens at the times of two sequences."""
NU, SCALE, PRECISION = N_DIMS + 5.0, 2.0, 2.0
"""Of B and A: fourth moments exist."""
N_NOTED = 16


@kernel
def draw_counts(loadings, offset, path, counts, key):
    """Counts (time, word) of all tokens given the states."""
    psi, index = np.empty(N_WORDS), 0
    counts[:] = 0
    for t in range(len(path)):
        for k in range(N_WORDS):
            psi[k] = math.exp(offset[k] + (loadings[k] * path[t]).sum())
        for _ in range(TOKENS[t]):
            u, w = uniform(key, index) * psi.sum(), 0
            while w < N_WORDS - 1 and u >= psi[w]:
                u -= psi[w]
                w += 1
            counts[t, w] += 1
            index += 1


@kernel
def note(loadings, path, system, noise, counts, row):
    """Bounded functions of all parts, and products of parts; the first sequence is at times 0 to 2, the second at 3 and 4."""
    row[0], row[1] = math.tanh(loadings[0, 0]), math.tanh(loadings[2, 1]) ** 2
    row[2], row[3], row[4] = (
        math.tanh(path[0, 0]),
        math.tanh(path[2, 1]) ** 2,
        math.tanh(path[4, 0]) ** 2,
    )
    row[5] = math.tanh(path[0, 0]) * math.tanh(path[1, 0])
    row[6] = math.tanh(path[1, 0]) * math.tanh(path[2, 1])
    row[7], row[8] = (
        math.tanh(path[3, 0] * path[3, 1]),
        math.tanh(path[2, 0] * path[2, 1] * noise[0, 1]),
    )
    row[9], row[10] = math.tanh(system[0, 0]), math.tanh(system[0, 1]) * math.tanh(system[1, 0])
    row[11], row[12] = math.log(noise[0, 0]), noise[0, 1] / math.sqrt(noise[0, 0] * noise[1, 1])
    row[13] = (counts[2, 0] > 0) * math.tanh(path[2, 0] * loadings[0, 0])
    row[14] = (counts[4, 2] > 0) * (counts[3, 2] > 0)
    row[15] = math.tanh(system[0, 0] * path[0, 0] * path[1, 0])


@kernel
def from_the_prior(n, offset, key):
    """(draw, statistic)"""
    path, counts, kept = (
        np.empty((5, N_DIMS)),
        np.zeros((5, N_WORDS), np.int64),
        np.empty((n, N_NOTED)),
    )
    loadings, eye = np.empty((N_WORDS, N_DIMS)), np.eye(N_DIMS)
    for i in range(n):
        here = absorb(key, i)
        stream = stream_of(here, 0)
        system, noise, _ = draw_mniw(
            np.zeros((N_DIMS, N_DIMS)), PRECISION * eye, NU, SCALE * eye, absorb(here, 1)
        )
        for k in range(N_WORDS):
            for j in range(N_DIMS):
                stream, z = normal(stream)
                loadings[k, j] = math.sqrt(VARIANCE) * z
        root = np.array(
            [[math.sqrt(noise[0, 0]), 0.0], [noise[0, 1] / math.sqrt(noise[0, 0]), 0.0]]
        )
        root[1, 1] = math.sqrt(noise[1, 1] - root[1, 0] ** 2)
        for t in range(5):
            stream, one = normal(stream)
            stream, two = normal(stream)
            first = t in (0, N_TIMES[0])
            path[t, 0] = one if first else root[0, 0] * one
            path[t, 1] = two if first else root[1, 0] * one + root[1, 1] * two
            if not first:
                for j in range(N_DIMS):
                    path[t, j] += (system[j] * path[t - 1]).sum()
        draw_counts(loadings, offset, path, counts, absorb(here, 2))
        note(loadings, path, system, noise, counts, kept[i])
    return kept


@kernel
def by_turns(n, offset, key):
    """The sampler and the data in turns: (draw, statistic)."""
    path, counts, kept = (
        np.zeros((5, N_DIMS)),
        np.zeros((5, N_WORDS), np.int64),
        np.empty((n, N_NOTED)),
    )
    loadings, eye, starts = np.zeros((N_WORDS, N_DIMS)), np.eye(N_DIMS), (0, N_TIMES[0], 5)
    system, noise, noise_precision = 0.5 * eye, eye.copy(), eye.copy()
    rows, log_weights = np.arange(5 * N_WORDS) % N_WORDS, np.zeros(16)
    particles, ancestors = np.zeros((3, N_DIMS, 16)), np.zeros((3, N_PARTICLES), np.int64)
    pairs, before, after = (
        np.empty(5 * N_WORDS, np.int64),
        np.empty((3, N_DIMS)),
        np.empty((3, N_DIMS)),
    )
    for i in range(n):
        here = absorb(key, i)
        draw_counts(loadings, offset, path, counts, absorb(here, 2))
        pairs[:] = counts.ravel()
        for s in range(2):
            first, last, own = starts[s], starts[s + 1], absorb(here, 3 + s)
            n_times = last - first
            filter_particles(
                0,
                n_times,
                N_WORDS * np.arange(first, last + 1),
                rows,
                pairs,
                loadings,
                offset,
                False,
                np.zeros(N_DIMS),
                eye,
                system,
                noise,
                noise_precision,
                N_PARTICLES,
                path[first:last],
                own,
                particles[:n_times],
                ancestors[:n_times],
                log_weights,
            )
            draw_path(
                particles[:n_times],
                ancestors[:n_times],
                log_weights,
                N_PARTICLES,
                path[first:last],
                absorb(own, 1),
            )
        sweep(loadings, offset, path, counts, VARIANCE, 1, absorb(here, 5))
        before[:2], before[2], after[:2], after[2] = path[:2], path[3], path[1:3], path[4]
        posterior = mniw_posterior(
            after, before, np.zeros((N_DIMS, N_DIMS)), PRECISION * eye, NU, SCALE * eye
        )
        system, noise, noise_precision = draw_mniw(*posterior, absorb(here, 6))
        note(loadings, path, system, noise, counts, kept[i])
    return kept


@pytest.mark.slow  # 150,000 sweeps and 150,000 draws from the prior
def test_the_sampler_leaves_the_joint_distribution_as_it_is():
    n, offset = 150_000, np.array([0.3, -0.2, 0.1])
    assert_same_expectations(by_turns(n, offset, key_of(1)), from_the_prior(n, offset, key_of(2)))
