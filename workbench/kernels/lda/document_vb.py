"""Variational E-step and M-step of LDA: theta of each document while the topics are fixed, then counts of words by topic.

The E-step also folds in unseen documents.

    gamma_dwk  ~  exp{ psi(alpha_k + n_dk) + l_wk },   n_dk = sum_w n_dw gamma_dwk,   repeated      spec A.2, B.4

l_wk is E[log phi_kw] of a Dirichlet posterior, or log phi_kw of a point estimate. gamma factorises into a document weight and a
word weight and is not stored: `count_words` computes it again from the weights of each document's last pass. Where exp(psi)
underflows, a pair is normalised in the log domain.

The M-step counts words by topic::

    n_wk = sum_d n_dw gamma_dwk,   gamma_dwk = a_dk b_wk / Z_dw                                           spec A.2, D.2

a and b are the weights of documents and words in each document's last pass, and n_dw / Z_dw was stored for each pair by
`fit_documents`, or by `networks.vb.fit_documents` for the rows of a network's last level instead of topics.
"""

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.lda import standard_vb
from workbench.kernels.lda.standard_vb import BLOCK, GROUP, TINY, blend, four_from, log_domain_gamma
from workbench.kernels.simd.functions import count, total, totals
from workbench.kernels.simd.vectors import (
    LANES,
    LINE,
    choose,
    fetch,
    lane,
    load,
    load_eight,
    load_four,
    spread,
    store,
)


def most_pairs(first: int, last: int, indptr: np.ndarray) -> int:
    """Return the largest number of document-word pairs in one document, among documents ``first`` to ``last - 1``."""
    return np.diff(indptr[first : last + 1]).max()


@inlined
def divide(i, normalisers, tokens: np.ndarray, ratios: np.ndarray):
    """Return count / normaliser of four pairs, also written to `ratios`, 0 for tiny normalisers; and how many are tiny."""
    copies, tiny = load_four(tokens, i), normalisers < TINY
    result = choose(tiny, 0.0 * copies, copies / normalisers)
    store(ratios, i, result)
    return lane(result, 0), lane(result, 1), lane(result, 2), lane(result, 3), count(tiny)


@inlined
def visit_narrow(
    n,
    rows,
    tokens: np.ndarray,
    row_begin,
    document_weights: np.ndarray,
    word_weights: np.ndarray,
    ratios: np.ndarray,
    new,
):
    """Compute new_k = sum_i n_i w_ik / Z_i over pairs as `visit` does, for at most sixteen topics, kept in registers."""
    a, sums, n_tiny = load(document_weights, row_begin), spread(0.0), 0
    for i in range(0, n, GROUP):
        for next_rows in four_from(rows, i + GROUP):
            fetch(word_weights, next_rows)
            fetch(word_weights, next_rows + LINE)
        r0, r1, r2, r3 = four_from(rows, i)
        result = totals(
            a * load(word_weights, r0),
            a * load(word_weights, r1),
            a * load(word_weights, r2),
            a * load(word_weights, r3),
        )
        q0, q1, q2, q3, tiny = divide(i, result, tokens, ratios)
        first = q0 * load(word_weights, r0) + q1 * load(word_weights, r1)
        sums += first + (q2 * load(word_weights, r2) + q3 * load(word_weights, r3))
        n_tiny += tiny
    store(new, 0, sums)
    return n_tiny


@inlined
def visit(
    n,
    rows,
    tokens: np.ndarray,
    row_begin,
    document_weights: np.ndarray,
    word_weights: np.ndarray,
    ratios: np.ndarray,
    new,
):
    """Compute new_k = sum_i n_i w_ik / Z_i with Z_i = sum_k a_k w_ik over the pairs i of a document, four at a time.

    rows : where the row w_i of the word of each pair begins; seven more places at the end hold any row, with 0 tokens.
    Writes n_i / Z_i to ratios, 0 where Z_i is tiny; returns an upper bound on how many are tiny.
    """
    n_padded, n_tiny = len(new), 0
    for k in range(0, n_padded, LANES):
        store(new, k, spread(0.0))
    for i in range(0, n, GROUP):
        next_rows = four_from(rows, i + GROUP)
        own_rows = r0, r1, r2, r3 = four_from(rows, i)
        s0 = s1 = s2 = s3 = 0.0 * load_eight(document_weights, row_begin)
        for k in range(0, n_padded, BLOCK):
            for row in next_rows:
                fetch(word_weights, row + k)
            a = load_eight(document_weights, row_begin + k)
            s0 += a * load_eight(word_weights, r0 + k)
            s1 += a * load_eight(word_weights, r1 + k)
            s2 += a * load_eight(word_weights, r2 + k)
            s3 += a * load_eight(word_weights, r3 + k)
        q0, q1, q2, q3, tiny = divide(i, totals(s0, s1, s2, s3), tokens, ratios)
        for k in range(0, n_padded, BLOCK):
            store(new, k, load_eight(new, k) + blend(word_weights, k, own_rows, (q0, q1, q2, q3)))
        n_tiny += tiny
    return n_tiny


