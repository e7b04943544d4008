"""Apply a function to many pieces (slices of unseen documents) on the workers of a cluster, and yield the results in order.

The values that all pieces need are sent to each worker once. Enough tasks are submitted that no thread of a worker waits for
the client, which holds only one result and the submitted pieces in memory.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from workbench.errors import InputError
from workbench.runs.execution.cluster.connecting import (
    About,
    ClusterError,
    about_process,
    await_worker,
    check_workers,
    checked,
    losses,
)
from workbench.runs.execution.control import ending_cleanly
from workbench.runs.loop import Control

if TYPE_CHECKING:
    from distributed import Client, Future

AT_A_TIME = 3
"""Submitted tasks per thread of a worker: one is computed, two are next or have a result that is not fetched yet."""
RETRIES = 2
"""How often a failed task is retried."""
LOSSES = 5
"""How often all submitted tasks may be lost between two results before the computation fails."""
LOOK_EVERY = 0.2
"""Seconds between two checks of the cluster while waiting for a result."""
GONE = "the scheduler is gone, and nothing was kept; start it again with its workers, and ask again"


def results_of(client: Client, work: Callable, shared: tuple, pieces: Iterable) -> Iterator:
    """Yield work(*shared, piece) for each piece, in order, computed on the workers of a cluster.

    Pieces are generated as tasks are submitted. The tasks of a lost worker are computed by another. Submitted tasks are
    cancelled when the generator is closed. Ctrl-C is raised while waiting for a result, since Dask could lose it elsewhere.

    Raises
    ------
    ClusterError
        A worker has another version or other kernels, the scheduler is gone, or workers end repeatedly.
    InputError
        Raised by ``work``.
    """
    check_workers(client)
    control, pieces = Control(), iter(pieces)
    with ending_cleanly(control):
        flow = _Flow(client, work, shared, control)
        try:
            while flow.fill(pieces):
                yield flow.next_result()
        finally:
            flow.cancel()


class _Flow:
    """The queue of submitted tasks, in the order of the pieces of work."""

    def __init__(self, client: Client, work: Callable, shared: tuple, control: Control):
        self._client, self._work, self._shared, self._has, self._control = (
            client,
            work,
            shared,
            about_process(),
            control,
        )
        self._tasks: deque[tuple[object, Future]] = deque()
        self._losses = 0
        self._send()

    def fill(self, pieces: Iterator) -> bool:
        """Submit tasks for more pieces, up to the limit; return whether any task is unfinished."""
        n_threads = 1
        with contextlib.suppress(_Lost), self._seeing_losses():
            n_threads = sum(self._client.nthreads().values())
        while (
            len(self._tasks) < AT_A_TIME * max(n_threads, 1)
            and (piece := next(pieces, None)) is not None
        ):
            self._tasks.append((piece, self._submit(piece)))
        return bool(self._tasks)

    def next_result(self):
        """Wait for the result of the first unfinished piece and return it."""
        while True:
            try:
                with self._seeing_losses():
                    result = self._await(self._tasks[0][1])
                self._losses = 0
                self._tasks.popleft()
                return result
            except _Lost:
                self._begin_again()

    def cancel(self) -> None:
        """Cancel the submitted tasks."""
        if self._client.status == "running":
            with contextlib.suppress(OSError):
                self._client.cancel([task for _, task in self._tasks])
        self._tasks.clear()

    def _await(self, task: Future | None):
        """Wait for a task and return the result."""
        from distributed import KilledWorker, wait

        while True:
            if self._control.interrupted:
                raise KeyboardInterrupt
            if self._client.status != "running":
                raise ClusterError(GONE)
            if task is None or self._there.status in ("cancelled", "lost"):
                raise _Lost
            with contextlib.suppress(TimeoutError), self._client.as_current():
                wait([task], timeout=LOOK_EVERY)
                break
        if task.status == "error":
            error = task.exception()
            if isinstance(error, KilledWorker):
                raise ClusterError(
                    "worker after worker ended while it had the same documents, perhaps for lack of memory; "
                    "see to them, and ask again"
                )
            raise error
        return task.result()

    def _begin_again(self) -> None:
        """Submit all unfinished tasks anew, once there is a worker."""
        self._losses += 1
        if self._losses > LOSSES:
            raise ClusterError(
                f"all workers were lost {self._losses} times before one more result came; see to them, and ask "
                "again"
            )
        await_worker(self._client)
        check_workers(self._client)
        with contextlib.suppress(_Lost), self._seeing_losses():
            self._send()
        self._tasks = deque((piece, self._submit(piece)) for piece, _ in self._tasks)

    def _send(self) -> None:
        """Send the shared values to all workers; a worker that connects later gets them from another one."""
        (self._there,) = self._client.scatter([_Shared(self._shared)], broadcast=True, hash=False)

    def _submit(self, piece) -> Future | None:
        """Submit the task of one piece and return its future; None if the shared values were lost."""
        with contextlib.suppress(_Lost), self._seeing_losses():
            return self._client.submit(
                _done, self._work, self._there, piece, self._has, pure=False, retries=RETRIES
            )

    @contextlib.contextmanager
    def _seeing_losses(self) -> Iterator[None]:
        """Turn Dask's exceptions in the block for lost tasks or values into _Lost, for a lost scheduler into ClusterError."""
        try:
            yield
        except InputError:
            raise
        except (*losses(), KeyError, TimeoutError) as error:
            if self._client.status != "running":
                raise ClusterError(GONE) from error
            raise _Lost from error


class _Lost(Exception):
    """Raised if submitted tasks are lost because no worker with the shared values is left."""


class _Shared:
    """A wrapper of the values that all pieces need, so that Dask does not search them for tasks."""

    def __init__(self, values: tuple):
        self.values = values


def _done(work: Callable, shared: _Shared, piece, client_has: About):
    """Compute one piece on a worker, after checking that the version and kernels equal the client's."""
    from distributed import get_worker

    checked(about_process(), get_worker().address, client_has)
    return work(*shared.values, piece)
