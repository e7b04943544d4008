"""Gibbs sampling of correlated topics: sticks against quadrature, and the whole sampler by Geweke's test."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from kernels.stick_breaking.geweke import (
    BETA,
    N_TOKENS,
    N_TOPICS,
    STARTS,
    assert_same_expectations,
    count,
    draw_topics_from,
    draw_words,
    empty_counts,
    shares,
    z_of,
)

from workbench.kernels.gaussian import draw_gaussian, draw_niw, niw_posterior
from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.correlated_topics import (
    count_words_again,
    draw_sticks,
    draw_topics,
    draw_topics_given_phi,
    sampled_theta,
)
from workbench.kernels.stick_breaking.sticks import break_stick, probabilities
from workbench.kernels.uniforms import absorb, draw_dirichlets, draw_key, stream_of

ORACLES = json.loads((Path(__file__).parents[2] / "oracles" / "stick_breaking.json").read_text())


@kernel
def chain_of_sticks(counts, precision, weighted, n, key):
    """n sweeps of the sticks of one document whose topics stay as they are: (sweep, stick)."""
    sticks, kept = np.zeros((1, len(weighted))), np.empty((n, len(weighted)))
    for i in range(n):
        draw_sticks(
            0, 1, counts, precision, weighted, sticks, absorb(key, 2 * i), absorb(key, 2 * i + 1)
        )
        kept[i] = sticks[0]
    return kept


@pytest.mark.parametrize(
    "case", ORACLES["psi_posterior_K3"], ids=lambda case: "-".join(map(str, case["x"]))
)
def test_sticks_given_counts_are_those_of_quadrature(case):
    precision, counts = np.linalg.inv(case["Sigma"]), np.array([case["x"]], np.int32)
    chain = chain_of_sticks(
        counts,
        precision,
        precision @ np.array(case["mu"]),
        200_000,
        np.uint64(draw_key(4, 5, 6, 7)),
    )[500:]
    mean = np.array(case["mean"])
    assert z_of(chain, mean).max() < 4.5
    assert (
        z_of((chain - mean)[:, :, None] * (chain - mean)[:, None], np.array(case["cov"])).max()
        < 4.5
    )
    assert z_of(probabilities(chain), np.array(case["E_pi"])).max() < 4.5


PRIOR = np.array([0.3, -0.4]), 0.8, N_TOPICS - 1 + 5.0, np.array([[1.5, 0.4], [0.4, 2.0]])


@kernel
def draw_prior(mean, kappa, nu, scale, starts, sticks, topics, key):
    """(mu, Sigma, its inverse) from the prior, and sticks and topics given them."""
    mu, sigma, precision = draw_niw(mean, kappa, nu, scale, absorb(key, 1))
    theta = np.empty(N_TOPICS)
    for d in range(len(sticks)):
        sticks[d] = precision @ mu
        draw_gaussian(stream_of(absorb(key, 2), d), precision.copy(), sticks[d])
        break_stick(sticks[d], theta)
        draw_topics_from(theta, starts[d], starts[d + 1], topics, absorb(key, 3))
    return mu, sigma, precision


@kernel
def note(mu, sigma, sticks, topics, words, row):
    """Bounded functions of all parts, and products of parts."""
    row[0], row[1] = math.tanh(mu[0]), math.tanh(mu[1])
    row[2], row[3] = math.tanh(math.log(sigma[0, 0])), math.tanh(math.log(sigma[1, 1]))
    row[4] = sigma[0, 1] / math.sqrt(sigma[0, 0] * sigma[1, 1])
    row[5], row[6], row[7] = (
        math.tanh(sticks[0, 0]),
        math.tanh(sticks[1, 1]),
        math.tanh(sticks[2, 0]),
    )
    row[8], row[9] = row[5] * math.tanh(sticks[0, 1]), row[5] * row[0]
    row[10], row[11], row[12] = shares(topics, words)
    row[13], row[14] = row[10] * row[5], row[12] * row[2]
    row[15] = (topics[0] == topics[1]) * row[6]


@kernel
def from_the_prior(n, mean, kappa, nu, scale, starts, key):
    sticks = np.empty((len(starts) - 1, N_TOPICS - 1))
    topics, words = np.empty(N_TOKENS, np.uint16), np.empty(N_TOKENS, np.int32)
    kept = np.empty((n, 16))
    for i in range(n):
        here = absorb(key, i)
        mu, sigma, _ = draw_prior(mean, kappa, nu, scale, starts, sticks, topics, here)
        draw_words(topics, words, absorb(here, 4))
        note(mu, sigma, sticks, topics, words, kept[i])
    return kept


@kernel
def by_turns(n, mean, kappa, nu, scale, starts, n_dk, n_wk, n_k, phi_drawn, key):
    """The sampler and the data in turns: words given all else, then one sweep of all else given the words."""
    phi = np.zeros(n_wk.shape)
    sticks = np.empty((len(starts) - 1, N_TOPICS - 1))
    topics, words = np.empty(N_TOKENS, np.uint16), np.empty(N_TOKENS, np.int32)
    kept, ones, before = np.empty((n, 16)), np.ones(N_TOKENS, np.int32), np.arange(N_TOKENS + 1)
    mu, sigma, precision = draw_prior(
        mean, kappa, nu, scale, starts, sticks, topics, absorb(key, n)
    )
    for i in range(n):
        here = absorb(key, i)
        draw_words(topics, words, absorb(here, 4))
        count(topics, words, starts, n_dk, n_wk, n_k)
        if phi_drawn:
            phi[:, :N_TOPICS] = draw_dirichlets(
                n_wk[:, :N_TOPICS].T.copy(), np.full(len(n_wk), BETA), absorb(here, 9)
            ).T
            draw_topics_given_phi(
                0,
                len(starts) - 1,
                starts,
                words,
                ones,
                before,
                topics,
                n_dk,
                sticks,
                phi,
                absorb(here, 5),
            )
        else:
            draw_topics(
                0,
                len(starts) - 1,
                starts,
                words,
                ones,
                before,
                topics,
                n_dk,
                n_wk,
                n_k,
                sticks,
                BETA,
                absorb(here, 5),
            )
        draw_sticks(
            0,
            len(starts) - 1,
            n_dk,
            precision,
            precision @ mu,
            sticks,
            absorb(here, 6),
            absorb(here, 7),
        )
        posterior = niw_posterior(sticks, mean, kappa, nu, scale)
        mu, sigma, precision = draw_niw(
            posterior[0], posterior[1], posterior[2], posterior[3], absorb(here, 8)
        )
        note(mu, sigma, sticks, topics, words, kept[i])
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("phi_drawn", [False, True])
def test_the_sampler_leaves_the_joint_distribution_as_it_is(phi_drawn):
    n = 150_000
    independent = from_the_prior(2 * n, *PRIOR, STARTS, np.uint64(draw_key(1, 2, 3, 4)))
    chain = by_turns(n, *PRIOR, STARTS, *empty_counts(), phi_drawn, np.uint64(draw_key(1, 2, 3, 5)))
    assert_same_expectations(chain, independent)


def test_words_are_counted_again_as_tokens_have_topics():
    topics = np.array([1, 0, 2, 2, 1], np.uint16)
    n_wk = np.full((3, 16), 7, np.int32)
    count_words_again(
        0, 3, np.array([0, 2, 2, 3]), np.array([0, 3, 1]), np.array([1, 2, 2]), topics, n_wk
    )
    assert n_wk[:, :3].tolist() == [[0, 2, 1], [0, 0, 0], [1, 0, 1]] and not n_wk[:, 3:].any()


def test_theta_of_unseen_documents_is_its_posterior_mean():
    """One token and two topics: theta_1 is the mean of sigma(psi) under N(mu, s) times the token's probability."""
    mu, variance, phi = np.array([0.4]), 1.7, np.array([[0.9, 0.2], [0.1, 0.8]])
    theta, precision = np.empty((3, 2)), np.array([[1 / variance]])
    indptr, words, counts, before = (
        np.array([0, 1, 2, 2]),
        np.array([0, 1], np.int32),
        np.ones(2, np.int32),
        np.arange(3),
    )
    key = np.uint64(draw_key(0, 1, 0, 0))
    sampled_theta(
        0,
        3,
        indptr,
        words,
        counts,
        before,
        phi,
        precision,
        mu,
        precision @ mu,
        50,
        200_000,
        key,
        theta,
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    share = 1 / (1 + np.exp(-(mu + np.sqrt(variance) * nodes)))
    for d, p in enumerate(
        (
            share * phi[0, 0] + (1 - share) * phi[0, 1],
            share * phi[1, 0] + (1 - share) * phi[1, 1],
            1.0,
        )
    ):
        assert theta[d, 0] == pytest.approx(
            (weights * p * share).sum() / (weights * p).sum(), abs=4e-3
        )
    assert theta.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
