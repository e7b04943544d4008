"""The one sampling kernel: topics of tokens drawn from their collapsed conditional.

    p(z_i = k | z_-i, w)  ~  (alpha_k + n_dk) (beta + n_wk) / (W beta + n_k)        spec A6, A8

with token i removed from the counts. The counts are integers, plus, for hybrids, an optional
real-valued mean part that stays as it is (`mean_*` None: no mean part), and the variances of that part
(`var_*` None: none), which multiply the conditional by

    exp{ - V_dk / 2 (alpha_k + n_dk)^2 - V_wk / 2 (beta + n_wk)^2 + V_k / 2 (W beta + n_k)^2 }    spec A.8

Only tokens of pairs with a count up to `threshold` are drawn; the others are passed over. A token's uniform depends on its
canonical number alone, so a Gibbs sampler is the hybrid with an infinite threshold, bit for bit.
"""

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.special import fast_exp
from workbench.kernels.uniforms import uniform

SMALLEST_EXPONENT, LARGEST_EXPONENT = -300.0, 300.0
"""Where second-order factors are cut off, so that some topic always has a weight within the range of doubles."""


@kernel
def draw_pair(
    first_token, n_copies, key, topics, n_dk, n_wk, n_k, mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k,
    alpha, beta, words_beta, inverse, cumulative, n_topics,
):
    """Draws the copies of one pair in turn, given its rows of counts; returns how many changed topic.

    `inverse` holds 1 / (W beta + n_k) and is kept up to date; `cumulative` is scratch.
    """
    n_moved = 0
    for token in range(first_token, first_token + n_copies):
        old = np.int64(topics[token])
        n_dk[old] -= 1
        n_wk[old] -= 1
        n_k[old] -= 1
        total = 0.0
        if mean_k is None:
            inverse[old] = 1.0 / (words_beta + n_k[old])
            for k in range(n_topics):
                total += (alpha[k] + n_dk[k]) * ((beta + n_wk[k]) * inverse[k])
                cumulative[k] = total
        else:
            inverse[old] = 1.0 / (words_beta + (mean_k[old] + n_k[old]))
            for k in range(n_topics):
                a, b = alpha[k] + (mean_dk[k] + n_dk[k]), beta + (mean_wk[k] + n_wk[k])
                weight = a * (b * inverse[k])
                if var_k is not None:
                    exponent = var_k[k] * (inverse[k] * inverse[k]) - var_dk[k] / (a * a) - var_wk[k] / (b * b)
                    weight *= fast_exp(min(max(0.5 * exponent, SMALLEST_EXPONENT), LARGEST_EXPONENT))
                total += weight
                cumulative[k] = total
        target = uniform(key, token) * total
        new = np.int64(0)
        while new < n_topics - 1 and cumulative[new] <= target:
            new += 1
        topics[token] = new
        n_dk[new] += 1
        n_wk[new] += 1
        n_k[new] += 1
        if mean_k is None:
            inverse[new] = 1.0 / (words_beta + n_k[new])
        else:
            inverse[new] = 1.0 / (words_beta + (mean_k[new] + n_k[new]))
        n_moved += new != old
    return n_moved


@kernel
def inverse_sizes(n_k, mean_k, words_beta):
    """1 / (W beta + n_k) for every topic, the mean part included."""
    inverse = np.empty(len(n_k))
    for k in range(len(n_k)):
        inverse[k] = 1.0 / (words_beta + (n_k[k] if mean_k is None else mean_k[k] + n_k[k]))
    return inverse


@kernel
def draw_topics(
    first, last, indptr, words, counts, tokens_before, threshold, topics, n_dk, n_wk, n_k,
    mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k, alpha, beta, n_topics, key,
):
    """Draws, in canonical order, every token of documents first..last whose pair counts at most `threshold`.

    topics (token,) uint16; n_dk (document, topic), n_wk (word, topic) int32 and n_k (topic,) int64 are
    padded and changed in place; returns how many tokens changed topic.
    """
    words_beta = n_wk.shape[0] * beta
    inverse = inverse_sizes(n_k, mean_k, words_beta)
    cumulative = np.empty(len(n_k))
    n_moved = 0
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            if counts[pair] > threshold:
                continue
            w = words[pair]
            if mean_k is None:
                n_moved += draw_pair(
                    tokens_before[pair], counts[pair], key, topics, n_dk[d], n_wk[w], n_k,
                    None, None, None, None, None, None, alpha, beta, words_beta, inverse, cumulative, n_topics,
                )
            elif var_k is None:
                n_moved += draw_pair(
                    tokens_before[pair], counts[pair], key, topics, n_dk[d], n_wk[w], n_k,
                    mean_dk[d], mean_wk[w], mean_k, None, None, None, alpha, beta, words_beta, inverse, cumulative, n_topics,
                )
            else:
                n_moved += draw_pair(
                    tokens_before[pair], counts[pair], key, topics, n_dk[d], n_wk[w], n_k,
                    mean_dk[d], mean_wk[w], mean_k, var_dk[d], var_wk[w], var_k, alpha, beta, words_beta, inverse, cumulative,
                    n_topics,
                )
    return n_moved


@kernel
def count_topics(indptr, words, counts, tokens_before, threshold, topics, n_dk, n_wk, n_k):
    """Adds every token of pairs that count at most `threshold` to the counts of its topic."""
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if counts[pair] <= threshold:
                for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                    k = topics[token]
                    n_dk[d, k] += 1
                    n_wk[words[pair], k] += 1
                    n_k[k] += 1
