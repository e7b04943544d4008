"""Every operation on files by which a run is written or read, so that a campaign can kill the process in it, or let it fail.

Zarr and NumPy write through them too. A write is that of the operating system: one of Python is made of several where the
system takes only a part of the bytes.
"""

import builtins
import contextlib
import errno
import io
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from workbench.runs.store.writer import RunWriter

PHASES = ("record", "snapshot", "checkpoint", "flush", "_resize", "settle", "_open")
"""Methods of the writer within which the operations are told apart, the innermost counting."""


class Operation(NamedTuple):
    """One operation, before it takes place."""

    kind: str  # open, write, replace, mkdir, unlink; of those that read: read, stat, list
    path: str
    phase: str  # the method of the writer; "heartbeat" for those of its thread, else ""


Act = Callable[[Operation, Callable], object]
"""Takes an operation and the function that does it (for a write: of how many bytes to write); gives its result."""


@contextlib.contextmanager
def reading_operations(act: Act, under: Path):
    """Within it, ``act`` is called in the place of every operation that reads a file or a folder beneath ``under``."""

    def beneath(path) -> bool:
        return isinstance(path, str | os.PathLike) and Path(path).is_relative_to(under)

    def reading(kind, function):
        def called(path=".", *rest, **named):
            if not beneath(path):
                return function(path, *rest, **named)
            return act(
                Operation(kind, os.fspath(path), ""), lambda n=None: function(path, *rest, **named)
            )

        return called

    class Raw(io.FileIO):
        def read(self, size=-1):
            return act(
                Operation("read", self.name, ""),
                lambda n=None: super(Raw, self).read(n if n else size),
            )

        def readall(self):
            return self.read()

        def readinto(self, buffer):
            return act(
                Operation("read", self.name, ""),
                lambda n=None: super(Raw, self).readinto(memoryview(buffer)[:n]),
            )

    def open_file(file, mode="r", buffering=-1, *arguments, **named):
        if set(mode) & set("wax+") or not beneath(file):
            return opened(file, mode, buffering, *arguments, **named)
        raw = act(Operation("open", os.fspath(file), ""), lambda n=None: Raw(os.fspath(file), "r"))
        if "b" in mode:
            return raw if buffering == 0 else io.BufferedReader(raw)
        return io.TextIOWrapper(io.BufferedReader(raw), *arguments, **named)

    opened, kinds = (
        builtins.open,
        {"stat": "stat", "lstat": "stat", "listdir": "list", "scandir": "list", "open": "open"},
    )
    changed = {name: getattr(os, name) for name in kinds}
    try:
        builtins.open = io.open = open_file
        for name, function in changed.items():
            setattr(os, name, reading(kinds[name], function))
        yield
    finally:
        builtins.open = io.open = opened
        for name, function in changed.items():
            setattr(os, name, function)


def full_after(n_writes: int) -> Act:
    """An act under which the disk is full after so many writes."""
    done = 0

    def act(operation, do):
        nonlocal done
        done += operation.kind == "write"
        if done > n_writes and operation.kind in ("write", "open", "mkdir"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return do()

    return act


@contextlib.contextmanager
def operations(act: Act):
    """Within it, ``act`` is called in the place of every operation on files that changes them."""
    phases = [""]

    def told(kind, path, do):
        beats = threading.current_thread().name == "workbench-heartbeat"
        return act(Operation(kind, os.fspath(path), "heartbeat" if beats else phases[-1]), do)

    def within(phase, method):
        def called(self, *arguments, **named):
            phases.append(phase.strip("_"))
            try:
                return method(self, *arguments, **named)
            finally:
                phases.pop()

        return called

    class Raw(io.FileIO):
        def write(self, data):
            return told(
                "write",
                self.name,
                lambda n=None: super(Raw, self).write(memoryview(data).cast("B")[:n]),
            )

    def open_file(file, mode="r", buffering=-1, *arguments, **named):
        if not set(mode) & set("wax") or not isinstance(file, str | os.PathLike):
            return opened(file, mode, buffering, *arguments, **named)
        raw = told("open", file, lambda: Raw(file, mode.replace("b", "").replace("t", "")))
        if "b" in mode:
            return raw if buffering == 0 else io.BufferedWriter(raw)
        return io.TextIOWrapper(io.BufferedWriter(raw), *arguments, **named)

    def changing(kind, function):
        return lambda path, *rest, **named: told(kind, path, lambda: function(path, *rest, **named))

    opened, kept = builtins.open, {name: getattr(RunWriter, name) for name in PHASES}
    changed = {name: getattr(os, name) for name in ("replace", "rename", "mkdir", "unlink")}
    try:
        builtins.open = io.open = open_file
        for name, function in changed.items():
            setattr(os, name, changing("replace" if name == "rename" else name, function))
        for name, method in kept.items():
            setattr(RunWriter, name, within(name, method))
        yield
    finally:
        builtins.open = io.open = opened
        for name, function in changed.items():
            setattr(os, name, function)
        for name, method in kept.items():
            setattr(RunWriter, name, method)
