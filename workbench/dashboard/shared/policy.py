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
TOLD = {
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
                f"{figures(most)} {MANY[name]}, and these are {n:,}; take fewer, or wait until some have ended"
            )

    def told(self) -> str:
        """Return a sentence on the limits that are lower than on your own machine; empty if there are none."""
        told = [
            f"{figures(most)}\N{NO-BREAK SPACE}{TOLD[name]}"
            for name, most, own in zip(self._fields, self, Limits(), strict=True)
            if name in TOLD and most < own
        ]
        return f"At most {', '.join(told)}." if told else ""


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

    def place_of(self, typed: str) -> Path:
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
            path_of(typed)  # raises DataError for an impossible file name
        path, known = self.find(typed), ", ".join(sorted(folder.name for folder in self.folders))
        if path is None:
            there = f"it must lie in {known}" if self.others else "check the path"
            raise PolicyError(
                f"no file and no folder {_short(typed)}; {there}, or choose a corpus of the list"
            )
        if not (path.is_file() or path.is_dir()):
            raise PolicyError(
                f"{_short(typed)} is neither a file nor a folder, and only these are read"
            )
        return path

    def find(self, typed: str) -> Path | None:
        """Return the existing path that a visitor types, or None; visitors on other machines only get paths in ``folders``.

        Symbolic links are resolved before the check.
        """
        try:
            if not self.others:
                path = Path(typed).expanduser()
                return path if path.exists() else None
            places = [((folder / typed).resolve(), folder) for folder in self.folders]
            return next(
                (path for path, folder in places if path.is_relative_to(folder) and path.exists()),
                None,
            )
        except (OSError, RuntimeError, ValueError):  # too long, looped link, no home, NUL
            return None

    def shown(self, sentence: str) -> str:
        """Return a sentence for visitors; those on other machines see only the last name of each path in it."""
        return PATH.sub(lambda found: found[1] or "…", sentence) if self.others else sentence

    def check_change(self) -> None:
        """Raise PolicyError if visitors may not change anything."""
        if self.read_only:
            raise PolicyError(LOOK_ONLY)


def figures(most: float) -> str:
    """Return a limit as text with all its digits, such as 0.5 or 1,000,000."""
    return f"{most:,.15g}"


def _short(typed: str) -> str:
    """Return the typed text in quotes, shortened if it is long."""
    return repr(typed if len(typed) <= 100 else f"{typed[:99]}…")


_policy = Policy()


def policy() -> Policy:
    """Return the policy of this process."""
    return _policy


def set_policy(wanted: Policy) -> None:
    """Set the policy of this process; call this before the first page is made."""
    global _policy
    _policy = wanted
