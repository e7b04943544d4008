"""The run store: a folder a run, an xarray Dataset at every moment, whatever is killed and when.

::

    <store>/.corpora/<hash>.npz        corpora and test sets, by content
    <store>/.starts/<hash>.npz         counts that runs began from, by content
    <store>/<run>/data.zarr/               a Zarr v3 group with the spec in its attributes
                    numbers (iteration, column)    iteration, scalars by name, then topic by topic n_k (and alpha)
                    n_kw, n_dk (snapshot, …)       counts, one chunk a snapshot
                    snapshot_iteration (snapshot)  0: thinned out
                    committed (3,)                 rows, snapshots, topics that are valid; written LAST
                  checkpoint.npz  control.json  status.json  end.json  kernels.json  notes.json  reading.bin  lock  worker.log

Arrays are preallocated (chunks that were never written take no room), so nothing is resized but the topics,
where a run finds more than it began with: their arrays grow before the first row that needs them is committed.
Every file is replaced whole. A reader reads `committed` first and looks at nothing beyond it; a writer
that is killed leaves at most chunks and `*.partial` files beyond `committed`, which the next one
overwrites or deletes.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import time
import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import zarr
from filelock import FileLock, Timeout

from workbench.runs.dataset import attributes, label_counts, label_rows, versions, width
from workbench.runs.execution.control import (
    LOST_AFTER,
    PAUSED,
    RUNNING,
    START_PATIENCE,
    STOPPED,
    partial_of,
    read_json,
    replace_json,
)
from workbench.runs.recorded import Recorded, recorded
from workbench.runs.spec import RunSpec
from workbench.runs.stopping import StopRule
from workbench.runs.store.archive import get_corpus, put_corpus, put_warm_start
from workbench.runs.store.chunks import COUNTS
from workbench.runs.store.notes import NoteError, with_labels
from workbench.runs.store.places import DATA, is_run
from workbench.runs.store.provenance import KERNELS, makers

if TYPE_CHECKING:
    import xarray as xr

SCHEMA = 2
CAPACITY = 2**20
"""Rows and snapshots that a run has room for."""
ROWS_PER_CHUNK = 256
ROOM = 128
"""Topics that there is room for at first, at least, where their number may grow: so they lie in few chunks."""
SNAPSHOT_BUDGET = 2 * 2**30
"""Bytes of counts, before compression, above which every other old snapshot is thinned out."""

WAITING, FINISHED, FAILED, LOST = "waiting", "finished", "failed", "interrupted"


class StoreError(ValueError):
    """What a store wanted, what came, and what to do, in one sentence."""


def create_run(store: Path, spec: RunSpec, train, test, budget: int = SNAPSHOT_BUDGET) -> Path:
    """The folder of a run, made if it is not there: it appears whole or not at all.

    A run of the same name and the same hash is reopened, with the end that the spec asks for.

    Raises
    ------
    StoreError
        When another run has that name, or the store cannot be written or locked.
    """
    path = Path(store) / spec.name
    if not path.exists():
        _make_run(path, spec, train, test, budget)
    known = read_spec(path)
    if known.hash != spec.hash:
        raise StoreError(f"a run named '{spec.name}' with other settings is in {store}; choose another name or remove it")
    set_end(path, spec.n_iterations, spec.rule)
    return path


def _make_run(path: Path, spec: RunSpec, train, test, budget: int) -> None:
    partial = partial_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put_corpus(path.parent, train)
        if test is not None:
            put_corpus(path.parent, test)
        if spec.warm_start is not None:
            put_warm_start(path.parent, spec.start["counts"], spec.warm_start)
        shutil.rmtree(partial, ignore_errors=True)
        _make_arrays(partial, spec, train, budget)
        replace_json(partial / "control.json", {"wanted": RUNNING})
        replace_json(partial / "status.json", {"state": STOPPED})
        with contextlib.suppress(OSError):  # another process made the same run in the meantime
            partial.rename(path)
    except OSError as error:
        raise StoreError(f"cannot write to the store {path.parent}: {error.strerror}; choose another with --store") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _make_arrays(path: Path, spec: RunSpec, train, budget: int) -> None:
    engine, model, _ = spec.parts()
    group = zarr.create_group(str(path / DATA), zarr_format=3)
    names, of_topics, kept, variables, _ = recorded(spec)
    n_topics = model.dims().get("topic", 0)
    room = max(n_topics, ROOM) if engine.grows else n_topics
    n_columns = width(names, of_topics, room)

    def array(name, shape, chunks, dtype, dims, fill, packed=None):
        group.create_array(
            name, shape=shape, chunks=chunks, dtype=dtype, dimension_names=dims, fill_value=fill, compressors=packed
        )

    array("numbers", (CAPACITY, n_columns), (ROWS_PER_CHUNK, n_columns), "float64", ("iteration", "column"), np.nan)
    sizes = model.dims(train) | {"topic": room}
    for name in kept:
        dims = variables[name].dims
        shape = tuple(sizes[dim] for dim in dims[1:])
        array(name, (CAPACITY, *shape), (1, *shape), variables[name].dtype, dims, 0, COUNTS)
    array("snapshot_iteration", (CAPACITY,), (1024,), "int64", ("snapshot",), 0)
    array("committed", (3,), (3,), "int64", ("committed_of",), 0)
    group["committed"][2] = n_topics
    group.attrs.update({
        "schema": SCHEMA, "spec": spec.to_json(), "columns": list(names), "vectors": list(of_topics), "kept": list(kept),
        "versions": versions(), "snapshots_kept": max(2, budget // max(snapshot_bytes(spec, train), 1)),
    })


def open_group(path: Path, mode: str = "r"):
    """The Zarr group of a run, or a sentence."""
    with _opening(path):
        group = zarr.open_group(str(path / DATA), mode=mode, use_consolidated=False)
        _check_schema(path, group.attrs["schema"])
    return group


def about_run(path: Path) -> dict:
    """The attributes of a run's group, read as the plain JSON that they are, far cheaper than opening it; or a sentence."""
    with _opening(path):
        about = json.loads((path / DATA / "zarr.json").read_bytes())["attributes"]
        _check_schema(path, about["schema"])
    return about


