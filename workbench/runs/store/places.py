"""Find the folders of runs without slow imports, so that a shell can complete their names."""

import os
from contextlib import suppress
from pathlib import Path

from workbench.errors import InputError

DATA = "data.zarr"
ABOUT = (f"{DATA}/zarr.json", "status.json")
"""Files by which a folder is recognised as a run; one of them suffices."""


def default_store() -> Path:
    """Return the default store: the folder in ``WORKBENCH_STORE``, else ``runs`` in the working folder."""
    return Path(os.environ.get("WORKBENCH_STORE") or "runs")


def is_run(path: Path) -> bool:
    """Return whether a folder is a run, and not one that is being created or deleted."""
    try:
        return not path.name.startswith(".") and any((path / name).exists() for name in ABOUT)
    except OSError:  # the name is too long for a file, or the folder may not be read
        return False


def run_paths(store: Path) -> list[Path]:
    """Return the folders of all runs in a store, oldest first.

    Raises InputError if the store cannot be listed; a missing store has no runs.
    """
    try:
        folders = [Path(store) / name for name in os.listdir(store)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(
            f"the store {store} cannot be read: {error.strerror}; check the folder"
        ) from error
    times = {path: _creation_time(path) for path in folders if is_run(path)}
    return sorted(
        (path for path, time in times.items() if time is not None),
        key=lambda path: (times[path], path.name),
    )


def _creation_time(path: Path) -> int | None:
    """Return the time (ns) of a run's creation, else of its last change; None if neither is known."""
    for name in ABOUT:
        with suppress(OSError):
            return (path / name).stat().st_mtime_ns
    return None
