"""Gibbs sampling of topics that drift: parts against exact conditionals, and the whole sampler by Geweke's test."""

import math

import numpy as np
import pytest
from scipy import stats

from workbench.kernels.jit import kernel
from workbench.kernels.state_space import draw_inverse_gamma
from workbench.kernels.stick_breaking.dynamic_topics import (
    break_sticks,
    count_rows,
    draw_topics,
    draw_walks,
)
from workbench.kernels.stick_breaking.sticks import dirichlet_moments, probabilities
from workbench.kernels.uniforms import absorb, draw_key, gamma, normal, stream_of, uniform

YEARS, LENGTHS = np.array([0, 0, 1, 2]), (5, 2, 4, 3)
N_YEARS, N_TOPICS, N_WORDS = 3, 2, 3
N_TOKENS, STARTS = sum(LENGTHS), np.concatenate([[0], np.cumsum(LENGTHS)])
YEAR_OF = np.repeat(YEARS, LENGTHS)
ALPHA = np.array([0.8, 0.5])
A, B = 5.0, 1.2
"""Of the variance of a step: an inverse gamma whose fourth moment exists."""
N_NOTED = 15


def key_of(step):
    return np.uint64(draw_key(1, 2, 3, step))


@kernel
def draw_prior(mean, variance, sticks, phi, topics, starts, key):
    """q, and sticks, phi and topics given it."""
    q, stream = draw_inverse_gamma(A, B, absorb(key, 1)), stream_of(absorb(key, 2), 0)
    for v in range(N_WORDS - 1):
        for k in range(N_TOPICS):
            stream, z = normal(stream)
            sticks[0, v, k] = mean[v] + math.sqrt(variance[v]) * z
            for t in range(1, N_YEARS):
                stream, z = normal(stream)
                sticks[t, v, k] = sticks[t - 1, v, k] + math.sqrt(q) * z
    break_sticks(0, N_YEARS, sticks, phi)
    for d in range(len(starts) - 1):
        stream, first = gamma(stream, ALPHA[0])
        stream, second = gamma(stream, ALPHA[1])
        for i in range(starts[d], starts[d + 1]):
            topics[i] = uniform(absorb(key, 3), i) * (first + second) >= first
    return q


@kernel
def draw_words(topics, year_of, phi, rows, key):
    """The row of every token given its topic."""
    for i in range(N_TOKENS):
        u, w, begin = uniform(key, i), 0, year_of[i] * N_WORDS
        while w < N_WORDS - 1 and u >= phi[begin + w, topics[i]]:
            u -= phi[begin + w, topics[i]]
            w += 1
        rows[i] = begin + w


@kernel
def note(q, sticks, topics, rows, row):
    """Bounded functions of all parts, and products of parts."""
    row[0] = math.tanh(math.log(q))
    row[1], row[2] = math.tanh(sticks[0, 0, 0]), math.tanh(sticks[1, 1, 1])
    row[3], row[4] = math.tanh(sticks[2, 0, 1]), math.tanh(sticks[2, 1, 0])
    row[5] = math.tanh(sticks[1, 0, 0] - sticks[0, 0, 0]) ** 2
    row[6] = math.tanh(sticks[2, 0, 0] - sticks[1, 0, 0]) ** 2
    row[7] = row[1] * math.tanh(sticks[2, 0, 0])
    first = same = alike = 0.0
    for i in range(N_TOKENS):
        first += topics[i] == 0
        for j in range(i):
            same += topics[i] == topics[j]
            alike += (topics[i] == topics[j]) * (rows[i] % N_WORDS == rows[j] % N_WORDS)
    row[8], row[9], row[10] = first / N_TOKENS, same / N_TOKENS**2, alike / N_TOKENS**2
    row[11], row[12] = row[0] * row[10], (topics[0] == 0) * (rows[0] == 0) * row[1]
    row[13], row[14] = (topics[13] == 1) * (rows[13] == 6) * row[3], row[0] * row[5]


