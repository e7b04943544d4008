"""A warm sweep in a process of its own: ``python -m workbench.runs.execution.warm_sweep LOCK``.

It goes on when the process that started it ends. Its lock is that of a queue, see `workbench.runs.execution.queue`, in which
the runs of each number of topics wait for a place; what is to be run is in the file of the lock. Stopping the runs of one
number ends it, as nothing begins from a run that has not come to its end; started again, it goes on from what is there.
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
from workbench.runs.execution.sweep import warm_rungs
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


def begin(store: Path, cold: list[list[Planned]], jobs: int) -> list[Run]:
    """Starts a warm sweep, up to ``jobs`` runs at a time, and returns its runs with the fewest topics at once.

    ``cold`` is what `workbench.runs.execution.sweep.cold_rungs` lays out. Raises SpecError where ``jobs`` of them do not fit
    into memory, StoreError where the store cannot be written; then nothing is started.
    """
    store = Path(store).resolve()
    check_room(unfinished(store, longest_of_each([cell for cells in cold for cell in cells])), jobs)
    runs = make_runs(store, cold[0], jobs)
    begun = [run for run in runs if run.state in ENDED]
    for run in runs:
        if run not in begun:
            run.resume()
    with new_lock(store / QUEUES) as lock:
        told = {
            "jobs": jobs,
            "runs": [run.name for run in runs],
            "rungs": [list(map(_written, cells)) for cells in cold],
        }
        lock.path.write_text(json.dumps(told), encoding="utf-8")
        set_waiting([run.path for run in begun if run.state != FINISHED], lock.path)
        spawn("warm_sweep", lock.path, log=runs[0].path / "worker.log", lock=lock)
    return runs


def at_work(store: Path) -> set[str]:
    """The names of the runs with the fewest topics of the warm sweeps that go on."""
    found: set[str] = set()
    for path in (Path(store) / QUEUES).glob("*"):
        with suppress(OSError, ValueError, KeyError):
            if is_held(path) and (text := path.read_text(encoding="utf-8")):
                found.update(json.loads(text)["runs"])
    return found


def climb(lock: Path) -> None:
    """Takes the runs of each number of topics to their ends, then begins those of the next from them."""
    store, told = lock.parent.parent, json.loads(lock.read_text(encoding="utf-8"))
    cold = [[_planned(store, *cell) for cell in cells] for cells in told["rungs"]]
    before: list[Run] = []
    for rung in warm_rungs(cold, store):
        if before and all(requested(run.path) == STOPPED for run in before):
            return  # asked to stop when they had ended and none of these was there
        before = make_runs(store, rung, told["jobs"])
        _run(before, lock, told["jobs"])


def _run(runs: list[Run], lock: Path, jobs: int) -> None:
    """Takes the runs to their ends; those that are at work elsewhere are waited for."""
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


def _written(cell: Planned) -> tuple[str, int, str]:
    """Spec, number of topics, and what else tells it from the cells of the same number, as JSON can hold them."""
    return (
        cell.spec.to_json(),
        cell.at["n_topics"],
        repr([value for key, value in cell.at.items() if key != "n_topics"]),
    )


def _planned(store: Path, spec: str, n_topics: int, place: str) -> Planned:
    """A cell of the sweep as `_written` wrote it, with its corpora from the store."""
    read = RunSpec.from_json(spec)
    train, test = corpora_of(store, read)
    if read.table is not None:
        train = replace(train, table=get_table(store, read.table))
    return Planned(read, train, test, {"n_topics": n_topics, "place": place})


def main() -> int:
    try:
        climb(Path(sys.argv[1]))
    except (InputError, OSError) as error:
        print(f"workbench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
