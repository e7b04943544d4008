"""When a run ends and what state it is in: ``end.json`` and ``status.json`` of its folder."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from workbench.runs.spec import RunSpec
from workbench.runs.stopping import StopRule
from workbench.runs.store.layout import about_run, open_group
from workbench.runs.store.status import (
    FINISHED,
    LOST,
    LOST_AFTER,
    PAUSED,
    RUNNING,
    START_PATIENCE,
    STOPPED,
    WAITING,
    read_json,
    replace_json,
)


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
    wanted = known._replace(n_iterations=max(n_iterations, reached), rule=rule, settled=settled)
    if wanted != known:
        _write_ending(path, wanted)


def settle(path: Path, iteration: int, rule: StopRule) -> None:
    """Ends the run after this iteration, by its rule, unless another rule was set in the meantime."""
    known = read_ending(path)
    if known.rule == rule:
        _write_ending(path, known._replace(settled=iteration))


def _write_ending(path: Path, ending: Ending) -> None:
    replace_json(path / "end.json", {"n_iterations": ending.n_iterations, "rule": ending.rule, "settled": ending.settled})


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
