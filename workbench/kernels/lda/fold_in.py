"""Inference of theta for unseen documents given fixed topics (CVB0 or Gibbs sampling), and the probabilities of their words.

    CVB0    gamma_wk ~ phi_wk (alpha_k + n_k - gamma_wk),                         theta = (alpha + n) / (A + N)
    Gibbs   p(z = k) ~ phi_wk (alpha_k + n_k^-),                       theta = mean of (alpha + n) / (A + N)    spec B.4

gamma_wk is shared by the n_w tokens of a word; CVB0 removes one of them from the counts (spec A.6). Both start with the tokens
of the document divided evenly among the topics, n_k = N / K, as variational Bayes does (`document_vb.fit_documents`). Documents
are independent. Without tokens theta is the prior mean alpha / A.
"""

import numpy as np

from workbench.kernels.jit import inlined, kernel
from workbench.kernels.uniforms import absorb, uniform

TOLERANCE = 1e-6
"""A document has converged when the mean change of its counts over the topics, in tokens, is below this."""
MOST_PASSES = 1000
"""Limit of the number of passes over a document."""


@kernel
def collapsed_theta(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    phi: np.ndarray,
    alpha,
    theta: np.ndarray,
) -> None:
    """Compute theta (document, topic) of documents first..last by CVB0, given phi (word, topic)."""
    n_topics, most_pairs = len(alpha), np.diff(indptr[first : last + 1]).max()
    gamma, n_k, old_k = np.empty((most_pairs, n_topics)), np.empty(n_topics), np.empty(n_topics)
    for d in range(first, last):
        begin, n_pairs = indptr[d], indptr[d + 1] - indptr[d]
        n_tokens = np.int64(0)
        for i in range(n_pairs):
            n_tokens += counts[begin + i]
        gamma[:n_pairs], n_k[:] = 0.0, n_tokens / n_topics
        for iteration in range(MOST_PASSES + 1):
            old_k[:] = n_k
            for i in range(n_pairs):
                row, count, p = gamma[i], counts[begin + i], phi[words[begin + i]]
                total = 0.0
                for k in range(n_topics):
                    total += p[k] * (alpha[k] + max(n_k[k] - row[k], 0.0))
                for k in range(n_topics):
                    new = p[k] * (alpha[k] + max(n_k[k] - row[k], 0.0)) / total
                    if iteration > 0:
                        n_k[k] += count * (new - row[k])
                    row[k] = new
            if iteration == 0:
                for k in range(n_topics):
                    n_k[k] = 0.0
                    for i in range(n_pairs):
                        n_k[k] += counts[begin + i] * gamma[i, k]
                continue
            change = 0.0
            for k in range(n_topics):
                change += abs(n_k[k] - old_k[k])
            if change < TOLERANCE * n_topics:
                break
        write_mean(alpha, n_k, n_tokens, theta[d])


@inlined
def draw_topic(p, alpha, n_k: np.ndarray, cumulative: np.ndarray, u):
    """Return a topic drawn with weights p_k (alpha_k + n_k) by the uniform u, and the sum of the weights."""
    total = 0.0
    for k in range(len(alpha)):
        total += p[k] * (alpha[k] + n_k[k])
        cumulative[k] = total
    target, new = u * total, np.int64(0)
    while new < len(alpha) - 1 and cumulative[new] <= target:
        new += 1
    return new, total


@kernel
def sampled_theta(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    phi: np.ndarray,
    alpha,
    theta: np.ndarray,
    tokens_before: np.ndarray,
    burn_in: int,
    n_kept: int,
    key: np.uint64,
) -> None:
    """Compute theta (document, topic) of documents first..last by Gibbs sampling, given phi (word, topic).

    theta is the mean over `n_kept` sweeps after `burn_in` sweeps. A draw's uniform depends on the number of the token and of
    the sweep, so documents may be visited in any order.
    """
    n_topics, most_tokens = len(alpha), np.diff(tokens_before[indptr[first : last + 1]]).max()
    topics = np.empty(most_tokens, np.uint16)
    n_k, total_k, cumulative = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    even = np.empty(n_topics)
    for d in range(first, last):
        first_token = tokens_before[indptr[d]]
        n_tokens = tokens_before[indptr[d + 1]] - first_token
        n_k[:], total_k[:], even[:] = 0.0, 0.0, n_tokens / n_topics
        for sweep in range(1 + burn_in + n_kept):
            sweep_key = absorb(key, sweep)
            for pair in range(indptr[d], indptr[d + 1]):
                p = phi[words[pair]]
                for token in range(tokens_before[pair], tokens_before[pair + 1]):
                    if sweep > 0:
                        n_k[topics[token - first_token]] -= 1.0
                    other_counts = n_k if sweep > 0 else even
                    new, _ = draw_topic(
                        p, alpha, other_counts, cumulative, uniform(sweep_key, token)
                    )
                    topics[token - first_token] = new
                    n_k[new] += 1.0
            if sweep > burn_in:
                for k in range(n_topics):
                    total_k[k] += n_k[k] / n_kept
        write_mean(alpha, total_k, n_tokens, theta[d])


@kernel
def numbers_of_words(indptr: np.ndarray, words: np.ndarray, counts: np.ndarray, numbers) -> None:
    """Fill numbers (document,) with a hash of each document's words and counts, from 0 to 2^62."""
    for d in range(len(numbers)):
        bits = np.uint64(0)
        for pair in range(indptr[d], indptr[d + 1]):
            bits = absorb(absorb(bits, words[pair]), counts[pair])
        numbers[d] = np.int64(bits >> np.uint64(2))


@kernel
def write_mean(alpha, n_k: np.ndarray, n_tokens, theta: np.ndarray) -> None:
    """Compute theta_k = (alpha_k + n_k) / (A + N) of one document."""
    size = 0.0
    for prior in alpha:
        size += prior
    scale = 1.0 / (size + n_tokens)
    for k in range(len(alpha)):
        theta[k] = (alpha[k] + n_k[k]) * scale


@kernel
def mixture(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    theta: np.ndarray,
    phi: np.ndarray,
    probability: np.ndarray,
) -> None:
    """Compute p(w | d) = sum_k theta_dk phi_wk of each document-word pair of documents first..last; phi (word, topic)."""
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            total = 0.0
            for k in range(theta.shape[1]):
                total += theta[d, k] * phi[words[pair], k]
            probability[pair] = total
