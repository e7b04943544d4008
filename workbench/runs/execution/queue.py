"""Compute a queue of runs, a number of them at a time: ``python -m workbench.runs.execution.queue JOBS RUN…``.

A waiting worker would be an interpreter with all its imports; a queue of hundreds of runs is one process, which survives the
process that started it. A queued run has the state `waiting` and is controlled like any other: a stop removes it from the
queue, a pause lets other runs go first.
"""

import contextlib
import sys
import time
import uuid
from pathlib import Path

from workbench.runs.execution.run import ENDED
from workbench.runs.execution.worker import launch, spawn
from workbench.runs.store.layout import StoreError
from workbench.runs.store.lock import Lock, is_held
from workbench.runs.store.places import is_run
from workbench.runs.store.status import (
    LOST_AFTER,
    PAUSED,
    QUEUES,
    RUNNING,
    STOPPED,
    WAITING,
    read_json,
    read_status,
    request,
    requested,
    set_state,
)

LOOK_EVERY = 0.3
BEAT_EVERY = LOST_AFTER / 2
"""Seconds between two passes over the queue, and between two heartbeats of its runs."""


def enqueue(paths: list[Path], jobs: int) -> None:
    """Start the first ``jobs`` runs, and a process that starts the others in turn; return at once."""
    paths = [Path(path).resolve() for path in paths]
    for path in paths[:jobs]:
        launch(path)
    waiting = paths[jobs:]
    if not waiting:
        return
    with new_lock(paths[0].parent / QUEUES) as lock:
        set_waiting(waiting, lock.path)
        spawn("queue", jobs, *paths, log=waiting[0] / "worker.log", lock=lock)


def set_waiting(paths: list[Path], lock: Path) -> None:
    """Record in each run's folder that it waits in the queue with this lock."""
    for path in paths:
        request(path, RUNNING)
        set_state(path, WAITING, queue=lock.name, message="")


def new_lock(folder: Path) -> Lock:
    """Create and return the lock of a new queue; delete the locks of queues that have ended."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if is_held(path) is False:
            path.unlink(missing_ok=True)
    return Lock(folder / uuid.uuid4().hex)


def run_queue(at_work: list[Path], waiting: list[Path], jobs: int) -> None:
    """Start waiting runs in order, with at most ``jobs`` active at a time; return when none is waiting."""
    beaten = 0.0
    while waiting := [path for path in waiting if is_queued(path)]:
        at_work = [
            path for path in at_work if is_run(path) and read_status(path)["state"] not in ENDED
        ]
        ready = [path for path in waiting if requested(path) != PAUSED]
        for path in ready[: max(0, jobs - len(at_work))]:
            with contextlib.suppress(StoreError):  # removed or started elsewhere just now
                launch(path)
            waiting.remove(path)
            at_work.append(path)
        if time.monotonic() - beaten > BEAT_EVERY:
            beaten = time.monotonic()
            for path in waiting:
                set_state(path, PAUSED if requested(path) == PAUSED else WAITING)
        time.sleep(LOOK_EVERY)


def is_queued(path: Path) -> bool:
    """Update the state of a waiting run as requested; return whether it still waits in the queue."""
    state = read_json(path / "status.json", {}).get("state") if is_run(path) else None
    if state not in (WAITING, PAUSED):
        return False
    request = requested(path)
    request = request if request in (STOPPED, PAUSED) else WAITING
    if state != request:
        set_state(path, request)
    return request != STOPPED


def main() -> int:
    jobs, paths = int(sys.argv[1]), [Path(path) for path in sys.argv[2:]]
    run_queue(paths[:jobs], paths[jobs:], jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
