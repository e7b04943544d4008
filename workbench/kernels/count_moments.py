"""Expectations of functions of a sum of independent Bernoulli draws: the improved second-order approximation of the HDP.

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
from scipy.special import gammaln

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.simd.functions import digamma_tetragamma, log_gamma_trigamma, total
from workbench.kernels.simd.vectors import (
    LANES,
    aligned_copy,
    aligned_zeros,
    choose,
    doubles,
    fetch,
    load,
    pad_topics,
    padded,
    spread,
    store,
)

AHEAD, LINE = 12, 8
"""How many pairs ahead gamma is prefetched into the cache, in word-major order; float64 numbers in a cache line."""
NEARLY_NONE = 1e-7
"""Expected tokens below which a count is treated as 0 or 1."""
NEARLY_CERTAIN = 1.0 - 1e-16
"""Upper limit of a token's probability in the product P0."""


@inlined
def moments_if_positive(mean, variance, zero):
    """Return P+ = p(n > 0) of a count n, and the conditional mean E+ and variance V+ given n > 0 (eq. 14).

    P+ >= 1 - exp(-E) >= E - E^2 / 2 is enforced where P0 is rounded to 1, as for 10^9 tokens of probability 1e-16.
    """
    positive = max(1.0 - zero, mean - 0.5 * mean * mean)
    mean_positive = max(mean / positive, 1.0)
    variance_positive = max(variance / positive - zero * mean_positive * mean_positive, 0.0)
    is_tiny, nil = mean < NEARLY_NONE, mean - mean
    return (
        choose(is_tiny, mean, positive),
        choose(is_tiny, nil + 1.0, mean_positive),
        choose(is_tiny, nil, variance_positive),
    )


@inlined
def power(base, n):
    """Return base^n, element by element, of the SIMD vector `base`, for an integer n of at least 1."""
    result = spread(1.0)
    while n > 0:
        if n % 2:
            result = result * base
        base, n = base * base, n // 2
    return result


@inlined
def clear(index, n_topics: int, mean, variance, zero) -> None:
    """Set the moments of a row of counts, from flat index `index` on, to those of no tokens: E = V = 0, p(n = 0) = 1."""
    for k in range(index, index + n_topics, LANES):
        store(mean, k, spread(0.0))
        store(variance, k, spread(0.0))
        store(zero, k, spread(1.0))


@inlined
def add_pair(count, gamma, pair, n_topics: int, mean, variance, zero, index) -> None:
    """Update mean E, variance V and P0 = p(n = 0) of a row of counts by a pair of `count` tokens with gamma (eq. 13)."""
    i = pair * gamma.shape[1]
    for k in range(0, n_topics, LANES):
        g = doubles(load(gamma, i + k))
        part = count * g
        store(mean, index + k, load(mean, index + k) + part)
        store(variance, index + k, load(variance, index + k) + part * (1.0 - g))
        store(zero, index + k, load(zero, index + k) * power(1.0 - min(g, NEARLY_CERTAIN), count))


@lean
def count_documents(
    first: int,
    last: int,
    indptr: np.ndarray,
    counts: np.ndarray,
    gamma,
    n_topics: int,
    mean_dk: np.ndarray,
    var_dk: np.ndarray | None,
    zero_dk: np.ndarray,
) -> None:
    """Compute mean E, variance V and P0 = p(n = 0) (document, topic) of the counts of documents first..last from gamma."""
    for d in range(first, last):
        index = d * mean_dk.shape[1]
        clear(index, n_topics, mean_dk, var_dk, zero_dk)
        for pair in range(indptr[d], indptr[d + 1]):
            add_pair(counts[pair], gamma, pair, n_topics, mean_dk, var_dk, zero_dk, index)


@inlined
def count_word(
    w,
    word_indptr: np.ndarray,
    pairs,
    counts: np.ndarray,
    gamma,
    n_topics: int,
    mean,
    variance,
    zero,
) -> None:
    """Compute mean E, variance V and P0 = p(n = 0) (topic padded,) of one word's counts from the responsibilities gamma."""
    clear(0, n_topics, mean, variance, zero)
    for i in range(word_indptr[w], word_indptr[w + 1]):
        next_row = pairs[min(i + AHEAD, len(pairs) - 1)] * gamma.shape[1]
        for k in range(next_row, next_row + n_topics, LINE):
            fetch(gamma, k)
        add_pair(counts[pairs[i]], gamma, pairs[i], n_topics, mean, variance, zero, 0)


