"""Which runs ended at a worse optimum than other runs of the same engine, by its own bound, because of where they began."""

import json
from collections.abc import Iterable

import numpy as np
import xarray as xr

from workbench.measures.selection import Runs, each_run, grouped, spec_of
from workbench.runs.spec import RunSpec


def start_of(spec: RunSpec) -> str:
    """Return where a run begins, in words; "" for an engine with one way to begin."""
    if spec.start:
        return f"the counts of {spec.start.get('name', 'another run')}"
    return f"init={spec.options['init']}" if "init" in spec.options else ""


def starts_of(specs: Iterable[RunSpec]) -> str:
    """Return where runs begin, in words, each start once; "" for runs of engines with one way to begin."""
    return " and ".join(filter(None, dict.fromkeys(map(start_of, specs))))


def options_but_start(spec: RunSpec) -> dict:
    """Return the options of a run without those that say where it begins."""
    return {name: value for name, value in spec.options.items() if name not in ("init", "warm_up")}


def same_but_start(spec: RunSpec) -> str:
    """Return the data, engine, model and options but the start, as text; runs with equal texts seek the same optimum."""
    settings = [spec.train, spec.test, spec.engine, spec.model, options_but_start(spec)]
    return json.dumps(settings, sort_keys=True, default=str)


def restarts_in_words(run: xr.Dataset) -> str:
    """Return the highest and the lowest bound of several restarts, in words; "" for a run without others that have a bound."""
    restart_bounds = [restart["bound"] for restart in json.loads(run.attrs.get("restarts", "[]"))]
    bounds = sorted(filter(np.isfinite, restart_bounds))
    if len(bounds) < 2:
        return ""
    return (
        f"{run.attrs['name']} has the highest bound of {len(restart_bounds)} restarts, {bounds[-1]:,.1f} nats; "
        f"the lowest is {bounds[0]:,.1f}"
    )


def starts_behind(runs: Runs) -> list[str]:
    """Return a sentence for each start whose bounds stay below those of the engine's best start by more than their spread.

    Finished runs with a ``bound`` are compared that differ only in where they begin and in the seed of inference, at their last
    iterations. The spread is the standard deviation between seeds, 0 for one.
    """
    sentences = []
    bounded = [
        run
        for run in each_run(runs)
        if "bound" in run and np.isfinite(run["bound"][-1]) and not run.attrs.get("unfinished")
    ]
    specs = [spec_of(run) for run in bounded]
    for group in grouped(map(same_but_start, specs), zip(specs, bounded, strict=True)).values():
        bounds_of_starts = grouped(
            [start_of(spec) for spec, _ in group], [float(run["bound"][-1]) for _, run in group]
        )
        best = max(bounds_of_starts, key=lambda start: np.mean(bounds_of_starts[start]))
        for start, bounds in bounds_of_starts.items():
            shortfall = np.mean(bounds_of_starts[best]) - np.mean(bounds)
            if shortfall > max(np.std(bounds), np.std(bounds_of_starts[best])):
                sentences.append(
                    f"{group[0][0].engine} from {start} stays {shortfall:,.0f} nats below its best known bound: "
                    f"begin from {best}"
                )
    return sentences
