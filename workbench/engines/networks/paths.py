"""The paths of a token through a network of mixture levels, laid out for compiled loops.

A path is one value for each hidden variable; its weight is a product of one cell and one row sum per level that it visits
(spec D.1-D.4). Paths that differ in one variable alone make a *run*: along it every factor is either one number or a stretch
of numbers that lie side by side, so that sixteen paths are weighed at once and nothing is looked up path by path. For that
all cells and row sums lie in one vector, each block of them with the variable last along which runs go::

    flat = [ document's own | word | constants | shared | author 0 | author 1 | … ]

    document's own   cells and row sums of levels with rows by document; those of the document that is worked on
    word             a number per row of the last level: its weight for the present word
    shared, author   of levels with rows for the corpus, and of those with rows by author

LDA is one run, a document's cells times those of the word; four-level pachinko has a run for each super-topic; an
author-topic model is the run of LDA for each author of the document.
"""

import math
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np

from workbench.kernels.simd.vectors import LANES, padded
from workbench.models.model import ModelError
from workbench.models.networks.levels import Region, regions_of
from workbench.models.networks.network import AUTHORS, DOCUMENT, WORD, Level, Network, Rows


class Addresses(NamedTuple):
    """Memory addresses of the cells and row sums of a level, row by row, including rows of authors."""

    # (row, value) int64 addresses of cells; for the last level (row,): indices of R
    cells: np.ndarray
    rows: np.ndarray  # (row,) int64 addresses of row sums; -1 if none (observed, point)
    groups: np.ndarray  # (row,) int64: rows of one group share a prior


class Run(NamedTuple):
    """A set of paths that differ in one variable, and the (address, stride per author) of each of their factors."""

    n_lanes: int  # paths, padded to sixteens
    scalars: list[tuple[int, int]]  # factors that are one number
    vectors: list[tuple[int, int]]  # factors that are consecutive numbers; every run has one
    # the row of the last level in which the paths end, or the first such row
    leaf: int
    moves: bool  # whether the paths end in consecutive rows


class Paths(NamedTuple):
    """All paths of a network and where in memory their factors and counts are.

    Lanes are the paths, run by run, each run padded to a multiple of sixteen.
    """

    network: Network
    runs: list[Run]
    # (lane,) int64: row of the last level, in the order of the vector; -1 in padding
    leaf: np.ndarray
    # (lane, level but the last) int64 address of the cell; -1: level not visited, or observed
    cells: np.ndarray
    # (lane, level but the last) int64 address of the row sum; -1: level not visited, no sum, or same for all paths
    rows: np.ndarray
    strides: np.ndarray  # (level but the last,) int64: from one author to the next, or 0
    addresses: dict[str, Addresses]  # by name of the level
    n_own: int  # number of addresses of a document, D
    # number of rows of the last level with padding, R
    n_leaves: int
    # 1 if the network has no authors: a dummy author without numbers
    n_authors: int
    is_row: np.ndarray  # (address,) bool: whether it is a row sum
    # (…,) addresses of a document's row sums that are factors of all paths
    fixed: np.ndarray

    @property
    def one_at(self) -> int:
        """Address of sixteen constants 1, 0, 0, … 0; the 1 stands for a missing scalar factor."""
        return self.n_own + self.n_leaves

    @property
    def rest_at(self) -> int:
        """Address of the first number that documents share: rows of the corpus, then rows of each author."""
        return self.one_at + LANES

    @property
    def n_flat(self) -> int:
        """Length of the vector of all cells, row sums and constants."""
        return len(self.is_row)

    @property
    def n_lanes(self) -> int:
        """Number of lanes (slots for the paths of one author), including padding."""
        return len(self.leaf)

    @property
    def real(self) -> np.ndarray:
        """Indices (path,) of the lanes that hold a path, in contrast to padding."""
        return np.flatnonzero(self.leaf >= 0)

    @property
    def leaf_addresses(self) -> np.ndarray:
        """Indices (row,) of the last level's rows in arrays that are padded to R rows."""
        return self.addresses[self.network.levels[-1].name].cells


# ---------------------------------------------------------------------- laying out


class _Block(NamedTuple):
    """The cells or the row sums of one block of a level's rows, restricted to a span of values per variable."""

    what: str  # "cells" or "rows"
    level: str
    rows: Rows
    axes: tuple[str, ...]  # the variables, without documents and authors
    spans: tuple[tuple[int, int], ...]  # first and last value of each variable


class _Layout(NamedTuple):
    """Memory addresses of the cells and row sums of all levels, block by block."""

    addresses: dict[_Block, np.ndarray]  # along the block's axes; last level: from 0
    # by name of the level: distance from one author to the next, or 0
    strides: dict[str, int]
    n_own: int
    n_leaves: int
    n_authors: int
    is_row: np.ndarray


