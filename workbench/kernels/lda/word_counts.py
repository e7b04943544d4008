"""Variational M-step of LDA: expected counts of words by topic from the results of `document_vb`.

    n_wk = sum_d n_dw gamma_dwk,   gamma_dwk = a_dk b_wk / Z_dw                                           spec A.2, D.2

a and b are the weights of documents and words behind the last gamma of each document, and n_dw / Z_dw was kept for each pair,
by `document_vb.fit_documents`, or by `networks.vb.fit_documents` for the rows of a network's last level in place of topics.
"""

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.lda.standard_vb import BLOCK, GROUP, blend, four_from, log_domain_gamma
from workbench.kernels.simd.lanes import LANES, LINE
from workbench.kernels.simd.vectors import fetch, load, load_eight, spread, store

NARROW = 64
"""The most topics of a row in `count_narrow`."""
AHEAD = 8
"""Pairs ahead whose narrow row of a document is loaded into the cache."""


def count_words(
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
):
    """n_wk = sum_d n_dw gamma_dwk for words first..last, from what `fit_documents` left behind.

    Returns sum_w n_wk, (topic,).
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
def count_narrow(begin, end, documents, ratios, start, document_weights, own, new_wk):
    """`count_wide` for rows of few topics: sixteen topics of all pairs after each other, whose sum stays in registers."""
    n_padded, last_pair = new_wk.shape[1], len(documents) - 1
    for k in range(0, n_padded, LANES):
        new = spread(0.0)
        for i in range(begin, end):
            soon = documents[np.uint64(min(i + AHEAD, last_pair))] * n_padded + k
            fetch(document_weights, soon)
            fetch(document_weights, soon + LINE)
            new += ratios[np.uint64(i - start)] * load(
                document_weights, documents[np.uint64(i)] * n_padded + k
            )
        store(new_wk, own + k, new)


@inlined
def count_wide(begin, end, documents, ratios, start, document_weights, own, new_wk):
    """new_wk = sum_d n_dw / Z_dw a_dk for the pairs of a word, four whole rows at a time.

    Pieces of many wide rows, a power of two apart, would push each other out of the fastest cache. Ratios of a last four that
    are not the word's count as 0.
    """
    n_padded, last_pair = new_wk.shape[1], len(documents) - 1
    for k in range(own, own + n_padded, LANES):
        store(new_wk, k, spread(0.0))
    soon = four_rows(documents, begin, last_pair, n_padded)
    for i in range(begin, end, GROUP):
        rows, soon = soon, four_rows(documents, i + GROUP, last_pair, n_padded)
        q0, q1, q2, q3 = four_from(ratios, i - start)
        q1, q2, q3 = (
            q1 if i + 1 < end else 0.0,
            q2 if i + 2 < end else 0.0,
            q3 if i + 3 < end else 0.0,
        )
        for k in range(0, n_padded, BLOCK):
            for row in soon:
                fetch(document_weights, row + k)
            store(
                new_wk,
                own + k,
                load_eight(new_wk, own + k) + blend(document_weights, k, rows, (q0, q1, q2, q3)),
            )


@inlined
def four_rows(documents, i, last_pair, n_padded):
    """Where the rows of the documents of four pairs from i on begin; of the last pair, beyond it."""
    d0, d1 = documents[np.uint64(min(i, last_pair))], documents[np.uint64(min(i + 1, last_pair))]
    d2, d3 = (
        documents[np.uint64(min(i + 2, last_pair))],
        documents[np.uint64(min(i + 3, last_pair))],
    )
    return d0 * n_padded, d1 * n_padded, d2 * n_padded, d3 * n_padded


@lean
def count_each(
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
):
    """The loop of `count_words`, with allocated working arrays."""
    n_padded, start, n_by_logs = new_wk.shape[1], word_indptr[first], 0
    for i in range(word_indptr[last] - start):
        ratio = kept_ratios[np.uint64(pairs[np.uint64(start + i)])]
        ratios[np.uint64(i)] = ratio
        n_by_logs += ratio == 0.0
    for w in range(first, last):
        begin, end, own = word_indptr[w], word_indptr[w + 1], w * n_padded
        if n_padded <= NARROW:
            count_narrow(begin, end, documents, ratios, start, document_weights, own, new_wk)
        else:
            count_wide(begin, end, documents, ratios, start, document_weights, own, new_wk)
        for k in range(0, n_padded, LANES):
            new = load(new_wk, own + k) * load(word_weights, own + k)
            store(new_wk, own + k, new)
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
