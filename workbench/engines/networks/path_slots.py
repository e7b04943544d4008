"""The layout of a network's paths for the sampler: the numbers that a token's path changes, and the state of a sweep.

A token changes the cells and row sums that its path visits; of the runs whose one-number factors are among them every lane
has another weight then, elsewhere a single lane has. Spec of the networks, D.4.
"""

import itertools
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from workbench.engines.networks.compiled import FlatPriors, chained
from workbench.engines.networks.paths import Paths, paths_of
from workbench.kernels.lda.gibbs import ENDS
from workbench.kernels.networks.path_slots import Bands, Numbers, PathSlots, Scratch, Shape
from workbench.kernels.simd.vectors import aligned_zeros
from workbench.models.networks.network import AUTHORS, Network


class Layout(NamedTuple):
    """The paths of a network as arrays in the memory layout of the Gibbs sampler."""

    shape: Shape
    lanes: PathSlots
    bands: Bands
    is_lda: bool  # whether a path is a topic: one Dirichlet row for each document, one prior of all words


@lru_cache(maxsize=16)
def layout_of(network: Network) -> Layout:
    """Return the paths of a network as arrays in the memory layout of the Gibbs sampler."""
    paths = paths_of(network)
    runs, n_lanes = paths.runs, [run.n_lanes for run in paths.runs]
    first = np.cumsum([0, *n_lanes])
    touched_runs, touched_lanes = _dependents(paths, first)
    factors, strides = _by_lane(paths, first)
    scalars, one_strides = _by_run(paths)
    lanes = PathSlots(
        np.maximum(paths.leaf, 0),
        paths.cells,
        paths.rows,
        paths.strides,
        factors,
        strides,
        np.repeat(np.arange(len(runs)), n_lanes),
        first,
        scalars,
        one_strides,
        *chained(run.vectors for run in runs),
        *_concatenate(touched_runs),
        *_concatenate(touched_lanes),
    )
    is_single_band = (
        len(runs) == 1
        and runs[0].moves
        and runs[0].leaf == 0
        and paths.n_authors == 1
        and paths.n_leaves == paths.n_lanes
        and network.n_groups(network.levels[-1]) == 1
        and not any(touched_runs)
        and all(touched in ([], [lane]) for lane, touched in enumerate(touched_lanes))
    )
    sizes = (
        paths.cells.shape[1],
        (paths.rows >= 0).any(),
        factors.shape[1],
        scalars.shape[1],
        paths.n_authors > 1,
        is_single_band,
    )
    is_lda = is_single_band and not runs[0].scalars and runs[0].vectors == [(0, 0)]
    shape = Shape(*((0,) * int(size) for size in sizes))
    return Layout(shape, lanes, _bands(paths, first), is_lda)


def _bands(paths: Paths, first: np.ndarray) -> Bands:
    """Group the runs (sets) of paths that end in the same last-level rows; ``first`` has the first lane of each run."""
    members_of = defaultdict(list)
    for number, run in enumerate(paths.runs):
        members_of[run.leaf, run.moves, run.n_lanes].append(number)
    leaves, moves, widths = map(list, zip(*members_of, strict=True))
    band_of_run = np.empty(len(paths.runs), np.int64)
    for band, members in enumerate(members_of.values()):
        band_of_run[members] = band
    ptr, runs = _concatenate(members_of.values())
    return Bands(
        np.cumsum([0, *widths]),
        np.repeat(np.arange(len(widths)), widths),
        band_of_run,
        np.array(leaves),
        np.array(moves, np.int64),
        ptr,
        first[runs],
    )


def _by_run(paths: Paths) -> tuple[np.ndarray, np.ndarray]:
    """Return addresses and author strides (run, factor) of the factors that all paths of a run (a set of paths) share."""
    n_factors = max(len(run.scalars) for run in paths.runs)
    padded_scalars = [
        run.scalars + [(paths.one_at, 0)] * (n_factors - len(run.scalars)) for run in paths.runs
    ]
    addresses, stride = np.moveaxis(
        np.array(padded_scalars, np.int64).reshape(len(padded_scalars), n_factors, 2), 2, 0
    )
    return addresses.copy(), stride.copy()


