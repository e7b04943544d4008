"""Settings (engines with options) beside Gibbs chains: cost and distance with the Pareto frontier, and speedup over sampling.

The speedup is in CPU seconds, by number of topics and by size of the counts.
"""

import itertools
import math
from collections.abc import Iterable
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from workbench.engines import REFERENCE, get_engine
from workbench.engines.options import named_options
from workbench.measures.curves import Curve, mean_and_error, mean_curves, quantity
from workbench.measures.selection import (
    MeasureError,
    Runs,
    attributes,
    comparison_keys,
    data_of,
    each_run,
    grouped,
    labels_of,
    late_log_states,
    replicate_of,
    same_model,
    spec_of,
)
from workbench.models import VARIABLES
from workbench.runs.afterwards.heldout_by_document import Pooled
from workbench.runs.spec import RunSpec

COSTS = ("updates", "cpu_time")
"""Names of the costs of a setting."""
CHAINS = 4
"""Smallest number of long chains in a reference."""
LONGER = 2
"""Chains of the default reference have at least this many times the iterations of the longest other run."""
OPTIONS = {"r": math.nan, "n_chains": math.nan, "split": "", "average": "", "chance": math.nan}
"""Option shown for each setting → its value for engines without the option."""


def frontier(
    runs: Runs, reference: Runs | None = None, pooled: Iterable[Pooled] = ()
) -> xr.Dataset:
    """Return for each engine setting its cost, its distance from long Gibbs chains, and whether it is Pareto-efficient.

    Parameters
    ----------
    runs : Dataset or list of Datasets
        On the same data with the same held-out share and model; runs of a setting differ in seed and split alone.
    reference : Dataset or list of Datasets, optional
        At least 4 long chains for each split. By default the runs of ``cgs`` without options that are at least twice as long
        as the longest run of another engine; shorter runs of ``cgs`` are a setting.
    pooled : iterable of `workbench.runs.afterwards.heldout_by_document.Pooled`, optional
        The averaged prediction of the long chains of a split, at least 4. It replaces the mean of their separate log
        perplexities: chains in different modes predict better together, as settings with several chains do. Those of other
        models are left out.

    Returns
    -------
    xarray.Dataset
        Dim ``label``, with coordinates ``engine``, ``r`` (for an engine with a budget the one that corresponds to it),
        ``n_chains``, ``split``, ``average`` and ``chance``:

        - ``updates`` and ``cpu_time`` (s): the mean cost up to the last iteration that all runs of the setting have recorded.
        - ``difference``: the log held-out perplexity (of the running average, if there is one) at that iteration, minus that of
          the reference on the same split, nats per token: mean over runs. ``distance`` is its absolute value, ``distance_se``
          the standard error between runs, NaN for one.
        - ``jitter``: standard deviation of the log perplexity of the state (without averaging) over the last half of the
          iterations after burn-in; mean over runs, and ``jitter_se``. NaN for fewer than two iterations.
        - ``efficient_updates``, ``efficient_cpu_time``: whether no other setting dominates it in cost and distance.
        - ``n_runs``.

        Dims ``label`` and ``iteration``: ``updates_at``, ``cpu_time_at``, ``difference_at`` and ``difference_at_se``, the same
        at each recorded iteration, for comparisons at equal cost (see `at_equal_cost`).

        Dim ``split_hash``: ``reference`` (the log perplexity of the pooled chains, else its mean over the final values of the
        chains), ``reference_se`` (standard error over chains), ``n_reference`` and ``pooled`` (bool) of each split.
        ``attrs["reference_se"]`` is the error of their mean over splits; smaller differences are not significant.

    Raises
    ------
    MeasureError
        Runs that differ in data or model, without held-out tokens, or a reference of fewer than 4 chains.
    """
    runs = each_run(runs)
    settings, chains = (
        (runs, each_run(reference) if len(reference) else [])
        if reference is not None
        else settings_and_chains(runs)
    )
    _check_alike([*settings, *chains])
    values_by_split = grouped(
        [split_of(run) for run in chains], [log_perplexity(run)[-1] for run in chains]
    )
    models, splits = (
        [spec_of(run).model for run in settings],
        dict.fromkeys(map(split_of, settings)),
    )
    pooled_by_split = {
        tuple(prediction.split): prediction for prediction in pooled if prediction.model in models
    }
    references = {
        split: _reference(pooled_by_split.get(split), values_by_split.get(split, []))
        for split in splits
    }
    for *_, n, _ in references.values():
        if n < CHAINS:
            raise MeasureError(
                f"a reference needs at least {CHAINS} chains of cgs on the split of the runs, {LONGER} times as long as "
                f"these; found {n}; run cgs longer, with {CHAINS} seeds"
            )
    runs_with_difference = [
        run.assign(difference=("iteration", log_perplexity(run) - references[split_of(run)][0]))
        for run in settings
    ]
    labels = labels_of(settings)
    members = grouped(labels, runs_with_difference)
    courses = {
        clock: {
            curve.label: curve
            for curve in mean_curves(runs_with_difference, "difference", clock, labels)
            if curve.label == curve.group  # labels whose runs share no iteration are left out
        }
        for clock in ("iteration", *COSTS)
    }
    return _table(members, courses, references)


