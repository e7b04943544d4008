"""Control and monitor a run through small files in its folder: the requested state, the present state, and its end.

`control.json` has the requested state; any process may write it. `status.json` has the present state and the heartbeat; only
the run's process writes it. `end.json` has the number of iterations and the stop rule. All are replaced as a whole. The lock of
the run, or of the queue in which it waits, shows whether a process computes it.
"""

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from workbench.data.saving import replacing
from workbench.errors import InputError
from workbench.models.word_priors import FOLDER
from workbench.runs.interventions import interventions_of
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
"""Seconds without a heartbeat after which a run counts as interrupted, if its lock cannot be tested."""
LOCK_TIMEOUT = 5.0
"""Seconds to wait for another writer of a JSON file, which needs milliseconds."""
QUEUES = ".queues"
"""Folder of a store with the locks of its queues."""
KILLED_FOR_MEMORY = "oom_kill"
"""Entry of /proc/vmstat with the number of processes that Linux has killed for lack of memory since it started."""


INTERVENTIONS = "interventions.json"
"""The file with the settings that were turned while the run ran; see `workbench.runs.store.turning`."""
ALWAYS = ("status.json", "end.json", "kernels.json")
"""Files that a run always has."""


def replace_json(path: Path, values: dict) -> None:
    """Write the values and their checksum to a JSON file, atomically."""
    with replacing(path) as file:
        file.write(json.dumps(values | {"checksum": checksum(values)}).encode())


def read_json(path: Path, otherwise: dict | None = None) -> dict:
    """Return the values in a JSON file, without the checksum; {} if the file does not exist.

    otherwise : returned for a damaged file; by default DamagedError is raised
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
        stored_checksum = values.pop("checksum", None)
    except FileNotFoundError as error:
        if path.name in ALWAYS and is_run(path.parent):
            raise DamagedError.of(path.parent, f"{path.name} is gone") from error
        return {}
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise DamagedError.unreadable(path.parent, path.name, error) from error
    if stored_checksum != checksum(values):
        raise DamagedError.of(
            path.parent, f"{path.name} does not have the checksum it was written with"
        )
    return values


@contextlib.contextmanager
def refusing_damage(file: Path, what: str, error: type[InputError]) -> Iterator[None]:
    """Raise ``error`` with what to do if the block finds that a JSON file, which people may mend or delete, is damaged.

    what : what the file contains, for the error message
    """
    try:
        yield
    except DamagedError as damage:
        raise error(f"{what} cannot be read: {damage.what}; mend or delete {file}") from None
    except (OSError, ValueError, KeyError, TypeError) as damage:
        kind = type(damage).__name__
        raise error(f"{what} cannot be read ({kind}); mend or delete {file}") from None


@contextlib.contextmanager
def one_writer(file: Path, what: str, error: type[InputError]) -> Iterator[None]:
    """Hold the lock of a file during the block; raise ``error`` if the file is locked elsewhere or cannot be written.

    what : what the file contains, for the error message
    """
    try:
        with FileLock(f"{file}.lock", timeout=LOCK_TIMEOUT):
            yield
    except Timeout:
        raise error(f"{what} are being written by another process; try again") from None
    except OSError as system_error:
        raise error(
            f"cannot write {what}: {system_error.strerror}; make {file.parent} writable"
        ) from system_error


def stamp(file: Path) -> tuple[int, int]:
    """Return the inode and modification time (ns) of a file, to detect its replacement; (0, 0) without a file."""
    try:
        file_status = file.stat()
    except OSError:
        return 0, 0
    return file_status.st_ino, file_status.st_mtime_ns


def set_wanted(path: Path, state: str) -> None:
    """Write a requested state to `control.json` of the run in a folder."""
    replace_json(path / "control.json", {"wanted": state})


def request(path: Path, state: str) -> None:
    """Request that the run in a folder take on a state; raise StoreError if `control.json` cannot be written."""
    try:
        set_wanted(path, state)
    except OSError as error:
        raise StoreError(
            f"cannot control run '{path.name}': {error.strerror} ({path / 'control.json'}); "
            "check the permissions of that file"
        ) from error


def requested(path: Path) -> str | None:
    """Return the state requested of the run in a folder; None if there is no valid request."""
    state = read_json(path / "control.json", {}).get("wanted")
    return state if state in (RUNNING, PAUSED, STOPPED) else None


def set_state(path: Path, state: str, **more) -> None:
    """Set the state of a run that no worker computes, leaving the rest of its status file.

    more : further values of the status; ``queue`` is the file name of the lock of the queue in which the run waits, or None
    """
    replace_json(
        path / "status.json",
        read_json(path / "status.json", {}) | {"state": state, "time": time.time()} | more,
    )


def read_spec(path: Path, attributes: dict | None = None) -> RunSpec:
    """Return a run's spec, with the current number of iterations and stop rule, and the settings changed while it ran.

    attributes : the attributes from `about_run`; by default they are read
    """
    ending = read_ending(path, attributes)
    spec = ending.spec.lasting(ending.reaches, ending.rule)
    log = read_json(path / INTERVENTIONS).get("log", [])
    interventions = interventions_of([entry for entry in log if entry[0] is not None])
    return (
        replace(spec, interventions=(*spec.interventions, *interventions))
        if interventions
        else spec
    )


class Ending(NamedTuple):
    """The requested number of iterations, the stop rule, and where the rule ended the run, if it did."""

    spec: RunSpec  # the spec with which the run was created
    n_iterations: int  # requested number of iterations
    rule: StopRule | None
    settled: int | None  # the iteration after which the rule ended the run, if it did

    @property
    def reaches(self) -> int:
        """The last iteration: that at which the stop rule ended the run, else the requested number."""
        return self.settled or self.n_iterations


def read_ending(path: Path, attributes: dict | None = None) -> Ending:
    """Return the `Ending` of a run: as last requested, else as set when the run was created.

    attributes : the attributes from `about_run`; by default they are read
    """
    spec, changes = (
        RunSpec.from_json((attributes or about_run(path))["spec"], path.parent / FOLDER),
        read_json(path / "end.json"),
    )
    rule = (
        StopRule(*changes["rule"])
        if changes.get("rule")
        else None
        if "rule" in changes
        else spec.rule
    )
    return Ending(
        spec, changes.get("n_iterations") or spec.n_iterations, rule, changes.get("settled")
    )


def set_end(path: Path, n_iterations: int, rule: StopRule | None = None) -> None:
    """Set the stop rule and the number of iterations of a run, at least that of the last committed iteration.

    A run that the same rule has already ended stays ended.
    """
    old_ending = read_ending(path)
    settled = old_ending.settled if rule is not None and rule == old_ending.rule else None
    _change_ending(
        path,
        old_ending,
        n_iterations=max(n_iterations, _last_iteration(path)),
        rule=rule,
        settled=settled,
    )


def _last_iteration(path: Path) -> int:
    """Return the iteration of a run's last committed row; 0 without rows."""
    stored = Stored(path)
    committed = stored.committed()
    return int(stored.rows(committed, committed.n_rows - 1)[0, 0]) if committed.n_rows else 0


