"""Create the folder of a run, and write its rows, snapshots, checkpoints and heartbeat.

If the process is killed, all committed data are kept. See `workbench.runs.store.layout` for the files of the folder.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import zarr

from workbench.corpus import Corpus
from workbench.data.blocks import rows_per_block
from workbench.data.saving import partial_of
from workbench.errors import InputError
from workbench.models.word_priors import FOLDER, WordPrior
from workbench.runs.recorded import Position, Row, recorded
from workbench.runs.spec import RunSpec
from workbench.runs.store.archive import (
    BEFORE,
    CHECKPOINT,
    CORPORA,
    WARM_STARTS,
    put_warm_start,
    write_checkpoint,
)
from workbench.runs.store.committed import Committed, Stored
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
from workbench.runs.store.lock import Lock, LockHeld
from workbench.runs.store.places import DATA
from workbench.runs.store.provenance import record_provenance, versions
from workbench.runs.store.status import (
    FAILED,
    INTERVENTIONS,
    KILLED_FOR_MEMORY,
    PAUSED,
    RUNNING,
    STOPPED,
    killed_for_memory,
    read_ending,
    read_spec,
    replace_json,
    set_end,
    settle,
)
from workbench.runs.store.turning import take

GROWING_CAPACITY = 128
"""Minimum number of topics in the initial arrays of an engine that adds topics, so that they have few chunks."""
LEFT_AFTER = 24 * 3600
"""Seconds after its last change from which on an incomplete folder is abandoned and may be deleted."""
SNAPSHOT_BUDGET = 2 * 2**30
"""Bytes of counts, before compression, above which every other old snapshot is deleted."""


def create_run(
    store: Path,
    spec: RunSpec,
    train: Corpus,
    test: Corpus | None,
    budget: int = SNAPSHOT_BUDGET,
) -> Path:
    """Create the folder of a run atomically, unless it exists; return its path.

    A run of the same name and hash is reopened, with the number of iterations and stop rule of the spec. If people turned
    settings of that run, it is no longer what the spec gives, and the new run is NAME-2. Raises StoreError if another run has
    that name, or the store cannot be written or locked.
    budget : bytes of counts, before compression, above which every other old snapshot is deleted
    """
    path = _not_turned(Path(store) / spec.name)
    if not path.exists():
        spec = replace(spec, name=path.name)
        _make_run(path, spec, train, test, budget)
    if read_ending(path).spec.hash != spec.hash:
        raise StoreError(
            f"a run named '{spec.name}' with other settings exists in {store}; choose another name or remove it"
        )
    try:
        set_end(path, spec.n_iterations, spec.rule)
    except OSError as error:
        raise _unwritable(path.parent, error) from error
    return path


def _not_turned(path: Path) -> Path:
    """Return the first of the paths NAME, NAME-2, NAME-3, … at which no run has had settings changed while it ran."""
    free_path, number = path, 1
    while (free_path / INTERVENTIONS).exists():
        number += 1
        free_path = path.with_name(f"{path.name}-{number}")
    return free_path


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
        if getattr(train, "table", None) is not None:  # else it is there, if the run has one
            train.table.save(path.parent / CORPORA)
        if spec.warm_start is not None:
            put_warm_start(path.parent, spec.start["counts"], spec.warm_start)
        if isinstance(prior := spec.model.get("beta"), WordPrior):
            prior.save(path.parent / FOLDER)
        _make_arrays(partial, spec, train, budget)
        for name, values in {
            "control.json": {"wanted": RUNNING},
            "status.json": {"state": STOPPED},
            "end.json": {},
            "kernels.json": {},
        }.items():
            replace_json(partial / name, values)
        try:
            partial.rename(path)
        except OSError:
            if not path.exists():  # else another process has created the same run
                raise
    except OSError as error:
        raise _unwritable(path.parent, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove_leftovers(store: Path) -> None:
    """Delete incomplete folders and files left by processes that were killed while creating or deleting a run."""
    for folder in (store, store / CORPORA, store / WARM_STARTS, store / FOLDER):
        for leftover in folder.glob(".*.partial"):
            with contextlib.suppress(OSError):
                if time.time() - leftover.stat().st_mtime > LEFT_AFTER:
                    shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()


def _make_arrays(path: Path, spec: RunSpec, train: Corpus, budget: int) -> None:
    engine, model, _ = spec.parts()
    group, columns = zarr.create_group(str(path / DATA), zarr_format=3), recorded(spec)
    n_topics = columns.sizes.get("topic", 0)
    capacity = max(n_topics, GROWING_CAPACITY) if engine.grows else n_topics
    n_columns = columns.width(capacity)

    def array(
        name: str,
        shape: tuple[int, ...],
        chunks: tuple[int, ...],
        dtype: np.typing.DTypeLike,
        dims: tuple[str, ...],
        fill_value,
        compressors=ROWS,
    ) -> zarr.Array:
        return group.create_array(
            name,
            shape=shape,
            chunks=chunks,
            dtype=dtype,
            dimension_names=dims,
            fill_value=fill_value,
            compressors=compressors,
            config={"write_empty_chunks": True},
        )

    array(
        "numbers",
        (CAPACITY, n_columns),
        (ROWS_PER_CHUNK, n_columns),
        "float64",
        ("iteration", "column"),
        np.nan,
    )
    for name, shape in columns.shapes(model.dims(train) | {"topic": capacity}).items():
        variable = columns.variables[name]
        array(
            name,
            (CAPACITY, *shape),
            (1, *_chunk_of(shape)),
            variable.dtype,
            variable.dims,
            0,
            COUNTS,
        )
    array("snapshot_iteration", (CAPACITY,), (1024,), "int64", ("snapshot",), 0)
    array("committed", (3,), (3,), "int64", ("committed_of",), 0)[:] = 0, 0, n_topics
    describe_run(
        group,
        {
            "schema": SCHEMA,
            "arrays": {name: described(array) for name, array in group.arrays()},
            "spec": spec.to_json(),
            "columns": columns.names,
            "vectors": columns.vectors,
            "kept": columns.snapshot_names,
            "versions": versions(),
            "snapshots_kept": max(2, budget // max(snapshot_bytes(spec, train), 1)),
        }
        | (columns.described() if spec.module else {}),
    )


def _chunk_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the chunk shape for snapshots of this shape: a block of rows, or the whole snapshot if it is small."""
    if not shape:
        return shape
    n_rows, *others = shape
    return min(n_rows, rows_per_block(math.prod(others))), *others


