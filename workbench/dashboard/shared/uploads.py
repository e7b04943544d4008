"""Uploaded files: a field that sends one, and the folder of a session in which it lies on disk until the session ends."""

import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple

import panel as pn
import param

from workbench.corpus.formats.readers import FORMATS
from workbench.dashboard.shared.drawn import BrowserComponent, code, style
from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.ui_events import with_lock
from workbench.numbers import format_size

ENDINGS = sorted({each for about in FORMATS.values() for each in about.SUFFIXES} | {".txt", ".gz"})
"""File name endings that the browser offers for an upload; the visitor can choose others."""
ROUTE = "upload"
"""Address for uploads, beside those of the pages."""
LONGEST = 60
"""Maximum number of letters of a file name on disk."""
NO_ROUTE = "To upload a file, open this page with `workbench serve`."
PAGE_GONE = "the page that sends the file is gone; load it again"
OTHER_FILE = "another file was chosen meanwhile"
_NUMBERS = count()


class ReceivedFile(NamedTuple):
    """An uploaded file."""

    path: Path
    name: str  # its name for the visitor
    number: int  # counts all uploads of this process

    def existing_path(self) -> Path:
        """Return the path of the file; raise PolicyError if it has been removed."""
        if not self.path.is_file():
            raise PolicyError("the uploaded file is gone; choose it again")
        return self.path


class Inbox:
    """The uploaded file of one page; a new file replaces it, and ``on_file`` is called in the session with each."""

    def __init__(self, on_file: Callable[[ReceivedFile], None]):
        self.token = secrets.token_urlsafe(24)  # known only to this page
        self._document, self._on_file = pn.state.curdoc, on_file
        self._folder, self._finalizer, self._arriving_file = None, None, None
        INBOXES[self.token] = self
        if self._document is not None and self._document.session_context is not None:
            self._document.on_session_destroyed(lambda session_context: self.close())

    def receive(self) -> BinaryIO:
        """Open a new file for an upload and return it, after dropping an unfinished one; raise OSError if that fails."""
        self.drop(self._arriving_file)
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="workbench-upload-"))
            self._finalizer = weakref.finalize(
                self, shutil.rmtree, self._folder, ignore_errors=True
            )
        self._arriving_file = open(self._folder / f".arriving-{next(_NUMBERS)}", "xb")  # noqa: SIM115
        return self._arriving_file

    def keep(self, file: BinaryIO, name: str) -> None:
        """Replace the previous file by the complete new one; raise PolicyError or OSError."""
        if file is not self._arriving_file:
            raise PolicyError(OTHER_FILE)
        file.close()
        target, path = self._folder / name_on_disk(name), Path(file.name)
        self._remove_files(path)
        received_file = ReceivedFile(path.rename(target), display_name(name), next(_NUMBERS))
        self._arriving_file = None
        with_lock(self._document, partial(self._on_file, received_file))

    def drop(self, file: BinaryIO | None) -> None:
        """Remove a file if it is the unfinished one."""
        if file is not None and file is self._arriving_file:
            self._arriving_file = None
            Path(file.name).unlink(missing_ok=True)
            with suppress(OSError):  # a full disk, which closing writes to once more
                file.close()

    def clear(self) -> None:
        """Remove all files of this page."""
        self.drop(self._arriving_file)
        self._remove_files()

    def close(self) -> None:
        """Remove the folder, and refuse files from now on."""
        INBOXES.pop(self.token, None)
        self.drop(self._arriving_file)
        if self._finalizer is not None:
            self._finalizer()

    def _remove_files(self, *kept_paths: Path) -> None:
        for path in set(self._folder.glob("*") if self._folder else ()).difference(kept_paths):
            path.unlink()


INBOXES: weakref.WeakValueDictionary[str, Inbox] = weakref.WeakValueDictionary()
"""Token → inbox of each open page."""


class Upload(BrowserComponent):
    """An upload field that sends the file block by block to the server's disk; ``value`` is the `ReceivedFile` file.

    Panel's FileDropper keeps files in memory, twice during the upload, and accepts any size: see docs/decisions/serving.md.
    """

    value = param.Parameter(doc="The file that has arrived, or None.")
    held = param.String(doc="Its name and size.")
    settings = param.Dict(doc="Route, token, limits and texts; sent once.")

    _esm = code("uploads")
    _stylesheets = style("uploads")
    _rename: ClassVar = {"value": None}

    def __init__(
        self,
        label: str,
        kinds: str,
        alternative: str = "",
        endings: Iterable[str] = ENDINGS,
        advice_text: str = "",
    ):
        self.inbox = Inbox(lambda file: self.param.update(value=file))
        rules, most = policy(), format_size(policy().max_upload)
        hint = f"Or drop it here: {kinds}, up to {most}." if rules.uploads else NO_ROUTE
        hint += f" {alternative.capitalize()}." * (bool(alternative) and rules.takes_paths)
        settings = {
            "label": label,
            "accept": ",".join(endings),
            "most": rules.max_upload,
            "limit": most,
            "route": ROUTE,
            "token": self.inbox.token,
            "hint": hint,
            "otherwise": advice_text or advice(),
            "open": rules.uploads,
        }
        super().__init__(settings=settings, css_classes=["wb-wide"])
        self.param.watch(self._show, "value")

    def _show(self, event) -> None:
        file = self.value
        self.held = f"{file.name}, {format_size(file.path.stat().st_size)}" if file else ""

    def _handle_msg(self, message) -> None:
        if message == {"clear": True}:
            self.inbox.clear()
            self.value = None


def size_error(name: str, n_bytes: int) -> PolicyError:
    """Return the error for a file that is too large."""
    size_text = f"{display_name(name)} has {format_size(n_bytes)} where this server takes {format_size(policy().max_upload)}"
    return PolicyError(f"{size_text}; {advice()}")


def advice() -> str:
    """Return advice on what to do with a file that is too large."""
    return (
        "give a part of it"
        if policy().others
        else "give its path, or start `workbench serve` with a larger --max-upload"
    )


def display_name(name: str) -> str:
    """Return a file name to show, on one line and shortened."""
    line = " ".join(name.split()).replace("\0", "") or "the file"
    return line if len(line) <= 100 else f"{line[:60]}…{line[-30:]}"


def name_on_disk(name: str) -> str:
    """Return a file name with no unsafe characters but the same ending; it becomes the name of the corpus.

    Letters, digits, dots, blanks, dashes and underscores are kept.
    """
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w. -]", "_", last)[-LONGEST:].strip(". -") or "corpus"
