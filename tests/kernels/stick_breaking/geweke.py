"""What Geweke's test of samplers of correlated topics shares: a tiny corpus, draws of data, and the comparison.

Geweke (2004), "Getting it right": parameters and data drawn from the prior, and in turns by the sampler and given the
parameters, have the same expectations.
"""

import math

import numpy as np
from scipy import stats

from workbench.kernels.jit import kernel
from workbench.kernels.uniforms import absorb, gamma, stream_of, uniform

LENGTHS, N_TOPICS, N_WORDS, BETA = (6, 2, 0, 4), 3, 4, 0.7
N_TOKENS, STARTS = sum(LENGTHS), np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)


@kernel
def draw_words(topics, words, key):
    """Words of all tokens given their topics, phi drawn anew from its prior."""
    stream, phi = stream_of(key, 0), np.empty(N_WORDS)
    for t in range(N_TOPICS):
        total = 0.0
        for w in range(N_WORDS):
            stream, phi[w] = gamma(stream, BETA)
            total += phi[w]
        for i in range(N_TOKENS):
            if topics[i] == t:
                u, w = uniform(absorb(key, 1), i) * total, 0
                while w < N_WORDS - 1 and u >= phi[w]:
                    u -= phi[w]
                    w += 1
                words[i] = w


@kernel
def draw_topics_from(theta, first, last, topics, key):
    """Topics of the tokens first..last from the theta of their document."""
    for i in range(first, last):
        u, t = uniform(key, i), 0
        while t < N_TOPICS - 1 and u >= theta[t]:
            u -= theta[t]
            t += 1
        topics[i] = t


@kernel
def count(topics, words, starts, n_dk, n_wk, n_k):
    """Counts of all tokens, in place."""
    n_dk[:], n_wk[:], n_k[:] = 0, 0, 0
    for d in range(len(starts) - 1):
        for i in range(starts[d], starts[d + 1]):
            n_dk[d, topics[i]] += 1
            n_wk[words[i], topics[i]] += 1
            n_k[topics[i]] += 1


@kernel
def shares(topics, words):
    """Of tokens in topic 0, and of pairs of tokens of one topic, and of one topic and one word."""
    same = shared = first = 0.0
    for i in range(N_TOKENS):
        first += topics[i] == 0
        for j in range(i):
            same += topics[i] == topics[j]
            shared += (topics[i] == topics[j]) * (words[i] == words[j])
    return first / N_TOKENS, same / N_TOKENS**2, shared / N_TOKENS**2


def empty_counts():
    """n_dk, n_wk and n_k, padded."""
    return (
        np.zeros((len(LENGTHS), 16), np.int32),
        np.zeros((N_WORDS, 16), np.int32),
        np.zeros(16, np.int64),
    )


def z_of(chain, wanted, n_batches=100):
    """How many standard errors, by batch means, a chain (draw, …) is off."""
    batches = (
        chain[: len(chain) // n_batches * n_batches]
        .reshape(n_batches, -1, *chain.shape[1:])
        .mean(axis=1)
    )
    return np.abs(batches.mean(axis=0) - wanted) / (
        batches.std(axis=0, ddof=1) / math.sqrt(n_batches)
    )


def assert_same_expectations(chain, independent, n_batches=60):
    """A chain (draw, statistic) and independent draws have the same means: each within four standard errors."""
    batches = chain.reshape(n_batches, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(
        batches.var(axis=0, ddof=1) / n_batches + independent.var(axis=0) / len(independent)
    )
    z = (chain.mean(axis=0) - independent.mean(axis=0)) / error
    assert np.abs(z).max() < 4, z
    # the statistics are dependent, so a loose bound
    assert stats.chi2.sf((z**2).sum(), len(z)) > 1e-6
