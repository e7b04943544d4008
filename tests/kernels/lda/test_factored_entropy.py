"""The entropy of responsibilities from their factors, beside the sum that defines it."""

import math

import numpy as np
import pytest
import twins

from workbench.corpus import Corpus
from workbench.engines.lda.factored import Entropy, Workspace
from workbench.kernels.lda.factored_entropy import log_normalisers
from workbench.kernels.simd.lanes import aligned_zeros, padded


def rows(array):
    out = aligned_zeros((len(array), padded(array.shape[1])), np.float64)
    out[:, : array.shape[1]] = array
    return out


@pytest.mark.parametrize("counts", [(1,), (2,), (3,), (4, 50), (1, 2, 3, 4, 1000)], ids=str)
@pytest.mark.parametrize("least, most", [(-1, 0), (-60, -20), (-90, 90), (60, 90)])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 335])
def test_the_logs_of_normalisers_are_those_taken_one_by_one(counts, least, most, n):
    """Of products that would leave the range of doubles; right to the roundings of 2000 terms, of which none is cancelled."""
    random = np.random.default_rng(3)
    pair_counts, normalisers = (
        random.choice(counts, n).astype(np.int32),
        10.0 ** random.uniform(least, most, n),
    )
    terms = [c * math.log(z) for c, z in zip(pair_counts, normalisers, strict=True)]
    found, n_by_logs = log_normalisers(pair_counts, pair_counts / normalisers)
    assert n_by_logs == 0
    assert found == pytest.approx(math.fsum(terms), rel=0, abs=1e-14 * math.fsum(map(abs, terms)))


@pytest.mark.parametrize("n_topics", [3, 40])
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 200.0])
def test_the_entropy_is_that_of_the_responsibilities(n_topics, scale):
    """Log weights that vary by a little, by much, and so much that weights are faint or 0 and pairs go by their logs."""
    random = np.random.default_rng(4)
    documents, words = np.nonzero(random.random((7, 9)) < 0.6)
    corpus = Corpus.from_pairs(
        documents, words, random.integers(1, 6, len(words)), n_documents=7, n_words=9
    )
    logs_dk, logs_wk = (scale * random.uniform(-3.0, 0.0, (n, n_topics)) for n in (7, 9))
    logs = logs_dk[documents] + logs_wk[words]
    log_z = np.log(np.exp(logs - logs.max(axis=1, keepdims=True)).sum(axis=1)) + logs.max(axis=1)
    gamma = np.exp(logs - log_z[:, None])
    n = twins.expected_counts(corpus, gamma)
    by_logs = log_z < math.log(1e-100)
    ratios = np.where(by_logs, 0.0, corpus.counts * np.exp(-np.where(by_logs, 0.0, log_z)))
    assert by_logs.any() == (scale == 200.0)
    factors = (rows(logs_dk), rows(np.exp(logs_dk))), (rows(logs_wk), rows(np.exp(logs_wk)))
    found = float(
        Entropy(corpus, (rows(n.n_dk), rows(n.n_wk)), Workspace((), *factors, ratios), n_topics)
    )
    expected = twins.entropy(corpus, gamma)
    # of the terms that cancel, a thousand in one sum
    size = expected + np.sum(corpus.counts[:, None] * gamma * np.abs(logs))
    assert found == pytest.approx(expected, rel=0, abs=1e-13 * size)
