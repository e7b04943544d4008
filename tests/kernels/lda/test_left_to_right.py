"""Probabilities of documents given topics, token by token: the kernel beside its plain twin and beside enumeration."""

import itertools

import numpy as np
import pytest
import twins
from toys import CORPORA, corpus_of, simulated

from workbench.engines.engine import StepContext
from workbench.kernels.uniforms import LEFT_TO_RIGHT, absorb, uniform
from workbench.measures.document_likelihoods import left_to_right_logs, mean_of_estimates

ROUNDING = 1e-12  # sums of at most 34 topics, and of 40 tokens, in another order
DEVIATIONS = 4.5  # standard errors; a normal number is beyond them seven times in a million


def phi_of(n_topics, n_words, seed=0):
    """(topic, word), each row from Dirichlet(0.3): topics that differ much."""
    return (
        np.random.default_rng(seed).dirichlet(np.full(n_words, 0.3), n_topics) * (1 - 1e-6)
        + 1e-6 / n_words
    )


def one_document(pairs, n_words):
    """The corpus of one document [(word, count)]."""
    return corpus_of([(0, w, n) for w, n in pairs], 1, n_words)


@pytest.mark.parametrize("n_particles, resample", [(1, False), (3, False), (1, True), (4, True)])
@pytest.mark.parametrize("n_topics, prior", [(1, 0.5), (2, 0.1), (5, 1e-8), (33, 0.7)])
@pytest.mark.parametrize(
    "corpus",
    [simulated(5, 10, 12), CORPORA["empty_documents_and_unused_words"]],
    ids=["five", "empty"],
)
def test_it_meets_its_plain_twin(corpus, n_topics, prior, n_particles, resample):
    phi, alpha = phi_of(n_topics, corpus.n_words), np.linspace(1.0, 3.0, n_topics) * prior
    key = StepContext(7, 0).key(LEFT_TO_RIGHT)
    logs, variance = left_to_right_logs(corpus, phi.T, alpha, n_particles, 2, resample, seed=7)
    for (d, pairs), e in itertools.product(enumerate(twins.documents_of(corpus)), range(2)):
        own = np.uint64(absorb(np.uint64(absorb(key, d)), e))
        p = twins.left_to_right(
            pairs,
            phi,
            alpha,
            n_particles,
            resample,
            lambda r, i, own=own: uniform(np.uint64(absorb(own, r)), i),
        )
        assert logs[d, e] == pytest.approx(np.log(p.mean(axis=1)).sum(), rel=ROUNDING, abs=ROUNDING)
        if resample or n_particles == 1:
            assert np.isnan(variance[d, e])
        else:
            influence = (p / p.mean(axis=1, keepdims=True)).sum(axis=0)
            assert variance[d, e] == pytest.approx(
                influence.var(ddof=1) / n_particles, rel=1e-9, abs=ROUNDING
            )


@pytest.mark.parametrize("n_particles", [1, 2, 7])
@pytest.mark.parametrize(
    "pairs, n_topics, prior",
    [
        ([(0, 2), (1, 1), (3, 2)], 3, 0.4),
        ([(0, 1), (2, 4)], 2, 0.05),
        ([(1, 3), (2, 3), (3, 2)], 2, 2.0),
        ([(0, 1), (1, 1), (2, 1), (3, 1)], 4, 1e-3),
    ],
)
def test_the_mean_of_many_estimates_is_the_probability_by_enumeration(
    pairs, n_topics, prior, n_particles
):
    phi, alpha = phi_of(n_topics, 4, seed=2), np.linspace(1.0, 2.0, n_topics) * prior
    exact = twins.log_probability_given_topics(pairs, phi, alpha)
    estimates = np.exp(
        left_to_right_logs(one_document(pairs, 4), phi.T, alpha, n_particles, 50_000)[0] - exact
    )
    assert abs(estimates.mean() - 1) < DEVIATIONS * estimates.std() / np.sqrt(estimates.size)
    assert estimates.std() > 1e-3, "the draws matter"


def test_without_resampling_estimates_of_several_particles_are_biased():
    """Two topics with a word each and a small alpha: a particle that began with the wrong topic explains little."""
    phi, alpha, pairs = (
        np.array([[0.7, 0.1, 0.2], [0.1, 0.8, 0.1]]),
        np.full(2, 0.05),
        [(0, 1), (1, 4)],
    )
    exact = twins.log_probability_given_topics(pairs, phi, alpha)
    given = one_document(pairs, 3), phi.T, alpha
    of_one, of_four = (
        np.exp(left_to_right_logs(*given, n, 40_000, False)[0] - exact) for n in (1, 4)
    )
    assert abs(of_one.mean() - 1) < DEVIATIONS * of_one.std() / np.sqrt(of_one.size)
    assert of_four.mean() < 0.8


def test_the_standard_errors_are_those_of_many_estimates():
    phi, alpha, n = np.array([[0.6, 0.2, 0.2], [0.1, 0.5, 0.4]]), np.array([0.5, 0.8]), 20_000
    given = one_document([(0, 3), (1, 2), (2, 2)], 3), phi.T, alpha, 30
    logs, variance = left_to_right_logs(*given, n, False)
    # a spread of 20,000 estimates is good to a hundredth; their variances are of 30 particles, by the first order of a log
    assert np.sqrt(variance.mean()) == pytest.approx(logs.std(), rel=0.1)
    unbiased = left_to_right_logs(*given, n)[0]
    assert mean_of_estimates(unbiased)[1] == pytest.approx(unbiased.std() / np.sqrt(n), rel=0.1)
    assert np.isnan(mean_of_estimates(unbiased[:, :1])[1])


@pytest.mark.parametrize("resample", [True, False])
def test_one_token_has_its_exact_probability_whatever_is_drawn(resample):
    phi, alpha = phi_of(3, 4), np.array([1e-8, 0.5, 2.0])
    logs, _ = left_to_right_logs(one_document([(2, 1)], 4), phi.T, alpha, 5, 3, resample)
    np.testing.assert_allclose(logs[0], np.log(alpha / alpha.sum() @ phi[:, 2]), rtol=ROUNDING)


def test_threads_change_no_bit_and_seeds_do():
    corpus, phi, alpha = simulated(400, 20, 15), phi_of(4, 20), np.full(4, 0.1)
    one, three, other = (
        left_to_right_logs(corpus, phi.T, alpha, 50, 1, True, seed, n)[0]
        for seed, n in ((1, 1), (1, 3), (2, 1))
    )
    assert np.array_equal(one, three) and not np.array_equal(one, other)