@contextlib.contextmanager
def _opening(path: Path):
    """Within it, whatever shows that there is no run is told in a sentence."""
    try:
        yield
    except StoreError:
        raise
    except (FileNotFoundError, KeyError, ValueError) as error:
        raise StoreError(f"{path} is not a run; `workbench runs` lists the runs of a store") from error


def _check_schema(path: Path, schema: int) -> None:
    if schema > SCHEMA:
        raise StoreError(f"{path} was written by a newer workbench (schema {schema}, this one reads {SCHEMA}); upgrade")


def snapshot_bytes(spec: RunSpec, train) -> int:
    """Bytes of one snapshot, before compression."""
    _, model, _ = spec.parts()
    leaves, sizes = recorded(spec), model.dims(train)
    kept = [leaves.variables[name] for name in leaves.kept]
    return sum(np.dtype(each.dtype).itemsize * math.prod(sizes[dim] for dim in each.dims[1:]) for each in kept)


class Layout(NamedTuple):
    """What the columns of a run's rows are, and what it keeps of a snapshot; a run of schema 1 has n_k alone."""

    names: tuple[str, ...]
    vectors: tuple[str, ...]
    kept: tuple[str, ...]

    @classmethod
    def of(cls, group) -> Layout:
        about = group.attrs
        return cls(tuple(about["columns"]), tuple(about.get("vectors", ["n_k"])), tuple(about.get("kept", ["n_kw", "n_dk"])))

    def n_columns(self, n_topics: int) -> int:
        """The columns of rows with so many topics."""
        return width(self.names, self.vectors, n_topics)

    def n_topics(self, n_columns: int) -> int:
        """The topics that so many columns have room for."""
        return (n_columns - self.n_columns(0)) // len(self.vectors) if self.vectors else 0


