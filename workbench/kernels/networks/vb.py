"""Variational update of a network of mixture levels: fits q of each document while the parameters of the corpus are fixed.

    q(path) ~ prod over its cells of x_kt,   x_kt = exp < psi(xi_kt) - psi(sum_t xi_kt) >,   xi = prior + n    spec D.2

In a hybrid n = m + c^s, with the counts c^s that chain s has sampled, and < > is the mean over chains (spec A9, C.6).

All tokens of a document have the same x except for the factor of the word, so path weights are summed by the row of the last
level in which paths end (`kernels.networks.field`). A pair is then fitted over these rows as over topics, with the loops of
`kernels.lda.document_vb`, and its expected counts by row are shared out among the cells at the end of the document. Of a
document only the counts of cells and their row sums are kept. `document_vb.count_words` then counts the words.
"""

import math
from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.lda.document_vb import most_pairs, visit, visit_narrow
from workbench.kernels.lda.log_joint import rises_of
from workbench.kernels.lda.standard_vb import (
    FAINT,
    log_domain_gamma,
    mean_digamma,
    times_power,
    weigh_rows,
)
from workbench.kernels.networks.field import (
    NEVER,
    gather_ends,
    gather_logs,
    mask_own,
    share_logs,
    share_out,
)
from workbench.kernels.simd.functions import (
    count,
    digamma,
    exp_nearly,
    fast_log,
    log_gammas,
    shifted,
    total,
)
from workbench.kernels.simd.vectors import LANES, choose, doubles, load, spread, store, take
from workbench.kernels.uniforms import uniform


class Cells(NamedTuple):
    """Which addresses of a vector of numbers are probability cells, and the row (distribution) of each cell."""

    prior: np.ndarray  # (address,) priors of cells, and the sums of rows
    blocks: np.ndarray  # (…,) int64: addresses of the blocks of sixteen that hold a cell
    real: np.ndarray  # (address,) float64: 1 of a cell, 0 of anything else
    row_of: np.ndarray  # (address,) int32: address of the row sum of a cell
    rows: np.ndarray  # (…,) int64: addresses of the row sums
    # (…,) int64: the row sums that differ between paths; others would divide every path
    weighted_rows: np.ndarray


@inlined
def digamma_at(cells, counts: np.ndarray, sampled, row, address):
    """Return psi(prior + m + c^s) at one address, averaged over chains s, for expected and sampled counts m and c."""
    n_chains = sampled.shape[0]
    if n_chains == 0:
        return digamma(cells.prior[address] + counts[row, address])
    result = 0.0
    for s in range(n_chains):
        result += digamma(cells.prior[address] + (counts[row, address] + sampled[s, row, address]))
    return result / n_chains


@inlined
def weigh_cells(cells, counts: np.ndarray, sampled, row, sizes, x) -> None:
    """Write exp(expected log probability) of every cell to x, for one row of counts; write psi of the row sums to sizes.

    x = exp <psi(xi) - psi(sum xi)> and sizes = <psi(sum xi)>, for xi = prior + counts and means < > over chains.
    """
    authors, n_chains = row * counts.shape[1], sampled.shape[0]
    for i in range(len(cells.weighted_rows)):
        address = cells.weighted_rows[i]
        sizes[address] = digamma_at(cells, counts, sampled, row, address)
    for i in range(len(cells.blocks)):
        k = cells.blocks[i]
        size = take(sizes, load(cells.row_of, k))
        if n_chains > 1:
            value = exp_nearly(
                mean_digamma(load(cells.prior, k), counts, sampled, authors + k) - size
            )
        else:
            n = load(counts, authors + k)
            if n_chains == 1:
                n += doubles(load(sampled, authors + k))
            factor, reciprocals = shifted(load(cells.prior, k) + n)
            value = factor * exp_nearly(0.0 - (reciprocals + size))
        store(x, k, choose(load(cells.real, k) > 0.5, value, spread(0.0)))


@lean
def log_cells(cells, counts: np.ndarray, sampled, row, sizes, logs) -> None:
    """Write the expected log probability of each cell (log x of `weigh_cells`) to logs, `NEVER` at other addresses."""
    for address in range(counts.shape[1]):
        logs[address] = NEVER
        if cells.real[address] > 0.5:
            logs[address] = (
                digamma_at(cells, counts, sampled, row, address) - sizes[cells.row_of[address]]
            )


@inlined
def add_rows(cells, counts: np.ndarray, row) -> None:
    """Write each distribution's total count, summed over its cells, to its address in one row (a document's) of counts."""
    for i in range(len(cells.rows)):
        counts[row, cells.rows[i]] = 0.0
    for i in range(len(cells.blocks)):
        for address in range(cells.blocks[i], cells.blocks[i] + LANES):
            if cells.real[address] > 0.5:
                counts[row, cells.row_of[address]] += counts[row, address]


