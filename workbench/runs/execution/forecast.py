"""Forecast of a sweep before it starts: its runs, disk, memory and time."""

from __future__ import annotations

import os
import time
from dataclasses import replace

from workbench.runs.execution.control import MemoryControl
from workbench.runs.execution.grid import Cell
from workbench.runs.execution.memory_check import memory_forecast, state_bytes
from workbench.runs.execution.run import Run
from workbench.runs.loop import initial_position, iterate
from workbench.runs.memory import MemorySink
from workbench.runs.store.create import SNAPSHOT_BUDGET, snapshot_bytes
from workbench.runs.store.status import FINISHED

LONG = 5e9
"""Tokens times topics, over all iterations to come, from which a sweep is timed before it starts: about half a minute."""


def forecast(cells: list[Cell], runs: list[Run], jobs: int) -> str:
    """One line: how many runs there are and are still to come, how much disk and memory and how much time they will take.

    The time is predicted for long sweeps only; for that, one iteration of each engine is timed here and now.
    """
    each = dict(zip(runs, cells, strict=True))
    coming = {run: cell for run, cell in each.items() if run.state != FINISHED}
    text = f"{len(cells)} cell{'s' * (len(cells) > 1)}, {len(each)} run{'s' * (len(each) > 1)}"
    if len(coming) < len(each):
        text += f", {len(each) - len(coming)} of them finished before"
    if not coming:
        return text
    kinds = _kinds(coming)
    text += f"; up to {sum(_bytes(coming, alike) for alike in kinds) / 2**20:,.0f} MB on disk"
    text += f", {memory_forecast([cell.planned for cell in coming.values()], jobs)}"
    seconds = _seconds(coming, kinds, jobs)
    return text if seconds is None else f"{text}; about {duration(seconds)}, {jobs} at a time"


def duration(seconds: float) -> str:
    """A time with its unit: seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _kinds(coming: dict[Run, Cell]) -> list[list[Run]]:
    """The runs in groups of the same engine and options, in each the one with the largest iterations first."""
    kinds: dict[tuple, list[Run]] = {}
    for run in sorted(coming, key=lambda run: _size(coming[run]), reverse=True):
        kinds.setdefault((coming[run].spec.engine, repr(coming[run].spec.options)), []).append(run)
    return list(kinds.values())


def _size(cell: Cell) -> int:
    """Tokens times topics: time and disk are taken to be proportional to it."""
    return cell.train.n_items * cell.spec.model.get("n_topics", 1)


def _bytes(coming: dict[Run, Cell], alike: list[Run]) -> float:
    """Bytes on disk of the runs of a kind, at most: counts before compression, and checkpoints in proportion to the first."""
    hardest = coming[alike[0]]
    each = state_bytes(hardest.spec, hardest.train) / _size(hardest)
    return sum(_snapshots(run, coming[run]) + each * _size(coming[run]) for run in alike)


def _snapshots(run: Run, cell: Cell) -> int:
    snapshot = snapshot_bytes(cell.spec, cell.train)
    n_snapshots = -(-run.status()["n_iterations"] // cell.spec.snapshot_every)
    return snapshot * min(n_snapshots, max(2, SNAPSHOT_BUDGET // snapshot))


def _seconds(coming: dict[Run, Cell], kinds: list[list[Run]], jobs: int) -> float | None:
    """Time of all runs, from that of one iteration of each kind; None for a short sweep."""
    visits = {run: _visits(run, cell) for run, cell in coming.items()}
    if sum(visits.values()) < LONG:
        return None
    seconds = 0.0
    for alike in kinds:
        hardest = coming[alike[0]]
        seconds += _one_iteration(hardest) / _size(hardest) * sum(visits[run] for run in alike)
    return seconds / min(jobs, len(coming), os.cpu_count() or 1)


def _visits(run: Run, cell: Cell) -> float:
    """Tokens times topics, over the iterations to come; no more than its stop rule allows in steps."""
    status, rule = run.status(), cell.spec.rule
    visits = (status["n_iterations"] - status["iteration"]) * _size(cell)
    return min(visits, cell.train.n_tokens * rule.tolerance) if rule and rule.on == "steps" else visits


def _one_iteration(cell: Cell) -> float:
    """Seconds of the second iteration of a cell's run in this process, with the time to score it."""
    spec = replace(cell.spec.lasting(3), snapshot_every=3)
    times: list[float] = []
    iterate(
        spec,
        cell.train,
        cell.test,
        initial_position(spec, cell.train, cell.test),
        MemorySink(spec, cell.train),
        MemoryControl(),
        lambda position, scores: times.append(time.perf_counter()),
    )
    return times[1] - times[0]
