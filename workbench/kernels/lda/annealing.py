"""Annealed sampling of a hybrid's sampled tokens z, given the expected counts m of its other tokens; for the hybrid's bound.

    exp L(m + c(z)) / exp L(m)  =  p(z; alpha + m_dk)  p(w | z; beta + m_wk)

c(z) are the counts of z. Both factors are Polya urns, so tokens can be added one after another, and an assignment can be drawn
from the first factor exactly. Annealing raises the second, the word factor, from power 0 to 1:

    p_t(z_i = k | z_-i)  ~  (alpha_k + n_dk) ( (beta + n_wk) / (W beta + n_k) )^t           spec A.9, 2

with n = m + c without token i. Arrays are those of `workbench.kernels.lda.gibbs`; only tokens of the
sampled pairs are drawn, and a token's uniform depends on its canonical number alone.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.lda.gibbs import ENDS, count_token, draw_from, draw_pair, inverse_sizes
from workbench.kernels.simd.vectors import LANES, doubles, load, spread, store
from workbench.kernels.uniforms import uniform


@kernel
def draw_from_urn(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    sampled,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    mean_dk: np.ndarray,
    alpha,
    n_topics: int,
    key: np.uint64,
) -> None:
    """Draw the topics of the sampled tokens of documents first..last from a Polya urn, and add the tokens to the counts.

    The counts must not contain them yet. p(z_i = k) ~ alpha_k + m_dk + c_dk, with c_dk of the tokens drawn before.
    """
    for d in range(first, last):
        total = alpha[:n_topics].sum() + mean_dk[d, :n_topics].sum()
        for pair in range(indptr[d], indptr[d + 1]):
            if not sampled[pair]:
                continue
            for token in range(tokens_before[pair], tokens_before[pair + 1]):
                target, running_sum, new = (
                    uniform(key, token) * total,
                    alpha[0] + (mean_dk[d, 0] + n_dk[d, 0]),
                    np.int64(0),
                )
                while new < n_topics - 1 and running_sum <= target:
                    new += 1
                    running_sum += alpha[new] + (mean_dk[d, new] + n_dk[d, new])
                topics[token] = new
                count_token(new, 1, n_dk[d], n_wk[words[pair]], n_k)
                total += 1.0


@kernel
def power_words(
    first: int, last: int, n_wk: np.ndarray, mean_wk: np.ndarray, beta, power, n_topics: int, powers
) -> None:
    """Fill powers (word, topic) of words first..last with (beta + m_wk + c_wk)^power: m expected, c sampled counts."""
    for w in range(first, last):
        for k in range(n_topics):
            powers[w, k] = (beta + (mean_wk[w, k] + n_wk[w, k])) ** power


@kernel
def draw_annealed(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    sampled,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    alpha,
    beta,
    n_topics: int,
    power,
    powers,
    key: np.uint64,
) -> None:
    """Draw the topics of the sampled tokens of documents first..last once, with the word factor raised to `power`.

    `powers` is from `power_words` and is updated: a token changes two of its entries.
    """
    words_beta = len(n_wk) * beta
    lanes = len(n_k)
    sizes, cumulative, ends = np.zeros(lanes), np.empty(lanes), np.zeros(ENDS)
    for k in range(n_topics):
        sizes[k] = (words_beta + (mean_k[k] + n_k[k])) ** -power
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            if not sampled[pair]:
                continue
            w = words[pair]
            for token in range(tokens_before[pair], tokens_before[pair + 1]):
                old = np.int64(topics[token])
                count_token(old, -1, n_dk[d], n_wk[w], n_k)
                with_token = powers[w, old], sizes[old]
                powers[w, old] = (beta + (mean_wk[w, old] + n_wk[w, old])) ** power
                sizes[old] = (words_beta + (mean_k[old] + n_k[old])) ** -power
                sums = spread(0.0)
                for i in range(0, lanes, LANES):
                    a = load(alpha, i) + (
                        load(mean_dk, d * lanes + i) + doubles(load(n_dk, d * lanes + i))
                    )
                    sums += a * (load(powers, w * lanes + i) * load(sizes, i))
                    store(cumulative, i, sums)
                new = draw_from(sums, cumulative, ends, uniform(key, token))
                topics[token] = new
                count_token(new, 1, n_dk[d], n_wk[w], n_k)
                if new == old:
                    powers[w, old], sizes[old] = with_token
                else:
                    powers[w, new] = (beta + (mean_wk[w, new] + n_wk[w, new])) ** power
                    sizes[new] = (words_beta + (mean_k[new] + n_k[new])) ** -power


@kernel
def log_word_factor(
    first: int, last: int, n_wk: np.ndarray, mean_wk: np.ndarray, beta, n_topics: int
):
    """Return the part of words first..last in log p(w | z), where the prior of n_wk is beta plus the expected count.

    The sum of lnG(beta + m + c) - lnG(beta + m), for expected counts m and sampled counts c.
    """
    total = 0.0
    for w in range(first, last):
        for k in range(n_topics):
            if n_wk[w, k] != 0:
                prior = beta + mean_wk[w, k]
                total += math.lgamma(prior + n_wk[w, k]) - math.lgamma(prior)
    return total


@kernel
def log_size_factor(n_k: np.ndarray, mean_k: np.ndarray, words_beta: float, n_topics: int):
    """Return the part of topic sizes in log p(w | z), where the prior of n_k is W beta plus the expected count.

    The sum over topics of lnG(W beta + m_k) - lnG(W beta + m_k + c_k).
    """
    total = 0.0
    for k in range(n_topics):
        total += math.lgamma(words_beta + mean_k[k]) - math.lgamma(
            words_beta + (mean_k[k] + n_k[k])
        )
    return total


@kernel
def draw_and_weigh(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    sampled,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    alpha,
    beta,
    n_topics: int,
    key: np.uint64,
    sampled_before,
    marginals,
):
    """Draw topics as `gibbs.draw_topics` does, and add p(z_i | z_-i) of each token to `marginals` (token, topic).

    Returns the sum of their entropies, sum_i H[p(z_i | z_-i)], in nats.
    """
    words_beta = len(n_wk) * beta
    inverse = inverse_sizes(n_k, mean_k, words_beta, 0)
    cumulative, ends = np.empty(len(n_k)), np.zeros(ENDS)
    entropies = 0.0
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            if not sampled[pair]:
                continue
            w = words[pair]
            for copy in range(counts[pair]):
                draw_pair(
                    tokens_before[pair] + copy,
                    1,
                    key,
                    topics,
                    n_dk[d],
                    n_wk[w],
                    n_k,
                    mean_dk[d],
                    mean_wk[w],
                    mean_k,
                    alpha,
                    beta,
                    words_beta,
                    inverse,
                    cumulative,
                    ends,
                )
                total, row = cumulative[-LANES:].sum(), marginals[sampled_before[pair] + copy]
                for k in range(n_topics):
                    p = (cumulative[k] - (cumulative[k - LANES] if k >= LANES else 0.0)) / total
                    row[k] += p
                    if p > 0.0:
                        entropies -= p * math.log(p)
    return entropies


@kernel
def entropy_of_rows(rows):
    """Return the sum, over rows, of the entropy of the normalised row, in nats."""
    entropies = 0.0
    for i in range(len(rows)):
        total = 0.0
        for k in range(rows.shape[1]):
            total += rows[i, k]
        for k in range(rows.shape[1]):
            p = rows[i, k] / total
            if p > 0.0:
                entropies -= p * math.log(p)
    return entropies
