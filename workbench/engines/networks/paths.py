"""The paths of a token through a network of mixture levels, laid out for compiled loops (see `path_layout`)."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.cached import cached_by_corpus
from workbench.engines.networks.path_layout import Paths, Places, Runs, Visits, chained
from workbench.kernels.networks.field import Owners
from workbench.kernels.simd.lanes import LANES, padded
from workbench.models.lda import ModelError
from workbench.models.networks.network import AUTHORS, DOCUMENT, WORD, Level, Network
from workbench.models.networks.regions import Region, regions_of


class _Box:
    """Cells or row sums of one block of rows whose variables have values within spans."""

    def __init__(self, axes: tuple[str, ...], spans):
        self.axes, self.spans, self.inner, self.at = axes, spans, None, -1

    def lay_out(self, at: int, dense: bool = False) -> int:
        """Assigns addresses from one on and returns the end; the inner variable is padded to sixteens, unless dense."""
        sizes = [last - first + 1 for first, last in self.spans]
        order = sorted(range(len(sizes)), key=lambda i: self.axes[i] == self.inner)
        self.at, self.strides, step = at, [0] * len(sizes), 1
        for i in reversed(order):
            self.strides[i] = step
            step *= padded(sizes[i]) if self.axes[i] == self.inner and not dense else sizes[i]
        self.n_numbers = step
        return at + step

    @property
    def reach(self) -> int:
        """End of the last sixteen of a dense box; the sixteens of earlier runs overlap the next run."""
        run = self.address({
            axis: first if axis == self.inner else last for axis, (first, last) in zip(self.axes, self.spans, strict=True)
        })
        lengths = [last - first + 1 for axis, (first, last) in zip(self.axes, self.spans, strict=True) if axis == self.inner]
        return run + padded(lengths[0]) if lengths else run + 1

    def address(self, values: dict[str, int]) -> int:
        """Address of the number for these values."""
        return self.at + sum(
            (values[axis] - first) * stride
            for axis, (first, _), stride in zip(self.axes, self.spans, self.strides, strict=True)
        )


@cache
def paths_of(network: Network) -> Paths:
    """The paths of a network and their layout."""
    author = network.author.name if network.author else None
    regions = regions_of(network)
    boxes = _boxes(network, regions, author)
    for region in sorted(regions, key=lambda region: -region.n_paths):
        _choose_inner(region, _touched(network, region, boxes, author))
    scopes = {level.name: _scope(level, author) for level in network.levels}
    sizes = _assign(network, boxes, scopes)
    return _walk(network, regions, boxes, scopes, sizes, author)


def owners_of(network: Network, corpus: Corpus) -> Owners:
    """The authors of each document; one for all where the network has no authors.

    Raises
    ------
    ModelError
        For a document with tokens and without an author.
    """
    return _owners(corpus, network.author and network.author.values)


@cached_by_corpus
def _owners(corpus, authors: tuple[str, ...] | None) -> Owners:
    if authors is None:
        return Owners(np.arange(corpus.n_documents + 1), np.zeros(corpus.n_documents, np.int64))
    number = {name: i for i, name in enumerate(authors)}
    ids = [[number[name] for name in names if name in number] for names in corpus.authors]
    alone = [d for d, n_tokens in enumerate(corpus.document_tokens) if n_tokens and not ids[d]]
    if alone:
        raise ModelError(
            f"{len(alone)} documents have tokens and no author, the first of them '{corpus.titles[alone[0]]}'; "
            "leave them out, or give each an author of its own"
        )
    return Owners(np.cumsum([0, *map(len, ids)]), np.array(list(itertools.chain(*ids)), np.int64))


# ---------------------------------------------------------------------- laying out


def _keys(level: Level, region: Region, author) -> list[tuple]:
    """(what, level, rows, axes, spans) of the cells and of the row sums that a region uses of a level."""
    rows = region.visited[level.name]
    by = tuple(name for name in rows.by if name not in (DOCUMENT, author))
    drawn = () if level.draws == WORD else (level.draws,)
    kinds = [("cells", by + drawn)]
    if level.draws != WORD and level.kind == "dirichlet":
        kinds.append(("rows", by))
    return [(what, level.name, rows, axes, tuple(region.spans[axis] for axis in axes)) for what, axes in kinds]


def _boxes(network, regions, author) -> dict[tuple, _Box]:
    """Blocks of cells and of row sums by key, in the order of the levels; none of the observed level of authors."""
    return {
        key: _Box(key[3], key[4])
        for level in network.levels if level.table != AUTHORS
        for region in regions if level.name in region.visited
        for key in _keys(level, region, author)
    }


def _touched(network, region, boxes, author) -> list[_Box]:
    levels = [level for level in network.levels if level.name in region.visited and level.table != AUTHORS]
    return [boxes[key] for level in levels for key in _keys(level, region, author)]


def _choose_inner(region: Region, touched: list[_Box]) -> None:
    """Lays the region's runs along its longest variable for which no block would have to be laid out in two ways."""
    length = {name: last - first + 1 for name, (first, last) in region.spans.items()}
    for name in sorted((name for name in length if length[name] > 1), key=lambda name: -length[name]):
        concerned = [box for box in touched if name in box.axes]
        if all(box.inner in (None, name) for box in concerned):
            for box in concerned:
                box.inner = name
            return


