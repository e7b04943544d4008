"""The collapsed joint and the predictive against their twins."""

import numpy as np
import pytest
import twins
from toys import CORPORA, corpus_of, every_pair, random_gamma, random_topics, simulated, toy_a

from workbench.kernels.evidence import log_joint, predictive
from workbench.kernels.lanes import pad_topics, padded
from workbench.models import LDA

ROUNDING = 1e-12  # relative: a few hundred lgammas of moderate size, each to about 1e-15
SIZES = [1, 2, 15, 16, 17, 33, 100]


def padded_counts(counts, dtype=float):
    padding = padded(len(counts.n_k)) - len(counts.n_k)
    return [np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, padding)]).astype(dtype) for array in counts]


@pytest.mark.parametrize("n_topics", SIZES)
@pytest.mark.parametrize("name", CORPORA)
def test_the_joint_of_real_counts_meets_its_twin(name, n_topics):
    corpus, model = CORPORA[name], LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    counts = twins.expected_counts(corpus, random_gamma(corpus, n_topics))
    found = log_joint(*padded_counts(counts), pad_topics(model.alphas), model.beta, n_topics)
    assert found == pytest.approx(twins.log_joint(counts, model.alphas, model.beta), rel=ROUNDING)


@pytest.mark.parametrize("n_topics", SIZES)
def test_whole_counts_have_the_same_joint_in_either_type(n_topics):
    corpus, model = simulated(), LDA(n_topics, 0.1, 0.2)
    counts = twins.sampled_counts(corpus, random_topics(corpus, n_topics), n_topics)
    about = pad_topics(model.alphas), model.beta, n_topics
    assert log_joint(*padded_counts(counts, np.int32), *about) == log_joint(*padded_counts(counts), *about)


def test_the_joint_sums_to_the_published_evidence(oracles):
    corpus, model = toy_a()
    logs = [
        log_joint(*padded_counts(twins.sampled_counts(corpus, z, 2)), pad_topics(model.alphas), model.beta, 2)
        for z in twins.enumerate_topics(corpus, model.alphas, model.beta).topics
    ]
    assert np.logaddexp.reduce(logs) == pytest.approx(oracles["toyA"]["exact"]["log_evidence"], abs=1e-10)


def test_the_joint_of_one_topic_is_the_published_evidence(oracles):
    edge, (corpus, _) = oracles["edge"]["K1"], toy_a()
    counts = twins.sampled_counts(corpus, np.zeros(9, int), 1)
    found = log_joint(*padded_counts(counts), pad_topics(edge["alpha"]), edge["beta"], 1)
    assert found == pytest.approx(edge["log_evidence"], abs=1e-10)


def test_a_tiny_prior_has_a_finite_joint():
    corpus = simulated()
    counts = twins.expected_counts(corpus, random_gamma(corpus, 3))
    alpha = np.full(3, 1e-8)
    found = log_joint(*padded_counts(counts), pad_topics(alpha), 1e-8, 3)
    assert found == pytest.approx(twins.log_joint(counts, alpha, 1e-8), rel=ROUNDING)


@pytest.mark.parametrize("n_topics", SIZES)
@pytest.mark.parametrize("name", CORPORA)
def test_the_predictive_meets_its_twin_and_sums_to_one(name, n_topics):
    corpus, model = CORPORA[name], LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    counts = twins.expected_counts(corpus, random_gamma(corpus, n_topics))
    found = predictive(every_pair(corpus), corpus.document_tokens, *padded_counts(counts), model.alphas, model.beta)
    table = found.reshape(corpus.n_documents, corpus.n_words)
    np.testing.assert_allclose(table, twins.predictive(counts, model.alphas, model.beta), rtol=ROUNDING)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=ROUNDING)


def test_an_empty_document_is_predicted_from_its_prior():
    """theta = alpha / A (section A.12)."""
    corpus, model = corpus_of([(0, 0, 2), (2, 1, 1)], 3, 4), LDA(2, (0.7, 0.4), 0.3)
    counts = twins.sampled_counts(corpus, [0, 0, 1], 2)
    found = predictive(every_pair(corpus), corpus.document_tokens, *padded_counts(counts), model.alphas, model.beta)
    phi = (0.3 + counts.n_wk) / (1.2 + counts.n_k)
    np.testing.assert_allclose(found.reshape(3, 4)[1], phi @ [0.7 / 1.1, 0.4 / 1.1], rtol=ROUNDING)