@lean
def fit_each(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    owners,
    field,
    cells,
    sampled_own,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_rows: int,
    most_passes: int,
    tolerance: float,
    n_own: np.ndarray,
    n_dr: np.ndarray,
    row_logs,
    row_weights,
    kept_ratios: np.ndarray,
    x,
    logs,
    expected,
    tokens: np.ndarray,
    ratios: np.ndarray,
    rows,
    gamma,
    new,
    log_domain_counts,
    sizes,
):
    """Fit q of documents first..last, for `fit_documents`, in scratch arrays that the caller has allocated."""
    n_padded, width = n_dr.shape[1], n_own.shape[1]
    product, logs_of_z, excess, n_visited = spread(1.0), spread(0.0), 0.0, 0
    for d in range(first, last):
        begin, end, authors, ends = indptr[d], indptr[d + 1], d * width, d * n_padded
        n, log_normaliser, n_tiny = end - begin, 0.0, 0
        for i in range(n):
            pair = np.uint64(begin + i)
            tokens[np.uint64(i)], rows[np.uint64(i)] = (
                counts[pair],
                np.int64(words[pair]) * n_padded,
            )
        store(tokens, n, spread(0.0))
        store(rows, n, spread(0))
        for _ in range(most_passes):
            weigh_cells(cells, n_own, sampled_own, d, sizes, x)
            mask_own(d, owners, x)
            gather_ends(d, owners, field, x, row_weights, ends, n_padded)
            if n_padded == LANES:
                n_tiny = visit_narrow(n, rows, tokens, ends, row_weights, word_weights, ratios, new)
            else:
                n_tiny = visit(n, rows, tokens, ends, row_weights, word_weights, ratios, new)
            log_normaliser, n_visited = 0.0, n_visited + n
            for k in range(0, n_padded, LANES):
                store(n_dr, ends + k, load(new, k) * load(row_weights, ends + k))
                store(log_domain_counts, k, spread(0.0))
            if n_tiny > 0:
                log_cells(cells, n_own, sampled_own, d, sizes, logs)
                if len(owners.mask):
                    for address in range(width):
                        if owners.mask[owners.set_of[d], address] == 0.0:
                            logs[address] = NEVER
                gather_logs(d, owners, field, logs, row_logs, d, gamma)
                for i in range(n):
                    if ratios[i] == 0.0:
                        log_normaliser += tokens[i] * log_domain_gamma(
                            d,
                            row_logs,
                            row_weights,
                            np.int64(words[begin + i]),
                            word_logs,
                            word_weights,
                            n_rows,
                            gamma,
                        )
                        for r in range(n_rows):
                            log_domain_counts[r] += tokens[i] * gamma[r]
                for r in range(n_rows):
                    n_dr[d, r] += log_domain_counts[r]
            if width == 0:
                break
            for k in range(0, width, LANES):
                store(expected, k, spread(0.0))
            share_out(d, owners, field, x, new, 0, width, expected)
            if n_tiny > 0:
                share_logs(
                    d, owners, field, logs, row_logs, d, log_domain_counts, 0, width, expected
                )
            changes, n_cells = spread(0.0), 0.0
            for i in range(len(cells.blocks)):
                k = cells.blocks[i]
                change = load(expected, k) - load(n_own, authors + k)
                changes += max(change, 0.0 - change)
                n_cells += total(load(cells.real, k))
                store(n_own, authors + k, load(expected, k))
            add_rows(cells, n_own, d)
            if total(changes) < tolerance * n_cells:
                break
        share_out(d, owners, field, x, new, width, len(x), expected)
        if n_tiny > 0:
            share_logs(
                d, owners, field, logs, row_logs, d, log_domain_counts, width, len(x), expected
            )
            for address in range(width):
                if n_own[d, address] > 0.0 and cells.real[address] > 0.5:
                    excess += n_own[d, address] * logs[address]
        else:
            cell_terms = spread(0.0)
            for i in range(len(cells.blocks)):
                k = cells.blocks[i]
                cell_terms += load(n_own, authors + k) * fast_log(max(load(x, k), FAINT))
            excess += total(cell_terms)
        excess -= log_normaliser
        for i in range(0, n, LANES):
            c, ratio = load(tokens, i), load(ratios, i)
            product, logs_of_z = times_power(
                product, logs_of_z, c, choose(c * ratio > 0.0, c / ratio, spread(1.0))
            )
        for i in range(n):
            kept_ratios[np.uint64(begin + i)] = ratios[np.uint64(i)]
    return total(logs_of_z + fast_log(product)) - excess, n_visited