class Committed(NamedTuple):
    """How much of a run is valid."""

    n_rows: int
    n_snapshots: int
    n_topics: int

    @classmethod
    def of(cls, committed, room: int) -> Committed:
        """What the array says; in schema 1, which never grows, the topics are those there is room for."""
        n_rows, n_snapshots, *n_topics = (int(n) for n in committed[:])
        return cls(n_rows, n_snapshots, *(n_topics or [room]))


def read_spec(path: Path, about: dict | None = None) -> RunSpec:
    """The spec a run was created with, lasting to its present end and with the rule that it has now.

    about : what `about_run` says, where it is at hand.
    """
    ending = read_ending(path, about)
    return ending.spec.lasting(ending.reaches, ending.rule)


class Ending(NamedTuple):
    """When a run ends, and whether its rule has ended it."""

    spec: RunSpec                # as created
    n_iterations: int            # asked for
    rule: StopRule | None
    settled: int | None          # the iteration after which the rule ended it

    @property
    def reaches(self) -> int:
        """The iteration that the run is to reach."""
        return self.settled or self.n_iterations


def read_ending(path: Path, about: dict | None = None) -> Ending:
    """The end that was asked for last, or the one that the run was created with."""
    spec, moved = RunSpec.from_json((about or about_run(path))["spec"]), read_json(path / "end.json")
    rule = StopRule(*moved["rule"]) if moved.get("rule") else None if "rule" in moved else spec.rule
    return Ending(spec, moved.get("n_iterations") or spec.n_iterations, rule, moved.get("settled"))


def set_end(path: Path, n_iterations: int, rule: StopRule | None = None) -> None:
    """The run is to reach this iteration, but never less than what is committed, or the iteration where the rule ends it.

    A run that this very rule has ended stays ended.
    """
    group = open_group(path)
    known, n_rows = read_ending(path), int(group["committed"][0])
    reached = int(group["numbers"][n_rows - 1, 0]) if n_rows else 0
    settled = known.settled if rule is not None and rule == known.rule else None
    wanted = known._replace(n_iterations=max(n_iterations, reached), rule=rule, settled=settled)
    if wanted != known:
        _write_ending(path, wanted)


def settle(path: Path, iteration: int, rule: StopRule) -> None:
    """The run ends after this iteration, by its rule, unless another end was asked for in the meantime."""
    known = read_ending(path)
    if known.rule == rule:
        _write_ending(path, known._replace(settled=iteration))


def _write_ending(path: Path, ending: Ending) -> None:
    replace_json(path / "end.json", {"n_iterations": ending.n_iterations, "rule": ending.rule, "settled": ending.settled})


def read_status(path: Path, about: dict | None = None) -> dict:
    """state, iteration, n_iterations, time_left (seconds or None), message of a run, as its last heartbeat said.

    A run that claims to live, but has no recent heartbeat and no writer, is `interrupted`; it can be
    resumed. With what `about_run` says at hand, two small files are all that is read.
    """
    status = {"iteration": 0, "time_left": None, "message": "", "state": LOST} | read_json(path / "status.json")
    status["n_iterations"] = read_ending(path, about).reaches
    patience = {RUNNING: LOST_AFTER, PAUSED: LOST_AFTER, WAITING: START_PATIENCE}.get(status["state"], math.inf)
    if time.time() - status.get("time", 0) > patience and not is_written(path):
        status |= {"state": LOST, "time_left": None}
    if status["state"] in (FINISHED, STOPPED):  # its end may have been moved since, to either side
        status["state"] = FINISHED if status["iteration"] >= status["n_iterations"] else STOPPED
    return status


def is_written(path: Path) -> bool:
    """Does a living process hold the lock of the run?"""
    try:
        with FileLock(str(path / "lock"), timeout=0):
            return False
    except Timeout:
        return True


