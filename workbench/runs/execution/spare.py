"""Spare workers: a worker whose run has ended waits a while for a further run, which then begins without a new process.

A spare listens at a Unix socket in a folder that only the user can enter. Whoever starts a run sends it the folder of the run
and the run's lock, as an open file. Spares are shared by processes with the same interpreter, import path and environment, and
by those that they start.
"""

import contextlib
import hashlib
import os
import socket
import stat
import sys
import tempfile
from pathlib import Path

import psutil

from workbench.runs.store.lock import Lock
from workbench.runs.store.provenance import KERNELS

LINGER = 10.0
"""Seconds that a spare waits for a run."""
LARGEST = 2**30
"""Bytes of memory above which a worker ends with its run instead."""
PATIENCE = 1.0
"""Seconds to wait for the answer of a spare."""
PASSING = ("_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", "LINES")
"""Environment variables that do not matter to the `key`."""
KEY = "WORKBENCH_SPARES"
"""Environment variable that gives a process the `key` of the process that started it."""
FREE = ".free"
"""The suffix of the sockets of spares."""
TAKEN = b"taken"


def hand_over(path: Path, lock: Lock) -> bool:
    """Give a run and its lock to a spare worker; return False if there is none."""
    folder = _folder()
    for address in [] if folder is None else folder.glob(f"*{FREE}"):
        try:
            with socket.socket(socket.AF_UNIX) as link:
                link.settimeout(PATIENCE)
                link.connect(str(address))
                socket.send_fds(link, [os.fsencode(path)], [lock.fd])
                if link.recv(len(TAKEN)) == TAKEN:
                    return True
        except ConnectionRefusedError:  # of a spare that was killed
            address.unlink(missing_ok=True)
        except OSError:
            continue
    return False


def next_run() -> tuple[Path, int] | None:
    """Wait as a spare worker for a run; return the run's folder and the file descriptor of its lock, or None if no run came."""
    folder = _folder()
    # what is used now: the largest use so far can be that of the process which started this one
    if folder is None or psutil.Process().memory_info().rss > LARGEST:
        return None
    own_socket = folder / str(os.getpid())
    address = own_socket.with_suffix(FREE)
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(own_socket))
            listener.listen(1)
            own_socket.rename(address)  # found only now, since one that does not listen yet refuses
            listener.settimeout(LINGER)
            link, _ = listener.accept()
            # of two that come at once only one is taken
            address.unlink(missing_ok=True)
            with link:
                path, fds, *_ = socket.recv_fds(link, 4096, 1)
                if fds:
                    link.sendall(TAKEN)
                    return Path(os.fsdecode(path)), fds[0]
        finally:
            address.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # others wait there
                folder.rmdir()
    return None


def key() -> str:
    """Return a hash of interpreter, import path and environment; processes of equal hash can share spare workers."""
    if KEY in os.environ:
        return os.environ[KEY]
    environment = sorted(item for item in os.environ.items() if item[0] not in PASSING)
    identity = sys.executable, sys.path, KERNELS, environment
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]


def _folder() -> Path | None:
    """Return the folder of spare workers with this process's `key`; None if others may enter it or it is unsupported."""
    if not hasattr(socket, "send_fds"):
        return None
    folder = Path(tempfile.gettempdir()) / f"workbench-{os.getuid()}-{key()}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and (status.st_uid, status.st_mode & 0o77) == (
            os.getuid(),
            0,
        ):
            return folder
    return None
