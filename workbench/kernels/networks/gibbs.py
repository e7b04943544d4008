"""Collapsed Gibbs sampling of the path of each token through a network of mixture levels, for any network.

    p(path_i | paths_-i, words)  ~  prod over its levels (n_kt + alpha_t) / (n_k + sum alpha)        spec of networks, D.4

with token i removed from the counts. Numbers are in the layout of the vector of `workbench.engines.networks.paths`; a place is
a path slot among those of all authors of the document, slots of the first author first.

The weight of a slot without the factor of the word, `rest`, is kept through the document: a token changes all slots of a run if
a factor of the whole run changes, else single slots. Runs that end in the same rows of the last level, for any author, form a
*band*; for a word they differ only by `rest`. So a token draws a column of a band, by the sum of `rest` over its runs times the
weight of the row for the word, and then the run within the band, by `rest` alone: in four-level pachinko T columns and S runs
are weighed, never S x T paths. Sums over runs are recomputed, not updated, so that rounding errors do not accumulate. The first
draw is that of `lda.gibbs`, with the same order of lanes and the same uniforms, so that LDA as a network, a band of one run,
has the states of `cgs`. As there, a drawn token is added only after the next one has been removed.

Counts are integers, or in a hybrid expected counts plus integers: `tally` holds them as float64, those of a document while it
is visited. Constants of a network are passed to the compiler as lengths of tuples (`path_slots.Shape`), so that loops over
levels and factors are unrolled, and parts that a network lacks need no time.
"""

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.lda.gibbs import AHEAD, draw_from
from workbench.kernels.networks.field import mask_own
from workbench.kernels.simd.vectors import (
    LANES,
    at_most_256_bits,
    bump,
    doubles,
    fetch,
    load,
    put,
    spread,
    store,
)
from workbench.kernels.uniforms import uniform


@inlined
def count_levels(slot, author, step, shape, slots, numbers) -> None:
    """Add a token to the counts along a path (step = 1), or remove it (step = -1), in all levels but the last."""
    for level in range(len(shape.levels)):
        shift = author * slots.strides[np.uint64(level)] if len(shape.authors) else 0
        cell = slots.cells[np.uint64(slot), np.uint64(level)]
        row_sum = slots.rows[np.uint64(slot), np.uint64(level)] if len(shape.sums) else -1
        if cell >= 0:
            address = np.uint64(cell + shift)
            n = numbers.tally[address] + step
            numbers.tally[address] = n
            put(numbers.factors, address, numbers.prior[address] + n)
        if row_sum >= 0:
            address = np.uint64(row_sum + shift)
            n = numbers.tally[address] + step
            numbers.tally[address] = n
            if step > 0:
                put(numbers.factors, address, numbers.next_factors[address])
                numbers.next_factors[address] = 1.0 / (numbers.prior[address] + n + 1.0)
            else:
                numbers.next_factors[address] = numbers.factors[address]
                put(numbers.factors, address, 1.0 / (numbers.prior[address] + n))


@inlined
def remove_token(slot, author, row, size_at, shape, slots, numbers) -> None:
    """Remove a token from all counts along its path; the counts of its word begin at flat index `row`.

    size_at : where the sums n_k over the words of its language begin
    """
    leaf = np.uint64(slots.leaf[np.uint64(slot)])
    bump(numbers.n_wk, row + leaf, np.int32(-1))
    leaf += np.uint64(size_at)
    n_k = numbers.n_k[leaf] - 1
    numbers.n_k[leaf] = n_k
    numbers.next_inverse[leaf] = numbers.inverse[leaf]
    put(numbers.inverse, leaf, 1.0 / (numbers.beta_total[leaf] + n_k))
    count_levels(slot, author, -1.0, shape, slots, numbers)


@inlined
def add_token(slot, author, row, size_at, shape, slots, numbers) -> None:
    """Add a token to all counts along its path; for `row` and `size_at` see `remove_token`."""
    leaf = np.uint64(slots.leaf[np.uint64(slot)])
    bump(numbers.n_wk, row + leaf, np.int32(1))
    leaf += np.uint64(size_at)
    n_k = numbers.n_k[leaf] + 1
    numbers.n_k[leaf] = n_k
    put(numbers.inverse, leaf, numbers.next_inverse[leaf])
    numbers.next_inverse[leaf] = 1.0 / (numbers.beta_total[leaf] + n_k + 1)
    count_levels(slot, author, 1.0, shape, slots, numbers)


