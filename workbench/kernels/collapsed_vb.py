"""The collapsed variational update of LDA, second order (CVB) and zeroth order (CVB0), with optional sampled counts.

    gamma_dwk  ~  exp{ log(alpha_k + E_dk) + log(beta_w + E_wk) - log(B + E_k)
                       - V_dk / 2 (alpha_k + E_dk)^2 - V_wk / 2 (beta_w + E_wk)^2 + V_k / 2 (B + E_k)^2 }       spec A7

E and V are means and variances of the counts with *one* copy of the pair taken out, whatever its count:
all copies share gamma, and the derivative of the objective by gamma is that of one token. B is the prior of
all words, the sum of beta_w in LDA; in the HDP alpha_k and beta_w are geometric means and B is a mean (spec of
the HDP, 4.4). In a hybrid the sampled counts of each chain are added to the means, without variance, and the
exponent is averaged over the chains (spec A.8). CVB0 has no variances (`var_*` None). Pairs are visited in
canonical order and the counts follow each pair; nothing guarantees that an objective rises.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.special import fast_exp, normalise_logs

TINY = 1e-100
"""A normaliser below this, or above its inverse, is computed in the log domain."""


@kernel
def less_one_copy(total, part):
    """A sum without one copy's part; rounding may leave less than nothing."""
    return max(total - part, 0.0)


@kernel
def log_weights(
    d, w, mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, beta_sum,
    n_topics, old, log_gamma,
):
    """log gamma of one pair up to a constant, averaged over the chains; `old` is its present gamma."""
    prior_w = beta[w]
    n_chains = 1 if sampled_dk is None else sampled_dk.shape[0]
    for k in range(n_topics):
        g = old[k]
        e_dk, e_wk, e_k = less_one_copy(mean_dk[d, k], g), less_one_copy(mean_wk[w, k], g), less_one_copy(mean_k[k], g)
        total = 0.0
        for s in range(n_chains):
            a, b, c = alpha[k] + e_dk, prior_w + e_wk, beta_sum + e_k
            if sampled_dk is not None:
                a, b, c = a + sampled_dk[s, d, k], b + sampled_wk[s, w, k], c + sampled_k[s, 0, k]
            total += math.log(a) + math.log(b) - math.log(c)
            if var_k is not None:
                h = g * (1.0 - g)
                total -= 0.5 * (less_one_copy(var_dk[d, k], h) / (a * a) + less_one_copy(var_wk[w, k], h) / (b * b))
                total += 0.5 * less_one_copy(var_k[k], h) / (c * c)
        log_gamma[k] = total / n_chains


@kernel
def update_pair(
    d, w, count, mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, beta_sum,
    n_topics, kept, row, gamma,
):
    """One pair: its new gamma to `kept[row]`, means and variances moved along; returns the largest change of gamma.

    alpha (topic,), beta (word,) and beta_sum, the prior of all words, are what is added to the counts.
    """
    old, prior_w = kept[row], beta[w]
    by_logs = sampled_dk is not None and sampled_dk.shape[0] > 1
    if not by_logs:
        normaliser = 0.0
        for k in range(n_topics):
            g = old[k]
            a, b, c = less_one_copy(mean_dk[d, k], g), less_one_copy(mean_wk[w, k], g), less_one_copy(mean_k[k], g)
            a, b, c = alpha[k] + a, prior_w + b, beta_sum + c
            if sampled_dk is not None:
                a, b, c = a + sampled_dk[0, d, k], b + sampled_wk[0, w, k], c + sampled_k[0, 0, k]
            if var_k is None:
                gamma[k] = a * b / c
            else:
                h = g * (1.0 - g)
                inverse = 1.0 / (a * b * c)
                u, v, t = b * c * inverse, a * c * inverse, a * b * inverse  # 1/a, 1/b, 1/c
                exponent = 0.5 * (
                    less_one_copy(var_k[k], h) * (t * t)
                    - (less_one_copy(var_dk[d, k], h) * (u * u) + less_one_copy(var_wk[w, k], h) * (v * v))
                )
                gamma[k] = a * b * t * fast_exp(min(exponent, 700.0))
            normaliser += gamma[k]
        by_logs = not TINY < normaliser < 1.0 / TINY
        if not by_logs:
            inverse = 1.0 / normaliser
            for k in range(n_topics):
                gamma[k] *= inverse
    if by_logs:
        log_weights(
            d, w, mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k, sampled_dk, sampled_wk, sampled_k, alpha, beta, beta_sum,
            n_topics, old, gamma,
        )
        normalise_logs(n_topics, gamma)
    largest = 0.0
    for k in range(n_topics):
        change = gamma[k] - old[k]
        largest = max(largest, abs(change))
        mean_dk[d, k] = max(mean_dk[d, k] + count * change, 0.0)
        mean_wk[w, k] = max(mean_wk[w, k] + count * change, 0.0)
        mean_k[k] = max(mean_k[k] + count * change, 0.0)
        if var_k is not None:
            change = gamma[k] * (1.0 - gamma[k]) - old[k] * (1.0 - old[k])
            var_dk[d, k] = max(var_dk[d, k] + count * change, 0.0)
            var_wk[w, k] = max(var_wk[w, k] + count * change, 0.0)
            var_k[k] = max(var_k[k] + count * change, 0.0)
        old[k] = gamma[k]
    return largest


@kernel
def update_in_order(
    first, last, indptr, words, counts, threshold, variational_before, kept, mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k,
    sampled_dk, sampled_wk, sampled_k, alpha, beta, beta_sum, n_topics,
):
    """`update_pair` for each variational pair of documents first..last; returns the largest change of any gamma."""
    gamma = np.empty(n_topics)
    largest = 0.0
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            if counts[pair] > threshold:
                changed = update_pair(
                    d, words[pair], counts[pair], mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k,
                    sampled_dk, sampled_wk, sampled_k, alpha, beta, beta_sum, n_topics, kept, variational_before[pair], gamma,
                )
                largest = max(largest, changed)
    return largest


@kernel
def add_moments(indptr, words, counts, threshold, kept, mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k, n_topics):
    """Adds mean and variance of the counts behind gamma, n gamma and n gamma (1 - gamma), to zeroed arrays."""
    row = 0
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            n = counts[pair]
            if n <= threshold:
                continue
            w = words[pair]
            for k in range(n_topics):
                g = kept[row, k]
                mean_dk[d, k] += n * g
                mean_wk[w, k] += n * g
                mean_k[k] += n * g
                if var_k is not None:
                    h = n * (g * (1.0 - g))
                    var_dk[d, k] += h
                    var_wk[w, k] += h
                    var_k[k] += h
            row += 1
