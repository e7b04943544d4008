"""Gibbs sampling of topics that drift: parts against exact conditionals."""

import math

import numpy as np
import pytest
from geweke import key_of, z_of

from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.dynamic_topics import (
    break_sticks,
    draw_topics,
    draw_walks,
)
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.kernels.uniforms import absorb


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
            assert z_of(kept[:, v] ** power, wanted, 60) < 4.5


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
