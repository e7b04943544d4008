"""How a run is controlled and watched through the small files of its folder, the states that it may be in, and its end.

`control.json` holds the state that is wanted, and anybody may write it; `status.json` holds the state that is, is written by
the run alone and is its heartbeat; `end.json` holds its last iteration and stop rule. All are replaced whole.
"""

import json
import math
import time
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from workbench.data.saving import replacing
from workbench.runs.spec import RunSpec
from workbench.runs.stopping import StopRule
from workbench.runs.store.layout import about_run, open_group

RUNNING, PAUSED, STOPPED = "running", "paused", "stopped"
WAITING, FINISHED, FAILED, LOST = "waiting", "finished", "failed", "interrupted"
LOST_AFTER = 8.0
"""Seconds without a heartbeat after which a run counts as interrupted."""
START_PATIENCE = 60.0
"""Seconds that a worker may take to start, or to be the next of its queue."""


def replace_json(path: Path, values: dict) -> None:
    """Writes the file whole or not at all."""
    with replacing(path) as file:
        file.write(json.dumps(values).encode())


def read_json(path: Path) -> dict:
    """The values of the file; nothing where there is none yet."""
    try:
        values = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def request(path: Path, wanted: str) -> None:
    """Records the state that is wanted of the run in a folder."""
    replace_json(path / "control.json", {"wanted": wanted})


def requested(path: Path) -> str | None:
    """The state that is wanted of the run in a folder."""
    return read_json(path / "control.json").get("wanted")


def set_state(path: Path, state: str) -> None:
    """Records the state of a run that has no worker, and leaves the rest of its status as it was."""
    replace_json(path / "status.json", read_json(path / "status.json") | {"state": state, "time": time.time()})


def read_spec(path: Path, about: dict | None = None) -> RunSpec:
    """The spec of a run, with its present last iteration and stop rule.

    about : the attributes from `about_run`; read where None.
    """
    ending = read_ending(path, about)
    return ending.spec.lasting(ending.reaches, ending.rule)


class Ending(NamedTuple):
    """When a run is to end, and whether its stop rule has ended it."""

    spec: RunSpec                # as created
    n_iterations: int            # requested
    rule: StopRule | None
    settled: int | None          # the iteration after which the rule ended it

    @property
    def reaches(self) -> int:
        """The iteration that the run is to reach."""
        return self.settled or self.n_iterations


def read_ending(path: Path, about: dict | None = None) -> Ending:
    """The end that was requested last, or the one that the run was created with."""
    spec, moved = RunSpec.from_json((about or about_run(path))["spec"]), read_json(path / "end.json")
    rule = StopRule(*moved["rule"]) if moved.get("rule") else None if "rule" in moved else spec.rule
    return Ending(spec, moved.get("n_iterations") or spec.n_iterations, rule, moved.get("settled"))


def set_end(path: Path, n_iterations: int, rule: StopRule | None = None) -> None:
    """Sets the last iteration, no earlier than what is committed, and the stop rule of a run.

    A run that this same rule has ended stays ended.
    """
    group = open_group(path)
    known, n_rows = read_ending(path), int(group["committed"][0])
    reached = int(group["numbers"][n_rows - 1, 0]) if n_rows else 0
    settled = known.settled if rule is not None and rule == known.rule else None
    _change_ending(path, known, n_iterations=max(n_iterations, reached), rule=rule, settled=settled)


def settle(path: Path, iteration: int, rule: StopRule) -> None:
    """Ends the run after this iteration, by its rule, unless another rule was set in the meantime."""
    known = read_ending(path)
    if known.rule == rule:
        _change_ending(path, known, settled=iteration)


def _change_ending(path: Path, known: Ending, **changed) -> None:
    if (wanted := known._replace(**changed)) != known:
        replace_json(path / "end.json", {name: getattr(wanted, name) for name in ("n_iterations", "rule", "settled")})


def read_status(path: Path, about: dict | None = None) -> dict:
    """state, iteration, n_iterations, time_left (seconds or None), message of a run, from its last heartbeat.

    A run whose status is alive, but without a recent heartbeat and without a writer, is `interrupted`; it can be
    resumed. Given ``about``, only two small files are read.
    """
    status = {"iteration": 0, "time_left": None, "message": "", "state": LOST} | read_json(path / "status.json")
    status["n_iterations"] = read_ending(path, about).reaches
    patience = {RUNNING: LOST_AFTER, PAUSED: LOST_AFTER, WAITING: START_PATIENCE}.get(status["state"], math.inf)
    if time.time() - status.get("time", 0) > patience and not is_written(path):
        status |= {"state": LOST, "time_left": None}
    if status["state"] in (FINISHED, STOPPED):  # its end may have been moved since, to either side
        status["state"] = FINISHED if status["iteration"] >= status["n_iterations"] else STOPPED
    return status


def is_written(path: Path) -> bool:
    """Does a living process hold the lock of the run?"""
    try:
        with FileLock(str(path / "lock"), timeout=0):
            return False
    except Timeout:
        return True
