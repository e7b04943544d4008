"""The runs of a store and their records, read from disk once for all sessions of the process.

A thread reads the store twice a second while any page asks for it, less often if reading is slow, and leaves an immutable
`Listing`; the tick of a session takes the latest one and never waits for the disk. Only new rows are read, and runs that have
ended are not read again until a file of theirs changes. The first reading of a run takes about eight milliseconds, so runs
are listed as they are read, newest first.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus.experiments import changes_in_words
from workbench.dashboard.shared.numbers import COLUMNS, numbers_of
from workbench.dashboard.shared.policy import policy
from workbench.errors import InputError
from workbench.measures import Move, learnt_by, moves
from workbench.runs.recorded import label_rows
from workbench.runs.spec import RunSpec
from workbench.runs.store import notes
from workbench.runs.store.layout import about_run
from workbench.runs.store.notes import Notes
from workbench.runs.store.places import run_paths
from workbench.runs.store.reader import RunReader
from workbench.runs.store.status import ALIVE, read_spec, read_status, stamp

MOST_POINTS = 2000
"""Maximum number of points of a curve: more than the pixels of a screen, few enough for a thousand runs."""
FIRST_LOOK = 0.5
"""Seconds that a page waits for the first reading of the store."""
LOOK_EVERY = 0.5
"""Seconds between two readings of the store."""
IDLE_AFTER = 5.0
"""Seconds after which the thread ends if no page asks for the listing."""
LOOK_SHARE, LOOK_WITHIN = 0.05, 3.0
"""Share of a core that reading may use, and the maximum number of seconds between two readings even if it uses more."""
LISTED_FIRST = 8
"""Runs listed first when many are read for the first time: as many as a figure draws."""
LIST_EVERY = 1.0
"""Seconds until more of them are listed, doubled each time, since every listing makes the pages anew."""
UNREADABLE = "unreadable"


class Reading(NamedTuple):
    """A run as last read. ``spec`` is None for a run that cannot be read; ``status["message"]`` says why."""

    path: Path
    spec: RunSpec | None
    label: str  # engine and distinguishing options
    status: dict  # see `workbench.runs.store.status.read_status`
    stride: int  # every stride-th row is a point of the curve
    numbers: np.ndarray = np.empty((0, len(COLUMNS)))  # (point, COLUMNS) float64
    # (COLUMNS,) the last committed row; NaN before the first
    latest: np.ndarray = np.full(len(COLUMNS), np.nan)
    learns: tuple[str, ...] = ()  # priors that the run learns
    moves: tuple[Move, ...] = ()  # splits and merges that the run tried
    notes: Notes = Notes()  # notes and tags by people

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def state(self) -> str:
        return self.status["state"]

    @property
    def has_course(self) -> bool:
        """Return whether the iterations are known; those of an imported model are not."""
        return self.spec is None or self.spec.length is not None

    def with_rows(self, run: xr.Dataset, n_rows: int) -> Reading:
        """Return the reading with the iterations of ``run`` added; ``n_rows``: number of iterations before these."""
        numbers, new_moves = numbers_of(run), tuple(moves(run))
        return self._replace(
            numbers=np.concatenate([self.numbers, numbers[-n_rows % self.stride :: self.stride]]),
            latest=numbers[-1],
            learns=tuple(learnt_by(run)),
            moves=self.moves + new_moves,
        )


class Listing(NamedTuple):
    """All runs of a store, newest first, and a version that grows with every change."""

    version: int
    readings: tuple[Reading, ...]


class Follower:
    """A reader that reads one run repeatedly, each time only its new rows."""

    def __init__(self, path: Path):
        self.path, self._description = path, about_run(path)
        self._stamps, self._n_rows = None, 0
        self.reading: Reading | None = None

    @cached_property
    def _reader(self) -> RunReader:
        return RunReader(self.path)

    def look(self) -> Reading:
        """Read the run if it has changed; return its present `Reading`, the same object if nothing has changed."""
        path, reading = self.path, self.reading
        stamps = tuple(stamp(path / name) for name in ("status.json", "end.json", notes.FILE))
        if reading is not None and reading.state not in ALIVE and stamps == self._stamps:
            return reading
        spec, status = read_spec(path, self._description), read_status(path, self._description)
        n_rows = max(status["iteration"] // spec.record_every, self._n_rows)
        stride = 1 << ((n_rows - 1) // MOST_POINTS).bit_length() if n_rows else 1
        if reading is None or stride != reading.stride:
            reading, self._n_rows = Reading(path, spec, spec.label(), status, stride), 0
        if len(rows := self._reader.rows(self._n_rows)):
            run = label_rows(self._reader.recorded, rows, {"spec": spec.to_json()}, spec)
            reading = reading.with_rows(run, self._n_rows)
            self._n_rows += len(rows)
        written = (
            self.reading.notes
            if self._stamps is not None and stamps[-1] == self._stamps[-1]
            else _notes_of(path)
        )
        if (spec, status, written) != (reading.spec, reading.status, reading.notes):
            reading = reading._replace(spec=spec, label=spec.label(), status=status, notes=written)
        self.reading, self._stamps = reading, stamps
        return reading


class RunMonitor:
    """A monitor that keeps the listing of a store up to date in a thread; `monitor_of` returns that of the process."""

    def __init__(self, store: Path):
        self.store = store
        self._followers: dict[tuple, Follower] = {}
        self._listing, self._time_of_request = Listing(0, ()), 0.0
        self._n_begun = self._n_looks = 0
        self._lock, self._thread = threading.Lock(), None
        self._wake, self._first_look = threading.Event(), threading.Event()
        self.progress: tuple[int, int] | None = None
        """Numbers of runs read and of all runs, while many are read for the first time; else None."""

    def latest(self, patience: float = 0.0) -> Listing:
        """Return the last listing; the first time, wait up to ``patience`` seconds for it."""
        with self._lock:
            self._time_of_request = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._follow, name="workbench-run-monitor", daemon=True
                )
                self._thread.start()
        self._first_look.wait(patience)
        return self._listing

    def has_looked(self) -> bool:
        """Return whether the store has been read; before that, an empty listing says nothing about the store."""
        return self._first_look.is_set()

    def look_soon(self) -> None:
        """Let the thread read the store at once, because a run was just changed."""
        self._wake.set()

    def look_now(self) -> None:
        """Let the thread read the store at once, and return when it has, or after `FIRST_LOOK` seconds.

        A look that is in progress may have read the run already, so the next is awaited.
        """
        n_begun, deadline = self._n_begun, time.monotonic() + FIRST_LOOK
        self.look_soon()
        while self._n_looks <= n_begun and time.monotonic() < deadline:
            time.sleep(0.01)

    def look(self) -> Listing:
        """Read the store now, in this thread, and return the listing; if that is slow, the newest runs are listed first."""
        self._n_begun = number = self._n_begun + 1
        followers, readings, paths = {}, [], run_paths(self.store)[::-1]
        n_new, time_of_listing, patience = 0, time.monotonic(), LIST_EVERY
        for path in paths:
            try:
                key = (path, (path / "data.zarr").stat().st_ino)
                n_new += key not in self._followers
                follower = followers[key] = self._followers.get(key) or Follower(path)
                readings.append(follower.look())
            except Exception as error:  # an error of one run must not hide the others
                if not _is_gone(path):
                    readings.append(unreadable_reading(path, error))
            self.progress = (len(readings), len(paths)) if n_new > LISTED_FIRST else None
            late = time.monotonic() - time_of_listing > patience
            if (n_new == LISTED_FIRST and not self._first_look.is_set()) or (n_new and late):
                read_paths = {reading.path for reading in readings}
                self._list(
                    readings
                    + [
                        reading
                        for reading in self._listing.readings
                        if reading.path not in read_paths
                    ]
                )
                time_of_listing, patience = time.monotonic(), patience * (2 if late else 1)
        self._followers, self.progress = followers, None
        listing, self._n_looks = self._list(readings), number
        return listing

    def _list(self, readings: list[Reading]) -> Listing:
        """Make a new listing if something has changed; return the present listing."""
        old_readings = self._listing.readings
        same = len(old_readings) == len(readings) and all(
            new is old or (new.spec is None and new[:4] == old[:4])
            for new, old in zip(readings, old_readings, strict=True)
        )
        if not same:
            self._listing = Listing(self._listing.version + 1, tuple(readings))
        self._first_look.set()
        return self._listing

    def _follow(self) -> None:
        while True:
            began = time.thread_time()
            # if the store cannot be read now, the last listing stays
            with suppress(OSError, InputError):
                self.look()
            seconds = time.thread_time() - began
            self._wake.wait(max(LOOK_EVERY, min(seconds / LOOK_SHARE, LOOK_WITHIN)))
            self._wake.clear()
            with self._lock:
                if time.monotonic() - self._time_of_request > IDLE_AFTER:
                    self._thread = None
                    self._first_look.clear()
                    return


_MONITORS: dict[Path, RunMonitor] = {}


def monitor_of(store: Path) -> RunMonitor:
    """Return the monitor of a store; the process has one for each store."""
    return _MONITORS.setdefault(Path(store).resolve(), RunMonitor(Path(store)))


def describe_changes(spec: RunSpec) -> str:
    """Return how the corpus was changed and what the run started from, as text; empty if neither is known."""
    start, begun = spec.start, []
    if start:
        edits = ", ".join(start.get("edits", ()))
        begun = [
            f"started from iteration {start['iteration']} of {start['name']}{edits and f' ({edits})'}"
        ]
    elif init := spec.options.get("init"):
        begun = [f"start {init}" + (f", warm-up {spec.warm_up}" if spec.warm_up else "")]
    return "; ".join(changes_in_words(spec.split or {}) + begun)


def unreadable_reading(path: Path, error: Exception) -> Reading:
    """Return the reading of a run that cannot be read, with the error as its message."""
    status = {
        "state": UNREADABLE,
        "iteration": 0,
        "n_iterations": 0,
        "time_left": None,
        "message": policy().for_visitors(str(error)) or type(error).__name__,
    }
    return Reading(path, None, path.name, status, 1)


def _is_gone(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        return True
    except OSError:  # it may exist
        return False
    return False


def _notes_of(path: Path) -> Notes:
    """Return the notes of a run; if their file cannot be read, the error as its note."""
    try:
        return notes.read_notes(path)
    except notes.NoteError as error:
        return Notes(policy().for_visitors(str(error)))