def at_equal_cost(table: xr.Dataset, cost: float, clock: str = "updates") -> xr.DataArray:
    """Return the log perplexity of each label minus that of the reference chains, interpolated at a given cost.

    ``clock`` is "updates" or "cpu_time" (s). Linear interpolation between recorded iterations; NaN before the first and after
    the last.
    """
    values = []
    for label in table["label"].values:
        setting = table.sel(label=label)
        points = setting.isel(iteration=np.isfinite(setting["difference_at"].values))
        spent, differences = points[f"{clock}_at"].values, points["difference_at"].values
        values.append(
            np.interp(cost, spent, differences, left=np.nan, right=np.nan) if len(spent) else np.nan
        )
    meaning = attributes(f"difference from the reference at {cost:g} {clock}", "nats")
    return xr.DataArray(values, {"label": table["label"]}, ("label",), "difference", meaning)


def efficient(cost: ArrayLike, distance: ArrayLike) -> np.ndarray:
    """Return whether each setting is Pareto-efficient in cost and distance, (setting,) bool; False for NaN."""
    cost, distance = np.asarray(cost, float), np.asarray(distance, float)
    is_finite = np.isfinite(cost) & np.isfinite(distance)
    is_no_worse = (cost[:, None] <= cost) & (distance[:, None] <= distance)
    dominates = is_no_worse & ((cost[:, None] < cost) | (distance[:, None] < distance))
    return is_finite & ~dominates[is_finite].any(axis=0)


def settings_and_chains(runs: list[xr.Dataset]) -> tuple[list[xr.Dataset], list[xr.Dataset]]:
    """Return two lists: the runs of settings to compare, and the long cgs chains that are the default reference."""
    lengths = [int(run["iteration"][-1]) for run in runs if not is_plain_gibbs(spec_of(run))]
    least = LONGER * max(lengths, default=math.inf)
    is_chain = [is_plain_gibbs(spec_of(run)) and int(run["iteration"][-1]) >= least for run in runs]
    parts = grouped(is_chain, runs)
    return parts.get(False, []), parts.get(True, [])


def is_plain_gibbs(spec: RunSpec) -> bool:
    """Return whether a run is cgs with default options, which samples the exact posterior."""
    return spec.engine == REFERENCE and not any(
        spec.options.get(name, field.default) != field.default
        for name, field in named_options(get_engine(REFERENCE)).items()
    )


def _check_alike(runs: list[xr.Dataset]) -> None:
    """Raise MeasureError if a run has no held-out tokens, or other data or another model than the first run."""
    for run in runs:
        if "test_perplexity" not in run:
            name = run.attrs["name"]
            raise MeasureError(
                f"run '{name}' has no held-out tokens to measure a distance by; hold out some, or leave it out"
            )
    (data, model), *others = comparison_keys(runs)
    for run, (other_data, other_model) in zip(runs[1:], others, strict=True):
        if other_data != data or not same_model(model, other_model):
            first, second = (f"'{pair_run.attrs['name']}'" for pair_run in (runs[0], run))
            raise MeasureError(
                f"runs {first} and {second} differ in data or model, so their distances cannot be compared; "
                "give those of one corpus, one K and one prior"
            )


def split_of(run: xr.Dataset) -> tuple[str, str | None]:
    """Return the hashes of the training and test tokens of a run."""
    return replicate_of(run)[:2]


def log_perplexity(run: xr.Dataset) -> np.ndarray:
    """Return the log held-out perplexity (iteration,) of a run, in nats per token."""
    return -quantity(run, "log_likelihood").values


def _reference(pooled: Pooled | None, final_values: list[float]) -> tuple[float, float, int, bool]:
    """Return the log perplexity of a split's Gibbs chains, its error, their number, and whether they are pooled."""
    if pooled is not None:
        return pooled.log_perplexity, pooled.error, pooled.n_chains, True
    return *mean_and_error(final_values), len(final_values), False


