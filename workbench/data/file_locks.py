"""Locks of the operating system on open files; Windows has none that a child process inherits."""

import errno
import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

HELD = (errno.EAGAIN, errno.EACCES)
"""What the system answers where another process holds the lock."""
CLOSED_IN_CHILDREN = getattr(os, "O_CLOEXEC", 0)
"""Flag of `os.open`; Windows closes files in children anyway."""


def try_lock(file, shared: bool = False) -> bool:
    """Lock an open file, or file number, unless another process has; return whether it is locked.

    shared : do several processes hold the lock at once?
    Raises OSError where the file system, or the operating system, has no such locks.
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
