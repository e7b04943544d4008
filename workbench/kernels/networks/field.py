"""Sums of path weights in a network, by the row of the last level in which paths end, and expected counts of cells.

Each cell has a number x (exp of an expected logarithm, or a posterior mean). The weight of a path is the product of the x of
its cells, times a factor of the word that depends on the row of the last level alone. So the paths of a document are summed
once, whatever the number of its words::

    P_r = sum over owners, and over the paths that end in row r, of prod x_cell                    (gather_ends)

and the expected tokens n_r of a row are shared out among the paths that end there::

    n_cell += (n_r / P_r) prod x_cell       for every cell of every path that ends in row r          (share_out)

A factor that all slots of a run share is one number of `flat`; another factor is a contiguous part of it, one number for each
slot: see `engines.networks.paths`. Padding slots of a run have weight 0, so that they may read and write what follows.

Where numbers leave the range of doubles (tiny priors), the same is done with logarithms, path by path: `gather_logs`,
`share_logs`. Predictive probabilities (spec D.6) are of posterior means::

    p(w | d) = sum_r P_dr phi_rw,   P_dr = mean over owners of the paths that end in row r of prod (alpha_t + n_t) / (A + n)
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.simd.functions import fast_exp, fast_log, total
from workbench.kernels.simd.vectors import (
    LANES,
    bump,
    choose,
    doubles,
    fetch,
    load,
    spread,
    store,
    take,
)

NEVER = -1e200
"""Stands for log 0; the logarithm of any positive number is larger."""
AHEAD = 8
"""How many pairs ahead the row of a word is prefetched into the cache."""


class Field(NamedTuple):
    """Addresses of the factors, without the word's, of each run of paths (paths that differ in one variable alone).

    The address of an owner's factor is ``at + owner * stride``; a scalar is shared by all paths of a run.
    """

    n_blocks: np.ndarray  # (run,) int64: blocks of sixteen paths
    scalar_ptr: np.ndarray  # (run + 1,) int64
    scalar_at: np.ndarray  # (scalar,) int64
    scalar_stride: np.ndarray
    vector_ptr: np.ndarray  # (run + 1,) int64: a run has at least one
    vector_at: np.ndarray
    vector_stride: np.ndarray
    # (run,) int64: the row of the last level in which its paths end, or the first of these rows
    end_at: np.ndarray
    end_moves: np.ndarray  # (run,) bool: whether its paths end in consecutive rows


class Owners(NamedTuple):
    """The possible authors and paths of each document's tokens; author 0 in networks without authors.

    Documents whose labels allow the same paths are of one set; without labels all are of set 0.
    """

    # (document + 1,) int64 and (…,) int64: the authors of document d are ids[indptr[d]:indptr[d + 1]]
    indptr: np.ndarray
    ids: np.ndarray
    set_of: np.ndarray  # (document,) int64: the set of allowed paths of each document
    # (set, D) float64: 0.0 for the cells of a document outside its labels, else 1.0; without rows if there are no labels
    mask: np.ndarray
    # (set + 1,) and (…,) int64: the path slots that a set allows
    slot_ptr: np.ndarray
    slots: np.ndarray
    # (set + 1,) and (…,) int64: the first slot of each block of sixteen with an allowed one
    block_ptr: np.ndarray
    blocks: np.ndarray


@inlined
def mask_own(d, owners, numbers) -> None:
    """Set the numbers of those cells of document d to 0 that its labels do not allow."""
    if len(owners.mask):
        width = owners.mask.shape[1]
        for k in range(0, width, LANES):
            store(numbers, k, load(numbers, k) * load(owners.mask, owners.set_of[d] * width + k))


@inlined
def scale_of(field, run, owner, factors):
    """Return the product of those `factors` that all paths of a run share, given the author (`owner`)."""
    scale = 1.0
    for i in range(field.scalar_ptr[run], field.scalar_ptr[run + 1]):
        scale *= factors[field.scalar_at[i] + owner * field.scalar_stride[i]]
    return scale


@inlined
def block_of(field, run, owner, k, factors):
    """Return for sixteen paths of a run, from path k on, the products of those `factors` that differ by path."""
    first = field.vector_ptr[run]
    product = load(factors, field.vector_at[first] + owner * field.vector_stride[first] + k)
    for i in range(first + 1, field.vector_ptr[run + 1]):
        product *= load(factors, field.vector_at[i] + owner * field.vector_stride[i] + k)
    return product


@inlined
def gather_ends(d, owners, field, factors, ends, address, width) -> None:
    """Compute P_r, the summed weight of the paths of document d that end in row r of the last level.

    ends : the P_r of `width` rows are written from flat index `address` on
    """
    for k in range(0, width, LANES):
        store(ends, address + k, spread(0.0))
    for j in range(owners.indptr[d], owners.indptr[d + 1]):
        owner = owners.ids[j]
        for run in range(len(field.n_blocks)):
            scale, end, sums = (
                scale_of(field, run, owner, factors),
                address + field.end_at[run],
                spread(0.0),
            )
            for k in range(0, LANES * field.n_blocks[run], LANES):
                weights = scale * block_of(field, run, owner, k, factors)
                if field.end_moves[run]:
                    store(ends, end + k, load(ends, end + k) + weights)
                else:
                    sums += weights
            if not field.end_moves[run]:
                bump(ends, end, total(sums))


@inlined
def share_out(d, owners, field, factors, shares, low, high, expected) -> None:
    """Share the tokens of each last-level row among the paths that end there; add them to cells at addresses low..high.

    shares (row,) : n_r / P_r, the tokens of document d in a row over the summed weight of its paths (`gather_ends`)
    """
    for j in range(owners.indptr[d], owners.indptr[d + 1]):
        owner = owners.ids[j]
        for run in range(len(field.n_blocks)):
            scale, end, sums = scale_of(field, run, owner, factors), field.end_at[run], spread(0.0)
            for k in range(0, LANES * field.n_blocks[run], LANES):
                share = load(shares, end + k) if field.end_moves[run] else spread(shares[end])
                counts = scale * share * block_of(field, run, owner, k, factors)
                sums += counts
                for i in range(field.vector_ptr[run], field.vector_ptr[run + 1]):
                    address = field.vector_at[i]
                    if low <= address < high:
                        address += owner * field.vector_stride[i] + k
                        store(expected, address, load(expected, address) + counts)
            run_total = total(sums)
            for i in range(field.scalar_ptr[run], field.scalar_ptr[run + 1]):
                if low <= field.scalar_at[i] < high:
                    expected[field.scalar_at[i] + owner * field.scalar_stride[i]] += run_total


@inlined
def log_of_path(field, run, owner, slot, logs):
    """Return the logarithm of the weight of one path, without the factor of the word."""
    result = 0.0
    for i in range(field.scalar_ptr[run], field.scalar_ptr[run + 1]):
        result += logs[field.scalar_at[i] + owner * field.scalar_stride[i]]
    for i in range(field.vector_ptr[run], field.vector_ptr[run + 1]):
        result += logs[field.vector_at[i] + owner * field.vector_stride[i] + slot]
    return result


@lean
def gather_logs(d, owners, field, logs, log_ends, row, sums) -> None:
    """Write log P_r of document d (see `gather_ends`) to a row of `log_ends`, `NEVER` where no path ends."""
    for r in range(len(sums)):
        log_ends[row, r], sums[r] = NEVER, 0.0
    for find_sums in range(2):
        for j in range(owners.indptr[d], owners.indptr[d + 1]):
            for run in range(len(field.n_blocks)):
                for slot in range(LANES * field.n_blocks[run]):
                    log_weight, r = (
                        log_of_path(field, run, owners.ids[j], slot, logs),
                        field.end_at[run],
                    )
                    if log_weight <= NEVER:
                        continue
                    r += slot if field.end_moves[run] else 0
                    if not find_sums:
                        log_ends[row, r] = max(log_ends[row, r], log_weight)
                    else:
                        sums[r] += fast_exp(log_weight - log_ends[row, r])
    for r in range(len(sums)):
        if sums[r] > 0.0:
            log_ends[row, r] += fast_log(sums[r])


@lean
def share_logs(d, owners, field, logs, log_ends, row, n_r, low, high, expected) -> None:
    """Share the tokens n_r of each last-level row among paths, as `share_out` does, but in the log domain."""
    for j in range(owners.indptr[d], owners.indptr[d + 1]):
        owner = owners.ids[j]
        for run in range(len(field.n_blocks)):
            for slot in range(LANES * field.n_blocks[run]):
                log_weight, r = log_of_path(field, run, owner, slot, logs), field.end_at[run]
                r += slot if field.end_moves[run] else 0
                if log_weight <= NEVER or n_r[r] == 0.0:
                    continue
                count = n_r[r] * fast_exp(log_weight - log_ends[row, r])
                for i in range(field.scalar_ptr[run], field.scalar_ptr[run + 1]):
                    if low <= field.scalar_at[i] < high:
                        expected[field.scalar_at[i] + owner * field.scalar_stride[i]] += count
                for i in range(field.vector_ptr[run], field.vector_ptr[run + 1]):
                    if low <= field.vector_at[i] < high:
                        expected[field.vector_at[i] + owner * field.vector_stride[i] + slot] += (
                            count
                        )


@inlined
def mean_cells(cells, counts: np.ndarray, row, inverse, x) -> None:
    """Compute the posterior mean probabilities (prior + n) / sum(prior + n) of the cells, for one row of counts.

    counts : integer or real; inverse (address,) is scratch
    """
    for i in range(len(cells.rows)):
        address = cells.rows[i]
        inverse[address] = 1.0 / (cells.prior[address] + counts[row, address])
    for i in range(len(cells.blocks)):
        k = cells.blocks[i]
        value = (load(cells.prior, k) + doubles(load(counts, row * counts.shape[1] + k))) * take(
            inverse, load(cells.row_of, k)
        )
        store(x, k, choose(load(cells.real, k) > 0.5, value, spread(0.0)))


@lean
def mean_rest(cells, counts: np.ndarray, inverse, x) -> None:
    """Compute the posterior mean probabilities of the cells of the corpus, from counts (1, address)."""
    mean_cells(cells, counts, 0, inverse, x)


@lean
def mean_ends(
    first: int, last: int, owners, field, cells, n_own: np.ndarray, inverse, x, ends
) -> None:
    """Compute p(last-level row | document) (document, row) from posterior mean probabilities, averaged over authors.

    x (address,) holds the means of the cells of the corpus, and gets those of a document. A document without authors gets 0.
    """
    width = ends.shape[1]
    for d in range(first, last):
        mean_cells(cells, n_own, d, inverse, x)
        mask_own(d, owners, x)
        gather_ends(d, owners, field, x, ends, d * width, width)
        n_owners = owners.indptr[d + 1] - owners.indptr[d]
        for k in range(0, width, LANES):
            store(ends, d * width + k, load(ends, d * width + k) / max(1.0, np.float64(n_owners)))


@lean
def mix(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    ends,
    phi: np.ndarray,
    probability: np.ndarray,
) -> None:
    """Compute p(w | d) = sum_r P_dr phi_wr of the pairs of documents first..last; ends is P, padded with zeros."""
    width, last_pair = ends.shape[1], len(words) - 1
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            next_row = np.int64(words[min(pair + AHEAD, last_pair)]) * width
            sums = spread(0.0)
            for k in range(0, width, LANES):
                fetch(phi, next_row + k)
                fetch(phi, next_row + k + LANES // 2)
                sums += load(ends, d * width + k) * load(phi, np.int64(words[pair]) * width + k)
            probability[pair] = total(sums)