def _table(
    members: dict[str, list[xr.Dataset]],
    curves_by_clock: dict[str, dict[str, Curve]],
    references: dict[tuple, tuple],
) -> xr.Dataset:
    """Return the Dataset of `frontier`, from the runs of each setting, their curves and the reference of each split."""
    members = {
        label: label_runs
        for label, label_runs in members.items()
        if label in curves_by_clock["iteration"]
    }
    labels, label_column = list(members), partial(_column, "label")
    ends = {
        name: [curves_of_clock[label] for label in labels]
        for name, curves_of_clock in curves_by_clock.items()
    }
    costs = {clock: np.array([curve.x[-1] for curve in ends[clock]]) for clock in COSTS}
    differences = np.array([curve.y[-1] for curve in ends["iteration"]])
    jitters = []
    for label_runs in members.values():
        late = [late_log_states(run) for run in label_runs]
        spreads = [logs.std(ddof=1) if len(logs) > 1 else np.nan for logs in late]
        jitters.append(mean_and_error(spreads))
    specs = [spec_of(label_runs[0]) for label_runs in members.values()]
    columns = {
        **{
            clock: label_column(costs[clock], VARIABLES[clock].meaning, VARIABLES[clock].unit)
            for clock in COSTS
        },
        "difference": label_column(
            differences, "log held-out perplexity minus that of the reference", "nats"
        ),
        "distance": label_column(
            np.abs(differences),
            "distance of the log held-out perplexity from the reference",
            "nats",
        ),
        "distance_se": label_column(
            [curve.error[-1] for curve in ends["iteration"]],
            "its standard error between runs",
            "nats",
        ),
        "jitter": label_column(
            [jitter for jitter, _ in jitters],
            "standard deviation of the log perplexity of the state",
            "nats",
        ),
        "jitter_se": label_column(
            [error for _, error in jitters], "its standard error between runs", "nats"
        ),
        **{
            f"efficient_{clock}": label_column(
                efficient(costs[clock], np.abs(differences)),
                "is no other setting as cheap and as near?",
            )
            for clock in COSTS
        },
        "n_runs": label_column(
            [curve.n_runs for curve in ends["iteration"]], "runs: seeds and splits"
        ),
    }
    curve_fields = {  # name: clock of the curves, field, and the column that it has at the last iteration
        "updates_at": ("updates", "x", "updates"),
        "cpu_time_at": ("cpu_time", "x", "cpu_time"),
        "difference_at": ("iteration", "y", "difference"),
        "difference_at_se": ("iteration", "error", "distance_se"),
    }
    iterations = [curve.x.astype(int) for curve in ends["iteration"]]
    recorded = sorted(
        {*itertools.chain(*(run_iterations.tolist() for run_iterations in iterations))}
    )
    for name, (clock, field, last) in curve_fields.items():
        values = [
            pd.Series(getattr(curve, field), run_iterations).reindex(recorded)
            for curve, run_iterations in zip(ends[clock], iterations, strict=True)
        ]
        columns[name] = (
            ("label", "iteration"),
            np.reshape(values, (len(ends[clock]), len(recorded))),
            columns[last][2],
        )
    means, errors, n_chains, pooled = zip(*references.values(), strict=True)
    split_column = partial(_column, "split_hash")
    columns |= {
        "reference": split_column(means, "log held-out perplexity of the reference", "nats"),
        "reference_se": split_column(errors, "its standard error over chains", "nats"),
        "n_reference": split_column(n_chains, "chains of the reference"),
        "pooled": split_column(pooled, "do the chains predict together?"),
    }
    coords = {
        "label": np.array(labels, object),
        "iteration": recorded,
        "split_hash": np.array([train for train, _ in references], object),
        "engine": ("label", np.array([spec.engine for spec in specs], object)),
    }
    coords |= {name: ("label", _option_of(specs, name)) for name in OPTIONS}
    return xr.Dataset(
        columns, coords, {"reference_se": float(np.sqrt(np.sum(np.square(errors))) / len(errors))}
    )


def _option_of(specs: list[RunSpec], name: str) -> np.ndarray:
    """Return the value (label,) that each spec has of an option."""
    values = []
    for spec in specs:
        options = named_options(get_engine(spec.engine))  # includes former names of options
        value = (
            spec.options.get(options[name].name, options[name].default)
            if name in options
            else OPTIONS[name]
        )
        values.append(float(value) if isinstance(OPTIONS[name], float) else value)
    return np.array(values, None if isinstance(OPTIONS[name], float) else object)


def _column(dim: str, values: ArrayLike, meaning: str, unit: str = "") -> tuple:
    """Return a column of a Dataset as (dim, values, attributes)."""
    return dim, np.array(values), attributes(meaning, unit)


