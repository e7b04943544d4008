"""Apply a function to many pieces (slices of unseen documents) on the workers of a cluster, and yield the results in order.

The values that all pieces need are the result of a task, which Dask sends to each worker once, and computes again where all
workers that have it are lost, as it does the tasks of the pieces. Enough tasks are submitted that no thread of a worker waits
for the client, which holds only one result and the submitted pieces in memory.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

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
LOOK_EVERY, FETCHED_WITHIN = 0.2, 10.0
"""Seconds between two checks of the cluster while waiting for a result, and at first for fetching a result."""


def results_of(client: Client, work: Callable, shared: tuple, pieces: Iterable) -> Iterator:
    """Yield work(*shared, piece) for each piece, in order, computed on the workers of a cluster.

    Pieces are generated as tasks are submitted. The tasks of a lost worker are computed by another. Submitted tasks are
    cancelled when the generator is closed. Ctrl-C is raised while waiting for a result, since Dask could lose it elsewhere.

    Raises
    ------
    ClusterError
        A worker has another version or other kernels, the scheduler is gone, no worker is left for a minute, or workers end
        repeatedly.
    InputError
        Raised by ``work``.
    """
    from dask import config

    check_workers(client)
    control, pieces, tasks = Control(), iter(pieces), deque()
    with ending_cleanly(control):
        quiet = config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"})
        with _seeing_losses(), quiet:
            shared_future = client.submit(lambda values: values, _Shared(shared), pure=False)
        try:
            while True:
                with _seeing_losses():
                    capacity = AT_A_TIME * max(sum(client.nthreads().values()), 1)
                for piece in islice(pieces, max(capacity - len(tasks), 0)):
                    with _seeing_losses():
                        task = client.submit(
                            _apply,
                            work,
                            shared_future,
                            piece,
                            about_process(),
                            pure=False,
                            retries=RETRIES,
                        )
                    tasks.append(task)
                if not tasks:
                    return
                yield _result(client, tasks[0], control)
                tasks.popleft()
        finally:
            if client.status == "running":
                with contextlib.suppress(OSError):
                    client.cancel([shared_future, *tasks])


def _result(client: Client, task: Future, control: Control):
    """Wait for a task and return the result."""
    from distributed import KilledWorker, wait

    patience = FETCHED_WITHIN
    while task.status != "error":
        control.raise_stop()
        if client.status != "running":
            raise _gone_error()
        await_worker(client)
        with _seeing_losses(), contextlib.suppress(TimeoutError), client.as_current():
            wait([task], timeout=LOOK_EVERY)
            if task.status != "error":
                patience *= 2  # the result may be large, or be computed again
                return task.result(patience)
    error = task.exception()
    if isinstance(error, KilledWorker):
        raise ClusterError(
            "worker after worker ended while it had the same documents, perhaps for lack of memory; "
            "see to them, and ask again"
        )
    raise error


@contextlib.contextmanager
def _seeing_losses() -> Iterator[None]:
    """Within the block, turn Dask's exceptions for a lost scheduler into ClusterError."""
    try:
        yield
    except (*losses(), KeyError, TimeoutError) as error:
        raise _gone_error() from error


def _gone_error() -> ClusterError:
    return ClusterError(
        "the scheduler is gone, or was restarted, and nothing was kept; start it again with its workers, and ask again"
    )


class _Shared:
    """A wrapper of the values that all pieces need, so that Dask does not search them for tasks."""

    def __init__(self, values: tuple):
        self.values = values


def _apply(work: Callable, shared: _Shared, piece, client_has: About):
    """Return work(*shared, piece), computed on this worker; raise ClusterError if a version or kernel is not the client's."""
    from distributed import get_worker

    checked(about_process(), get_worker().address, client_has)
    return work(*shared.values, piece)
