"""What averaging a pair costs, and pairs that change sides between averaging and sampling, in a hybrid of LDA.

A pair with n tokens that is averaged adds to the gap of Jensen's inequality, to second order,

    g  =  n / 2 sum_k q_k (1 - q_k) { psi'(alpha_k + n_dk) + psi'(beta + n_wk) - psi'(W beta + n_k) }

    q_k  ~  (alpha_k + n_dk - c_k) (beta + n_wk - c_k) / (W beta + n_k - c_k)

with c its own n counts, expected or sampled. Counts n are expected plus sampled, of the first chain.
"""

import numpy as np

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.lda.gibbs import count_token
from workbench.kernels.lda.standard_vb import TINY, log_domain_gamma
from workbench.kernels.simd.functions import log_gamma_trigamma, total
from workbench.kernels.simd.functions import totals as totals_of
from workbench.kernels.simd.vectors import LANES, doubles, lane, load, spread, store
from workbench.kernels.uniforms import uniform


@lean
def trigammas(first: int, last: int, prior, counts: np.ndarray, result) -> None:
    """Compute psi'(prior_k + n_rk) of rows first..last; the prior is above 0 in the padding too."""
    for row in range(first, last):
        for k in range(0, counts.shape[1], LANES):
            place = row * counts.shape[1] + k
            store(result, place, log_gamma_trigamma(load(prior, k) + load(counts, place))[1])


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
    of_pair,
):
    """Return own_k, and what to multiply them by.

    n gamma_k of an averaged pair, from its responsibilities, or their weights.
    """
    n_padded = len(of_pair)
    if len(gamma):
        for k in range(0, n_padded, LANES):
            store(of_pair, k, doubles(load(gamma, row * n_padded + k)))
        return float(count)
    (document_logs, document_weights), (word_logs, word_weights) = document_factors, word_factors
    sums = spread(0.0)
    for k in range(0, n_padded, LANES):
        weight = load(document_weights, d * n_padded + k) * load(word_weights, w * n_padded + k)
        store(of_pair, k, weight)
        sums += weight
    normaliser = total(sums)
    if normaliser < TINY:
        log_domain_gamma(
            d, document_logs, document_weights, w, word_logs, word_weights, n_topics, of_pair
        )
        normaliser = 1.0
    return float(count) / normaliser


@inlined
def sampled_of_pair(first_token, count, topics: np.ndarray, of_pair) -> None:
    """Compute own_k = how many of the tokens of a sampled pair are in each topic."""
    of_pair[:] = 0.0
    for token in range(first_token, first_token + count):
        of_pair[topics[np.uint64(token)]] += 1.0


@inlined
def conditional_weight(k, d, w, of_pair, scale, totals, alpha, beta, words_beta: float):
    """Return q of sixteen topics from k on, up to a factor: the conditional of a token, all counts of its pair taken out."""
    n_dk, n_wk, n_k = totals
    c, n_padded = load(of_pair, k) * scale, len(of_pair)
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
    of_row,
    result,
) -> None:
    """Compute g / (n - 1) of the pairs of the runs first..last that count at least 2, to `result` (place,).

    run_words (run,), run_begins (run + 1,), documents and counts (place,): see `split.Blocks`; pairs (place,). totals and
    curves: (document, topic), (word, topic) and (topic,) padded, of the counts and of their psi'; alpha is 0 in the padding.
    rows (pair,): the row of an averaged pair in `gamma`, which has none where responsibilities are weights.
    """
    n_padded, words_beta, (curve_dk, curve_wk, curve_k) = len(of_row), len(totals[1]) * beta, curves
    for run in range(first, last):
        w = np.int64(run_words[run])
        for place in range(run_begins[run], run_begins[run + 1]):
            n, d, pair = counts[place], np.int64(documents[place]), pairs[place]
            if n < 2:
                continue
            scale = 1.0
            if sampled[pair]:
                sampled_of_pair(tokens_before[pair], n, topics, of_row)
            else:
                row = rows[pair] if len(gamma) else 0
                scale = expected_of_pair(
                    d, w, row, n, gamma, document_factors, word_factors, n_topics, of_row
                )
            sums = curved = squares = spread(0.0)
            for k in range(0, n_padded, LANES):
                q = conditional_weight(k, d, w, of_row, scale, totals, alpha, beta, words_beta)
                curve = q * (
                    load(curve_dk, d * n_padded + k)
                    + load(curve_wk, w * n_padded + k)
                    - load(curve_k, k)
                )
                sums += q
                curved += curve
                squares += q * curve
            of_pair = totals_of(sums, curved, squares, sums)
            inverse = 1.0 / lane(of_pair, 0)
            result[place] = max(
                0.5 * n / (n - 1) * inverse * (lane(of_pair, 1) - inverse * lane(of_pair, 2)), 0.0
            )


@kernel
def uniforms_of(key: np.uint64, pairs):
    """Return (place,) the uniform of each pair."""
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
    before,
    after,
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
    of_pair,
) -> None:
    """Draw tokens of pairs that come to be sampled from their responsibilities, and take those of others out of the counts.

    before, after (pair,): what is sampled; the counts are of sampled tokens alone.
    """
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if before[pair] == after[pair]:
                continue
            w, scale = np.int64(words[pair]), 1.0
            if after[pair]:
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
                    of_pair,
                )
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                if after[pair]:
                    rest, k = uniform(key, token) * counts[pair], np.int64(0)
                    while k < n_topics - 1 and rest >= of_pair[k] * scale:
                        rest -= of_pair[k] * scale
                        k += 1
                    topics[token] = k
                count_token(topics[token], 1 if after[pair] else -1, n_dk[d], n_wk[w], n_k)


@kernel
def kept_after(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    before,
    after,
    rows,
    gamma,
    topics: np.ndarray,
    totals,
    alpha,
    beta,
    of_pair,
    new,
) -> None:
    """Compute responsibilities under another split.

    The same where a pair stays averaged, else the conditional of its tokens.
    """
    n_padded, words_beta, to = len(totals[2]), len(totals[1]) * beta, 0
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if after[pair]:
                continue
            if not before[pair]:
                new[to] = gamma[rows[pair]]
            else:
                w, sums = np.int64(words[pair]), spread(0.0)
                sampled_of_pair(tokens_before[pair], counts[pair], topics, of_pair)
                for k in range(0, n_padded, LANES):
                    q = conditional_weight(k, d, w, of_pair, 1.0, totals, alpha, beta, words_beta)
                    store(new, to * n_padded + k, q)
                    sums += q
                inverse = 1.0 / total(sums)
                for k in range(n_padded):
                    new[to, k] *= inverse
            to += 1
