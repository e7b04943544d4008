"""Curves of a measure over iterations or time, averaged over the seeds of each label."""

from functools import reduce
from typing import NamedTuple

import numpy as np

from workbench.measures.intervals import mean_and_error
from workbench.measures.quantities import quantity
from workbench.measures.selection import (
    MeasureError,
    each_run,
    grouped,
    has_course,
    labels_of,
    spec_of,
)

CLOCKS = ("iteration", "updates", "elapsed", "cpu_time", "steps")


class Curve(NamedTuple):
    """One curve: the mean over runs, at the iterations that all of them recorded."""

    label: str
    group: str  # the label without a seed: curves of one group look alike
    x: np.ndarray  # (point,) the clock, mean over runs
    y: np.ndarray  # (point,) mean over runs
    error: np.ndarray  # (point,) standard error over runs; NaN for a single run
    n_runs: int


def mean_curves(
    runs, measure: str, against: str = "iteration", labels: list[str] | None = None
) -> list[Curve]:
    """A curve for each label whose runs record the measure.

    Runs of one label are averaged at the iterations that all of them have; where they share none
    (cadences that never meet), each run becomes a curve of its own. ``against`` is one of `CLOCKS`; ``labels``
    of the runs are by default those of `labels_of`. Models that were imported have no course, and no curve.
    """
    if against not in CLOCKS:
        raise MeasureError(f"no axis '{against}'; there are {', '.join(CLOCKS)}")
    runs, curves = each_run(runs), []
    for label, members in grouped(labels_of(runs) if labels is None else labels, runs).items():
        members = [run for run in members if quantity(run, measure) is not None and has_course(run)]
        if not members:
            continue
        shared = reduce(np.intersect1d, [run["iteration"].values for run in members])
        parts = (
            [(label, members)]
            if len(shared)
            else [(f"{label}, seed {spec_of(run).seed}", [run]) for run in members]
        )
        for name, own in parts:
            at = shared if len(shared) else own[0]["iteration"].values
            x, y = (
                np.stack(
                    [quantity(run, each).sel(iteration=at).values.astype(float) for run in own]
                )
                for each in (against, measure)
            )
            curves.append(Curve(name, label, x.mean(axis=0), *mean_and_error(y), len(own)))
    return curves
