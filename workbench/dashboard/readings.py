"""What the store says at the moment, read once for every session of the process.

A thread looks at the store twice a second for as long as somebody asks, and leaves an immutable
`Listing`; a session's tick takes the latest one and never waits for the disk. Only new rows are read;
a run that has ended is read again when its heartbeat file changes.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.experiments import IN_WORDS
from workbench.runs.control import PAUSED, RUNNING
from workbench.runs.spec import RunSpec
from workbench.runs.store import WAITING, RunReader, run_paths

COLUMNS = (
    "iteration", "updates", "elapsed",
    "test_perplexity", "test_perplexity_state", "test_perplexity_average", "train_perplexity",
)
"""The columns of a reading's numbers; NaN where a run does not have one."""
MOST_POINTS = 2000
"""Points that a curve has at most: more than a screen has pixels for, little enough for a thousand runs."""
LOOK_EVERY = 0.5
PATIENCE = 5.0
"""Seconds between two looks, and without a question before the thread ends."""
ALIVE = (WAITING, RUNNING, PAUSED)
UNREADABLE = "unreadable"


class Reading(NamedTuple):
    """A run as last read. ``spec`` is None for a run that cannot be read; ``status["message"]`` says why."""

    path: Path
    spec: RunSpec | None
    label: str                # engine and telling options
    status: dict              # see `workbench.runs.store.read_status`
    stride: int               # every stride-th row is a point of the curve
    numbers: np.ndarray       # (point, COLUMNS) float64
    latest: np.ndarray        # (COLUMNS,) the last committed row; NaN before the first

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def state(self) -> str:
        return self.status["state"]


class Listing(NamedTuple):
    """All runs of a store, newest first, and the number of the look that changed something last."""

    version: int
    readings: tuple[Reading, ...]


class _Follower:
    """Reads one run again and again."""

    def __init__(self, path: Path):
        self._reader = RunReader(path)
        self._wanted = [1 + self._reader.names.index(name) if name in self._reader.names else -1 for name in COLUMNS[1:]]
        self._n_rows, self._numbers = 0, np.empty((0, len(COLUMNS)))
        self._latest, self._stamp, self.reading = np.full(len(COLUMNS), np.nan), None, None

    def look(self) -> Reading:
        """The run as it is; the very same object when nothing has changed."""
        path = self._reader.path
        stamp = tuple(_stamp(path / name) for name in ("status.json", "end.json"))
        if self.reading is not None and self.reading.state not in ALIVE and stamp == self._stamp:
            return self.reading
        spec, status = self._reader.spec(), self._reader.status()
        stride = 1 + (spec.n_iterations // spec.record_every - 1) // MOST_POINTS
        if self.reading is None or stride != self.reading.stride:
            self._n_rows, self._numbers = 0, np.empty((0, len(COLUMNS)))
        rows = self._reader.rows(self._n_rows)
        if len(rows):
            padded = np.column_stack([rows, np.full(len(rows), np.nan)])
            rows = padded[:, [0, *self._wanted]]
            first = -self._n_rows % stride
            self._numbers = np.concatenate([self._numbers, rows[first::stride]])
            self._n_rows, self._latest = self._n_rows + len(rows), rows[-1]
        reading = Reading(path, spec, spec.label(), status, stride, self._numbers, self._latest)
        changed = self.reading is None or len(rows) or (status, stride) != (self.reading.status, self.reading.stride)
        self._stamp, self.reading = stamp, reading if changed else self.reading
        return self.reading


class Readings:
    """The listing of one store; `readings_of` hands out the one of the process."""

    def __init__(self, store: Path):
        self.store = store
        self._followers: dict[tuple, _Follower] = {}
        self._listing, self._asked = Listing(0, ()), 0.0
        self._lock, self._thread = threading.Lock(), None
        self._nudged, self._looked = threading.Event(), threading.Event()

    def latest(self, patience: float = 0.0) -> Listing:
        """The last listing; the first time, waits up to ``patience`` seconds for one."""
        with self._lock:
            self._asked = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="workbench-readings", daemon=True)
                self._thread.start()
        self._looked.wait(patience)
        return self._listing

    def nudge(self) -> None:
        """Looks again at once, because something was just asked of a run."""
        self._nudged.set()

    def look(self) -> Listing:
        """Looks at the store now, in this thread."""
        followers, readings = {}, []
        for path in run_paths(self.store):
            try:
                key = (path, (path / "data.zarr").stat().st_ino)
                follower = followers[key] = self._followers.get(key) or _Follower(path)
                readings.append(follower.look())
            except Exception as error:  # whatever is wrong with one run, the others are to be seen
                if path.exists():
                    readings.append(_unreadable(path, error))
        self._followers = followers
        readings.reverse()
        known = self._listing.readings
        same = len(known) == len(readings) and all(
            new is old or (new.spec is None and new[:4] == old[:4]) for new, old in zip(readings, known, strict=True)
        )
        if not same:
            self._listing = Listing(self._listing.version + 1, tuple(readings))
        self._looked.set()
        return self._listing

    def _follow(self) -> None:
        while True:
            self.look()
            self._nudged.wait(LOOK_EVERY)
            self._nudged.clear()
            with self._lock:
                if time.monotonic() - self._asked > PATIENCE:
                    self._thread = None
                    self._looked.clear()
                    return


_READINGS: dict[Path, Readings] = {}


def readings_of(store: Path) -> Readings:
    """The process's readings of a store."""
    return _READINGS.setdefault(Path(store).resolve(), Readings(Path(store)))


def told_changes(spec: RunSpec) -> str:
    """What was done to the corpus first, and what the run started from; empty where it is as usual."""
    split = spec.split or {}
    parts = [f"the {split['top_words']:,} most frequent words"] if "top_words" in split else []
    parts += [IN_WORDS[split["singletons"]]] if "singletons" in split else []
    parts += [f"started from iteration {spec.start['iteration']} of {spec.start['name']}"] if spec.start else []
    return "; ".join(parts)


def _unreadable(path: Path, error: Exception) -> Reading:
    message = str(error) or type(error).__name__
    status = {"state": UNREADABLE, "iteration": 0, "n_iterations": 0, "time_left": None, "message": message}
    return Reading(path, None, path.name, status, 1, np.empty((0, len(COLUMNS))), np.full(len(COLUMNS), np.nan))


def _stamp(path: Path) -> int:
    """When the file was replaced last; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
