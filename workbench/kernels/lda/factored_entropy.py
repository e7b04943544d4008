"""Entropy of factorised responsibilities, computed from their factors after a sweep and not within it.

    gamma_dwk = a_dk b_wk / Z_dw:   - sum n_dw gamma log gamma  =  sum n_dw log Z_dw - sum n_dk log a_dk - sum n_wk log b_wk

with n_dk and n_wk the expected counts that these responsibilities make (spec A4). The factors are the weights of
`standard_vb.weigh_rows`, and `ratios` hold n_dw / Z_dw; 0 says that a pair went by its logs.
"""

import numpy as np

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.lda.standard_vb import FAINT, log_domain_gamma
from workbench.kernels.simd.lanes import LANES
from workbench.kernels.simd.reductions import count, total
from workbench.kernels.simd.special import fast_log
from workbench.kernels.simd.vectors import choose, doubles, load, spread

LARGEST_POWER = 3.0
"""Largest count of a pair whose power is multiplied up; of larger ones the logarithm is taken separately."""
SMALLEST_PRODUCT, LARGEST_PRODUCT = 1e-200, 1e200
"""Range of the product of normalisers; beyond it the logarithm is taken and the product restarts at 1."""


@lean
def log_weights(mean, logs, weights):
    """sum_rk n_rk log weight_rk; the logs of rows with a faint weight are stored."""
    expected = spread(0.0)
    for i in range(0, mean.size, LANES):
        n, weight = load(mean, i), load(weights, i)
        log, faint = fast_log(max(weight, FAINT)), weight < FAINT
        if count(faint) > 0:
            log = choose(faint & (n > 0.0), load(logs, i), log)
        expected += n * log
    return total(expected)


@inlined
def times_power(product, logs, c, z):
    """Adds c log z of sixteen pairs: small powers to the product, which has one log; returns product and logs."""
    often = c > LARGEST_POWER
    power = choose(
        often, spread(1.0), z * choose(c > 1.0, z, spread(1.0)) * choose(c > 2.0, z, spread(1.0))
    )
    longer = product * power
    if count(longer < SMALLEST_PRODUCT) + count(longer > LARGEST_PRODUCT) == 0:
        product = longer
    else:
        product, logs = power, logs + fast_log(product)
    if count(often) > 0:
        logs += choose(often, c * fast_log(z), spread(0.0))
    return product, logs


@lean
def log_normalisers(counts, ratios):
    """sum_dw n_dw log Z_dw of the pairs whose ratio is not 0, and how many of the others have tokens."""
    product, logs, by_themselves, n_by_logs = spread(1.0), spread(0.0), 0.0, 0
    in_lanes = len(ratios) - len(ratios) % LANES
    for i in range(0, in_lanes, LANES):
        c, ratio = doubles(load(counts, i)), load(ratios, i)
        by_logs = ratio == 0.0
        n_by_logs += count(by_logs & (c > 0.0))
        product, logs = times_power(product, logs, c, choose(by_logs, spread(1.0), c / ratio))
    for i in range(in_lanes, len(ratios)):
        if ratios[i] > 0.0:
            by_themselves += counts[i] * fast_log(counts[i] / ratios[i])
        else:
            n_by_logs += counts[i] > 0
    return total(logs + fast_log(product)) + by_themselves, n_by_logs


@kernel
def log_normalisers_by_logs(
    documents, words, counts, document_logs, document_weights, word_logs, word_weights, n_topics
):
    """sum_dw n_dw log Z_dw of pairs with a tiny normaliser."""
    gamma, found = np.empty(n_topics), 0.0
    for i in range(len(counts)):
        d, w = np.int64(documents[i]), np.int64(words[i])
        found += counts[i] * log_domain_gamma(
            d, document_logs, document_weights, w, word_logs, word_weights, n_topics, gamma
        )
    return found
