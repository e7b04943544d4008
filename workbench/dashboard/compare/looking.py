"""The runs that a card of the Compare page shows, with their last iterations and records."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import xarray as xr

from workbench.dashboard.shared.run_monitor import Reading
from workbench.runs.execution.run import Run
from workbench.runs.store.places import is_run
from workbench.runs.store.status import ALIVE

LIVE_EVERY = 15
"""Seconds between two looks at runs that go on; sessions that see the same runs share one."""
Looked = tuple[tuple[Path, int], ...]
"""(path, iteration) of each run; of one that goes on -1 - n, another n when it is to be looked at again."""


def looked_at(readings: Iterable[Reading]) -> Looked:
    """Return the runs, ordered by path, with their last iterations."""
    window = int(time.monotonic() // LIVE_EVERY)
    return tuple(
        sorted(
            (one.path, -1 - window if one.state in ALIVE else int(one.latest[0]))
            for one in readings
        )
    )


def begun(runs: Looked) -> Iterator[tuple[Run, int, xr.Dataset]]:
    """Yield run, last iteration and records of each run that has an iteration and still exists."""
    for path, iteration in runs:
        try:
            run = Run(path)
            progress = run.progress()
        except Exception:
            if is_run(path):
                raise
            continue  # it was removed since it was listed
        if progress.sizes["iteration"]:
            yield run, iteration, progress