def overtaking(runs: Runs) -> xr.Dataset:
    """Return the speedup of each setting over Gibbs sampling at equal perplexity, by data and number of topics.

    ``runs`` may differ in data and number of topics. A setting (any engine and options except ``cgs`` without options) is
    paired with ``cgs`` on the same split with the same seed and model; runs without a counterpart are left out.

    Dims ``setting`` (engine and options), ``data`` (a description, with coordinates ``repeat`` and ``merge``) and ``n_topics``:

    - ``speedup``: CPU seconds of ``cgs`` divided by those of the setting until the lowest held-out perplexity that both reach;
      above 1 the setting is faster. Geometric mean over pairs, and ``speedup_se``, the standard error of its logarithm.
    - ``advantage``: log held-out perplexity of ``cgs`` minus that of the setting at equal CPU seconds, the end of the shorter
      run; nats per token, mean over pairs, and ``advantage_se``.
    - ``n_pairs``; cells without a pair are NaN.

    Raises MeasureError without any pair. Welling, Teh & Kappen (2008), section 8, expect hybrids to gain by large counts.
    """
    runs = [run for run in each_run(runs) if "test_perplexity" in run]
    data = data_of(runs) if runs else []
    gibbs = {_pair_key(run): run for run in runs if is_plain_gibbs(spec_of(run))}
    pairs_of_cell: dict[tuple, list[tuple[float, float]]] = {}
    regimes: dict[str, tuple[int, int]] = {}
    for run, description in zip(runs, data, strict=True):
        spec = spec_of(run)
        if (
            not is_plain_gibbs(spec)
            and spec.n_topics
            and (counterpart := gibbs.get(_pair_key(run))) is not None
        ):
            cell = spec.label(), description, spec.n_topics
            pairs_of_cell.setdefault(cell, []).append(_cost_and_gap(run, counterpart))
            regimes[description] = tuple(
                (spec.split or {}).get(name, 1) for name in ("repeat", "merge")
            )
    if not pairs_of_cell:
        raise MeasureError(
            "no run has a counterpart of cgs without options with the same split, seed and model; run both"
        )
    settings = list(dict.fromkeys(setting for setting, *_ in pairs_of_cell))
    descriptions, ks = sorted(regimes, key=regimes.get), sorted({k for *_, k in pairs_of_cell})
    dims = ("setting", "data", "n_topics")
    n_pairs = np.zeros((len(settings), len(descriptions), len(ks)), int)
    values = np.full((4, *n_pairs.shape), np.nan)
    for (setting, description, k), pairs in pairs_of_cell.items():
        index = settings.index(setting), descriptions.index(description), ks.index(k)
        (speed, gain), (speed_se, gain_se) = mean_and_error(pairs)
        n_pairs[index], values[:, *index] = len(pairs), (math.exp(speed), speed_se, gain, gain_se)
    meanings = {
        "speedup": (
            "CPU seconds of cgs for each of the setting, to the same held-out perplexity",
            "",
        ),
        "speedup_se": ("standard error of its logarithm", ""),
        "advantage": (
            "log perplexity of cgs minus that of the setting at equal CPU seconds",
            "nats",
        ),
        "advantage_se": ("its standard error", "nats"),
    }
    columns = {
        name: (dims, numbers, attributes(*meaning))
        for (name, meaning), numbers in zip(meanings.items(), values, strict=True)
    }
    columns["n_pairs"] = (dims, n_pairs, attributes("pairs: same split, seed and model"))
    regime_coords = {
        name: ("data", [regimes[regime_of][index] for regime_of in descriptions])
        for index, name in enumerate(("repeat", "merge"))
    }
    coords = {
        "setting": np.array(settings, object),
        "data": np.array(descriptions, object),
        "n_topics": ks,
    }
    return xr.Dataset(columns, coords | regime_coords)


def _pair_key(run: xr.Dataset) -> tuple:
    """Return (split, seed, model), which a run must share with the Gibbs run it is paired with."""
    return replicate_of(run), repr(sorted(spec_of(run).model.items()))


def _cost_and_gap(run: xr.Dataset, gibbs: xr.Dataset) -> tuple[float, float]:
    """Return the log of the ratio of CPU seconds, cgs to run, and log perplexity of cgs minus the run's; see `overtaking`."""
    courses = [(dataset["cpu_time"].values, log_perplexity(dataset)) for dataset in (run, gibbs)]
    threshold = max(logs.min() for _, logs in courses)
    seconds = [clock[np.argmax(logs <= threshold)] for clock, logs in courses]
    end = min(clock[-1] for clock, _ in courses)
    end_logs = [float(np.interp(end, clock, logs)) for clock, logs in courses]
    log_ratio = math.log(seconds[1] / seconds[0]) if min(seconds) > 0 else math.nan
    return log_ratio, end_logs[1] - end_logs[0]
