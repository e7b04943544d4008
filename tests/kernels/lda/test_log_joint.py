"""The collapsed joint and the predictive against their twins."""

import math

import numpy as np
import pytest
import twins
from toys import CORPORA, corpus_of, every_pair, random_gamma, random_topics, simulated, toy_a

from workbench.kernels.lda.log_joint import IN_TABLE, log_joint, predictive
from workbench.kernels.simd.vectors import pad_topics, padded
from workbench.models import LDA

ROUNDING = 1e-12  # relative: a few hundred lgammas of moderate size, each to about 1e-15
SIZES = [1, 2, 15, 16, 17, 33, 100]


def padded_counts(counts, dtype=float):
    padding = padded(len(counts.n_k)) - len(counts.n_k)
    return [
        np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, padding)]).astype(dtype)
        for array in counts
    ]


@pytest.mark.parametrize("alpha", ["symmetric", "asymmetric"])
@pytest.mark.parametrize("n_topics", SIZES)
def test_whole_counts_have_the_same_joint_in_either_type(n_topics, alpha):
    """Whether their rises are looked up or computed."""
    corpus, model = (
        simulated(),
        LDA(n_topics, 0.1 if alpha == "symmetric" else tuple(np.linspace(0.1, 0.9, n_topics)), 0.2),
    )
    counts = twins.sampled_counts(corpus, random_topics(corpus, n_topics), n_topics)
    about = pad_topics(model.alphas), model.beta, n_topics
    assert log_joint(*padded_counts(counts, np.int32), *about) == log_joint(
        *padded_counts(counts), *about
    )


LARGE = twins.Counts(
    np.array([[IN_TABLE - 1, IN_TABLE, 0], [IN_TABLE + 1, 3, 10_000]]),
    np.array([[40_000, 0, 5], [IN_TABLE, 1, IN_TABLE - 1]]),
    np.array([40_000 + IN_TABLE, 1, IN_TABLE + 4]),
)


def test_counts_above_the_table_are_computed():
    alpha = np.full(3, 0.3)
    for dtype in (np.int32, np.float64):
        found = log_joint(*padded_counts(LARGE, dtype), pad_topics(alpha), 0.2, 3)
        assert found == pytest.approx(twins.log_joint(LARGE, alpha, 0.2), rel=ROUNDING)
    assert found == log_joint(*padded_counts(LARGE, np.int32), pad_topics(alpha), 0.2, 3)


def test_rounding_does_not_add_up_over_many_counts():
    """Half a million, most of them equal: one sum from end to end, which rounds each to the same side, is off by 1e-13."""
    random, n_topics = np.random.default_rng(0), 100
    n_dk = random.negative_binomial(0.05, 0.01, (5000, n_topics))
    counts = twins.Counts(n_dk, n_dk, n_dk.sum(axis=0))
    rises = math.fsum(math.lgamma(0.1 + n) - math.lgamma(0.1) for n in n_dk.ravel())
    documents = math.fsum(math.lgamma(10.0 + n) - math.lgamma(10.0) for n in n_dk.sum(axis=1))
    sizes = math.fsum(math.lgamma(500.0 + n) - math.lgamma(500.0) for n in counts.n_k)
    found = log_joint(
        *padded_counts(counts, np.int32), pad_topics(np.full(n_topics, 0.1)), 0.1, n_topics
    )
    assert found == pytest.approx(2 * rises - documents - sizes, rel=1e-14)


def test_the_joint_sums_to_the_published_evidence(oracles):
    corpus, model = toy_a()
    logs = [
        log_joint(
            *padded_counts(twins.sampled_counts(corpus, z, 2)),
            pad_topics(model.alphas),
            model.beta,
            2,
        )
        for z in twins.enumerate_topics(corpus, model.alphas, model.beta).topics
    ]
    assert np.logaddexp.reduce(logs) == pytest.approx(
        oracles["toyA"]["exact"]["log_evidence"], abs=1e-10
    )


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
    found = predictive(
        every_pair(corpus), corpus.document_tokens, *padded_counts(counts), model.alphas, model.beta
    )
    table = found.reshape(corpus.n_documents, corpus.n_words)
    np.testing.assert_allclose(
        table, twins.predictive(counts, model.alphas, model.beta), rtol=ROUNDING
    )
    np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=ROUNDING)


@pytest.mark.parametrize("n_topics", SIZES)
def test_whole_counts_predict_the_same_in_either_type_and_pairs_do_not_depend_on_each_other(
    n_topics,
):
    corpus, model = simulated(), LDA(n_topics, 0.1, 0.2)
    counts = twins.sampled_counts(corpus, random_topics(corpus, n_topics), n_topics)
    about, every = (model.alphas, model.beta), every_pair(corpus)
    found = predictive(every, corpus.document_tokens, *padded_counts(counts, np.int32), *about)
    assert np.array_equal(
        found, predictive(every, corpus.document_tokens, *padded_counts(counts), *about)
    )
    some = predictive(corpus, corpus.document_tokens, *padded_counts(counts), *about)
    assert np.array_equal(
        some, found.reshape(corpus.n_documents, -1)[corpus.documents, corpus.words]
    )


def test_an_empty_document_is_predicted_from_its_prior():
    """theta = alpha / A (section A.12)."""
    corpus, model = corpus_of([(0, 0, 2), (2, 1, 1)], 3, 4), LDA(2, (0.7, 0.4), 0.3)
    counts = twins.sampled_counts(corpus, [0, 0, 1], 2)
    found = predictive(
        every_pair(corpus), corpus.document_tokens, *padded_counts(counts), model.alphas, model.beta
    )
    phi = (0.3 + counts.n_wk) / (1.2 + counts.n_k)
    np.testing.assert_allclose(found.reshape(3, 4)[1], phi @ [0.7 / 1.1, 0.4 / 1.1], rtol=ROUNDING)
