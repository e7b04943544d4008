"""Compute many runs in parallel on the workers of a cluster, one task for each run.

A run that waits for a worker has the state `waiting`, with a heartbeat and the lock of a queue, which the submitting process
holds (see `workbench.runs.execution.queue`). Pause and stop are requested through the files of the run.
"""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import InputError, Named
from workbench.runs.execution.cluster.connecting import (
    WORKERS_WITHIN,
    About,
    ClusterError,
    about_process,
    check_workers,
    checked,
    client_of,
)
from workbench.runs.execution.cluster.shared_store import ADVICE, check_shared
from workbench.runs.execution.control import ending_cleanly
from workbench.runs.execution.queue import BEAT_EVERY, is_queued, new_lock, set_waiting
from workbench.runs.execution.run import ENDED, Run, warn_of_other_kernels
from workbench.runs.execution.worker import ATTACHED, start_process
from workbench.runs.loop import Control
from workbench.runs.store.layout import StoreError
from workbench.runs.store.lock import Lock, LockHeld, is_held
from workbench.runs.store.places import is_run
from workbench.runs.store.provenance import machine
from workbench.runs.store.status import (
    FAILED,
    FINISHED,
    LOST,
    PAUSED,
    QUEUES,
    RUNNING,
    STOPPED,
    read_json,
    read_status,
    requested,
    set_state,
)

if TYPE_CHECKING:
    from distributed import Client, Future, Worker


ELSEWHERE, REMOVED = "elsewhere", "removed"
"""Results of a task other than a state of the run: another process computes the run; the run was removed."""
LOOK_AT_CHILD_EVERY = 0.2
"""Seconds between two checks whether the child process has ended or its worker is closing."""
LIVES = 4.0
"""If the heartbeat advances by more than these seconds, a process computes the run; otherwise it may be closing."""
SILENT_WITHIN = 120.0
"""Seconds to wait for the lock of a lost machine; an NFS server releases it after about 90."""
WORKER_LIVES = ("running", "paused", "init")
"""Names of the states of a Dask worker in which it is not closing."""


class ChildLost(RuntimeError):
    """Raised if the process of a run ended without an error message; Dask then retries the task, on any worker."""


def compute(path: str, client_has: About, queue: str) -> str:
    """Compute a run to its end in a child process on this worker; return the run's state, `ELSEWHERE` or `REMOVED`.

    client_has : software of the client
    queue : path of the lock of the queue, which the client holds; a worker that shares the store sees it as held

    Raises ClusterError if this worker cannot compute the run, and ChildLost if the process was killed; Dask then retries. A
    worker that is closing reschedules the run.
    """
    from distributed import Reschedule, get_worker

    worker, path = get_worker(), Path(path)
    checked(about_process(), worker.address, client_has)
    if not is_held(Path(queue)):
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
    """Compute a run in a child process, which inherits the lock and ends with this worker; return the run's state."""
    child = start_process(
        "worker", path, lock.fd, ATTACHED, log=path / "worker.log", lock=lock, stdin=subprocess.PIPE
    )
    try:
        while child.poll() is None and worker.status.name in WORKER_LIVES:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(LOOK_AT_CHILD_EVERY)
    finally:
        child.stdin.close()  # so it ends
        child.wait()
    return read_status(path)["state"] if is_run(path) else REMOVED


def _lock_of(path: Path) -> Lock | None:
    """Acquire a run's lock, waiting for a holder that is ending; return None if another process computes the run."""
    first_beat, deadline = _beat(path), time.monotonic() + SILENT_WITHIN
    while True:
        try:
            return Lock(path / "lock", LOOK_AT_CHILD_EVERY)
        except LockHeld:
            state = read_status(path)["state"]
            # of an interrupted run the lock is free by now
            if _beat(path) > first_beat + LIVES or (state in ENDED and state != LOST):
                return None
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"run '{path.name}' is locked by a machine that has been silent for {SILENT_WITHIN:.0f} s; see to it"
                ) from None


def _beat(path: Path) -> float:
    """Return the Unix time (seconds) at which a run's status file was last written; 0 without one."""
    return read_json(path / "status.json", {}).get("time", 0.0)


RETRIES = 2
"""How often a run is retried if its process was killed, but not its worker."""
LOOK_EVERY, LOOKING_SHARE = 0.1, 0.1
"""Minimum seconds between two checks of the runs, and the largest share of the time for these checks."""
ENDING = 30.0
"""Seconds that runs are given to stop."""
DISCONNECTED = "scheduler-connection-lost"
"""Dask's reason for cancelling tasks when the scheduler is gone."""
GONE = (
    "the scheduler is gone; what its runs had committed is kept: "
    "start it again with its workers, and repeat the command to resume"
)


