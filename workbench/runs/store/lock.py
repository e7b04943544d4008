"""Locks of the operating system: the process that holds the lock of a run works on it.

The system releases a lock when its process ends, however it ended. So a lock shows whether a run is alive; a clock or a process
id would not.

A lock belongs to an open file, which a child process can inherit: it is then held until the child has ended too.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from workbench.data.saving import CLOSED_IN_CHILDREN, try_lock

TRY_EVERY = 0.005
"""Seconds between two attempts; `is_held` holds a lock for some ten millionths of a second."""


class LockHeld(Exception):
    """Another process holds the lock."""


class Lock:
    """The lock on a file, acquired at construction and held until `release`; a context that releases it.

    patience : seconds to wait for another process to release it, after which LockHeld is raised.
    Raises OSError where the file cannot be made, or its file system has no locks.
    """

    def __init__(self, path: Path, patience: float = 0.0):
        self.path, until = Path(path), time.monotonic() + patience
        while True:
            self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | CLOSED_IN_CHILDREN, 0o644)
            try:
                if try_lock(self.fd) and self.is_there():
                    return
            except BaseException:
                os.close(self.fd)
                raise
            os.close(self.fd)
            if time.monotonic() >= until:
                raise LockHeld(self.path)
            time.sleep(TRY_EVERY)

    @classmethod
    def inherited(cls, path: Path, fd: int) -> Lock:
        """Return the lock that the parent process acquired for this one, by its open file."""
        lock = cls.__new__(cls)
        lock.path, lock.fd = Path(path), fd
        os.set_inheritable(fd, False)
        return lock

    def is_there(self) -> bool:
        """Return whether the file is still at its path: not deleted, not replaced by another."""
        try:
            return os.path.samestat(os.fstat(self.fd), os.stat(self.path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Release the lock, unless a child has inherited it; may be called twice."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *exception) -> None:
        self.release()


def is_held(path: Path) -> bool | None:
    """Return whether a process holds the lock on the file; None where that is unknown: no permission, or no locks.

    Nothing is written, so it works in a read-only store. Other callers of this function do not count as holders.
    """
    try:
        fd = os.open(path, os.O_RDONLY | CLOSED_IN_CHILDREN)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        return not try_lock(fd, shared=True)
    except OSError:
        return None
    finally:
        os.close(fd)
