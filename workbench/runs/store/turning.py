"""The log of the settings that people turn while a run runs: ``interventions.json`` in its folder.

Any process appends what it asks for; its iteration is null until the worker of the run takes it, at the next step, and writes
the iteration down before that step. The file is replaced as a whole under a lock, so a request is in it or not, and is taken
once. What has taken effect is part of the run's spec (`status.read_spec`).
"""

import getpass
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from workbench.runs.interventions import Intervention, checked_changes
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import (
    FINISHED,
    INTERVENTIONS,
    one_writer,
    read_json,
    read_spec,
    read_status,
    replace_json,
)


def requested_changes(path: Path) -> list[Intervention]:
    """Return the changes of settings that were requested while a run ran, in order; iteration 0: not yet applied."""
    return [
        Intervention(iteration or 0, changes, *origin)
        for iteration, changes, *origin in read_json(path / INTERVENTIONS).get("log", [])
    ]


def pending(path: Path) -> list[Intervention]:
    """Return the requested changes of settings that a run has not yet applied, in order, with iteration 0."""
    return [request for request in requested_changes(path) if not request.iteration]


def ask(path: Path, changes: Mapping, who: str | None = None) -> dict[str, float]:
    """Ask the run in a folder to change some settings before its next step; return setting → checked value.

    Raises
    ------
    OptionError
        For a setting that cannot be turned, or an invalid value.
    StoreError
        The run has finished, or its folder cannot be written.
    """
    refuse_finished(path)
    requests, spec = pending(path), read_spec(path)
    for request in requests:
        intervention = request._replace(iteration=spec.held_after + 1)
        spec = replace(spec, interventions=(*spec.interventions, intervention))
    values = checked_changes(spec, changes)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    entry = [None, values, who if who is not None else user_name(), when]
    _change(path, lambda log: [*log, entry])
    return values


def refuse_finished(path: Path) -> None:
    """Raise StoreError if the run in a folder has finished."""
    status = read_status(path)
    if status["state"] == FINISHED:
        raise StoreError(
            f"run '{path.name}' has finished at iteration {status['iteration']}, so nothing of it can be turned; "
            "resume it with more iterations first, or fit another run from it with start="
        )


def take(path: Path, iteration: int) -> None:
    """Record in a run's log that all pending changes of settings take effect at an iteration."""
    _change(path, lambda log: [[first or iteration, *rest] for first, *rest in log])


def user_name() -> str:
    """Return the name of the user of this process; "" if it has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def _change(path: Path, change: Callable[[list], list]) -> None:
    file = path / INTERVENTIONS
    with one_writer(file, f"the interventions of run '{path.name}'", StoreError):
        replace_json(file, {"log": change(read_json(file).get("log", []))})
