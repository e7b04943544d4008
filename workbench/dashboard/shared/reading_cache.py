"""What was read of a run that is at rest, kept in a file of its folder, so that the next server need not read it again.

What the page draws of a run takes opening its arrays and working numbers out of them: some fifteen milliseconds, which
five hundred runs make eight seconds. The file takes half a millisecond. It tells what it was made of, and counts for
nothing where that is no longer what is there; it may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

import workbench
from workbench.dashboard.shared.numbers import COLUMNS, last_alphas, numbers_of
from workbench.data.saving import partial_of
from workbench.measures import Move, learnt_by, moves
from workbench.runs.store.places import DATA

FILE = "reading.bin"
TELLING = ("zarr.json", "numbers/zarr.json", "committed/zarr.json", "committed/c/0")
"""Files of a run that are replaced when anything is committed, or when the run is another one."""


class Taken(NamedTuple):
    """What a page draws of the rows of a run, as far as they were taken in; see `run_monitor.Reading`."""

    n_rows: int = 0
    numbers: np.ndarray = np.empty((0, len(COLUMNS)))      # (point, COLUMNS) every stride-th row
    latest: np.ndarray = np.full(len(COLUMNS), np.nan)     # (COLUMNS,) the last row
    alphas: np.ndarray = np.empty(0)                       # (topic,)
    learns: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    marks: np.ndarray = np.empty((0, len(COLUMNS)))        # (kept move, COLUMNS)

    def with_rows(self, run: xr.Dataset, stride: int) -> Taken:
        """The same with iterations that are new, of which every ``stride``-th, counted from the first of all, is a point."""
        numbers, tried = numbers_of(run), tuple(moves(run))
        kept = np.isin(numbers[:, 0], [move.iteration for move in tried if move.accepted])
        return Taken(
            self.n_rows + len(numbers), np.concatenate([self.numbers, numbers[-self.n_rows % stride :: stride]]),
            numbers[-1], last_alphas(run), tuple(learnt_by(run)), self.moves + tried,
            np.concatenate([self.marks, numbers[kept]]),
        )


def origin_of(path: Path, spec: str, stride: int) -> list | None:
    """What a reading of the run depends on: sources, spec, stride, and what is committed; None where that cannot be told.

    Take it before the rows are read: whatever is committed meanwhile is then no part of it.
    """
    try:
        files = [(path / DATA / name).stat() for name in TELLING]
        committed = (path / DATA / TELLING[-1]).read_bytes()
    except OSError:
        return None
    return [_sources(), spec, stride, [[file.st_mtime_ns, file.st_size] for file in files], committed.hex()]


def keep(path: Path, origin: list, label: str, taken: Taken) -> None:
    """Writes the file whole: a line of JSON, then the numbers as they are; where the folder cannot be written, nothing."""
    told = {
        "origin": origin, "label": label, "n_rows": taken.n_rows, "learns": taken.learns, "moves": taken.moves,
        "sizes": [len(taken.numbers), len(taken.marks), len(taken.alphas)],
    }
    values = np.concatenate([taken.latest, taken.numbers.ravel(), taken.marks.ravel(), taken.alphas])
    partial = partial_of(path / FILE)
    with contextlib.suppress(OSError):
        try:
            partial.write_bytes(json.dumps(told).encode() + b"\n" + values.astype("<f8").tobytes())
            os.replace(partial, path / FILE)
        finally:
            partial.unlink(missing_ok=True)


def kept(path: Path, origin: list) -> tuple[str, Taken] | None:
    """The label of the run and what was kept of it, if it was made of just this; None otherwise."""
    try:
        line, _, data = (path / FILE).read_bytes().partition(b"\n")
        told = json.loads(line)
        if told["origin"] != origin:
            return None
        n_points, n_marks, n_alphas = told["sizes"]
        n_rows, width = 1 + n_points + n_marks, len(COLUMNS)
        values = np.frombuffer(data, "<f8").astype(float)
        rows, alphas = values[: n_rows * width].reshape(n_rows, width), values[n_rows * width :].reshape(n_alphas)
        tried, learns = tuple(Move(*move) for move in told["moves"]), tuple(told["learns"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    numbers, marks = rows[1 : 1 + n_points], rows[1 + n_points :]
    return told["label"], Taken(told["n_rows"], numbers, rows[0], alphas, learns, tried, marks)


@lru_cache(maxsize=1)
def _sources() -> str:
    """A hash of all of workbench: another version may work other numbers out of the same rows."""
    home, digest = Path(workbench.__file__).parent, hashlib.sha256()
    for path in sorted(home.rglob("*.py")):
        digest.update(str(path.relative_to(home)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
