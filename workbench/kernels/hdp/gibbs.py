"""Direct assignment Gibbs sampler of the HDP: draws the topics of tokens, which may be new, and the numbers of tables.

    p(z_i = k | z_-i)    ~  (n_dk + alpha pi_k) (n_wk + beta / W) / (n_k + beta)     for a topic that is in use
    p(z_i = new | z_-i)  ~  alpha pi_rest / W                                        spec of the HDP, 10 A

with token i removed from the counts. A slot is a column of the count arrays; it holds one topic or is free. A free slot has
pi_k = 0 and no token, so it is never drawn. A new topic takes the lowest free slot, with pi_k = b pi_rest, b ~ Beta(1, gamma).

The weights are arranged in rows of eight, slot k in column k modulo 8. They are summed down each column, then across the
columns, so that the order of additions does not depend on the number of free slots, and a row fits into a vector.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.lda.gibbs import count_token
from workbench.kernels.simd.functions import count, running_in_order
from workbench.kernels.simd.vectors import doubles, fetch, lane, load_eight, store
from workbench.kernels.uniforms import uniform

COLUMNS = 8
"""Weights in a row, which `load_eight` loads."""
COUNTS_PER_LINE = 16
"""Number of int32 counts in a cache line."""
AHEAD = 4
"""How many pairs ahead the counts of a word are prefetched into the cache."""
SMALLEST_WEIGHT = 1e-300
"""Lower limit of the weight of a topic in use: 0 would mark its slot as free."""


@kernel
def draw_slot(share, row, word_beta, new_weight, u, n_rows: int, cumulative: np.ndarray):
    """Draw the topic of a token: slot k has weight share_k (row_k + beta / W), and -1, a new topic, has weight new_weight.

    row : the counts of the word in each slot; `cumulative` is scratch
    """
    sums = load_eight(share, 0) * 0.0
    for k in range(0, n_rows * COLUMNS, COLUMNS):
        sums += load_eight(share, k) * (word_beta + doubles(load_eight(row, k)))
        store(cumulative, k, sums)
    ends = running_in_order(sums)
    total = lane(ends, COLUMNS - 1)
    target = u * (total + new_weight)
    if target >= total:
        return -1
    column = count(ends <= target)
    if column > 0:
        target -= lane(ends, column - 1)
    top, n_below = cumulative[(n_rows - 1) * COLUMNS + column], 0
    # without a branch; if rounding leaves the target at the total, the last slot with a weight
    for r in range(n_rows):
        row_sum = cumulative[r * COLUMNS + column]
        n_below += (row_sum <= target) & (row_sum < top)
    return n_below * COLUMNS + column


@kernel
def draw_tokens(
    first: int,
    last: int,
    from_token,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    weights,
    rest,
    n_used,
    alpha,
    beta,
    gamma,
    key: np.uint64,
    new_key: np.uint64,
):
    """Draw the topics of the tokens of documents first..last in canonical order, beginning with `from_token`.

    topics (token,) uint16; n_dk (document, slot), n_wk (word, slot) int32, n_k (slot,) int64 and weights pi (slot,)
    are changed in place. Returns (document, token, how many tokens changed topic, pi_rest, 1 + the highest slot in use);
    document and token are where the draws stopped since no slot was free, or -1 and 0.
    """
    capacity, word_beta = len(weights), beta / len(n_wk)
    share, cumulative, lowest_free, n_moved = np.zeros(capacity), np.zeros(capacity), 0, 0
    for d in range(first, last):
        n_rows, counts_d = -(-n_used // COLUMNS), n_dk[d]
        for k in range(n_rows * COLUMNS):
            share[k] = (n_dk[d, k] + alpha * weights[k]) / (n_k[k] + beta)
        for pair in range(indptr[d], indptr[d + 1]):
            if pair + AHEAD < len(words):
                for k in range(0, n_rows * COLUMNS, COUNTS_PER_LINE):
                    fetch(n_wk, words[pair + AHEAD] * np.int64(capacity) + k)
            row = n_wk[words[pair]]
            for token in range(
                max(tokens_before[pair], from_token), tokens_before[pair] + counts[pair]
            ):
                old = np.int64(topics[token])
                count_token(old, -1, counts_d, row, n_k)
                share[old] = (n_dk[d, old] + alpha * weights[old]) / (n_k[old] + beta)
                new = draw_slot(
                    share,
                    row,
                    word_beta,
                    alpha * rest / len(n_wk),
                    uniform(key, token),
                    n_rows,
                    cumulative,
                )
                if new < 0:
                    while lowest_free < capacity - 1 and weights[lowest_free] > 0.0:
                        lowest_free += 1
                    if lowest_free == capacity - 1:  # the last slot is kept for pi_rest
                        count_token(old, 1, counts_d, row, n_k)
                        return d, token, n_moved, rest, n_used
                    new = lowest_free
                    weights[new], rest = break_stick(rest, gamma, uniform(new_key, token))
                    n_used = max(n_used, new + 1)
                    n_rows = -(-n_used // COLUMNS)
                topics[token] = new
                count_token(new, 1, counts_d, row, n_k)
                share[new] = (n_dk[d, new] + alpha * weights[new]) / (n_k[new] + beta)
                n_moved += new != old
    return -1, 0, n_moved, rest, n_used


@kernel
def break_stick(rest, gamma, u):
    """Return b pi_rest, the weight of a new topic, and (1 - b) pi_rest, with b ~ Beta(1, gamma) by a uniform u."""
    log_kept = math.log1p(-u) / gamma
    return max(-math.expm1(log_kept) * rest, SMALLEST_WEIGHT), max(
        math.exp(log_kept) * rest, SMALLEST_WEIGHT
    )


@kernel
def draw_tables(
    indptr: np.ndarray, tokens_before: np.ndarray, n_dk: np.ndarray, alpha_weights, key: np.uint64
):
    """Draw the number of tables of each topic in each document; return the sums over documents (topic slot,).

    m_dk = 1 + sum_i Bernoulli(a / (a + i)), 0 < i < n_dk, with a = alpha pi_k (spec of the HDP, 10 B). The index of a uniform
    is that of a token of the document, so that no two draws share one.
    """
    tables = np.zeros(len(alpha_weights), np.int64)
    for d in range(len(indptr) - 1):
        index = tokens_before[indptr[d]]
        for k in range(len(alpha_weights)):
            n = n_dk[d, k]
            if n == 0:
                continue
            a, result = alpha_weights[k], 1
            for i in range(1, n):
                result += uniform(key, index + i) * (a + i) < a
            index += n
            tables[k] += result
    return tables
