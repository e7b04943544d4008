"""Probabilities of documents given topics, token by token: the kernel beside its plain twin and beside enumeration."""

import numpy as np
import pytest
import twins
from toys import CORPORA, corpus_of, simulated

from workbench.engines.engine import StepContext
from workbench.kernels.uniforms import LEFT_TO_RIGHT, absorb, uniform
from workbench.measures.document_likelihoods import left_to_right_logs

ROUNDING = 1e-12  # sums of at most 34 topics, and of 40 tokens, in another order
DEVIATIONS = 4.5  # standard errors; a normal number is beyond them seven times in a million


def phi_of(n_topics, n_words, seed=0):
    """(topic, word), each row from Dirichlet(0.3): topics that differ much."""
    return np.random.default_rng(seed).dirichlet(np.full(n_words, 0.3), n_topics) * (1 - 1e-6) + 1e-6 / n_words


def documents_of(corpus):
    """[(word, count)] of each document."""
    return [[(w, n) for d, w, n in twins.pairs_of(corpus) if d == document] for document in range(corpus.n_documents)]


@pytest.mark.parametrize("n_particles", [1, 3])
@pytest.mark.parametrize("n_topics, prior", [(1, 0.5), (2, 0.1), (5, 1e-8), (33, 0.7)])
@pytest.mark.parametrize("corpus", [simulated(5, 10, 12), CORPORA["empty_documents_and_unused_words"]], ids=["five", "empty"])
def test_it_meets_its_plain_twin(corpus, n_topics, prior, n_particles):
    phi, alpha = phi_of(n_topics, corpus.n_words), np.linspace(1.0, 3.0, n_topics) * prior
    key = StepContext(7, 0).key(LEFT_TO_RIGHT)
    found = left_to_right_logs(corpus, phi.T, alpha, n_particles, seed=7)
    for d, pairs in enumerate(documents_of(corpus)):
        own = np.uint64(absorb(key, d))
        p = twins.left_to_right(pairs, phi, alpha, n_particles, lambda r, i, own=own: uniform(np.uint64(absorb(own, r)), i))
        np.testing.assert_allclose(found.log_products[d], np.log(p).sum(axis=1), rtol=ROUNDING, atol=ROUNDING)
        assert found.log_of_means[d] == pytest.approx(np.log(p.mean(axis=0)).sum(), rel=ROUNDING, abs=ROUNDING)
        if n_particles > 1:
            influence = (p / p.mean(axis=0)).sum(axis=1)
            assert found.variance[d] == pytest.approx(influence.var(ddof=1) / n_particles, rel=1e-9, abs=ROUNDING)
        else:
            assert np.isnan(found.variance[d])


@pytest.mark.parametrize("pairs, n_topics, prior", [
    ([(0, 2), (1, 1), (3, 2)], 3, 0.4), ([(0, 1), (2, 4)], 2, 0.05), ([(1, 3), (2, 3), (3, 2)], 2, 2.0),
    ([(0, 1), (1, 1), (2, 1), (3, 1)], 4, 1e-3),
])
def test_the_mean_of_many_particles_is_the_probability_by_enumeration(pairs, n_topics, prior):
    phi, alpha = phi_of(n_topics, 4, seed=2), np.linspace(1.0, 2.0, n_topics) * prior
    corpus = corpus_of([(0, w, n) for w, n in pairs], 1, 4)
    exact = twins.log_probability_given_topics(pairs, phi, alpha)
    products = np.exp(left_to_right_logs(corpus, phi.T, alpha, 200_000).log_products[0] - exact)
    assert abs(products.mean() - 1) < DEVIATIONS * products.std() / np.sqrt(len(products))
    assert products.std() > 1e-3, "the draws matter"


def test_products_are_unbiased_and_averages_by_token_are_not():
    """Two topics with a word each and a small alpha: a particle that began with the wrong topic explains little."""
    phi, alpha, pairs, n = np.array([[0.7, 0.1, 0.2], [0.1, 0.8, 0.1]]), np.full(2, 0.05), [(0, 1), (1, 4)], 40_000
    copies = corpus_of([(d, w, count) for d in range(n) for w, count in pairs], n, 3)
    exact = twins.log_probability_given_topics(pairs, phi, alpha)
    found = left_to_right_logs(copies, phi.T, alpha, 4)
    of_products, of_means = np.exp(found.log_products - exact).mean(axis=1), np.exp(found.log_of_means - exact)
    assert abs(of_products.mean() - 1) < DEVIATIONS * of_products.std() / np.sqrt(n)
    assert of_means.mean() < 0.8


def test_the_standard_errors_are_those_of_many_estimates():
    phi, alpha, n = np.array([[0.6, 0.2, 0.2], [0.1, 0.5, 0.4]]), np.array([0.5, 0.8]), 20_000
    copies = corpus_of([(d, w, count) for d in range(n) for w, count in [(0, 3), (1, 2), (2, 2)]], n, 3)
    found = left_to_right_logs(copies, phi.T, alpha, 30)
    log_of_means = np.logaddexp.reduce(found.log_products, axis=1)
    # of 20,000 estimates to a hundredth; that of logs of means of 30 by the first order of its expansion, to a tenth
    assert np.sqrt(n) * log_of_means.std() == pytest.approx(found.unbiased()[1], rel=0.1)
    assert np.sqrt(n) * found.log_of_means.std() == pytest.approx(found.averaged_by_token()[1], rel=0.1)


def test_one_token_has_its_exact_probability_whatever_is_drawn():
    phi, alpha = phi_of(3, 4), np.array([1e-8, 0.5, 2.0])
    found = left_to_right_logs(corpus_of([(0, 2, 1)], 1, 4), phi.T, alpha, 5)
    np.testing.assert_allclose(found.log_products[0], np.log(alpha / alpha.sum() @ phi[:, 2]), rtol=ROUNDING)
    assert found.variance[0] == pytest.approx(0, abs=ROUNDING) and found.unbiased()[1] == pytest.approx(0, abs=ROUNDING)


def test_threads_change_no_bit_and_seeds_do():
    corpus, phi, alpha = simulated(400, 20, 15), phi_of(4, 20), np.full(4, 0.1)
    one, three, other = (left_to_right_logs(corpus, phi.T, alpha, 50, seed, n) for seed, n in ((1, 1), (1, 3), (2, 1)))
    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))
    assert not np.array_equal(one.log_products, other.log_products)
