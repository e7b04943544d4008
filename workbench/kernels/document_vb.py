"""Documents fitted one by one to topics that stand still: the E-step of variational EM, a sweep, and folding in.

    gamma_dwk  ~  exp{ <psi(alpha_k + n_dk)> + l_wk },   n_dk = sum_w n_dw gamma_dwk,   repeated      spec A.2, B.4

l_wk is E[log phi_kw] of a Dirichlet posterior, or log phi_kw of a point. gamma factorises into a
document weight and a word weight and is not stored: from the weights behind the last gamma of each
document `standard_vb.count_words` computes it again. One pass over every document is a sweep of the
parallel schedule, with the sampled counts of a hybrid added to n_dk. Where exp(psi) leaves the range of
doubles, a pair is normalised in the log domain.
"""

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.lanes import ALIGNMENT, LANES
from workbench.kernels.special import fast_log
from workbench.kernels.standard_vb import TINY, log_domain_gamma, weigh_row, weigh_rows
from workbench.kernels.vectors import choose, count, fetch, inlined, load, spread, store, total

LINE = ALIGNMENT // 8
"""Numbers in a cache line."""
AHEAD = 4
"""Pairs after the present one whose rows are asked for."""


@inlined
def normalisers_of(begin, end, words, document_weights, own, word_weights, normalisers):
    """The sum over topics of document weight times word weight, of each pair of a document; `own` is where its row begins."""
    n_padded = document_weights.shape[1]
    of_document = load(document_weights, own)
    for pair in range(begin, end):
        row, later = words[pair] * n_padded, words[min(pair + AHEAD, end - 1)] * n_padded
        for line in range(0, LANES, LINE):
            fetch(word_weights, later + line)
        sums = of_document * load(word_weights, row)
        for k in range(LANES, n_padded, LANES):
            for line in range(k, k + LANES, LINE):
                fetch(word_weights, later + line)
            sums += load(document_weights, own + k) * load(word_weights, row + k)
        normalisers[pair - begin] = total(sums)


@kernel
def fit_documents(
    first, last, indptr, words, counts, places, alpha, sampled_dk, word_logs, word_weights, n_topics, most_passes, tolerance,
    mean_dk, document_logs, document_weights, kept_ratios,
):
    """Repeats the update of documents first..last until the mean change of n_dk is below the tolerance.

    `mean_dk` holds the start and then the result, `document_logs` and `document_weights` what the last gamma came from,
    `kept_ratios` count / normaliser of each pair at its place, 0 if it went by logs. Returns (sum n_dw log normaliser
    - sum n_dk document_logs_dk, which the entropy needs, and pairs visited).
    """
    n_padded = len(alpha)
    most = np.diff(indptr[first : last + 1]).max() + LANES
    tokens, normalisers, ratios = np.empty(most), np.empty(most), np.empty(most)
    gamma, new, unsized = np.empty(n_topics), np.empty(n_padded), np.zeros(n_padded)
    log_normalisers, expected, by_logs, n_visited = spread(0.0), spread(0.0), 0.0, 0
    weigh_rows(first, last, alpha, mean_dk, sampled_dk, unsized, False, document_logs, document_weights)
    for d in range(first, last):
        begin, end, own = indptr[d], indptr[d + 1], d * n_padded
        n, log_normaliser = end - begin, 0.0
        for i in range(n):
            tokens[i] = counts[begin + i]
            fetch(kept_ratios, places[begin + i])
        tokens[n : n + LANES] = 0.0
        for passed in range(most_passes):
            if passed > 0:
                weigh_row(d, alpha, mean_dk, sampled_dk, unsized, False, document_logs, document_weights)
            normalisers_of(begin, end, words, document_weights, own, word_weights, normalisers)
            normalisers[n : n + LANES] = 1.0
            n_tiny, log_normaliser, n_visited = 0, 0.0, n_visited + n
            for i in range(0, n, LANES):
                normaliser = load(normalisers, i)
                tiny = normaliser < TINY
                store(ratios, i, choose(tiny, spread(0.0), load(tokens, i) / normaliser))
                n_tiny += count(tiny)
            for k in range(0, n_padded, LANES):
                sums = spread(0.0)
                for i in range(n):
                    sums += ratios[i] * load(word_weights, words[begin + i] * n_padded + k)
                store(new, k, sums * load(document_weights, own + k))
            if n_tiny > 0:
                for i in range(n):
                    if normalisers[i] < TINY:
                        log_normaliser += tokens[i] * log_domain_gamma(
                            document_logs[d], word_logs[words[begin + i]], n_topics, gamma
                        )
                        for k in range(n_topics):
                            new[k] += tokens[i] * gamma[k]
                        normalisers[i] = 1.0
            changes = spread(0.0)
            for k in range(0, n_padded, LANES):
                change = load(new, k) - load(mean_dk, own + k)
                changes += max(change, 0.0 - change)
                store(mean_dk, own + k, load(new, k))
            if total(changes) < tolerance * n_topics:
                break
        by_logs += log_normaliser
        for i in range(0, n, LANES):
            log_normalisers += load(tokens, i) * fast_log(load(normalisers, i))
        for k in range(0, n_padded, LANES):
            expected += load(new, k) * load(document_logs, own + k)
        for i in range(n):
            kept_ratios[places[begin + i]] = ratios[i]
    return total(log_normalisers) + by_logs - total(expected), n_visited