def snapshot_bytes(spec: RunSpec, train: Corpus) -> int:
    """Return the bytes of one snapshot of a run, before compression."""
    return sum(array_bytes(spec, train))


def array_bytes(spec: RunSpec, train: Corpus) -> list[int]:
    """Return the bytes of each array of a snapshot, before compression."""
    columns = recorded(spec)
    shapes = columns.shapes(spec.parts()[1].dims(train))
    return [
        np.dtype(columns.variables[name].dtype).itemsize * math.prod(shape)
        for name, shape in shapes.items()
    ]


FLUSH_EVERY, FLUSH_WITHIN = 0.25, 1.0
CHECKPOINT_EVERY = 5.0
LOCK_PATIENCE = 2.0
"""Minimum and maximum seconds between two commits; seconds between two checkpoints; seconds to wait for the lock."""
MENDING = {
    errno.ENOSPC: "free space there",
    errno.EDQUOT: "free some of the quota there",
    errno.EROFS: "make it writable again",
    errno.EACCES: "make it writable again",
    errno.EIO: "see to the disk",
}
"""Error number of the system → advice on what to do before the run can be resumed."""
FLUSH_SHARE, CHECKPOINT_SHARE = 0.01, 0.05
"""Largest shares of a run's time for commits and for checkpoints; on a busy disk or with a large state they are rarer."""


