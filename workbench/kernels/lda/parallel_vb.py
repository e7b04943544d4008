"""Parallel schedule of variational Bayes in one pass: each pair adds its expected counts to its document and its word.

    n_dw gamma_dwk = n_dw a_dk b_wk / Z_dw,   Z_dw = sum_k a_dk b_wk                                    spec A5, A9

a and b are the weights that `standard_vb.weigh_rows` makes of the counts before. Pairs stand in blocks of documents, and in a
block word after word (`engines.lda.split`): a run of pairs of one word reads and writes the word's rows once, and the rows of
a block's documents stay in a cache. The counts of a document are added up word after word, those of a word document after
document, however the blocks are cut, so that the bits do not depend on that. Responsibilities are not stored; where a
normaliser is so small that exp(psi) has left the range of doubles, the pair is counted by its logs at the end.
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
"""Pairs of a run whose normalisers are computed before the counts of any, in `visit`."""
WIDE = 320
"""The fewest topics of a row in `visit_wide`."""
AHEAD = 2
"""Runs ahead whose rows are loaded into the cache."""


@inlined
def share(i, end, normalisers, counts: np.ndarray, ratios: np.ndarray):
    """Store n / Z of four pairs, 0 where Z is tiny and beyond the run; returns them, and how many are tiny."""
    copies = doubles(load_four(counts, i))
    in_run, tiny = numbers(copies) < float(end - i), normalisers < TINY
    result = choose(tiny, 0.0 * copies, choose(in_run, copies, 0.0 * copies) / normalisers)
    store(ratios, i, result)
    return lane(result, 0), lane(result, 1), lane(result, 2), lane(result, 3), count(in_run & tiny)


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
    """Visit pairs as `visit` does, for rows of sixteen topics, where the row of the word stays in registers."""
    b, of_word, n_tiny = load(word_weights, row_begin), load(mean_wk, row_begin), 0
    for i in range(begin, end, GROUP):
        r0, r1, r2, r3 = rows_from(documents, i, LANES)
        g0, g1 = b * load(document_weights, r0), b * load(document_weights, r1)
        g2, g3 = b * load(document_weights, r2), b * load(document_weights, r3)
        q0, q1, q2, q3, tiny = share(i, end, totals(g0, g1, g2, g3), counts, ratios)
        g0, g1, g2, g3 = q0 * g0, q1 * g1, q2 * g2, q3 * g3
        of_word += g0
        of_word += g1
        of_word += g2
        of_word += g3
        store(mean_dk, r0, load(mean_dk, r0) + g0)
        store(mean_dk, r1, load(mean_dk, r1) + g1)
        store(mean_dk, r2, load(mean_dk, r2) + g2)
        store(mean_dk, r3, load(mean_dk, r3) + g3)
        n_tiny += tiny
    store(mean_wk, row_begin, of_word)
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
    """Visit the pairs of a run, four at a time: a last four reaches into the next run, to whose documents it adds 0.

    Normalisers of some pairs first, and then what these expect: a processor does not look ahead far enough to find other work
    while it waits for a division. own: where the rows of the word begin. Leaves n / Z of each pair, 0 where Z is tiny; returns
    how many of them are.
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
                b, of_word = load(word_weights, row_begin + k), load(mean_wk, row_begin + k)
                of_word += give(mean_dk, r0 + k, (q0 * b) * load(document_weights, r0 + k))
                of_word += give(mean_dk, r1 + k, (q1 * b) * load(document_weights, r1 + k))
                of_word += give(mean_dk, r2 + k, (q2 * b) * load(document_weights, r2 + k))
                of_word += give(mean_dk, r3 + k, (q3 * b) * load(document_weights, r3 + k))
                store(mean_wk, row_begin + k, of_word)
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
    """Visit two pairs at a time: rows of four documents, weights and counts, would not fit the fastest cache."""
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
            b, of_word = load(word_weights, row_begin + k), load(mean_wk, row_begin + k)
            of_word += give(mean_dk, r0 + k, (q0 * b) * load(document_weights, r0 + k))
            of_word += give(mean_dk, r1 + k, (q1 * b) * load(document_weights, r1 + k))
            store(mean_wk, row_begin + k, of_word)
        n_tiny += tiny
    return n_tiny


@inlined
def give(mean, index, expected):
    """Add to sixteen counts; returns what it added."""
    store(mean, index, load(mean, index) + expected)
    return expected


@inlined
def rows_from(documents: np.ndarray, i, n_padded: int):
    """Return where the rows of the documents of four pairs begin."""
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
    begins,
    documents: np.ndarray,
    counts: np.ndarray,
    document_weights: np.ndarray,
    word_weights: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    ratios: np.ndarray,
):
    """Add n_dw gamma_dwk of the runs first..last, of one block, to the counts of their documents and words.

    words (run,), begins (run + 1,), documents and counts (place,): see `split.Blocks`; rows padded. Leaves n / Z of each pair
    in `ratios` (place,), 0 where Z is tiny: such a pair is not counted. Returns how many there are.
    """
    n_padded, last_run, n_tiny = mean_dk.shape[1], len(words) - 1, 0
    for run in range(first, last):
        soon = np.int64(words[np.uint64(min(run + AHEAD, last_run))]) * n_padded
        for k in range(0, n_padded, LINE):
            fetch(word_weights, soon + k)
            fetch(mean_wk, soon + k)
        begin, end, row_begin = (
            begins[np.uint64(run)],
            begins[np.uint64(run + 1)],
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
    """Compute n_k = sum_w n_wk, word after word."""
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
    """Add n_dw gamma_dwk of pairs with a tiny normaliser, from the logs of their weights."""
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
