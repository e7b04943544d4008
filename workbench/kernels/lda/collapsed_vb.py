"""Collapsed variational update of LDA, second order (CVB) and zeroth order (CVB0), with optional sampled counts.

    gamma_dwk  ~  exp{ log(alpha_k + E_dk) + log(beta_w + E_wk) - log(B + E_k)
                       - V_dk / 2 (alpha_k + E_dk)^2 - V_wk / 2 (beta_w + E_wk)^2 + V_k / 2 (B + E_k)^2 }       spec A7

E and V are means and variances of the counts without *one* token of the pair, whatever its count: all its tokens share gamma,
and the derivative of the objective by gamma is that of one token. B is the prior of all words, the sum of beta_w in LDA; in the
HDP alpha_k and beta_w are geometric means and B is a mean (spec of the HDP, 4.4). In a hybrid the sampled counts of each chain
are added to the means, without variance, and the exponent is averaged over the chains (spec A.8). CVB0 has no variances
(`var_*` is None). Pairs are visited in canonical order, and the counts are updated after each pair; no objective is guaranteed
to rise.
"""

import math

import numpy as np

from workbench.kernels.jit import aside, inlined, lean
from workbench.kernels.simd.functions import exp_within, normalise_logs, total
from workbench.kernels.simd.vectors import aligned_zeros, doubles, fetch, lane, load_eight, store

TINY = 1e-100
"""A normaliser below this, or above its inverse, is computed in the log domain."""
SMALLEST_PRODUCT, SMALLEST_SQUARE = 1e-154, 1e-300
"""Replace divisors that are 0 where a topic cannot have a word; what is divided is 0 there."""
BLOCK = 8
"""Topics in a vector: with sixteen, the vectors of one formula do not fit into the registers of AVX2."""
AHEAD = 3
"""How many pairs ahead the counts of a word and gamma are prefetched into the cache."""
ALPHA, LIVE, NOTHING, WEIGHTS = range(4)
"""Rows of `make_workspace`."""


@inlined
def less_one_copy(total, part):
    """Return the expected count `total` without `part`, one token's contribution to it, but at least 0."""
    return max(total - part, 0.0)


@aside
def log_weights(
    d,
    w,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    sampled_dk: np.ndarray,
    sampled_wk: np.ndarray,
    sampled_k: np.ndarray,
    alpha,
    beta,
    beta_sum: float,
    n_topics: int,
    old,
    log_gamma,
) -> None:
    """Compute the updated log gamma of one pair, up to a constant, averaged over chains; `old` is the previous gamma."""
    prior_w, n_chains = beta[w], len(sampled_dk)
    for k in range(n_topics):
        g = old[k]
        e_dk, e_wk, e_k = (
            less_one_copy(mean_dk[d, k], g),
            less_one_copy(mean_wk[w, k], g),
            less_one_copy(mean_k[k], g),
        )
        total = 0.0
        for s in range(max(n_chains, 1)):
            a, b, c = alpha[k] + e_dk, prior_w + e_wk, beta_sum + e_k
            if n_chains:
                a, b, c = a + sampled_dk[s, d, k], b + sampled_wk[s, w, k], c + sampled_k[s, 0, k]
            total += math.log(a) + math.log(b) - math.log(c)
            if var_k is not None:
                h = g * (1.0 - g)
                total -= 0.5 * (
                    less_one_copy(var_dk[d, k], h) / (a * a)
                    + less_one_copy(var_wk[w, k], h) / max(b * b, SMALLEST_SQUARE)
                )
                total += 0.5 * less_one_copy(var_k[k], h) / (c * c)
        log_gamma[k] = total / max(n_chains, 1)


def make_workspace(alpha, n_topics: int, n_padded: int) -> np.ndarray:
    """Return the scratch array (4, topic padded) of a pass, with rows `ALPHA`, `LIVE`, `NOTHING` and `WEIGHTS`.

    They are alpha, which is 1 in the padding; 1 for topics and 0 in the padding; zeros; and scratch. The zeros are stored
    since the compiler needs two instructions for the maximum of a number and a constant 0.
    """
    workspace = aligned_zeros((4, n_padded), np.float64)
    workspace[ALPHA] = 1.0
    workspace[ALPHA, :n_topics], workspace[LIVE, :n_topics] = alpha[:n_topics], 1.0
    return workspace


