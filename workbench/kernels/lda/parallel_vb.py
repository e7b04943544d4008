"""One pass of variational Bayes in the parallel schedule: each pair adds its expected counts to its document and its word.

    n_dw gamma_dwk = n_dw a_dk b_wk / Z_dw,   Z_dw = sum_k a_dk b_wk                                    spec A5, A9

a and b are the weights that `standard_vb.weigh_rows` computes from the counts before the pass. Pairs are sorted by blocks of
documents, and by word within a block (`engines.lda.split`). A run is the pairs of one word in a block: it reads and writes the
rows of the word once, and the rows of a block's documents stay in a cache. The counts of a document are added up in the order
of words, those of a word in the order of documents, so that the bits do not depend on the blocks. Responsibilities are not
stored; where exp(psi) underflows and a normaliser is tiny, the pair is computed in the log domain at the end.
"""

import numpy as np

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.lda.standard_vb import GROUP, TINY, four_from, log_domain_gamma
from workbench.kernels.simd.functions import count, totals
from workbench.kernels.simd.vectors import (
    LANES,
    LINE,
    choose,
    doubles,
    fetch,
    lane,
    load,
    load_four,
    numbers,
    spread,
    store,
)

AT_ONCE = 8
"""Pairs whose normalisers `visit` computes before it adds their counts."""
WIDE = 320
"""Rows of at least this many topics are visited by `visit_wide`."""
AHEAD = 2
"""How many runs ahead rows are prefetched into the cache."""


@inlined
def share(i, end, normalisers, counts: np.ndarray, ratios: np.ndarray):
    """Return n / Z of four pairs, 0 if Z is tiny or the pair is past `end`, and how many Z are tiny; store the ratios."""
    copies = doubles(load_four(counts, i))
    is_in_run, tiny = numbers(copies) < float(end - i), normalisers < TINY
    result = choose(tiny, 0.0 * copies, choose(is_in_run, copies, 0.0 * copies) / normalisers)
    store(ratios, i, result)
    return (
        lane(result, 0),
        lane(result, 1),
        lane(result, 2),
        lane(result, 3),
        count(is_in_run & tiny),
    )


@inlined
def visit_narrow(
    begin,
    end,
    row_begin,
    documents: np.ndarray,
    counts: np.ndarray,
    document_weights: np.ndarray,
    word_weights: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    ratios: np.ndarray,
):
    """Add the expected counts of one word's pairs as `visit` does, for at most sixteen topics, with n_wk in registers."""
    b, n_w, n_tiny = load(word_weights, row_begin), load(mean_wk, row_begin), 0
    for i in range(begin, end, GROUP):
        r0, r1, r2, r3 = rows_from(documents, i, LANES)
        g0, g1 = b * load(document_weights, r0), b * load(document_weights, r1)
        g2, g3 = b * load(document_weights, r2), b * load(document_weights, r3)
        q0, q1, q2, q3, tiny = share(i, end, totals(g0, g1, g2, g3), counts, ratios)
        g0, g1, g2, g3 = q0 * g0, q1 * g1, q2 * g2, q3 * g3
        n_w += g0
        n_w += g1
        n_w += g2
        n_w += g3
        store(mean_dk, r0, load(mean_dk, r0) + g0)
        store(mean_dk, r1, load(mean_dk, r1) + g1)
        store(mean_dk, r2, load(mean_dk, r2) + g2)
        store(mean_dk, r3, load(mean_dk, r3) + g3)
        n_tiny += tiny
    store(mean_wk, row_begin, n_w)
    return n_tiny


@inlined
def visit(
    begin,
    end,
    row_begin,
    documents: np.ndarray,
    counts: np.ndarray,
    document_weights: np.ndarray,
    word_weights: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    ratios: np.ndarray,
):
    """Add the expected counts of one word's pairs begin..end to mean_dk and mean_wk; return how many normalisers are tiny.

    row_begin : where the rows of the word begin. Writes n / Z of each pair to ratios, 0 where Z is tiny. Four pairs are visited
    at a time; if the last four reach into the next run, 0 is added for its documents. The normalisers of several pairs come
    first, then their counts: a processor does not look far enough ahead to find other work while it waits for a division.
    """
    n_padded, n_tiny = mean_dk.shape[1], 0
    for start in range(begin, end, AT_ONCE):
        stop = min(start + AT_ONCE, end)
        for i in range(start, stop, GROUP):
            r0, r1, r2, r3 = rows_from(documents, i, n_padded)
            z0 = z1 = z2 = z3 = spread(0.0)
            for k in range(0, n_padded, LANES):
                b = load(word_weights, row_begin + k)
                z0 += b * load(document_weights, r0 + k)
                z1 += b * load(document_weights, r1 + k)
                z2 += b * load(document_weights, r2 + k)
                z3 += b * load(document_weights, r3 + k)
            n_tiny += share(i, end, totals(z0, z1, z2, z3), counts, ratios)[4]
        for i in range(start, stop, GROUP):
            r0, r1, r2, r3 = rows_from(documents, i, n_padded)
            q0, q1, q2, q3 = four_from(ratios, i)
            for k in range(0, n_padded, LANES):
                b, n_w = load(word_weights, row_begin + k), load(mean_wk, row_begin + k)
                n_w += give(mean_dk, r0 + k, (q0 * b) * load(document_weights, r0 + k))
                n_w += give(mean_dk, r1 + k, (q1 * b) * load(document_weights, r1 + k))
                n_w += give(mean_dk, r2 + k, (q2 * b) * load(document_weights, r2 + k))
                n_w += give(mean_dk, r3 + k, (q3 * b) * load(document_weights, r3 + k))
                store(mean_wk, row_begin + k, n_w)
    return n_tiny


