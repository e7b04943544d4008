"""Documents fitted one by one to topics that stand still: the E-step of variational EM, and folding in.

    gamma_dwk  ~  exp{ psi(alpha_k + n_dk) + l_wk },   n_dk = sum_w n_dw gamma_dwk,   repeated      spec A.2, B.4

l_wk is E[log phi_kw] of a Dirichlet posterior, or log phi_kw of a point. gamma factorises into a
document weight and a word weight and is not stored: from the weights behind the last gamma of each
document the word pass computes it again. Where exp(psi) leaves the range of doubles, a pair is
normalised in the log domain.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.special import digamma, exp_digamma, fast_exp, normalise_logs

TINY = 1e-100
"""A normaliser below this is recomputed in the log domain."""


@kernel
def weigh_words(first, last, mean_wk, mean_k, beta, point, n_topics, log_weights, weights):
    """l_wk and exp(l_wk) of words first..last, from their expected counts; 0 for padding topics."""
    words_beta = mean_wk.shape[0] * beta
    for k in range(n_topics):
        size = math.log(words_beta + mean_k[k]) if point else digamma(words_beta + mean_k[k])
        for w in range(first, last):
            x = beta + mean_wk[w, k]
            log_weights[w, k] = (math.log(x) if point else digamma(x)) - size
    for w in range(first, last):
        for k in range(n_topics):
            weights[w, k] = fast_exp(log_weights[w, k])


@kernel
def log_domain_gamma(alpha, n_dk, log_weights, n_topics, gamma):
    """gamma of one pair by log-sum-exp from its rows; returns its log normaliser."""
    for k in range(n_topics):
        gamma[k] = digamma(alpha[k] + n_dk[k]) + log_weights[k]
    return normalise_logs(n_topics, gamma)


@kernel
def update_document(
    first, last, words, counts, alpha, log_weights, weights, n_topics, used, document_weights, ratios, gamma, new
):
    """One pass over pairs first..last of a document: new n_dk from the counts `used`; a ratio of NaN marks the log domain."""
    n_padded = len(new)
    for k in range(n_padded):
        document_weights[k] = exp_digamma(alpha[k] + used[k])
        new[k] = 0.0
    by_logs = False
    for pair in range(first, last):
        word_weights = weights[words[pair]]
        normaliser = 0.0
        for k in range(n_padded):
            normaliser += document_weights[k] * word_weights[k]
        if normaliser < TINY:
            ratios[pair] = np.nan
            by_logs = True
            continue
        ratio = counts[pair] / normaliser
        ratios[pair] = ratio
        for k in range(n_padded):
            new[k] += ratio * word_weights[k]
    for k in range(n_padded):
        new[k] *= document_weights[k]
    if by_logs:
        for pair in range(first, last):
            if np.isnan(ratios[pair]):
                log_domain_gamma(alpha, used, log_weights[words[pair]], n_topics, gamma)
                for k in range(n_topics):
                    new[k] += counts[pair] * gamma[k]


@kernel
def fit_documents(
    first, last, indptr, words, counts, alpha, log_weights, weights, n_topics, most_passes, tolerance,
    mean_dk, used_dk, document_weights, ratios,
):
    """Repeats `update_document` for documents first..last until the mean change of n_dk is below the tolerance.

    `mean_dk` holds the start and then the result, `used_dk` the counts behind the last gamma, `ratios` count /
    normaliser of each pair. Returns (sum n_dw log normaliser of the last pass, pairs visited).
    """
    gamma, new = np.zeros(mean_dk.shape[1]), np.zeros(mean_dk.shape[1])
    log_normalisers, n_visited = 0.0, 0
    for d in range(first, last):
        begin, end = indptr[d], indptr[d + 1]
        for _ in range(most_passes):
            used_dk[d] = mean_dk[d]
            update_document(
                begin, end, words, counts, alpha, log_weights, weights, n_topics, used_dk[d], document_weights[d], ratios,
                gamma, new,
            )
            n_visited += end - begin
            change = 0.0
            for k in range(n_topics):
                change += abs(new[k] - mean_dk[d, k])
            mean_dk[d] = new
            if change < tolerance * n_topics:
                break
        for pair in range(begin, end):
            if np.isnan(ratios[pair]):
                log_normaliser = log_domain_gamma(alpha, used_dk[d], log_weights[words[pair]], n_topics, gamma)
            else:
                log_normaliser = math.log(counts[pair] / ratios[pair])
            log_normalisers += counts[pair] * log_normaliser
    return log_normalisers, n_visited


@kernel
def count_words(
    first, last, word_indptr, documents, pairs, counts, alpha, log_weights, weights, n_topics, used_dk, document_weights,
    ratios, new_wk,
):
    """n_wk = sum_d n_dw gamma_dwk for words first..last, from what `fit_documents` left behind."""
    n_padded = new_wk.shape[1]
    gamma = np.zeros(n_padded)
    for w in range(first, last):
        new = new_wk[w]
        new[:] = 0.0
        by_logs = False
        for i in range(word_indptr[w], word_indptr[w + 1]):
            ratio = ratios[pairs[i]]
            if np.isnan(ratio):
                by_logs = True
                continue
            row = document_weights[documents[i]]
            for k in range(n_padded):
                new[k] += ratio * row[k]
        for k in range(n_padded):
            new[k] *= weights[w, k]
        if by_logs:
            for i in range(word_indptr[w], word_indptr[w + 1]):
                if np.isnan(ratios[pairs[i]]):
                    log_domain_gamma(alpha, used_dk[documents[i]], log_weights[w], n_topics, gamma)
                    for k in range(n_topics):
                        new[k] += counts[pairs[i]] * gamma[k]


@kernel
def log_document_weights(first, last, new, alpha, used_dk, n_topics):
    """sum of new[d, k] psi(alpha_k + used_dk) over documents first..last."""
    total = 0.0
    for d in range(first, last):
        for k in range(n_topics):
            if new[d, k] != 0.0:
                total += new[d, k] * digamma(alpha[k] + used_dk[d, k])
    return total
