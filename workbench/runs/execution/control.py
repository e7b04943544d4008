"""How a run is paused and stopped from outside, and how the outside knows that it lives.

`control.json` says what is wanted and is written by anybody; `status.json` says what is the case, is
written by the run alone and is its heartbeat. Both are replaced whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from workbench.data.saving import partial_of
from workbench.runs.loop import Stopped

RUNNING, PAUSED, STOPPED = "running", "paused", "stopped"
LOOK_EVERY = 0.1
"""Seconds between two looks at what is wanted."""
BEAT_EVERY = 1.0
"""Seconds between two heartbeats."""
LOST_AFTER = 8.0
"""Seconds without a heartbeat after which a run counts as interrupted."""
START_PATIENCE = 60.0
"""Seconds that a worker may take to start or to get its turn."""
GRACE = 2.0
"""Seconds that a step may take to end by itself before a pause holds it and a stop discards it."""


def replace_json(path: Path, values: dict) -> None:
    """Writes the file whole or not at all."""
    partial = partial_of(path)
    partial.write_text(json.dumps(values))
    os.replace(partial, path)


def read_json(path: Path) -> dict:
    """The values of the file; nothing where there is none yet."""
    try:
        values = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def ask(path: Path, wanted: str) -> None:
    """Says what is wanted of the run in a folder."""
    replace_json(path / "control.json", {"wanted": wanted})


class StoreControl:
    """The pulse of a run in a store: waits while `control.json` says paused, ends when it says stopped.

    A thread looks at the file and gives the heartbeat, so that both go on during a long step. Use it as
    a context around the loop.
    """

    def __init__(self, path: Path, beat: Callable[[str], None]):
        self.waited = 0.0
        self.interrupted = False
        self._path, self._beat = path, beat
        self._wanted, self._state, self._asked = RUNNING, RUNNING, None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="workbench-pulse", daemon=True)

    def __enter__(self) -> StoreControl:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *exception) -> None:
        self._ended.set()
        self._thread.join()

    def __call__(self) -> None:
        if self._wanted == RUNNING:
            self._asked = None
            return
        self._asked = self._asked or time.monotonic()
        if time.monotonic() - self._asked > GRACE:
            self.rest()
            if self._wanted == STOPPED:
                raise Stopped

    def wants_rest(self) -> bool:
        return self._wanted != RUNNING

    def stopping(self) -> bool:
        return self._wanted == STOPPED

    def rest(self) -> None:
        if self._wanted != PAUSED:
            return
        began, self._state = time.monotonic(), PAUSED
        self._beat(PAUSED)
        while self._wanted == PAUSED:
            time.sleep(LOOK_EVERY)
        self._state = RUNNING
        self._beat(RUNNING)
        self.waited += time.monotonic() - began

    def interrupt(self) -> None:
        """Wants a stop, as Ctrl-C does."""
        self.interrupted, self._wanted = True, STOPPED

    def _look(self) -> None:
        if not self.interrupted:
            self._wanted = read_json(self._path / "control.json").get("wanted", RUNNING)

    def _watch(self) -> None:
        beaten = -BEAT_EVERY
        while not self._ended.wait(LOOK_EVERY):
            with contextlib.suppress(OSError):  # a disk that is full for a moment must not end the heartbeat for good
                self._look()
                if time.monotonic() - beaten >= BEAT_EVERY:
                    beaten = time.monotonic()
                    self._beat(self._state)


class MemoryControl:
    """The pulse of a run in memory: only Ctrl-C stops it."""

    waited = 0.0

    def __init__(self):
        self.interrupted = False

    def __call__(self) -> None:
        return

    def rest(self) -> None:
        return

    def wants_rest(self) -> bool:
        return self.interrupted

    stopping = wants_rest

    def interrupt(self) -> None:
        self.interrupted = True


@contextlib.contextmanager
def ending_cleanly(control):
    """Within it the first Ctrl-C (or SIGTERM) asks for a clean end; a second Ctrl-C interrupts at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal(number, frame):
        if control.interrupted and number == signal.SIGINT:
            raise KeyboardInterrupt
        control.interrupt()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
