"""A pass over a corpus in slices, short enough that pause and stop answer, fit for several threads.

The slices depend on the corpus and the number of topics alone, never on the number of threads, and
their results come back in order: sums over slices have the same bits however many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

SLICE_WORK = 2**20
"""Pair-topics in a slice: a few milliseconds of any kernel."""


def slice_bounds(indptr: np.ndarray, n_topics: int) -> list[tuple[int, int]]:
    """Ranges of rows (documents or words) of about equal work, at least one row each."""
    n_rows = len(indptr) - 1
    work = (indptr + np.arange(n_rows + 1)) * n_topics
    cuts = np.searchsorted(work, np.arange(0, work[-1], SLICE_WORK)[1:])
    bounds = np.unique(np.concatenate([[0], cuts, [n_rows]]))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def each_slice(work: Callable[[int, int], object], bounds, n_threads: int, pulse: Callable[[], None]) -> list:
    """The results of ``work(first, last)`` for every range, in order; ``pulse`` is called between slices."""
    if n_threads == 1 or len(bounds) == 1:
        results = []
        for first, last in bounds:
            pulse()
            results.append(work(first, last))
        return results
    waiting = [_pool(n_threads).submit(work, first, last) for first, last in bounds]
    try:
        results = []
        for future in waiting:
            results.append(future.result())
            pulse()
        return results
    except BaseException:
        for future in waiting:
            future.cancel()
        raise


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="workbench-slice")
