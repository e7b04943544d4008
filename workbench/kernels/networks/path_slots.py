"""Arrays that a sampler of paths works on, initial paths of tokens, and the counts along them; see `networks.gibbs`.

A path slot is a place for a path, in the order of the runs of `workbench.engines.networks.paths`. An address is ``at + author *
stride``. The place of a token is a path slot among those of all authors of its document, slots of the first author first.
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import inlined, kernel
from workbench.kernels.uniforms import uniform


class Counts(NamedTuple):
    """Counts in the layout of the vector of the paths: expected (float64), or sampled (integers)."""

    n_own: np.ndarray  # (document, D)
    n_rest: np.ndarray  # (C + A * authors,)
    n_wk: np.ndarray  # (word, R)
    n_k: np.ndarray  # (R,)


class Shape(NamedTuple):
    """Facts of a network that kernels are compiled for, each as the length of a tuple."""

    levels: tuple  # one for each level that is counted
    sums: tuple  # one if row sums of any of them weigh on paths
    factors: tuple  # one for each factor of a slot but for the word, of the slot that has most
    scalars: tuple  # one for each of those that are one number for a run, of the run that has most
    authors: tuple  # one if the network knows authors
    # one if there is a single band of one run and one beta, and a token changes its slot alone
    alone: tuple


class PathSlots(NamedTuple):
    """Addresses of the numbers of each path slot, and the slots and runs whose weights change with its token."""

    leaf: np.ndarray  # (slot,) int64 row of the last level; 0 in padding
    cells: np.ndarray  # (slot, level) int64, -1 where there is none
    rows: np.ndarray  # (slot, level) int64
    strides: np.ndarray  # (level,) int64
    # (slot, factor) int64 address; where 1 stands for slots that have fewer
    factors: np.ndarray
    factor_strides: np.ndarray  # (slot, factor) int64
    run: np.ndarray  # (slot,) int64
    first: np.ndarray  # (run + 1,) int64 first slot of each run
    scalars: np.ndarray  # (run, scalar) int64 factors of a run that are one number
    scalar_strides: np.ndarray
    # (run + 1,) int64: those that are a stretch, but for the word, as in `Runs`
    vector_ptr: np.ndarray
    vector_at: np.ndarray
    vector_stride: np.ndarray
    run_ptr: np.ndarray  # (slot + 1,) int64: runs that change with a token in the slot
    runs: np.ndarray
    slot_ptr: np.ndarray  # (slot + 1,) int64: slots that do beside
    slots: np.ndarray


class Bands(NamedTuple):
    """Runs by the rows of the last level in which they end."""

    first: np.ndarray  # (band + 1,) int64 first column of each band
    of_column: np.ndarray  # (column,) int64
    of_run: np.ndarray  # (run,) int64
    leaf_at: np.ndarray  # (band,) int64 row of the last level of its first column
    # (band,) int64 1 where columns have rows side by side, 0 where they share one
    leaf_step: np.ndarray
    run_ptr: np.ndarray  # (band + 1,) int64
    slots: np.ndarray  # (run,) int64 first slot of each of them


class Numbers(NamedTuple):
    """The vector of a network, its counts and its priors, and the words."""

    # (flat,) float64 counts; those of documents only while one is worked on
    tally: np.ndarray
    # (flat,) float64 count + prior of cells, 1 / (count + prior) of row sums
    flat: np.ndarray
    raised: np.ndarray  # (flat,) float64 the latter with one token more
    prior: np.ndarray  # (flat,) float64
    is_row: np.ndarray  # (D,) bool
    n_wk: np.ndarray  # (word, R) int32 or float64
    n_k: np.ndarray  # (R,) int64 or float64
    beta: np.ndarray  # (R,) float64
    beta_total: np.ndarray  # (R,) float64
    inverse: np.ndarray  # (R,) float64 1 / (n_k + beta_total)
    more: np.ndarray  # (R,) float64 the same with one token more


class Scratch(NamedTuple):
    """Workspace for one document; owners: the most authors that a document has."""

    # (owners * slot + column,) float64 weights but for the word, then those of bands
    rest: np.ndarray
    cumulative: np.ndarray  # (column,) float64
    word: np.ndarray  # (R,) float64
    band_at: np.ndarray  # (band,) int64 where the weights of a band stand within rest
    stale: np.ndarray  # (band,) bool
    ends: np.ndarray  # of `draw_from`


@inlined
def add_path(d, w, slot, author, n, slots, rest_at, whole) -> None:
    """Add n tokens of a word to all counts along one path; rounding leaves none below 0."""
    leaf = slots.leaf[slot]
    whole.n_wk[w, leaf] = max(whole.n_wk[w, leaf] + n, 0.0)
    whole.n_k[leaf] = max(whole.n_k[leaf] + n, 0.0)
    for level in range(slots.cells.shape[1]):
        shift = author * slots.strides[level]
        for address in (slots.cells[slot, level], slots.rows[slot, level]):
            if address >= rest_at:
                address += shift - rest_at
                whole.n_rest[address] = max(whole.n_rest[address] + n, 0.0)
            elif address >= 0:
                whole.n_own[d, address] = max(whole.n_own[d, address] + n, 0.0)


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
    places,
    whole,
) -> None:
    """Add every token of sampled pairs to the counts along its place."""
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if not sampled[pair]:
                continue
            for i in fixed:
                whole.n_own[d, i] += counts[pair]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                author = owners.ids[owners.indptr[d] + places[token] // n_slots]
                add_path(d, words[pair], places[token] % n_slots, author, 1, slots, rest_at, whole)


@kernel
def uniform_places(key: np.uint64, tokens: np.ndarray, owners, real, n_slots: int, places) -> None:
    """Draw a place for every token, each real slot of each author of its document with the same probability.

    tokens (document + 1,): tokens before each document; real (path,): the slots that are paths.
    """
    for d in range(len(tokens) - 1):
        n_here = (owners.indptr[d + 1] - owners.indptr[d]) * len(real)
        for token in range(tokens[d], tokens[d + 1]):
            chosen = np.int64(uniform(key, token) * n_here)
            places[token] = chosen // len(real) * n_slots + real[chosen % len(real)]


@kernel
def places_of_counts(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    owners,
    slots,
    flat,
    real,
    given_dr,
    given_wk: np.ndarray,
    given_k: np.ndarray,
    beta,
    beta_total,
    topics: np.ndarray,
    key: np.uint64,
    places,
) -> None:
    """Draw a place for every token, drawn given counts of another run by rows of the last level.

    The prior weight of a path is multiplied by that of the word; the counts of a document by rows (given_dr, of no rows where
    they are not known) stand in proportion over the paths that end there, so that of LDA (alpha_k + n_dk) is weighed. A token
    whose row is known (topics, of no length where none is, else -1 where it is not) has a path to it.
    """
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        authors = owners.ids[owners.indptr[d] : owners.indptr[d + 1]]
        prior, mass = np.ones(len(authors) * len(real)), np.zeros(len(beta))
        for i in range(len(prior)):
            slot, author = real[i % len(real)], authors[i // len(real)]
            for f in range(slots.factors.shape[1]):
                prior[i] *= flat[slots.factors[slot, f] + author * slots.factor_strides[slot, f]]
            mass[slots.leaf[slot]] += prior[i]
        running = np.empty(len(prior))
        for pair in range(indptr[d], indptr[d + 1]):
            w = words[pair]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                known, total = topics[token] if len(topics) else -1, 0.0
                for i in range(len(prior)):
                    leaf = slots.leaf[real[i % len(real)]]
                    weight = prior[i] * (
                        1.0 + (given_dr[d, leaf] / mass[leaf] if len(given_dr) else 0.0)
                    )
                    weight *= (beta[leaf] + given_wk[w, leaf]) / (beta_total[leaf] + given_k[leaf])
                    total += weight if known < 0 or known == leaf else 0.0
                    running[i] = total
                i = min(
                    np.searchsorted(running, uniform(key, token) * total, "right"), len(running) - 1
                )
                places[token] = i // len(real) * n_slots + real[i % len(real)]
