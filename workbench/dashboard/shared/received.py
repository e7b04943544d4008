"""Uploaded files: each lies on disk in a folder of its session, and is deleted with the session."""

import os
import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import panel as pn

from workbench.dashboard.shared.background import NAMED
from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.ui_events import with_lock
from workbench.numbers import format_size

ROUTE = "upload"
"""Address for uploads, beside those of the pages."""
UPLOADS = ThreadPoolExecutor(1, thread_name_prefix=f"{NAMED}uploads")
"""The single thread that writes uploads, one block after another."""
LONGEST = 60
"""Maximum number of letters of a file name on disk."""
GONE = "the page that sends the file is gone; load it again"
_NUMBERS = count()


class Received(NamedTuple):
    """An uploaded file."""

    path: Path
    name: str  # its name for the visitor
    n_bytes: int
    number: int  # counts all uploads of this process

    def told(self) -> str:
        """Return name and size as text."""
        return f"{self.name}, {format_size(self.n_bytes)}"

    def there(self) -> Path:
        """Return the path of the file; raise PolicyError if it has been removed."""
        if not self.path.is_file():
            raise PolicyError("the uploaded file is gone; choose it again")
        return self.path


class Inbox:
    """The uploaded file of one page; a new file replaces it, and ``on_file`` is called in the session with each."""

    def __init__(self, on_file: Callable[[Received], None]):
        self.token = secrets.token_urlsafe(24)  # known only to this page
        self._document, self._on_file, self._lock = pn.state.curdoc, on_file, Lock()
        self._folder, self._remove, self._sending, self._closed = None, None, None, False
        INBOXES[self.token] = self
        if self._document is not None and self._document.session_context is not None:
            self._document.on_session_destroyed(self._end)

    def receive(self, name: str, n_bytes: int) -> "Sending":
        """Return a `Sending` for a new file, after dropping an unfinished one; raise PolicyError or OSError."""
        with self._lock:
            if self._closed:
                raise PolicyError(GONE)
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="workbench-upload-"))
                self._remove = weakref.finalize(
                    self, shutil.rmtree, self._folder, ignore_errors=True
                )
            if self._sending is not None:
                self._sending.drop()
            self._sending = Sending(self._folder, name, n_bytes)
            return self._sending

    def keep(self, sending: "Sending") -> Received:
        """Replace the previous file by the complete new one and return it; raise PolicyError or OSError."""
        with self._lock:
            if self._closed or sending is not self._sending:
                raise PolicyError(GONE if self._closed else "another file was chosen meanwhile")
            self._sending = None
            return sending.keep()

    def show(self, received: Received) -> None:
        """Call ``on_file`` in the session with a file."""
        with_lock(self._document, partial(self._on_file, received))

    def clear(self) -> None:
        """Remove all files of this page."""
        with self._lock:
            if self._sending is not None:
                self._sending.drop()
            self._sending = None
            for path in (
                self._folder.iterdir() if self._folder is not None and self._folder.is_dir() else ()
            ):
                path.unlink()

    def close(self) -> None:
        """Remove the folder, and refuse files from now on."""
        with self._lock:
            self._closed = True
            if self._sending is not None:
                self._sending.drop()
            if self._remove is not None:
                self._remove()

    def _end(self, session_context) -> None:
        self.close()


INBOXES: weakref.WeakValueDictionary[str, Inbox] = weakref.WeakValueDictionary()
"""Token → inbox of each open page."""


class Sending:
    """An upload in progress."""

    def __init__(self, folder: Path, name: str, n_bytes: int):
        self._number, self._name, self._n_bytes, self._arrived = (
            next(_NUMBERS),
            shown_name(name),
            n_bytes,
            0,
        )
        self._path, self._kept = folder / f".arriving-{self._number}", folder / name_on_disk(name)
        self._file = open(self._path, "xb", buffering=0)  # noqa: SIM115  closed by drop and keep

    def write(self, block: bytes) -> None:
        """Write a block; raise PolicyError if the file exceeds its announced size, OSError if the disk is full."""
        self._arrived += len(block)
        if self._file.closed or self._arrived > self._n_bytes:
            raise PolicyError(
                "another file was chosen meanwhile"
                if self._file.closed
                else "the file is longer than was said"
            )
        rest = memoryview(block)
        while rest:
            rest = rest[self._file.write(rest) :]

    def keep(self) -> Received:
        """Return the complete file, after removing all others in its folder; raise PolicyError if it is incomplete."""
        if self._file.closed or self._arrived != self._n_bytes:
            self.drop()
            raise PolicyError("the file did not arrive whole; choose it again")
        self._file.close()
        for path in self._path.parent.iterdir():
            if path != self._path:
                path.unlink()
        os.replace(self._path, self._kept)
        return Received(self._kept, self._name, self._n_bytes, self._number)

    def drop(self) -> None:
        """Remove the unfinished file."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def too_large(name: str, n_bytes: int) -> PolicyError:
    """Return the error for a file that is too large."""
    much = f"{shown_name(name)} has {format_size(n_bytes)} where this server takes {format_size(policy().max_upload)}"
    return PolicyError(f"{much}; {otherwise()}")


def otherwise() -> str:
    """Return advice on what to do with a file that is too large."""
    return (
        "give a part of it"
        if policy().others
        else "give its path, or start `workbench serve` with a larger --max-upload"
    )


def shown_name(name: str) -> str:
    """Return a file name to show, on one line and shortened."""
    line = " ".join(name.split()).replace("\0", "") or "the file"
    return line if len(line) <= 100 else f"{line[:60]}…{line[-30:]}"


def name_on_disk(name: str) -> str:
    """Return a safe file name with the same ending (letters, digits, dots, blanks, dashes), which names the corpus."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w. -]", "_", last)[-LONGEST:].strip(". -") or "corpus"