@cache
def paths_of(network: Network) -> Paths:
    """Return all paths of a network and where in memory their factors and counts are."""
    regions, (*upper_levels, last) = (
        regions_of(network),
        [level for level in network.levels if level.table != AUTHORS],
    )
    author = network.author and network.author.name
    used = [
        [block for level in (*upper_levels, last) for block in _blocks(level, region, author)]
        for region in regions
    ]
    inner = _inner_variables(regions, used)
    layout = _lay_out(network, used, inner)
    # A document has one row of these levels, which every path visits: its sum weighs on no path more than on another.
    constant_levels = [
        level.name
        for level in upper_levels
        if level.kind == "dirichlet"
        and all(rows.by == (DOCUMENT,) for rows in level.rows)
        and all(level.name in region.visited for region in regions)
    ]
    runs, lanes = [], []
    for region, blocks in zip(regions, used, strict=True):
        factors = _factors(
            region,
            [
                candidate
                for candidate in blocks
                if candidate.what == "cells" or candidate.level not in constant_levels
            ],
            inner,
            layout,
        )
        ends, moves = factors.pop(("cells", last.name))
        for run, leaf in enumerate(ends[:, 0].tolist()):
            locations = [
                (moving, (int(grid[run, 0]), layout.strides[name]))
                for (_, name), (grid, moving) in factors.items()
            ]
            vectors = [factor for moving, factor in locations if moving] or [
                (layout.n_own + layout.n_leaves, 0)
            ]
            runs.append(
                Run(
                    ends.shape[1],
                    [factor for moving, factor in locations if not moving],
                    vectors,
                    leaf,
                    moves,
                )
            )
        absent = np.full_like(ends, -1), False
        grids = [
            factors.get((kind, level.name), absent)[0]
            for kind in ("cells", "rows")
            for level in upper_levels
        ]
        lanes.append(np.stack([ends, *grids], axis=-1).reshape(-1, 1 + len(grids)))
    leaf, cells, rows = map(
        np.ascontiguousarray, np.split(np.concatenate(lanes), [1, 1 + len(upper_levels)], axis=1)
    )
    cells[:, [level.kind == "observed" for level in upper_levels]] = -1
    addresses = {
        level.name: _level_addresses(network, level, layout) for level in (*upper_levels, last)
    }
    return Paths(
        network,
        runs,
        leaf[:, 0],
        cells,
        rows,
        np.array([layout.strides[level.name] for level in upper_levels], np.int64),
        addresses,
        layout.n_own,
        layout.n_leaves,
        layout.n_authors,
        layout.is_row,
        np.array(
            [address for name in constant_levels for address in addresses[name].rows], np.int64
        ),
    )


def _blocks(level: Level, region: Region, author) -> list[_Block]:
    """Return the blocks of cells and of row sums of one level that the paths of a region visit."""
    if level.name not in region.visited:
        return []
    rows = region.visited[level.name]
    by = tuple(name for name in rows.by if name not in (DOCUMENT, author))
    kinds = [("cells", by if level.draws == WORD else (*by, level.draws))]
    if level.draws != WORD and level.kind == "dirichlet":
        kinds.append(("rows", by))
    return [
        _Block(kind, level.name, rows, axes, tuple(region.spans[axis] for axis in axes))
        for kind, axes in kinds
    ]


def _inner_variables(regions: list[Region], used: list[list[_Block]]) -> dict[_Block, str]:
    """Return block → the variable that varies fastest in memory: the longest one that suits all blocks of a region."""
    inner: dict[_Block, str] = {}
    for region, blocks in sorted(
        zip(regions, used, strict=True), key=lambda pair: -pair[0].n_paths
    ):
        length = {
            name: last - first for name, (first, last) in region.spans.items() if last > first
        }
        for name in sorted(length, key=lambda name: -length[name]):
            if _last_in_all(name, blocks, inner, {None, name}):
                inner |= {block: name for block in blocks if name in block.axes}
                break
    return inner


def _last_in_all(name: str, blocks: list[_Block], inner: dict[_Block, str], fine: set) -> bool:
    """Return whether in all blocks with the variable ``name`` the variable fastest in memory is one of ``fine``."""
    return all(inner.get(block) in fine for block in blocks if name in block.axes)


