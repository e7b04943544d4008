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
import xarray as xr

from workbench.corpus.experiments import IN_WORDS
from workbench.dashboard.numbers import COLUMNS, last_alphas, numbers_of
from workbench.measures import Move, learnt_by, moves
from workbench.runs import notes
from workbench.runs.control import PAUSED, RUNNING
from workbench.runs.dataset import label_rows
from workbench.runs.notes import Notes
from workbench.runs.spec import RunSpec
from workbench.runs.store import WAITING, RunReader, run_paths

MOST_POINTS = 2000
"""Points that a curve has at most: more than a screen has pixels for, little enough for a thousand runs."""
LOOK_EVERY = 0.5
PATIENCE = 5.0
"""Seconds between two looks, and without a question before the thread ends."""
TELL_EVERY = 1.0
"""Seconds after which a look that reads runs for the first time tells of those it has read."""
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
    alphas: np.ndarray = np.empty(0)                  # (topic,) the same of the priors of topics, if they are learnt
    learns: tuple[str, ...] = ()                      # the priors that it learns
    moves: tuple[Move, ...] = ()                      # splits and merges that it tried
    marks: np.ndarray = np.empty((0, len(COLUMNS)))   # (kept move, COLUMNS) the rows of those it kept
    notes: Notes = Notes()                            # what people wrote about it

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


class Follower:
    """Reads one run again and again."""

    def __init__(self, path: Path):
        self._reader = RunReader(path)
        self._stamp, self.reading = None, None
        self._forget()

    def _forget(self) -> None:
        self._n_rows, self._numbers, self._marks = 0, np.empty((0, len(COLUMNS))), np.empty((0, len(COLUMNS)))
        self._latest, self._alphas, self._learns, self._moves = np.full(len(COLUMNS), np.nan), np.empty(0), (), ()

    def look(self) -> Reading:
        """The run as it is; the very same object when nothing has changed."""
        path = self._reader.path
        stamp = tuple(_stamp(path / name) for name in ("status.json", "end.json", notes.FILE))
        if self.reading is not None and self.reading.state not in ALIVE and stamp == self._stamp:
            return self.reading
        spec, status = self._reader.spec(), self._reader.status()
        stride = 1 + (spec.n_iterations // spec.record_every - 1) // MOST_POINTS
        if self.reading is None or stride != self.reading.stride:
            self._forget()
        rows = self._reader.rows(self._n_rows)
        if len(rows):
            self._take_in(label_rows(self._reader.names, self._reader.vectors, rows, {"spec": spec.to_json()}), stride)
        reading = Reading(
            path, spec, spec.label(), status, stride, self._numbers, self._latest, self._alphas, self._learns, self._moves,
            self._marks, self._written(stamp[-1]),
        )
        told = status, stride, reading.notes
        changed = self.reading is None or len(rows) or told != (self.reading.status, self.reading.stride, self.reading.notes)
        self._stamp, self.reading = stamp, reading if changed else self.reading
        return self.reading

    def _written(self, stamp: int) -> Notes:
        """The notes, read again when their file has changed; of one that cannot be read, the sentence that says so."""
        if self.reading is not None and self._stamp is not None and stamp == self._stamp[-1]:
            return self.reading.notes
        try:
            return notes.read_notes(self._reader.path)
        except notes.NoteError as error:
            return Notes(str(error))

    def _take_in(self, run: xr.Dataset, stride: int) -> None:
        """Adds iterations that are new."""
        numbers, tried = numbers_of(run), tuple(moves(run))
        kept = np.isin(numbers[:, 0], [move.iteration for move in tried if move.accepted])
        self._numbers = np.concatenate([self._numbers, numbers[-self._n_rows % stride :: stride]])
        self._marks = np.concatenate([self._marks, numbers[kept]])
        self._moves, self._learns = self._moves + tried, tuple(learnt_by(run))
        self._latest, self._alphas = numbers[-1], last_alphas(run)
        self._n_rows += len(numbers)


class Readings:
    """The listing of one store; `readings_of` hands out the one of the process."""

    def __init__(self, store: Path):
        self.store = store
        self._followers: dict[tuple, Follower] = {}
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
        """Looks at the store now, in this thread; a long first look is told of as it goes on, the newest runs first."""
        followers, readings, told = {}, [], time.monotonic()
        for path in reversed(run_paths(self.store)):
            try:
                key = (path, (path / "data.zarr").stat().st_ino)
                new = key not in self._followers
                follower = followers[key] = self._followers.get(key) or Follower(path)
                readings.append(follower.look())
            except Exception as error:  # whatever is wrong with one run, the others are to be seen
                new = False
                if path.exists():
                    readings.append(unreadable(path, error))
            if new and time.monotonic() - told > TELL_EVERY:
                read = {reading.path for reading in readings}
                self._tell(readings + [reading for reading in self._listing.readings if reading.path not in read])
                told = time.monotonic()
        self._followers = followers
        return self._tell(readings)

    def _tell(self, readings: list[Reading]) -> Listing:
        """Leaves a new listing where something has changed."""
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


def unreadable(path: Path, error: Exception) -> Reading:
    """What is shown of a run that cannot be read: why."""
    message = str(error) or type(error).__name__
    status = {"state": UNREADABLE, "iteration": 0, "n_iterations": 0, "time_left": None, "message": message}
    return Reading(path, None, path.name, status, 1, np.empty((0, len(COLUMNS))), np.full(len(COLUMNS), np.nan))


def _stamp(path: Path) -> int:
    """When the file was replaced last; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
