"""Arrays that describe the paths of a network of mixture levels to compiled loops; `paths` fills them.

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

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.memory import Array
from workbench.kernels.simd.lanes import LANES
from workbench.models.networks.network import Network


class Places(NamedTuple):
    """Addresses of a level's cells and row sums in the vector: one document's, one author's or the shared rows."""

    scope: str           # "document", "author" or "shared"; "word" for the last level, whose cells are one a row
    cells: np.ndarray    # (row, value) int64; (row,) for the last level
    rows: np.ndarray     # (row,) int64 of the row sums, -1 where there is none (observed, point)


class Runs(NamedTuple):
    """Addresses of the factors of paths, run by run; an address is ``at + author * stride``."""

    n_blocks: np.ndarray        # (run,) int64: sixteens of paths
    scalar_ptr: np.ndarray      # (run + 1,) int64: the run's factors that are one number
    scalar_at: np.ndarray       # (scalar,) int64
    scalar_stride: np.ndarray   # (scalar,) int64: per author, or 0
    vector_ptr: np.ndarray      # (run + 1,) int64: those that are a stretch; every run has one
    vector_at: np.ndarray
    vector_stride: np.ndarray

    @property
    def scalars(self) -> list[list[tuple[int, int]]]:
        """(address, stride) of the factors of each run that are one number."""
        return _split(self.scalar_ptr, self.scalar_at, self.scalar_stride)

    @property
    def vectors(self) -> list[list[tuple[int, int]]]:
        """(address, stride) of those of each run that are a stretch."""
        return _split(self.vector_ptr, self.vector_at, self.vector_stride)


class Visits(NamedTuple):
    """Addresses that each path visits; lanes are paths in order of the runs, with the padding of each run's last sixteen."""

    leaf: np.ndarray     # (lane,) int32: row of the last level, in the order of the vector; -1 in padding
    cells: np.ndarray    # (lane, level but the last) int64 address, -1: not visited, or observed
    rows: np.ndarray     # (lane, level but the last) int64 address, -1: not visited, none, or of the document alone
    strides: np.ndarray  # (level but the last,) int64: per author, or 0
    leaf_stride: int     # rows of the last level per author, or 0


class Paths(NamedTuple):
    """The paths of one network and their layout; the authors of a corpus are in `owners_of`."""

    network: Network
    runs: Runs
    visits: Visits
    places: dict[str, Places]     # by name of the level
    n_own: int                    # numbers of a document
    n_leaves: int                 # places of rows of the last level, padding behind the last included
    n_shared: int
    n_author: int                 # numbers of an author
    n_authors: int                # 1 where the network knows none: an author of everything, with no numbers
    is_row: np.ndarray            # (n_flat,) bool: a row sum rather than a cell
    fixed: np.ndarray             # (…,) addresses of a document's row sums that every path divides by

    @property
    def word_at(self) -> int:
        """Address of the first number of the word."""
        return self.n_own

    @property
    def one_at(self) -> int:
        """Address of sixteen constants, 1, 0, 0, … 0."""
        return self.n_own + self.n_leaves

    @property
    def rest_at(self) -> int:
        """Address of the first number of the corpus: shared rows, then author after author."""
        return self.one_at + LANES

    @property
    def n_flat(self) -> int:
        """Numbers in the vector."""
        return self.rest_at + self.n_shared + self.n_author * self.n_authors

    def is_word(self, at: int) -> bool:
        """Is this the address of a word's number?"""
        return self.word_at <= at < self.one_at

    @property
    def n_lanes(self) -> int:
        """Paths of one author, with padding."""
        return len(self.visits.leaf)

    def count_arrays(self, corpus: Corpus, dtype=np.float64, of_corpus=np.float64) -> dict[str, Array]:
        """Declares the counts of all levels (see `networks.state`); ``of_corpus``: type of sums over documents or words."""
        return {
            "n_own": Array((corpus.n_documents, self.n_own), dtype), "n_rest": Array((self.n_flat - self.rest_at,), of_corpus),
            "n_wk": Array((corpus.n_words, self.n_leaves), dtype), "n_k": Array((self.n_leaves,), of_corpus),
        }


def chained(factors: list[list[tuple[int, int]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Index of the first factor of each run, and the addresses and strides of all factors."""
    at, stride = np.array(list(itertools.chain(*factors)), np.int64).reshape(-1, 2).T.copy()
    return np.cumsum([0, *map(len, factors)]), at, stride


def _split(ptr, at, stride) -> list[list[tuple[int, int]]]:
    pairs = list(zip(at.tolist(), stride.tolist(), strict=True))
    return [pairs[a:b] for a, b in itertools.pairwise(ptr.tolist())]