@inlined
def weigh(
    k,
    d,
    w,
    i,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    sampled_dk: np.ndarray,
    sampled_wk: np.ndarray,
    sampled_k: np.ndarray,
    prior_w,
    beta_sum: float,
    gamma,
    workspace,
):
    """Return the updated, unnormalised gamma of one document-word pair for the eight topics from k on.

    i : where the row of the pair begins in `gamma`. The reciprocals of a, b and c, squared, share one division:
    (V_k (ab)^2 - V_dk (bc)^2 - V_wk (ac)^2) / (abc)^2.
    """
    n_padded = len(mean_k)
    zeros, live = (
        load_eight(workspace, NOTHING * n_padded),
        load_eight(workspace, LIVE * n_padded + k),
    )
    index_d, index_w = d * n_padded + k, w * n_padded + k
    g = doubles(load_eight(gamma, i + k))
    a = load_eight(workspace, ALPHA * n_padded + k) + max(load_eight(mean_dk, index_d) - g, zeros)
    b = prior_w + max(load_eight(mean_wk, index_w) - g, zeros)
    c = beta_sum + max(load_eight(mean_k, k) - g, zeros)
    if len(sampled_dk):
        a = a + doubles(load_eight(sampled_dk, index_d))
        b = b + doubles(load_eight(sampled_wk, index_w))
        c = c + doubles(load_eight(sampled_k, k))
    ab = a * b
    if var_k is None:
        return live * (ab / c)
    h = g * (1.0 - g)
    ac, bc = a * c, b * c
    inverse, ab2 = 1.0 / max(ab * c, SMALLEST_PRODUCT), ab * ab
    correction_dk = max(load_eight(var_dk, index_d) - h, zeros) * (bc * bc)
    correction_wk = max(load_eight(var_wk, index_w) - h, zeros) * (ac * ac)
    correction_k = max(load_eight(var_k, k) - h, zeros) * ab2
    exponent = (correction_k - (correction_dk + correction_wk)) * (0.5 * (inverse * inverse))
    return (live * (ab2 * inverse)) * exp_within(max(min(exponent, 700.0), -700.0))


@inlined
def add_to(array, i, change, zeros) -> None:
    """Add change to the eight counts from flat index i on; negative results become 0."""
    store(array, i, max(load_eight(array, i) + change, zeros))


@inlined
def move(
    k,
    d,
    w,
    i,
    count,
    weights,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    gamma,
    workspace,
):
    """Store a pair's updated gamma for the eight topics from k on, adjust the counts; return the change of gamma."""
    n_padded = len(mean_k)
    zeros = load_eight(workspace, NOTHING * n_padded)
    index_d, index_w = d * n_padded + k, w * n_padded + k
    old = doubles(load_eight(gamma, i + k))
    store(gamma, i + k, weights)
    new = doubles(load_eight(gamma, i + k))
    amount = (new - old) * count
    add_to(mean_dk, index_d, amount, zeros)
    add_to(mean_wk, index_w, amount, zeros)
    add_to(mean_k, k, amount, zeros)
    if var_k is not None:
        amount = amount * (1.0 - (new + old))  # n { new (1 - new) - old (1 - old) }
        add_to(var_dk, index_d, amount, zeros)
        add_to(var_wk, index_w, amount, zeros)
        add_to(var_k, k, amount, zeros)
    return max(new - old, old - new)


@inlined
def renew(
    d,
    w,
    count,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    sampled_dk: np.ndarray,
    sampled_wk: np.ndarray,
    sampled_k: np.ndarray,
    alpha,
    beta,
    beta_sum: float,
    n_topics: int,
    gamma,
    row,
    workspace,
):
    """Update gamma and the counts of one pair; return (8,) the largest change of gamma over topics j, j + 8, …"""
    n_padded = len(mean_k)
    i, scratch, inverse = row * n_padded, WEIGHTS * n_padded, 1.0
    by_logs = len(sampled_dk) > 1
    if not by_logs:
        weights = load_eight(workspace, NOTHING * n_padded)
        for k in range(0, n_topics, BLOCK):
            result = weigh(
                k,
                d,
                w,
                i,
                mean_dk,
                mean_wk,
                mean_k,
                var_dk,
                var_wk,
                var_k,
                sampled_dk,
                sampled_wk,
                sampled_k,
                beta[w],
                beta_sum,
                gamma,
                workspace,
            )
            store(workspace, scratch + k, result)
            weights = weights + result
        normaliser = total(weights)
        inverse = 1.0 / normaliser
        by_logs = not TINY < normaliser < 1.0 / TINY
    if by_logs:
        log_weights(
            d,
            w,
            mean_dk,
            mean_wk,
            mean_k,
            var_dk,
            var_wk,
            var_k,
            sampled_dk,
            sampled_wk,
            sampled_k,
            alpha,
            beta,
            beta_sum,
            n_topics,
            gamma[row],
            workspace[WEIGHTS],
        )
        normalise_logs(n_topics, workspace[WEIGHTS])
        inverse = 1.0
    largest = load_eight(workspace, NOTHING * n_padded)
    for k in range(0, n_topics, BLOCK):
        result = load_eight(workspace, scratch + k) * inverse
        largest = max(
            largest,
            move(
                k,
                d,
                w,
                i,
                count,
                result,
                mean_dk,
                mean_wk,
                mean_k,
                var_dk,
                var_wk,
                var_k,
                gamma,
                workspace,
            ),
        )
    return largest


