"""Cards of the Compare page on several runs; the runs are given with their last iterations, as a key of caches."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import xarray as xr

from workbench.dashboard.shared.card import Card, Shown
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.run_monitor import Reading
from workbench.runs.execution.run import Run
from workbench.runs.store.places import is_run
from workbench.runs.store.status import ALIVE

LIVE_EVERY = 15
"""Seconds between two readings of active runs; sessions that show the same runs share a reading."""
Looked = tuple[tuple[Path, int], ...]
"""(path, iteration) of each run; for an active run -1 - n, with a new n when it is to be read again."""


def looked_at(readings: Iterable[Reading]) -> Looked:
    """Return (path, last iteration) of each run, ordered by path; active runs have a number that changes with time."""
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
            continue  # it was removed after it was listed
        if progress.sizes["iteration"]:
            yield run, iteration, progress


class RunsCard(Card):
    """A card on runs, with the content that ``shown_of`` returns for what describes the runs; hidden if that is empty."""

    def __init__(self, heading: str, handover: Handover, shown_of: Callable[[tuple], Shown]):
        super().__init__(heading, handover, hides=True)
        self._shown_of = shown_of

    def follow(self, runs: tuple) -> None:
        """Show these runs; compute the content in the background, unless the last request was the same."""
        self.bring(runs, partial(self._shown_of, runs))