def work_through_on(
    client: Client, runs: list[Run], on_progress: Callable[[list[Run]], None]
) -> None:
    """Compute runs to their ends on the workers of a cluster; if one fails, the others continue.

    If another process computes a run, the run is submitted only when that process ends without finishing it. ``on_progress`` is
    called up to ten times a second with the unfinished runs, and with all runs at the end. Ctrl-C (or SIGTERM) stops the
    submitted runs cleanly, and is raised when they have stopped.

    Raises
    ------
    ClusterError
        The scheduler is gone; committed results of the runs are kept.
    """
    unfinished = [run for run in runs if run.state != FINISHED]
    if unfinished:
        with (
            new_lock(unfinished[0].path.resolve().parent / QUEUES) as lock,
            ending_cleanly(control := Control()),
        ):
            queue = _Queue(unfinished, client, lock)
            while queue.left() and not control.stopping():
                start = time.monotonic()
                queue.look()
                on_progress(queue.left())
                time.sleep(max(LOOK_EVERY, (time.monotonic() - start) / LOOKING_SHARE))
            if control.stopping():
                queue.stop()
        control.raise_stop()
    on_progress(runs)


class _Queue:
    """A queue of unfinished runs: runs with a Dask task, runs computed by other processes, and paused runs."""

    def __init__(self, runs: list[Run], client: Client, lock: Lock):
        self._client, self._lock, self._software = client, lock, about_process()
        self._tasks: dict[Run, Future] = {}
        self._n_submitted = 0
        self._paused_runs: set[Run] = set()
        self._external_runs = {run for run in runs if run.state not in ENDED}
        self._beat_time = time.monotonic()
        self._submit([run for run in runs if run not in self._external_runs])

    def left(self) -> list[Run]:
        return [*self._tasks, *self._paused_runs, *self._external_runs]

    def look(self) -> None:
        """Drop runs that have ended, and submit unfinished runs that another process no longer computes."""
        if self._client.status != "running":
            raise ClusterError(GONE)
        for run, task in list(self._tasks.items()):
            if task.done():
                self._take_result(run, task)
        ended_runs = {
            run: state
            for run in self._external_runs
            if (state := run.state) in ENDED or self._has_no_task(run)
        }
        self._external_runs -= ended_runs.keys()
        self._submit(
            [run for run, state in ended_runs.items() if state not in ENDED or state == LOST]
        )
        self._look_at_waiting()

    def _has_no_task(self, run: Run) -> bool:
        """Return whether a run waits in this queue without a task, because the process that computed the run has ended."""
        return read_json(run.path / "status.json", {}).get(
            "queue"
        ) == self._lock.path.name and not is_held(run.path / "lock")

    def _submit(self, runs: list[Run]) -> None:
        """Submit a task for each run, in order, except runs that were deleted."""
        runs = [run for run in runs if is_run(run.path)]
        set_waiting([run.path for run in runs], self._lock.path)
        for run in runs:
            self._tasks[run] = self._client.submit(
                compute,
                str(run.path.resolve()),
                self._software,
                str(self._lock.path),
                key=f"{run.name}-{secrets.token_hex(4)}",
                retries=RETRIES,
                pure=False,
                priority=-self._n_submitted,
            )
            self._n_submitted += 1

    def _take_result(self, run: Run, task: Future) -> None:
        """Remove a finished task, and record the state of its run: ended, paused, failed or computed elsewhere."""
        del self._tasks[run]
        outcome, error = _outcome(task)
        if error is not None:
            end_states = (FINISHED, STOPPED, FAILED)
            with contextlib.suppress(LockHeld, OSError), Lock(run.path / "lock"):
                if read_json(run.path / "status.json", {}).get("state") not in end_states:
                    set_state(run.path, FAILED, queue=None, message=_reason(error))
        elif outcome == ELSEWHERE:
            self._external_runs.add(run)
        elif outcome == PAUSED:
            self._paused_runs.add(run)

    def _look_at_waiting(self) -> None:
        """Write the heartbeats of waiting runs; cancel the tasks of runs to be stopped, and submit paused runs that resume."""
        is_due = time.monotonic() - self._beat_time > BEAT_EVERY
        self._beat_time = time.monotonic() if is_due else self._beat_time
        for run in [*self._tasks, *self._paused_runs]:
            request = requested(run.path)
            if (is_due or request != RUNNING) and not _is_waiting(run):
                self._paused_runs.discard(run)
                if run in self._tasks and (request == STOPPED or not is_run(run.path)):
                    self._client.cancel(self._tasks.pop(run))
        resumed_runs = [run for run in self._paused_runs if requested(run.path) == RUNNING]
        self._paused_runs.difference_update(resumed_runs)
        self._submit(resumed_runs)

    def stop(self) -> None:
        """Stop the runs of the queue: waiting ones at once, others after the current step."""
        runs = [*self._tasks, *self._paused_runs]
        for run in runs:
            with contextlib.suppress(StoreError):  # removed meanwhile
                run.stop()
        waiting_tasks = [task for run, task in self._tasks.items() if not _is_waiting(run)]
        if self._client.status == "running":
            self._client.cancel(waiting_tasks)
        for run in self._paused_runs:
            _is_waiting(run)
        deadline = time.monotonic() + ENDING
        while time.monotonic() < deadline and any(run.state not in ENDED for run in runs):
            time.sleep(LOOK_EVERY)