@inlined
def weigh_run(run, author, base, shape, slots, factors, rest) -> None:
    """Write the weight, without the factor of the word, of each path of a run to `rest`, for one author."""
    scale, run = 1.0, np.uint64(run)
    for s in range(len(shape.scalars)):
        shift = author * slots.scalar_strides[run, np.uint64(s)] if len(shape.authors) else 0
        scale *= factors[np.uint64(slots.scalars[run, np.uint64(s)] + shift)]
    first, end = slots.first[run], slots.first[run + np.uint64(1)]
    v, last = slots.vector_ptr[run], slots.vector_ptr[run + np.uint64(1)]
    address = slots.vector_at[np.uint64(v)] + author * slots.vector_stride[np.uint64(v)]
    for i in range(0, end - first, LANES):
        weights = scale * load(factors, address + i)
        for vector in range(v + 1, last):
            weights *= load(
                factors, slots.vector_at[vector] + author * slots.vector_stride[vector] + i
            )
        store(rest, base + first + i, weights)


@inlined
def weigh_slot(slot, author, base, shape, slots, factors, rest) -> None:
    """Write the weight of the path numbered `slot`, without the factor of the word, to `rest`, for one author."""
    weight = 1.0
    for f in range(len(shape.factors)):
        shift = (
            author * slots.factor_strides[np.uint64(slot), np.uint64(f)]
            if len(shape.authors)
            else 0
        )
        weight *= factors[np.uint64(slots.factors[np.uint64(slot), np.uint64(f)] + shift)]
    put(rest, base + slot, weight)


@inlined
def weigh_touched(slot, author, base, shape, slots, bands, factors, scratch) -> None:
    """Recompute the weights of all paths of an author that depend on the counts along the path numbered `slot`."""
    for i in range(slots.run_ptr[np.uint64(slot)], slots.run_ptr[np.uint64(slot + 1)]):
        run = slots.runs[np.uint64(i)]
        weigh_run(run, author, base, shape, slots, factors, scratch.rest)
        scratch.stale[np.uint64(bands.of_run[np.uint64(run)])] = True
    for i in range(slots.slot_ptr[np.uint64(slot)], slots.slot_ptr[np.uint64(slot + 1)]):
        dependent = slots.slots[np.uint64(i)]
        weigh_slot(dependent, author, base, shape, slots, factors, scratch.rest)
        scratch.stale[np.uint64(bands.of_run[np.uint64(slots.run[np.uint64(dependent)])])] = True


@inlined
def add_up_band(band, address, n_here, n_slots: int, bands, rest) -> None:
    """Sum weights over authors and the runs of a band (runs that end in the same rows); write the sums to `rest`."""
    for i in range(0, bands.first[band + 1] - bands.first[band], LANES):
        sums = spread(0.0)
        for o in range(n_here):
            for r in range(bands.run_ptr[band], bands.run_ptr[band + 1]):
                sums += load(rest, o * n_slots + bands.slots[np.uint64(r)] + i)
        store(rest, address + i, sums)


@inlined
def run_within(band, column, n_here, n_slots: int, bands, rest, target):
    """Return the index (author, path) in one column of a band at which the running sum of weights exceeds `target`."""
    running_sum, n_below, begin = 0.0, 0, bands.run_ptr[np.uint64(band)]
    n = bands.run_ptr[np.uint64(band + 1)] - begin
    for o in range(n_here):
        for r in range(begin, begin + n):
            running_sum += rest[np.uint64(o * n_slots + bands.slots[np.uint64(r)] + column)]
            n_below += running_sum <= target
    o = n_below // n if n_here > 1 else 0
    return o * n_slots + bands.slots[np.uint64(begin + n_below - o * n)] + column


@inlined
def weigh_word(row, size_at, word, numbers) -> None:
    """Compute (n_kw + beta) / (n_k + sum beta) of a word for each row k of the last level, with n_k of its language."""
    for i in range(0, len(word), LANES):
        n_wk = doubles(load(numbers.n_wk, row + i))
        store(word, i, (load(numbers.beta, i) + n_wk) * load(numbers.inverse, size_at + i))


