"""Collapsed variational update of two topics alone: each pair keeps their summed responsibility and divides it anew."""

import math

from workbench.kernels.jit import kernel
from workbench.kernels.lda.collapsed_vb import less_one_copy


@kernel
def log_weight(d, w, k, g, mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k, alpha, beta, beta_sum):
    """The log of eq. 15 of one topic, one copy of responsibility g taken out."""
    h = g * (1.0 - g)
    a, b = alpha + less_one_copy(mean_dk[d, k], g), beta + less_one_copy(mean_wk[w, k], g)
    c = beta_sum + less_one_copy(mean_k[k], g)
    exponent = less_one_copy(var_k[k], h) / (c * c) - less_one_copy(var_dk[d, k], h) / (a * a)
    return math.log(a * b / c) + 0.5 * (exponent - less_one_copy(var_wk[w, k], h) / (b * b))


@kernel
def move_moments(d, w, k, count, old, new, mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k):
    """Updates E and V of one topic after a responsibility has changed from old to new."""
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
    first,
    last,
    indptr,
    words,
    counts,
    kept,
    mean_dk,
    mean_wk,
    mean_k,
    var_dk,
    var_wk,
    var_k,
    one,
    other,
    alpha,
    beta,
    beta_sum,
):
    """Topics `one` and `other` of each pair of documents first..last, eq. 15 with alpha for each of the two."""
    moments = (mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k)
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            w, count, old_one, old_other = (
                words[pair],
                counts[pair],
                kept[pair, one],
                kept[pair, other],
            )
            total = old_one + old_other
            log_odds = log_weight(
                d, w, one, old_one, *moments, alpha, beta[w], beta_sum
            ) - log_weight(d, w, other, old_other, *moments, alpha, beta[w], beta_sum)
            share = 1.0 / (1.0 + math.exp(-min(max(log_odds, -700.0), 700.0)))
            kept[pair, one] = total * share
            kept[pair, other] = total - kept[pair, one]
            move_moments(d, w, one, count, old_one, kept[pair, one], *moments)
            move_moments(d, w, other, count, old_other, kept[pair, other], *moments)
