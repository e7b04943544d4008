"""Write and read the chunks of a run's arrays; a damaged or missing chunk is a DamagedError.

Each ends with its CRC-32C (`layout.ROWS`), and each that the commit counter counts is there, zeros too: Zarr
reads a missing chunk as its fill value, which no reader may take for numbers.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import google_crc32c
import numpy as np
from zarr.buffer import cpu

from workbench.runs.store.layout import ROWS, DamagedError
from workbench.runs.store.places import DATA


def put_rows(array, first: int, rows: np.ndarray) -> None:
    """Write rows from number ``first`` on; one whole chunk without compression goes past Zarr, as one file.

    Zarr passes each step of a write to other threads, which takes four times as long.
    """
    if rows.shape == array.chunks and first % len(rows) == 0 and array.compressors == ROWS:
        values = rows.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        values += google_crc32c.value(values).to_bytes(4, "little")
        (array.store_path / _key(array, (first // len(rows), *[0] * (rows.ndim - 1)))).set_sync(
            cpu.Buffer.from_bytes(values)
        )
    else:
        array[first : first + len(rows)] = rows


def read(path: Path, array, selection) -> np.ndarray:
    """Return a selection of an array; raise DamagedError where a chunk is not what was written."""
    try:
        by_place = isinstance(selection, tuple) and any(
            isinstance(part, np.ndarray) for part in selection
        )
        return array.oindex[selection] if by_place else array[selection]
    except OSError as error:
        raise DamagedError.unreadable(path, _file(array), error) from error
    except Exception as error:  # whatever codecs make of damaged bytes
        raise DamagedError.of(
            path, f"{_file(array)} holds a chunk that is not what was written"
        ) from error


def refuse_missing(
    path: Path, array, rows: Iterable[int], shape: tuple[int, ...] = (), second=None
) -> None:
    """Raise DamagedError where a chunk of these rows is missing; see `missing`."""
    try:
        key = next(missing(array, rows, shape, second), None)
    except OSError as error:
        raise DamagedError.of(
            path, f"{_file(array)} cannot be read ({error.strerror or error})"
        ) from error
    if key is not None:
        raise DamagedError.of(path, f"the chunk {_file(array)}/{'/'.join(map(str, key))} is gone")


def missing(
    array, rows: Iterable[int], shape: tuple[int, ...] = (), second: np.ndarray | None = None
) -> Iterator[tuple[int, ...]]:
    """Yield the grid positions of those chunks of these rows that have no file.

    shape : extent along the other dims, by default all
    second : indices along the second dim; the chunks of these alone
    """
    first, *others = array.chunks
    sizes = [
        math.ceil(n / max(chunk, 1))
        for n, chunk in zip(shape or array.shape[1:], others, strict=True)
    ]
    places = [sorted({row // first for row in rows}), *map(range, sizes)]
    if second is not None:
        places[1] = np.unique(second // others[0]).tolist()
    folder = Path(array.store.root) / array.path
    for place in product(*places):
        if not (folder / _key(array, place)).is_file():
            yield place


def fill_missing(
    array, rows: Iterable[int], shape: tuple[int, ...], n_before: int, before: tuple[int, ...]
) -> None:
    """Write the missing chunks of these rows with fill values, except chunks that were written before.

    n_before, before : number of rows, and their extent along the other dims, whose chunks were written before.
    """
    known = [
        math.ceil(n / max(chunk, 1))
        for n, chunk in zip((n_before, *before), array.chunks, strict=True)
    ]
    for place in missing(array, rows, shape):
        if any(index >= n for index, n in zip(place, known, strict=True)):
            array.set_block_selection(place, array.fill_value)


def _key(array, place: tuple[int, ...]) -> str:
    return array.metadata.encode_chunk_key(place)


def _file(array) -> str:
    return f"{DATA}/{array.path}"
