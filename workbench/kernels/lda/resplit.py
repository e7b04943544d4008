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
from workbench.kernels.simd.lanes import LANES
from workbench.kernels.simd.reductions import total
from workbench.kernels.simd.special import log_gamma_trigamma
from workbench.kernels.simd.vectors import doubles, load, spread, store
from workbench.kernels.uniforms import uniform


@lean
def trigammas(first, last, prior, counts, found):
    """psi'(prior_k + n_rk) of rows first..last; the prior is above 0 in the padding too."""
    for row in range(first, last):
        for k in range(0, counts.shape[1], LANES):
            at = row * counts.shape[1] + k
            store(found, at, log_gamma_trigamma(load(prior, k) + load(counts, at))[1])


@inlined
def expected_of_pair(d, w, row, count, kept, document_factors, word_factors, n_topics, own):
    """own_k = n gamma_k of an averaged pair, from its row of responsibilities, or of their weights where none are kept."""
    n_padded = len(own)
    if len(kept):
        for k in range(0, n_padded, LANES):
            store(own, k, float(count) * doubles(load(kept, row * n_padded + k)))
        return
    (document_logs, document_weights), (word_logs, word_weights) = document_factors, word_factors
    sums = spread(0.0)
    for k in range(0, n_padded, LANES):
        weight = load(document_weights, d * n_padded + k) * load(word_weights, w * n_padded + k)
        store(own, k, weight)
        sums += weight
    normaliser = total(sums)
    if normaliser < TINY:
        log_domain_gamma(d, document_logs, document_weights, w, word_logs, word_weights, n_topics, own)
        normaliser = 1.0
    scale = float(count) / normaliser
    for k in range(0, n_padded, LANES):
        store(own, k, load(own, k) * scale)


@inlined
def sampled_of_pair(first_token, count, topics, own):
    """own_k = how many of the tokens of a sampled pair are in each topic."""
    own[:] = 0.0
    for token in range(first_token, first_token + count):
        own[topics[np.uint64(token)]] += 1.0


@inlined
def conditional_weight(k, d, w, own, totals, alpha, beta, words_beta):
    """q of sixteen topics from k on, up to a factor: the conditional of a token, all counts of its pair taken out."""
    n_dk, n_wk, n_k = totals
    c, n_padded = load(own, k), len(own)
    a = load(alpha, k) + max(load(n_dk, d * n_padded + k) - c, 0.0)
    b = beta + max(load(n_wk, w * n_padded + k) - c, 0.0)
    return a * b / (words_beta + max(load(n_k, k) - c, 0.0))


@kernel
def gaps(
    first, last, indptr, words, counts, tokens_before, sampled, rows, kept, document_factors, word_factors, topics, totals,
    curves, alpha, beta, n_topics, found,
):
    """g of the pairs of documents first..last that count at least 2, to `found` (pair,); 0 of the others.

    totals and curves: (document, topic), (word, topic) and (topic,) padded, of the counts and of their psi'; alpha is 0 in
    the padding. rows (pair,): the row of an averaged pair in `kept`, which has none where responsibilities are weights.
    """
    n_padded, words_beta = len(totals[2]), len(totals[1]) * beta
    own, (curve_dk, curve_wk, curve_k) = np.zeros(n_padded), curves
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            n, w = counts[pair], np.int64(words[pair])
            found[pair] = 0.0
            if n < 2:
                continue
            if sampled[pair]:
                sampled_of_pair(tokens_before[pair], n, topics, own)
            else:
                expected_of_pair(d, w, rows[pair], n, kept, document_factors, word_factors, n_topics, own)
            sums = curved = squares = spread(0.0)
            for k in range(0, n_padded, LANES):
                q = conditional_weight(k, d, w, own, totals, alpha, beta, words_beta)
                curve = q * (load(curve_dk, d * n_padded + k) + load(curve_wk, w * n_padded + k) - load(curve_k, k))
                sums += q
                curved += curve
                squares += q * curve
            inverse = 1.0 / total(sums)
            found[pair] = 0.5 * n * inverse * (total(curved) - inverse * total(squares))


@kernel
def uniforms_of(key, n):
    """(n,) the uniform of each index."""
    found = np.empty(n)
    for i in range(n):
        found[i] = uniform(key, i)
    return found


@kernel
def change_sides(
    indptr, words, counts, tokens_before, before, after, rows, kept, document_factors, word_factors, key, n_topics,
    topics, n_dk, n_wk, n_k,
):
    """Tokens of pairs that come to be sampled are drawn from their responsibilities, and those of others are taken out.

    before, after (pair,): what is sampled; the counts are of sampled tokens alone.
    """
    own = np.zeros(n_wk.shape[1])
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if before[pair] == after[pair]:
                continue
            w = np.int64(words[pair])
            if after[pair]:
                expected_of_pair(d, w, rows[pair], counts[pair], kept, document_factors, word_factors, n_topics, own)
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                if after[pair]:
                    rest, k = uniform(key, token) * counts[pair], np.int64(0)
                    while k < n_topics - 1 and rest >= own[k]:
                        rest -= own[k]
                        k += 1
                    topics[token] = k
                count_token(topics[token], 1 if after[pair] else -1, n_dk[d], n_wk[w], n_k)


@kernel
def kept_after(
    indptr, words, counts, tokens_before, before, after, rows, kept, topics, totals, alpha, beta, new
):
    """Responsibilities under another split: the same where a pair stays averaged, else the conditional of its tokens."""
    n_padded, words_beta, to = len(totals[2]), len(totals[1]) * beta, 0
    own = np.zeros(n_padded)
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if after[pair]:
                continue
            if not before[pair]:
                new[to] = kept[rows[pair]]
            else:
                w, sums = np.int64(words[pair]), spread(0.0)
                sampled_of_pair(tokens_before[pair], counts[pair], topics, own)
                for k in range(0, n_padded, LANES):
                    q = conditional_weight(k, d, w, own, totals, alpha, beta, words_beta)
                    store(new, to * n_padded + k, q)
                    sums += q
                inverse = 1.0 / total(sums)
                for k in range(n_padded):
                    new[to, k] *= inverse
            to += 1
