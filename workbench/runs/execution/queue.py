"""Runs that stand in line, so many of them at work at a time: ``python -m workbench.runs.execution.queue JOBS RUN…``.

A worker that waits for its turn is a whole interpreter with all it has imported; a line of hundreds is one process.
Whoever lined the runs up may go away. A run in line is `waiting` and is steered as any other: asked to stop it leaves
the line, asked to pause it lets the others go first.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

from workbench.runs.execution.control import LOST_AFTER, PAUSED, RUNNING, STOPPED, ask, read_json, replace_json
from workbench.runs.execution.run import ENDED
from workbench.runs.execution.worker import launch
from workbench.runs.store.places import is_run
from workbench.runs.store.store import WAITING, read_status

LOOK_EVERY = 0.3
BEAT_EVERY = LOST_AFTER / 2
"""Seconds between two looks at the line, and between two heartbeats of those who wait in it."""


def line_up(paths: list[Path], jobs: int) -> None:
    """Lets the runs be taken to their ends, ``jobs`` at a time and in this order, and returns at once.

    As many as may begin now are launched here; the others wait in a process of their own.
    """
    paths = [Path(path).resolve() for path in paths]
    for path in paths[:jobs]:
        launch(path)
    waiting = paths[jobs:]
    if not waiting:
        return
    for path in waiting:
        ask(path, RUNNING)
        _set_state(path, WAITING)
    with open(waiting[0] / "worker.log", "ab") as log:
        line = subprocess.Popen(
            [sys.executable, "-m", "workbench.runs.execution.queue", str(jobs), *map(str, paths)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )
    threading.Thread(target=line.wait, daemon=True).start()  # leaves no zombie behind


def keep_line(at_work: list[Path], waiting: list[Path], jobs: int) -> None:
    """Launches those who wait, in order, whenever fewer than ``jobs`` are at work; returns when nobody waits."""
    beaten = 0.0
    while waiting := [path for path in waiting if _in_line(path)]:
        at_work = [path for path in at_work if is_run(path) and read_status(path)["state"] not in ENDED]
        ready = [path for path in waiting if _wanted(path) != PAUSED]
        for path in ready[: max(0, jobs - len(at_work))]:
            launch(path)
            waiting.remove(path)
            at_work.append(path)
        if time.monotonic() - beaten > BEAT_EVERY:
            beaten = time.monotonic()
            for path in waiting:
                _set_state(path, PAUSED if _wanted(path) == PAUSED else WAITING)
        time.sleep(LOOK_EVERY)


def _in_line(path: Path) -> bool:
    """Is the run in the line? Not when it has gone, is at work without us, or is to stop; what is wanted of it is told."""
    state = read_json(path / "status.json").get("state") if is_run(path) else None
    if state not in (WAITING, PAUSED):
        return False
    wanted = {STOPPED: STOPPED, PAUSED: PAUSED}.get(_wanted(path), WAITING)
    if state != wanted:
        _set_state(path, wanted)
    return wanted != STOPPED


def _wanted(path: Path) -> str | None:
    return read_json(path / "control.json").get("wanted")


def _set_state(path: Path, state: str) -> None:
    replace_json(path / "status.json", read_json(path / "status.json") | {"state": state, "time": time.time()})


def main() -> int:
    jobs, paths = int(sys.argv[1]), [Path(path) for path in sys.argv[2:]]
    keep_line(paths[:jobs], paths[jobs:], jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
