"""Collapsed variational update of the HDP whose log counts are expanded given that the count is positive (spec 4.5a).

    gamma_dwk  ~  exp{ l(a_k, n_dk) + l(b_w, n_wk) - log(B + E_k) + V_k / 2 (B + E_k)^2 }
    l(a, n) = (1 - P+) log a + P+ { log(a + E+) - V+ / 2 (a + E+)^2 }

Eq. 15 of the paper has log(a + E) - V / 2 (a + E)^2 instead, which is far too low for a small a and an E of its size. One copy
of the pair is removed from the counts; Z = sum c_m log(1 - q_m) is the log of P0. Each log(1 - q_m) is at least log(1e-16), so
that Z can be updated pair by pair as E and V are.

The update of two topics, for splits and merges, divides the sum of their responsibilities of each pair between them again.
"""

import math

import numpy as np

from workbench.kernels.count_moments import NEARLY_CERTAIN, moments_if_positive
from workbench.kernels.jit import kernel
from workbench.kernels.lda.collapsed_vb import less_one_copy
from workbench.kernels.simd.functions import normalise_logs


@kernel
def log_weight(
    d,
    w,
    k,
    g,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    alpha,
    beta,
    beta_sum: float,
):
    """Return the log weight of topic k (eq. 15) with one token of the pair, of responsibility g, removed from the counts."""
    h = g * (1.0 - g)
    a, b = alpha + less_one_copy(mean_dk[d, k], g), beta + less_one_copy(mean_wk[w, k], g)
    c = beta_sum + less_one_copy(mean_k[k], g)
    exponent = less_one_copy(var_k[k], h) / (c * c) - less_one_copy(var_dk[d, k], h) / (a * a)
    return math.log(a * b / c) + 0.5 * (exponent - less_one_copy(var_wk[w, k], h) / (b * b))


@kernel
def move_moments(
    d,
    w,
    k,
    count,
    old,
    new,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
) -> None:
    """Update means and variances of the counts of topic k as a pair's responsibility changes from old to new."""
    change = count * (new - old)
    mean_dk[d, k] = max(mean_dk[d, k] + change, 0.0)
    mean_wk[w, k] = max(mean_wk[w, k] + change, 0.0)
    mean_k[k] = max(mean_k[k] + change, 0.0)
    change = count * (new * (1.0 - new) - old * (1.0 - old))
    var_dk[d, k] = max(var_dk[d, k] + change, 0.0)
    var_wk[w, k] = max(var_wk[w, k] + change, 0.0)
    var_k[k] = max(var_k[k] + change, 0.0)


@kernel
def share_in_order(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    gamma,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    first_topic,
    second_topic,
    alpha,
    beta,
    beta_sum: float,
) -> None:
    """Redistribute each pair's responsibility for `first_topic` and `second_topic` between the two, for documents first..last.

    Their weights are those of eq. 15, with the same alpha for both.
    """
    moments = (mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k)
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            w, count, old_first, old_second = (
                words[pair],
                counts[pair],
                gamma[pair, first_topic],
                gamma[pair, second_topic],
            )
            total = old_first + old_second
            log_odds = log_weight(
                d, w, first_topic, old_first, *moments, alpha, beta[w], beta_sum
            ) - log_weight(d, w, second_topic, old_second, *moments, alpha, beta[w], beta_sum)
            share = 1.0 / (1.0 + math.exp(-min(max(log_odds, -700.0), 700.0)))
            gamma[pair, first_topic] = total * share
            gamma[pair, second_topic] = total - gamma[pair, first_topic]
            move_moments(d, w, first_topic, count, old_first, gamma[pair, first_topic], *moments)
            move_moments(d, w, second_topic, count, old_second, gamma[pair, second_topic], *moments)


@kernel
def log_absence(g):
    """Return log(1 - g) for a responsibility g, but at least log(1e-16)."""
    return math.log1p(-min(g, NEARLY_CERTAIN))


@kernel
def add_log_zeros(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    gamma,
    n_topics: int,
    log_zero_dk: np.ndarray,
    log_zero_wk: np.ndarray,
) -> None:
    """Add the log probability of a zero count in each topic to log_zero_dk and log_zero_wk (row, topic), 0 on entry."""
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            for k in range(n_topics):
                part = counts[pair] * log_absence(gamma[pair, k])
                log_zero_dk[d, k] += part
                log_zero_wk[words[pair], k] += part


@kernel
def expected_log(prior, mean, variance, log_zero):
    """Return the approximate E[log(a + n)] for prior a and a count n with mean E, variance V and log p(n = 0)."""
    positive, mean_positive, variance_positive = moments_if_positive(
        mean, variance, math.exp(min(log_zero, 0.0))
    )
    positive_sum = prior + mean_positive
    positive_log = math.log(positive_sum) - 0.5 * variance_positive / (positive_sum * positive_sum)
    return (1.0 - positive) * math.log(prior) + positive * positive_log


@kernel
def update_in_order(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    stored,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    log_zero_dk: np.ndarray,
    log_zero_wk: np.ndarray,
    alpha,
    beta,
    beta_sum: float,
    n_topics: int,
):
    """Update gamma of each pair of documents first..last in turn, and the counts' moments; return the largest change."""
    gamma = np.empty(n_topics)
    largest = 0.0
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            w, count, old = words[pair], counts[pair], stored[pair]
            for k in range(n_topics):
                g = old[k]
                h, z = g * (1.0 - g), log_absence(g)
                size = beta_sum + less_one_copy(mean_k[k], g)
                gamma[k] = (
                    expected_log(
                        alpha[k],
                        less_one_copy(mean_dk[d, k], g),
                        less_one_copy(var_dk[d, k], h),
                        log_zero_dk[d, k] - z,
                    )
                    + expected_log(
                        beta[w],
                        less_one_copy(mean_wk[w, k], g),
                        less_one_copy(var_wk[w, k], h),
                        log_zero_wk[w, k] - z,
                    )
                    - math.log(size)
                    + 0.5 * less_one_copy(var_k[k], h) / (size * size)
                )
            normalise_logs(n_topics, gamma)
            for k in range(n_topics):
                largest = max(largest, abs(gamma[k] - old[k]))
                move_moments(
                    d,
                    w,
                    k,
                    count,
                    old[k],
                    gamma[k],
                    mean_dk,
                    mean_wk,
                    mean_k,
                    var_dk,
                    var_wk,
                    var_k,
                )
                change = count * (log_absence(gamma[k]) - log_absence(old[k]))
                log_zero_dk[d, k] += change
                log_zero_wk[w, k] += change
                old[k] = gamma[k]
    return largest