def settle(path: Path, iteration: int, rule: StopRule) -> None:
    """Record that the stop rule ended a run at an iteration, unless the rule was changed meanwhile."""
    ending = read_ending(path)
    if ending.rule == rule:
        _change_ending(path, ending, settled=iteration)


def _change_ending(path: Path, old_ending: Ending, **changes) -> None:
    if (ending := old_ending._replace(**changes)) != old_ending:
        replace_json(
            path / "end.json",
            {name: getattr(ending, name) for name in ("n_iterations", "rule", "settled")},
        )


def read_status(path: Path, attributes: dict | None = None) -> dict:
    """Return a run's state, iteration, n_iterations, time_left (seconds or None) and message, as a dict.

    If the state is `waiting`, `running` or `paused`, but no process holds the lock, the state is `interrupted`: the run can be
    resumed, and the message has the probable reason. With ``attributes``, only two small files are read. If the status file is
    damaged, state and iteration come from the rows.
    """
    n_iterations = read_ending(path, attributes).reaches
    status = {
        "iteration": 0,
        "time_left": None,
        "message": "",
        "state": LOST,
        "n_iterations": n_iterations,
    }
    try:
        status |= _status_in_file(path)
        if status["state"] == LOST:
            status |= {"time_left": None, "message": why_lost(status)}
    except DamagedError as error:
        status |= _status_from_rows(path, n_iterations) | {"message": str(error)}
    if status["state"] in (FINISHED, STOPPED):  # the number of iterations may have changed since
        status["state"] = FINISHED if status["iteration"] >= status["n_iterations"] else STOPPED
    return status


def _status_from_rows(path: Path, n_iterations: int) -> dict:
    """Return a run's state and iteration, inferred from rows and lock; {} if the rows cannot be read."""
    with contextlib.suppress(DamagedError):
        iteration = _last_iteration(path)
        end_state = FINISHED if iteration >= n_iterations else LOST
        return {"iteration": iteration, "state": RUNNING if is_held(path / "lock") else end_state}
    return {}


def _status_in_file(path: Path) -> dict:
    """Return the status in the file, with the state `interrupted` if no process computes or queues the run.

    The file is read again after the lock was free, since a worker may have ended, or another begun, in between.
    """
    status = read_json(path / "status.json")
    while status.get("state") in ALIVE and not _is_alive(path, status):
        if (second_status := read_json(path / "status.json")) == status:
            return status | {"state": LOST}
        status = second_status
    return status


def _is_alive(path: Path, status: dict) -> bool:
    """Return whether a process holds the lock of the run or its queue; without locks, whether the heartbeat is recent."""
    locks = [path / "lock"] + [
        path.parent / QUEUES / str(name) for name in [status.get("queue")] if name
    ]
    is_locked = [is_held(lock) for lock in locks]
    return any(is_locked) or (
        None in is_locked and abs(time.time() - status.get("time", 0)) <= LOST_AFTER
    )


def why_lost(status: dict) -> str:
    """Return a sentence on why a worker may have ended without an error, given its last status."""
    n_before, n_now = status.get(KILLED_FOR_MEMORY), killed_for_memory()
    if None in (n_before, n_now) or n_now <= n_before:
        return "its worker ended without an error message: it was killed, or the machine went down"
    return (
        "its worker ended without an error message, perhaps killed for lack of memory: the system has killed processes "
        "for that since"
    )


def killed_for_memory() -> int | None:
    """Return how many processes the system has killed for lack of memory; None if it keeps no count."""
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
