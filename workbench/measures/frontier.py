"""What settings cost and how far from long Gibbs chains they end; those that no other setting dominates."""

import math
from collections.abc import Iterable
from functools import partial

import numpy as np
import xarray as xr

from workbench.engines import REFERENCE, get_engine
from workbench.engines.options import named_options
from workbench.measures.curves import Curve, mean_curves
from workbench.measures.intervals import mean_and_error
from workbench.measures.quantities import quantity
from workbench.measures.selection import (
    MeasureError,
    counterparts,
    each_run,
    grouped,
    labels_of,
    same_model,
    spec_of,
)
from workbench.models import VARIABLES
from workbench.runs.afterwards.pooled_chains import Pooled
from workbench.runs.spec import RunSpec

COSTS = ("updates", "cpu_time")
"""What a setting costs."""
CHAINS = 4
"""Chains of a reference, at least: their standard error is that of four numbers."""
LONGER = 2
"""Times as many iterations as the runs that are set against it that a chain of the reference has, at least."""
OPTIONS = {"r": math.nan, "n_chains": math.nan, "split": "", "average": ""}
"""Options that are told of each setting → what stands for an engine without it."""


def frontier(runs, reference=None, pooled: Iterable[Pooled] = ()) -> xr.Dataset:
    """What each setting costs and how far from the reference it ends, with the settings that no other one dominates.

    Parameters
    ----------
    runs : Dataset or list of Datasets
        Of one data, one held-out share and one model; runs of a setting differ in seed and split alone.
    reference : Dataset or list of Datasets, optional
        At least 4 long chains for each split. By default those of the runs that are of ``cgs`` without options and at least
        twice as long as the longest run of another engine; shorter ones of ``cgs`` are a setting.
    pooled : iterable of `workbench.runs.afterwards.pooled_chains.Pooled`, optional
        What the long chains of a split, at least 4, predict together, in the place of the mean of what each predicts: chains
        that stay at different modes predict better together, as settings with several chains do. Those of other models are
        left out.

    Returns
    -------
    xarray.Dataset
        Dim ``label``, with coordinates ``engine``, ``r`` (of an engine with a budget that of its budget), ``n_chains``,
        ``split`` and ``average``:

        - ``updates`` and ``cpu_time`` (s): the mean cost up to the last iteration that all runs of the setting have recorded.
        - ``difference``: the logarithm of the held-out perplexity (of the running average, where there is one) there, minus
          that of the reference on the same split, nats per token: mean over runs. ``distance`` is its absolute value,
          ``distance_se`` the standard error between runs, NaN for one.
        - ``jitter``: standard deviation of the logarithm of the perplexity of the state, which no running average smooths, over
          the last half of the iterations after burn-in; mean over runs, and ``jitter_se``. NaN for fewer than two iterations.
        - ``efficient_updates``, ``efficient_cpu_time``: is no other setting as cheap and as near, and better in one of these?
        - ``n_runs``.

        Dims ``label`` and ``iteration``: ``updates_at``, ``cpu_time_at``, ``difference_at`` and ``difference_at_se``, the same
        at each recorded iteration, for comparisons at equal cost (see `at_equal_cost`).

        Dim ``split_hash``: ``reference`` (the logarithm of the perplexity of the pooled chains, else its mean over chains at
        their ends), ``reference_se`` (standard error over chains), ``n_reference`` and ``pooled`` (bool) of each split.
        ``attrs["reference_se"]`` is the error of their mean over splits: a difference below it is none.

    Raises
    ------
    MeasureError
        Runs that differ in data or model, without held-out tokens, or a reference of fewer than 4 chains.
    """
    runs = each_run(runs)
    own, chains = (
        (runs, each_run(reference) if len(reference) else [])
        if reference is not None
        else settings_and_chains(runs)
    )
    _check_alike([*own, *chains])
    by_split = grouped(
        [split_of(run) for run in chains], [log_perplexity(run)[-1] for run in chains]
    )
    models, splits = [spec_of(run).model for run in own], dict.fromkeys(map(split_of, own))
    together = {tuple(one.split): one for one in pooled if one.model in models}
    references = {
        split: _reference(together.get(split), by_split.get(split, [])) for split in splits
    }
    for *_, n, _ in references.values():
        if n < CHAINS:
            raise MeasureError(
                f"a reference needs at least {CHAINS} chains of cgs on the split of the runs, {LONGER} times as long as these; "
                f"there {'is' if n == 1 else 'are'} {n}; run cgs longer, with {CHAINS} seeds"
            )
    apart = [
        run.assign(difference=("iteration", log_perplexity(run) - references[split_of(run)][0]))
        for run in own
    ]
    labels = labels_of(own)
    members = grouped(labels, apart)
    courses = {clock: _courses(apart, labels, clock) for clock in ("iteration", *COSTS)}
    return _table(members, courses, references)


