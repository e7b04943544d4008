"""How a run is controlled and watched through the small files of its folder, the states that it may be in, and its end.

`control.json` holds the state that is wanted, and anybody may write it; `status.json` holds the state that is, is written by
the run alone and is its heartbeat; `end.json` holds its last iteration and stop rule. All are replaced whole. Whether somebody
works on a run is not asked of these but of its lock, or of that of the queue in which it waits.
"""

import contextlib
import json
import time
from pathlib import Path
from typing import NamedTuple

from workbench.data.saving import replacing
from workbench.runs.spec import RunSpec
from workbench.runs.stopping import StopRule
from workbench.runs.store.committed import Stored
from workbench.runs.store.layout import DamagedError, StoreError, about_run, checksum
from workbench.runs.store.lock import is_held
from workbench.runs.store.places import is_run

RUNNING, PAUSED, STOPPED = "running", "paused", "stopped"
WAITING, FINISHED, FAILED, LOST = "waiting", "finished", "failed", "interrupted"
ALIVE = (WAITING, RUNNING, PAUSED)
LOST_AFTER = 8.0
"""Seconds without a heartbeat after which a run counts as interrupted where its lock cannot be asked."""
QUEUES = ".queues"
"""Folder of a store with the locks of its queues."""
KILLED_FOR_MEMORY = "oom_kill"
"""In /proc/vmstat: processes that Linux has ended for want of memory since it started."""


ALWAYS = ("status.json", "end.json", "kernels.json")
"""Files that a run has from its beginning."""


def replace_json(path: Path, values: dict) -> None:
    """Writes the file whole or not at all, with its checksum."""
    with replacing(path) as file:
        file.write(json.dumps(values | {"checksum": checksum(values)}).encode())


def read_json(path: Path, otherwise: dict | None = None) -> dict:
    """The values of the file; nothing where there is none yet.

    For a damaged file: ``otherwise``, or a DamagedError where that is None.
    """
    try:
        return _read_json(path)
    except DamagedError:
        if otherwise is None:
            raise
        return otherwise


def _read_json(path: Path) -> dict:
    try:
        values = json.loads(path.read_bytes())
        known = values.pop("checksum", None)
    except FileNotFoundError as error:
        if path.name in ALWAYS and is_run(path.parent):
            raise DamagedError.of(path.parent, f"{path.name} is gone") from error
        return {}
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise DamagedError.unreadable(path.parent, path.name, error) from error
    if known != checksum(values):
        raise DamagedError.of(
            path.parent, f"{path.name} does not have the checksum it was written with"
        )
    return values


def set_wanted(path: Path, wanted: str) -> None:
    """Records the state that is wanted of the run in a folder."""
    replace_json(path / "control.json", {"wanted": wanted})


def request(path: Path, wanted: str) -> None:
    """The same for somebody who does not work on the run: a StoreError where that cannot be written."""
    try:
        set_wanted(path, wanted)
    except OSError as error:
        raise StoreError(
            f"cannot ask run '{path.name}' for anything: {error.strerror} ({path / 'control.json'})"
        ) from error


def requested(path: Path) -> str | None:
    """The state that is wanted of the run in a folder; None where none is, or none that there is."""
    wanted = read_json(path / "control.json", {}).get("wanted")
    return wanted if wanted in (RUNNING, PAUSED, STOPPED) else None


def set_state(path: Path, state: str, **more) -> None:
    """Records the state of a run that no worker has begun, and leaves the rest of its status as it was.

    queue : file name of the lock of the queue in which it waits, None where it has left it.
    """
    replace_json(
        path / "status.json",
        read_json(path / "status.json", {}) | {"state": state, "time": time.time()} | more,
    )


def read_spec(path: Path, about: dict | None = None) -> RunSpec:
    """The spec of a run, with its present last iteration and stop rule.

    about : the attributes from `about_run`; read where None.
    """
    ending = read_ending(path, about)
    return ending.spec.lasting(ending.reaches, ending.rule)


class Ending(NamedTuple):
    """When a run is to end, and whether its stop rule has ended it."""

    spec: RunSpec  # as created
    n_iterations: int  # requested
    rule: StopRule | None
    settled: int | None  # the iteration after which the rule ended it

    @property
    def reaches(self) -> int:
        """The iteration that the run is to reach."""
        return self.settled or self.n_iterations