@inlined
def tables(mean, variance, zero, prior, digamma_above):
    """Return the expected number of tables E[s] = a P+ { psi(a + E+) - psi(a) + V+ / 2 psi''(a + E+) }, eq. 12.

    prior is a; digamma_above = psi(a + 1) is used in place of psi(a), which overflows for tiny a.
    """
    positive, mean_positive, variance_positive = moments_if_positive(mean, variance, zero)
    digamma, tetragamma = digamma_tetragamma(prior + mean_positive)
    n_tables = 1.0 + prior * (digamma - digamma_above + 0.5 * variance_positive * tetragamma)
    return positive * choose(mean < NEARLY_NONE, mean - mean + 1.0, n_tables)


def tables_of_documents(
    mean_dk: np.ndarray, var_dk: np.ndarray | None, zero_dk: np.ndarray, prior
) -> np.ndarray:
    """Return the expected number of tables over all documents, sum_d E[s_dk] (topic,), for prior a (eq. 12)."""
    tables_k = np.zeros(mean_dk.shape[1])
    _add_tables(
        mean_dk,
        var_dk,
        zero_dk,
        pad_topics(prior, 1.0),
        np.empty_like(tables_k),
        len(prior),
        tables_k,
    )
    return tables_k[: len(prior)]


@lean
def _add_tables(
    mean_dk: np.ndarray,
    var_dk: np.ndarray | None,
    zero_dk: np.ndarray,
    prior,
    digamma_above,
    n_topics: int,
    tables_k,
) -> None:
    for k in range(0, n_topics, LANES):
        store(digamma_above, k, digamma_tetragamma(load(prior, k) + 1.0)[0])
    for d in range(len(mean_dk)):
        for k in range(0, n_topics, LANES):
            i = d * len(prior) + k
            result = tables(
                load(mean_dk, i),
                load(var_dk, i),
                load(zero_dk, i),
                load(prior, k),
                load(digamma_above, k),
            )
            store(tables_k, k, load(tables_k, k) + result)


def tables_of_words(corpus, gamma, prior, n_topics: int) -> np.ndarray:
    """Return the expected number of tables of each word, sum_k E[t_kw] (word,), for prior b (eq. 12)."""
    tables_w, row = np.empty(corpus.n_words), aligned_zeros((3, gamma.shape[1]), float)
    _tables_of_words(
        corpus.by_word.indptr,
        corpus.by_word.pairs,
        corpus.counts,
        gamma,
        prior,
        n_topics,
        tables_w,
        *row,
    )
    return tables_w


@lean
def _tables_of_words(
    word_indptr: np.ndarray,
    pairs,
    counts: np.ndarray,
    gamma,
    prior,
    n_topics: int,
    tables_w,
    mean,
    variance,
    zero,
) -> None:
    for w in range(len(tables_w)):
        count_word(w, word_indptr, pairs, counts, gamma, n_topics, mean, variance, zero)
        b, result = spread(prior[w]), spread(0.0)
        digamma_above = digamma_tetragamma(b + 1.0)[0]
        for k in range(0, n_topics, LANES):
            result += tables(load(mean, k), load(variance, k), load(zero, k), b, digamma_above)
        tables_w[w] = total(result)


@kernel
def expected_log_beta(mean, variance, zero, prior):
    """Return E[log xi] = P+ { psi(b) - psi(b + E+) - V+ / 2 psi''(b + E+) } for xi ~ Beta(b, n), eq. 11; prior is b.

    log xi is 0 where n = 0.
    """
    positive, mean_positive, variance_positive = moments_if_positive(mean, variance, zero)
    digamma, tetragamma = digamma_tetragamma(prior + mean_positive)
    return positive * (
        digamma_tetragamma(prior)[0] - digamma - 0.5 * variance_positive * tetragamma
    )


@inlined
def log_rising(mean, variance, zero, prior, log_prior, log_gamma_above):
    """Return the approximate expectation of log(Gamma(a + n) / Gamma(a)) over a count n, for prior a (eq. 14).

    log_gamma_above = log Gamma(a + 1) is used in place of log Gamma(a), for accuracy at tiny a.
    """
    positive, mean_positive, variance_positive = moments_if_positive(mean, variance, zero)
    log_gamma, trigamma = log_gamma_trigamma(prior + mean_positive)
    log_rise = log_prior + (log_gamma - log_gamma_above) + 0.5 * variance_positive * trigamma
    return positive * choose(mean < NEARLY_NONE, log_prior, log_rise)