def at_equal_cost(table: xr.Dataset, cost: float, clock: str = "updates") -> xr.DataArray:
    """The difference of each label of `frontier` from the reference when it has cost so much, nats per token.

    ``clock`` is "updates" or "cpu_time" (s). Between recorded iterations on a straight line; NaN before the first and beyond
    the last.
    """
    found = []
    for label in table["label"].values:
        at = table.sel(label=label)
        known = np.isfinite(at["difference_at"].values)
        spent, apart = at[f"{clock}_at"].values[known], at["difference_at"].values[known]
        found.append(
            np.interp(cost, spent, apart, left=np.nan, right=np.nan) if len(spent) else np.nan
        )
    about = {"long_name": f"difference from the reference at {cost:g} of {clock}", "units": "nats"}
    return xr.DataArray(found, {"label": table["label"]}, ("label",), "difference", about)


def efficient(cost, distance) -> np.ndarray:
    """(setting,) bool: is no other setting as cheap and as near, and better in one of these? One with NaN is not efficient."""
    cost, distance = np.asarray(cost, float), np.asarray(distance, float)
    known = np.isfinite(cost) & np.isfinite(distance)
    better = (cost[:, None] <= cost) & (distance[:, None] <= distance)
    strictly = better & ((cost[:, None] < cost) | (distance[:, None] < distance))
    return known & ~strictly[known].any(axis=0)


def settings_and_chains(runs: list[xr.Dataset]) -> tuple[list[xr.Dataset], list[xr.Dataset]]:
    """The runs that are settings, and the long chains of cgs that they are set against unless others are named."""
    others = [int(run["iteration"][-1]) for run in runs if not is_plain_gibbs(spec_of(run))]
    enough = LONGER * max(others, default=0)
    long = [
        is_plain_gibbs(spec_of(run)) and others and int(run["iteration"][-1]) >= enough
        for run in runs
    ]
    own = [run for run, chain in zip(runs, long, strict=True) if not chain]
    if not own:
        raise MeasureError(
            "no run is set against the long chains of cgs; give runs of other engines too"
        )
    return own, [run for run, chain in zip(runs, long, strict=True) if chain]


def is_plain_gibbs(spec: RunSpec) -> bool:
    """Is this cgs with the options that it has by default, whose chains draw from the exact posterior?"""
    return spec.engine == REFERENCE and not any(
        spec.options.get(name, field.default) != field.default
        for name, field in named_options(get_engine(REFERENCE)).items()
    )


def _check_alike(runs: list[xr.Dataset]) -> None:
    """Refuses runs without held-out tokens, of other data, or of another model than the first."""
    for run in runs:
        if "test_perplexity" not in run:
            name = run.attrs["name"]
            raise MeasureError(
                f"run '{name}' has no held-out tokens, so no distance; hold out some, or leave it out"
            )
    (data, model), *others = counterparts(runs)
    for run, (its_data, its_model) in zip(runs[1:], others, strict=True):
        if its_data != data or not same_model(model, its_model):
            first, second = (f"'{each.attrs['name']}'" for each in (runs[0], run))
            raise MeasureError(
                f"runs {first} and {second} differ in data or model, so their distances cannot be compared; "
                "give those of one corpus, one K and one prior"
            )


def split_of(run: xr.Dataset) -> tuple[str, str | None]:
    spec = spec_of(run)
    return spec.train, spec.test


def log_perplexity(run: xr.Dataset) -> np.ndarray:
    """(iteration,) nats per token."""
    return -quantity(run, "log_likelihood").values


