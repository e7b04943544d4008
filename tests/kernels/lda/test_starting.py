"""Starts of responsibilities and topics: at random in each way, and from the counts of another run."""

import numpy as np
import pytest
import twins
from engines.lda.starts import padded_rows
from toys import CORPORA, corpus_of, random_topics, simulated

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.kernels.lda import initial_topics as starting
from workbench.kernels.lda.document_vb import count_words
from workbench.kernels.lda.initial_topics import DIRICHLET, HARD, NOISE, TOGETHER, WAYS
from workbench.kernels.uniforms import RESPONSIBILITIES, TOPICS

AT_RANDOM = (None, None, None, None)


def started(corpus, way, n_topics, threshold=0, keep=True, given=AT_RANDOM, seed=1):
    """(kept gamma, (n_dk, n_wk, n_k)) of a start."""
    n_kept = int(np.sum(corpus.counts > threshold)) if keep else 0
    kept, counts = (
        np.zeros((n_kept, 16)),
        [np.zeros((corpus.n_documents, 16)), np.zeros((corpus.n_words, 16)), np.zeros(16)],
    )
    starting.start_responsibilities(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        corpus.counts <= threshold,
        way,
        StepContext(seed, 0).key(RESPONSIBILITIES),
        *given,
        np.full(n_topics, 0.3),
        0.2,
        n_topics,
        kept,
        *counts,
        np.zeros(16 * TOGETHER),
        np.zeros(TOGETHER, np.int64),
    )
    return kept, counts


@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
@pytest.mark.parametrize("threshold", [0, 1, 2])
@pytest.mark.parametrize("name", CORPORA)
def test_a_start_counts_its_responsibilities_once(name, threshold, way):
    corpus, n_topics = CORPORA[name], 3
    kept, counts = started(corpus, way, n_topics, threshold)
    gamma = np.zeros((corpus.n_pairs, n_topics))
    gamma[corpus.counts > threshold] = kept[:, :n_topics]
    np.testing.assert_allclose(kept.sum(axis=1), 1.0, rtol=1e-14)  # rounding
    for array, expected in zip(
        counts, twins.expected_counts(corpus, gamma, threshold), strict=True
    ):
        np.testing.assert_allclose(array[..., :n_topics], expected, rtol=0, atol=1e-12)  # rounding
        assert not array[..., n_topics:].any()


@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
def test_a_start_is_the_same_whether_gamma_is_kept_or_not(way):
    (_, kept), (_, dropped) = (started(simulated(), way, 4, keep=keep) for keep in (True, False))
    assert all(np.array_equal(a, b) for a, b in zip(kept, dropped, strict=True))


def gammas(way, n=20_000):
    return started(corpus_of([(0, word, 1) for word in range(n)]), way, 3, seed=3)[0][:, :3]


def test_the_usual_start_is_flat_on_the_simplex():
    """Moments of Dir(1, 1, 1): mean 1/3, E[x_i x_j] 1/12, E[x_i^2] 1/6; 4 standard errors of 20,000 draws."""
    draws = gammas(DIRICHLET)
    for sample, exact in [
        (draws[:, 0], 1 / 3),
        (draws[:, 1] * draws[:, 2], 1 / 12),
        (draws[:, 2] ** 2, 1 / 6),
    ]:
        assert abs(sample.mean() - exact) < 4 * sample.std() / np.sqrt(len(draws))


def test_a_start_with_noise_lies_near_the_uniform_one():
    """1 + u over its sum: between 1/(1 + 2 + 2) and 2/(2 + 1 + 1), uneven, a third on the mean (4 standard errors)."""
    draws = gammas(NOISE)
    assert 0.2 <= draws.min() < 0.22 and 0.48 < draws.max() <= 0.5
    assert draws.std() > 0.03
    assert np.all(np.abs(draws.mean(axis=0) - 1 / 3) < 4 * draws.std(axis=0) / np.sqrt(len(draws)))


def test_a_hard_start_has_one_topic_with_certainty_each_as_often():
    """20,000 draws of 3 topics: 6667 each, standard deviation 67; four of them allowed."""
    draws = gammas(HARD)
    assert set(np.unique(draws)) == {0.0, 1.0}
    assert np.array_equal(draws.sum(axis=1), np.ones(len(draws)))
    assert np.all(np.abs(draws.sum(axis=0) - 6667) < 4 * 67)


def test_topics_start_uniform():
    """12,000 draws of 6 topics: 2000 each, standard deviation 41; four of them allowed."""
    filled = np.bincount(
        starting.uniform_topics(StepContext(1, 0).key(TOPICS), 12_000, 6), minlength=6
    )
    assert np.all(np.abs(filled - 2000) < 164)


