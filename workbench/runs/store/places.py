"""Find the folders of runs without importing anything heavy, so that a shell completes their names."""

import os
from contextlib import suppress
from pathlib import Path

from workbench.errors import InputError

DATA = "data.zarr"
ABOUT = (f"{DATA}/zarr.json", "status.json")
"""Files by which a run is known, one of which may be lost."""


def default_store() -> Path:
    """Return the folder that ``WORKBENCH_STORE`` names, else ``runs`` in the working folder."""
    return Path(os.environ.get("WORKBENCH_STORE") or "runs")


def is_run(path: Path) -> bool:
    """Return whether the folder is a run, and not a half-made or half-removed one."""
    try:
        return not path.name.startswith(".") and any((path / name).exists() for name in ABOUT)
    except OSError:  # a name that is too long for a file, or a folder that may not be looked into
        return False


def run_paths(store: Path) -> list[Path]:
    """Return the folders of all runs of a store, oldest first, without those that are removed meanwhile.

    Raises InputError for a folder that cannot be listed, which differs from a store without runs.
    """
    try:
        inside = [Path(store) / name for name in os.listdir(store)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(
            f"the store {store} cannot be read: {error.strerror}; check the folder"
        ) from error
    moments = {path: _made(path) for path in inside if is_run(path)}
    return sorted(
        (path for path, when in moments.items() if when is not None),
        key=lambda path: (moments[path], path.name),
    )


def _made(path: Path) -> int | None:
    """Return when a run was made, or last changed where the file that records it is lost; None where neither is known."""
    for name in ABOUT:
        with suppress(OSError):
            return (path / name).stat().st_mtime_ns
    return None