def _jitter(run: xr.Dataset) -> float:
    """Of one run; NaN where it has fewer than two iterations to take it over."""
    late = run["test_perplexity_state"].values[run["iteration"].values > spec_of(run).burn_in]
    late = np.log(late[len(late) // 2 :])
    return float(late.std(ddof=1)) if len(late) > 1 else np.nan


def _courses(runs: list[xr.Dataset], labels: list[str], clock: str) -> dict[str, Curve]:
    """The difference against a clock, by label; of a label whose runs share no iteration nothing."""
    return {
        curve.label: curve
        for curve in mean_curves(runs, "difference", clock, labels)
        if curve.label == curve.group
    }


def _reference(together: Pooled | None, ends: list[float]) -> tuple[float, float, int, bool]:
    """Log perplexity, its standard error, number of chains, and whether these are pooled; ``ends`` are those of each chain."""
    if together is not None:
        return together.log_perplexity, together.error, together.n_chains, True
    return *mean_and_error(ends), len(ends), False


def _table(members, courses, references) -> xr.Dataset:
    members = {label: own for label, own in members.items() if label in courses["iteration"]}
    labels, per_label = list(members), partial(_column, "label")
    ends = {name: [of[label] for label in labels] for name, of in courses.items()}
    costs = {clock: np.array([curve.x[-1] for curve in ends[clock]]) for clock in COSTS}
    apart = np.array([curve.y[-1] for curve in ends["iteration"]])
    jitters = [mean_and_error([_jitter(run) for run in own]) for own in members.values()]
    specs = [spec_of(own[0]) for own in members.values()]
    columns = {
        clock: per_label(costs[clock], VARIABLES[clock].meaning, VARIABLES[clock].unit)
        for clock in COSTS
    }
    columns |= {
        "difference": per_label(
            apart, "log held-out perplexity minus that of the reference", "nats"
        ),
        "distance": per_label(
            np.abs(apart), "distance of the log held-out perplexity from the reference", "nats"
        ),
        "distance_se": per_label(
            [curve.error[-1] for curve in ends["iteration"]],
            "its standard error between runs",
            "nats",
        ),
        "jitter": per_label(
            [one for one, _ in jitters],
            "standard deviation of the log perplexity of the state",
            "nats",
        ),
        "jitter_se": per_label(
            [error for _, error in jitters], "its standard error between runs", "nats"
        ),
        **{
            f"efficient_{clock}": per_label(
                efficient(costs[clock], np.abs(apart)), "is no other setting as cheap and as near?"
            )
            for clock in COSTS
        },
        "n_runs": per_label(
            [curve.n_runs for curve in ends["iteration"]], "runs: seeds and splits"
        ),
    }
    iterations = sorted({int(at) for curve in courses["iteration"].values() for at in curve.x})
    place = {at: where for where, at in enumerate(iterations)}
    meanings = {
        "updates_at": "updates",
        "cpu_time_at": "cpu_time",
        "difference_at": "difference",
        "difference_at_se": "distance_se",
    }
    for name, of in meanings.items():
        values = np.full((len(labels), len(iterations)), np.nan)
        for row, label in enumerate(labels):
            where = [place[int(at)] for at in courses["iteration"][label].x]
            curve = courses[of if of in COSTS else "iteration"][label]
            values[row, where] = (
                curve.x if of in COSTS else curve.error if name.endswith("_se") else curve.y
            )
        columns[name] = (("label", "iteration"), values, columns[of][2])
    means, errors, n_chains, pooled = zip(*references.values(), strict=True)
    per_split = partial(_column, "split_hash")
    columns |= {
        "reference": per_split(means, "log held-out perplexity of the reference", "nats"),
        "reference_se": per_split(errors, "its standard error over chains", "nats"),
        "n_reference": per_split(n_chains, "chains of the reference"),
        "pooled": per_split(pooled, "do the chains predict together?"),
    }
    coords = {
        "label": np.array(labels, object),
        "iteration": iterations,
        "split_hash": np.array([train for train, _ in references], object),
        "engine": ("label", np.array([spec.engine for spec in specs], object)),
    }
    coords |= {name: ("label", _option_of(specs, name)) for name in OPTIONS}
    return xr.Dataset(
        columns, coords, {"reference_se": float(np.sqrt(np.sum(np.square(errors))) / len(errors))}
    )


def _option_of(specs: list[RunSpec], name: str) -> np.ndarray:
    """(label,) the option of each setting."""
    found = []
    for spec in specs:
        about = named_options(get_engine(spec.engine))  # an option by its former name too
        value = (
            spec.options.get(about[name].name, about[name].default)
            if name in about
            else OPTIONS[name]
        )
        found.append(float(value) if isinstance(OPTIONS[name], float) else value)
    return np.array(found, None if isinstance(OPTIONS[name], float) else object)


def _column(dim: str, values, meaning: str, unit: str = "") -> tuple:
    return dim, np.array(values), _about(meaning, unit)


def _about(meaning: str, unit: str = "") -> dict[str, str]:
    return {"long_name": meaning, "units": unit}
