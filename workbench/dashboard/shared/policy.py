"""The policy of this process: what visitors may do (everything on your own machine, less on a server for others).

A process has one policy and one store. Notebooks and `panel serve` have the default policy, without limits.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple

from workbench.data.opening import path_of
from workbench.errors import InputError
from workbench.numbers import MIB

PATH = re.compile(r"(?<![\w:/.])~?/(?:[^\s/'\"`]+/)*([^\s/'\"`]*)")
"""Pattern of an absolute path in a sentence; its group is the last name."""
MANY = {
    "start": "runs may be started at once here",
    "session": "runs may be started from one page here",
    "waiting": "runs may be unfinished at a time here",
    "pages": "pages may be open at a time here",
}
TEXTS_OF_LIMITS = {
    "start": "runs a start",
    "session": "runs a page",
    "waiting": "unfinished runs",
    "topics": "topics or states",
    "iterations": "iterations",
    "memory": "GB of memory of all runs at work",
}
LOOK_ONLY = "This server is to look at: nothing can be started, changed or removed here."


class PolicyError(InputError):
    """The error for what this server does not allow, in one sentence."""


class Limits(NamedTuple):
    """The limits on what visitors may request."""

    start: float = 500  # runs started at once, including those of a sweep
    session: float = math.inf  # runs started by one page in total
    waiting: float = math.inf  # unfinished runs of the store, beyond which no run starts
    pages: float = math.inf  # pages open at the same time
    topics: float = math.inf  # K of a run: topics, super-topics, states, dimensions of a state
    iterations: float = math.inf  # iterations of a run
    memory: float = math.inf  # GB used at the same time by the unfinished runs of the store

    def check(self, name: str, n: float) -> None:
        """Raise PolicyError if ``n`` exceeds the limit called ``name``."""
        if n > (most := getattr(self, name)):
            raise PolicyError(
                f"{limit_text(most)} {MANY[name]}, and these are {n:,}; take fewer, or wait until some have ended"
            )

    def sentence(self) -> str:
        """Return a sentence on the limits that are lower than on your own machine; empty if there are none."""
        lower_limits = [
            f"{limit_text(most)}\N{NO-BREAK SPACE}{TEXTS_OF_LIMITS[name]}"
            for name, most, own_limit in zip(self._fields, self, Limits(), strict=True)
            if name in TEXTS_OF_LIMITS and most < own_limit
        ]
        return f"At most {', '.join(lower_limits)}." if lower_limits else ""


OF_OTHERS = Limits(50, 200, 200, 100, 1000, 100_000, 4)
"""Default limits for a server that people on other machines use."""


class Policy(NamedTuple):
    """What visitors may do."""

    others: bool = False  # whether people on other machines use the server
    read_only: bool = False  # visitors can only look and download
    folders: tuple[Path, ...] = ()  # folders whose files others may name; resolved paths
    max_upload: int = 5 * MIB  # maximum bytes of an upload
    limits: Limits = Limits()
    # whether the server stores files; `panel serve` and notebooks have no route for uploads
    uploads: bool = False

    @property
    def takes_uploads(self) -> bool:
        """Return whether visitors may upload a corpus."""
        return self.uploads and not self.read_only

    @property
    def takes_paths(self) -> bool:
        """Return whether visitors may name a file."""
        return not self.others or bool(self.folders)

    def place_of(self, text: str) -> Path:
        """Return the existing file or folder that a visitor names; from other machines it must lie in one of ``folders``.

        Raises
        ------
        DataError, PolicyError
            It does not exist, is no regular file or folder, or lies outside ``folders``; the error does not tell whether a path
            outside exists.
        """
        if not self.takes_paths:
            raise PolicyError(
                "this server reads no files that visitors name; choose a corpus of the list"
            )
        if not self.others:
            path_of(text)  # raises DataError for an impossible file name
        path, folder_names = (
            self.find(text),
            ", ".join(sorted(folder.name for folder in self.folders)),
        )
        if path is None:
            advice_text = f"it must lie in {folder_names}" if self.others else "check the path"
            raise PolicyError(
                f"no file and no folder {_short_text(text)}; {advice_text}, or choose a corpus of the list"
            )
        if not (path.is_file() or path.is_dir()):
            raise PolicyError(
                f"{_short_text(text)} is neither a file nor a folder, and only these are read"
            )
        return path

    def find(self, text: str) -> Path | None:
        """Return the existing path that a visitor types, or None; visitors on other machines only get paths in ``folders``.

        Symbolic links are resolved before the check.
        """
        try:
            if not self.others:
                path = Path(text).expanduser()
                return path if path.exists() else None
            paths_and_folders = [((folder / text).resolve(), folder) for folder in self.folders]
            return next(
                (
                    path
                    for path, folder in paths_and_folders
                    if path.is_relative_to(folder) and path.exists()
                ),
                None,
            )
        except (OSError, RuntimeError, ValueError):  # too long, looped link, no home, NUL
            return None

    def for_visitors(self, sentence: str) -> str:
        """Return a sentence for visitors; those on other machines see only the last name of each path in it."""
        return PATH.sub(lambda match: match[1] or "…", sentence) if self.others else sentence

    def check_change(self) -> None:
        """Raise PolicyError if visitors may not change anything."""
        if self.read_only:
            raise PolicyError(LOOK_ONLY)


def limit_text(most: float) -> str:
    """Return a limit as text with all its digits, such as 0.5 or 1,000,000."""
    return f"{most:,.15g}"


def _short_text(text: str) -> str:
    """Return the typed text in quotes, shortened if it is long."""
    return repr(text if len(text) <= 100 else f"{text[:99]}…")


_policy = Policy()


def policy() -> Policy:
    """Return the policy of this process."""
    return _policy


def set_policy(new_policy: Policy) -> None:
    """Set the policy of this process; call this before the first page is made."""
    global _policy
    _policy = new_policy