def run_paths(store: Path) -> list[Path]:
    """The folders of all runs of a store, oldest first."""
    found = [path for path in Path(store).glob("*") if is_run(path)]
    return sorted(found, key=lambda path: ((path / DATA / "zarr.json").stat().st_mtime_ns, path.name))


class RunReader:
    """What is committed of a run, read again and again while it is written."""

    def __init__(self, path: Path):
        self.path = Path(path)
        group = open_group(self.path)
        try:
            self._about = dict(group.attrs)
            self._layout, self._group, self._made_with = Layout.of(group), group, dict(self._about["versions"])
            self._numbers, self._counter, self._snapshot_iteration = (
                group[name] for name in ("numbers", "committed", "snapshot_iteration")
            )
        except KeyError as error:
            raise StoreError(f"run {path} is damaged, its {error} is missing; `workbench remove` deletes it") from error

    def _committed(self) -> Committed:
        return Committed.of(self._counter, self._layout.n_topics(self._numbers.shape[1]))

    def rows(self, after: int = 0) -> np.ndarray:
        """(row, column) float64 of the committed rows from number ``after`` on: iteration, scalars, then the topics."""
        return self._rows(self._committed(), after)

    def _rows(self, committed: Committed, after: int = 0) -> np.ndarray:
        n_columns = self._layout.n_columns(committed.n_topics)
        if committed.n_rows <= after:
            return np.empty((0, n_columns))
        if self._numbers.shape[1] < n_columns:  # it has grown since it was opened
            self._numbers = self._group["numbers"]
        return self._numbers[after : committed.n_rows, :n_columns]

    def spec(self) -> RunSpec:
        """The spec, lasting to the present end; cheap."""
        return read_spec(self.path, self._about)

    def makers(self) -> list[list]:
        """What `made_by.makers` says of the run."""
        return makers(self.path, self._made_with)

    def by_other_kernels(self) -> bool:
        """Did other kernels than those of this process make what was committed last?"""
        made = self.makers()
        return bool(made) and made[-1][1] != KERNELS and self._committed().n_rows > 0

    def status(self) -> dict:
        """What `read_status` says; cheap enough to be asked every second."""
        return read_status(self.path, self._about)

    def progress(self) -> xr.Dataset:
        """The per-iteration part of the Dataset; cheap."""
        return self._labelled(self.rows())

    @cached_property
    def recorded(self) -> Recorded:
        """What stands in the columns of its rows and what its snapshots hold."""
        return Recorded(*self._layout, *recorded(RunSpec.from_json(self._about["spec"]))[3:])

    def _labelled(self, rows: np.ndarray) -> xr.Dataset:
        return label_rows(self.recorded, rows, self._attributes())

    def dataset(self, train=None) -> xr.Dataset:
        """The whole Dataset; counts of snapshots are read from disk when they are used, ``train`` if it is not at hand.

        A snapshot that the run drops meanwhile raises `counts.SnapshotGone` when it is used.
        """
        from workbench.runs.store.counts import read_counts  # a backend of xarray, which is slow to import

        committed = self._committed()
        iterations = self._snapshot_iteration[: committed.n_snapshots]
        kept = np.flatnonzero(iterations)
        arrays = {name: (self.recorded.variables[name].dims, self._group[name]) for name in self._layout.kept}
        counts = read_counts(self.path, arrays, self._snapshot_iteration, len(iterations))
        counts = counts.isel(snapshot=kept, topic=slice(committed.n_topics), missing_dims="ignore")
        train = train or get_corpus(self.path.parent, self.spec().train)
        found = label_counts(self._labelled(self._rows(committed)), counts, iterations[kept], train, self.recorded)
        try:
            return with_labels(found, self.path)
        except NoteError as error:  # what people wrote never hides what was computed
            warnings.warn(str(error), stacklevel=2)
            return found

    def _attributes(self) -> dict:
        settled = read_ending(self.path, self._about).settled
        return attributes(self.spec(), self._made_with, self.status()["state"], settled, self.makers())
