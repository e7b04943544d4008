"""Pause and stop a run from outside while it computes, through the files of `workbench.runs.store.status`."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from workbench.errors import Interrupted, Terminated
from workbench.runs.loop import Control, Stopped
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import INTERVENTIONS, PAUSED, RUNNING, STOPPED, requested, stamp
from workbench.runs.store.turning import pending

LOOK_EVERY, BEAT_EVERY = 0.1, 1.0
"""Seconds between two reads of the requested state, and between two heartbeats."""
GRACE = 2.0
"""Seconds that a step may take to complete before a pause suspends it and a stop discards it."""


class StoreControl(Control):
    """Interrupt callback of a stored run: it pauses or stops the run as the file `control.json` requests.

    A thread reads that file and writes the heartbeat, also during a long step. If ``beat`` raises StoreError since the run was
    deleted, the run ends with that error. Use it as a context manager around the loop.
    """

    def __init__(self, path: Path, beat: Callable[[str], None]):
        self._path, self._beat = path, beat
        self._wanted_state, self._state, self._wanted_since = RUNNING, RUNNING, None
        self._deletion_error: StoreError | None = None
        self._has_request, self._last_stamp = False, (0, 0)
        self._end_event = threading.Event()
        self._thread = threading.Thread(
            target=self._monitor, name="workbench-heartbeat", daemon=True
        )

    def __enter__(self) -> StoreControl:
        self._read()
        with contextlib.suppress(OSError):
            # so that a run killed in its first moments is known to have started
            self._beat(self._state)
        self._thread.start()
        return self

    def __exit__(self, *exception) -> None:
        self._end_event.set()
        self._thread.join()

    def __call__(self) -> None:
        if self._deletion_error:
            raise self._deletion_error
        if self._wanted_state == RUNNING:
            self._wanted_since = None
            return
        self._wanted_since = self._wanted_since or time.monotonic()
        if time.monotonic() - self._wanted_since > GRACE:
            self.rest()
            if self._wanted_state == STOPPED:
                raise Stopped

    def wants_rest(self) -> bool:
        return self._wanted_state != RUNNING

    def stopping(self) -> bool:
        return self._wanted_state == STOPPED

    def asked(self) -> bool:
        if not self._has_request:  # the thread may set it at any moment
            return False
        self._has_request = False
        return True

    def rest(self) -> None:
        if self._wanted_state != PAUSED:
            return
        began, self._state = time.monotonic(), PAUSED
        self._beat(PAUSED)
        while self._wanted_state == PAUSED and not self._deletion_error:
            time.sleep(LOOK_EVERY)
        self._state = RUNNING
        self._beat(RUNNING)
        self.waited += time.monotonic() - began

    def interrupt(self, number: int = signal.SIGINT) -> None:
        self.received, self._wanted_state = number, STOPPED

    def _read(self) -> None:
        wanted_state = requested(self._path) or RUNNING
        self._wanted_state = wanted_state if self.received is None else STOPPED
        written = stamp(self._path / INTERVENTIONS)
        if written != self._last_stamp:
            self._last_stamp, self._has_request = written, bool(pending(self._path))

    def _monitor(self) -> None:
        beaten = time.monotonic()
        while not self._end_event.wait(LOOK_EVERY):
            # a disk that is full for a moment must not end the heartbeat
            with contextlib.suppress(OSError):
                with contextlib.suppress(StoreError):  # nor may a damaged log of interventions
                    self._read()
                if time.monotonic() - beaten >= BEAT_EVERY:
                    beaten = time.monotonic()
                    try:
                        self._beat(self._state)
                    except StoreError as error:
                        self._deletion_error = error
                        return


@contextlib.contextmanager
def giving(result: Callable) -> Iterator[None]:
    """Within the block, replace the `result` of a raised Interrupted or Terminated by ``result(old result)``."""
    try:
        yield
    except (Interrupted, Terminated) as stop:
        stop.result = result(stop.result)
        raise


@contextlib.contextmanager
def ending_cleanly(control: Control) -> Iterator[None]:
    """In the block, let the first Ctrl-C (or SIGTERM) request a clean end, and a second Ctrl-C interrupt at once.

    `Control.raise_stop`, called when what was computed is safe, raises it in the caller.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal(number: int, frame: FrameType | None):
        if control.received is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        control.interrupt(number)

    old_handlers = {
        number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