class RunWriter:
    """The only writer of a run, and the sink of the loop; a context manager that holds the run's lock.

    Rows are buffered and flushed every 250 ms, or on a slow disk every second; the commit counter is written last. Rows that
    are recomputed after a resume are compared with the committed ones, bit for bit.

    Raises
    ------
    StoreError
        Another process writes the run, the store's file system has no locks, or a resumed run gives other numbers than before.
    """

    def __init__(self, path: Path, lock: Lock | None = None):
        self.path, self._lock = Path(path), lock
        self.committed: int | None = None

    def __enter__(self) -> RunWriter:
        self._lock = self._lock or lock_run(self.path)
        try:
            self._open()
        except BaseException as error:
            self._lock.release()
            if isinstance(error, OSError):
                raise self._explained(error) from error
            raise
        return self

    def __exit__(self, *exception) -> None:
        self._lock.release()

    def _check_there(self) -> None:
        """Raise StoreError if the run's folder was deleted, since Zarr would create it again."""
        if not self._lock.is_there():
            raise StoreError(
                f"run '{self.path.name}' was deleted while it was computed: {self.path} is gone; fit it again"
            )

    def failed(self, error: Exception) -> Exception:
        """Write buffered rows and the error's message, if possible; return the error to raise.

        An OSError becomes a StoreError that names the file, what is kept, and how to resume.
        """
        try:
            self.flush()
        except StoreError as deleted:
            return deleted
        except OSError:
            pass
        error = self._explained(error) if isinstance(error, OSError) else error
        with contextlib.suppress(OSError, StoreError):
            self.beat(
                FAILED,
                str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}",
            )
        return error

    def _explained(self, error: OSError) -> StoreError:
        committed = (
            "what it has committed is kept"
            if self.committed is None
            else f"it is kept up to iteration {self.committed}"
        )
        return StoreError(
            f"run '{self.path.name}' cannot be written: {error.strerror or error} ({error.filename or self.path}); "
            f"{committed}; {MENDING.get(error.errno, 'correct that')}, then resume it with: workbench resume {self.path}"
        )

    def _open(self) -> None:
        for leftover_path in [*self.path.rglob("*.partial")]:
            if leftover_path.is_dir():  # document arrays of a process that was killed
                shutil.rmtree(leftover_path, ignore_errors=True)
            else:
                leftover_path.unlink(missing_ok=True)
        stored = self._stored = Stored(self.path, "r+")
        self.spec = read_spec(self.path)
        self._recorded, self._snapshots_kept = stored.recorded, stored.attributes["snapshots_kept"]
        self._versions, self._has_provenance = stored.versions, False
        self._numbers, self._snapshot_iteration, self._counts = (
            stored.numbers,
            stored.snapshot_iteration,
            stored.counts,
        )
        committed = stored.committed()
        self.n_rows, self._n_snapshots, self._n_topics = committed
        self._filled = committed
        known_rows = stored.rows(committed)
        self._known_rows = np.pad(
            known_rows,
            [(0, 0), (0, self._numbers.shape[1] - known_rows.shape[1])],
            constant_values=np.nan,
        )
        first = self.n_rows // ROWS_PER_CHUNK * ROWS_PER_CHUNK
        self._chunk_start, self._chunk = (
            first,
            np.full((ROWS_PER_CHUNK, self._numbers.shape[1]), np.nan),
        )
        self._chunk[: self.n_rows - first] = self._known_rows[first:]
        self._iterations = stored.iterations(committed).tolist()
        self._start_time, self._start_iteration = time.monotonic(), None
        self._flush_due, self._checkpoint_due = (
            self._start_time + FLUSH_EVERY,
            self._start_time + CHECKPOINT_EVERY,
        )
        self.iteration = self.committed = int(self._known_rows[-1, 0]) if self.n_rows else 0
        names = self._recorded.names
        self._clocks = [1 + names.index(name) for name in ("elapsed", "cpu_time") if name in names]
        self._latest = (
            self._known_rows[-1, self._clocks] if self.n_rows else np.zeros(len(self._clocks))
        )

    # ------------------------------------------------------------------ the sink of the loop

    def record(self, row: Row) -> None:
        self._grow_to(row.n_topics)
        values = self._recorded.values(row, self._stored.capacity)
        if len(self._known_rows) and row.iteration <= self._known_rows[-1, 0]:
            self._compare(row.iteration, values)
            return
        if not self._has_provenance:
            record_provenance(
                self.path,
                self._versions,
                int(self._known_rows[-1, 0]) if len(self._known_rows) else 0,
            )
            self._has_provenance = True
        index = self.n_rows - self._chunk_start
        self._chunk[index] = values
        self._chunk[index, self._clocks] = self._latest = np.maximum(
            self._latest, values[self._clocks]
        )
        self.n_rows += 1
        if index + 1 == ROWS_PER_CHUNK or time.monotonic() >= self._flush_due:
            self.flush()

    def _grow_to(self, n_topics: int) -> None:
        """Enlarge arrays that cannot hold ``n_topics`` topics, by at least a half."""
        capacity = self._stored.capacity
        if n_topics > capacity:
            self._check_there()
            self._resize(max(n_topics, capacity + capacity // 2))
        self._n_topics = max(self._n_topics, n_topics)  # after the arrays have grown

    def _resize(self, capacity: int) -> None:
        for name, array in self._counts.items():
            dims = self._recorded.variables[name].dims
            array.resize(
                tuple(
                    capacity if dim == "topic" else n
                    for dim, n in zip(dims, array.shape, strict=True)
                )
            )
        # last, since the capacity is read from it
        self._numbers.resize((self._numbers.shape[0], self._recorded.width(capacity)))
        n_more = self._numbers.shape[1] - self._chunk.shape[1]
        self._chunk, self._known_rows = (
            np.pad(rows, [(0, 0), (0, n_more)]) for rows in (self._chunk, self._known_rows)
        )

    def _compare(self, iteration: int, values: np.ndarray) -> None:
        """Raise StoreError if a recomputed row differs from the committed row of that iteration in more than clocks."""
        known_row, clock_columns = (
            self._known_rows[self._known_rows[:, 0] == iteration],
            self._clocks,
        )
        # values that were never written are NaN in the store, and 0 in a row
        first_topic_column = self._recorded.width(0)
        known_row[:, first_topic_column:] = np.nan_to_num(
            known_row[:, first_topic_column:], nan=0.0
        )
        if len(known_row) and not np.array_equal(
            np.delete(known_row[0], clock_columns), np.delete(values, clock_columns), equal_nan=True
        ):
            raise StoreError(
                f"run '{self.path.name}' does not reproduce its iteration {iteration}: its kernels or its machine have "
                "changed; fit it again under another name"
            )

    def snapshot(self, iteration: int, counts: dict) -> None:
        # it is computed again after a resume, even if it was deleted since
        if iteration <= max(self._iterations, default=0):
            return
        self._check_there()
        for name, array in self._counts.items():
            blocks = counts[name]  # (first row, rows) of blocks, or all rows
            for first, rows in [(0, blocks)] if isinstance(blocks, np.ndarray) else blocks:
                array[
                    (
                        self._n_snapshots,
                        slice(first, first + len(rows)),
                        *map(slice, rows.shape[1:]),
                    )
                ] = rows
        self._iterations.append(iteration)
        (n_rows,) = self._snapshot_iteration.chunks
        first = self._n_snapshots // n_rows * n_rows
        self._snapshot_iteration[first : self._n_snapshots + 1] = self._iterations[first:]
        self._n_snapshots += 1
        self._thin()
        self.flush()

    def _thin(self) -> None:
        """Delete every other old snapshot once there are more than the budget allows."""
        slots = np.flatnonzero(self._iterations)
        n_topics_at_first = self._recorded.sizes.get("topic", 0)
        if len(slots) <= max(
            2, self._snapshots_kept * (n_topics_at_first or 1) // (self._n_topics or 1)
        ):
            return
        old_slots = slots[:-1][::2]
        for slot in old_slots:
            self._iterations[slot] = 0
        self._snapshot_iteration[: self._n_snapshots] = self._iterations
        for name in self._counts:
            for slot in old_slots:
                shutil.rmtree(self.path / DATA / name / "c" / str(slot), ignore_errors=True)

    def checkpoint(self, position: Position, now: bool = False) -> None:
        self.iteration = max(self.iteration, position.iteration)
        if self._start_iteration is None:
            self._start_time, self._start_iteration = time.monotonic(), position.iteration
        start = time.monotonic()
        if now or start >= self._checkpoint_due:
            self.flush()  # raises if the folder was deleted
            write_checkpoint(self.path / CHECKPOINT, position)
            end = time.monotonic()
            self._checkpoint_due = end + max(CHECKPOINT_EVERY, (end - start) / CHECKPOINT_SHARE)

    def trail(self, name: str, iteration: int) -> list[tuple[int, float]]:
        earlier_rows = self._known_rows[self._known_rows[:, 0] <= iteration]
        return [
            (int(row[0]), float(row[1 + self._recorded.names.index(name)])) for row in earlier_rows
        ]

    def settle(self, iteration: int) -> None:
        settle(self.path, iteration, self.spec.rule)
        self.spec = read_spec(self.path)

    def intervene(self, position: Position) -> RunSpec:
        """Record that the requested changes of settings take effect after a position; return the spec with the changes."""
        self._check_there()
        if position.rows is None:
            write_checkpoint(self.path / BEFORE, position)
        take(self.path, position.iteration + 1)
        self._flush_due = 0.0  # they wait for its first row
        self.spec = read_spec(self.path)
        return self.spec

    def flush(self) -> None:
        """Write the buffered rows, then the commit counter."""
        self._check_there()
        start, n_used = time.monotonic(), self.n_rows - self._chunk_start
        if n_used:
            self._numbers[self._chunk_start : self._chunk_start + ROWS_PER_CHUNK] = self._chunk
        committed = Committed(self.n_rows, self._n_snapshots, self._n_topics)
        if self._n_topics > self._filled.n_topics:
            self._stored.fill(committed, self._iterations, self._filled)
            self._filled = committed
        self._stored.counter[:] = committed
        self.committed = int(self._chunk[n_used - 1, 0]) if n_used else self.committed
        end = time.monotonic()
        self._flush_due = end + min(max(FLUSH_EVERY, (end - start) / FLUSH_SHARE), FLUSH_WITHIN)
        if n_used == ROWS_PER_CHUNK:
            self._chunk_start, self._chunk = self.n_rows, np.full_like(self._chunk, np.nan)

    # ------------------------------------------------------------------ the heartbeat

    def beat(self, state: str, message: str = "") -> None:
        """Write the run's heartbeat, the status file: state, iteration, time left and message."""
        if state == PAUSED:
            self._start_iteration = None  # a pause must not count in the speed
        self._check_there()
        replace_json(
            self.path / "status.json",
            {
                "state": state,
                "iteration": self.iteration,
                "time_left": self._time_left(state),
                "message": message,
                "time": time.time(),
                "pid": os.getpid(),
                KILLED_FOR_MEMORY: killed_for_memory(),
            },
        )

    def _time_left(self, state: str) -> float | None:
        n_done = self.iteration - (self._start_iteration or 0)
        if state != RUNNING or self._start_iteration is None or n_done <= 0:
            return None
        return (
            (time.monotonic() - self._start_time)
            / n_done
            * (self.spec.n_iterations - self.iteration)
        )


def lock_run(path: Path) -> Lock:
    """Acquire the lock of a run; raise StoreError if another process holds it, or there is no such run."""
    try:
        return Lock(path / "lock", LOCK_PATIENCE)
    except LockHeld:
        raise StoreError(
            f"run '{path.name}' is being written by another process; stop it there first"
        ) from None
    except FileNotFoundError as error:
        raise StoreError(
            f"there is no run {path}; `workbench runs` lists the runs of a store"
        ) from error
    except OSError as error:
        raise StoreError(
            f"run '{path.name}' cannot be locked: its file system may be read-only or full, or have no locks "
            f"({error.strerror}); choose a store on a local disk"
        ) from error


def remove_run(path: Path) -> None:
    """Delete a run, even if it is damaged; its corpus is kept for other runs.

    Raises
    ------
    StoreError
        A process is writing the run.
    """
    path = Path(path)
    with lock_run(path):
        hidden_path = partial_of(path)
        path.rename(hidden_path)
    shutil.rmtree(hidden_path, ignore_errors=True)
