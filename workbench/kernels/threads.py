"""Passes over a corpus on several threads, in short slices, so that a run pauses and stops soon; and BLAS in one thread.

The slices depend on the corpus and the number of topics only, never on the number of threads, and their results are in order:
sums over slices have the same bits for any number of threads. Slices that must be computed one after the other (of a chain, or
a block of a partition) form a task, and tasks are computed in parallel. Rows of work that add to shared arrays form a wave,
which keeps the order of additions.

BLAS is limited to one thread, so that its bits do not depend on the number of threads. The limit holds for the whole process,
and `threadpoolctl` allows only one thread to change it: here always the same thread. It ends when the last block that needs it
ends, and has no effect while other code holds a limit in another thread. The bits still depend on the version of BLAS and on
the processor.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from threading import Condition, Lock

import numpy as np
from threadpoolctl import ThreadpoolController

SLICE_WORK = 2**20
"""Work of a slice, in pairs times topics: a few milliseconds of any kernel."""
LOOK_EVERY = 0.05
"""Seconds between two calls of ``interrupt`` while the caller waits for other threads."""
MOST_THREADS = 1024


class _Halted(Exception):
    """Raised in a task to end it, since another task failed or the run was interrupted."""


def slice_bounds(
    indptr: np.ndarray, n_topics: int, first: int = 0, last: int | None = None
) -> list[tuple[int, int]]:
    """Cut the rows first..last (documents or words; default: all) into ranges (first, last) of similar work."""
    last = len(indptr) - 1 if last is None else last
    if first == last:
        return []
    if (indptr[last] - indptr[first] + last - first) * n_topics <= SLICE_WORK:
        return [(first, last)]
    rows = np.arange(first, last + 1)
    work = (indptr[first : last + 1] - indptr[first] + rows - first) * n_topics
    cuts = first + np.searchsorted(work, np.arange(0, work[-1], SLICE_WORK)[1:])
    bounds = np.unique(np.concatenate([[first], cuts, [last]]))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def each_slice(
    work: Callable[..., object],
    bounds,
    n_threads: int,
    interrupt: Callable[[], None],
    *arguments,
    **keywords,
) -> list:
    """Return [work(first, last, *arguments, **keywords) for each range in bounds], computed on threads.

    ``interrupt`` is called between ranges.
    """

    def task(first: int, last: int, interrupt):
        interrupt()
        return work(first, last, *arguments, **keywords)

    return each_task([partial(task, first, last) for first, last in bounds], n_threads, interrupt)


def each_task(tasks: list[Callable], n_threads: int, interrupt: Callable[[], None]) -> list:
    """Return [task(interrupt) for each task], with at most ``n_threads`` tasks running at once.

    A task calls its argument between its slices. ``interrupt`` itself is called only in the thread of the caller, so it need
    not be thread-safe; while it waits, all threads wait. If it or a task raises an exception, the other tasks end after their
    present slice, and the exception is raised.
    """
    n_threads = min(n_threads, len(tasks))
    if n_threads <= 1:
        return [task(interrupt) for task in tasks]
    results, queue, lock, errors = [None] * len(tasks), iter(enumerate(tasks)), Lock(), []

    def look(interrupt=None) -> None:
        with lock:
            if interrupt and not errors:
                interrupt()
        if errors:
            raise _Halted

    def work_off(interrupt) -> None:
        try:
            while True:
                with lock:
                    number, task = next(queue, (None, None))
                if task is None:
                    return
                results[number] = task(interrupt)
        except BaseException as error:
            errors.append(error)

    helpers = [_pool().submit(work_off, look) for _ in range(n_threads - 1)]
    run_task = partial(look, interrupt)
    try:
        run_task()
        work_off(run_task)
        while not errors and wait(_start(helpers), LOOK_EVERY).not_done:
            run_task()
    except BaseException as error:
        errors.append(error)
    wait(_start(helpers))
    if errors:
        raise errors[0]
    return results


def each_wave(
    work: Callable[[int, int], object],
    n_rows: int,
    n_steps: int,
    n_threads: int,
    interrupt,
    n_ordered: int | None = None,
) -> list[list]:
    """Return [[work(row, step) for each step] for each row], computed on threads; no row overtakes the row before it.

    The steps of a row are computed in order, and each step of a row after the same step of the previous row. So changes to
    shared arrays happen in the order of the rows, for any number of threads. With ``n_ordered`` this holds for that many first
    steps; later steps, which share nothing, wait for no other row.
    """
    n_steps_done, progress = [0] * n_rows, Condition()
    n_ordered = n_steps if n_ordered is None else n_ordered

    def is_ahead(row, step):
        return n_steps_done[row] > step

    def follow(row, interrupt):
        results = []
        for step in range(n_steps):
            interrupt()
            while row > 0 and step < n_ordered and not is_ahead(row - 1, step):
                with progress:
                    progress.wait_for(partial(is_ahead, row - 1, step), LOOK_EVERY)
                interrupt()
            results.append(work(row, step))
            with progress:
                n_steps_done[row] += 1
                progress.notify_all()
        return results

    return each_task([partial(follow, row) for row in range(n_rows)], n_threads, interrupt)


def _start(helpers) -> list:
    """Cancel the futures that have not begun; return the futures that have begun."""
    return [helper for helper in helpers if not helper.cancel()]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="workbench-slice")


# a forked process has none of the threads and would wait for them forever
os.register_at_fork(after_in_child=_pool.cache_clear)


_lock, _limit, _inside = Lock(), ExitStack(), []


@cache
def _controlling_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="workbench-blas")


# a forked process has none of the threads and would wait for them forever
os.register_at_fork(after_in_child=_controlling_thread.cache_clear)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread():
    """Limit BLAS and LAPACK to one thread within the `with` block; any thread may enter it."""
    with _lock:
        if not _inside:
            _controlling_thread().submit(
                lambda: _limit.enter_context(_controller().limit(limits=1, user_api="blas"))
            ).result()
        _inside.append(None)
    try:
        yield
    finally:
        with _lock:
            _inside.pop()
            if not _inside:
                _controlling_thread().submit(_limit.close).result()