def _lay_out(network: Network, used: list[list[_Block]], inner: dict[_Block, str]) -> _Layout:
    """Assign memory addresses to all blocks, separately for those of a document, a word, the corpus and an author.

    Numbers of the last level have no gaps, since all are computed for every pair. The last sixteen lanes of a run may read
    numbers of the next block; they have no effect, as padding cells are 0.
    """
    author, ends, reaches = network.author and network.author.name, Counter(), Counter()
    n_authors, scopes, numbers, row_spans = network.size(author) if author else 1, {}, {}, []
    for level in network.levels:
        by = {name for rows in level.rows for name in rows.by}
        scope = (
            "word"
            if level.draws == WORD
            else "document"
            if DOCUMENT in by
            else "author"
            if author in by
            else "shared"
        )
        scopes[level.name] = scope
        for block in dict.fromkeys(
            block for blocks in used for block in blocks if block.level == level.name
        ):
            start = ends[scope] if scope == "word" else padded(ends[scope])
            numbers[block], ends[scope], reach = _addresses(
                block, inner.get(block), start, dense=scope == "word"
            )
            reaches[scope] = max(reaches[scope], reach)
            if block.what == "rows":
                row_spans.append((scope, start, ends[scope]))
    n_own, n_leaves, n_shared, n_author = (
        padded(reaches[scope]) for scope in ("document", "word", "shared", "author")
    )
    starts = {
        "document": 0,
        "word": 0,
        "shared": n_own + n_leaves + LANES,
        "author": n_own + n_leaves + LANES + n_shared,
    }
    is_row = np.zeros(starts["author"] + n_author * n_authors, bool)
    for scope, first, end in row_spans:
        is_row[starts[scope] + first : starts[scope] + end] = True
    author_rows = is_row[starts["author"] :].reshape(n_authors, n_author)
    author_rows[:] = author_rows[0]
    return _Layout(
        {block: starts[scopes[block.level]] + offset for block, offset in numbers.items()},
        {name: n_author if scope == "author" else 0 for name, scope in scopes.items()},
        n_own,
        n_leaves,
        n_authors,
        is_row,
    )


def _addresses(
    block: _Block, inner: str | None, start: int, dense: bool
) -> tuple[np.ndarray, int, int]:
    """Return the addresses of a block's cells, the end of the block, and the end of its last run padded to sixteen.

    The inner variable is last in memory, padded to sixteens unless dense.
    """
    sizes = [last - first + 1 for first, last in block.spans]
    if inner is None:
        end = start + math.prod(sizes)
        return np.arange(start, end).reshape(sizes), end, end
    axis = block.axes.index(inner)
    length = sizes.pop(axis)
    width = length if dense else padded(length)
    end = start + math.prod(sizes) * width
    numbers = np.arange(start, end).reshape(*sizes, width)[..., :length]
    return np.moveaxis(numbers, -1, axis), end, end - width + padded(length)


def _factors(
    region: Region, blocks: list[_Block], inner: dict[_Block, str], layout: _Layout
) -> dict:
    """Return ("cells" or "rows", level) → addresses (run, lane) of factors, and whether they vary in a run of paths."""
    fine = [
        name
        for name in map(inner.get, blocks)
        if name in region.spans and _last_in_all(name, blocks, inner, {name})
    ]
    inner_name = fine[0] if fine else None
    names = sorted(region.spans, key=lambda name: name == inner_name)
    sizes = [region.spans[name][1] - region.spans[name][0] + 1 for name in names]
    length, factors = sizes[-1] if inner_name else 1, {}
    for block in blocks:
        order = [block.axes.index(name) for name in names if name in block.axes]
        shape = [size if name in block.axes else 1 for name, size in zip(names, sizes, strict=True)]
        addresses = np.broadcast_to(
            layout.addresses[block].transpose(order).reshape(shape), sizes
        ).reshape(-1, length)
        addresses = np.pad(addresses, ((0, 0), (0, padded(length) - length)), constant_values=-1)
        factors[block.what, block.level] = addresses, inner_name in block.axes
    return factors


def _level_addresses(network: Network, level: Level, layout: _Layout) -> Addresses:
    """Return the memory addresses of the cells and row sums of a level, row by row."""
    author, cells, sums = network.author and network.author.name, [], []
    value_shape = () if level.draws == WORD else (network.size(level.draws),)
    for rows in level.rows:
        by = [name for name in rows.by if name != DOCUMENT]
        addresses_of = {
            "cells": np.full((*network.shape(rows), *value_shape), -1),
            "rows": np.full(network.shape(rows), -1),
        }
        first = {name: network.span(rows, name)[0] for name in by}
        for block, addresses in layout.addresses.items():
            if (block.level, block.rows) == (level.name, rows):
                index_of = {
                    name: slice(a - first.get(name, 0), b + 1 - first.get(name, 0))
                    for name, (a, b) in zip(block.axes, block.spans, strict=True)
                }
                if author in by:
                    steps = layout.strides[level.name] * np.arange(layout.n_authors)
                    axis = by.index(author)
                    addresses = np.expand_dims(addresses, axis) + steps.reshape(
                        -1, *[1] * (addresses.ndim - axis)
                    )
                axes = [*by, level.draws] if block.what == "cells" and value_shape else by
                addresses_of[block.what][
                    tuple(index_of.get(name, slice(None)) for name in axes)
                ] = addresses
        if (addresses_of["cells"] < 0).any():
            raise ModelError(
                f"level '{level.name}' has rows that no path visits; limit them (when)"
            )
        cells.append(addresses_of["cells"].reshape(-1, *value_shape))
        sums.append(addresses_of["rows"].ravel())
    return Addresses(
        np.concatenate(cells), np.concatenate(sums), np.array(network.row_groups(level))
    )
