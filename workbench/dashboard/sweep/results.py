"""Points of the results of a sweep: runs, and how far they are."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.snapshots import Moment, moment_of

MARK = {"class": "lit", "aria-current": "true"}
"""Attributes of a row that is marked."""


class Point(NamedTuple):
    """A run and how far it is: what is shown of it changes when this does."""

    moment: Moment  # its last snapshot
    iteration: int
    n_topics: int
    seed: int


def points_of(readings: Iterable[Reading]) -> tuple[Point, ...]:
    """Return the runs that have a first row, in the same order."""
    return tuple(
        Point(moment_of(one), int(one.latest[0]), one.spec.n_topics, one.spec.seed)
        for one in readings
        if np.isfinite(one.latest[0])
    )
