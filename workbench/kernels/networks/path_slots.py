"""The arrays of the sampler of paths (`networks.gibbs`), initial paths of tokens, and the counts along paths.

A path slot holds a path, or is padding; slots are in the order of the runs of `workbench.engines.networks.paths`. An address
is ``at + author * stride``. The place of a token is the index of its path slot among those of all authors of its document,
slots of the first author first.
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import inlined, kernel
from workbench.kernels.uniforms import uniform


class Counts(NamedTuple):
    """Expected (float64) or sampled (integer) counts of a network, in the layout of `engines.networks.paths`."""

    n_own: np.ndarray  # (document, D) counts of cells and row sums of each document
    n_rest: np.ndarray  # (C + A * authors,) the same of the corpus and of authors
    n_wk: np.ndarray  # (word, R) counts of words in each row of the last level
    # (language * R,) sums of n_wk over the words of each language (leaf), one language after another
    n_k: np.ndarray


class Shape(NamedTuple):
    """Properties of a network that are compile-time constants of the kernel, each stored as the length of a tuple."""

    levels: tuple  # length: number of counted levels
    sums: tuple  # length 1 if row sums of any level are factors of a path
    factors: tuple  # length: the largest number of factors of a slot, without that of the word
    scalars: tuple  # length: the largest number of factors that are one number for a whole run
    authors: tuple  # length 1 if the network has authors
    # length 1 if there is one band of one run and one beta, and a token changes only its own slot
    single_band: tuple


class PathSlots(NamedTuple):
    """For every path (slot), addresses of its factors and counts, and which paths' weights change with those counts."""

    leaf: np.ndarray  # (slot,) int64 row of the last level; 0 in padding
    cells: np.ndarray  # (slot, level) int64 address of the path's cell, -1 if there is none
    rows: np.ndarray  # (slot, level) int64 address of the row sum of that cell, -1 if there is none
    strides: np.ndarray  # (level,) int64 distance of addresses from one author to the next
    # (slot, factor) int64 address; that of a number 1 for missing factors
    factors: np.ndarray
    factor_strides: np.ndarray  # (slot, factor) int64
    run: np.ndarray  # (slot,) int64 run of each slot
    first: np.ndarray  # (run + 1,) int64 first slot of each run
    scalars: np.ndarray  # (run, scalar) int64 factors of a run that are one number
    scalar_strides: np.ndarray
    # (run + 1,) int64: factors that differ between the slots of a run, as in `Runs`
    vector_ptr: np.ndarray
    vector_at: np.ndarray
    vector_stride: np.ndarray
    run_ptr: np.ndarray  # (slot + 1,) int64: runs that change with a token in the slot
    runs: np.ndarray
    slot_ptr: np.ndarray  # (slot + 1,) int64: further single slots that change
    slots: np.ndarray


class Bands(NamedTuple):
    """Bands: groups of runs (paths that differ in one variable) that end in the same rows of the network's last level."""

    first: np.ndarray  # (band + 1,) int64 first column of each band
    of_column: np.ndarray  # (column,) int64 band of each column
    of_run: np.ndarray  # (run,) int64 band of each run
    leaf_at: np.ndarray  # (band,) int64 row of the last level of its first column
    # (band,) int64 1 where columns have consecutive rows, 0 where all have the same row
    leaf_step: np.ndarray
    run_ptr: np.ndarray  # (band + 1,) int64 the runs of each band
    slots: np.ndarray  # (run,) int64 first slot of each run


class Numbers(NamedTuple):
    """Counts, priors and factors in the layout of `engines.networks.paths`, and the counts of words."""

    # (flat,) float64 counts; those of a document only while it is visited
    tally: np.ndarray
    # (flat,) float64 count + prior of cells, 1 / (count + prior) of row sums
    factors: np.ndarray
    next_factors: np.ndarray  # (flat,) float64 1 / (count + prior) of row sums with one more token
    prior: np.ndarray  # (flat,) float64
    is_row: np.ndarray  # (D,) bool
    n_wk: np.ndarray  # (word, R) int32 or float64
    n_k: np.ndarray  # (language * R,) int64 or float64
    beta: np.ndarray  # (R,) float64
    beta_total: np.ndarray  # (language * R,) float64
    inverse: np.ndarray  # (language * R,) float64 1 / (n_k + beta_total)
    next_inverse: np.ndarray  # (language * R,) float64 the same with one more token
    size_at: np.ndarray  # (word,) int64 where the sums of the word's language begin in n_k


