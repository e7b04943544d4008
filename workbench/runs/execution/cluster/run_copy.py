"""What a worker that does not share the store does with a run: it computes a copy, of which the client asks what is new.

The copy is a folder of the worker, in a store of its own: ``LOCAL_DIRECTORY/workbench-QUEUE/TOKEN/RUN``. The corpora lie beside
the tokens, once for all runs of a queue. All of it is removed when the client has no more runs, or is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.corpus.shard_writer import link
from workbench.runs.execution.cluster.connecting import About, about_process, checked
from workbench.runs.execution.cluster.file_pieces import Piece, own_files, pieces_of, put, some
from workbench.runs.execution.cluster.task import (
    ELSEWHERE,
    WORKER_LIVES,
    not_lost,
    outcome_of_child,
)
from workbench.runs.store.archive import CORPORA, WARM_STARTS
from workbench.runs.store.checkpoint import PARTS, parts_folder, read_iteration
from workbench.runs.store.layout import StoreError
from workbench.runs.store.lock import Lock
from workbench.runs.store.places import DATA
from workbench.runs.store.provenance import machine
from workbench.runs.store.status import PAUSED, read_json, requested, set_wanted

LOOK_EVERY = 0.05
"""Seconds between two looks at what the client wants of a copy."""
CHECKPOINT_BYTES = 2**20
"""Bytes a second that the checkpoints of a run may take of the network; those of its end, a pause or a stop come besides."""
SCANNING_SHARE = 0.1
"""Of the time that looking for files that changed may take."""
COLLECTED, GONE = "collected", "gone"
"""What the client tells a copy: that it has all of its files; that it has no more runs."""
CHECKPOINT, STATUS = "checkpoint.npz", "status.json"
COMMITTED, CAPACITY = f"{DATA}/committed/", f"{DATA}/numbers/zarr.json"


class Report(NamedTuple):
    """What a worker answers of a copy when the client asks what is new."""

    run: str
    token: str  # of the copy
    # names of the corpora that the worker has; asked while files are awaited
    data: frozenset[str]
    pieces: list[Piece]  # of files that changed, in the order in which they are to be written
    is_all: bool  # has its process ended, and all that it wrote been sent?


COPIES: dict[str, Copy] = {}
"""The copies of the workers of this process, by their tokens."""


class Copy:
    """A copy of a run on a worker, there as long as the context lasts."""

    def __init__(self, run: str, queue: str, worker):
        self.run, self.queue, self.worker, self.token = run, queue, worker, secrets.token_hex(8)
        self.home = Path(worker.local_directory) / f"workbench-{queue}"
        self.store = self.home / self.token
        self.path = self.store / run
        self.verdict: str | Exception | None = None
        self.is_here = self.has_ended = False
        self._changes = self.store / ".changes"
        self._pieces: Iterator[Piece] = iter(())
        self._known: dict[str, tuple] = {}
        self._n_links, self._scan_due, self._checkpoint_due = 0, 0.0, 0.0
        self._lock = threading.Lock()

    def __enter__(self) -> Copy:
        with self._telling_errors():
            self._changes.mkdir(parents=True)
            for name in (CORPORA, WARM_STARTS):
                (self.home / name).mkdir(exist_ok=True)
                (self.store / name).symlink_to(self.home / name)
        COPIES[self.token] = self
        return self

    def __exit__(self, *exception) -> None:
        with self._lock:
            del COPIES[self.token]
            shutil.rmtree(self.store, ignore_errors=True)
        if self.verdict in (None, GONE) and not copies_of(self.queue, self.worker):
            shutil.rmtree(self.home, ignore_errors=True)

    @contextlib.contextmanager
    def _telling_errors(self) -> Iterator[None]:
        """Within it, an error of the system ends the copy, with a sentence."""
        try:
            yield
        except OSError as error:
            said = f"a copy of run '{self.run}' on {machine()} cannot be written: {error.strerror or error}"
            self.verdict = StoreError(
                f"{said} ({error.filename or self.store}); see to the disk there"
            )

    def begin(self, pieces: list[Piece], is_all: bool) -> None:
        """Writes what came of the files of the run; with the last they are all here."""
        with self._lock, self._telling_errors():
            for piece in pieces:
                put(self.store, piece)
            if is_all:
                self._known = {name: _stamp(path) for name, path in own_files(self.path)}
                self.is_here = True

    def report(self, wanted: str | None, n_bytes: int) -> Report:
        """What is new, after the state that is wanted of the run has been passed on."""
        with self._lock:
            pieces, is_all = [], False
            with self._telling_errors():
                if self.is_here:
                    if wanted is not None and requested(self.path) != wanted:
                        set_wanted(self.path, wanted)
                    pieces, is_all = self._news(n_bytes)
            data = (
                frozenset()
                if self.is_here
                else frozenset(
                    f"{name}/{file}"
                    for name in (CORPORA, WARM_STARTS)
                    for file, _ in own_files(self.home / name)
                )
            )
            return Report(self.run, self.token, data, pieces, is_all)

    def _news(self, n_bytes: int) -> tuple[list[Piece], bool]:
        """The next pieces of what changed, and whether there will be no more."""
        if pieces := some(self._pieces, n_bytes):
            return pieces, False
        has_ended, began = self.has_ended, time.monotonic()
        if began < self._scan_due and not has_ended:
            return [], False
        self._pieces = pieces_of(self._changed())
        self._scan_due = time.monotonic() + (time.monotonic() - began) / SCANNING_SHARE
        pieces = some(self._pieces, n_bytes)
        return pieces, has_ended and not pieces

    def _changed(self) -> list[tuple[str, Path]]:
        """Links to the files that have changed, in the order in which they are to be written.

        They are made in the reverse order: the commit counter before what it counts, so that what it counts is among the links,
        or newer; likewise the checkpoint before the commit counter, and the status before all. A checkpoint comes less often.
        """
        shutil.rmtree(self._changes)
        self._changes.mkdir()
        links: dict[str, Path] = {}
        self._link(STATUS, links)
        checkpoint = self.path / CHECKPOINT
        paused = read_json(self.path / STATUS, {}).get("state") == PAUSED
        if self.has_ended or paused or time.monotonic() >= self._checkpoint_due:
            self._link_checkpoint(checkpoint, links)
        self._link_all(COMMITTED, links)
        self._link(CAPACITY, links)  # says how many topics the other arrays can hold
        self._link_all("", links, but_for=(STATUS, CHECKPOINT, PARTS, COMMITTED, CAPACITY))
        return [*links.items()][::-1]

    def _link_checkpoint(self, checkpoint: Path, links: dict[str, Path]) -> None:
        """A link to the checkpoint if it has changed, and to its rows of documents where they are in files beside it."""
        if not self._link(CHECKPOINT, links):
            return
        rows = parts_folder(checkpoint, read_iteration(links[CHECKPOINT]) or 0)
        self._link_all(f"{rows.name}/", links)
        names = [name for name in links if name == CHECKPOINT or name.startswith(f"{rows.name}/")]
        n_bytes = sum(links[name].stat().st_size for name in names)
        self._checkpoint_due = time.monotonic() + n_bytes / CHECKPOINT_BYTES
        # there is another by now, which deletes these rows: that one is next
        if _stamp(checkpoint) != self._known[CHECKPOINT]:
            self._checkpoint_due = 0.0
            for name in names:
                del links[name], self._known[name]

    def _link_all(self, folder: str, links: dict[str, Path], but_for: tuple[str, ...] = ()) -> None:
        """Links to all files of a folder that changed, but for those whose names begin so."""
        for name, _ in own_files(self.path / folder):
            if not name.startswith(but_for):
                self._link(f"{folder}{name}", links)

    def _link(self, name: str, links: dict[str, Path]) -> bool:
        """A link to a file if it has changed since it was linked before, and it is still there; is there one?"""
        path, to = self.path / name, self._changes / str(self._n_links)
        try:
            stamp = _stamp(path)
            if name in links or stamp == self._known.get(name):
                return False
            link(path, to)
        except FileNotFoundError:
            return False
        self._n_links += 1
        self._known[name], links[name] = stamp, to
        return True


def _stamp(path: Path) -> tuple:
    """What changes when a file is replaced, or appended to."""
    known = os.stat(path)
    return known.st_ino, known.st_mtime_ns, known.st_size


def copies_of(queue: str, worker) -> list[Copy]:
    """The copies that a worker has of the runs of a queue."""
    return [copy for copy in [*COPIES.values()] if copy.queue == queue and copy.worker is worker]


def compute_copy(run: str, client_has: About, queue: str) -> str:
    """The task: takes a copy of a run to its end in a process of its own; returns its state, or what the client says of it.

    client_has : what the client computes with; queue: the name of its queue.
    Raises ClusterError where this worker cannot compute it, StoreError where a file cannot be written on either side, ChildLost
    where the process was killed: Dask then tries again. A worker that is about to end gives the run back.
    """
    from distributed import Reschedule, get_worker

    worker = get_worker()
    checked(about_process(), worker.address, client_has)
    logging.getLogger("distributed.worker").addFilter(_is_no_question)
    state, wanted_by_client = None, _asked_for(worker)
    with Copy(run, queue, worker) as copy:

        def goes_on() -> bool:
            return (
                copy.verdict is None and worker.status.name in WORKER_LIVES and wanted_by_client()
            )

        while goes_on() and not copy.is_here:
            time.sleep(LOOK_EVERY)
        if goes_on():
            state = outcome_of_child(copy.path, Lock(copy.path / "lock"), goes_on)
            copy.has_ended = True
        while goes_on():
            time.sleep(LOOK_EVERY)
    if isinstance(copy.verdict, Exception):
        raise copy.verdict
    if copy.verdict == COLLECTED:
        return not_lost(state)
    if worker.status.name not in WORKER_LIVES:
        raise Reschedule
    return copy.verdict or ELSEWHERE


def _asked_for(worker) -> Callable[[], bool]:
    """Says whether the result of the task of this thread is still wanted: not when it was cancelled, or its client is gone."""
    key = worker.get_current_task()

    def is_asked_for() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing"

    return is_asked_for


def _is_no_question(record: logging.LogRecord) -> bool:
    """Is a line of the worker's log not that the client asks what is new, as it does several times a second?"""
    return record.args not in (("collect",), ("deliver",))