def fit_documents(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    owners,
    field,
    cells,
    sampled_own,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_rows: int,
    most_passes: int,
    tolerance: float,
    n_own: np.ndarray,
    n_dr: np.ndarray,
    row_logs,
    row_weights,
    kept_ratios: np.ndarray,
    x,
    logs,
    expected,
):
    """Fit q of documents first..last until the mean change of the expected counts is below the tolerance.

    field, owners : `networks.field.Field` and `Owners`
    cells : the cells of a document
    sampled_own : (chain, document, D) int32 sampled counts; without chains if nothing is sampled
    word_logs, word_weights : (word, row) as in `document_vb.fit_documents`, with n_rows rows
    n_own : (document, D) counts of cells and their row sums; on entry the start, then the result
    n_dr : (document, row) written: expected tokens of a document by row of the last level
    row_logs, row_weights, kept_ratios : written, the arguments of `document_vb.count_words`
    x, logs : (address,) x of all cells and their logarithms; the part of the document is scratch
    expected : (address,) expected counts of cells of the corpus are added; the part of the document is scratch

    Returns (sum n_dw log normaliser - sum n_own log x_own, which the entropy needs, and pairs visited).
    """
    n_padded, capacity = n_dr.shape[1], most_pairs(first, last, indptr) + LANES
    tokens, ratios, rows = np.empty(capacity), np.empty(capacity), np.empty(capacity, np.int64)
    gamma, new, log_domain_counts, sizes = (
        np.empty(n_padded),
        np.empty(n_padded),
        np.empty(n_padded),
        np.zeros(n_own.shape[1]),
    )
    return fit_each(
        first,
        last,
        indptr,
        words,
        counts,
        owners,
        field,
        cells,
        sampled_own,
        word_logs,
        word_weights,
        n_rows,
        most_passes,
        tolerance,
        n_own,
        n_dr,
        row_logs,
        row_weights,
        kept_ratios,
        x,
        logs,
        expected,
        tokens,
        ratios,
        rows,
        gamma,
        new,
        log_domain_counts,
        sizes,
    )


@lean
def random_cells(key: np.uint64, real, numbers) -> None:
    """Fill the cells in every row of numbers (row, address) with draws from the exponential distribution."""
    for row in range(len(numbers)):
        for address in range(numbers.shape[1]):
            if real[address] > 0.5:
                numbers[row, address] = -math.log(
                    1.0 - uniform(key, row * numbers.shape[1] + address)
                )


@lean
def share_start(
    first: int,
    last: int,
    owners,
    field,
    cells,
    n_own: np.ndarray,
    n_dr: np.ndarray,
    ends,
    shares,
    x,
    expected,
) -> None:
    """Write to n_own initial counts of documents first..last, given n_dr, their tokens in each row of the last level.

    The tokens n_dr of a row are divided among the paths that end there, in proportion to the products of their x. On
    entry n_own holds the x of the cells of each document; on return, their counts. ends and shares (row,) are scratch.
    """
    width, n_padded = n_own.shape[1], n_dr.shape[1]
    for d in range(first, last):
        for k in range(0, width, LANES):
            store(x, k, load(n_own, d * width + k))
            store(expected, k, spread(0.0))
        mask_own(d, owners, x)
        gather_ends(d, owners, field, x, ends, 0, n_padded)
        for r in range(n_padded):
            shares[r] = n_dr[d, r] / ends[r] if ends[r] > 0.0 else 0.0
        share_out(d, owners, field, x, shares, 0, len(x), expected)
        for k in range(0, width, LANES):
            store(n_own, d * width + k, load(expected, k))
        add_rows(cells, n_own, d)


@lean
def weigh_rest(cells, counts: np.ndarray, sampled, sizes, x, logs) -> None:
    """Write the expected log probability of each cell of the corpus to logs, its exponential to x; counts (1, address)."""
    weigh_cells(cells, counts, sampled, 0, sizes, x)
    log_cells(cells, counts, sampled, 0, sizes, logs)


@lean
def sum_rows(cells, counts: np.ndarray) -> None:
    """Write each distribution's total count to its address, as `add_rows` does, in every row of counts (row, address)."""
    for row in range(len(counts)):
        add_rows(cells, counts, row)


@lean
def signed_rises(counts: np.ndarray, prior, sign):
    """Return sum_a sign_a { lnG(prior_a + n_a) - lnG(prior_a) }, summed over rows of counts (row, address), in nats."""
    result = spread(0.0)
    for row in range(len(counts)):
        row_rises = spread(0.0)
        for k in range(0, counts.shape[1], LANES):
            n = load(counts, row * counts.shape[1] + k)
            if count(n == 0.0) < LANES:
                x = load(prior, k)
                row_rises += load(sign, k) * rises_of(n, x, log_gammas(x))
        result += row_rises
    return total(result)


@lean
def weigh_words(
    first: int,
    last: int,
    size_at: np.ndarray,
    prior,
    mean,
    sampled,
    log_sizes,
    point,
    logs,
    weights,
) -> None:
    """Write the weights of words first..last, as `weigh_rows` does, with the normalisers of each word's language.

    log_sizes (language * R,); size_at (word,) int64 : where those of a word's language begin
    """
    while first < last:
        end, at = first + 1, size_at[first]
        while end < last and size_at[end] == at:
            end += 1
        sizes = log_sizes[at : at + mean.shape[1]]
        weigh_rows(first, end, prior, mean, sampled, sizes, point, logs, weights)
        first = end