@lean
def bound_of_documents(
    indptr: np.ndarray,
    counts: np.ndarray,
    gamma,
    priors,
    alpha_sum,
    n_topics: int,
    row,
    topic_moments,
):
    """Return the documents' part of the evidence lower bound; add up in topic_moments the moments of topic sizes.

    priors : (3, topic padded) alpha, log alpha and log Gamma(alpha + 1)
    topic_moments : (3, topic padded) E, V and P0 of each topic size; row (3, topic padded) : scratch array
    """
    n_padded, sizes, result = gamma.shape[1], 0.0, spread(0.0)
    for d in range(len(indptr) - 1):
        clear(0, n_topics, row[0], row[1], row[2])
        n_tokens = 0.0
        for pair in range(indptr[d], indptr[d + 1]):
            n_tokens += counts[pair]
            add_pair(counts[pair], gamma, pair, n_topics, row[0], row[1], row[2], 0)
        if n_tokens:
            sizes += math.lgamma(alpha_sum) - math.lgamma(alpha_sum + n_tokens)
        for k in range(0, n_topics, LANES):
            mean, variance, zero = (
                load(row, k),
                load(row, n_padded + k),
                load(row, 2 * n_padded + k),
            )
            result += log_rising(
                mean,
                variance,
                zero,
                load(priors, k),
                load(priors, n_padded + k),
                load(priors, 2 * n_padded + k),
            )
            store(topic_moments, k, load(topic_moments, k) + mean)
            store(topic_moments, n_padded + k, load(topic_moments, n_padded + k) + variance)
            store(topic_moments, 2 * n_padded + k, load(topic_moments, 2 * n_padded + k) * zero)
    return sizes + total(result)


@lean
def bound_of_words(
    word_indptr: np.ndarray, pairs, counts: np.ndarray, gamma, beta, n_topics: int, row
):
    """Return the words' part of the evidence lower bound, given the responsibilities gamma.

    word_indptr, pairs : indices of each word's pairs; counts and gamma : of all pairs; row (3, topic padded) : scratch array
    """
    n_padded, result = gamma.shape[1], spread(0.0)
    for w in range(len(beta)):
        count_word(w, word_indptr, pairs, counts, gamma, n_topics, row[0], row[1], row[2])
        b, log_b, log_gamma_above = (
            spread(beta[w]),
            spread(math.log(beta[w])),
            spread(math.lgamma(beta[w] + 1.0)),
        )
        for k in range(0, n_topics, LANES):
            mean, variance, zero = (
                load(row, k),
                load(row, n_padded + k),
                load(row, 2 * n_padded + k),
            )
            result += log_rising(mean, variance, zero, b, log_b, log_gamma_above)
    return total(result)


@lean
def multiply_zeros(
    words: np.ndarray, counts: np.ndarray, gamma, n_topics: int, zero_wk: np.ndarray
) -> None:
    """Multiply zero_wk, P0 = p(n_wk = 0) (word, topic padded), by the factors (1 - gamma)^n of pairs (eq. 13)."""
    for pair in range(len(words)):
        count, i, index = counts[pair], pair * gamma.shape[1], words[pair] * zero_wk.shape[1]
        for k in range(0, n_topics, LANES):
            none = power(1.0 - min(doubles(load(gamma, i + k)), NEARLY_CERTAIN), count)
            store(zero_wk, index + k, load(zero_wk, index + k) * none)


@lean
def add_variances(
    words: np.ndarray, counts: np.ndarray, gamma, n_topics: int, var_wk: np.ndarray | None
) -> None:
    """Add n gamma (1 - gamma), the variances of document-word pairs, to var_wk (word, topic padded) (eq. 13)."""
    for pair in range(len(words)):
        count, i, index = counts[pair], pair * gamma.shape[1], words[pair] * var_wk.shape[1]
        for k in range(0, n_topics, LANES):
            g = doubles(load(gamma, i + k))
            store(var_wk, index + k, load(var_wk, index + k) + count * g * (1.0 - g))


@lean
def bound_of_counted_words(
    mean_wk: np.ndarray, var_wk: np.ndarray | None, zero_wk: np.ndarray, beta, n_topics: int
):
    """Return the words' part of the evidence lower bound, given mean, variance and p(n_wk = 0) (word, topic padded)."""
    result, b, log_b, log_gamma_above = (
        spread(0.0),
        spread(beta),
        spread(math.log(beta)),
        spread(math.lgamma(beta + 1.0)),
    )
    for w in range(len(mean_wk)):
        for k in range(0, n_topics, LANES):
            i = w * mean_wk.shape[1] + k
            result += log_rising(
                load(mean_wk, i), load(var_wk, i), load(zero_wk, i), b, log_b, log_gamma_above
            )
    return total(result)


