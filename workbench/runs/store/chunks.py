"""Writes chunks of the arrays of a run, directly as files where Zarr would be four times as slow."""

from __future__ import annotations

import numpy as np
import zarr
from zarr.buffer import cpu
from zarr.codecs import BloscCodec

COUNTS = BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle")
"""Compression of snapshots: the fastest, as most bits of counts and of topic numbers are zero. All else is uncompressed."""


def open_arrays(group, names) -> list:
    """Arrays of a group, to write to: chunks are written without a test whether they are empty."""
    with zarr.config.set({"array.write_empty_chunks": True}):
        return [group[name] for name in names]


def put_rows(array, first: int, rows: np.ndarray) -> None:
    """Writes rows from number ``first`` on. One whole uncompressed chunk is one file, replaced whole.

    Zarr passes each step of a write to other threads, which takes four times as long.
    """
    if rows.shape == array.chunks and first % len(rows) == 0 and not array.compressors:
        key = array.metadata.encode_chunk_key((first // len(rows), *[0] * (rows.ndim - 1)))
        values = rows.astype(array.dtype.newbyteorder("<"), copy=False)
        (array.store_path / key).set_sync(cpu.Buffer.from_bytes(values.tobytes()))
    else:
        array[first : first + len(rows)] = rows
