"""Quantities by iteration, recorded or derived, and their curves over time or K, with standard errors and intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from workbench.engines import get_engine
from workbench.measures.selection import (
    MeasureError,
    Runs,
    after_burn_in,
    each_run,
    grouped,
    has_course,
    labels_of,
    labels_of_specs,
    spec_of,
)
from workbench.models import VARIABLES, Variable, topic_numbers
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.runs.spec import RunSpec

LEVEL = 0.95


def mean_and_error(values: ArrayLike) -> tuple:
    """Return the mean over the first axis and its standard error; NaN for too few values."""
    values = np.asarray(values, float)
    n, unknown = len(values), np.full(values.shape[1:], np.nan)
    mean = values.mean(axis=0) if n else unknown
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else unknown
    return (mean, error) if values.ndim > 1 else (float(mean), float(error))


def with_errors(dim: str, name: str, pairs: Iterable[tuple], attributes: dict) -> dict[str, tuple]:
    """Return the columns ``name`` and ``name_se`` of a table, from (mean, standard error) of each entry along ``dim``."""
    means, errors = map(list, zip(*pairs, strict=True))
    error_attributes = attributes | {"long_name": f"standard error of {name}"}
    return {name: (dim, means, attributes), f"{name}_se": (dim, errors, error_attributes)}


def t_interval(values: np.ndarray) -> tuple[float, float]:
    """Return Student's 95 % interval for the mean of the values; NaN for fewer than two."""
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2) * np.std(values, ddof=1) / np.sqrt(n))
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def variance_over_documents(influences: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the variance, over documents, of ratios of two sums over documents (…,), and the degrees of freedom.

    ``influences`` (document, …) are the terms of the first sum less the ratio times those of the second, ``tokens``, divided by
    the total of ``tokens``. A squared influence of a document of weight w is divided by 1 - 2 w + sum w^2, so that there is no
    bias if the ratios of documents have one variance. The degrees of freedom are the effective number of documents, Hill's of
    order 3, 1 / sqrt(sum w^3), minus one. For documents of one length both are those of the mean of their ratios.

    Bell & McCaffrey (2002), for the variance; Hill (1973).
    """
    weights = tokens / tokens.sum()
    expected = 1 - 2 * weights + weights @ weights
    return (influences.T**2 / expected).sum(-1), (weights**3).sum() ** -0.5 - 1


def half_interval_over_documents(scores: Sequence[Scored], factors: ArrayLike) -> float:
    """Return half the width of Student's 95 % interval, over test documents, of sum_i factors_i perplexity_i.

    Scores of the same document are paired. NaN for fewer than two effective documents; see `variance_over_documents`.
    """
    influences = [
        -score.perplexity
        * (score.log_likelihood + np.log(score.perplexity) * score.n_tokens)
        / score.n_tokens.sum()
        for score in scores
    ]
    # splits may differ in their number of documents
    influences, tokens = (
        np.array([*zip_longest(*rows, fillvalue=0)])
        for rows in (influences, [score.n_tokens for score in scores])
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        variance, freedom = variance_over_documents(influences @ factors, tokens.sum(axis=1))
    return float(stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variance)) if freedom >= 1 else np.nan


DERIVED = {
    row.name: row
    for row in (
        Variable(
            "log_likelihood",
            ("iteration",),
            "nats",
            "mean log p(w|d) of the held-out tokens: minus the logarithm of the held-out perplexity",
        ),
        Variable(
            "bound_per_token",
            ("iteration",),
            "nats",
            "variational bound divided by the training tokens; for collapsed engines the bound of the collapsed model",
        ),
    )
}
"""Derived quantities, which no engine records; all others are in `workbench.models.VARIABLES`."""
TOPIC_NUMBERS = ("n_active_topics", "n_large_topics", "effective_topics")
BOUNDS = ("collapsed_bound", "bound")
"""Names of bounds in order of preference; the first is comparable across engines."""


def quantity(run: xr.Dataset, name: str) -> xr.DataArray | None:
    """Return a quantity at each iteration, recorded or derived from what was recorded; None if the run lacks it.

    ``name`` is a variable of the run; or ``steps`` (iterations times topics where it is not recorded), ``log_likelihood``,
    ``bound_per_token``, ``n_active_topics``, ``n_large_topics`` or ``effective_topics``.
    """
    if name in run:
        return run[name]
    if name == "steps" and (n_topics := spec_of(run).n_topics):
        return _data_array(run, name, run["iteration"].values * float(n_topics))
    if name == "log_likelihood" and "test_perplexity" in run:
        return _data_array(run, name, -np.log(run["test_perplexity"].values))
    if name == "bound_per_token" and "n_k" in run and (bound_name := bound_of(run)):
        return _data_array(run, name, run[bound_name].values / n_tokens(run))
    if name in TOPIC_NUMBERS and "n_k" in run:
        return _data_array(run, name, topic_numbers(run["n_k"].values)[name])
    return None


def last_value(run: xr.Dataset, name: str) -> float:
    """Return the last value of a quantity; NaN if the run lacks it."""
    end = quantity(run.isel(iteration=[-1]), name)
    return np.nan if end is None else float(end.values[0])


def topic_counts(run: xr.Dataset) -> xr.Dataset:
    """Return the number of active, of large and of effective topics at each iteration.

    ``n_active_topics``, ``n_large_topics`` and ``effective_topics``, computed from the sizes of the topics also for engines
    that do not record them; see `workbench.models.topic_numbers`.
    """
    numbers = topic_numbers(run["n_k"].values)
    return xr.Dataset({name: _data_array(run, name, numbers[name]) for name in TOPIC_NUMBERS})


def bound_of(run: xr.Dataset) -> str | None:
    """Return the name of the recorded bound that can be compared across engines, or None."""
    return next((name for name in BOUNDS if name in run), None)


def n_tokens(run: xr.Dataset) -> float:
    """Return the number of training tokens: the sum of the topic sizes."""
    return float(np.rint(run["n_k"].values[-1].sum()))


def _data_array(run: xr.Dataset, name: str, values: np.ndarray) -> xr.DataArray:
    """Return values as a DataArray over iterations, with the attributes of the quantity called ``name``."""
    variable = DERIVED.get(name) or VARIABLES[name]
    return xr.DataArray(
        values, {"iteration": run["iteration"]}, ("iteration",), name, variable.attrs
    )


def smoothed(values: np.ndarray, weight: float) -> np.ndarray:
    """Return exponential moving averages (point,): ``sum_i w^i y_(t-i) / sum_i w^i``.

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
    """A curve: the mean over runs and its standard error at each point."""

    label: str
    group: str  # the label without a seed; curves of a group have the same style
    x: np.ndarray  # (point,) clock or K, mean over runs
    y: np.ndarray  # (point,) mean over runs
    error: np.ndarray  # (point,) standard error over runs; NaN for a single run
    n_runs: int
    breaks: np.ndarray = np.empty(0, int)  # the first points after each of `RunSpec.breaks`


def mean_curves(
    runs: Runs, measure: str, against: str = "iteration", labels: list[str] | None = None
) -> list[Curve]:
    """Return a curve per label: a measure against iterations or another clock, averaged over runs that recorded both.

    Runs of one label are averaged at the iterations that all of them recorded; if they share none, each run has a curve of its
    own. ``against`` is one of `CLOCKS`; ``labels`` of the runs are by default those of `labels_of`. Imported models have no
    curve.
    """
    MeasureError.one_of("axis", against, CLOCKS)
    runs, curves = each_run(runs), []
    for label, members in grouped(labels_of(runs) if labels is None else labels, runs).items():
        members = [
            run
            for run in members
            if has_course(run)
            and all(quantity(run, name) is not None for name in (against, measure))
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
            breaks = np.searchsorted(
                iterations, [iteration for iteration, _ in spec_of(part[0]).breaks]
            )
            mean, breaks = mean_and_error(y), breaks[breaks < len(iterations)]
            curves.append(Curve(curve_label, label, x.mean(axis=0), *mean, len(part), breaks))
    return curves


def against_topics(runs: Runs, measure: str = "log_likelihood") -> list[Curve]:
    """Return a curve per label: the final value at each number of topics, averaged over seeds and splits.

    The number of topics is the requested one. A sampler of the HDP infers it: its curve is one point, at the mean number of
    topics with tokens over iterations after burn-in and over runs. The runs of a warm sweep, each started from the run with
    fewer topics, form one curve with the cold first run.

    ``measure`` is ``log_likelihood`` (nats per held-out token), ``bound_per_token`` (nats), ``test_perplexity`` or another
    number recorded at each iteration; runs without it are left out. ``x`` of a curve is the number of topics, ascending;
    ``error`` the standard error over the runs of a point, NaN for one run; ``n_runs`` the smallest number of runs of a point.

    Teh, Kurihara & Welling (2008), figure 2.
    """
    recorded = [name for name, row in VARIABLES.items() if row.dims == ("iteration",)]
    MeasureError.one_of("measure", measure, (*DERIVED, *recorded))
    curves = {
        label: [run for run in members if quantity(run, measure) is not None]
        for label, members in runs_by_curve(runs).items()
    }
    return [_curve(label, members, measure) for label, members in curves.items() if members]


def runs_by_curve(runs: Runs) -> dict[str, list[xr.Dataset]]:
    """Return label → the runs that each curve of `against_topics` averages."""
    runs = each_run(runs)
    specs = [spec_of(run) for run in runs]
    cold = labels_of_specs([replace(spec, start=None) for spec in specs], apart_from=("K",))
    index_of = {spec.hash: position for position, spec in enumerate(specs)}
    parents = [index_of.get(spec.start["hash"]) if spec.start else None for spec in specs]
    curves: dict[str, list[int]] = {}
    roots_of: dict[str, set[int]] = {}

    def fewer_before(index: int) -> int | None:
        """Return the index of the run's warm-start parent if it differs from the run only by fewer topics, else None."""
        parent = parents[index]
        is_same_start = parent is not None and cold[parent] == cold[index]
        return parent if is_same_start and specs[parent].n_topics < specs[index].n_topics else None

    for position, (spec, label) in enumerate(zip(specs, cold, strict=True)):
        label += " warm" if spec.start else ""
        label += f", {spec.n_topics} at the start" if finds_topics(spec) else ""
        if (parent := parents[position]) is not None and cold[parent] != cold[position]:
            label += f", from {cold[parent]}"
        root = position
        while (predecessor := fewer_before(root)) is not None:
            root = predecessor
        if root != position and not specs[root].start:
            roots_of.setdefault(label, set()).add(root)
        curves.setdefault(label, []).append(position)
    # the first, cold run of a warm sweep belongs to the curve of the warm runs
    for label, roots in roots_of.items():
        curves[label] = sorted(roots) + curves[label]
    roots = set().union(*roots_of.values())
    return {
        label: [runs[number] for number in rows]
        for label, rows in curves.items()
        if label in roots_of or not set(rows) <= roots
    }


def finds_topics(spec: RunSpec) -> bool:
    """Return whether the engine infers the number of topics without a truncation level."""
    return get_engine(spec.engine).grows


def _curve(label: str, runs: list[xr.Dataset], measure: str) -> Curve:
    """Return the curve of one label: the mean final value of the runs at each number of topics."""
    if finds_topics(spec_of(runs[0])):
        n_topics = np.full(len(runs), np.mean([_mean_topics(run) for run in runs]))
    else:
        n_topics = np.array([spec_of(run).n_topics for run in runs], float)
    final = np.array([last_value(run, measure) for run in runs])
    values = [final[n_topics == k] for k in np.unique(n_topics)]
    return Curve(
        label,
        label,
        np.unique(n_topics),
        *np.array([mean_and_error(members) for members in values]).T,
        min(map(len, values)),
    )


def _mean_topics(run: xr.Dataset) -> float:
    """Return the mean number of non-empty topics after burn-in; during burn-in, the last number."""
    counts = quantity(run, "n_active_topics").values
    late_counts = counts[after_burn_in(run)]
    return float(late_counts.mean() if len(late_counts) else counts[-1])