@kernel
def from_the_prior(n, mean, variance, starts, year_of, key):
    sticks, phi = np.empty((N_YEARS, N_WORDS - 1, N_TOPICS)), np.zeros((N_YEARS * N_WORDS, 16))
    topics, rows, kept = (
        np.empty(N_TOKENS, np.uint16),
        np.empty(N_TOKENS, np.int32),
        np.empty((n, N_NOTED)),
    )
    for i in range(n):
        here = absorb(key, i)
        q = draw_prior(mean, variance, sticks, phi, topics, starts, here)
        draw_words(topics, year_of, phi, rows, absorb(here, 4))
        note(q, sticks, topics, rows, kept[i])
    return kept


@kernel
def by_turns(n, mean, variance, starts, year_of, alpha, phi, n_dk, n_rk, key):
    """The sampler and the data in turns: words given all else, then one sweep of all else given the words."""
    sticks = np.empty((N_YEARS, N_WORDS - 1, N_TOPICS))
    topics, rows, kept = (
        np.empty(N_TOKENS, np.uint16),
        np.empty(N_TOKENS, np.int32),
        np.empty((n, N_NOTED)),
    )
    ones, before = np.ones(N_TOKENS, np.int32), np.arange(N_TOKENS + 1)
    q = draw_prior(mean, variance, sticks, phi, topics, starts, absorb(key, n))
    for i in range(n):
        here = absorb(key, i)
        draw_words(topics, year_of, phi, rows, absorb(here, 4))
        n_dk[:], n_rk[:] = 0, 0
        for d in range(len(starts) - 1):
            for j in range(starts[d], starts[d + 1]):
                n_dk[d, topics[j]] += 1
        draw_topics(
            0,
            len(starts) - 1,
            starts,
            rows,
            ones,
            before,
            topics,
            n_dk,
            alpha,
            phi,
            absorb(here, 5),
        )
        count_rows(rows, ones, before, topics, n_rk)
        later = np.zeros((N_YEARS, N_TOPICS), np.int64)
        for t in range(N_YEARS):
            for k in range(N_TOPICS):
                later[t, k] = n_rk[t * N_WORDS + N_WORDS - 1, k]
        squares = draw_walks(
            0, N_WORDS - 1, n_rk, later, mean, variance, q, sticks, absorb(here, 6), absorb(here, 7)
        )
        break_sticks(0, N_YEARS, sticks, phi)
        q = draw_inverse_gamma(
            A + 0.5 * (N_YEARS - 1) * (N_WORDS - 1) * N_TOPICS, B + 0.5 * squares, absorb(here, 8)
        )
        note(q, sticks, topics, rows, kept[i])
    return kept


@pytest.mark.slow  # 300,000 sweeps and 300,000 draws from the prior
def test_the_sampler_leaves_the_joint_distribution_as_it_is():
    """Geweke (2004): parameters and data drawn from the prior, and in turns by the sampler, have the same expectations."""
    n, starts, alpha = 300_000, STARTS.astype(np.int64), np.zeros(16)
    alpha[:2] = ALPHA
    mean, variance = dirichlet_moments(np.full(N_WORDS, 2.0))
    independent = from_the_prior(n, mean, variance, starts, YEAR_OF, key_of(4))
    counts = np.zeros((len(LENGTHS), 16), np.int32), np.zeros((N_YEARS * N_WORDS, 16), np.int32)
    chain = by_turns(
        n,
        mean,
        variance,
        starts,
        YEAR_OF,
        alpha,
        np.zeros((N_YEARS * N_WORDS, 16)),
        *counts,
        key_of(5),
    )
    batches = chain.reshape(60, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 60 + independent.var(axis=0) / len(independent))
    z = (chain.mean(axis=0) - independent.mean(axis=0)) / error
    assert np.abs(z).max() < 4, z
    # the statistics are dependent, so a loose bound
    assert stats.chi2.sf((z**2).sum(), len(z)) > 1e-6


def test_the_stick_is_broken_into_the_probabilities_of_its_year():
    sticks = np.random.default_rng(0).normal(scale=3, size=(2, 4, 3))
    phi = np.zeros((10, 16))
    break_sticks(0, 2, sticks, phi)
    wanted = probabilities(sticks.transpose(0, 2, 1)).transpose(0, 2, 1)  # (year, word, topic)
    # rounding of a dozen products
    assert phi[:, :3].reshape(2, 5, 3) == pytest.approx(wanted, rel=1e-12)
    assert not phi[:, 3:].any()


