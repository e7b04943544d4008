"""Where runs lie: known without importing anything heavy, so that a shell can complete their names."""

import os
from pathlib import Path

DATA = "data.zarr"


def default_store() -> Path:
    """The folder that ``WORKBENCH_STORE`` names, else ``runs`` in the working folder."""
    return Path(os.environ.get("WORKBENCH_STORE") or "runs")


def is_run(path: Path) -> bool:
    """Is the folder a run (and not a half-made or half-removed one)?"""
    return not path.name.startswith(".") and (path / DATA / "zarr.json").exists()


def run_paths(store: Path) -> list[Path]:
    """The folders of all runs of a store, oldest first."""
    found = [path for path in Path(store).glob("*") if is_run(path)]
    return sorted(found, key=lambda path: ((path / DATA / "zarr.json").stat().st_mtime_ns, path.name))
