"""The last value of a measure against the number of topics, to choose that number by."""

from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.engines import get_engine
from workbench.measures.curves import Curve
from workbench.measures.intervals import mean_and_error
from workbench.measures.quantities import DERIVED, quantity
from workbench.measures.selection import MeasureError, each_run, labels_of_specs, spec_of
from workbench.models import VARIABLES
from workbench.runs.spec import RunSpec


def against_topics(runs, measure: str = "log_likelihood") -> list[Curve]:
    """A curve for each label: the mean of the last values over seeds and splits, for each number of topics.

    The number of topics is the one that was requested. A sampler of the HDP finds its own: its curve is one point, at its
    mean number of topics with a token, over the iterations after burn-in and the runs. Runs of a warm sweep, each begun
    from the one with fewer topics, make one curve with the run that began it.

    ``measure`` is ``log_likelihood`` (nats for each held-out token), ``bound_per_token`` (nats), ``test_perplexity`` or another
    number of each iteration; runs that do not have it are left out. Of a curve, x are topics, rising, ``error`` the standard
    error over the runs of a point, NaN for one run, and ``n_runs`` those of the point with the fewest.

    Teh, Kurihara & Welling (2008), figure 2.
    """
    if measure not in DERIVED and getattr(VARIABLES.get(measure), "dims", ()) != ("iteration",):
        of_runs = [name for name, row in VARIABLES.items() if row.dims == ("iteration",)]
        raise MeasureError(
            f"no number '{measure}' of an iteration; there are {', '.join((*DERIVED, *of_runs))}"
        )
    found = {
        label: [run for run in own if quantity(run, measure) is not None]
        for label, own in runs_by_curve(runs).items()
    }
    return [_curve(label, own, measure) for label, own in found.items() if own]


def runs_by_curve(runs) -> dict[str, list[xr.Dataset]]:
    """The runs behind each curve of `against_topics`, by its label."""
    runs = each_run(runs)
    return {
        label: [runs[at] for at in rows]
        for label, rows in _curves([spec_of(run) for run in runs]).items()
    }


def finds_topics(spec: RunSpec) -> bool:
    """Does the run find the number of its topics by itself, without a truncation?"""
    return get_engine(spec.engine).grows


def _curve(label: str, runs: list[xr.Dataset], measure: str) -> Curve:
    specs = [spec_of(run) for run in runs]
    if finds_topics(specs[0]):
        where = np.full(
            len(runs),
            np.mean([_mean_topics(run, spec) for run, spec in zip(runs, specs, strict=True)]),
        )
    else:
        where = np.array([spec.n_topics for spec in specs], float)
    last = np.array([float(quantity(run, measure).values[-1]) for run in runs])
    values = [last[where == topics] for topics in np.unique(where)]
    return Curve(
        label,
        label,
        np.unique(where),
        *np.array([mean_and_error(own) for own in values]).T,
        min(map(len, values)),
    )


def _mean_topics(run: xr.Dataset, spec: RunSpec) -> float:
    """Topics with a token, mean over the iterations after burn-in; at the last one while burn-in lasts."""
    found, past = quantity(run, "n_active_topics").values, run["iteration"].values > spec.burn_in
    return float(found[past].mean() if past.any() else found[-1])


def _curves(specs: list[RunSpec]) -> dict[str, list[int]]:
    """The runs of each curve; the first run of a warm sweep is in its curve too, and in no other if all its runs are."""
    cold = labels_of_specs([replace(spec, start=None) for spec in specs], apart_from=("K",))
    place = {spec.hash: at for at, spec in enumerate(specs)}
    parents = [place.get(spec.start["hash"]) if spec.start else None for spec in specs]
    curves: dict[str, list[int]] = {}
    begun: dict[str, set[int]] = {}

    def fewer_before(at: int) -> int | None:
        """The run that this one started from, where it is among the runs and differs only in having fewer topics."""
        parent = parents[at]
        alike = parent is not None and cold[parent] == cold[at]
        return parent if alike and specs[parent].n_topics < specs[at].n_topics else None

    for at, (spec, label) in enumerate(zip(specs, cold, strict=True)):
        label += " warm" if spec.start else ""
        label += f", {spec.n_topics} at the start" if finds_topics(spec) else ""
        if (parent := parents[at]) is not None and cold[parent] != cold[at]:
            label += f", from {cold[parent]}"
        root = at
        while (before := fewer_before(root)) is not None:
            root = before
        if root != at and not specs[root].start:
            begun.setdefault(label, set()).add(root)
        curves.setdefault(label, []).append(at)
    for label, roots in begun.items():
        curves[label] = sorted(roots) + curves[label]
    roots = set().union(*begun.values())
    return {
        label: rows for label, rows in curves.items() if label in begun or not set(rows) <= roots
    }