@lean
def draw_paths(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    sampled,
    owners,
    shape,
    shared,
    slots,
    bands,
    numbers,
    n_own: np.ndarray,
    places,
    scratch,
    key: np.uint64,
    key_within: np.uint64,
):
    """Draw the paths of all tokens of the sampled pairs in documents first..last, in canonical order.

    places (token,) int32, n_own (document, D) and all of `numbers` are changed in place; returns how many tokens changed
    place. shared : whether authors of a document share factors of a path.
    """
    at_most_256_bits()
    n_slots, n_leaves, n_runs, n_own_numbers = (
        len(slots.leaf),
        numbers.n_wk.shape[1],
        len(slots.first) - 1,
        n_own.shape[1],
    )
    n_bands = len(bands.leaf_at)
    rest, word, cumulative, ends, n_moved = (
        scratch.rest,
        scratch.word,
        scratch.cumulative,
        scratch.ends,
        0,
    )
    for d in range(first, last):
        authors = owners.ids[owners.indptr[d] : owners.indptr[d + 1]]
        n_here = len(authors)
        if n_here == 0 or indptr[d] == indptr[d + 1]:
            continue
        for i in range(n_own_numbers):
            numbers.tally[i] = n_own[d, i]
            number = numbers.prior[i] + n_own[d, i]
            numbers.factors[i] = 1.0 / number if numbers.is_row[i] else number
            numbers.next_factors[i] = 1.0 / (number + 1.0) if numbers.is_row[i] else 0.0
        mask_own(d, owners, numbers.factors)
        for o in range(n_here):
            for run in range(n_runs):
                weigh_run(run, authors[o], o * n_slots, shape, slots, numbers.factors, rest)
        for band in range(n_bands):
            members = (bands.run_ptr[band + 1] - bands.run_ptr[band]) * n_here
            scratch.band_at[band] = (
                bands.slots[bands.run_ptr[band]]
                if members == 1
                else n_here * n_slots + bands.first[band]
            )
            scratch.stale[band] = True
        new, slot, o, waits = np.int64(0), np.int64(0), np.int64(0), False
        row_before, size_before = np.int64(0), np.int64(0)
        for pair in range(indptr[d], indptr[d + 1]):
            if pair + AHEAD < len(words):
                for i in range(0, n_leaves, LANES):
                    fetch(numbers.n_wk, words[pair + AHEAD] * n_leaves + i)
            if not sampled[pair]:
                continue
            row, size_at = np.int64(words[pair]) * n_leaves, numbers.size_at[np.uint64(words[pair])]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                old = np.int64(places[np.uint64(token)])
                old_o = old // n_slots if n_here > 1 else np.int64(0)
                old_slot = old - old_o * n_slots
                remove_token(old_slot, authors[old_o], row, size_at, shape, slots, numbers)
                if waits:
                    add_token(slot, authors[o], row_before, size_before, shape, slots, numbers)
                if len(shape.single_band):
                    if waits:
                        weigh_slot(slot, 0, 0, shape, slots, numbers.factors, rest)
                    weigh_slot(old_slot, 0, 0, shape, slots, numbers.factors, rest)
                else:
                    for is_old in range(0 if waits else 1, 2):
                        changed_slot, of = (old_slot, old_o) if is_old else (slot, o)
                        for owner in range(0 if shared else of, n_here if shared else of + 1):
                            weigh_touched(
                                changed_slot,
                                authors[owner],
                                owner * n_slots,
                                shape,
                                slots,
                                bands,
                                numbers.factors,
                                scratch,
                            )
                sums = spread(0.0)
                if len(shape.single_band):
                    for i in range(0, n_slots, LANES):
                        b = numbers.beta[0] + doubles(load(numbers.n_wk, row + i))
                        sums += load(rest, i) * load(numbers.inverse, size_at + i) * b
                        store(cumulative, i, sums)
                else:
                    weigh_word(row, size_at, word, numbers)
                    for band in range(n_bands):
                        address, column = scratch.band_at[np.uint64(band)], bands.first[band]
                        if scratch.stale[np.uint64(band)]:
                            scratch.stale[np.uint64(band)] = False
                            if address >= n_here * n_slots:
                                add_up_band(band, address, n_here, n_slots, bands, rest)
                        leaf = bands.leaf_at[band]
                        if bands.leaf_step[band]:
                            for i in range(0, bands.first[band + 1] - column, LANES):
                                sums += load(rest, address + i) * load(word, leaf + i)
                                store(cumulative, column + i, sums)
                        else:
                            b = word[np.uint64(leaf)]
                            for i in range(0, bands.first[band + 1] - column, LANES):
                                sums += load(rest, address + i) * b
                                store(cumulative, column + i, sums)
                new = np.int64(draw_from(sums, cumulative, ends, uniform(key, token)))
                if not len(shape.single_band):
                    band = bands.of_column[np.uint64(new)]
                    column = new - bands.first[np.uint64(band)]
                    address = scratch.band_at[np.uint64(band)]
                    if address < n_here * n_slots:
                        new = address + column
                    else:
                        target = uniform(key_within, token) * rest[np.uint64(address + column)]
                        new = run_within(band, column, n_here, n_slots, bands, rest, target)
                places[np.uint64(token)] = new
                n_moved += new != old
                o = new // n_slots if n_here > 1 else np.int64(0)
                slot, waits = new - o * n_slots, True
                row_before, size_before = row, size_at
        if waits:
            add_token(slot, authors[o], row_before, size_before, shape, slots, numbers)
        for i in range(n_own_numbers):
            n_own[d, i] = numbers.tally[i]
    return n_moved
