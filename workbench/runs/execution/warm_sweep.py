"""A warm sweep in a separate process: ``python -m workbench.runs.execution.warm_sweep LOCK``.

It survives the process that started it. Its lock is that of a queue (`workbench.runs.execution.queue`) in which the runs of
each number of topics wait; the lock file contains the plan. Stopping the runs of one number ends the sweep, as no run
starts from one that has not finished; a restarted sweep continues with the runs in the store.
"""

import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from workbench.errors import InputError
from workbench.runs.execution.memory_check import Planned, check_room, unfinished
from workbench.runs.execution.queue import new_lock, run_queue, set_waiting
from workbench.runs.execution.run import ENDED, Run, longest_of_each, make_runs
from workbench.runs.execution.sweep import warm_groups
from workbench.runs.execution.worker import spawn
from workbench.runs.spec import RunSpec
from workbench.runs.store.archive import corpora_of, get_table
from workbench.runs.store.lock import is_held
from workbench.runs.store.status import (
    FINISHED,
    QUEUES,
    RUNNING,
    STOPPED,
    WAITING,
    request,
    requested,
)


def begin(store: Path, groups: list[list[Planned]], jobs: int) -> list[Run]:
    """Start a warm sweep in the background, ``jobs`` runs at a time; return its runs with the fewest topics.

    groups : from `workbench.runs.execution.sweep.cold_groups`
    Raises SpecError if ``jobs`` of the runs do not fit into memory, and StoreError if the store cannot be written; then nothing
    is started.
    """
    store = Path(store).resolve()
    check_room(
        unfinished(store, longest_of_each([cell for cells in groups for cell in cells])), jobs
    )
    runs = make_runs(store, groups[0], jobs)
    ended_runs = [run for run in runs if run.state in ENDED]
    for run in runs:
        if run not in ended_runs:
            run.resume()
    with new_lock(store / QUEUES) as lock:
        plan = {
            "jobs": jobs,
            "runs": [run.name for run in runs],
            "rungs": [list(map(_plain_cell, cells)) for cells in groups],
        }
        lock.path.write_text(json.dumps(plan), encoding="utf-8")
        set_waiting([run.path for run in ended_runs if run.state != FINISHED], lock.path)
        spawn("warm_sweep", lock.path, log=runs[0].path / "worker.log", lock=lock)
    return runs


def at_work(store: Path) -> set[str]:
    """Return the names of the runs with the fewest topics in each warm sweep that is in progress."""
    names: set[str] = set()
    for path in (Path(store) / QUEUES).glob("*"):
        with suppress(OSError, ValueError, KeyError):
            if is_held(path) and (text := path.read_text(encoding="utf-8")):
                names.update(json.loads(text)["runs"])
    return names


def climb(lock: Path) -> None:
    """Compute a warm sweep in order of the number of topics; each run starts from the one with the next smaller number, if any.

    lock : the lock file, which contains the plan
    """
    store, plan = lock.parent.parent, json.loads(lock.read_text(encoding="utf-8"))
    groups = [[_planned_cell(store, *cell) for cell in cells] for cells in plan["rungs"]]
    runs: list[Run] = []
    for group in warm_groups(groups, store):
        if runs and all(requested(run.path) == STOPPED for run in runs):
            return  # a stop was requested between two numbers of topics
        runs = make_runs(store, group, plan["jobs"])
        _run(runs, lock, plan["jobs"])


def _run(runs: list[Run], lock: Path, jobs: int) -> None:
    """Compute runs to their ends, and wait for those that other processes compute."""
    states = {run: run.state for run in runs}
    for run, state in states.items():
        if state == FINISHED and requested(run.path) == STOPPED:
            request(run.path, RUNNING)
    set_waiting(
        [run.path for run, state in states.items() if state in ENDED and state != FINISHED], lock
    )
    run_queue(
        [run.path for run, state in states.items() if state not in ENDED and state != WAITING],
        [
            run.path
            for run, state in states.items()
            if state == WAITING or (state in ENDED and state != FINISHED)
        ],
        jobs,
    )
    for run in runs:
        run.wait()


def _plain_cell(cell: Planned) -> tuple[str, int, str]:
    """Return (spec, number of topics, values of the other keys) of a cell in a form that JSON can represent."""
    return (
        cell.spec.to_json(),
        cell.key_values["n_topics"],
        repr([value for key, value in cell.key_values.items() if key != "n_topics"]),
    )


def _planned_cell(store: Path, spec: str, n_topics: int, key_values: str) -> Planned:
    """Return the run of a sweep that `_plain_cell` put into JSON, with its corpora read from the store."""
    run_spec = RunSpec.from_json(spec)
    train, test = corpora_of(store, run_spec)
    if run_spec.table is not None:
        train = replace(train, table=get_table(store, run_spec.table))
    return Planned(run_spec, train, test, {"n_topics": n_topics, "place": key_values})


def main() -> int:
    try:
        climb(Path(sys.argv[1]))
    except (InputError, OSError) as error:
        print(f"workbench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
