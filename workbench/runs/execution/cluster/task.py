"""What a worker of a cluster does with a run: it has a child process compute it, which ends when the worker does."""

from __future__ import annotations

import contextlib
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.execution.cluster.connecting import About, ClusterError, about_process, checked
from workbench.runs.execution.cluster.shared_store import ADVICE, sees_lock
from workbench.runs.execution.run import ENDED
from workbench.runs.execution.worker import ATTACHED, start_process
from workbench.runs.store.lock import Lock, LockHeld
from workbench.runs.store.places import is_run
from workbench.runs.store.provenance import machine
from workbench.runs.store.status import (
    FINISHED,
    LOST,
    PAUSED,
    STOPPED,
    read_json,
    read_status,
    requested,
    set_state,
)

if TYPE_CHECKING:
    from distributed import Worker

ELSEWHERE, REMOVED = "elsewhere", "removed"
"""What comes of a run beside its states: another process works on it; there is no such run any more."""
LOOK_EVERY = 0.2
"""Seconds between two looks at whether the child has ended, or its worker is about to."""
LIVES = 4.0
"""Seconds by which a heartbeat goes on where a process works on a run, and not one that was about to end."""
SILENT_WITHIN = 120.0
"""Seconds for which the lock of a machine that is gone may last: a server of NFS gives it back after some 90."""
WORKER_LIVES = ("running", "paused", "init")
"""States of a worker of Dask, as it calls them, in which it is not about to end."""


class ChildLost(RuntimeError):
    """The process of a run ended without an error message; Dask tries the task again, on any worker."""


def compute(path: str, client_has: About, queue: str) -> str:
    """Takes a run to its end in a process of its own; returns its state, or why nothing was done.

    client_has : what the client computes with; queue: the lock of its queue, held by it, by which a worker is seen to share the
    store.
    Raises ClusterError where this worker cannot compute it, ChildLost where the process was killed: Dask then tries again. A
    worker that is about to end gives the run back.
    """
    from distributed import Reschedule, get_worker

    worker, path = get_worker(), Path(path)
    checked(about_process(), worker.address, client_has)
    if not sees_lock(queue):
        raise ClusterError(
            f"worker {worker.address} on {machine()} does not see the lock of this sweep in the store {path.parent}; "
            f"{ADVICE}, then start the same command again"
        )
    if not is_run(path):
        return REMOVED
    lock = _lock_of(path)
    if lock is None:
        return ELSEWHERE
    with lock:
        status = read_status(path)
        if status["state"] == FINISHED:
            return FINISHED
        if requested(path) in (PAUSED, STOPPED):
            set_state(path, requested(path))
            return requested(path)
        state = _outcome_of_child(path, lock, worker)
    if state == LOST and worker.status.name not in WORKER_LIVES:
        raise Reschedule
    if state == LOST:
        raise ChildLost(f"its process on {machine()} ended without an error message")
    return state


def _outcome_of_child(path: Path, lock: Lock, worker: Worker) -> str:
    """Return the state of a run after a child process, which gets the lock, has computed it; the child ends with the worker."""
    child = start_process(
        "worker", path, lock.fd, ATTACHED, log=path / "worker.log", lock=lock, stdin=subprocess.PIPE
    )
    with _ended_at_last(child):
        while child.poll() is None and worker.status.name in WORKER_LIVES:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(LOOK_EVERY)
    return read_status(path)["state"] if is_run(path) else REMOVED


@contextlib.contextmanager
def _ended_at_last(child: subprocess.Popen):
    """Closes the pipe of the child at the end of the block, at which it ends if it has not yet."""
    try:
        yield
    finally:
        child.stdin.close()
        child.wait()


def _lock_of(path: Path) -> Lock | None:
    """The lock of a run, as soon as a process that was about to end has ended; None where one goes on with the run."""
    began, until = _beat(path), time.monotonic() + SILENT_WITHIN
    while True:
        try:
            return Lock(path / "lock", LOOK_EVERY)
        except LockHeld:
            if _beat(path) > began + LIVES or read_status(path)["state"] in ENDED:
                return None
            if time.monotonic() > until:
                said = f"run '{path.name}' is locked by a machine that has been silent for {SILENT_WITHIN:.0f} s; see to it"
                raise ClusterError(said) from None


def _beat(path: Path) -> float:
    """The time of the last heartbeat of a run."""
    return read_json(path / "status.json", {}).get("time", 0.0)
