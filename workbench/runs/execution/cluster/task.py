"""The task that computes a run on a worker of a cluster, in a child process that ends with the worker."""

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
"""Results of a task beside the states of a run: another process computes the run; the run was removed."""
LOOK_EVERY = 0.2
"""Seconds between two looks at whether the child has ended, or its worker is closing."""
LIVES = 4.0
"""Seconds by which a heartbeat advances where a process computes the run, rather than one that was closing."""
SILENT_WITHIN = 120.0
"""Seconds for which the lock of a lost machine may last: a server of NFS releases it after some 90."""
WORKER_LIVES = ("running", "paused", "init")
"""States of a worker of Dask, by its names, in which it is not closing."""


class ChildLost(RuntimeError):
    """The process of a run ended without an error message; Dask tries the task again, on any worker."""


def compute(path: str, client_has: About, queue: str) -> str:
    """Compute a run to its end in a child process; return its state, or why nothing was done.

    client_has : what the client computes with.
    queue : the lock of its queue, which the client holds; a worker that shares the store sees it as held.
    Raises ClusterError where this worker cannot compute the run, ChildLost where the process was killed: Dask then retries. A
    worker that is closing reschedules the run.
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
    """Close the pipe of the child at the end of the block, which ends it, and wait for it."""
    try:
        yield
    finally:
        child.stdin.close()
        child.wait()


def _lock_of(path: Path) -> Lock | None:
    """Acquire the lock of a run, once a process that was closing has ended; None where one keeps computing the run."""
    began, until = _beat(path), time.monotonic() + SILENT_WITHIN
    while True:
        try:
            return Lock(path / "lock", LOOK_EVERY)
        except LockHeld:
            if _beat(path) > began + LIVES or read_status(path)["state"] in ENDED:
                return None
            if time.monotonic() > until:
                problem = f"run '{path.name}' is locked by a machine that has been silent for {SILENT_WITHIN:.0f} s; see to it"
                raise ClusterError(problem) from None


def _beat(path: Path) -> float:
    """Return the time of the last heartbeat of a run."""
    return read_json(path / "status.json", {}).get("time", 0.0)