def read_ending(path: Path, about: dict | None = None) -> Ending:
    """The end that was requested last, or the one that the run was created with."""
    spec, moved = (
        RunSpec.from_json((about or about_run(path))["spec"]),
        read_json(path / "end.json"),
    )
    rule = StopRule(*moved["rule"]) if moved.get("rule") else None if "rule" in moved else spec.rule
    return Ending(spec, moved.get("n_iterations") or spec.n_iterations, rule, moved.get("settled"))


def set_end(path: Path, n_iterations: int, rule: StopRule | None = None) -> None:
    """Sets the last iteration, no earlier than what is committed, and the stop rule of a run.

    A run that this same rule has ended stays ended.
    """
    known = read_ending(path)
    settled = known.settled if rule is not None and rule == known.rule else None
    _change_ending(
        path, known, n_iterations=max(n_iterations, _reached(path)), rule=rule, settled=settled
    )


def _reached(path: Path) -> int:
    """The iteration of the last row that is committed; 0 before the first."""
    stored = Stored(path)
    committed = stored.committed()
    return int(stored.rows(committed, committed.n_rows - 1)[0, 0]) if committed.n_rows else 0


def settle(path: Path, iteration: int, rule: StopRule) -> None:
    """Ends the run after this iteration, by its rule, unless another rule was set in the meantime."""
    known = read_ending(path)
    if known.rule == rule:
        _change_ending(path, known, settled=iteration)


def _change_ending(path: Path, known: Ending, **changed) -> None:
    if (wanted := known._replace(**changed)) != known:
        replace_json(
            path / "end.json",
            {name: getattr(wanted, name) for name in ("n_iterations", "rule", "settled")},
        )


def read_status(path: Path, about: dict | None = None) -> dict:
    """state, iteration, n_iterations, time_left (seconds or None), message of a run, as it last said itself.

    A run that says it is alive, but whose lock is free, is `interrupted`, from the moment at which its worker ended; it can
    be resumed, and the message is what is known of the reason. Given ``about``, only two small files are read; where the first
    is damaged, the rows say how far the run is.
    """
    n_iterations = read_ending(path, about).reaches
    status = {
        "iteration": 0,
        "time_left": None,
        "message": "",
        "state": LOST,
        "n_iterations": n_iterations,
    }
    try:
        status |= _last_said(path)
        if status["state"] == LOST:
            status |= {"time_left": None, "message": why_lost(status)}
    except DamagedError as error:
        status |= _said_by_rows(path, n_iterations) | {"message": str(error)}
    if status["state"] in (FINISHED, STOPPED):  # its end may have been moved since, to either side
        status["state"] = FINISHED if status["iteration"] >= status["n_iterations"] else STOPPED
    return status


def _said_by_rows(path: Path, n_iterations: int) -> dict:
    """state and iteration of a run whose status cannot be read; nothing where its rows cannot be read either."""
    with contextlib.suppress(DamagedError):
        iteration = _reached(path)
        ended = FINISHED if iteration >= n_iterations else LOST
        return {"iteration": iteration, "state": RUNNING if is_held(path / "lock") else ended}
    return {}


def _last_said(path: Path) -> dict:
    """The status in the file, with the state `interrupted` where it says alive and nobody is.

    It is read again after the lock was found free: a worker may have ended, or another begun, in between.
    """
    said = read_json(path / "status.json")
    while said.get("state") in ALIVE and not _lives(path, said):
        if (again := read_json(path / "status.json")) == said:
            return said | {"state": LOST}
        said = again
    return said


def _lives(path: Path, said: dict) -> bool:
    """Does a process work on the run, or on the queue in which it waits? By its heartbeat where locks cannot tell."""
    asked = [path / "lock"] + [
        path.parent / QUEUES / str(name) for name in [said.get("queue")] if name
    ]
    held = [is_held(lock) for lock in asked]
    return any(held) or (None in held and abs(time.time() - said.get("time", 0)) <= LOST_AFTER)


def why_lost(said: dict) -> str:
    """What is known of why a worker ended without a word, given the last it said."""
    known, now = said.get(KILLED_FOR_MEMORY), killed_for_memory()
    if None in (known, now) or now <= known:
        return "its worker ended without a word: it was killed, or the machine went down"
    return "its worker ended without a word, perhaps killed for memory: the system has ended processes for want of it since"


def killed_for_memory() -> int | None:
    """How many processes the system has ended for want of memory; None where it does not say."""
    try:
        counters = Path("/proc/vmstat").read_text()
    except OSError:
        return None
    return next(
        (
            int(line.split()[1])
            for line in counters.splitlines()
            if line.startswith(f"{KILLED_FOR_MEMORY} ")
        ),
        None,
    )
