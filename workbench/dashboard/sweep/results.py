"""The runs of a sweep as points of its results, each at its present iteration."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.snapshots import Moment, moment_of

MARK = {"class": "lit", "aria-current": "true"}
"""HTML attributes of a marked row."""


class Point(NamedTuple):
    """A run at its present iteration; results computed from it stay valid until this changes."""

    moment: Moment  # last snapshot of the run
    iteration: int
    n_topics: int
    seed: int


def points_of(readings: Iterable[Reading]) -> tuple[Point, ...]:
    """Return a point for each run that has a recorded iteration, in the same order."""
    return tuple(
        Point(moment_of(one), int(one.latest[0]), one.spec.n_topics, one.spec.seed)
        for one in readings
        if np.isfinite(one.latest[0])
    )
