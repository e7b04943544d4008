"""Create the folder of a run, with its corpora, arrays and settings, whole or not at all."""

import contextlib
import math
import shutil
import time
from pathlib import Path

import numpy as np
import zarr

from workbench.corpus import Corpus
from workbench.data.blocks import rows_per_block
from workbench.data.saving import partial_of
from workbench.runs.recorded import recorded
from workbench.runs.spec import RunSpec
from workbench.runs.store.archive import CORPORA, WARM_STARTS, put_warm_start
from workbench.runs.store.committed import put_rows
from workbench.runs.store.layout import (
    CAPACITY,
    COUNTS,
    ROWS,
    ROWS_PER_CHUNK,
    SCHEMA,
    StoreError,
    describe_run,
    described,
)
from workbench.runs.store.places import DATA
from workbench.runs.store.provenance import versions
from workbench.runs.store.status import RUNNING, STOPPED, read_spec, replace_json, set_end

GROWING_CAPACITY = 128
"""Topics that the arrays of an engine that adds topics can hold at first, at least, so that they have few chunks."""
LEFT_AFTER = 24 * 3600
"""Seconds after its last change from which on no process writes to a half-made folder."""
SNAPSHOT_BUDGET = 2 * 2**30
"""Bytes of counts, before compression, above which every other old snapshot is thinned out."""


def create_run(
    store: Path,
    spec: RunSpec,
    train: Corpus,
    test: Corpus | None,
    budget: int = SNAPSHOT_BUDGET,
) -> Path:
    """Create the folder of a run, unless it exists, and return it; it appears whole or not at all.

    A run of the same name and hash is reopened, with the last iteration and stop rule of the spec. Raises StoreError where
    another run has that name, or the store cannot be written or locked.
    budget : bytes of counts, before compression, from which on every other old snapshot is deleted.
    """
    path = Path(store) / spec.name
    if not path.exists():
        _make_run(path, spec, train, test, budget)
    if read_spec(path).hash != spec.hash:
        raise StoreError(
            f"a run named '{spec.name}' with other settings exists in {store}; choose another name or remove it"
        )
    try:
        set_end(path, spec.n_iterations, spec.rule)
    except OSError as error:
        raise _unwritable(path.parent, error) from error
    return path


def _unwritable(store: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write to the store {store}: {error.strerror or error}; choose another with --store"
    )


def _make_run(path: Path, spec: RunSpec, train: Corpus, test: Corpus | None, budget: int) -> None:
    partial = partial_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path.parent)
        for data in filter(None, (train, test)):
            data.save(path.parent / CORPORA)
        if spec.table is not None:
            train.table.save(path.parent / CORPORA)
        if spec.warm_start is not None:
            put_warm_start(path.parent, spec.start["counts"], spec.warm_start)
        _make_arrays(partial, spec, train, budget)
        replace_json(partial / "control.json", {"wanted": RUNNING})
        for name, values in {
            "status.json": {"state": STOPPED},
            "end.json": {},
            "kernels.json": {},
        }.items():
            replace_json(partial / name, values)
        try:
            partial.rename(path)
        except OSError:
            if not path.exists():  # or another process made the same run in the meantime
                raise
    except OSError as error:
        raise _unwritable(path.parent, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove_leftovers(store: Path) -> None:
    """Delete half-made folders of processes that were killed while they made or removed a run."""
    for folder in (store, store / CORPORA, store / WARM_STARTS):
        for left in folder.glob(".*.partial"):
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > LEFT_AFTER:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()


def _make_arrays(path: Path, spec: RunSpec, train: Corpus, budget: int) -> None:
    engine, model, _ = spec.parts()
    group, leaves = zarr.create_group(str(path / DATA), zarr_format=3), recorded(spec)
    n_topics = leaves.sizes.get("topic", 0)
    capacity = max(n_topics, GROWING_CAPACITY) if engine.grows else n_topics
    n_columns = leaves.width(capacity)

    def array(
        name: str,
        shape: tuple[int, ...],
        chunks: tuple[int, ...],
        dtype: np.typing.DTypeLike,
        dims: tuple[str, ...],
        fill_value,
        compressors=ROWS,
    ):
        group.create_array(
            name,
            shape=shape,
            chunks=chunks,
            dtype=dtype,
            dimension_names=dims,
            fill_value=fill_value,
            compressors=compressors,
        )

    array(
        "numbers",
        (CAPACITY, n_columns),
        (ROWS_PER_CHUNK, n_columns),
        "float64",
        ("iteration", "column"),
        np.nan,
    )
    for name, shape in leaves.shapes(model.dims(train) | {"topic": capacity}).items():
        about = leaves.variables[name]
        array(name, (CAPACITY, *shape), (1, *_chunk_of(shape)), about.dtype, about.dims, 0, COUNTS)
    array("snapshot_iteration", (CAPACITY,), (1024,), "int64", ("snapshot",), 0)
    array("committed", (3,), (3,), "int64", ("committed_of",), 0)
    put_rows(group["committed"], 0, np.array([0, 0, n_topics]))
    describe_run(
        group,
        {
            "schema": SCHEMA,
            "arrays": {name: described(array) for name, array in group.arrays()},
            "spec": spec.to_json(),
            "columns": leaves.names,
            "vectors": leaves.vectors,
            "kept": leaves.kept,
            "versions": versions(),
            "snapshots_kept": max(2, budget // max(snapshot_bytes(spec, train), 1)),
        }
        | (leaves.described() if spec.module else {}),
    )


def _chunk_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the chunk shape of a snapshot: a block of rows of a large one, all of a small one."""
    if not shape:
        return shape
    n_rows, *others = shape
    return min(n_rows, rows_per_block(math.prod(others))), *others


def snapshot_bytes(spec: RunSpec, train: Corpus) -> int:
    """Return the bytes of one snapshot, before compression."""
    return sum(array_bytes(spec, train))


def array_bytes(spec: RunSpec, train: Corpus) -> list[int]:
    """Return the bytes of each array of a snapshot, before compression."""
    leaves = recorded(spec)
    shapes = leaves.shapes(spec.parts()[1].dims(train))
    return [
        np.dtype(leaves.variables[name].dtype).itemsize * math.prod(shape)
        for name, shape in shapes.items()
    ]
