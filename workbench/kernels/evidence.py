"""The collapsed joint of LDA as a function of counts, and the probability of held-out tokens.

    L(n) = sum_d [ lnG(A) - lnG(A + N_d) + sum_k ( lnG(alpha_k + n_dk) - lnG(alpha_k) ) ]
         + sum_k [ lnG(W beta) - lnG(W beta + n_k) + sum_w ( lnG(beta + n_wk) - lnG(beta) ) ]     spec A1

For integer counts this is log p(w, z) in nats, all constants included; it extends to real counts.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.lanes import pad_topics


@kernel
def log_documents(n_dk, alpha, n_topics):
    """The part of L(n) that is a sum over documents; counts (document, topic), integer or real."""
    alpha_sum = alpha[:n_topics].sum()
    log_gamma_alpha = np.array([math.lgamma(a) for a in alpha[:n_topics]])
    total = 0.0
    for d in range(len(n_dk)):
        tokens = 0.0
        for k in range(n_topics):
            if n_dk[d, k] != 0:
                tokens += n_dk[d, k]
                total += math.lgamma(alpha[k] + n_dk[d, k]) - log_gamma_alpha[k]
        if tokens != 0.0:
            total += math.lgamma(alpha_sum) - math.lgamma(alpha_sum + tokens)
    return total


@kernel
def log_joint(n_dk, n_wk, n_k, alpha, beta, n_topics):
    """L(n) of counts (document, topic), (word, topic), (topic,), integer or real."""
    words_beta = len(n_wk) * beta
    log_gamma_beta = math.lgamma(beta)
    total = log_documents(n_dk, alpha, n_topics) + n_topics * math.lgamma(words_beta)
    for w in range(len(n_wk)):
        for k in range(n_topics):
            if n_wk[w, k] != 0:
                total += math.lgamma(beta + n_wk[w, k]) - log_gamma_beta
    for k in range(n_topics):
        total -= math.lgamma(words_beta + n_k[k])
    return total


def predictive(pairs, document_tokens, n_dk, n_wk, n_k, alphas, beta) -> np.ndarray:
    """p(w | d) = sum_k (alpha_k + n_dk) / (A + N_d) (beta + n_wk) / (W beta + n_k) of each pair (spec A2).

    pairs : Corpus whose pairs are asked for; document_tokens (document,) the N_d behind n_dk; counts
    padded, integer or real. Returns (pair,) float64.
    """
    probability = np.empty(pairs.n_pairs)
    _predictive(
        pairs.documents, pairs.words, document_tokens, n_dk, n_wk, n_k, pad_topics(alphas), beta, len(alphas), probability
    )
    return probability


@kernel
def _predictive(documents, words, document_tokens, n_dk, n_wk, n_k, alpha, beta, n_topics, probability):
    n_padded = n_dk.shape[1]
    words_beta = len(n_wk) * beta
    alpha_sum = alpha[:n_topics].sum()
    inverse = np.zeros(n_padded)
    for k in range(n_topics):
        inverse[k] = 1.0 / (words_beta + n_k[k])
    row = np.zeros(n_padded)
    current = -1
    for i in range(len(words)):
        d = documents[i]
        if d != current:
            current = d
            scale = 1.0 / (alpha_sum + document_tokens[d])
            for k in range(n_padded):
                row[k] = (alpha[k] + n_dk[d, k]) * inverse[k] * scale
        w = words[i]
        a = b = c = e = 0.0
        for k in range(0, n_padded, 4):
            a += row[k] * (beta + n_wk[w, k])
            b += row[k + 1] * (beta + n_wk[w, k + 1])
            c += row[k + 2] * (beta + n_wk[w, k + 2])
            e += row[k + 3] * (beta + n_wk[w, k + 3])
        probability[i] = (a + c) + (b + e)