def _scope(level: Level, author) -> str:
    """Scope of a level's numbers: "document", "author", "shared" or "word"."""
    if level.draws == WORD:
        return "word"
    by = {name for rows in level.rows for name in rows.by}
    return "document" if DOCUMENT in by else "author" if author in by else "shared"


def _assign(network, boxes, scopes) -> dict[str, int]:
    """Gives every block its address within its scope; returns how many numbers each scope has.

    The numbers of a word stand without gaps, since each is weighed for every pair; what a run's last sixteen reads of the
    next block, or beyond, weighs nothing, as its cells are 0.
    """
    ends = dict.fromkeys(("document", "word", "shared", "author"), 0)
    for key, box in boxes.items():
        scope = scopes[key[1]]
        ends[scope] = box.lay_out(ends[scope], dense=True) if scope == "word" else box.lay_out(padded(ends[scope]))
    ends["word"] = max(box.reach for key, box in boxes.items() if scopes[key[1]] == "word")
    return {scope: padded(end) for scope, end in ends.items()}


def _walk(network, regions, boxes, scopes, sizes, author) -> Paths:
    """Collects, run by run, the factors and the addresses that the paths visit."""
    inner_levels = [level for level in network.levels if level.draws != WORD and level.table != AUTHORS]
    last = network.levels[-1]
    leaf_stride = sizes["word"] if any(author in rows.by for rows in last.rows) and author else 0
    n_authors = network.size(author) if author else 1
    n_leaves = sizes["word"] * (n_authors if leaf_stride else 1)
    starts = {"document": 0, "word": sizes["document"]}
    starts["shared"] = sizes["document"] + n_leaves + LANES
    starts["author"] = starts["shared"] + sizes["shared"]
    strides = {"document": 0, "shared": 0, "author": sizes["author"], "word": leaf_stride}
    one_at = sizes["document"] + n_leaves
    alone = {level.name for level in inner_levels if _is_fixed(network, level, regions)}
    scalars, vectors, blocks, leaves, cells, rows_at = [], [], [], [], [], []
    for region in regions:
        found = [
            (scopes[level.name], key[0], level, boxes[key])
            for level in [*inner_levels, last] if level.name in region.visited
            for key in _keys(level, region, author) if not (key[0] == "rows" and level.name in alone)
        ]
        inner = next((box.inner for *_, box in found if box.inner in region.spans and _runs_along(found, box.inner)), None)
        outer = [name for name in region.spans if name != inner]
        first, end = region.spans[inner] if inner else (0, 0)
        for values in itertools.product(*(range(a, b + 1) for a, b in (region.spans[name] for name in outer))):
            at = dict(zip(outer, values, strict=True)) | ({inner: first} if inner else {})
            factors = [
                (starts[scope] + box.address(at), strides[scope], inner in box.axes) for scope, _, _, box in found
            ]
            scalars.append([factor[:2] for factor in factors if not factor[2]])
            vectors.append([factor[:2] for factor in factors if factor[2]] or [(one_at, 0)])
            length = end - first + 1
            blocks.append(padded(length) // LANES)
            for lane in range(padded(length)):
                real = lane < length
                here = at | ({inner: first + lane} if inner else {})
                visit = {
                    (what, level.name): starts[scope] + box.address(here) for scope, what, level, box in found
                } if real else {}
                leaves.append(visit[("cells", last.name)] - starts["word"] if real else -1)
                cells.append([
                    -1 if level.kind == "observed" else visit.get(("cells", level.name), -1) for level in inner_levels
                ])
                rows_at.append([visit.get(("rows", level.name), -1) for level in inner_levels])
    places = {
        level.name: _places(network, level, boxes, scopes[level.name], starts, author) for level in [*inner_levels, last]
    }
    is_row = np.zeros(starts["author"] + sizes["author"] * n_authors, bool)
    for key, box in boxes.items():
        if key[0] == "rows":
            start = starts[scopes[key[1]]] + box.at
            is_row[start : start + box.n_numbers] = True
    of_authors = is_row[starts["author"] :].reshape(n_authors, sizes["author"])
    of_authors[:] = of_authors[0]
    fixed = np.array([at for name in alone for at in places[name].rows], np.int64)
    return Paths(
        network, Runs(np.array(blocks, np.int64), *chained(scalars), *chained(vectors)),
        Visits(
            np.array(leaves, np.int32), _table(cells, inner_levels), _table(rows_at, inner_levels),
            np.array([strides[scopes[level.name]] for level in inner_levels], np.int64), leaf_stride,
        ),
        places, sizes["document"], n_leaves, sizes["shared"], sizes["author"], n_authors, is_row, fixed,
    )


def _runs_along(found, name) -> bool:
    """Do all blocks that know a variable have it last?"""
    return all(box.inner == name for *_, box in found if name in box.axes)


def _is_fixed(network, level, regions) -> bool:
    """Has a document one row of the level, which every path visits? Then its sum weighs on no path more than on another."""
    return level.kind == "dirichlet" and all(rows.by == (DOCUMENT,) for rows in level.rows) and all(
        level.name in region.visited for region in regions
    )


def _places(network, level, boxes, scope, starts, author) -> Places:
    """The addresses of a level's rows, in the order in which its rows are numbered."""
    cells, row_sums = [], []
    for rows in level.rows:
        by = tuple(name for name in rows.by if name not in (DOCUMENT, author))
        spans = [network.span(rows, name) for name in by]
        own = [(key, box) for key, box in boxes.items() if key[1] == level.name and key[2] == rows]
        for values in itertools.product(*(range(first, last + 1) for first, last in spans)):
            at = dict(zip(by, values, strict=True))
            sums = [starts[scope] + box.address(at) for key, box in own if key[0] == "rows" and _within(box, at)]
            row_sums.append(sums[0] if sums else -1)
            if level.draws == WORD:
                cells.append(next(box.address(at) for _, box in own if _within(box, at)))
                continue
            cells.append([
                next(
                    starts[scope] + box.address(at | {level.draws: value})
                    for key, box in own if key[0] == "cells" and _within(box, at | {level.draws: value})
                )
                for value in range(network.size(level.draws))
            ])
    return Places(scope, np.array(cells, np.int64), np.array(row_sums, np.int64))


def _within(box: _Box, values) -> bool:
    return all(first <= values[axis] <= last for axis, (first, last) in zip(box.axes, box.spans, strict=True))


def _table(rows, levels) -> np.ndarray:
    return np.array(rows, np.int64).reshape(len(rows), len(levels))
