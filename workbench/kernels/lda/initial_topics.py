"""Initial responsibilities and topics of tokens: at random, or from the counts of another run.

At random, every pair has a responsibility of its own (never the uniform one, which with a symmetric prior
is a fixed point; spec A.12), every token a uniform topic. From counts n of another run,

    p(k | d, w)  ~  (alpha_k + n_dk) (beta + n_wk) / (W beta + n_k)

is the responsibility of a pair and what the topic of a token is drawn from; where nothing is known of the
documents, n_dk is 0. Where the topic of every token is known, the share of the tokens of a pair in a topic is
the responsibility; a token whose topic was dropped counts for all topics alike.
"""

import math

import numpy as np

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.uniforms import uniform

WAYS = ("dirichlet", "noise", "hard")
"""A draw from the flat Dirichlet; the uniform responsibility with noise, 1 + u; one topic with certainty."""
DIRICHLET, NOISE, HARD = range(len(WAYS))


@inlined
def random_gamma(way, key, pair, n_topics, gamma):
    """A random responsibility of one pair; its randomness depends on the pair's number alone."""
    if way == HARD:
        chosen = np.int64(uniform(key, pair * n_topics) * n_topics)
        for k in range(n_topics):
            gamma[k] = 1.0 if k == chosen else 0.0
        return
    total = 0.0
    for k in range(n_topics):
        u = uniform(key, pair * n_topics + k)
        gamma[k] = 1.0 + u if way == NOISE else -math.log(1.0 - u)
        total += gamma[k]
    for k in range(n_topics):
        gamma[k] /= total


@inlined
def gamma_of_counts(d, w, given_dk, given_wk, given_k, alpha, beta, n_topics, gamma):
    """The responsibility of one pair given counts; given_dk None: other documents."""
    words_beta = given_wk.shape[0] * beta
    total = 0.0
    for k in range(n_topics):
        document = alpha[k] if given_dk is None else alpha[k] + given_dk[d, k]
        gamma[k] = document * ((beta + given_wk[w, k]) / (words_beta + given_k[k]))
        total += gamma[k]
    for k in range(n_topics):
        gamma[k] /= total


@inlined
def gamma_of_topics(topics, first, n_tokens, n_topics, gamma):
    """The responsibility of one pair given the topics of its tokens, from the first on, -1 for a topic that was dropped."""
    for k in range(n_topics):
        gamma[k] = 0.0
    for token in range(first, first + n_tokens):
        if topics[token] >= 0:
            gamma[topics[token]] += 1.0 / n_tokens
        else:
            for k in range(n_topics):
                gamma[k] += 1.0 / (n_tokens * n_topics)


@lean
def start_responsibilities(
    indptr, words, counts, tokens_before, sampled, way, key, given_dk, given_wk, given_k, given_topics, alpha, beta,
    n_topics, kept, mean_dk, mean_wk, mean_k, gamma,
):
    """gamma of each pair that is not sampled, added to the expected counts; kept in rows of `kept` if any.

    From the given topics of tokens; else (given_topics None) from given counts; else (given_wk None) at random in the
    given way. `gamma` (topic padded,), zeros, is scratch.
    """
    row = 0
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if sampled[pair]:
                continue
            w = words[pair]
            if given_topics is not None:
                gamma_of_topics(given_topics, tokens_before[pair], counts[pair], n_topics, gamma)
            elif given_wk is None:
                random_gamma(way, key, pair, n_topics, gamma)
            else:
                gamma_of_counts(d, w, given_dk, given_wk, given_k, alpha, beta, n_topics, gamma)
            if len(kept):
                for k in range(len(gamma)):
                    kept[row, k] = gamma[k]
            row += 1
            for k in range(n_topics):
                mean_dk[d, k] += counts[pair] * gamma[k]
                mean_wk[w, k] += counts[pair] * gamma[k]
                mean_k[k] += counts[pair] * gamma[k]


@kernel
def uniform_topics(key, n_tokens, n_topics):
    """(token,) uint16: one topic per token, each with the same probability."""
    topics = np.empty(n_tokens, np.uint16)
    for token in range(n_tokens):
        topics[token] = np.int64(uniform(key, token) * n_topics)
    return topics


@kernel
def topics_of_counts(indptr, words, counts, tokens_before, key, given_dk, given_wk, given_k, alpha, beta, n_topics, topics):
    """Draws every token's topic from the responsibility of its pair given counts."""
    gamma = np.zeros(n_topics)
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            gamma_of_counts(d, words[pair], given_dk, given_wk, given_k, alpha, beta, n_topics, gamma)
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                rest, k = uniform(key, token), np.int64(0)
                while k < n_topics - 1 and rest >= gamma[k]:
                    rest -= gamma[k]
                    k += 1
                topics[token] = k
