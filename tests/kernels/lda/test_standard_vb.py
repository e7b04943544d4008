"""Pieces of the variational kernels against their twins; whole sweeps are in tests/engines/lda/test_svb.py."""

import math

import numpy as np
import pytest
import twins
from scipy.special import psi

from workbench.corpus import Corpus
from workbench.engines.lda.responsibilities import Entropy, Workspace
from workbench.kernels.jit import lean
from workbench.kernels.lda import standard_vb
from workbench.kernels.lda.standard_vb import log_normalisers
from workbench.kernels.simd.vectors import aligned_zeros, pad_topics, padded

SERIES_ERROR = 3e-10  # of each exp(digamma), relative; spec A.11
RANDOM = np.random.default_rng(4)
log_weight, log_domain_gamma = (
    lean(part.py_func) for part in (standard_vb.log_weight, standard_vb.log_domain_gamma)
)


@pytest.mark.parametrize("point", [False, True])
@pytest.mark.parametrize("n_chains", [0, 1, 3])
@pytest.mark.parametrize("n_padded", [16, 32])
def test_weights_are_averaged_over_chains_in_the_log_domain(n_padded, n_chains, point):
    prior, mean = np.linspace(0.1, 0.9, n_padded), RANDOM.gamma(1.0, 4.0, (5, n_padded))
    log_sizes = RANDOM.uniform(0.0, 2.0, n_padded)
    sampled = RANDOM.integers(0, 9, (n_chains, 5, n_padded)).astype(np.int32)
    logs, weights = np.full((2, 5, n_padded), np.nan)
    given = sampled[:0] if point else sampled
    standard_vb.weigh_rows(1, 4, prior, mean, given, log_sizes, point, logs, weights)
    chains = sampled if len(given) else np.zeros((1, 5, n_padded))
    expected = (np.log if point else psi)(prior + mean + chains).mean(axis=0) - log_sizes
    np.testing.assert_allclose(weights[1:4], np.exp(expected)[1:4], rtol=SERIES_ERROR)
    assert np.isnan(weights[[0, 4]]).all()


@pytest.mark.parametrize("point", [False, True])
@pytest.mark.parametrize("n_chains", [0, 1, 3])
def test_logs_are_stored_where_a_weight_is_faint_and_are_those_of_the_weights_elsewhere(
    n_chains, point
):
    """Topics 13 to 15 are padding, which weighs nothing and is not faint."""
    prior, mean = np.full(16, 1e-160 if point else 1e-4), RANDOM.gamma(9.0, 1.0, (3, 16))
    mean[1, 6] = 0.0  # psi of 1e-4 is about -1e4
    log_sizes = pad_topics(RANDOM.uniform(0.0, 2.0, 13), standard_vb.OUT_OF_REACH)
    sampled = np.zeros((0 if point else n_chains, 3, 16), np.int32)
    logs, weights = np.full((2, 3, 16), np.nan)
    standard_vb.weigh_rows(0, 3, prior, mean, sampled, log_sizes, point, logs, weights)
    assert np.isfinite(logs).all(axis=1).tolist() == [len(sampled) > 1, True, len(sampled) > 1]
    assert not weights[:, 13:].any()
    found = [[log_weight(row, k, logs, weights, 13) for k in range(13)] for row in range(3)]
    expected = (np.log if point else psi)(prior + mean) - log_sizes
    # 1e-11: spec A.11, psi of 1e-4
    np.testing.assert_allclose(found, expected[:, :13], rtol=1e-11, atol=SERIES_ERROR)


@pytest.mark.parametrize("n_chains", [0, 1, 3])
def test_a_padding_topic_weighs_nothing_and_an_empty_one_as_much_as_it_must(n_chains):
    """With W beta = 3e-8 exp(psi) of an empty topic is far below the smallest double, its ratio to itself is 1."""
    mean = np.repeat([0.0, 5.0], 8)
    sampled = RANDOM.integers(0, 9, (n_chains, 1, 16)).astype(np.int64)
    logs, weights = np.empty((2, 1, 16))
    sizes = standard_vb.log_sizes(3e-8, mean, sampled, False, 13)
    standard_vb.weigh_rows(
        0, 1, np.full(16, 3e-8), mean[None], sampled, sizes, False, logs, weights
    )
    # psi of -1/3e-8 is rounded to about 4e-9
    np.testing.assert_allclose(weights[0], [1.0] * 13 + [0.0] * 3, rtol=1e-8)


def test_entropy_takes_zero_responsibilities():
    gamma, weights = np.zeros((2, 16)), np.array([3, 2], np.int32)
    gamma[0, :2], gamma[1, 0] = [0.25, 0.75], 1.0
    expected = -3 * (0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    # rounding
    assert standard_vb.weighted_entropy(weights, gamma) == pytest.approx(expected, rel=1e-15)


# ---------------------------------------------------------------------- the entropy from factors


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
