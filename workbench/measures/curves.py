"""Curves of a measure over iterations or time, averaged over the seeds of each label, and smoothed."""

from functools import reduce
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.measures.intervals import mean_and_error
from workbench.measures.quantities import quantity
from workbench.measures.selection import (
    MeasureError,
    Runs,
    each_run,
    grouped,
    has_course,
    labels_of,
    spec_of,
)


def smoothed(values: np.ndarray, weight: float) -> np.ndarray:
    """Return (point,) exponential moving averages: ``sum_i w^i y_(t-i) / sum_i w^i``.

    The division corrects the bias towards zero at the beginning, as in TensorBoard. Values that are not finite are kept and
    ignored in the averages. ``weight`` w is from 0 (no smoothing) to below 1.
    """
    if not 0 <= weight < 1:
        raise ValueError(f"the smoothing weight must be from 0 to below 1; got {weight!r}")
    values = np.asarray(values, float)
    if not weight or not len(values):
        return values
    finite = pd.Series(np.where(np.isfinite(values), values, np.nan))
    means = finite.ewm(alpha=1 - weight, adjust=True, ignore_na=True).mean().to_numpy()
    return np.where(np.isfinite(values), means, values)


CLOCKS = ("iteration", "updates", "elapsed", "cpu_time", "steps")


class Curve(NamedTuple):
    """A curve: the mean over runs, at the iterations that all of them recorded."""

    label: str
    group: str  # the label without a seed: curves of one group have one style
    x: np.ndarray  # (point,) the clock, mean over runs
    y: np.ndarray  # (point,) mean over runs
    error: np.ndarray  # (point,) standard error over runs; NaN for a single run
    n_runs: int


def mean_curves(
    runs: Runs, measure: str, against: str = "iteration", labels: list[str] | None = None
) -> list[Curve]:
    """Return a curve for each label whose runs record the measure, and have the clock.

    Runs of one label are averaged at the iterations that all of them recorded; if they share none, each run has a curve of its
    own. ``against`` is one of `CLOCKS`; ``labels`` of the runs are by default those of `labels_of`. Imported models have no
    curve.
    """
    if against not in CLOCKS:
        raise MeasureError(f"no axis '{against}'; there are {', '.join(CLOCKS)}")
    runs, curves = each_run(runs), []
    for label, members in grouped(labels_of(runs) if labels is None else labels, runs).items():
        members = [
            run
            for run in members
            if has_course(run)
            and all(quantity(run, each) is not None for each in (against, measure))
        ]
        if not members:
            continue
        common = reduce(np.intersect1d, [run["iteration"].values for run in members])
        parts = (
            [(label, members)]
            if len(common)
            else [(f"{label}, seed {spec_of(run).seed}", [run]) for run in members]
        )
        for curve_label, part in parts:
            iterations = common if len(common) else part[0]["iteration"].values
            x, y = (
                np.stack(
                    [
                        quantity(run, variable).sel(iteration=iterations).values.astype(float)
                        for run in part
                    ]
                )
                for variable in (against, measure)
            )
            curves.append(Curve(curve_label, label, x.mean(axis=0), *mean_and_error(y), len(part)))
    return curves
