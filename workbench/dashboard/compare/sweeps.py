"""How many runs the form starts, and about how long they will take."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from itertools import product

from workbench.dashboard.compare.values import listed
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Reading
from workbench.engines import get_engine
from workbench.runs.execution.forecast import duration
from workbench.runs.spec import model_fields

MOST = 500
"""Runs that one click may start."""
ELAPSED = COLUMNS.index("elapsed")
SETTLED = 5
"""Iterations from which on the pace of a run is used."""


def grid_of(values: dict, engine: str) -> dict[str, list]:
    """Setting of the model, or option → its values, of those that have several for this engine."""
    given = {name: values[name] for name in model_fields(get_engine(engine))} | values["options"].get(engine, {})
    return {name: value for name, value in given.items() if isinstance(value, list)}


def combinations(given: dict) -> Iterator[dict]:
    """The values with one of each list, in every combination."""
    for chosen in product(*map(listed, given.values())):
        yield dict(zip(given, chosen, strict=True))


def n_runs(values: dict) -> int:
    """The number of runs that the values of the form make."""
    return values["seeds"] * sum(math.prod(map(len, grid_of(values, engine).values())) for engine in values["engines"])


def paces(readings: Iterable[Reading]) -> dict[tuple[str, str], float]:
    """(engine, corpus) → seconds for a topic and an iteration, of the newest run that has a pace (readings: newest first)."""
    found: dict[tuple[str, str], float] = {}
    for reading in readings:
        iteration, elapsed = reading.latest[0], reading.latest[ELAPSED]
        if reading.spec is not None and iteration >= SETTLED and elapsed > 0:
            key = reading.spec.engine, reading.spec.corpus
            found.setdefault(key, elapsed / (iteration * reading.spec.model.get("n_topics", 1)))
    return found


def describe_sweep(values: dict, pace: dict[tuple[str, str], float]) -> str:
    """A sentence on number and duration of the runs: 24 runs, 4 at a time; about 3 min at the pace of runs that are there."""
    n, jobs = n_runs(values), values["jobs"]
    said = "1 run" if n == 1 else f"{n:,} runs" + (f", {jobs} at a time and the others in line" if n > jobs else "")
    known = [pace.get((engine, values["corpus"])) for engine in values["engines"]]
    if None in known or values["top_words"] is not None:
        return f"{said}."
    seconds = values["seeds"] * values["n_iterations"] * sum(
        each * sum(listed(values["n_topics"])) * math.prod(len(own) for name, own in grid.items() if name != "n_topics")
        for each, grid in zip(known, (grid_of(values, engine) for engine in values["engines"]), strict=True)
    )
    return f"{said}; about {duration(seconds / min(jobs, n, os.cpu_count() or 1))} at the pace of runs that are there."