def _outcome(task: Future) -> tuple[str | None, Exception | None]:
    """Return (result, None) or (None, error) of a finished task.

    The result is `ELSEWHERE` if a restart of the workers cancelled the task. Raises ClusterError if the scheduler is gone.
    """
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    try:
        if task.status == "error":
            return None, task.exception()
        return task.result() if task.status == "finished" else ELSEWHERE, None
    except FutureCancelledError as error:
        if error.reason != DISCONNECTED:
            return ELSEWHERE, None
        raise ClusterError(GONE) from error
    except CommClosedError as error:
        raise ClusterError(GONE) from error


def _is_waiting(run: Run) -> bool:
    """Write the heartbeat and the requested state of a run; return whether it is still waiting or being computed.

    The lock of the run is held meanwhile, so that the status of a running process is not overwritten.
    """
    try:
        with Lock(run.path / "lock"):
            return is_queued(run.path)
    except LockHeld:
        return True
    except OSError:  # removed
        return False


def _reason(error: Exception) -> str:
    """Return a sentence that says why a task failed."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return "worker after worker ended while it computed this run; repair them, and repeat the command to resume"
    if isinstance(error, ChildLost):
        return f"{error}, {1 + RETRIES} times: it was killed, perhaps for lack of memory"
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def ready_cluster(scheduler, store: Path, jobs: int = 1) -> Iterator[Client]:
    """Yield a client of a cluster after checking that all workers share the store.

    Raises ClusterError for the first problem of the cluster; see `connecting` and `shared_store`.
    """
    if jobs != 1:
        raise ClusterError(
            "on a cluster as many runs are computed at a time as its workers have threads; leave ",
            Named("jobs"),
            " out",
            value=jobs,
        )
    with client_of(scheduler) as client:
        check_workers(client)
        check_shared(client, store)
        yield client


def leave(runs: list[Run], client: Client) -> None:
    """Hand runs over to the cluster and return once they are submitted, so that this process may end.

    If the worker of that task ends, the scheduler gives the task to another. Returns when the runs are submitted; raises
    ClusterError if no worker has a free thread for that task.
    """
    from distributed import Event, fire_and_forget

    unfinished = [run for run in runs if run.state != FINISHED]
    warn_of_other_kernels(unfinished)
    paths, name = (
        [str(run.path.resolve()) for run in unfinished],
        f"workbench-begun-{secrets.token_hex(8)}",
    )
    task = client.submit(
        keep, paths, about_process(), name, retries=RETRIES, pure=False, priority=1
    )
    submission, deadline = Event(name, client=client), time.monotonic() + WORKERS_WITHIN
    while not submission.wait(LOOK_EVERY):
        if task.status == "error":
            raise ClusterError(_reason(task.exception()))
        if time.monotonic() > deadline:
            client.cancel(task)
            raise ClusterError(
                f"no worker had a free thread within {WORKERS_WITHIN:.0f} s, and nothing was started; add workers, or try later"
            )
    fire_and_forget(task)


def keep(paths: list[str], client_has: About, name: str) -> None:
    """Submit runs and wait for them; the Dask task that `leave` submits. Sets the event ``name`` once all are submitted."""
    from distributed import Event, get_client, get_worker, secede

    checked(about_process(), get_worker().address, client_has)
    client = get_client()
    secede()
    submission, counter = Event(name, client=client), count()

    def on_progress(unfinished: list[Run]) -> None:
        if next(counter) == 0:
            submission.set()

    runs = [Run(path) for path in map(Path, paths) if is_run(path)]
    work_through_on(client, runs, on_progress)
