"""The layout of the run store: a folder for each run, which is readable as an xarray Dataset even if processes are killed.

::

    <store>/.corpora/<hash>.npz        corpora and test sets, by content; those in shards are folders <hash>/ of hard links
    <store>/.starts/<hash>.npz         counts from which runs started, by content
    <store>/.priors/<hash>.npy         a beta of several numbers, by content
    <store>/.queues/<id>, .slots/      locks of queues, and of the workers of a machine
    <store>/<run>/data.zarr/               a Zarr v3 group with the spec in its attributes
                    numbers (iteration, column)    iteration, scalars by name, then topic by topic n_k (and alpha)
                    n_kw, n_dk (snapshot, …)       counts; chunks are blocks of rows (documents, topics) of a snapshot
                    snapshot_iteration (snapshot)  0: deleted
                    committed (3,)                 numbers of valid rows, snapshots, topics; written last
                  parts-<iteration>/<group>.npz     for a corpus in shards: document arrays of the checkpoint
                  rows-<random>.partial/            present document arrays, if memory does not hold them
                  checkpoint.npz  control.json  status.json  end.json  kernels.json  notes.json  lock  worker.log
                  interventions.json  before.npz   settings turned while the run ran, and the position before the last

A chunk of counts has at most 2^20 numbers, unless one row has more. Every chunk ends with its CRC-32C, every JSON file of a run
and the attributes of the group contain checksums, and the other files are archives with checksums: damaged data raise an error
and are never returned (`workbench.runs.store.committed`).

Arrays are preallocated (chunks that were never written need no space). Only the topic dim is resized, if a run finds more
topics than it started with: the arrays grow before the first row that needs them is committed. Every file is replaced as a
whole. A reader reads `committed` first and ignores all beyond it; a writer that is killed leaves at most chunks and
`*.partial` files beyond `committed`, which the next writer overwrites or deletes.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

import workbench
from workbench.data.saving import checksum
from workbench.errors import InputError
from workbench.runs.store.places import DATA, is_run

SCHEMA = 1
"""Version of this layout; opening a run with another version raises StoreError."""
CAPACITY = 2**20
"""Number of rows, and of snapshots, that the arrays of a run can hold."""
ROWS_PER_CHUNK = 256
GROWING = ("topic", "column")
"""Dims whose length changes if a run finds more topics."""
ROWS = (Crc32cCodec(),)
COUNTS = (BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle"), *ROWS)
"""Codecs of chunks of snapshots, and (`ROWS`) of rows. Counts have the fastest compression, as most of their bits are zero."""


class StoreError(InputError):
    """Raised for a run or a store that cannot be used."""


class DamagedError(StoreError):
    """Raised if a file of a run is missing or damaged; ``what`` names the file and the damage."""

    what = ""

    @classmethod
    def of(cls, path: Path, what: str) -> DamagedError:
        """Return the error for a damaged file of the run in a folder; ``what`` begins with the name of the file."""
        error = cls(
            f"run '{path.name}' is damaged: {what}; `workbench doctor {path.name}` lists what can still be read"
        )
        error.what = what
        return error

    @classmethod
    def unreadable(cls, path: Path, file: str, error: Exception) -> DamagedError:
        """Return the error for a file of a run that cannot be read, with the system's reason."""
        reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
        return cls.of(path, f"{file} cannot be read{reason}")


def open_group(path: Path, mode: str = "r") -> zarr.Group:
    """Open and return the Zarr group of the run in a folder; raise StoreError if that fails."""
    attributes = about_run(path)
    with _opening(path):
        group = zarr.open_group(str(path / DATA), mode=mode, use_consolidated=False)
        if dict(group.attrs) != attributes:
            raise DamagedError.of(path, f"{DATA}/zarr.json cannot be read")
    return group


def about_run(path: Path) -> dict:
    """Return the attributes of a run's Zarr group, read as JSON; raise StoreError if that fails."""
    with _opening(path):
        attributes = json.loads((path / DATA / "zarr.json").read_bytes())["attributes"]
        if attributes["schema"] != SCHEMA:
            raise StoreError(
                f"{path} has the store schema {attributes['schema']!r}, and workbench {workbench.__version__} reads schema "
                f"{SCHEMA}; open it with the version that wrote it"
            )
        if attributes.get("checksum") != checksum(attributes):
            raise DamagedError.of(
                path, f"{DATA}/zarr.json does not have the checksum it was written with"
            )
    return attributes


def describe_run(group: zarr.Group, attributes: dict) -> None:
    """Write the attributes of a run's Zarr group, with their checksum."""
    group.attrs.put(attributes | {"checksum": checksum(json.loads(json.dumps(attributes)))})


@contextlib.contextmanager
def _opening(path: Path):
    """Raise every error of the block as a StoreError that says whether the folder is no run, or is damaged."""
    try:
        yield
    except StoreError:
        raise
    except FileNotFoundError as error:
        if is_run(path):
            raise DamagedError.of(path, f"{DATA}/zarr.json is gone") from error
        raise StoreError(
            f"{path} is not a run; `workbench runs` lists the runs of a store"
        ) from error
    except Exception as error:  # whatever JSON and Zarr raise for damaged metadata
        raise DamagedError.unreadable(path, f"{DATA}/zarr.json", error) from error


def open_arrays(path: Path, group: zarr.Group, names: Iterable[str]) -> list[zarr.Array]:
    """Open and return the arrays of a run with these names; they also write chunks that are all zero.

    Raises DamagedError if an array is missing or its metadata are damaged.
    """
    checksums, arrays = group.attrs.get("arrays", {}), []
    for name in names:
        try:
            with zarr.config.set({"array.write_empty_chunks": True}):
                array = group[name]
            current = described(array)
        except Exception as error:  # whatever Zarr raises for damaged metadata
            raise DamagedError.unreadable(path, f"{DATA}/{name}/zarr.json", error) from error
        if current != checksums.get(name):
            raise DamagedError.of(path, f"{DATA}/{name}/zarr.json is not what was written")
        arrays.append(array)
    return arrays


def described(array: zarr.Array) -> str:
    """Return a checksum of an array's metadata, ignoring the lengths of dims that may grow."""
    metadata, dims = array.metadata.to_dict(), array.metadata.dimension_names
    metadata["shape"] = [
        None if dim in GROWING else n for dim, n in zip(dims, array.shape, strict=True)
    ]
    return checksum(json.loads(json.dumps(metadata, default=str)))
