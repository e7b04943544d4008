"""How the arrays of a run are packed and written: what comes every half second, without Zarr's detours."""

from __future__ import annotations

import numpy as np
import zarr
from zarr.buffer import cpu
from zarr.codecs import BloscCodec

COUNTS = BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle")
"""How snapshots are packed: fastest, as most bits of counts and of numbers of topics are zero. All else is not packed."""


def open_arrays(group, names) -> list:
    """Arrays of a group, to write to: chunks go as they come, without a look whether they are empty."""
    with zarr.config.set({"array.write_empty_chunks": True}):
        return [group[name] for name in names]


def put_rows(array, start: int, rows: np.ndarray) -> None:
    """Writes rows from number ``start`` on. One whole chunk that is not packed is one file, replaced whole.

    Zarr hands each step of a write to other threads, which takes four times as long.
    """
    if rows.shape == array.chunks and start % len(rows) == 0 and not array.compressors:
        place = array.metadata.encode_chunk_key((start // len(rows), *[0] * (rows.ndim - 1)))
        lying = rows.astype(array.dtype.newbyteorder("<"), copy=False)
        (array.store_path / place).set_sync(cpu.Buffer.from_bytes(lying.tobytes()))
    else:
        array[start : start + len(rows)] = rows
