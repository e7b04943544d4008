"""The run store: a folder a run, an xarray Dataset at every moment, whatever is killed and when.

::

    <store>/.corpora/<hash>.npz        corpora and test sets, by content; those in shards are folders <hash>/ of hard links
    <store>/.starts/<hash>.npz         counts that runs began from, by content
    <store>/.queues/<id>, .slots/      locks of queues, and of workers that compute at a time on a machine
    <store>/<run>/data.zarr/               a Zarr v3 group with the spec in its attributes
                    numbers (iteration, column)    iteration, scalars by name, then topic by topic n_k (and alpha)
                    n_kw, n_dk (snapshot, …)       counts; chunks are blocks of rows (documents, topics) of a snapshot
                    snapshot_iteration (snapshot)  0: thinned out
                    committed (3,)                 rows, snapshots, topics that are valid; written LAST
                  parts-<iteration>/<group>.npz     of a corpus in shards: rows of documents of the checkpoint
                  rows-<random>.partial/            the rows that are worked on, while memory does not hold them
                  checkpoint.npz  control.json  status.json  end.json  kernels.json  notes.json  lock  worker.log

A chunk of counts has at most 2^20 numbers, unless one row has more. Every chunk ends with its CRC-32C, every JSON file of
ours and the attributes of the group hold their checksums, and the other files are archives that do: what is damaged is refused,
and never taken for other numbers (`workbench.runs.store.chunks`).

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

import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

import workbench
from workbench.data.saving import checksum
from workbench.errors import InputError
from workbench.runs.store.places import DATA, is_run

SCHEMA = 1
"""Version of this layout; a store of another one is refused."""
CAPACITY = 2**20
"""Rows and snapshots that the arrays of a run can hold."""
ROWS_PER_CHUNK = 256
GROWING = ("topic", "column")
"""Dims whose length changes where a run finds more topics."""
ROWS = (Crc32cCodec(),)
COUNTS = (BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle"), *ROWS)
"""What is done to chunks of rows and of snapshots. The compression of these is the fastest, as most bits of counts and of topic
numbers are zero; all else is uncompressed."""


class StoreError(InputError):
    """A run or a store that cannot be used."""


class DamagedError(StoreError):
    """Something in the folder of a run is not what was written; ``what`` names the file and says how."""

    what = ""

    @classmethod
    def of(cls, path: Path, what: str) -> DamagedError:
        """``path``: of the run; ``what``: what is wrong, which begins with the file."""
        error = cls(
            f"run '{path.name}' is damaged: {what}; `workbench doctor {path.name}` says what can still be read"
        )
        error.what = what
        return error

    @classmethod
    def unreadable(cls, path: Path, file: str, error: Exception) -> DamagedError:
        """That a file of the run in a folder cannot be read, with what the system says of it."""
        why = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
        return cls.of(path, f"{file} cannot be read{why}")


def open_group(path: Path, mode: str = "r"):
    """The Zarr group of a run, or a StoreError."""
    about = about_run(path)
    with _opening(path):
        group = zarr.open_group(str(path / DATA), mode=mode, use_consolidated=False)
        if dict(group.attrs) != about:
            raise DamagedError.of(path, f"{DATA}/zarr.json cannot be read")
    return group


def about_run(path: Path) -> dict:
    """The attributes of a run's group, read from its JSON file, far cheaper than opening the group; or a StoreError."""
    with _opening(path):
        about = json.loads((path / DATA / "zarr.json").read_bytes())["attributes"]
        if about["schema"] != SCHEMA:
            raise StoreError(
                f"{path} has the store schema {about['schema']!r}, and workbench {workbench.__version__} reads schema "
                f"{SCHEMA}; open it with the version that wrote it"
            )
        if about.get("checksum") != checksum(about):
            raise DamagedError.of(
                path, f"{DATA}/zarr.json does not have the checksum it was written with"
            )
    return about


def describe_run(group, about: dict) -> None:
    """Writes the attributes of a run's group, with their checksum."""
    group.attrs.put(about | {"checksum": checksum(json.loads(json.dumps(about)))})


@contextlib.contextmanager
def _opening(path: Path):
    """Within it, any error that shows that the folder is no run, or a damaged one, becomes a StoreError."""
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
    except Exception as error:  # whatever JSON and Zarr make of damaged metadata
        raise DamagedError.unreadable(path, f"{DATA}/zarr.json", error) from error


def open_arrays(path: Path, group, names) -> list:
    """Arrays of the group of a run, to write to as well: chunks are written without a test whether they are empty.

    One that is gone, or is not as it was made, is a DamagedError.
    """
    wanted, found = group.attrs.get("arrays", {}), []
    for name in names:
        try:
            with zarr.config.set({"array.write_empty_chunks": True}):
                array = group[name]
            checksum_now = described(array)
        except Exception as error:  # whatever Zarr makes of damaged metadata
            raise DamagedError.unreadable(path, f"{DATA}/{name}/zarr.json", error) from error
        if checksum_now != wanted.get(name):
            raise DamagedError.of(path, f"{DATA}/{name}/zarr.json is not what was written")
        found.append(array)
    return found


def described(array) -> str:
    """Checksum of the metadata of an array but for the sizes that grow."""
    about, dims = array.metadata.to_dict(), array.metadata.dimension_names
    about["shape"] = [
        None if dim in GROWING else n for dim, n in zip(dims, array.shape, strict=True)
    ]
    return checksum(json.loads(json.dumps(about, default=str)))