class Scratch(NamedTuple):
    """Scratch arrays for the draws in one document."""

    # (owners * slot + column,) float64 weights of slots without the word, then those of bands
    rest: np.ndarray
    cumulative: np.ndarray  # (column,) float64 running sums of the weights of columns
    word: np.ndarray  # (R,) float64 weights of a word in each row of the last level
    band_at: np.ndarray  # (band,) int64 where the weights of a band begin in `rest`
    stale: np.ndarray  # (band,) bool: whether its weights must be summed again
    ends: np.ndarray  # scratch of `draw_from`


@inlined
def add_path(d, w, slot, author, n, slots, size_at, rest_at, totals) -> None:
    """Add n tokens of a word to all counts along one path; negative results become 0.

    size_at : where the sums n_k over the words of its language begin
    """
    leaf = slots.leaf[slot]
    totals.n_wk[w, leaf] = max(totals.n_wk[w, leaf] + n, 0.0)
    leaf += size_at
    totals.n_k[leaf] = max(totals.n_k[leaf] + n, 0.0)
    for level in range(slots.cells.shape[1]):
        shift = author * slots.strides[level]
        for address in (slots.cells[slot, level], slots.rows[slot, level]):
            if address >= rest_at:
                address += shift - rest_at
                totals.n_rest[address] = max(totals.n_rest[address] + n, 0.0)
            elif address >= 0:
                totals.n_own[d, address] = max(totals.n_own[d, address] + n, 0.0)


@kernel
def count_paths(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    sampled,
    owners,
    rest_at,
    fixed,
    slots,
    size_at: np.ndarray,
    places,
    totals,
) -> None:
    """Add every token of the sampled document-word pairs to the counts along the token's path."""
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if not sampled[pair]:
                continue
            for i in fixed:
                totals.n_own[d, i] += counts[pair]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                author = owners.ids[owners.indptr[d] + places[token] // n_slots]
                slot = places[token] % n_slots
                at = size_at[words[pair]], rest_at
                add_path(d, words[pair], slot, author, 1, slots, *at, totals)


@kernel
def uniform_places(key: np.uint64, tokens: np.ndarray, owners, n_slots: int, places) -> None:
    """Draw an initial path and author (the place) of every token, uniformly over all paths of its document's authors.

    tokens (document + 1,): the number of tokens before each document
    """
    for d in range(len(tokens) - 1):
        s = owners.set_of[d]
        real = owners.slots[owners.slot_ptr[s] : owners.slot_ptr[s + 1]]
        n_here = (owners.indptr[d + 1] - owners.indptr[d]) * len(real)
        for token in range(tokens[d], tokens[d + 1]):
            number = np.int64(uniform(key, token) * n_here)
            places[token] = number // len(real) * n_slots + real[number % len(real)]


@kernel
def places_of_counts(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    owners,
    slots,
    factors,
    given_dr,
    given_wk: np.ndarray,
    given_k: np.ndarray,
    beta,
    beta_total,
    size_at: np.ndarray,
    topics: np.ndarray,
    key: np.uint64,
    places,
) -> None:
    """Draw an initial path and author (the place) of every token, given counts of another run by last-level row.

    The weight of a path is its prior weight times the probability of the word. given_dr (document, row), empty if unknown, is
    shared out among the paths that end in a row in proportion to their prior weights, so that LDA has the weights
    alpha_k + n_dk. topics (token,), empty if unknown, is the row in which the path of a token must end, -1 for any.
    """
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        authors = owners.ids[owners.indptr[d] : owners.indptr[d + 1]]
        s = owners.set_of[d]
        real = owners.slots[owners.slot_ptr[s] : owners.slot_ptr[s + 1]]
        prior, mass = np.ones(len(authors) * len(real)), np.zeros(len(beta))
        for i in range(len(prior)):
            slot, author = real[i % len(real)], authors[i // len(real)]
            for f in range(slots.factors.shape[1]):
                prior[i] *= factors[slots.factors[slot, f] + author * slots.factor_strides[slot, f]]
            mass[slots.leaf[slot]] += prior[i]
        running = np.empty(len(prior))
        for pair in range(indptr[d], indptr[d + 1]):
            w = words[pair]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                known_leaf, total = topics[token] if len(topics) else -1, 0.0
                for i in range(len(prior)):
                    leaf = slots.leaf[real[i % len(real)]]
                    weight = prior[i] * (
                        1.0 + (given_dr[d, leaf] / mass[leaf] if len(given_dr) else 0.0)
                    )
                    size = leaf + size_at[w]
                    weight *= (beta[leaf] + given_wk[w, leaf]) / (beta_total[size] + given_k[size])
                    total += weight if known_leaf < 0 or known_leaf == leaf else 0.0
                    running[i] = total
                i = min(
                    np.searchsorted(running, uniform(key, token) * total, "right"), len(running) - 1
                )
                places[token] = i // len(real) * n_slots + real[i % len(real)]