@pytest.mark.parametrize("documents_known", [True, False])
def test_responsibilities_given_counts_are_the_conditional_of_their_words(documents_known):
    corpus, alpha, beta = simulated(), np.full(4, 0.3), 0.2
    counts = twins.sampled_counts(corpus, random_topics(corpus, 4), 4)
    kept, _ = started(
        corpus,
        DIRICHLET,
        4,
        given=(counts.n_dk if documents_known else None, counts.n_wk, counts.n_k, None),
    )
    seen = counts if documents_known else counts._replace(n_dk=np.zeros_like(counts.n_dk))
    for (d, w, _), row in zip(twins.pairs_of(corpus), kept, strict=True):
        expected = twins.conditional(seen, d, w, alpha, beta)
        np.testing.assert_allclose(row[:4], expected / expected.sum(), rtol=1e-13)  # rounding


@pytest.mark.parametrize("threshold", [0, 1])
def test_responsibilities_given_topics_are_the_share_of_the_tokens(threshold):
    corpus, n_topics = simulated(), 4
    # -1: dropped, counts for all topics alike
    topics = random_topics(corpus, n_topics + 1).astype(np.int32) - 1
    kept, counts = started(corpus, DIRICHLET, n_topics, threshold, given=(None, None, None, topics))
    shares = np.vstack([np.full(n_topics, 1 / n_topics), np.eye(n_topics)])[topics + 1]
    pairs = np.repeat(np.arange(corpus.n_pairs), corpus.counts)
    expected = np.array([shares[pairs == pair].mean(axis=0) for pair in range(corpus.n_pairs)])
    # rounding
    np.testing.assert_allclose(kept[:, :n_topics], expected[corpus.counts > threshold], rtol=1e-13)
    for array, total in zip(
        counts, twins.expected_counts(corpus, expected, threshold), strict=True
    ):
        np.testing.assert_allclose(array[..., :n_topics], total, rtol=0, atol=1e-12)  # rounding


def test_topics_given_counts_are_drawn_from_the_conditional():
    """20,000 copies of one pair: the shares of 3 topics within 4 standard deviations of the multinomial."""
    corpus, n = corpus_of([(0, 0, 20_000), (0, 1, 5)]), 20_000
    counts = twins.Counts(
        np.array([[5.0, 1, 2]]), np.array([[1.0, 4, 2], [4, 0, 1]]), np.array([5.0, 4, 3])
    )
    alpha, topics = np.array([0.3, 0.2, 0.5]), np.empty(corpus.n_tokens, np.uint16)
    starting.topics_of_counts(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        StepContext(2, 0).key(TOPICS),
        *counts,
        alpha,
        0.1,
        3,
        topics,
    )
    p = twins.conditional(counts, 0, 0, alpha, 0.1)
    p /= p.sum()
    assert np.all(
        np.abs(np.bincount(topics[:n], minlength=3) - n * p) < 4 * np.sqrt(n * p * (1 - p))
    )


@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
def test_neighbouring_pairs_start_independently(way):
    """Correlations of any topic of a pair with any of the next: 20,000 draws, 5 standard errors of nine correlations."""
    draws = gammas(way)
    found = np.corrcoef(draws[:-1], draws[1:], rowvar=False)[:3, 3:]
    assert np.abs(found).max() < 5 / np.sqrt(len(draws))


# ---------------------------------------------------------------------- counts of words


@pytest.mark.parametrize("n_topics", [3, 40, 70])
def test_words_counted_in_slices_are_those_counted_at_once(n_topics):
    """Rows of one block, of a few, and wide ones, of words in one, two, ... nine documents."""
    random, lengths = np.random.default_rng(2), np.arange(10)
    documents = np.concatenate([random.permutation(10)[:n] for n in lengths])
    corpus = Corpus.from_pairs(documents, np.repeat(lengths, lengths), random.integers(1, 4, 45))
    by_word, ratios = corpus.by_word, random.uniform(0.5, 2.0, corpus.n_pairs)
    of_documents, of_words = (
        padded_rows(random.uniform(0.5, 2.0, (n, n_topics)), float)
        for n in (corpus.n_documents, corpus.n_words)
    )
    nothing, new_wk, expected = (
        np.zeros_like(of_documents),
        np.zeros_like(of_words),
        np.zeros_like(of_words),
    )
    found = [
        count_words(
            first,
            last,
            by_word.indptr,
            by_word.documents,
            by_word.pairs,
            corpus.counts,
            nothing,
            of_documents,
            np.zeros_like(of_words),
            of_words,
            n_topics,
            ratios,
            new_wk,
        )
        for first, last in ((0, 4), (4, 5), (5, corpus.n_words))
    ]
    for pair, (d, w, _) in enumerate(twins.pairs_of(corpus)):
        expected[w] += ratios[pair] * of_documents[d] * of_words[w]
    np.testing.assert_allclose(new_wk, expected, rtol=1e-14)  # rounding
    np.testing.assert_allclose(sum(found), expected.sum(axis=0), rtol=1e-14)