async def collect(
    queue: str, wanted: dict, verdicts: dict, n_bytes: int, dask_worker=None
) -> list[Report]:
    """Called on a worker: what is new of its copies of the runs of a queue, of all together up to some bytes.

    wanted, verdicts : by token the state that is wanted of a run, and that its copy is to end, and why.
    """
    return await asyncio.to_thread(
        _collect, copies_of(queue, dask_worker), wanted, verdicts, n_bytes
    )


def _collect(copies: list[Copy], wanted: dict, verdicts: dict, n_bytes: int) -> list[Report]:
    for copy in copies:
        copy.verdict = copy.verdict or verdicts.get(copy.token)
    left = [copy for copy in copies if copy.verdict is None]
    return [copy.report(wanted.get(copy.token), max(1, n_bytes // len(left))) for copy in left]


async def deliver(token: str, pieces: list[Piece], is_all: bool, dask_worker=None) -> None:
    """Called on a worker: pieces of the files of a run, which its copy begins with."""
    if token in COPIES:
        await asyncio.to_thread(COPIES[token].begin, pieces, is_all)


def forget(queue: str, dask_worker=None) -> None:
    """Called on a worker: the client has no more runs; nothing of them is left."""
    copies = copies_of(queue, dask_worker)
    for copy in copies:
        copy.verdict = copy.verdict or GONE
    if not copies:
        shutil.rmtree(Path(dask_worker.local_directory) / f"workbench-{queue}", ignore_errors=True)
