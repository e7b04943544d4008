"""The variational update of LDA with collapsed parameters, in both schedules, with optional sampled counts.

    gamma_dwk  ~  exp( <psi(alpha_k + n_dk)> + <psi(beta + n_wk)> - <psi(W beta + n_k)> )    spec A5, A9

n = m + c^s: the expected counts m of the variational pairs plus, in a hybrid, the sampled counts of
chain s; < > is the mean over the chains, in the log domain. Only pairs that count more than
`threshold` are variational. Counts include the pair's own contribution.

In the parallel schedule every gamma comes from the same counts, so gamma factorises into a document
weight and a word weight and is never stored. In the sequential schedule counts follow each pair and
gamma is kept. Where priors are so small that exp(psi) leaves the range of doubles, a pair is
normalised in the log domain instead.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.special import digamma, exp_digamma, exp_digamma_ratio, normalise_logs, shift_sum, shifted_exp_digamma

TINY = 1e-100
"""A normaliser below this is recomputed in the log domain."""


@kernel
def mean_digamma(prior, mean, sampled, row, k):
    """<psi(prior + m + c^s)> of one entry; sampled is (chain, row, topic) or None."""
    if sampled is None:
        return digamma(prior + mean)
    total = 0.0
    for s in range(sampled.shape[0]):
        total += digamma(prior + (mean + sampled[s, row, k]))
    return total / sampled.shape[0]


@kernel
def weigh_row(prior, mean, sampled, row, shift, scale, weights):
    """weights[k] = exp(<psi(prior_k + m_k + c^s_k)> + shift[k]) * scale[k] for one row of counts.

    The shift goes inside the exponential: exp(psi) of the size of a nearly empty topic may underflow where
    its ratio to that of a word does not.
    """
    n_padded = len(weights)
    if sampled is None:
        for k in range(n_padded):
            weights[k] = exp_digamma(prior[k] + mean[k], shift[k]) * scale[k]
    elif sampled.shape[0] == 1:
        for k in range(n_padded):
            weights[k] = exp_digamma(prior[k] + (mean[k] + sampled[0, row, k]), shift[k]) * scale[k]
    else:
        for k in range(n_padded):
            log_weight = mean_digamma(prior[k], mean[k], sampled, row, k)
            weights[k] = math.exp(log_weight + shift[k]) * scale[k]


@kernel
def weigh_rows(first, last, prior, mean, sampled, shift, scale, weights):
    """`weigh_row` for rows first..last."""
    for row in range(first, last):
        weigh_row(prior, mean[row], sampled, row, shift, scale, weights[row])


@kernel
def inverse_weights(prior, mean, sampled, live, shift, scale):
    """shift and scale that divide by exp<psi(prior_k + m_k + c^s_k)>; the scale of a padding topic is 0."""
    for k in range(len(scale)):
        n_chains = 1 if sampled is None else sampled.shape[0]
        shift[k], log_scale = 0.0, 0.0
        for s in range(n_chains):
            x = prior[k] + (mean[k] if sampled is None else mean[k] + sampled[s, 0, k])
            shift[k] += shift_sum(x) / n_chains
            log_scale -= math.log(shifted_exp_digamma(x)) / n_chains
        scale[k] = live[k] * math.exp(log_scale)


@kernel
def log_domain_gamma(
    d, w, mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, n_topics, gamma
):
    """gamma of one pair by log-sum-exp, for priors whose exp(psi) underflows; returns its log normaliser."""
    words_beta = mean_wk.shape[0] * beta
    for k in range(n_topics):
        gamma[k] = (
            mean_digamma(alpha[k], mean_dk[d, k], sampled_dk, d, k)
            + mean_digamma(beta, mean_wk[w, k], sampled_wk, w, k)
            - mean_digamma(words_beta, mean_k[k], sampled_k, 0, k)
        )
    return normalise_logs(n_topics, gamma)


@kernel
def update_documents(
    first, last, indptr, words, counts, threshold, document_weights, word_weights,
    mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, n_topics, ratios, new_dk,
):
    """Document pass of the parallel schedule: n_dk = sum_w n_dw gamma_dwk for documents first..last.

    Writes count / normaliser of each pair to `ratios` (NaN: the log domain was needed), for the word
    pass. Returns sum_dw n_dw log(normaliser), which the entropy needs.
    """
    n_padded = mean_dk.shape[1]
    gamma = np.zeros(n_padded)
    log_normalisers, product = 0.0, 1.0
    for d in range(first, last):
        new = new_dk[d]
        new[:] = 0.0
        by_logs = False
        for pair in range(indptr[d], indptr[d + 1]):
            count = counts[pair]
            if count <= threshold:
                ratios[pair] = 0.0
                continue
            word_weight = word_weights[words[pair]]
            normaliser = 0.0
            for k in range(n_padded):
                normaliser += document_weights[d, k] * word_weight[k]
            if normaliser < TINY:
                ratios[pair] = np.nan
                by_logs = True
                continue
            ratio = count / normaliser
            ratios[pair] = ratio
            for k in range(n_padded):
                new[k] += ratio * word_weight[k]
            if count == 1:
                product *= normaliser
                if product < TINY or product > 1.0 / TINY:
                    log_normalisers += math.log(product)
                    product = 1.0
            else:
                log_normalisers += count * math.log(normaliser)
        for k in range(n_padded):
            new[k] *= document_weights[d, k]
        if by_logs:
            for pair in range(indptr[d], indptr[d + 1]):
                if np.isnan(ratios[pair]):
                    log_normalisers += counts[pair] * log_domain_gamma(
                        d, words[pair], mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k,
                        alpha, beta, n_topics, gamma,
                    )
                    for k in range(n_topics):
                        new[k] += counts[pair] * gamma[k]
    return log_normalisers + math.log(product)


@kernel
def update_words(
    first, last, word_indptr, documents, pairs, counts, document_weights, word_weights,
    mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, n_topics, ratios, new_wk,
):
    """Word pass of the parallel schedule: n_wk = sum_d n_dw gamma_dwk for words first..last."""
    n_padded = mean_wk.shape[1]
    gamma = np.zeros(n_padded)
    for w in range(first, last):
        new = new_wk[w]
        new[:] = 0.0
        by_logs = False
        for i in range(word_indptr[w], word_indptr[w + 1]):
            ratio = ratios[pairs[i]]
            if ratio == 0.0:
                continue
            if np.isnan(ratio):
                by_logs = True
                continue
            document_weight = document_weights[documents[i]]
            for k in range(n_padded):
                new[k] += ratio * document_weight[k]
        for k in range(n_padded):
            new[k] *= word_weights[w, k]
        if by_logs:
            for i in range(word_indptr[w], word_indptr[w + 1]):
                if np.isnan(ratios[pairs[i]]):
                    log_domain_gamma(
                        documents[i], w, mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k,
                        alpha, beta, n_topics, gamma,
                    )
                    for k in range(n_topics):
                        new[k] += counts[pairs[i]] * gamma[k]


@kernel
def expected_log_weights(first, last, new, prior, mean, sampled, n_topics):
    """sum of new[row, k] <psi(prior_k + m + c^s)> over rows first..last."""
    total = 0.0
    for row in range(first, last):
        for k in range(n_topics):
            if new[row, k] != 0.0:
                total += new[row, k] * mean_digamma(prior[k], mean[row, k], sampled, row, k)
    return total


@kernel
def update_pair(
    d, w, count, mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, n_topics, kept, row, gamma
):
    """One pair of the sequential schedule: its new gamma to `kept[row]`, the expected counts moved along."""
    words_beta = mean_wk.shape[0] * beta
    if sampled_dk is not None and sampled_dk.shape[0] > 1:
        log_domain_gamma(
            d, w, mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, n_topics, gamma
        )
    else:
        for k in range(n_topics):
            n_dk, n_wk, n_k = mean_dk[d, k], mean_wk[w, k], mean_k[k]
            if sampled_dk is not None:
                n_dk, n_wk, n_k = n_dk + sampled_dk[0, d, k], n_wk + sampled_wk[0, w, k], n_k + sampled_k[0, 0, k]
            gamma[k] = exp_digamma_ratio(alpha[k] + n_dk, beta + n_wk, words_beta + n_k)
        normaliser = 0.0
        for k in range(n_topics):
            normaliser += gamma[k]
        if normaliser < TINY:
            log_domain_gamma(
                d, w, mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, n_topics, gamma
            )
            normaliser = 1.0
        for k in range(n_topics):
            gamma[k] /= normaliser
    for k in range(n_topics):
        change = count * (gamma[k] - kept[row, k])
        kept[row, k] = gamma[k]
        mean_dk[d, k] = max(mean_dk[d, k] + change, 0.0)
        mean_wk[w, k] = max(mean_wk[w, k] + change, 0.0)
        mean_k[k] = max(mean_k[k] + change, 0.0)


@kernel
def update_in_order(
    first, last, indptr, words, counts, threshold, variational_before, kept,
    mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, n_topics,
):
    """Sequential schedule: `update_pair` for each variational pair of documents first..last in canonical order."""
    gamma = np.empty(n_topics)
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            if counts[pair] > threshold:
                update_pair(
                    d, words[pair], counts[pair], mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k,
                    alpha, beta, n_topics, kept, variational_before[pair], gamma,
                )


@kernel
def weighted_entropy(weights, gamma):
    """- sum_i weights_i sum_k gamma_ik log gamma_ik, with 0 log 0 = 0."""
    total = 0.0
    for i in range(len(weights)):
        row = 0.0
        for k in range(gamma.shape[1]):
            if gamma[i, k] > 0.0:
                row += gamma[i, k] * math.log(gamma[i, k])
        total -= weights[i] * row
    return total
