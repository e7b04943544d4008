"""Documents fitted to topics that stand still, where exp(psi) leaves the range of doubles; whole iterations are in test_vb."""

import numpy as np
import pytest
import twins
from scipy.special import logsumexp, psi
from toys import simulated

from workbench.corpus import Corpus
from workbench.kernels import document_vb, factored_entropy, standard_vb
from workbench.kernels.lanes import aligned_zeros, pad_topics, padded
from workbench.kernels.standard_vb import NOTHING_SAMPLED


def rows(array):
    out = aligned_zeros((len(array), padded(array.shape[1])), np.float64)
    out[:, : array.shape[1]] = array
    return out


def test_where_all_weights_of_a_document_underflow_both_passes_go_by_logs():
    """Counts so small that exp(psi(alpha + n_dk)) is 0 for every topic: gamma is that of the logs, document by document."""
    corpus, n_topics, alpha, beta = simulated(8, 10, 12), 3, np.full(3, 1e-4), 0.2
    random = np.random.default_rng(1)
    used = random.uniform(0, 1e-5, (corpus.n_documents, n_topics))  # psi of about 1e-4 is -1e4
    n_wk = random.gamma(1.0, 3.0, (corpus.n_words, n_topics))
    log_phi = psi(beta + n_wk) - psi(corpus.n_words * beta + n_wk.sum(axis=0))
    expected = np.zeros((corpus.n_pairs, n_topics))
    for pair, (d, w, _) in enumerate(twins.pairs_of(corpus)):
        logs = psi(alpha + used[d]) + log_phi[w]
        expected[pair] = np.exp(logs - logsumexp(logs))
    assert np.ptp(expected[:, 0]) > 0.5  # documents differ

    logs, weights, new_wk = (aligned_zeros((corpus.n_words, 16), np.float64) for _ in range(3))
    sizes = standard_vb.log_sizes(corpus.n_words * beta, pad_topics(n_wk.sum(axis=0)), NOTHING_SAMPLED[2], False, n_topics)
    standard_vb.weigh_rows(0, corpus.n_words, np.full(16, beta), rows(n_wk), NOTHING_SAMPLED[1], sizes, False, logs, weights)
    mean_dk, document_logs, document_weights = rows(used), rows(used), rows(used)
    ratios, by_word = np.full(corpus.n_pairs, np.nan), corpus.by_word
    n_visited = document_vb.fit_documents(
        0, corpus.n_documents, corpus.indptr, corpus.words, corpus.counts, pad_topics(alpha, 1.0),
        NOTHING_SAMPLED[0], logs, weights, n_topics, 1, 0.0, mean_dk, document_logs, document_weights, ratios,
    )
    sizes = standard_vb.count_words(
        0, corpus.n_words, by_word.indptr, by_word.documents, by_word.pairs, corpus.counts, document_logs, document_weights,
        logs, weights, n_topics, ratios, new_wk,
    )
    assert not ratios.any() and n_visited == corpus.n_pairs
    np.testing.assert_allclose(sizes, new_wk.sum(axis=0), rtol=1e-14)  # rounding
    found = factored_entropy.log_normalisers(
        corpus.indptr, corpus.words, corpus.counts, document_logs, document_weights, logs, weights, ratios, n_topics,
        np.empty(n_topics),
    )
    counts = twins.expected_counts(corpus, expected)
    rounding = 1e-6  # psi of 1e-4 is -1e4 with ten digits
    np.testing.assert_allclose(mean_dk[:, :n_topics], counts.n_dk, rtol=0, atol=rounding * corpus.n_tokens)
    np.testing.assert_allclose(new_wk[:, :n_topics], counts.n_wk, rtol=0, atol=rounding * corpus.n_tokens)
    told = sum(n * logsumexp(psi(alpha + used[d]) + log_phi[w]) for d, w, n in twins.pairs_of(corpus))
    assert found == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize("n_topics", [3, 40, 70])
def test_words_counted_in_slices_are_those_counted_at_once(n_topics):
    """Rows of one block, of a few, and wide ones, of words in one, two, ... nine documents."""
    random, lengths = np.random.default_rng(2), np.arange(10)
    documents = np.concatenate([random.permutation(10)[:n] for n in lengths])
    corpus = Corpus.from_pairs(documents, np.repeat(lengths, lengths), random.integers(1, 4, 45))
    by_word, ratios = corpus.by_word, random.uniform(0.5, 2.0, corpus.n_pairs)
    of_documents, of_words = (rows(random.uniform(0.5, 2.0, (n, n_topics))) for n in (corpus.n_documents, corpus.n_words))
    nothing, new_wk, expected = np.zeros_like(of_documents), np.zeros_like(of_words), np.zeros_like(of_words)
    found = [
        standard_vb.count_words(
            first, last, by_word.indptr, by_word.documents, by_word.pairs, corpus.counts, nothing, of_documents,
            np.zeros_like(of_words), of_words, n_topics, ratios, new_wk,
        )
        for first, last in ((0, 4), (4, 5), (5, corpus.n_words))
    ]
    for pair, (d, w, _) in enumerate(twins.pairs_of(corpus)):
        expected[w] += ratios[pair] * of_documents[d] * of_words[w]
    np.testing.assert_allclose(new_wk, expected, rtol=1e-14)  # rounding
    np.testing.assert_allclose(sum(found), expected.sum(axis=0), rtol=1e-14)
