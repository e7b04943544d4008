"""Forecast of a sweep before it starts: its runs, disk, memory and time."""

import os
import time
from dataclasses import replace

from workbench.runs.execution.control import MemoryControl
from workbench.runs.execution.memory_check import Planned, memory_forecast
from workbench.runs.execution.run import Run
from workbench.runs.loop import initial_position, iterate
from workbench.runs.memory import MemorySink
from workbench.runs.parts.whole import Whole
from workbench.runs.store.create import SNAPSHOT_BUDGET, snapshot_bytes
from workbench.runs.store.status import FINISHED

LONG = 5e9
"""Tokens times topics, over all iterations to come, from which a sweep is timed before it starts: about half a minute."""


def forecast(
    cells: list[Planned], runs: list[Run], jobs: int, n_processors: int | None = None
) -> str:
    """One line: how many runs there are and are still to come, how much disk and memory and how much time they will take.

    The time is predicted for long sweeps only; for that, one iteration of each engine is timed here and now.
    n_processors : on which runs go on at the same speed side by side; those of this machine where None.
    """
    each = dict(zip(runs, cells, strict=True))
    coming = {run: cell for run, cell in each.items() if run.state != FINISHED}
    text = f"{len(cells)} cell{'s' * (len(cells) > 1)}, {len(each)} run{'s' * (len(each) > 1)}"
    if len(coming) < len(each):
        text += f", {len(each) - len(coming)} of them finished before"
    if not coming:
        return text
    # of the same engine and options, the largest iterations first
    kinds: dict[tuple, list[Run]] = {}
    for run in sorted(coming, key=lambda run: _size(coming[run]), reverse=True):
        kinds.setdefault((coming[run].spec.engine, repr(coming[run].spec.options)), []).append(run)
    n_bytes = sum(_bytes([(run, coming[run]) for run in alike]) for alike in kinds.values())
    text += (
        f"; up to {n_bytes / 2**20:,.0f} MB on disk, {memory_forecast(list(coming.values()), jobs)}"
    )
    visits = {run: _visits(run, cell) for run, cell in coming.items()}
    if sum(visits.values()) < LONG:
        return text
    seconds = 0.0
    for hardest, *others in kinds.values():
        cell = coming[hardest]
        seconds += (
            one_iteration(cell) / _size(cell) * sum(visits[run] for run in (hardest, *others))
        )
    return f"{text}; about {duration(seconds / min(jobs, len(coming), n_processors or os.cpu_count() or 1))}, {jobs} at a time"


def duration(seconds: float) -> str:
    """A time with its unit: seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _size(cell: Planned) -> int:
    """Tokens times topics: time and disk are taken to be proportional to it."""
    return cell.train.n_items * (cell.spec.n_topics or 1)


def _bytes(alike: list[tuple[Run, Planned]]) -> float:
    """Bytes on disk of the runs of a kind, at most: counts before compression, and checkpoints in proportion to the first."""
    hardest = alike[0][1]
    engine, model, options = hardest.spec.parts(hardest.train)
    each, found = engine.memory(hardest.train, model, options).state / _size(hardest), 0.0
    for run, cell in alike:
        snapshot = snapshot_bytes(cell.spec, cell.train)
        n_snapshots = -(-run.status()["n_iterations"] // cell.spec.snapshot_every)
        found += snapshot * min(n_snapshots, max(2, SNAPSHOT_BUDGET // snapshot)) + each * _size(
            cell
        )
    return found


def _visits(run: Run, cell: Planned) -> float:
    """Tokens times topics, over the iterations to come; no more than its stop rule allows in steps."""
    status, rule = run.status(), cell.spec.rule
    visits = (status["n_iterations"] - status["iteration"]) * _size(cell)
    return (
        min(visits, cell.train.n_tokens * rule.tolerance) if rule and rule.on == "steps" else visits
    )


def one_iteration(cell: Planned) -> float:
    """Seconds of the second iteration of a cell's run in this process, with the time to score it."""
    spec, train, test = replace(cell.spec.lasting(3), snapshot_every=3), cell.train, cell.test
    times: list[float] = []
    data = Whole(spec, train, test)
    iterate(
        spec,
        data,
        initial_position(spec, data),
        MemorySink(spec, train),
        MemoryControl(),
        lambda position, scores: times.append(time.perf_counter()),
    )
    return times[1] - times[0]
