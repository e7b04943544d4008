"""Curves of a measure over iterations or time, averaged over the seeds of each label."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures.quantities import quantity
from workbench.measures.selection import MeasureError, each_run, labels_of, spec_of

CLOCKS = ("iteration", "updates", "elapsed", "cpu_time", "steps")


class Curve(NamedTuple):
    """One curve: the mean over runs, at the iterations that all of them recorded."""

    label: str
    group: str         # the label without a seed: curves of one group look alike
    x: np.ndarray      # (point,) the clock, mean over runs
    y: np.ndarray      # (point,) mean over runs
    error: np.ndarray  # (point,) standard error over runs; NaN for a single run
    n_runs: int


def mean_curves(runs, measure: str, against: str = "iteration") -> list[Curve]:
    """A curve for each label whose runs record the measure.

    Runs of one label are averaged at the iterations that all of them have; where they share none
    (cadences that never meet), each run becomes a curve of its own.

    Raises
    ------
    MeasureError
        An unknown clock.
    """
    if against not in CLOCKS:
        raise MeasureError(f"no axis '{against}'; there are {', '.join(CLOCKS)}")
    runs = each_run(runs)
    groups: dict[str, list[xr.Dataset]] = {}
    for run, label in zip(runs, labels_of(runs), strict=True):
        if quantity(run, measure) is not None:
            groups.setdefault(label, []).append(run)
    return [curve for label, members in groups.items() for curve in _curves(label, members, measure, against)]


def _curves(label: str, runs: list[xr.Dataset], measure: str, against: str) -> list[Curve]:
    shared = reduce(np.intersect1d, [run["iteration"].values for run in runs])
    if not len(shared):
        seeds = [spec_of(run).seed for run in runs]
        return [
            _curve(f"{label}, seed {seed}", label, [run], run["iteration"].values, measure, against)
            for run, seed in zip(runs, seeds, strict=True)
        ]
    return [_curve(label, label, runs, shared, measure, against)]


def _curve(label: str, group: str, runs: list[xr.Dataset], iterations: np.ndarray, measure: str, against: str) -> Curve:
    x, y = (np.stack([quantity(run, name).sel(iteration=iterations).values.astype(float) for run in runs])
            for name in (against, measure))
    n = len(runs)
    error = y.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(len(iterations), np.nan)
    return Curve(label, group, x.mean(axis=0), y.mean(axis=0), error, n)
