"""Checkpoints: the position of a run (state, running average) in one npz, replaced whole, no pickle.

Of a corpus that is kept in parts the rows of documents are in a folder beside it, which is written first and named in it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.data.archives import has_all, write_arrays
from workbench.kernels.simd.vectors import aligned_copy
from workbench.runs.position import Position
from workbench.runs.scoring import Average
from workbench.runs.spec import SpecError

if TYPE_CHECKING:
    from workbench.engines.engine import Engine

ABOUT = ("iteration", "elapsed", "cpu_time", "updates")
PARTS = "parts-"
T = TypeVar("T")


def write_checkpoint(path: Path, position: Position) -> None:
    """Write the position to the file, or leave the file as it was where that fails."""
    state = {f"state_{name}": value for name, value in position.state._asdict().items()}
    average = {
        name: value for name, value in position.average._asdict().items() if value is not None
    }
    arrays = {name: getattr(position, name) for name in ABOUT} | average | state
    if position.rows is None:
        write_arrays(path, arrays)
        return
    folder = parts_folder(path, position.iteration)
    position.rows.save(folder)
    write_arrays(path, arrays)
    remove_other_parts(path, position.iteration)


def remove_other_parts(path: Path, iteration: int) -> None:
    """Delete the rows of documents of all checkpoints but that of an iteration."""
    for other in path.parent.glob(f"{PARTS}*"):
        if other != parts_folder(path, iteration):
            shutil.rmtree(other, ignore_errors=True)


def no_checkpoint(run: str) -> SpecError:
    """Return the error for a run without a whole checkpoint."""
    return SpecError(f"run '{run}' has no whole checkpoint; `workbench resume {run}` makes one")


def parts_folder(path: Path, iteration: int) -> Path:
    """Return the folder with the rows of documents of the checkpoint of an iteration."""
    return path.with_name(f"{PARTS}{iteration}")


def read_checkpoint(path: Path, engine: Engine) -> Position | None:
    """Return the position in the file; None where there is no whole one."""

    def position(file) -> Position:
        fields = [_restored(file[f"state_{name}"]) for name in engine.state._fields]
        clocks = float(file["elapsed"]), float(file["cpu_time"]), int(file["updates"])
        return Position(
            int(file["iteration"]),
            engine.state(*fields),
            _average(file),
            *clocks,
        )

    return _read(path, position)


def read_average(path: Path) -> tuple[int, Average] | None:
    """Return iteration and running average of the checkpoint, without its state; None where there is no whole one."""
    return _read(path, lambda file: (int(file["iteration"]), _average(file)))


def _read(path: Path, take: Callable[[Any], T]) -> T | None:
    """Return ``take(file)`` of the open archive; None where it is missing or damaged."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            return take(file) if has_all(file) else None
    except Exception:  # whatever numpy and zipfile make of a damaged file, which is as good as none
        return None


def _average(file) -> Average:
    return Average(
        file["probability"],
        int(file["n_averaged"]),
        file["log_of_groups"],
        float(file["log_of_all"]),
        file.get("words"),
        file.get("log_of_seen"),
    )


def _restored(values: np.ndarray):
    """Return an aligned copy of an array, or the number where the field of the state was a number."""
    if values.ndim == 0:
        return values.item()
    return aligned_copy(values)
