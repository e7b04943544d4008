"""Curves of a final measure against the number of topics, to choose K by."""

from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.engines import get_engine
from workbench.measures.curves import Curve
from workbench.measures.intervals import mean_and_error
from workbench.measures.quantities import DERIVED, quantity
from workbench.measures.selection import MeasureError, Runs, each_run, labels_of_specs, spec_of
from workbench.models import VARIABLES
from workbench.runs.spec import RunSpec


def against_topics(runs: Runs, measure: str = "log_likelihood") -> list[Curve]:
    """Return a curve for each label: the mean final value over seeds and splits, for each number of topics.

    The number of topics is the requested one. A sampler of the HDP infers it: its curve is one point, at the mean number of
    topics with a token, over iterations after burn-in and over runs. The runs of a warm sweep, each started from the one with
    fewer topics, make one curve together with their first, cold run.

    ``measure`` is ``log_likelihood`` (nats per held-out token), ``bound_per_token`` (nats), ``test_perplexity`` or another
    number recorded at each iteration; runs without it are left out. ``x`` of a curve is the number of topics, ascending;
    ``error`` the standard error over the runs of a point, NaN for one run; ``n_runs`` the smallest number of runs of a point.

    Teh, Kurihara & Welling (2008), figure 2.
    """
    if measure not in DERIVED and getattr(VARIABLES.get(measure), "dims", ()) != ("iteration",):
        recorded = [name for name, row in VARIABLES.items() if row.dims == ("iteration",)]
        raise MeasureError(f"no measure '{measure}'; there are {', '.join((*DERIVED, *recorded))}")
    curves = {
        label: [run for run in members if quantity(run, measure) is not None]
        for label, members in runs_by_curve(runs).items()
    }
    return [_curve(label, members, measure) for label, members in curves.items() if members]


def runs_by_curve(runs: Runs) -> dict[str, list[xr.Dataset]]:
    """Return the runs of each curve of `against_topics`, by its label."""
    runs = each_run(runs)
    return {
        label: [runs[place] for place in rows]
        for label, rows in _curves([spec_of(run) for run in runs]).items()
    }


def finds_topics(spec: RunSpec) -> bool:
    """Return whether the engine infers the number of topics, without a truncation."""
    return get_engine(spec.engine).grows


def _curve(label: str, runs: list[xr.Dataset], measure: str) -> Curve:
    """Average the final values of the runs of one label at each number of topics."""
    specs = [spec_of(run) for run in runs]
    if finds_topics(specs[0]):
        n_topics = np.full(
            len(runs),
            np.mean([_mean_topics(run, spec) for run, spec in zip(runs, specs, strict=True)]),
        )
    else:
        n_topics = np.array([spec.n_topics for spec in specs], float)
    final = np.array([float(quantity(run, measure).values[-1]) for run in runs])
    values = [final[n_topics == k] for k in np.unique(n_topics)]
    return Curve(
        label,
        label,
        np.unique(n_topics),
        *np.array([mean_and_error(members) for members in values]).T,
        min(map(len, values)),
    )


def _mean_topics(run: xr.Dataset, spec: RunSpec) -> float:
    """Return the mean number of topics with a token after burn-in, or the last number during burn-in."""
    counts, after = quantity(run, "n_active_topics").values, run["iteration"].values > spec.burn_in
    return float(counts[after].mean() if after.any() else counts[-1])


def _curves(specs: list[RunSpec]) -> dict[str, list[int]]:
    """Return the places of the runs of each curve; the cold first run of a warm sweep joins the curve of the warm ones."""
    cold = labels_of_specs([replace(spec, start=None) for spec in specs], apart_from=("K",))
    index_of = {spec.hash: position for position, spec in enumerate(specs)}
    parents = [index_of.get(spec.start["hash"]) if spec.start else None for spec in specs]
    curves: dict[str, list[int]] = {}
    roots_of: dict[str, set[int]] = {}

    def fewer_before(index: int) -> int | None:
        """Return the parent of a run if it is among the runs and differs only in having fewer topics."""
        parent = parents[index]
        same = parent is not None and cold[parent] == cold[index]
        return parent if same and specs[parent].n_topics < specs[index].n_topics else None

    for position, (spec, label) in enumerate(zip(specs, cold, strict=True)):
        label += " warm" if spec.start else ""
        label += f", {spec.n_topics} at the start" if finds_topics(spec) else ""
        if (parent := parents[position]) is not None and cold[parent] != cold[position]:
            label += f", from {cold[parent]}"
        root = position
        while (before := fewer_before(root)) is not None:
            root = before
        if root != position and not specs[root].start:
            roots_of.setdefault(label, set()).add(root)
        curves.setdefault(label, []).append(position)
    for label, roots in roots_of.items():
        curves[label] = sorted(roots) + curves[label]
    roots = set().union(*roots_of.values())
    return {
        label: rows for label, rows in curves.items() if label in roots_of or not set(rows) <= roots
    }
