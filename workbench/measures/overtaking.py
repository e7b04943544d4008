"""Speedup of hybrids over Gibbs sampling in CPU seconds, by number of topics and by size of the counts."""

import math

import numpy as np
import xarray as xr

from workbench.measures.curves import mean_and_error
from workbench.measures.frontier import is_plain_gibbs, log_perplexity
from workbench.measures.selection import (
    MeasureError,
    Runs,
    attributes,
    data_of,
    each_run,
    replicate_of,
    spec_of,
)


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
            pairs_of_cell.setdefault(cell, []).append(
                (_log_speedup(run, counterpart), _advantage(run, counterpart))
            )
            regimes[description] = tuple(
                (spec.split or {}).get(name, 1) for name in ("repeat", "merge")
            )
    if not pairs_of_cell:
        raise MeasureError(
            "no run has a counterpart of cgs without options with the same split, seed and model; run both"
        )
    settings = list(dict.fromkeys(setting for setting, *_ in pairs_of_cell))
    descriptions, ks = (
        sorted(regimes, key=lambda regime_description: regimes[regime_description]),
        sorted({k for *_, k in pairs_of_cell}),
    )
    dims = ("setting", "data", "n_topics")
    values = {
        name: np.full((len(settings), len(descriptions), len(ks)), np.nan)
        for name in ("speedup", "speedup_se", "advantage", "advantage_se")
    }
    n_pairs = np.zeros(values["speedup"].shape, int)
    for (setting, description, k), pairs in pairs_of_cell.items():
        index = settings.index(setting), descriptions.index(description), ks.index(k)
        (speed, gain), (speed_se, gain_se) = mean_and_error(pairs)
        n_pairs[index] = len(pairs)
        for name, value in zip(values, (math.exp(speed), speed_se, gain, gain_se), strict=True):
            values[name][index] = value
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
    columns = {name: (dims, values[name], attributes(*meanings[name])) for name in values}
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


def _log_speedup(run: xr.Dataset, gibbs: xr.Dataset) -> float:
    """Return log(CPU seconds of cgs / CPU seconds of the run) up to the lowest perplexity that both reach."""
    threshold = max(log_perplexity(chain).min() for chain in (run, gibbs))
    run_seconds, gibbs_seconds = (
        chain["cpu_time"].values[np.argmax(log_perplexity(chain) <= threshold)]
        for chain in (run, gibbs)
    )
    return (
        math.log(gibbs_seconds / run_seconds) if min(run_seconds, gibbs_seconds) > 0 else math.nan
    )


def _advantage(run: xr.Dataset, gibbs: xr.Dataset) -> float:
    """Return the log perplexity of cgs minus the run's, at the CPU time at which the first of them ends."""
    cost = min(float(chain["cpu_time"].values[-1]) for chain in (run, gibbs))
    run_value, gibbs_value = (
        float(np.interp(cost, chain["cpu_time"].values, log_perplexity(chain)))
        for chain in (run, gibbs)
    )
    return gibbs_value - run_value
