"""Arrays that a sampler of paths works on: addresses of the numbers of each path slot, and the numbers; see `networks.gibbs`.

A path slot is a place for a path, in the order of the runs of `workbench.engines.networks.paths`. An address is ``at + author *
stride``.
"""

from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """Facts of a network that kernels are compiled for, each as the length of a tuple."""

    levels: tuple    # one for each level that is counted
    sums: tuple      # one if row sums of any of them weigh on paths
    factors: tuple   # one for each factor of a slot but for the word, of the slot that has most
    scalars: tuple   # one for each of those that are one number for a run, of the run that has most
    authors: tuple   # one if the network knows authors
    alone: tuple     # one if there is a single band of one run and one beta, and a token changes its slot alone


class PathSlots(NamedTuple):
    """Addresses of the numbers of each path slot, and the slots and runs whose weights change with its token."""

    leaf: np.ndarray            # (slot,) int64 row of the last level; 0 in padding
    cells: np.ndarray           # (slot, level) int64, -1 where there is none
    rows: np.ndarray            # (slot, level) int64
    strides: np.ndarray         # (level,) int64
    factors: np.ndarray         # (slot, factor) int64 address; where 1 stands for slots that have fewer
    factor_strides: np.ndarray  # (slot, factor) int64
    run: np.ndarray             # (slot,) int64
    first: np.ndarray           # (run + 1,) int64 first slot of each run
    scalars: np.ndarray         # (run, scalar) int64 factors of a run that are one number
    scalar_strides: np.ndarray
    vector_ptr: np.ndarray      # (run + 1,) int64: those that are a stretch, but for the word, as in `Runs`
    vector_at: np.ndarray
    vector_stride: np.ndarray
    run_ptr: np.ndarray         # (slot + 1,) int64: runs that change with a token in the slot
    runs: np.ndarray
    slot_ptr: np.ndarray        # (slot + 1,) int64: slots that do beside
    slots: np.ndarray


class Bands(NamedTuple):
    """Runs by the rows of the last level in which they end."""

    first: np.ndarray      # (band + 1,) int64 first column of each band
    of_column: np.ndarray  # (column,) int64
    of_run: np.ndarray     # (run,) int64
    leaf_at: np.ndarray    # (band,) int64 row of the last level of its first column
    leaf_step: np.ndarray  # (band,) int64 1 where columns have rows side by side, 0 where they share one
    run_ptr: np.ndarray    # (band + 1,) int64
    slots: np.ndarray      # (run,) int64 first slot of each of them


class Numbers(NamedTuple):
    """The vector of a network, its counts and its priors, and the words."""

    tally: np.ndarray        # (flat,) float64 counts; those of documents only while one is worked on
    flat: np.ndarray         # (flat,) float64 count + prior of cells, 1 / (count + prior) of row sums
    raised: np.ndarray       # (flat,) float64 the latter with one token more
    prior: np.ndarray        # (flat,) float64
    is_row: np.ndarray       # (D,) bool
    n_wk: np.ndarray         # (word, R) int32 or float64
    n_k: np.ndarray          # (R,) int64 or float64
    beta: np.ndarray         # (R,) float64
    beta_total: np.ndarray   # (R,) float64
    inverse: np.ndarray      # (R,) float64 1 / (n_k + beta_total)
    more: np.ndarray         # (R,) float64 the same with one token more


class Scratch(NamedTuple):
    """Workspace for one document; owners: the most authors that a document has."""

    rest: np.ndarray        # (owners * slot + column,) float64 weights but for the word, then those of bands
    cumulative: np.ndarray  # (column,) float64
    word: np.ndarray        # (R,) float64
    band_at: np.ndarray     # (band,) int64 where the weights of a band stand within rest
    stale: np.ndarray       # (band,) bool
    ends: np.ndarray        # of `draw_from`
