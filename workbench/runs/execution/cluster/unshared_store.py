"""Runs whose store the workers of a cluster do not share: what they compute comes to the client, which alone writes its store.

Each run is a copy on a worker (see `workbench.runs.execution.cluster.run_copy`). The client has the lock of the run meanwhile,
asks all workers through the scheduler what is new, several times a second, and writes it file by file in the order in which a
run is written; so all that is said of a store, and of a writer that is killed, holds. A copy begins with the files that the
client has: a run goes on elsewhere from the last checkpoint that came. Files go in pieces, so that nobody has much of them in
memory.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import InputError
from workbench.runs.execution.cluster.file_pieces import Piece, own_files, pieces_of, put, some
from workbench.runs.execution.cluster.run_copy import (
    CHECKPOINT,
    COLLECTED,
    STATUS,
    Report,
    collect,
    deliver,
    forget,
)
from workbench.runs.execution.cluster.task import ELSEWHERE, REMOVED
from workbench.runs.execution.run import Run
from workbench.runs.stopping import StopRule
from workbench.runs.store.archive import data_files
from workbench.runs.store.checkpoint import read_iteration, remove_other_parts
from workbench.runs.store.committed import Stored
from workbench.runs.store.layout import StoreError
from workbench.runs.store.lock import Lock, LockHeld
from workbench.runs.store.places import DATA, is_run
from workbench.runs.store.status import (
    ALIVE,
    FINISHED,
    KILLED_FOR_MEMORY,
    PAUSED,
    RUNNING,
    STOPPED,
    WAITING,
    killed_for_memory,
    read_json,
    read_status,
    replace_json,
    requested,
    set_state,
    settle,
)

if TYPE_CHECKING:
    from distributed import Client

ASK_EVERY = 0.25
"""Seconds between two questions what is new, where nothing waits for the next."""
AT_A_TIME = 2**25
"""Bytes that come with one answer, of all workers together."""
PATIENCE = 0.2
"""Seconds to wait for the lock of a run, for which others may just be asking."""
READ = ("numbers", "committed", "snapshot_iteration")
"""Arrays of a run that are read where it goes on; its counts are not."""


class Given(NamedTuple):
    """A run of which a worker has a copy."""

    run: Run
    token: str  # of the copy
    lock: Lock  # of the run


class Transfers:
    """The runs of a queue between the store and the workers, until it is closed."""

    def __init__(self, client: Client, queue: Lock):
        self._client, self._queue, self._due, self._n_workers = client, queue.path.name, 0.0, 1
        self._given: dict[str, Given] = {}
        self._seen: set[str] = set()
        self._sending: dict[str, tuple[Given, Iterator[Piece]]] = {}
        self._wanted: dict[str, str] = {}
        self._verdicts: dict[str, str | Exception] = {}

    def close(self) -> None:
        """Takes all runs back, and has the workers delete what they have of them."""
        for name in [*self._given]:
            self._release(name)
        if self._client.status == "running":
            with contextlib.suppress(OSError):
                self._client.run(forget, self._queue, on_error="ignore")

    def exchange(self, runs: Iterable[Run]) -> None:
        """Asks the workers what is new of the runs that have a task, writes it, and sends runs to copies that wait for them.

        Returns at once where it is too early for that, or the scheduler is gone.
        """
        if self._client.status != "running" or time.monotonic() < self._due:
            return
        named, n_bytes = {run.name: run for run in runs}, max(1, AT_A_TIME // self._n_workers)
        try:
            answers = self._client.run(
                collect, self._queue, self._wanted, self._verdicts, n_bytes, on_error="ignore"
            )
        except OSError:  # seen by whoever looks at the client
            return
        self._wanted, self._verdicts, self._n_workers = {}, {}, max(1, len(answers))
        reports = [(report, address) for address, found in answers.items() for report in found]
        for report, address in reports:
            self._take(named.get(report.run), report, address)
        there = {report.token for report, _ in reports}
        for name in [
            name
            for name, given in self._given.items()
            if name not in named or given.token not in there
        ]:
            self._release(name)
        for address in [*self._sending]:
            self._send(address, n_bytes)
        waited_for = self._sending or self._verdicts
        self._due = time.monotonic() + (0.0 if waited_for else ASK_EVERY)

    def _take(self, run: Run | None, report: Report, address: str) -> None:
        """Writes what is new of a copy, and decides what it is told next."""
        given, token = self._given.get(report.run), report.token
        is_given = given is not None and given.token == token
        # a later copy has taken its place
        if run is None or (token in self._seen and not is_given):
            self._verdicts[token] = ELSEWHERE
        elif not is_given:
            if address not in self._sending:  # which has what the next one needs too
                self._begin(run, report, address)
        elif not given.lock.is_there():
            self._verdicts[token] = REMOVED
            self._release(run.name)
        else:
            self._wanted[token] = requested(run.path) or RUNNING
            try:
                for piece in report.pieces:
                    _write(run, piece)
            except OSError as error:
                self._refuse(given, "written", error)
            if report.is_all:
                self._verdicts.setdefault(token, COLLECTED)
                self._release(run.name)

    def _begin(self, run: Run, report: Report, address: str) -> None:
        """Gives a run to a copy that waits for it, unless it is finished, paused, stopped, removed, or somebody else's."""
        self._release(run.name)
        self._seen.add(report.token)
        try:
            if not is_run(run.path):
                self._verdicts[report.token] = REMOVED
                return
            lock = Lock(run.path / "lock", PATIENCE)
        except LockHeld:
            self._verdicts[report.token] = ELSEWHERE
            return
        given = self._given[run.name] = Given(run, report.token, lock)
        wanted = requested(run.path)
        try:
            if read_status(run.path)["state"] == FINISHED:
                self._verdicts[report.token] = FINISHED
            elif wanted in (PAUSED, STOPPED):
                set_state(run.path, wanted)
                self._verdicts[report.token] = wanted
            else:
                self._sending[address] = given, pieces_of(_files(run, report.data))
        except InputError as error:
            self._verdicts[report.token] = error
        if report.token in self._verdicts:
            self._release(run.name)

    def _send(self, address: str, n_bytes: int) -> None:
        """Sends the next pieces of the files that a worker waits for; after the last, that these were all."""
        given, left = self._sending[address]
        try:
            pieces = some(left, n_bytes)
        except OSError as error:
            self._refuse(given, "read", error)
            return
        sent = {}
        with contextlib.suppress(OSError):
            sent = self._client.run(
                deliver, given.token, pieces, not pieces, workers=[address], on_error="ignore"
            )
        if not sent:  # the worker is gone
            self._release(given.run.name)
        elif not pieces:
            del self._sending[address]

    def _refuse(self, given: Given, what: str, error: OSError) -> None:
        """Ends a copy whose run cannot be read or written here."""
        why = f"{error.strerror or error} ({error.filename or given.run.path})"
        self._verdicts[given.token] = StoreError(
            f"run '{given.run.name}' cannot be {what}: {why}; what it has committed is kept; mend that, then ask again"
        )
        self._release(given.run.name)

    def _release(self, name: str) -> None:
        """Takes a run back from its copy; where it has not ended, it waits in the queue again."""
        given = self._given.pop(name, None)
        if given is None:
            return
        for address in [address for address, (known, _) in self._sending.items() if known is given]:
            del self._sending[address]
        path = given.run.path
        with contextlib.suppress(OSError):
            if read_json(path / STATUS, {}).get("state") in ALIVE:
                set_state(
                    path,
                    PAUSED if requested(path) == PAUSED else WAITING,
                    queue=self._queue,
                    time_left=None,
                )
        given.lock.release()


