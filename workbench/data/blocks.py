"""Split rows of large arrays into blocks, and entries of a file into batches, to bound memory; sum groups of rows."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

NUMBERS = 2**20
"""Maximum of numbers in a block (8 MB of float64), unless one row has more."""


def rows_per_block(width: int) -> int:
    """Return how many rows of ``width`` columns make a block: a power of 2, so that blocks of different widths align."""
    return 1 << max(NUMBERS // max(width, 1), 1).bit_length() - 1


def blocks(n_rows: int, n_at_once: int) -> Iterator[slice]:
    """Yield slices of ``n_at_once`` rows; the last may be shorter."""
    for first in range(0, n_rows, n_at_once):
        yield slice(first, min(first + n_at_once, n_rows))


BATCH = 1 << 21
"""Characters of a batch of a file; each entry counts a hundred more than it has."""


def batched(entries: Iterable, size_of: Callable) -> Iterator[list]:
    """Yield consecutive entries as lists of about `BATCH` characters in total; ``size_of`` gives those of an entry."""
    batch, size = [], 0
    for entry in entries:
        batch.append(entry)
        size += size_of(entry) + 100
        if size > BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def start_of(blocks: Iterable[bytes], n_bytes: int) -> bytes:
    """Return the first blocks of a file joined, of ``n_bytes`` or more; all of them if these are fewer bytes."""
    start = b""
    for block in blocks:
        start += block
        if len(start) >= n_bytes:
            break
    return start


CHUNKS = "preferred_chunks"
"""Key of an array's encoding in xarray under which the preferred chunk sizes are found."""


def rows_at_once(values) -> int:
    """Return how many rows of an array (row, column) to read at a time: a block, or a chunk of its file if that is larger.

    values : an xarray.DataArray, or an array in memory
    """
    chunk_sizes = getattr(values, "encoding", {}).get(CHUNKS, {})
    return max(
        chunk_sizes.get(values.dims[0], 1) if chunk_sizes else 1, rows_per_block(values.shape[1])
    )


def sum_groups(values: np.ndarray, group: np.ndarray, n_groups: int, axis: int = 0) -> np.ndarray:
    """Return the sums over the groups of entries along an axis, with groups in place of entries there.

    group : the number of each entry's group, -1 for entries that are left out
    """
    values, is_member = np.moveaxis(values, axis, 0), group >= 0
    sums = np.zeros((n_groups, *values.shape[1:]), values.dtype)
    np.add.at(sums, group[is_member], values[is_member])
    return np.moveaxis(sums, 0, axis)


def as_slice(rows: np.ndarray) -> slice | np.ndarray:
    """Return ascending row numbers as a slice if they are consecutive, since slices are read faster."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if np.all(np.diff(rows) == 1) else rows
