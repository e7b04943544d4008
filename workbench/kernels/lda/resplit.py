"""The split of a hybrid of LDA into averaged and sampled pairs: the cost of averaging a pair, and changes of the split.

In a hybrid each pair is either averaged (variational) or sampled. An averaged pair with n tokens adds to the gap of Jensen's
inequality, to second order,

    g  =  n / 2 sum_k q_k (1 - q_k) { psi'(alpha_k + n_dk) + psi'(beta + n_wk) - psi'(W beta + n_k) }

    q_k  ~  (alpha_k + n_dk - c_k) (beta + n_wk - c_k) / (W beta + n_k - c_k)

with c the expected or sampled counts of the pair itself. n_dk, n_wk and n_k are expected counts plus sampled counts of the
first chain.
"""

import numpy as np

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.lda.gibbs import count_token
from workbench.kernels.lda.standard_vb import TINY, log_domain_gamma
from workbench.kernels.simd.functions import NEARLY_NONE, log_gamma_trigamma, total
from workbench.kernels.simd.functions import totals as totals_of
from workbench.kernels.simd.vectors import LANES, doubles, lane, load, spread, store
from workbench.kernels.uniforms import uniform


@lean
def trigammas(first: int, last: int, prior, counts: np.ndarray, result) -> None:
    """Compute psi'(prior_k + n_rk) of count rows first..last, a large number where both are 0; padding must be positive."""
    for row in range(first, last):
        for k in range(0, counts.shape[1], LANES):
            index = row * counts.shape[1] + k
            total = max(load(prior, k) + load(counts, index), NEARLY_NONE)
            store(result, index, log_gamma_trigamma(total)[1])


@inlined
def expected_of_pair(
    d,
    w,
    row,
    count,
    gamma,
    document_factors: np.ndarray,
    word_factors: np.ndarray,
    n_topics: int,
    pair_counts,
):
    """Write a pair's unnormalised expected counts to pair_counts (topic,), and return their normalising factor.

    Their product is n gamma_k. gamma is computed from the factors where the responsibilities are not stored.
    """
    n_padded = len(pair_counts)
    if len(gamma):
        for k in range(0, n_padded, LANES):
            store(pair_counts, k, doubles(load(gamma, row * n_padded + k)))
        return float(count)
    (document_logs, document_weights), (word_logs, word_weights) = document_factors, word_factors
    sums = spread(0.0)
    for k in range(0, n_padded, LANES):
        weight = load(document_weights, d * n_padded + k) * load(word_weights, w * n_padded + k)
        store(pair_counts, k, weight)
        sums += weight
    normaliser = total(sums)
    if normaliser < TINY:
        log_domain_gamma(
            d, document_logs, document_weights, w, word_logs, word_weights, n_topics, pair_counts
        )
        normaliser = 1.0
    return float(count) / normaliser


@inlined
def sampled_of_pair(first_token, count, topics: np.ndarray, pair_counts) -> None:
    """Count the tokens of a sampled pair by topic, into pair_counts (topic,)."""
    pair_counts[:] = 0.0
    for token in range(first_token, first_token + count):
        pair_counts[topics[np.uint64(token)]] += 1.0


@inlined
def conditional_weight(k, d, w, pair_counts, scale, totals, alpha, beta, words_beta: float):
    """Return the unnormalised conditional probability of each of sixteen topics from k on, with the pair's counts removed."""
    n_dk, n_wk, n_k = totals
    c, n_padded = load(pair_counts, k) * scale, len(pair_counts)
    a = load(alpha, k) + max(load(n_dk, d * n_padded + k) - c, 0.0)
    b = beta + max(load(n_wk, w * n_padded + k) - c, 0.0)
    return a * b / (words_beta + max(load(n_k, k) - c, 0.0))