@lean
def bound_of_cells(
    mean_wk: np.ndarray,
    var_wk: np.ndarray,
    zero_wk: np.ndarray,
    b,
    log_b,
    log_gamma_above,
    n_topics,
):
    """Return the words' part of the bound as `bound_of_counted_words` does, for a prior b (word, topic padded)."""
    result = spread(0.0)
    for w in range(len(mean_wk)):
        for k in range(0, n_topics, LANES):
            i = w * mean_wk.shape[1] + k
            moments = load(mean_wk, i), load(var_wk, i), load(zero_wk, i)
            result += log_rising(*moments, load(b, i), load(log_b, i), load(log_gamma_above, i))
    return total(result)


@lean
def bound_of_topics(mean_k: np.ndarray, var_k: np.ndarray | None, zero_k, beta_sum: float):
    """Return the topic sizes' part of the evidence lower bound: sum_k E[log(Gamma(B) / Gamma(B + n_k))] to second order."""
    result = 0.0
    for k in range(len(mean_k)):
        positive, mean, variance = moments_if_positive(mean_k[k], var_k[k], zero_k[k])
        log_gamma, trigamma = log_gamma_trigamma(beta_sum + mean)
        result += positive * (math.lgamma(beta_sum) - log_gamma - 0.5 * variance * trigamma)
    return result


def expected_log_joint(corpus, gamma, alpha, alpha_sum, beta, beta_sum: float) -> float:
    """Return the approximate expected collapsed log joint, nats: the bound minus the responsibilities' entropy.

        sum_d log G(A) / G(A + n_d) + sum_dk F[log G(alpha_k + n_dk) / G(alpha_k)]
        + sum_k F[log G(B) / G(B + n_k)] + sum_kw F[log G(beta_w + n_kw) / G(beta_w)]      spec of the HDP, 5

    gamma : (pair, topic) responsibilities of every pair; alpha : (topic,); beta : (word,); alpha_sum, beta_sum : A, B,
    which are more than the sums of alpha and of beta where these are geometric means.
    """
    n_topics, word_order = len(alpha), corpus.by_word
    document_part, topic_moments = expected_log_joint_of_documents(corpus, gamma, alpha, alpha_sum)
    row = aligned_zeros((3, padded(n_topics)), np.float64)
    word_part = bound_of_words(
        word_order.indptr, word_order.pairs, corpus.counts, gamma, beta, n_topics, row
    )
    return document_part + word_part + bound_of_topics(*topic_moments[:, :n_topics], beta_sum)


def expected_log_joint_of_documents(corpus, gamma, alpha, alpha_sum) -> tuple[float, np.ndarray]:
    """Return the documents' part of `expected_log_joint`, and mean, variance, p(n = 0) of topic sizes (3, topic padded)."""
    n_topics = len(alpha)
    row, topic_moments = aligned_zeros((2, 3, padded(n_topics)), np.float64)
    topic_moments[2] = 1.0
    priors = np.stack(
        [
            pad_topics(of, 1.0)
            for of in (alpha, np.log(alpha), [math.lgamma(a + 1.0) for a in alpha])
        ]
    )
    result = bound_of_documents(
        corpus.indptr, corpus.counts, gamma, priors, alpha_sum, n_topics, row, topic_moments
    )
    return result, topic_moments


def expected_log_joint_of_counts(
    mean_wk: np.ndarray, var_wk: np.ndarray | None, zero_wk: np.ndarray, beta, n_topics: int
) -> float:
    """Return the words' and topics' part of `expected_log_joint`, from mean, variance, p(n_wk = 0) (word, topic padded).

    beta : one number, or a table (word, topic), padded
    """
    if np.ndim(beta):
        priors = tuple(map(aligned_copy, (beta, np.log(beta), gammaln(beta + 1.0))))
        result, sums = 0.0, beta.sum(axis=0)
        for k in range(n_topics):
            moments = mean_wk[:, k].sum(), var_wk[:, k].sum(), zero_wk[:, k].prod()
            result += bound_of_topics(*(np.array([moment]) for moment in moments), sums[k])
        return result + bound_of_cells(mean_wk, var_wk, zero_wk, *priors, n_topics)
    word_part = bound_of_counted_words(mean_wk, var_wk, zero_wk, beta, n_topics)
    topic_moments = mean_wk.sum(axis=0), var_wk.sum(axis=0), zero_wk.prod(axis=0)
    return word_part + bound_of_topics(
        *(part[:n_topics] for part in topic_moments), len(mean_wk) * beta
    )