def _by_lane(paths: Paths, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return addresses and author strides (lane, factor) of the factors of every path, except the word's."""
    n_factors = max(len(run.scalars) + len(run.vectors) for run in paths.runs)
    addresses, stride = (
        np.full((first[-1], n_factors), paths.one_at),
        np.zeros((first[-1], n_factors), np.int64),
    )
    for run, begin in zip(paths.runs, first.tolist(), strict=False):
        lanes, n_scalars = slice(begin, begin + run.n_lanes), len(run.scalars)
        for f, (address, step) in enumerate(run.scalars + run.vectors):
            addresses[lanes, f], stride[lanes, f] = (
                address + (np.arange(run.n_lanes) if f >= n_scalars else 0),
                step,
            )
    return addresses, stride


def scratch_of(paths: Paths, bands: Bands, most_owners: int) -> Scratch:
    """Allocate the workspace for documents with at most `most_owners` authors."""
    n_columns, n_bands = len(bands.of_column), len(bands.leaf_at)
    sizes = most_owners * paths.n_lanes + n_columns, n_columns, paths.n_leaves
    return Scratch(
        *(aligned_zeros((size,), np.float64) for size in sizes),
        np.zeros(n_bands, np.int64),
        np.zeros(n_bands, bool),
        np.zeros(ENDS),
    )


def shares(paths: Paths) -> bool:
    """Return whether paths of several authors can have a factor in common: not all rows above the last level are by author."""
    author, upper_levels = (
        paths.network.author,
        [level for level in paths.network.levels[:-1] if level.table != AUTHORS],
    )
    return paths.n_authors > 1 and not all(
        author.name in rows.by for level in upper_levels for rows in level.rows
    )


def numbers_of(
    paths: Paths, priors: FlatPriors, n_rest: np.ndarray, n_wk: np.ndarray, n_k: np.ndarray
) -> Numbers:
    """Return counts and path factors for a Gibbs sweep, which fills in those of a document when it visits the document."""
    tally, factors, prior = (aligned_zeros((paths.n_flat,), np.float64) for _ in range(3))
    prior[: paths.n_own], prior[paths.rest_at :], tally[paths.rest_at :] = (
        priors.own,
        priors.rest,
        n_rest,
    )
    factors[paths.one_at] = 1.0
    factors[paths.rest_at :] = tally[paths.rest_at :] + priors.rest
    is_row = paths.is_row[paths.rest_at :]
    factors[paths.rest_at :][is_row] = 1.0 / factors[paths.rest_at :][is_row]
    inverse, next_inverse = 1.0 / (priors.beta_total + n_k), 1.0 / (priors.beta_total + n_k + 1)
    next_factors = np.zeros(paths.n_flat)
    next_factors[paths.rest_at :][is_row] = (
        1.0 / (tally[paths.rest_at :] + priors.rest + 1.0)[is_row]
    )
    return Numbers(
        tally,
        factors,
        next_factors,
        prior,
        paths.is_row[: paths.n_own],
        n_wk,
        n_k,
        priors.beta,
        priors.beta_total,
        inverse,
        next_inverse,
        priors.size_at,
    )


def _concatenate(lists) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate lists; return where each list begins, and the concatenation."""
    ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return ends, np.array(list(itertools.chain(*lists)), np.int64)


def _dependents(paths: Paths, first: np.ndarray) -> tuple[list, list]:
    """Return for each path what to reweigh when it gets a token: runs (sets) of paths as wholes, and single other paths."""
    runs_at, lanes_at = defaultdict(list), defaultdict(list)
    for number, (run, begin) in enumerate(zip(paths.runs, first.tolist(), strict=False)):
        for address, _ in run.scalars:
            runs_at[address].append(number)
        for address, _ in run.vectors:
            for lane in range(run.n_lanes):
                lanes_at[address + lane].append((begin + lane, number))
    touched_runs, touched_lanes = [], []
    for cells_and_rows in np.concatenate([paths.cells, paths.rows], axis=1).tolist():
        addresses = [address for address in cells_and_rows if address >= 0]
        runs = sorted({run for address in addresses for run in runs_at[address]})
        touched_runs.append(runs)
        touched_lanes.append(
            sorted(
                {
                    lane
                    for address in addresses
                    for lane, run in lanes_at[address]
                    if run not in runs
                }
            )
        )
    return touched_runs, touched_lanes
