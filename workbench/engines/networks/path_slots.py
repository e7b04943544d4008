"""Lanes of a network's paths as a sampler wants them: what a token in a lane changes, and the numbers of a sweep.

A token changes the cells and row sums that its path visits; of the runs whose one-number factors are among them every lane
has another weight then, elsewhere a single lane has. Spec of the networks, D.4.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from workbench.engines.networks.path_layout import Paths, chained
from workbench.engines.networks.paths import paths_of
from workbench.engines.networks.state import FlatPriors
from workbench.kernels.lda.gibbs import ENDS
from workbench.kernels.networks.path_slots import Bands, Numbers, PathSlots, Scratch, Shape
from workbench.kernels.simd.lanes import LANES, aligned_zeros
from workbench.models.networks.network import Network


class Laid(NamedTuple):
    """Layout of a network for the sampler."""

    shape: Shape
    lanes: PathSlots
    bands: Bands


@lru_cache(maxsize=16)
def laid_out(network: Network) -> Laid:
    """The layout of a network for the sampler: shape, path slots and bands."""
    paths = paths_of(network)
    runs, visits = paths.runs, paths.visits
    first = np.concatenate([[0], np.cumsum(LANES * runs.n_blocks)])
    scalars, vectors = runs.scalars, runs.vectors
    side_by_side = [any(paths.is_word(at) for at, _ in factors) for factors in vectors]
    scalars, vectors = ([[f for f in factors if not paths.is_word(f[0])] for factors in each] for each in (scalars, vectors))
    vectors = [factors or [(paths.one_at, 0)] for factors in vectors]
    touched_runs, touched_lanes = _touched(visits, first, scalars, vectors)
    factors, strides = _by_lane(paths, first, scalars, vectors)
    ones, one_strides = _by_run(paths, scalars)
    lanes = PathSlots(
        np.maximum(visits.leaf, 0).astype(np.int64), visits.cells, visits.rows, visits.strides, factors, strides,
        np.repeat(np.arange(len(runs.n_blocks)), LANES * runs.n_blocks), first,
        ones, one_strides, *chained(vectors), *_listed(touched_runs), *_listed(touched_lanes),
    )
    alone = (
        len(runs.n_blocks) == 1 and side_by_side[0] and visits.leaf[0] == 0 and paths.n_authors == 1
        and paths.n_leaves == len(visits.leaf) and network.n_groups(network.levels[-1]) == 1
        and not any(touched_runs) and all(touched in ([], [lane]) for lane, touched in enumerate(touched_lanes))
    )
    sizes = (
        visits.cells.shape[1], bool((visits.rows >= 0).any()), factors.shape[1], ones.shape[1], paths.n_authors > 1, alone,
    )
    shape = Shape(*((0,) * size for size in sizes))
    return Laid(shape, lanes, _bands(visits.leaf[first[:-1]].tolist(), side_by_side, first))


def _bands(leaf_at, side_by_side, first) -> Bands:
    """Runs that end in the same rows, in the order of the first of each; first (run + 1,) their lanes."""
    found = defaultdict(list)
    for run, ends in enumerate(zip(leaf_at, side_by_side, np.diff(first).tolist(), strict=True)):
        found[ends].append(run)
    widths = [ends[2] for ends in found]
    of_run = np.empty(len(leaf_at), np.int64)
    for band, members in enumerate(found.values()):
        of_run[members] = band
    ptr, runs = _listed(found.values())
    return Bands(
        np.cumsum([0, *widths]), np.repeat(np.arange(len(widths)), widths), of_run,
        np.array([ends[0] for ends in found]), np.array([int(ends[1]) for ends in found]), ptr, first[runs],
    )


def _by_run(paths, scalars) -> tuple[np.ndarray, np.ndarray]:
    """(run, scalar) addresses and strides of the factors that are one number for a run; those of a 1 for runs with fewer."""
    most = max(map(len, scalars))
    padded_out = np.array([factors + [(paths.one_at, 0)] * (most - len(factors)) for factors in scalars], np.int64)
    at, stride = np.moveaxis(padded_out.reshape(len(scalars), most, 2), 2, 0)
    return at.copy(), stride.copy()


def _by_lane(paths, first, scalars, vectors) -> tuple[np.ndarray, np.ndarray]:
    """(lane, factor) addresses and strides of the factors of each lane but for the word; those of a 1 for lanes with fewer."""
    most = max(len(ones) + len(stretches) for ones, stretches in zip(scalars, vectors, strict=True))
    at = np.full((first[-1], most), paths.one_at)
    stride = np.zeros((first[-1], most), np.int64)
    for run, (begin, end) in enumerate(itertools.pairwise(first.tolist())):
        for f, (address, step) in enumerate(scalars[run]):
            at[begin:end, f], stride[begin:end, f] = address, step
        for f, (address, step) in enumerate(vectors[run], len(scalars[run])):
            at[begin:end, f], stride[begin:end, f] = address + np.arange(end - begin), step
    return at, stride


def scratch_of(paths: Paths, bands: Bands, most_owners: int) -> Scratch:
    """Allocates the workspace for a document with so many authors."""
    n_columns, n_bands = len(bands.of_column), len(bands.leaf_at)
    sizes = most_owners * (paths.n_lanes + n_columns), most_owners * n_columns, most_owners * paths.n_leaves
    return Scratch(
        *(aligned_zeros((size,), np.float64) for size in sizes), np.zeros(most_owners * n_bands, np.int64),
        np.zeros(most_owners * n_bands, bool), np.zeros(ENDS),
    )


def real_lanes(paths: Paths) -> np.ndarray:
    """(path,) the lanes that are paths."""
    return np.flatnonzero(paths.visits.leaf >= 0)


def shares(paths: Paths) -> bool:
    """Do the authors of a document share numbers of a path?"""
    return paths.n_authors > 1 and any(places.scope in ("document", "shared") for places in paths.places.values())


def numbers_of(paths: Paths, priors: FlatPriors, n_rest, n_wk, n_k) -> Numbers:
    """Numbers of all cells and row sums at the start of a sweep; those of a document are set when it is visited."""
    tally, flat, prior = (aligned_zeros((paths.n_flat,), np.float64) for _ in range(3))
    prior[: paths.n_own], prior[paths.rest_at :], tally[paths.rest_at :] = priors.own, priors.rest, n_rest
    flat[paths.one_at] = 1.0
    flat[paths.rest_at :] = tally[paths.rest_at :] + priors.rest
    is_row = paths.is_row[paths.rest_at :]
    flat[paths.rest_at :][is_row] = 1.0 / flat[paths.rest_at :][is_row]
    inverse, more = 1.0 / (priors.beta_total + n_k), 1.0 / (priors.beta_total + n_k + 1)
    raised = np.zeros(paths.n_flat)
    raised[paths.rest_at :][is_row] = 1.0 / (tally[paths.rest_at :] + priors.rest + 1.0)[is_row]
    return Numbers(
        tally, flat, raised, prior, paths.is_row[: paths.n_own], n_wk, n_k, priors.beta, priors.beta_total, inverse, more,
    )


# ---------------------------------------------------------------------- laying out


def _listed(lists) -> tuple[np.ndarray, np.ndarray]:
    """Index of the first element of each list, and all lists concatenated."""
    ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return ends, np.array(list(itertools.chain(*lists)), np.int64)


def _touched(visits, first, scalars, vectors) -> tuple[list, list]:
    """For each lane: the runs of which a token there changes a one-number factor, and the lanes of which it changes another."""
    runs_at, lanes_at = defaultdict(list), defaultdict(list)
    for run, (begin, end) in enumerate(itertools.pairwise(first.tolist())):
        for at, _ in scalars[run]:
            runs_at[at].append(run)
        for at, _ in vectors[run]:
            for lane in range(begin, end):
                lanes_at[at + lane - begin].append((lane, run))
    touched_runs, touched_lanes = [], []
    for visited in np.concatenate([visits.cells, visits.rows], axis=1).tolist():
        at = [address for address in visited if address >= 0]
        runs = sorted({run for address in at for run in runs_at[address]})
        touched_runs.append(runs)
        touched_lanes.append(sorted({lane for address in at for lane, run in lanes_at[address] if run not in runs}))
    return touched_runs, touched_lanes
