"""Documents and words counted in one visit, however the pairs are cut into blocks; whole sweeps are in test_svb and test_vb."""

import numpy as np
import pytest
import twins
from engines.lda.starts import padded_rows
from scipy.special import logsumexp, psi
from toys import CORPORA, simulated

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.lda import split, svb, vb
from workbench.engines.lda.split import none_sampled
from workbench.kernels import threads as slices
from workbench.kernels.lda.parallel_vb import WIDE, visit_runs
from workbench.kernels.lda.standard_vb import NOTHING_SAMPLED
from workbench.kernels.simd.vectors import pad_topics, padded
from workbench.models import LDA

ROUNDING = 1e-13


def words_of_every_length() -> Corpus:
    """Words of which one, two, ... twelve documents have some."""
    random, lengths = np.random.default_rng(2), np.arange(13)
    documents = np.concatenate([random.permutation(12)[:n] for n in lengths])
    return Corpus.from_pairs(
        documents, np.repeat(lengths, lengths), random.integers(1, 4, len(documents)), n_words=15
    )


def visited(corpus, of_documents, of_words, n_threads=1):
    """Counts of documents and words from weights (row, topic), n / Z by canonical pair, and how many are tiny."""
    document_weights, word_weights = (
        padded_rows(weights, float) for weights in (of_documents, of_words)
    )
    mean_dk, mean_wk = padded_rows(0 * of_documents, float), padded_rows(0 * of_words, float)
    order = split.blocks_of(corpus, mean_dk.shape[1], n_threads)
    ratios = np.full(len(order.pair_counts), np.nan)

    def visit(block, step):
        cut = order.cuts[block, step : step + 2]
        return visit_runs(
            *cut, *order.visited, document_weights, word_weights, mean_dk, mean_wk, ratios
        )

    tiny = slices.each_wave(visit, len(order.ranges), order.n_steps, n_threads, lambda: None)
    words = np.repeat(order.run_words, np.diff(order.run_begins))
    places = np.lexsort((words, order.pair_documents, order.pair_counts == 0))[: corpus.n_pairs]
    return mean_dk, mean_wk, ratios[places], sum(map(sum, tiny))


@pytest.mark.parametrize("n_topics", [1, 16, 17, 40, 100, WIDE - 16, WIDE])
def test_counts_are_those_of_every_pair_added_up(n_topics):
    corpus, random = words_of_every_length(), np.random.default_rng(3)
    of_documents, of_words = (
        random.uniform(0.5, 2.0, (n, n_topics)) for n in (corpus.n_documents, corpus.n_words)
    )
    expected_dk, expected_wk, expected_ratios = 0 * of_documents, 0 * of_words, []
    for d, w, n in twins.pairs_of(corpus):
        gamma = of_documents[d] * of_words[w]
        expected_ratios.append(n / gamma.sum())
        expected_dk[d] += n * gamma / gamma.sum()
        expected_wk[w] += n * gamma / gamma.sum()
    mean_dk, mean_wk, ratios, tiny = visited(corpus, of_documents, of_words)
    np.testing.assert_allclose(mean_dk, padded_rows(expected_dk, float), rtol=ROUNDING)
    np.testing.assert_allclose(mean_wk, padded_rows(expected_wk, float), rtol=ROUNDING)
    np.testing.assert_allclose(ratios, expected_ratios, rtol=ROUNDING)
    assert tiny == 0


@pytest.mark.parametrize("n_topics", [5, 40, WIDE])
@pytest.mark.parametrize(
    "corpus", [words_of_every_length(), simulated(60, 50, 40), *CORPORA.values()], ids=repr
)
def test_blocks_steps_and_threads_change_no_bit(corpus, n_topics, monkeypatch):
    random = np.random.default_rng(4)
    weights = [
        random.gamma(0.3, 1.0, (n, n_topics)) + 1e-9 for n in (corpus.n_documents, corpus.n_words)
    ]
    whole = visited(corpus, *weights)
    for most, work, n_threads in ((5, 2**20, 1), (1, 2**20, 1), (4, 64, 1), (7, 64, 2), (2, 64, 5)):
        monkeypatch.setattr(split, "BLOCK_DOCUMENTS", most)
        monkeypatch.setattr(slices, "SLICE_WORK", work)
        for one, other in zip(whole, visited(corpus, *weights, n_threads), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_topics", [3, 40, WIDE])
def test_a_pair_with_a_tiny_normaliser_is_left_out_and_told(n_topics):
    """Every third word weighs nothing; its neighbours in a group of four, and those beyond its run, are as without it."""
    corpus = words_of_every_length()
    of_documents, of_words = (
        np.ones((corpus.n_documents, n_topics)),
        np.ones((corpus.n_words, n_topics)),
    )
    of_words[::3] = 1e-120
    faint = corpus.words % 3 == 0
    mean_dk, mean_wk, ratios, tiny = visited(corpus, of_documents, of_words)
    assert tiny == faint.sum() > 0
    np.testing.assert_array_equal(ratios == 0.0, faint)
    assert not mean_wk[::3].any()
    left = np.bincount(corpus.documents, np.where(faint, 0, corpus.counts), corpus.n_documents)
    np.testing.assert_allclose(mean_dk.sum(axis=1), left, rtol=ROUNDING)


def test_where_all_weights_of_a_document_underflow_a_sweep_goes_by_logs(monkeypatch):
    """Counts so small that exp(psi(alpha + n_dk)) is 0 for every topic: gamma is that of the logs, document by document."""
    corpus, n_topics, model = simulated(8, 10, 12), 3, LDA(3, 1e-4, 0.2)
    random = np.random.default_rng(1)
    used = random.uniform(0, 1e-5, (corpus.n_documents, n_topics))  # psi of about 1e-4 is -1e4
    n_wk = random.gamma(1.0, 3.0, (corpus.n_words, n_topics))
    log_phi = psi(model.beta + n_wk) - psi(corpus.n_words * model.beta + n_wk.sum(axis=0))
    logs = np.array([psi(1e-4 + used[d]) + log_phi[w] for d, w, _ in twins.pairs_of(corpus)])
    gamma = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    assert np.ptp(gamma[:, 0]) > 0.5  # documents differ

    mean, pulses = (
        (padded_rows(used, float), padded_rows(n_wk, float), pad_topics(n_wk.sum(axis=0))),
        [],
    )
    monkeypatch.setattr(svb, "BY_LOGS", 10)
    context = StepContext(0, 1, interrupt=lambda: pulses.append(1))
    state = vb.State(*mean, np.nan, model.alphas, model.beta)
    entropy = svb.update_in_parallel(corpus, none_sampled(corpus), state, NOTHING_SAMPLED, context)
    assert len(pulses) > corpus.n_pairs / 10  # it may be paused while many go by their logs
    # psi of 1e-4 is -1e4 with ten digits
    counts, rounding = twins.expected_counts(corpus, gamma), 1e-6
    assert mean[0].shape[1] == padded(n_topics)
    for found, expected in zip(mean, (counts.n_dk, counts.n_wk, counts.n_k), strict=True):
        np.testing.assert_allclose(
            found[..., :n_topics], expected, rtol=0, atol=rounding * corpus.n_tokens
        )
    # of the terms of the entropy, which cancel
    size = corpus.counts @ np.abs(logsumexp(logs, axis=1))
    assert float(entropy) == pytest.approx(twins.entropy(corpus, gamma), abs=1e-9 * size)