@inlined
def visit_wide(
    begin,
    end,
    row_begin,
    documents: np.ndarray,
    counts: np.ndarray,
    document_weights: np.ndarray,
    word_weights: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    ratios: np.ndarray,
):
    """Add the expected counts of one word's pairs as `visit` does, two pairs at a time, for very many topics.

    With so many topics four rows would not fit the fastest cache.
    """
    n_padded, n_tiny = mean_dk.shape[1], 0
    for i in range(begin, end, 2):
        r0, r1, _, _ = rows_from(documents, i, n_padded)
        z0 = z1 = none = spread(0.0)
        for k in range(0, n_padded, LANES):
            b = load(word_weights, row_begin + k)
            z0 += b * load(document_weights, r0 + k)
            z1 += b * load(document_weights, r1 + k)
        q0, q1, _, _, tiny = share(i, min(i + 2, end), totals(z0, z1, none, none), counts, ratios)
        for k in range(0, n_padded, LANES):
            b, n_w = load(word_weights, row_begin + k), load(mean_wk, row_begin + k)
            n_w += give(mean_dk, r0 + k, (q0 * b) * load(document_weights, r0 + k))
            n_w += give(mean_dk, r1 + k, (q1 * b) * load(document_weights, r1 + k))
            store(mean_wk, row_begin + k, n_w)
        n_tiny += tiny
    return n_tiny


@inlined
def give(mean, index, expected):
    """Add the sixteen numbers `expected` to those of the array `mean` from flat index `index` on; return `expected`."""
    store(mean, index, load(mean, index) + expected)
    return expected


@inlined
def rows_from(documents: np.ndarray, i, n_padded: int):
    """Return the flat indices at which the document rows of the four pairs from i on begin."""
    d0, d1, d2, d3 = four_from(documents, i)
    return (
        np.int64(d0) * n_padded,
        np.int64(d1) * n_padded,
        np.int64(d2) * n_padded,
        np.int64(d3) * n_padded,
    )


@lean
def visit_runs(
    first: int,
    last: int,
    words: np.ndarray,
    run_begins,
    documents: np.ndarray,
    counts: np.ndarray,
    document_weights: np.ndarray,
    word_weights: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    ratios: np.ndarray,
):
    """Add the expected counts of runs first..last (one word's pairs each) to mean_dk, mean_wk; return how many Z are tiny.

    words (run,), run_begins (run + 1,), documents and counts (place,) : see `split.Blocks`; rows are padded. Writes n / Z of
    each pair to ratios (place,), 0 where Z is tiny. A pair with a tiny Z is not counted; returns how many there are.
    """
    n_padded, last_run, n_tiny = mean_dk.shape[1], len(words) - 1, 0
    for run in range(first, last):
        next_row = np.int64(words[np.uint64(min(run + AHEAD, last_run))]) * n_padded
        for k in range(0, n_padded, LINE):
            fetch(word_weights, next_row + k)
            fetch(mean_wk, next_row + k)
        begin, end, row_begin = (
            run_begins[np.uint64(run)],
            run_begins[np.uint64(run + 1)],
            np.int64(words[np.uint64(run)]) * n_padded,
        )
        if n_padded == LANES:
            n_tiny += visit_narrow(
                begin,
                end,
                row_begin,
                documents,
                counts,
                document_weights,
                word_weights,
                mean_dk,
                mean_wk,
                ratios,
            )
        elif n_padded < WIDE:
            n_tiny += visit(
                begin,
                end,
                row_begin,
                documents,
                counts,
                document_weights,
                word_weights,
                mean_dk,
                mean_wk,
                ratios,
            )
        else:
            n_tiny += visit_wide(
                begin,
                end,
                row_begin,
                documents,
                counts,
                document_weights,
                word_weights,
                mean_dk,
                mean_wk,
                ratios,
            )
    return n_tiny


@lean
def add_words(mean_wk: np.ndarray, mean_k: np.ndarray) -> None:
    """Compute n_k = sum_w n_wk in place, with a fixed order of summation."""
    n_padded = len(mean_k)
    for k in range(0, n_padded, LANES):
        store(mean_k, k, spread(0.0))
    for w in range(len(mean_wk)):
        for k in range(0, n_padded, LANES):
            store(mean_k, k, load(mean_k, k) + load(mean_wk, w * n_padded + k))


@kernel
def count_by_logs(
    documents: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    document_logs: np.ndarray,
    document_weights: np.ndarray,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_topics: int,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
) -> None:
    """Add the expected counts of pairs with tiny normalisers, computed in the log domain, to mean_dk, mean_wk and mean_k."""
    gamma = np.empty(n_topics)
    for i in range(len(counts)):
        d, w = np.int64(documents[i]), np.int64(words[i])
        log_domain_gamma(
            d, document_logs, document_weights, w, word_logs, word_weights, n_topics, gamma
        )
        for k in range(n_topics):
            expected = counts[i] * gamma[k]
            mean_dk[d, k] += expected
            mean_wk[w, k] += expected
            mean_k[k] += expected
