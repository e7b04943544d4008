"""The run store: a folder a run, an xarray Dataset at every moment, whatever is killed and when.

::

    <store>/.corpora/<hash>.npz        corpora and test sets, by content
    <store>/.starts/<hash>.npz         counts that runs began from, by content
    <store>/<run>/data.zarr/               a Zarr v3 group with the spec in its attributes
                    numbers (iteration, column)    iteration, scalars by name, then topic by topic n_k (and alpha)
                    n_kw, n_dk (snapshot, …)       counts, one chunk a snapshot
                    snapshot_iteration (snapshot)  0: thinned out
                    committed (3,)                 rows, snapshots, topics that are valid; written LAST
                  checkpoint.npz  control.json  status.json  end.json  kernels.json  notes.json  lock  worker.log

Arrays are preallocated (chunks that were never written take no space), so nothing is resized but the topics,
where a run finds more than it began with: their arrays grow before the first row that needs them is committed.
Every file is replaced whole. A reader reads `committed` first and looks at nothing beyond it; a writer
that is killed leaves at most chunks and `*.partial` files beyond `committed`, which the next one
overwrites or deletes.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zarr
from zarr.buffer import cpu
from zarr.codecs import BloscCodec

from workbench.errors import InputError
from workbench.runs.store.places import DATA

SCHEMA = 2
CAPACITY = 2**20
"""Rows and snapshots that the arrays of a run can hold."""
ROWS_PER_CHUNK = 256
COUNTS = BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle")
"""Compression of snapshots: the fastest, as most bits of counts and of topic numbers are zero. All else is uncompressed."""


class StoreError(InputError):
    """A run or a store that cannot be used."""


def open_group(path: Path, mode: str = "r"):
    """The Zarr group of a run, or a StoreError."""
    with _opening(path):
        group = zarr.open_group(str(path / DATA), mode=mode, use_consolidated=False)
        _check_schema(path, group.attrs["schema"])
    return group


def about_run(path: Path) -> dict:
    """The attributes of a run's group, read from its JSON file, far cheaper than opening the group; or a StoreError."""
    with _opening(path):
        about = json.loads((path / DATA / "zarr.json").read_bytes())["attributes"]
        _check_schema(path, about["schema"])
    return about


@contextlib.contextmanager
def _opening(path: Path):
    """Within it, any error that shows that the folder is no run becomes a StoreError."""
    try:
        yield
    except StoreError:
        raise
    except (FileNotFoundError, KeyError, ValueError) as error:
        raise StoreError(f"{path} is not a run; `workbench runs` lists the runs of a store") from error


def _check_schema(path: Path, schema: int) -> None:
    if schema > SCHEMA:
        raise StoreError(f"{path} was written by a newer workbench (schema {schema}, this one reads {SCHEMA}); upgrade")


class Committed(NamedTuple):
    """How many rows, snapshots and topics of a run are valid."""

    n_rows: int
    n_snapshots: int
    n_topics: int

    @classmethod
    def of(cls, committed, capacity: int) -> Committed:
        """The numbers in the array; in schema 1, which has no growth, the topics are the ``capacity`` of the arrays."""
        n_rows, n_snapshots, *n_topics = (int(n) for n in committed[:])
        return cls(n_rows, n_snapshots, *(n_topics or [capacity]))


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