@lean
def fit_each(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    alpha,
    none_sampled,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_topics: int,
    most_passes: int,
    tolerance: float,
    mean_dk: np.ndarray,
    document_logs: np.ndarray,
    document_weights: np.ndarray,
    kept_ratios: np.ndarray,
    tokens: np.ndarray,
    ratios: np.ndarray,
    rows,
    gamma,
    new,
    unsized,
):
    """Fit gamma and n_dk of documents first..last, for `fit_documents`, in scratch arrays that the caller has allocated."""
    n_padded, n_visited = len(alpha), 0
    for d in range(first, last):
        begin, end, row_begin = indptr[d], indptr[d + 1], d * n_padded
        n = end - begin
        for i in range(n):
            pair = np.uint64(begin + i)
            tokens[np.uint64(i)], rows[np.uint64(i)] = (
                counts[pair],
                np.int64(words[pair]) * n_padded,
            )
        store(tokens, n, spread(0.0))
        store(rows, n, spread(0))
        for pass_number in range(most_passes):
            if pass_number > 0:
                standard_vb.weigh_row(
                    d, alpha, mean_dk, none_sampled, unsized, False, document_logs, document_weights
                )
            if n_padded == LANES:
                n_tiny = visit_narrow(
                    n, rows, tokens, row_begin, document_weights, word_weights, ratios, new
                )
            else:
                n_tiny = visit(
                    n, rows, tokens, row_begin, document_weights, word_weights, ratios, new
                )
            n_visited += n
            for k in range(0, n_padded, LANES):
                store(new, k, load(new, k) * load(document_weights, row_begin + k))
            if n_tiny > 0:
                for i in range(n):
                    if ratios[i] == 0.0:
                        log_domain_gamma(
                            d,
                            document_logs,
                            document_weights,
                            np.int64(words[begin + i]),
                            word_logs,
                            word_weights,
                            n_topics,
                            gamma,
                        )
                        for k in range(n_topics):
                            new[k] += tokens[i] * gamma[k]
            changes = spread(0.0)
            for k in range(0, n_padded, LANES):
                change = load(new, k) - load(mean_dk, row_begin + k)
                changes += max(change, 0.0 - change)
                store(mean_dk, row_begin + k, load(new, k))
            if total(changes) < tolerance * n_topics:
                break
        for i in range(n):
            kept_ratios[np.uint64(begin + i)] = ratios[np.uint64(i)]
    return n_visited


def fit_documents(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    alpha,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_topics: int,
    most_passes: int,
    tolerance: float,
    mean_dk: np.ndarray,
    document_logs: np.ndarray,
    document_weights: np.ndarray,
    kept_ratios: np.ndarray,
):
    """Fit gamma and n_dk of documents first..last until the mean change of n_dk is below the tolerance.

    mean_dk : n_dk, on entry the start and on return the result
    document_weights : the document weights of the last gamma; document_logs : their logs, in rows where a weight is faint
    kept_ratios (pair,) : count / normaliser; 0 if a pair was computed in the log domain

    Returns how many pairs were visited, over all passes.
    """
    n_padded, capacity = len(alpha), most_pairs(first, last, indptr) + LANES
    tokens, ratios, rows = np.empty(capacity), np.empty(capacity), np.empty(capacity, np.int64)
    gamma, new, unsized = np.empty(n_topics), np.empty(n_padded), np.zeros(n_padded)
    # an argument below, since a constant would have another type
    none_sampled = standard_vb.NOTHING_SAMPLED[0]
    standard_vb.weigh_rows(
        first, last, alpha, mean_dk, none_sampled, unsized, False, document_logs, document_weights
    )
    return fit_each(
        first,
        last,
        indptr,
        words,
        counts,
        alpha,
        none_sampled,
        word_logs,
        word_weights,
        n_topics,
        most_passes,
        tolerance,
        mean_dk,
        document_logs,
        document_weights,
        kept_ratios,
        tokens,
        ratios,
        rows,
        gamma,
        new,
        unsized,
    )


NARROW = 64
"""Rows of at most this many topics, padding included, are counted by `count_narrow`, longer ones by `count_wide`."""
AHEAD = 8
"""How many pairs ahead `count_narrow` prefetches the weights of a document into the cache."""


def count_words(
    first: int,
    last: int,
    word_indptr: np.ndarray,
    documents: np.ndarray,
    pairs,
    counts: np.ndarray,
    document_logs: np.ndarray,
    document_weights: np.ndarray,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_topics: int,
    kept_ratios: np.ndarray,
    new_wk: np.ndarray,
):
    """Compute n_wk = sum_d n_dw gamma_dwk into new_wk for words first..last, from the results of `fit_documents`.

    Returns their sum over these words (topic,).
    """
    n_pairs = word_indptr[last] - word_indptr[first]
    sizes, gamma, ratios = np.zeros(new_wk.shape[1]), np.empty(n_topics), np.zeros(n_pairs + GROUP)
    count_each(
        first,
        last,
        word_indptr,
        documents,
        pairs,
        counts,
        document_logs,
        document_weights,
        word_logs,
        word_weights,
        n_topics,
        kept_ratios,
        new_wk,
        sizes,
        gamma,
        ratios,
    )
    return sizes