def _files(run: Run, known: frozenset[str]) -> Iterator[tuple[str, object]]:
    """The files that computing a run needs, by their names in a store, but for the data that are known there."""
    store = run.path.parent
    for name in data_files(store, run.spec):
        if name not in known:
            yield name, store / name
    for name, path in own_files(run.path):
        folder, array, *inside = [*name.split("/"), "", ""][:3]
        if name != "worker.log" and not (folder == DATA and inside == ["c"] and array not in READ):
            yield f"{run.name}/{name}", path


def _write(run: Run, piece: Piece) -> None:
    """Writes a piece of a file that came from a copy; with a checkpoint what was deleted there is deleted here."""
    if piece.name in (STATUS, "end.json"):
        said = json.loads(piece.data)
        said.pop("checksum", None)
        if piece.name == STATUS:  # by the clock of this machine, and with what its system counts
            replace_json(
                run.path / STATUS,
                said | {"time": time.time(), KILLED_FOR_MEMORY: killed_for_memory()},
            )
        elif said.get("settled"):  # its end may have been moved here
            settle(run.path, said["settled"], StopRule(*said["rule"]))
        return
    put(run.path, piece)
    if piece.is_last and piece.name == CHECKPOINT:
        remove_other_parts(run.path / CHECKPOINT, read_iteration(run.path / CHECKPOINT) or 0)
        Stored(run.path).remove_thinned()
