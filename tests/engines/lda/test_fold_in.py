"""Unseen documents: against the exact posterior of theta, for every engine, on any number of threads."""

from unittest.mock import Mock

import numpy as np
import pytest
import twins
from scipy.special import psi
from toys import HDP_ENGINES, LDA_ENGINES, corpus_of, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import fold_in
from workbench.kernels import threads as slices
from workbench.models import LDA, Priors

WAYS = (fold_in.by_variational_bayes, fold_in.by_cvb0, fold_in.by_gibbs)


def learnt(model, n_kw):
    return fold_in.LearntTopics(Priors(model.alphas, model.beta), n_kw)


def two_topics():
    """Counts of two topics over three words, alpha = (0.7, 0.4), and a document of five tokens."""
    return (
        LDA(2, (0.7, 0.4), 0.3),
        np.array([[4.0, 1.5, 0.5], [0.7, 1.0, 3.3]]),
        [(0, 2), (1, 1), (2, 2)],
    )


def three_topics():
    """Counts of three topics over four words, unequal alpha, and a document of six tokens."""
    n_kw = np.array([[5.0, 1, 0, 0.5], [0, 3, 2, 1], [0.5, 0.5, 4, 4]])
    return LDA(3, (0.9, 0.5, 0.2), 0.4), n_kw, [(0, 1), (1, 2), (2, 1), (3, 2)]


def posterior_mean(model, n_kw, pairs):
    return twins.exact_theta(pairs, twins.word_probabilities(n_kw, model.beta), model.alphas)


@pytest.mark.parametrize("toy", [two_topics, three_topics])
def test_gibbs_meets_the_exact_posterior_mean(toy):
    """4000 copies of the document, each a chain of its own: 4 standard errors. 20 sweeps forget the start of 6 tokens."""
    model, n_kw, pairs = toy()
    copies = corpus_of([(d, w, n) for d in range(4000) for w, n in pairs], 4000, n_kw.shape[1])
    theta = fold_in.by_gibbs(learnt(model, n_kw), None, copies, StepContext(1, 0))
    error = theta.std(axis=0, ddof=1) / np.sqrt(len(theta))
    assert np.all(np.abs(theta.mean(axis=0) - posterior_mean(model, n_kw, pairs)) < 4 * error)
    assert error.max() < 0.003, "too few draws to tell"


@pytest.mark.parametrize("way", WAYS)
def test_threads_and_slices_change_no_bit(way, monkeypatch):
    corpus, model = simulated(60, 50, 40), LDA(5, 0.2, 0.2)
    n_kw, found = np.random.default_rng(0).gamma(0.3, 5.0, (5, 50)), []
    for work, n_threads in ((2**20, 1), (2**14, 1), (2**14, 2), (2**14, 5)):
        monkeypatch.setattr(slices, "SLICE_WORK", work)
        found.append(way(learnt(model, n_kw), None, corpus, StepContext(3, 0, n_threads)))
    assert all(np.array_equal(theta, found[0]) for theta in found)


@pytest.mark.parametrize("way", WAYS)
def test_a_pulse_comes_between_slices_and_may_interrupt(way, monkeypatch):
    monkeypatch.setattr(slices, "SLICE_WORK", 2**12)

    with pytest.raises(InterruptedError):
        way(
            learnt(LDA(2), np.ones((2, 50))),
            None,
            simulated(60, 50, 40),
            StepContext(3, 0, 1, Mock(side_effect=InterruptedError)),
        )


def test_only_gibbs_depends_on_the_seed():
    corpus, model, n_kw = (
        simulated(),
        LDA(4, 0.2, 0.2),
        np.random.default_rng(0).gamma(0.3, 5.0, (4, 20)),
    )
    topics = learnt(model, n_kw)
    found = [[way(topics, None, corpus, StepContext(seed, 0)) for seed in (1, 2)] for way in WAYS]
    assert [np.array_equal(*both) for both in found] == [True, True, False]


@pytest.mark.parametrize("name", [*LDA_ENGINES, *HDP_ENGINES])
def test_every_engine_folds_its_training_documents_in_near_to_where_they_were(name):
    """Topics of disjoint words, documents of one topic: theta says which. 0.05: alpha of 0.1 among 12 tokens or more."""
    corpus = corpus_of([(d, 4 * (d % 2) + w, 3) for d in range(10) for w in range(4)], 10, 8)
    engine, model = get_engine(name), LDA(2, 0.1, 0.1)
    n_kw = np.kron(np.eye(2), np.full(4, 15.0))
    theta = engine.fold_in(learnt(model, n_kw), engine.options(), corpus, StepContext(0, 0))
    np.testing.assert_allclose(theta, np.tile([[1.0, 0.0], [0.0, 1.0]], (5, 1)), atol=0.05)


def test_a_word_too_improbable_for_weights_counts_as_often_as_it_stands():
    """exp(psi(beta)) of a word without a token underflows, so logarithms normalise its pairs; against a plain fixed point."""
    alpha, beta, n_kw = np.array([0.7, 0.4]), 1e-4, np.array([[9.0, 0.0], [2.0, 0.0]])
    found = fold_in.by_variational_bayes(
        learnt(LDA(2, tuple(alpha), beta), n_kw),
        None,
        corpus_of([(0, 1, 3)], 1, 2),
        StepContext(0, 0),
    )
    counts = np.full(2, 1.5)
    for _ in range(2000):
        logs = psi(alpha + counts) + psi(beta) - psi(2 * beta + n_kw.sum(axis=1))
        counts = 3 * np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    # both end at a tolerance
    np.testing.assert_allclose(found[0], (alpha + counts) / (alpha.sum() + 3), atol=1e-4)
