"""Forecast the runs, disk, memory and time of a sweep before it starts."""

import os
import time
from dataclasses import replace

from workbench.numbers import format_duration, format_size
from workbench.runs.execution.memory_check import Planned, memory_forecast
from workbench.runs.execution.run import Run
from workbench.runs.loop import Control, MemorySink, initial_position, iterate
from workbench.runs.parts.laying_out import InMemoryData
from workbench.runs.store.status import FINISHED
from workbench.runs.store.writer import SNAPSHOT_BUDGET, snapshot_bytes

LONG = 5e9
"""Tokens times topics, summed over future iterations, from which a sweep counts as long and is timed: about half a minute."""


def forecast(cells: list[Planned], runs: list[Run], jobs: int, here: bool = True) -> str:
    """Return one line of text on a sweep: how many runs are unfinished, and how much disk, memory and time they need.

    The time is predicted only for long sweeps: one iteration of each engine is timed in this process.
    here : whether this machine computes the runs, so that its processors limit how many are in parallel
    """
    cell_of = dict(zip(runs, cells, strict=True))
    unfinished = {run: cell for run, cell in cell_of.items() if run.state != FINISHED}
    text = (
        f"{len(cells)} cell{'s' * (len(cells) > 1)}, {len(cell_of)} run{'s' * (len(cell_of) > 1)}"
    )
    if len(unfinished) < len(cell_of):
        text += f", {len(cell_of) - len(unfinished)} of them finished before"
    if not unfinished:
        return text
    # of the same engine and options, the largest iterations first
    kinds: dict[tuple, list[Run]] = {}
    for run in sorted(unfinished, key=lambda run: _size(unfinished[run]), reverse=True):
        kinds.setdefault(
            (unfinished[run].spec.engine, repr(unfinished[run].spec.options)), []
        ).append(run)
    n_bytes = sum(
        _bytes([(run, unfinished[run]) for run in similar_runs]) for similar_runs in kinds.values()
    )
    text += f"; up to {format_size(n_bytes)} on disk, {memory_forecast(list(unfinished.values()), jobs)}"
    visits = {run: _visits(run, cell) for run, cell in unfinished.items()}
    if sum(visits.values()) < LONG:
        return text
    seconds = 0.0
    for hardest, *others in kinds.values():
        cell = unfinished[hardest]
        seconds += (
            one_iteration(cell) / _size(cell) * sum(visits[run] for run in (hardest, *others))
        )
    seconds /= min(jobs, len(unfinished), (os.cpu_count() or 1) if here else jobs)
    return f"{text}; about {format_duration(seconds)}, {jobs} at a time"


def _size(cell: Planned) -> int:
    """Return the number of tokens times the number of topics, to which time and disk space are taken to be proportional."""
    return cell.train.n_items * (cell.spec.n_topics or 1)


def _bytes(similar_runs: list[tuple[Run, Planned]]) -> float:
    """Return an upper bound on the disk space, in bytes, of runs of one engine: uncompressed counts and checkpoints."""
    hardest = similar_runs[0][1]
    engine, model, options = hardest.spec.parts(hardest.train)
    bytes_per_size, n_bytes = (
        engine.memory(hardest.train, model, options).state / _size(hardest),
        0.0,
    )
    for run, cell in similar_runs:
        snapshot = snapshot_bytes(cell.spec, cell.train)
        n_snapshots = -(-run.status()["n_iterations"] // cell.spec.snapshot_every)
        n_bytes += snapshot * min(
            n_snapshots, max(2, SNAPSHOT_BUDGET // snapshot)
        ) + bytes_per_size * _size(cell)
    return n_bytes


def _visits(run: Run, cell: Planned) -> float:
    """Return tokens times topics times remaining iterations; a stop rule on steps may limit the product."""
    status, rule = run.status(), cell.spec.rule
    visits = (status["n_iterations"] - status["iteration"]) * _size(cell)
    return (
        min(visits, cell.train.n_tokens * rule.tolerance) if rule and rule.on == "steps" else visits
    )


def one_iteration(cell: Planned) -> float:
    """Return the seconds of one iteration with scoring in this process: the second of three iterations is timed."""
    spec, train, test = replace(cell.spec.lasting(3), snapshot_every=3), cell.train, cell.test
    times: list[float] = []
    data, control = InMemoryData(spec, train, test), Control()
    iterate(
        spec,
        data,
        initial_position(spec, data, control),
        MemorySink(spec, train),
        control,
        lambda position, scores: times.append(time.perf_counter()),
    )
    return times[1] - times[0]
