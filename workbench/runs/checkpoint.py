"""A position on disk: the state's arrays and the scorer's average in one npz, replaced whole, no pickle."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from workbench.kernels.lanes import aligned_zeros
from workbench.runs.loop import Position
from workbench.runs.scoring import Average


def write_checkpoint(path: Path, position: Position) -> None:
    """Writes the position to the file, or leaves the file as it was."""
    partial = path.with_name(f"{path.name}.partial")
    state = {f"state_{name}": value for name, value in position.state._asdict().items()}
    with open(partial, "wb") as file:
        np.savez(
            file, iteration=position.iteration, elapsed=position.elapsed, cpu_time=position.cpu_time,
            updates=position.updates, probability=position.average.probability, n_averaged=position.average.n_averaged, **state,
        )
    os.replace(partial, path)


def read_checkpoint(path: Path, state_type: type) -> Position | None:
    """The position in the file; None where there is no whole one."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            state = state_type(*(_restored(file[f"state_{name}"]) for name in state_type._fields))
            average = Average(file["probability"], int(file["n_averaged"]))
            clocks = float(file["elapsed"]), float(file["cpu_time"]), int(file["updates"])
            return Position(int(file["iteration"]), state, average, *clocks)
    except (OSError, ValueError, KeyError, EOFError):
        return None
    except Exception as error:  # zipfile.BadZipFile, zlib.error: a damaged file is as good as none
        if type(error).__module__ in ("zipfile", "zlib"):
            return None
        raise


def _restored(values: np.ndarray):
    """An aligned copy of an array, or the number that was a field of the state."""
    if values.ndim == 0:
        return values.item()
    array = aligned_zeros(values.shape, values.dtype)
    array[...] = values
    return array