def test_a_topic_is_drawn_with_its_share_of_the_document_times_its_word_in_the_year():
    """Of a document of one token nothing is left in the counts: p(z = k) is alpha_k phi_kw."""
    n, phi, alpha = 200_000, np.zeros((2, 16)), np.zeros(16)
    alpha[:3], phi[0, :3], phi[1, :3] = (0.5, 1.0, 2.0), (0.2, 0.3, 0.1), (0.6, 0.05, 0.1)
    topics, n_dk = np.zeros(n, np.uint16), np.zeros((n, 16), np.int32)
    n_dk[:, 0] = 1
    indptr, rows, ones = np.arange(n + 1), (np.arange(n) % 2).astype(np.int32), np.ones(n, np.int32)
    draw_topics(0, n, indptr, rows, ones, indptr, topics, n_dk, alpha, phi, key_of(7))
    assert (n_dk.sum(axis=1) == 1).all() and (n_dk[indptr[:-1], topics] == 1).all()
    for row in range(2):
        share = alpha[:3] * phi[row, :3] / (alpha[:3] @ phi[row, :3])
        found = np.bincount(topics[row::2], minlength=3) / (n / 2)
        assert (np.abs(found - share) / np.sqrt(share * (1 - share) / (n / 2))).max() < 4.5


@kernel
def one_year(n, n_rk, later, mean, variance, key, sticks):
    """n sweeps of the two sticks of three words in the last of the years given: (sweep, stick)."""
    kept = np.empty((n, 2))
    for i in range(n):
        draw_walks(
            0,
            2,
            n_rk,
            later,
            mean,
            variance,
            0.4,
            sticks,
            absorb(key, 2 * i),
            absorb(key, 2 * i + 1),
        )
        kept[i] = sticks[-1, :, 0]
    return kept


@pytest.mark.parametrize("n_before", [0, 2])
def test_sticks_given_counts_are_those_of_quadrature(n_before):
    """With tokens in the last year only, a stick is a logistic regression: prior N(m, s + steps * q), x of N."""
    mean, variance = np.array([-0.7, -0.2]), np.array([1.2, 0.9])
    n_rk = np.zeros((3 * n_before + 3, 16), np.int32)
    n_rk[-3:, 0] = 3, 0, 9
    later = n_rk[2::3, :1].astype(np.int64)
    kept = one_year(
        100_000, n_rk, later, mean, variance, key_of(8), np.zeros((n_before + 1, 2, 1))
    )[100:]
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    for v, (x, n) in enumerate(((3, 12), (0, 9))):
        psi = mean[v] + math.sqrt(variance[v] + 0.4 * n_before) * nodes
        mass = weights * np.exp(x * psi - n * np.logaddexp(0, psi))
        for power in (1, 2):
            wanted = (mass * psi**power).sum() / mass.sum()
            batches = (kept[:99_900, v] ** power).reshape(60, -1).mean(axis=1)
            assert abs(batches.mean() - wanted) < 4.5 * batches.std(ddof=1) / math.sqrt(60)


def test_ranges_of_sticks_draw_the_same_walks():
    random = np.random.default_rng(3)
    n_rk = np.zeros((2 * 6, 16), np.int32)
    n_rk[:, :3] = random.integers(0, 9, (12, 3))
    mean, variance, keys = np.zeros(5), np.ones(5), (key_of(1), key_of(2))
    whole, parts = np.zeros((2, 5, 3)), np.zeros((2, 5, 3))
    table = n_rk[:, :3].reshape(2, 6, 3).astype(np.int64)
    draw_walks(0, 5, n_rk, table[:, 5], mean, variance, 0.2, whole, *keys)
    draw_walks(0, 2, n_rk, table[:, 2:].sum(axis=1), mean, variance, 0.2, parts, *keys)
    draw_walks(2, 5, n_rk, table[:, 5], mean, variance, 0.2, parts, *keys)
    assert np.array_equal(whole, parts)
