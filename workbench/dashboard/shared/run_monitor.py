"""What the store says at the moment, read once for every session of the process.

A thread looks at the store twice a second, or less often where that takes long, for as long as somebody asks,
and leaves an immutable `Listing`; a session's tick takes the latest one and never waits for the disk. Only new rows are
read; a run that has ended is read again when its heartbeat file changes, and what was read of it is kept beside it.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.experiments import IN_WORDS
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.reading_cache import Taken, keep, kept, origin_of
from workbench.measures import Move
from workbench.runs.dataset import label_rows
from workbench.runs.spec import RunSpec
from workbench.runs.store import notes
from workbench.runs.store.ending import read_spec, read_status
from workbench.runs.store.layout import about_run
from workbench.runs.store.notes import Notes
from workbench.runs.store.places import run_paths
from workbench.runs.store.reader import RunReader
from workbench.runs.store.status import PAUSED, RUNNING, WAITING

MOST_POINTS = 2000
"""Points that a curve has at most: more than a screen has pixels for, little enough for a thousand runs."""
LOOK_EVERY = 0.5
PATIENCE = 5.0
"""Seconds between two looks, and without a question before the thread ends."""
LOOK_SHARE, LOOK_WITHIN = 0.05, 3.0
"""Of a core that looks may take: those at many runs come less often, but within so many seconds."""
TOLD_FIRST = 8
"""Runs that a look that reads them for the first time tells of at once: as many as are drawn."""
TELL_EVERY = 1.0
"""Seconds after which it tells of more, and twice as long each time: a page is made anew for every one."""
ALIVE = (WAITING, RUNNING, PAUSED)
UNREADABLE = "unreadable"


class Reading(NamedTuple):
    """A run as last read. ``spec`` is None for a run that cannot be read; ``status["message"]`` says why."""

    path: Path
    spec: RunSpec | None
    label: str                # engine and telling options
    status: dict              # see `workbench.runs.store.ending.read_status`
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
    """Reads one run again and again; of one at rest that was read before, what was kept of it (see `kept`)."""

    def __init__(self, path: Path):
        self.path, self._about, self._reader = path, about_run(path), None
        self._stamp, self._origin, self._label, self._taken, self._fresh = None, None, "", Taken(), False
        self.reading: Reading | None = None

    def look(self) -> Reading:
        """The run as it is; the very same object when nothing has changed."""
        path, known = self.path, self.reading
        stamp = tuple(_stamp(path / name) for name in ("status.json", "end.json", notes.FILE))
        if known is not None and known.state not in ALIVE and stamp == self._stamp:
            return known
        spec, status = read_spec(path, self._about), read_status(path, self._about)
        stride = 1 + (spec.n_iterations // spec.record_every - 1) // MOST_POINTS
        if known is not None and stride != known.stride:
            self._taken, self._origin = Taken(), None
        before = self._taken
        self._take_in(spec, stride, status["state"] not in ALIVE)
        told = status, stride, self._written(stamp[-1])
        if known is None or self._taken is not before or told != (known.status, known.stride, known.notes):
            _, *taken = self._taken
            self.reading = Reading(path, spec, self._label, status, stride, *taken, told[-1])
        self._stamp = stamp
        return self.reading

    def keep(self) -> None:
        """Keeps what was read of a run at rest, unless it is what was kept."""
        if self._fresh:
            self._fresh = False
            keep(self.path, self._origin, self._label, self._taken)

    def _written(self, stamp: int) -> Notes:
        """The notes, read again when their file has changed; of one that cannot be read, the sentence that says so."""
        if self.reading is not None and self._stamp is not None and stamp == self._stamp[-1]:
            return self.reading.notes
        try:
            return notes.read_notes(self.path)
        except notes.NoteError as error:
            return Notes(str(error))

    def _take_in(self, spec: RunSpec, stride: int, at_rest: bool) -> None:
        """Takes in the rows that are new, or, of a run at rest that nothing was read of, what was kept."""
        written = spec.to_json()
        origin = origin_of(self.path, written, stride) if at_rest else None
        if origin is not None and origin == self._origin:
            return
        found = kept(self.path, origin) if origin is not None and not self._taken.n_rows else None
        if found is not None:
            self._label, self._taken = found
        else:
            self._reader = self._reader or RunReader(self.path)
            self._label, rows = self._label or spec.label(), self._reader.rows(self._taken.n_rows)
            if len(rows):
                run = label_rows(self._reader.recorded, rows, {"spec": written})
                self._taken = self._taken.with_rows(run, stride)
        self._origin, self._fresh = origin, origin is not None and found is None


class Readings:
    """The listing of one store; `readings_of` hands out the one of the process."""

    def __init__(self, store: Path):
        self.store = store
        self._followers: dict[tuple, Follower] = {}
        self._listing, self._asked = Listing(0, ()), 0.0
        self._lock, self._thread = threading.Lock(), None
        self._nudged, self._looked = threading.Event(), threading.Event()
        self.progress: tuple[int, int] | None = None
        """Runs that have been read and all there are, while many are read for the first time."""

    def latest(self, patience: float = 0.0) -> Listing:
        """The last listing; the first time, waits up to ``patience`` seconds for one."""
        with self._lock:
            self._asked = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="workbench-readings", daemon=True)
                self._thread.start()
        self._looked.wait(patience)
        return self._listing

    def looked(self) -> bool:
        """Has the listing anything to say yet? Before, no run in it is not no run in the store."""
        return self._looked.is_set()

    def nudge(self) -> None:
        """Looks again at once, because something was just asked of a run."""
        self._nudged.set()

    def look(self) -> Listing:
        """Looks at the store now, in this thread; a long first look is told of as it goes on, the newest runs first."""
        followers, readings, paths = {}, [], run_paths(self.store)[::-1]
        n_new, told, patience = 0, time.monotonic(), TELL_EVERY
        for path in paths:
            try:
                key = (path, (path / "data.zarr").stat().st_ino)
                n_new += key not in self._followers
                follower = followers[key] = self._followers.get(key) or Follower(path)
                readings.append(follower.look())
            except Exception as error:  # whatever is wrong with one run, the others are to be seen
                if path.exists():
                    readings.append(unreadable(path, error))
            self.progress = (len(readings), len(paths)) if n_new > TOLD_FIRST else None
            late = time.monotonic() - told > patience
            if (n_new == TOLD_FIRST and not self._looked.is_set()) or (n_new and late):
                read = {reading.path for reading in readings}
                self._tell(readings + [reading for reading in self._listing.readings if reading.path not in read])
                told, patience = time.monotonic(), patience * (2 if late else 1)
        self._followers, self.progress = followers, None
        listing = self._tell(readings)
        for follower in followers.values():
            follower.keep()
        return listing

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
            began = time.thread_time()
            self.look()
            self._nudged.wait(pause_after(time.thread_time() - began))
            self._nudged.clear()
            with self._lock:
                if time.monotonic() - self._asked > PATIENCE:
                    self._thread = None
                    self._looked.clear()
                    return


def pause_after(used: float) -> float:
    """Seconds until the next look, after one that took so many seconds of the processor."""
    return max(LOOK_EVERY, min(used / LOOK_SHARE, LOOK_WITHIN))


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
