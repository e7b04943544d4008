"""The two files through which a run is controlled and watched, and the states that it may be in.

`control.json` holds the state that is wanted, and anybody may write it; `status.json` holds the state that is, is written by
the run alone and is its heartbeat. Both are replaced whole.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from workbench.data.saving import replacing

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
