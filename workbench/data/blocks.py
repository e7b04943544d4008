"""Rows in blocks: how many of a large array are read, computed or stored at a time; entries of a file in batches."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

NUMBERS = 2**20
"""Numbers of a block, at most, unless one row has more: 8 MB of float64."""


def rows_per_block(width: int) -> int:
    """Return the rows of a block, a power of two, so that blocks of different arrays of documents are aligned."""
    return 1 << max(NUMBERS // max(width, 1), 1).bit_length() - 1


def blocks(n_rows: int, n_at_once: int) -> Iterator[slice]:
    """Yield the rows as slices of ``n_at_once``, the last one shorter."""
    for first in range(0, n_rows, n_at_once):
        yield slice(first, min(first + n_at_once, n_rows))


BATCH = 1 << 21
"""Characters that are given at a time where a file is read in pieces; an entry counts a hundred besides its own."""


def batched(entries: Iterable, size_of: Callable) -> Iterator[list]:
    """Yield lists of consecutive entries, each of about `BATCH` characters."""
    batch, size = [], 0
    for entry in entries:
        batch.append(entry)
        size += size_of(entry) + 100
        if size > BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


CHUNKS = "preferred_chunks"
"""Under this name xarray looks among the encoding of an array for what is best read at once."""


def rows_at_once(values) -> int:
    """Return how many rows of a (row, column) array are best read at a time: a block, or a chunk of a file if larger.

    values : an xarray.DataArray, or an array in memory
    """
    known = getattr(values, "encoding", {}).get(CHUNKS, {})
    return max(known.get(values.dims[0], 1) if known else 1, rows_per_block(values.shape[1]))


def as_slice(rows: np.ndarray) -> slice | np.ndarray:
    """Return ascending numbers as a slice, which is read faster, where they are one."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if np.all(np.diff(rows) == 1) else rows
