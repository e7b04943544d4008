"""Where hybrids overtake Gibbs sampling per second, by number of topics and by how large counts are."""

import math

import numpy as np
import xarray as xr

from workbench.measures.frontier import is_plain_gibbs, log_perplexity
from workbench.measures.intervals import mean_and_error
from workbench.measures.selection import MeasureError, data_of, each_run, replicate_of, spec_of


def overtaking(runs) -> xr.Dataset:
    """How much sooner than Gibbs sampling each setting predicts as well, by number of topics and by how large counts are.

    ``runs`` may differ in data and number of topics. A setting, any engine and options but ``cgs`` without options, is paired
    with ``cgs`` on the same split with the same seed and model; what has no counterpart is left out.

    Dims ``setting`` (engine and options), ``data`` (in words, with coordinates ``repeat`` and ``merge``) and ``n_topics``:

    - ``speedup``: CPU seconds of ``cgs`` divided by those of the setting until the held-out perplexity is as low as both come;
      above 1 the setting has overtaken. Geometric mean over pairs, and ``speedup_se``, the standard error of its logarithm.
    - ``advantage``: log held-out perplexity of ``cgs`` minus that of the setting at equal CPU seconds, those after which the
      first of the two had ended; nats per token, mean over pairs, and ``advantage_se``.
    - ``n_pairs``. NaN (0 pairs) where there is none.

    Raises MeasureError where there is no pair. Welling, Teh & Kappen (2008), section 8, expect hybrids to gain by large counts.
    """
    runs = [run for run in each_run(runs) if "test_perplexity" in run]
    data = data_of(runs) if runs else []
    gibbs = {_place(run): run for run in runs if is_plain_gibbs(spec_of(run))}
    found: dict[tuple, list[tuple[float, float]]] = {}
    records: dict[str, tuple[int, int]] = {}
    for run, where in zip(runs, data, strict=True):
        spec = spec_of(run)
        if (
            not is_plain_gibbs(spec)
            and "n_topics" in spec.model
            and (other := gibbs.get(_place(run))) is not None
        ):
            cell = spec.label(), where, spec.n_topics
            found.setdefault(cell, []).append((_log_speedup(run, other), _gain(run, other)))
            records[where] = tuple((spec.split or {}).get(name, 1) for name in ("repeat", "merge"))
    if not found:
        raise MeasureError(
            "no run has a counterpart of cgs without options: the same split, seed and model; run both"
        )
    settings = list(dict.fromkeys(setting for setting, *_ in found))
    places, ks = sorted(records, key=lambda one: records[one]), sorted({k for *_, k in found})
    dims = ("setting", "data", "n_topics")
    values = {
        name: np.full((len(settings), len(places), len(ks)), np.nan)
        for name in ("speedup", "speedup_se", "advantage", "advantage_se")
    }
    n_pairs = np.zeros(values["speedup"].shape, int)
    for (setting, where, k), pairs in found.items():
        at = settings.index(setting), places.index(where), ks.index(k)
        (speed, gain), (speed_se, gain_se) = mean_and_error(pairs)
        n_pairs[at] = len(pairs)
        for name, value in zip(values, (math.exp(speed), speed_se, gain, gain_se), strict=True):
            values[name][at] = value
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
    columns = {name: (dims, values[name], _about(*meanings[name])) for name in values}
    columns["n_pairs"] = (dims, n_pairs, _about("pairs: same split, seed and model"))
    about = {
        name: ("data", [records[place][at] for place in places])
        for at, name in enumerate(("repeat", "merge"))
    }
    named = {
        "setting": np.array(settings, object),
        "data": np.array(places, object),
        "n_topics": ks,
    }
    return xr.Dataset(columns, named | about)


def _place(run: xr.Dataset) -> tuple:
    """What a run and its counterpart share."""
    return replicate_of(run), repr(sorted(spec_of(run).model.items()))


def _log_speedup(run: xr.Dataset, gibbs: xr.Dataset) -> float:
    """The logarithm of the CPU seconds of cgs for each of the run, until the perplexity is as low as both come."""
    wanted = max(log_perplexity(each).min() for each in (run, gibbs))
    own, other = (
        each["cpu_time"].values[np.argmax(log_perplexity(each) <= wanted)] for each in (run, gibbs)
    )
    return math.log(other / own) if min(own, other) > 0 else math.nan


def _gain(run: xr.Dataset, gibbs: xr.Dataset) -> float:
    """The log perplexity of cgs minus that of the run when the first of the two had ended."""
    cost = min(float(each["cpu_time"].values[-1]) for each in (run, gibbs))
    own, other = (
        float(np.interp(cost, each["cpu_time"].values, log_perplexity(each)))
        for each in (run, gibbs)
    )
    return other - own


def _about(meaning: str, unit: str = "") -> dict[str, str]:
    return {"long_name": meaning, "units": unit}