@inlined
def count_narrow(
    begin,
    end,
    documents: np.ndarray,
    ratios: np.ndarray,
    start,
    document_weights: np.ndarray,
    row_begin,
    new_wk: np.ndarray,
) -> None:
    """Compute new_wk as `count_wide` does, when topics are few: sixteen topics at a time, with sums in registers."""
    n_padded, last_pair = new_wk.shape[1], len(documents) - 1
    for k in range(0, n_padded, LANES):
        new = spread(0.0)
        for i in range(begin, end):
            next_row = documents[np.uint64(min(i + AHEAD, last_pair))] * n_padded + k
            fetch(document_weights, next_row)
            fetch(document_weights, next_row + LINE)
            new += ratios[np.uint64(i - start)] * load(
                document_weights, documents[np.uint64(i)] * n_padded + k
            )
        store(new_wk, row_begin + k, new)


@inlined
def count_wide(
    begin,
    end,
    documents: np.ndarray,
    ratios: np.ndarray,
    start,
    document_weights: np.ndarray,
    row_begin,
    new_wk: np.ndarray,
) -> None:
    """Compute new_wk = sum_d n_dw / Z_dw a_dk over the documents with a word, four rows of documents at a time.

    Pieces of many wide rows, a power of two apart, would evict each other from the fastest cache. If the last four pairs
    reach into the next word, the ratios of that word count as 0.
    """
    n_padded, last_pair = new_wk.shape[1], len(documents) - 1
    for k in range(row_begin, row_begin + n_padded, LANES):
        store(new_wk, k, spread(0.0))
    next_rows = four_rows(documents, begin, last_pair, n_padded)
    for i in range(begin, end, GROUP):
        rows, next_rows = next_rows, four_rows(documents, i + GROUP, last_pair, n_padded)
        q0, q1, q2, q3 = four_from(ratios, i - start)
        q1, q2, q3 = (
            q1 if i + 1 < end else 0.0,
            q2 if i + 2 < end else 0.0,
            q3 if i + 3 < end else 0.0,
        )
        for k in range(0, n_padded, BLOCK):
            for row in next_rows:
                fetch(document_weights, row + k)
            store(
                new_wk,
                row_begin + k,
                load_eight(new_wk, row_begin + k)
                + blend(document_weights, k, rows, (q0, q1, q2, q3)),
            )


@inlined
def four_rows(documents: np.ndarray, i, last_pair, n_padded: int):
    """Return the flat indices at which the document rows of pairs i to i + 3 begin; none beyond that of the last pair."""
    d0, d1 = documents[np.uint64(min(i, last_pair))], documents[np.uint64(min(i + 1, last_pair))]
    d2, d3 = (
        documents[np.uint64(min(i + 2, last_pair))],
        documents[np.uint64(min(i + 3, last_pair))],
    )
    return d0 * n_padded, d1 * n_padded, d2 * n_padded, d3 * n_padded


@lean
def count_each(
    first: int,
    last: int,
    word_indptr: np.ndarray,
    documents: np.ndarray,
    pairs,
    counts: np.ndarray,
    document_logs: np.ndarray,
    document_weights: np.ndarray,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_topics: int,
    kept_ratios: np.ndarray,
    new_wk: np.ndarray,
    sizes,
    gamma,
    ratios: np.ndarray,
) -> None:
    """Compute n_wk of words first..last, for `count_words`, in given scratch arrays; add the sums of n_wk to sizes."""
    n_padded, start, n_by_logs = new_wk.shape[1], word_indptr[first], 0
    for i in range(word_indptr[last] - start):
        ratio = kept_ratios[np.uint64(pairs[np.uint64(start + i)])]
        ratios[np.uint64(i)] = ratio
        n_by_logs += ratio == 0.0
    for w in range(first, last):
        begin, end, row_begin = word_indptr[w], word_indptr[w + 1], w * n_padded
        if n_padded <= NARROW:
            count_narrow(begin, end, documents, ratios, start, document_weights, row_begin, new_wk)
        else:
            count_wide(begin, end, documents, ratios, start, document_weights, row_begin, new_wk)
        for k in range(0, n_padded, LANES):
            new = load(new_wk, row_begin + k) * load(word_weights, row_begin + k)
            store(new_wk, row_begin + k, new)
            store(sizes, k, load(sizes, k) + new)
        if n_by_logs > 0:
            for i in range(begin, end):
                if ratios[i - start] == 0.0:
                    log_domain_gamma(
                        np.int64(documents[i]),
                        document_logs,
                        document_weights,
                        w,
                        word_logs,
                        word_weights,
                        n_topics,
                        gamma,
                    )
                    for k in range(n_topics):
                        new = counts[pairs[i]] * gamma[k]
                        new_wk[w, k] += new
                        sizes[k] += new
