"""Collapsed log joint probability of LDA as a function of counts, and the predictive probability of tokens.

    L(n) = sum_d [ lnG(A) - lnG(A + N_d) + sum_k ( lnG(alpha_k + n_dk) - lnG(alpha_k) ) ]
         + sum_k [ lnG(W beta) - lnG(W beta + n_k) + sum_w ( lnG(beta + n_wk) - lnG(beta) ) ]     spec A1

For integer counts this is log p(w, z) in nats, all constants included; it extends to real counts. Each
lnG(x + n) - lnG(x), a *rise*, is computed for sixteen topics at a time, or taken from a table where the counts are
whole and x is one for all topics: the same numbers, added in one order.
"""

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.functions import count, log_gammas, total
from workbench.kernels.simd.vectors import (
    LANES,
    choose,
    doubles,
    fetch,
    load,
    numbers,
    pad_topics,
    padded,
    spread,
    store,
    take,
)

IN_TABLE = 2048
"""Integer counts below this are looked up in a table, which fits into the fastest cache."""
AHEAD, ONE_BLOCK = np.uint64(8), np.uint64(LANES)
"""How many pairs ahead the counts of a word are prefetched into the cache; topics in a block; unsigned, as indices are."""


def log_documents(n_dk: np.ndarray, alpha, n_topics: int) -> float:
    """Return the documents' part of the log joint L(n).

    n_dk (document, topic) : counts, integer or real, padded; alpha (topic,)
    """
    tokens = np.zeros(-(-len(n_dk) // LANES) * LANES)
    rises = _rises(n_dk, alpha[:n_topics], tokens)
    return rises - _rises(tokens.reshape(-1, LANES), np.full(LANES, alpha[:n_topics].sum()))


def log_joint(
    n_dk: np.ndarray, n_wk: np.ndarray, n_k: np.ndarray, alpha, beta, n_topics: int
) -> float:
    """Return the log joint L(n) of padded counts n_dk (document, topic), n_wk (word, topic), n_k (topic,), whole or real."""
    return log_joint_from(log_documents(n_dk, alpha, n_topics), n_wk, n_k, beta, n_topics)


def log_joint_from(document_part, n_wk: np.ndarray, n_k: np.ndarray, beta, n_topics: int) -> float:
    """Return the log joint L(n), given the documents' part and padded counts n_wk (word, topic), n_k (topic,).

    beta : a number, or a table (word, topic), padded
    """
    word_part, size_part = _rises_of_topics(n_wk, n_k, beta, n_topics)
    return document_part + word_part - size_part


def log_topics(n_wk: np.ndarray, n_k: np.ndarray, beta, n_topics: int) -> float:
    """Return the topics' part of the log joint L(n), from padded counts n_wk (word, topic) and n_k (topic,)."""
    word_part, size_part = _rises_of_topics(n_wk, n_k, beta, n_topics)
    return word_part - size_part


def _rises_of_topics(n_wk: np.ndarray, n_k: np.ndarray, beta, n_topics: int) -> tuple[float, float]:
    sizes = n_k[None].astype(np.float64)
    if np.ndim(beta):
        return _add_rises_of_cells(n_wk, beta), _rises(sizes, beta.sum(axis=0)[:n_topics])
    return _rises(n_wk, np.full(n_topics, beta)), _rises(sizes, np.full(n_topics, len(n_wk) * beta))


def _rises(counts: np.ndarray, x, row_sums=None) -> float:
    """Return sum_rk lnG(x_k + n_rk) - lnG(x_k) of counts (row, topic padded); write their row sums to row_sums (row,)."""
    alike, x = counts.dtype.kind == "i" and bool((x == x[0]).all()), pad_topics(x, 1.0)
    row_sums = np.empty(len(counts)) if row_sums is None else row_sums
    workspace = np.empty(max(IN_TABLE, len(x)))
    return (_look_up_rises if alike else _add_rises)(counts, x, row_sums, workspace)


@inlined
def rises_of(n, x, log_gamma_x):
    """Return lnG(x + n) - lnG(x) of sixteen counts n."""
    return choose(n == 0, spread(0.0), log_gammas(x + doubles(n)) - log_gamma_x)


@lean
def _add_rises(counts: np.ndarray, x, row_sums, log_gamma_x):
    """Return sum_rk lnG(x_k + n_rk) - lnG(x_k) for `_rises`, term by term; log_gamma_x is scratch."""
    rises = spread(0.0)
    for k in range(0, len(x), LANES):
        store(log_gamma_x, k, log_gammas(load(x, k)))
    for row in range(len(counts)):
        sums, row_rises = spread(0.0), spread(0.0)
        for k in range(0, len(x), LANES):
            n = load(counts, row * counts.shape[1] + k)
            sums += doubles(n)
            if count(n == 0) < LANES:
                row_rises += rises_of(n, load(x, k), load(log_gamma_x, k))
        rises += row_rises
        row_sums[row] = total(sums)
    return total(rises)


@lean
def _add_rises_of_cells(counts: np.ndarray, x):
    """Return sum_rk lnG(x_rk + n_rk) - lnG(x_rk) of counts and x, each (row, topic padded)."""
    rises = spread(0.0)
    for index in range(0, counts.size, LANES):
        n = load(counts, index)
        if count(n == 0) < LANES:
            x_of = load(x, index)
            rises += rises_of(n, x_of, log_gammas(x_of))
    return total(rises)


@lean
def _look_up_rises(counts: np.ndarray, x, row_sums, table):
    """Return sum_rk lnG(x + n_rk) - lnG(x) for `_rises` of integer counts and equal x_k = x, from a table of terms."""
    x, rises = spread(x[0]), spread(0.0)
    log_gamma_x = log_gammas(x)
    for n in range(0, IN_TABLE, LANES):
        store(table, n, rises_of(numbers(x) + n, x, log_gamma_x))
    for row in range(len(counts)):
        sums, row_rises = spread(0.0), spread(0.0)
        for k in range(0, counts.shape[1], LANES):
            n = load(counts, row * counts.shape[1] + k)
            sums += doubles(n)
            if count(n == 0) == LANES:
                continue
            if count(n < IN_TABLE) == LANES:
                row_rises += take(table, n)
            else:
                row_rises += rises_of(n, x, log_gamma_x)
        rises += row_rises
        row_sums[row] = total(sums)
    return total(rises)


def predictive(
    pairs, document_tokens, n_dk: np.ndarray, n_wk: np.ndarray, n_k: np.ndarray, alphas, beta
) -> np.ndarray:
    """Return p(w | d) of each pair: sum_k [(alpha_k + n_dk) / (A + N_d)] * [(beta + n_wk) / (W beta + n_k)] (spec A2).

    pairs : Corpus whose pairs are scored
    document_tokens (document,) : N_d, the sum of n_dk over topics
    n_dk, n_wk, n_k : counts, integer or real, padded to any width
    beta : a number, or a table (word, topic), padded
    """
    n_wk, n_k, beta = with_prior(beta, n_wk, n_k)
    probability = np.empty(pairs.n_pairs)
    inverse_sizes = pad_topics(1.0 / (len(n_wk) * beta + n_k[: len(alphas)]))
    alpha, row = pad_topics(alphas), np.empty(padded(len(alphas)))
    _predictive(
        pairs.indptr,
        pairs.words,
        document_tokens,
        n_dk,
        n_wk,
        alpha,
        beta,
        inverse_sizes,
        row,
        probability,
    )
    return probability


@lean
def _predictive(
    indptr: np.ndarray,
    words: np.ndarray,
    document_tokens,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    alpha,
    beta,
    inverse_sizes,
    row,
    probability: np.ndarray,
) -> None:
    """Compute p(w | d) = beta sum_k row_k + sum_k row_k n_wk with row_k = (alpha_k + n_dk) / ((A + N_d) (W beta + n_k)).

    Indices are unsigned, since each use of a signed one tests whether it is negative.
    """
    lanes, last, alpha_sum = np.uint64(len(alpha)), np.uint64(len(words)) - np.uint64(1), 0.0
    for k in range(lanes):
        alpha_sum += alpha[k]
    width_d, width_w = np.uint64(n_dk.shape[1]), np.uint64(n_wk.shape[1])
    for d in range(np.uint64(len(document_tokens))):
        first, end = np.uint64(indptr[d]), np.uint64(indptr[d + np.uint64(1)])
        if first == end:
            continue
        scale, row_sum = 1.0 / (alpha_sum + document_tokens[d]), 0.0
        for k in range(np.uint64(0), lanes, ONE_BLOCK):
            weights = (
                (load(alpha, k) + doubles(load(n_dk, d * width_d + k)))
                * load(inverse_sizes, k)
                * scale
            )
            store(row, k, weights)
            row_sum += total(weights)
        smallest, weights = beta * row_sum, load(row, 0)
        if lanes == ONE_BLOCK:
            for pair in range(first, end):
                fetch(n_wk, _row(words, min(pair + AHEAD, last), width_w))
                probability[pair] = smallest + total(
                    weights * doubles(load(n_wk, _row(words, pair, width_w)))
                )
            continue
        for pair in range(first, end):
            index, next_at = (
                _row(words, pair, width_w),
                _row(words, min(pair + AHEAD, last), width_w),
            )
            sums = weights * doubles(load(n_wk, index))
            fetch(n_wk, next_at)
            for k in range(ONE_BLOCK, lanes, ONE_BLOCK):
                sums += load(row, k) * doubles(load(n_wk, index + k))
                fetch(n_wk, next_at + k)
            probability[pair] = smallest + total(sums)


@inlined
def _row(words: np.ndarray, pair, width):
    """Return the flat index at which the counts of the word of a document-word pair begin."""
    return np.uint64(words[pair]) * width
