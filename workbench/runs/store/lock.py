"""File locks of the operating system: the process that holds the lock of a run computes or changes it.

The system releases a lock when its process ends, for any reason. So a lock shows reliably whether a process computes a run,
unlike a clock or a process id.

A lock belongs to an open file, which a child process can inherit: it is then held until the child has ended too.
"""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

HELD = (errno.EAGAIN, errno.EACCES)
"""Error numbers of the system if another process holds the lock."""
CLOSED_IN_CHILDREN = getattr(os, "O_CLOEXEC", 0)
"""Flag of `os.open`; Windows closes files in children anyway."""
TRY_EVERY = 0.005
"""Seconds between two attempts to acquire a lock; `is_held` holds it for about 10 microseconds."""


def try_lock(file, shared: bool = False) -> bool:
    """Try to lock an open file or file descriptor; return False if another process holds the lock.

    shared : whether several processes may hold the lock at once
    Raises OSError if the file system or the operating system has no such locks.
    """
    if fcntl is None:
        raise OSError(
            errno.ENOLCK,
            "the operating system has no locks that a process inherits; on Windows use WSL",
        )
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in HELD:
            return False
        raise
    return True


class LockHeld(Exception):
    """Raised if another process holds the lock."""


class Lock:
    """A lock on a file, held from construction until `release`; a context manager.

    patience : seconds to wait for another process to release the lock, after which LockHeld is raised
    Raises OSError if the file cannot be created, or its file system has no locks.
    """

    def __init__(self, path: Path, patience: float = 0.0):
        self.path, deadline = Path(path), time.monotonic() + patience
        while True:
            self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | CLOSED_IN_CHILDREN, 0o644)
            try:
                if try_lock(self.fd) and self.is_there():
                    return
            except BaseException:
                os.close(self.fd)
                raise
            os.close(self.fd)
            if time.monotonic() >= deadline:
                raise LockHeld(self.path)
            time.sleep(TRY_EVERY)

    @classmethod
    def inherited(cls, path: Path, fd: int) -> Lock:
        """Return the lock that the parent process acquired for this process, given its open file descriptor."""
        lock = cls.__new__(cls)
        lock.path, lock.fd = Path(path), fd
        os.set_inheritable(fd, False)
        return lock

    def is_there(self) -> bool:
        """Return whether the lock file is still at its path, neither deleted nor replaced."""
        try:
            return os.path.samestat(os.fstat(self.fd), os.stat(self.path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Close the file, which frees the lock unless a child process inherited it; a second call does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *exception) -> None:
        self.release()


def is_held(path: Path) -> bool | None:
    """Return whether a process holds the lock on a file; None if permissions or the file system prevent an answer.

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
