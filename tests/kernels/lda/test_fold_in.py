"""Single documents under fixed topics: each kernel against its plain twin, its limits and its edges."""

import numpy as np
import pytest
import twins
from toys import CORPORA, corpus_of, every_pair, simulated

from workbench.engines.engine import StepContext
from workbench.engines.lda import fold_in
from workbench.kernels.uniforms import FOLD_IN, absorb, uniform
from workbench.models import LDA, Priors


def learnt(model, n_kw):
    """What a run of LDA knows of the corpus."""
    return fold_in.LearntTopics(Priors(model.alphas, model.beta), n_kw)


WAYS = (fold_in.by_variational_bayes, fold_in.by_cvb0, fold_in.by_gibbs)
# digamma is good to 1e-10 absolute (kernels/simd/functions.py), and a hundred passes near a fixed point add it up; both
# twins stop by the same rule. Seen: 3e-10.
SAME_FIXED_POINT = 1e-8
ROUNDING = 1e-12


def counts_of(n_topics, n_words, seed=0, scale=5.0):
    """(topic, word) real counts, most of them small."""
    return np.random.default_rng(seed).gamma(0.3, scale, (n_topics, n_words))


@pytest.mark.parametrize("prior", [1e-8, 1e-4, 0.1, 3.0])
@pytest.mark.parametrize("n_topics", [1, 2, 15, 16, 17, 33])
def test_deterministic_fold_ins_meet_their_twins(n_topics, prior):
    """For priors of 1e-4 and 1e-8 exp(psi) underflows, and a pair goes through the log domain."""
    corpus, n_kw = simulated(8, 10, 12), counts_of(n_topics, 10)
    model = LDA(n_topics, tuple(np.linspace(1.0, 3.0, n_topics) * prior), prior)
    phi = twins.word_probabilities(n_kw, model.beta)
    found = [way(learnt(model, n_kw), None, corpus, StepContext(0, 0)) for way in WAYS[:2]]
    for d, pairs in enumerate(twins.documents_of(corpus)):
        variational = twins.variational_theta(pairs, n_kw, model.alphas, model.beta)
        collapsed = twins.collapsed_theta(pairs, phi, model.alphas)
        for theta, twin in zip(found, (variational, collapsed), strict=True):
            np.testing.assert_allclose(theta[d], twin, rtol=0, atol=SAME_FIXED_POINT)


def test_a_word_whose_topics_the_document_cannot_reach_goes_through_the_log_domain():
    """600 topics share one token, so exp(psi) of all but the first is 0, and the word is of another: theta is half and half."""
    n_kw, model = np.zeros((600, 3)), LDA(600, (1.0, *[1e-8] * 599), 1e-4)
    n_kw[0, 0] = n_kw[5, 1] = 10.0
    corpus = corpus_of([(0, 1, 1)], 1, 3)
    (theta,) = fold_in.by_variational_bayes(learnt(model, n_kw), None, corpus, StepContext(0, 0))
    twin = twins.variational_theta([(1, 1)], n_kw, model.alphas, model.beta)
    np.testing.assert_allclose(theta, twin, rtol=0, atol=SAME_FIXED_POINT)
    assert theta[5] == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("n_topics", [1, 2, 16, 17])
def test_gibbs_and_its_twin_draw_the_same_topics_from_the_same_uniforms(n_topics):
    corpus, n_kw = simulated(5, 10, 12), counts_of(n_topics, 10)
    model = LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    phi, context = twins.word_probabilities(n_kw, model.beta), StepContext(7, 0)
    theta = fold_in.by_gibbs(learnt(model, n_kw), None, corpus, context)
    for d, pairs in enumerate(twins.documents_of(corpus)):
        first = corpus.tokens_before[corpus.indptr[d]]

        def uniform_of(sweep, i, first=first):
            return uniform(np.uint64(absorb(context.key(FOLD_IN), sweep)), first + i)

        expected = twins.sampled_theta(
            pairs, phi, model.alphas, fold_in.BURN_IN, fold_in.KEPT, uniform_of
        )
        np.testing.assert_allclose(theta[d], expected, rtol=ROUNDING)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
def test_theta_is_a_distribution_and_the_prior_mean_without_tokens(corpus, way):
    for model in (LDA(3, (0.5, 1.0, 2.5), 0.1), LDA(3, (1e-8, 2e-8, 3e-8), 1e-8), LDA(1)):
        theta = way(
            learnt(model, counts_of(model.n_topics, corpus.n_words)),
            None,
            corpus,
            StepContext(0, 0),
        )
        np.testing.assert_allclose(theta.sum(axis=1), 1.0, rtol=ROUNDING)
        assert theta.min() >= 0
        empty = corpus.document_tokens == 0
        np.testing.assert_allclose(
            theta[empty],
            np.tile(model.alphas / model.alphas.sum(), (empty.sum(), 1)),
            rtol=ROUNDING,
        )


@pytest.mark.parametrize("way", WAYS)
def test_a_corpus_of_empty_documents_alone_is_legal(way):
    empty = simulated(4, 10, 5).with_pairs(np.zeros(5, np.int64), [], [])
    np.testing.assert_allclose(
        way(learnt(LDA(2, (0.3, 0.1)), counts_of(2, 10)), None, empty, StepContext(0, 0)),
        [[0.75, 0.25]] * 4,
        rtol=ROUNDING,
    )


@pytest.mark.parametrize("way", WAYS[:2])
def test_one_document_does_not_touch_another(way):
    corpus, n_kw, model = simulated(8, 10, 12), counts_of(5, 10), LDA(5, 0.2, 0.2)
    together = way(learnt(model, n_kw), None, corpus, StepContext(0, 0))
    for d in range(corpus.n_documents):
        assert np.array_equal(
            way(learnt(model, n_kw), None, corpus.of_documents([d]), StepContext(0, 0))[0],
            together[d],
        )


def test_cvb0_of_one_token_is_exact():
    """With one copy taken out nothing is left, so gamma ~ phi alpha: the posterior itself."""
    corpus, n_kw, model = (
        corpus_of([(0, 2, 1)], 1, 4),
        counts_of(3, 4),
        LDA(3, (0.2, 0.7, 1.1), 0.3),
    )
    phi = twins.word_probabilities(n_kw, model.beta)
    np.testing.assert_allclose(
        fold_in.by_cvb0(learnt(model, n_kw), None, corpus, StepContext(0, 0))[0],
        twins.exact_theta([(2, 1)], phi, model.alphas),
        rtol=ROUNDING,
    )


def test_the_mixture_foretells_every_word_and_adds_up_to_one():
    corpus, n_kw, model = simulated(8, 10, 12), counts_of(5, 10), LDA(5, 0.2, 0.2)
    theta = fold_in.by_cvb0(learnt(model, n_kw), None, corpus, StepContext(0, 0))
    phi = fold_in.word_probabilities(*learnt(model, n_kw))
    table = fold_in.mixture_probability(theta, phi, every_pair(corpus)).reshape(8, 10)
    np.testing.assert_allclose(phi.T, twins.word_probabilities(n_kw, model.beta), rtol=ROUNDING)
    np.testing.assert_allclose(table, theta @ phi.T, rtol=ROUNDING)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=ROUNDING)