@lean
def gaps(
    first: int,
    last: int,
    run_words,
    run_begins,
    documents: np.ndarray,
    counts: np.ndarray,
    pairs,
    tokens_before: np.ndarray,
    sampled,
    rows,
    gamma,
    document_factors: np.ndarray,
    word_factors: np.ndarray,
    topics: np.ndarray,
    totals,
    curves,
    alpha,
    beta,
    n_topics: int,
    pair_counts,
    result,
) -> None:
    """Write g / (n - 1) to result (place,), for the Jensen gap g of each pair of n >= 2 tokens in runs first..last.

    run_words (run,), run_begins (run + 1,), documents, counts and pairs (place,) : see `split.Blocks`
    totals, curves : the counts, and psi' of them, each (document, topic), (word, topic) and (topic,) padded
    rows (pair,) : the row of an averaged pair in `gamma`, which is empty where responsibilities are not stored
    alpha : 0 in the padding
    """
    n_padded, words_beta, (curve_dk, curve_wk, curve_k) = (
        len(pair_counts),
        len(totals[1]) * beta,
        curves,
    )
    for run in range(first, last):
        w = np.int64(run_words[run])
        for index in range(run_begins[run], run_begins[run + 1]):
            n, d, pair = counts[index], np.int64(documents[index]), pairs[index]
            if n < 2:
                continue
            scale = 1.0
            if sampled[pair]:
                sampled_of_pair(tokens_before[pair], n, topics, pair_counts)
            else:
                row = rows[pair] if len(gamma) else 0
                scale = expected_of_pair(
                    d, w, row, n, gamma, document_factors, word_factors, n_topics, pair_counts
                )
            sums = curved = squares = spread(0.0)
            for k in range(0, n_padded, LANES):
                q = conditional_weight(k, d, w, pair_counts, scale, totals, alpha, beta, words_beta)
                curve = q * (
                    load(curve_dk, d * n_padded + k)
                    + load(curve_wk, w * n_padded + k)
                    - load(curve_k, k)
                )
                sums += q
                curved += curve
                squares += q * curve
            moments = totals_of(sums, curved, squares, sums)
            inverse = 1.0 / lane(moments, 0)
            result[index] = max(
                0.5 * n / (n - 1) * inverse * (lane(moments, 1) - inverse * lane(moments, 2)), 0.0
            )


@kernel
def uniforms_of(key: np.uint64, pairs):
    """Return one uniform for each document-word pair in `pairs`, determined by the key and the pair's index alone."""
    result = np.empty(len(pairs))
    for i in range(len(pairs)):
        result[i] = uniform(key, max(pairs[i], 0))
    return result


@lean
def change_sides(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    was_sampled,
    is_sampled,
    rows,
    gamma,
    document_factors: np.ndarray,
    word_factors: np.ndarray,
    key: np.uint64,
    n_topics: int,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    pair_counts,
) -> None:
    """Draw and count topics of tokens of pairs that become sampled; remove tokens of pairs that cease to be sampled.

    was_sampled, is_sampled (pair,) : whether a pair was, and is, sampled; n_dk, n_wk, n_k : the counts of sampled tokens;
    updated
    """
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if was_sampled[pair] == is_sampled[pair]:
                continue
            w, scale = np.int64(words[pair]), 1.0
            if is_sampled[pair]:
                row = rows[pair] if len(gamma) else 0
                scale = expected_of_pair(
                    d,
                    w,
                    row,
                    counts[pair],
                    gamma,
                    document_factors,
                    word_factors,
                    n_topics,
                    pair_counts,
                )
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                if is_sampled[pair]:
                    rest, k = uniform(key, token) * counts[pair], np.int64(0)
                    while k < n_topics - 1 and rest >= pair_counts[k] * scale:
                        rest -= pair_counts[k] * scale
                        k += 1
                    topics[token] = k
                count_token(topics[token], 1 if is_sampled[pair] else -1, n_dk[d], n_wk[w], n_k)


@kernel
def fill_gamma(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    was_sampled,
    is_sampled,
    rows,
    gamma,
    topics: np.ndarray,
    totals,
    alpha,
    beta,
    pair_counts,
    new,
) -> None:
    """Fill new (averaged pair, topic) with the responsibilities of all pairs that `is_sampled` does not mark as sampled.

    Pairs that were averaged before keep their responsibilities; others get the conditional of one of their tokens.
    """
    n_padded, words_beta, position = len(totals[2]), len(totals[1]) * beta, 0
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if is_sampled[pair]:
                continue
            if not was_sampled[pair]:
                new[position] = gamma[rows[pair]]
            else:
                w, sums = np.int64(words[pair]), spread(0.0)
                sampled_of_pair(tokens_before[pair], counts[pair], topics, pair_counts)
                for k in range(0, n_padded, LANES):
                    q = conditional_weight(
                        k, d, w, pair_counts, 1.0, totals, alpha, beta, words_beta
                    )
                    store(new, position * n_padded + k, q)
                    sums += q
                inverse = 1.0 / total(sums)
                for k in range(n_padded):
                    new[position, k] *= inverse
            position += 1
