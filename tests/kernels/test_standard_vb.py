"""Pieces of the variational kernels against their twins; whole sweeps are in tests/engines/test_svb.py."""

import numpy as np
import pytest
import twins
from scipy.special import psi
from toys import random_gamma, random_topics, simulated

from workbench.kernels import standard_vb

SERIES_ERROR = 3e-10  # of each exp(digamma), relative; spec A.11
RANDOM = np.random.default_rng(4)


def sampled_of(corpus, n_topics, n_chains):
    """n_dk, n_wk (chain, row, topic), n_k (chain, 1, topic) and the same as Counts of the twins."""
    counts = [twins.sampled_counts(corpus, random_topics(corpus, n_topics, seed), n_topics, 1) for seed in range(n_chains)]
    n_dk, n_wk, n_k = (np.stack(arrays).astype(np.int32) for arrays in zip(*counts, strict=True))
    return (n_dk, n_wk, n_k[:, None]), counts


@pytest.mark.parametrize("n_chains", [0, 1, 3])
def test_weights_are_averaged_over_chains_in_the_log_domain(n_chains):
    prior, mean = np.full(16, 0.3), RANDOM.gamma(1.0, 4.0, (5, 16))
    shift, scale = -RANDOM.uniform(0.0, 2.0, 16), RANDOM.uniform(0.5, 2.0, 16)
    sampled = RANDOM.integers(0, 9, (n_chains, 5, 16)).astype(np.int32)
    weights = np.empty((5, 16))
    standard_vb.weigh_rows(0, 5, prior, mean, sampled if n_chains else None, shift, scale, weights)
    chains = sampled if n_chains else np.zeros((1, 5, 16))
    expected = np.exp(psi(prior + mean + chains).mean(axis=0) + shift) * scale
    np.testing.assert_allclose(weights, expected, rtol=2 * SERIES_ERROR)


@pytest.mark.parametrize("n_chains", [0, 1, 3])
def test_inverse_weights_divide_by_the_size_even_of_an_empty_topic(n_chains):
    """With W beta = 3e-8 exp(psi) of an empty topic is far below the smallest double, its ratio to itself is 1."""
    prior, mean, live = np.full(16, 3e-8), np.repeat([0.0, 5.0], 8), np.repeat([1.0, 0.0, 1.0, 0.0], 4)
    sampled = RANDOM.integers(0, 9, (n_chains, 1, 16)).astype(np.int64) if n_chains else None
    shift, scale, weights = np.empty(16), np.empty(16), np.empty(16)
    standard_vb.inverse_weights(prior, mean, sampled, live, shift, scale)
    standard_vb.weigh_row(prior, mean, sampled, 0, shift, scale, weights)
    np.testing.assert_allclose(weights, live, rtol=1e-8)  # psi of -1/3e-8 is rounded to about 4e-9


@pytest.mark.parametrize("n_chains", [0, 1, 3])
@pytest.mark.parametrize("n_topics", [1, 2, 15, 16, 17, 33, 100])
def test_one_pair_of_the_sequential_schedule_meets_its_twin(n_topics, n_chains):
    corpus, alpha, beta = simulated(), np.linspace(0.1, 0.9, n_topics), 0.2
    gamma, pair = random_gamma(corpus, n_topics), int(np.argmax(corpus.counts))
    d, w, n = twins.pairs_of(corpus)[pair]
    mean = twins.expected_counts(corpus, gamma, 1)
    sampled, counts = sampled_of(corpus, n_topics, n_chains) if n_chains else ((None, None, None), [mean.plus(mean)])
    totals = [mean.plus(c) for c in counts] if n_chains else [mean]
    expected = twins.responsibility(totals, np.full(len(totals), 1 / len(totals)), d, w, alpha, beta)
    moved, kept = [array.copy() for array in mean], gamma[[pair]]
    standard_vb.update_pair(d, w, n, *moved, *sampled, alpha, beta, n_topics, kept, 0, np.empty(n_topics))
    np.testing.assert_allclose(kept[0], expected, rtol=6 * SERIES_ERROR)  # three series, and the normaliser's three
    new = gamma.copy()
    new[pair] = expected
    for array, after in zip(moved, twins.expected_counts(corpus, new, 1), strict=True):
        np.testing.assert_allclose(array, after, rtol=0, atol=6 * n * SERIES_ERROR)


@pytest.mark.parametrize("prior", [1e-8, 1e-4, 0.3])
def test_the_log_domain_meets_its_twin_however_small_the_prior(prior):
    """Small priors make psi of order 1/prior; its rounding is then that much larger."""
    corpus, alpha = simulated(), np.full(6, prior)
    gamma = np.eye(6)[RANDOM.integers(6, size=corpus.n_pairs)]
    mean = twins.expected_counts(corpus, gamma)
    for d, w, _ in twins.pairs_of(corpus)[::7]:
        found = np.empty(6)
        standard_vb.log_domain_gamma(d, w, *mean, None, None, None, alpha, prior, 6, found)
        expected = twins.responsibility([mean], [1.0], d, w, alpha, prior)
        np.testing.assert_allclose(found, expected, rtol=max(6 * SERIES_ERROR, 1e-15 / prior), atol=1e-300)


def test_entropy_takes_zero_responsibilities():
    gamma, weights = np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([3, 2], np.int32)
    expected = -3 * (0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert standard_vb.weighted_entropy(weights, gamma) == pytest.approx(expected, rel=1e-15)  # rounding
