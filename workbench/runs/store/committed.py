"""Read the committed part of a run's arrays, and write their chunks; raise DamagedError for a damaged or missing chunk.

Each chunk ends with its CRC-32C (`layout.ROWS`), and every committed chunk has a file, even if it is all zeros: Zarr reads a
missing chunk as its fill value, which must not be mistaken for results.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zarr

from workbench.runs.recorded import Recorded, recorded
from workbench.runs.spec import RunSpec
from workbench.runs.store.layout import DamagedError, open_arrays, open_group
from workbench.runs.store.places import DATA


def read(path: Path, array: zarr.Array, selection: tuple) -> np.ndarray:
    """Return ``array[selection]``; raise DamagedError if a chunk no longer has the checksum with which it was written."""
    try:
        has_indices = isinstance(selection, tuple) and any(
            isinstance(part, np.ndarray) for part in selection
        )
        return array.oindex[selection] if has_indices else array[selection]
    except OSError as error:
        raise DamagedError.unreadable(path, _file(array), error) from error
    except Exception as error:  # whatever codecs raise for damaged bytes
        raise DamagedError.of(
            path, f"{_file(array)} holds a chunk that is not what was written"
        ) from error


def missing(
    array: zarr.Array,
    rows: Iterable[int],
    shape: tuple[int, ...] = (),
    second: np.ndarray | None = None,
) -> Iterator[tuple[int, ...]]:
    """Yield the chunk indices (one per dim) of each chunk of an array's given rows that has no file on disk.

    shape : extent along the other dims, by default that of the array
    second : indices along the second dim, to check only their chunks
    """
    first, *other_sizes = array.chunks
    sizes = [
        math.ceil(n / max(chunk, 1))
        for n, chunk in zip(shape or array.shape[1:], other_sizes, strict=True)
    ]
    ranges = [sorted({row // first for row in rows}), *map(range, sizes)]
    if second is not None:
        ranges[1] = np.unique(second // other_sizes[0]).tolist()
    folder = Path(array.store.root) / array.path
    for chunk_index in product(*ranges):
        if not (folder / array.metadata.encode_chunk_key(chunk_index)).is_file():
            yield chunk_index


def fill_missing(
    array: zarr.Array,
    rows: Iterable[int],
    shape: tuple[int, ...],
    n_before: int,
    before: tuple[int, ...],
) -> None:
    """Write fill values to chunks of the given rows that have no file on disk, except those that were filled before.

    n_before, before : number of rows, and extent along the other dims, whose chunks were filled before
    """
    n_chunks = [
        math.ceil(n / max(chunk, 1))
        for n, chunk in zip((n_before, *before), array.chunks, strict=True)
    ]
    for chunk_index in missing(array, rows, shape):
        if any(index >= n for index, n in zip(chunk_index, n_chunks, strict=True)):
            array.set_block_selection(chunk_index, array.fill_value)


def _file(array: zarr.Array) -> str:
    return f"{DATA}/{array.path}"


class Committed(NamedTuple):
    """The commit counter of a run: the numbers of rows, snapshots and topics that are valid."""

    n_rows: int
    n_snapshots: int
    n_topics: int


class Stored:
    """The arrays of the run in a folder; reading what is missing or damaged raises DamagedError."""

    def __init__(self, path: Path, mode: str = "r"):
        self.path = Path(path)
        self.group = open_group(self.path, mode)
        self.attributes = dict(self.group.attrs)
        try:
            self.recorded: Recorded = recorded(
                RunSpec.from_json(self.attributes["spec"])
            ).as_stored(self.attributes)
            self.versions = self.attributes["versions"]
        except KeyError as error:
            raise DamagedError.of(self.path, f"its attributes have no {error}") from error
        self.numbers, self.snapshot_iteration, self.counter = open_arrays(
            self.path, self.group, ("numbers", "snapshot_iteration", "committed")
        )
        self.counts = dict(
            zip(
                self.recorded.snapshot_names,
                open_arrays(self.path, self.group, self.recorded.snapshot_names),
                strict=True,
            )
        )

    @property
    def capacity(self) -> int:
        """The number of topics that the arrays can hold."""
        return self.recorded.n_topics(self.numbers.shape[1])

    def committed(self) -> Committed:
        """Return the current commit counter; reopen the arrays if they have grown meanwhile."""
        self._refuse_missing(self.counter, [0])
        committed = Committed(*map(int, read(self.path, self.counter, slice(None))))
        if committed.n_topics > self.capacity:  # the arrays have grown since they were opened
            self.numbers, *counts = open_arrays(self.path, self.group, ("numbers", *self.counts))
            self.counts = dict(zip(self.counts, counts, strict=True))
            if committed.n_topics > self.capacity:
                raise DamagedError.of(
                    self.path,
                    f"{committed.n_topics} topics are committed and its arrays hold {self.capacity}",
                )
        return committed

    def rows(self, committed: Committed, after: int = 0) -> np.ndarray:
        """Return the committed rows (row, column) float64, skipping the first ``after``."""
        n_columns = self.recorded.width(committed.n_topics)
        if committed.n_rows <= after:
            return np.empty((0, n_columns))
        self._refuse_missing(self.numbers, range(after, committed.n_rows), (n_columns,))
        return read(self.path, self.numbers, (slice(after, committed.n_rows), slice(n_columns)))

    def iterations(self, committed: Committed) -> np.ndarray:
        """Return the iteration of each snapshot (snapshot,); 0 for a deleted one."""
        self._refuse_missing(self.snapshot_iteration, range(committed.n_snapshots))
        return read(self.path, self.snapshot_iteration, slice(committed.n_snapshots))

    def shape(self, name: str, n_topics: int) -> tuple[int, ...]:
        """Return the shape that one snapshot of an array has with this number of topics."""
        dims, array = self.recorded.variables[name].dims, self.counts[name]
        return tuple(
            n_topics if dim == "topic" else n
            for dim, n in zip(dims[1:], array.shape[1:], strict=True)
        )

    def refuse_missing_counts(
        self, name: str, slots: Iterable[int], n_topics: int, row_indices: np.ndarray | None = None
    ) -> None:
        """Raise DamagedError if a chunk of these snapshots of an array has no file.

        row_indices : rows within a snapshot whose chunks are checked, by default all
        """
        self._refuse_missing(self.counts[name], slots, self.shape(name, n_topics), row_indices)

    def fill(self, committed: Committed, iterations: Iterable[int], before: Committed) -> None:
        """Write empty chunks for new topics that no row or snapshot has written, so that all committed chunks exist.

        before : the commit counter when chunks were last filled; a missing chunk within it is damage, and is not filled
        """
        shape, old_shape = (
            (self.recorded.width(counter.n_topics),) for counter in (committed, before)
        )
        fill_missing(self.numbers, range(committed.n_rows), shape, before.n_rows, old_shape)
        for name, array in self.counts.items():
            shape, old_shape = (
                self.shape(name, n_topics) for n_topics in (committed.n_topics, before.n_topics)
            )
            fill_missing(
                array, np.flatnonzero(iterations).tolist(), shape, before.n_snapshots, old_shape
            )

    def _refuse_missing(
        self, array: zarr.Array, rows: Iterable[int], shape: tuple[int, ...] = (), row_indices=None
    ) -> None:
        """Raise DamagedError if the file of a chunk of these rows is missing; see `missing` for the arguments."""
        try:
            key = next(missing(array, rows, shape, row_indices), None)
        except OSError as error:
            raise DamagedError.of(
                self.path, f"{_file(array)} cannot be read ({error.strerror or error})"
            ) from error
        if key is not None:
            raise DamagedError.of(
                self.path, f"the chunk {_file(array)}/{'/'.join(map(str, key))} is gone"
            )
