"""Expectations of functions of a count whose tokens are independent: the improved second order (HDP).

A count n is a sum over rows of Bernoulli draws, c_m of them with probability q_m (eq. 13)::

    E = sum c_m q_m,   V = sum c_m q_m (1 - q_m),   P0 = prod (1 - q_m)^c_m

A function that bends sharply between n = 0 and n = 1 is expanded to second order around the mean of n *given that it
is positive*, with P+ = q(n > 0) and E+, V+ the mean and variance given n > 0 (eq. 14, and F of the bound)::

    P+ = 1 - P0,   E+ = E / P+,   V+ = V / P+ - P0 E+^2
    E[f(n)]  ~  f(0) P0 + P+ { f(E+) + V+ / 2 f''(E+) }

Where E < 1e-7 the limits are taken: P+ = E, E+ = 1, V+ = 0. Products underflow to P0 = 0, as they should.

Teh, Kurihara & Welling (2008), eq. 11-14.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.special import digamma_tetragamma, log_gamma_trigamma

NEARLY_NONE = 1e-7
"""Expected tokens below which a count is 0 or 1."""
NEARLY_CERTAIN = 1.0 - 1e-16
"""The largest probability of a token that a product P0 takes in."""


@kernel
def given_positive(mean, variance, zero):
    """P+, E+ and V+ of a count, eq. 14."""
    if mean < NEARLY_NONE:
        return mean, 1.0, 0.0
    positive = 1.0 - zero
    mean_positive = max(mean / positive, 1.0)
    return positive, mean_positive, max(variance / positive - zero * mean_positive * mean_positive, 0.0)


@kernel
def add_row(count, row, n_topics, mean, variance, zero):
    """E, V and P0 (topic,) with one more row, of `count` tokens, eq. 13."""
    for k in range(n_topics):
        g = row[k]
        mean[k] += count * g
        variance[k] += count * (g * (1.0 - g))
    if count == 1:
        for k in range(n_topics):
            zero[k] *= 1.0 - min(row[k], NEARLY_CERTAIN)
    else:
        for k in range(n_topics):
            zero[k] *= (1.0 - min(row[k], NEARLY_CERTAIN)) ** count


@kernel
def count_documents(first, last, indptr, counts, kept, n_topics, mean_dk, var_dk, zero_dk):
    """E, V and P0 of documents first..last from the responsibilities, row by row."""
    for d in range(first, last):
        mean_dk[d], var_dk[d], zero_dk[d] = 0.0, 0.0, 1.0
        for pair in range(indptr[d], indptr[d + 1]):
            add_row(counts[pair], kept[pair], n_topics, mean_dk[d], var_dk[d], zero_dk[d])


@kernel
def tables(mean, variance, zero, prior, digamma_above):
    """E[s] = a P+ { psi(a + E+) - psi(a) + V+ / 2 psi''(a + E+) }, eq. 12; digamma_above = psi(a + 1), safe for tiny a."""
    positive, mean_positive, variance_positive = given_positive(mean, variance, zero)
    if mean < NEARLY_NONE:
        return positive
    digamma, tetragamma = digamma_tetragamma(prior + mean_positive)
    return positive * (1.0 + prior * (digamma - digamma_above + 0.5 * variance_positive * tetragamma))


@kernel
def add_tables_of_documents(first, last, mean_dk, var_dk, zero_dk, prior, n_topics, tables_k):
    """Adds sum_d E[s_dk] of documents first..last to tables_k (topic,); prior (topic,) is a of eq. 12."""
    digamma_above = np.empty(n_topics)
    for k in range(n_topics):
        digamma_above[k] = digamma_tetragamma(prior[k] + 1.0)[0]
    for d in range(first, last):
        for k in range(n_topics):
            tables_k[k] += tables(mean_dk[d, k], var_dk[d, k], zero_dk[d, k], prior[k], digamma_above[k])


@kernel
def tables_of_words(first, last, word_indptr, pairs, counts, kept, prior, n_topics, tables_w):
    """sum_k E[t_kw] of words first..last to tables_w (word,); prior (word,) is b of eq. 12."""
    mean, variance, zero = np.empty((3, n_topics))
    for w in range(first, last):
        mean[:], variance[:], zero[:] = 0.0, 0.0, 1.0
        for i in range(word_indptr[w], word_indptr[w + 1]):
            add_row(counts[pairs[i]], kept[pairs[i]], n_topics, mean, variance, zero)
        digamma_above = digamma_tetragamma(prior[w] + 1.0)[0]
        total = 0.0
        for k in range(n_topics):
            total += tables(mean[k], variance[k], zero[k], prior[w], digamma_above)
        tables_w[w] = total


@kernel
def expected_log_beta(mean, variance, zero, prior):
    """E[log xi] = P+ { psi(b) - psi(b + E+) - V+ / 2 psi''(b + E+) } of xi ~ Beta(b, n), 0 where n = 0; eq. 11."""
    positive, mean_positive, variance_positive = given_positive(mean, variance, zero)
    digamma, tetragamma = digamma_tetragamma(prior + mean_positive)
    return positive * (digamma_tetragamma(prior)[0] - digamma - 0.5 * variance_positive * tetragamma)


@kernel
def log_rising(mean, variance, zero, prior, log_prior, log_gamma_above):
    """F[log Gamma(a + n) / Gamma(a)]; log_gamma_above = log Gamma(a + 1), safe for tiny a."""
    positive, mean_positive, variance_positive = given_positive(mean, variance, zero)
    if mean < NEARLY_NONE:
        return positive * log_prior
    log_gamma, trigamma = log_gamma_trigamma(prior + mean_positive)
    return positive * (log_prior + (log_gamma - log_gamma_above) + 0.5 * variance_positive * trigamma)


@kernel
def bound_of_documents(first, last, indptr, counts, kept, alpha, alpha_sum, n_topics, mean_k, var_k, zero_k):
    """The terms of documents first..last of the bound; E, V and P0 of the topics (topic,) are added up on the way."""
    log_alpha, log_gamma_above = np.empty((2, n_topics))
    for k in range(n_topics):
        log_alpha[k], log_gamma_above[k] = math.log(alpha[k]), math.lgamma(alpha[k] + 1.0)
    mean, variance, zero = np.empty((3, n_topics))
    total = 0.0
    for d in range(first, last):
        mean[:], variance[:], zero[:] = 0.0, 0.0, 1.0
        n_tokens = 0.0
        for pair in range(indptr[d], indptr[d + 1]):
            n_tokens += counts[pair]
            add_row(counts[pair], kept[pair], n_topics, mean, variance, zero)
        if n_tokens:
            total += math.lgamma(alpha_sum) - math.lgamma(alpha_sum + n_tokens)
        for k in range(n_topics):
            total += log_rising(mean[k], variance[k], zero[k], alpha[k], log_alpha[k], log_gamma_above[k])
            mean_k[k] += mean[k]
            var_k[k] += variance[k]
            zero_k[k] *= zero[k]
    return total


@kernel
def bound_of_words(first, last, word_indptr, pairs, counts, kept, beta, n_topics):
    """The terms of words first..last of the bound."""
    mean, variance, zero = np.empty((3, n_topics))
    total = 0.0
    for w in range(first, last):
        mean[:], variance[:], zero[:] = 0.0, 0.0, 1.0
        for i in range(word_indptr[w], word_indptr[w + 1]):
            add_row(counts[pairs[i]], kept[pairs[i]], n_topics, mean, variance, zero)
        log_beta, log_gamma_above = math.log(beta[w]), math.lgamma(beta[w] + 1.0)
        for k in range(n_topics):
            total += log_rising(mean[k], variance[k], zero[k], beta[w], log_beta, log_gamma_above)
    return total


@kernel
def bound_of_topics(mean_k, var_k, zero_k, beta_sum):
    """sum_k F[log Gamma(B) / Gamma(B + n_k)]."""
    total = 0.0
    for k in range(len(mean_k)):
        positive, mean, variance = given_positive(mean_k[k], var_k[k], zero_k[k])
        log_gamma, trigamma = log_gamma_trigamma(beta_sum + mean)
        total += positive * (math.lgamma(beta_sum) - log_gamma - 0.5 * variance * trigamma)
    return total


def expected_log_joint(corpus, kept, alpha, alpha_sum, beta, beta_sum) -> float:
    """The expectation of the collapsed log joint by F, nats: the bound less the entropy of the responsibilities.

        sum_d log G(A) / G(A + n_d) + sum_dk F[log G(alpha_k + n_dk) / G(alpha_k)]
        + sum_k F[log G(B) / G(B + n_k)] + sum_kw F[log G(beta_w + n_kw) / G(beta_w)]      spec of the HDP, 5

    kept : (pair, topic) responsibilities of every pair; alpha : (topic,); beta : (word,); alpha_sum, beta_sum : A, B,
    which are more than the sums of alpha and of beta where these are geometric means.
    """
    n_topics, by_word = len(alpha), corpus.by_word
    mean_k, var_k, zero_k = np.zeros(n_topics), np.zeros(n_topics), np.ones(n_topics)
    return (
        bound_of_documents(
            0, corpus.n_documents, corpus.indptr, corpus.counts, kept, alpha, alpha_sum, n_topics, mean_k, var_k, zero_k
        )
        + bound_of_words(0, corpus.n_words, by_word.indptr, by_word.pairs, corpus.counts, kept, beta, n_topics)
        + bound_of_topics(mean_k, var_k, zero_k, beta_sum)
    )