@inlined
def highest(values):
    """Return the largest element of a vector of eight."""
    result = lane(values, 0)
    for k in range(1, BLOCK):
        result = max(result, lane(values, k))
    return result


@lean
def update_pair(
    d,
    w,
    count,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    sampled_dk: np.ndarray,
    sampled_wk: np.ndarray,
    sampled_k: np.ndarray,
    alpha,
    beta,
    beta_sum: float,
    n_topics: int,
    gamma,
    row,
    workspace,
):
    """Update gamma[row] of one pair, and means and variances of counts; return the largest change of gamma.

    alpha (topic,), beta (word,) and beta_sum, the prior of all words, are added to the counts; workspace : `make_workspace`.
    """
    return highest(
        renew(
            d,
            w,
            count,
            mean_dk,
            mean_wk,
            mean_k,
            var_dk,
            var_wk,
            var_k,
            sampled_dk,
            sampled_wk,
            sampled_k,
            alpha,
            beta,
            beta_sum,
            n_topics,
            gamma,
            row,
            workspace,
        )
    )


@lean
def update_in_order(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    rows,
    gamma,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    sampled_dk: np.ndarray,
    sampled_wk: np.ndarray,
    sampled_k: np.ndarray,
    alpha,
    beta,
    beta_sum: float,
    n_topics: int,
    workspace,
):
    """Update gamma of the pairs of documents first..last one after another; return the largest change of gamma.

    rows (pair,) : the row of each pair in `gamma`
    """
    largest, end = load_eight(workspace, NOTHING * len(mean_k)), indptr[last] - 1
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            later = min(pair + AHEAD, end)
            word_begin, gamma_begin = words[later] * len(mean_k), rows[later] * len(mean_k)
            for k in range(0, n_topics, BLOCK):
                fetch(mean_wk, word_begin + k)
                fetch(gamma, gamma_begin + k)
                if var_k is not None:
                    fetch(var_wk, word_begin + k)
            change = renew(
                d,
                words[pair],
                counts[pair],
                mean_dk,
                mean_wk,
                mean_k,
                var_dk,
                var_wk,
                var_k,
                sampled_dk,
                sampled_wk,
                sampled_k,
                alpha,
                beta,
                beta_sum,
                n_topics,
                gamma,
                rows[pair],
                workspace,
            )
            largest = max(largest, change)
    return highest(largest)


@lean
def add_moments(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    sampled,
    gamma,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    n_topics: int,
) -> None:
    """Add mean n gamma and variance n gamma (1 - gamma) of each pair that is not sampled to `mean_*` and `var_*`.

    The arrays are 0 on entry.
    """
    n_padded, i = len(mean_k), 0
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if sampled[pair]:
                continue
            begin_d, begin_w = d * n_padded, words[pair] * n_padded
            for k in range(0, n_topics, BLOCK):
                g = doubles(load_eight(gamma, i + k))
                part = counts[pair] * g
                store(mean_dk, begin_d + k, load_eight(mean_dk, begin_d + k) + part)
                store(mean_wk, begin_w + k, load_eight(mean_wk, begin_w + k) + part)
                store(mean_k, k, load_eight(mean_k, k) + part)
                if var_k is not None:
                    part = part * (1.0 - g)
                    store(var_dk, begin_d + k, load_eight(var_dk, begin_d + k) + part)
                    store(var_wk, begin_w + k, load_eight(var_wk, begin_w + k) + part)
                    store(var_k, k, load_eight(var_k, k) + part)
            i += n_padded
