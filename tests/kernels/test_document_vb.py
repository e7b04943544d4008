"""Documents fitted to topics that stand still, where exp(psi) leaves the range of doubles; whole iterations are in test_vb."""

import numpy as np
import pytest
import twins
from scipy.special import logsumexp, psi
from toys import simulated

from workbench.kernels import document_vb
from workbench.kernels.lanes import aligned_zeros, pad_topics

SERIES_ERROR = 1e-9  # of digamma, absolute; spec A.11


def rows(array):
    out = aligned_zeros((len(array), 16), np.float64)
    out[:, : array.shape[1]] = array
    return out


@pytest.mark.parametrize("point", [False, True])
def test_words_are_weighed_by_the_mean_log_or_the_log_of_the_mode(point):
    random = np.random.default_rng(0)
    n_wk, beta = random.gamma(0.5, 4.0, (9, 3)), 0.05
    n_k = n_wk.sum(axis=0)
    logs, weights = (aligned_zeros((9, 16), np.float64) for _ in range(2))
    document_vb.weigh_words(0, 9, rows(n_wk), pad_topics(n_k), beta, point, 3, logs, weights)
    function = np.log if point else psi
    np.testing.assert_allclose(logs[:, :3], function(beta + n_wk) - function(9 * beta + n_k), rtol=0, atol=SERIES_ERROR)
    np.testing.assert_allclose(weights[:, :3], np.exp(logs[:, :3]), rtol=1e-15)  # rounding
    assert not weights[:, 3:].any()


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
    document_vb.weigh_words(0, corpus.n_words, rows(n_wk), pad_topics(n_wk.sum(axis=0)), beta, False, n_topics, logs, weights)
    mean_dk, used_dk, document_weights = rows(used), rows(used), rows(used)
    ratios, topics = np.empty(corpus.n_pairs), (pad_topics(alpha, 1.0), logs, weights, n_topics)
    log_normalisers, n_visited = document_vb.fit_documents(
        0, corpus.n_documents, corpus.indptr, corpus.words, corpus.counts, *topics, 1, 0.0, mean_dk, used_dk,
        document_weights, ratios,
    )
    by_word = corpus.by_word
    document_vb.count_words(
        0, corpus.n_words, by_word.indptr, by_word.documents, by_word.pairs, corpus.counts, *topics, used_dk,
        document_weights, ratios, new_wk,
    )
    assert np.isnan(ratios).all() and n_visited == corpus.n_pairs
    counts = twins.expected_counts(corpus, expected)
    rounding = 1e-6  # psi of 1e-4 is -1e4 with ten digits
    np.testing.assert_allclose(mean_dk[:, :n_topics], counts.n_dk, rtol=0, atol=rounding * corpus.n_tokens)
    np.testing.assert_allclose(new_wk[:, :n_topics], counts.n_wk, rtol=0, atol=rounding * corpus.n_tokens)
    told = sum(n * logsumexp(psi(alpha + used[d]) + log_phi[w]) for d, w, n in twins.pairs_of(corpus))
    assert log_normalisers == pytest.approx(told, rel=1e-9)
