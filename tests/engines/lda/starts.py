"""States of the engines made from given responsibilities and topics, and single steps from there."""

import numpy as np
import twins

from workbench.engines.engine import StepContext
from workbench.engines.lda import cgs, cvb, hybrid, svb
from workbench.kernels.simd.vectors import aligned_zeros, pad_topics, padded
from workbench.kernels.uniforms import GIBBS, uniform
from workbench.models import LDA


def padded_rows(rows, dtype):
    """(row, topic) with padding topics of zero."""
    out = aligned_zeros((len(rows), padded(rows.shape[1])), dtype)
    out[:, : rows.shape[1]] = rows
    return out


def svb_state(corpus, model, gamma, schedule, r=0):
    """The state of `svb` (or the variational part of a hybrid) behind responsibilities of every pair."""
    counts = twins.expected_counts(corpus, gamma, r)
    kept = gamma[corpus.counts > r] if schedule == "sequential" else gamma[:0]
    return svb.State(
        padded_rows(counts.n_dk, float),
        padded_rows(counts.n_wk, float),
        pad_topics(counts.n_k),
        padded_rows(kept, float),
        0.0,
        model.alphas,
        model.beta,
    )


def cgs_state(corpus, model, topics, n_topics, r=np.inf):
    """The state of `cgs` (or of one chain of a hybrid) behind topics of every token."""
    counts = twins.sampled_counts(corpus, topics, n_topics, r)
    return cgs.State(
        np.array(topics, np.uint16),
        padded_rows(counts.n_dk, np.int32),
        padded_rows(counts.n_wk, np.int32),
        pad_topics(counts.n_k).astype(np.int64),
        model.alphas,
        model.beta,
    )


def cvb_state(corpus, model, gamma, r=0, second_order=True):
    """The state of `cvb` or `cvb0` (or the variational part of a hybrid) behind responsibilities of every pair."""
    mean, variance = (
        twins.expected_counts(corpus, gamma, r),
        twins.count_variances(corpus, gamma, r),
    )
    rows = [padded_rows(mean.n_dk, float), padded_rows(mean.n_wk, float), pad_topics(mean.n_k)]
    if second_order:
        rows += [
            padded_rows(variance.n_dk, float),
            padded_rows(variance.n_wk, float),
            pad_topics(variance.n_k),
        ]
    else:
        rows += [np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0)]
    return cvb.State(*rows, padded_rows(gamma[corpus.counts > r], float), model.alphas, model.beta)


def stacked(corpus, model, gamma, chains, r):
    """topics, n_dk, n_wk and n_k of topics of every token, a chain each."""
    states = [cgs_state(corpus, model, topics, gamma.shape[1], r)[:4] for topics in chains]
    return [np.stack(arrays) for arrays in zip(*states, strict=True)]


def hybrid_state(corpus, model, gamma, chains, schedule, r):
    """The state of `svb-cgs` behind responsibilities of every pair and topics of every token, a chain each."""
    part = svb_state(corpus, model, gamma, schedule, r)
    return hybrid.SvbState(*part[:-2], *stacked(corpus, model, gamma, chains, r), *part[-2:])


def cvb_hybrid_state(corpus, model, gamma, chains, r, second_order=True):
    """The state of `cvb-cgs` or `cvb0-cgs` behind the same."""
    part = cvb_state(corpus, model, gamma, r, second_order)
    return hybrid.CvbState(*part[:-2], *stacked(corpus, model, gamma, chains, r), *part[-2:])


def uniforms_of(context: StepContext, chain: int = 0):
    """The very uniforms that the kernel uses, as a function of the token."""
    key = context.key(GIBBS, chain)
    return lambda token: uniform(key, token)


def assert_same_counts(state, counts, tolerance):
    """The variational part of a state against counts of a twin."""
    n_topics = len(counts.n_k)
    np.testing.assert_allclose(state.mean_dk[:, :n_topics], counts.n_dk, rtol=0, atol=tolerance)
    np.testing.assert_allclose(state.mean_wk[:, :n_topics], counts.n_wk, rtol=0, atol=tolerance)
    np.testing.assert_allclose(state.mean_k[:n_topics], counts.n_k, rtol=0, atol=tolerance)


def assert_same_bits(one, other):
    """Two states of one kind, array by array."""
    for name, a, b in zip(one._fields, one, other, strict=True):
        assert np.array_equal(a, b, equal_nan=True), name


def uneven(n_topics: int) -> LDA:
    """Return a model whose topics have priors of their own."""
    return LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)


MODELS = [*map(uneven, (1, 2, 15, 16, 17, 33, 100))]
"""Of topics that fill the lanes of a vector, or do not."""
