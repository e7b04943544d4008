"""Plug-ins: engines, models, views and file formats of other packages, found by their entry points."""

import sys
import warnings
from collections.abc import Callable, Collection
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any


def find_plugins(kind: str, reserved: Collection[str]) -> dict[str, EntryPoint]:
    """Return the entry points of the installed plug-ins of one kind, keyed by name, without importing them.

    A plug-in whose name is ``reserved``, or equals that of another plug-in, is left out with a warning.

    kind : "engines", "models", "views" or "formats": entry points of the group ``workbench.KIND``.
    """
    plugins: dict[str, EntryPoint] = {}
    for entry in _installed(tuple(sys.path)).select(group=f"workbench.{kind}"):
        if entry.name in reserved or entry.name in plugins:
            warnings.warn(f"{describe(entry)} is left out: its name is taken", stacklevel=3)
        else:
            plugins[entry.name] = entry
    return plugins


@lru_cache(maxsize=1)
def _installed(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all packages on the path; the result is cached, since the search takes 20 ms."""
    return entry_points()


def load_plugins(kind: str, reserved: Collection[str]) -> dict[str, Any]:
    """Import the plug-ins of one kind and return them, keyed by name; warn about a plug-in that fails and leave it out."""
    plugins = {}
    for name, entry in find_plugins(kind, reserved).items():
        try:
            plugins[name] = entry.load()
        except Exception as error:  # whatever a module of somebody else raises
            warnings.warn(f"{describe(entry)} is left out: {error}", stacklevel=2)
    return plugins


def call_plugins(kind: str, reserved: Collection[str]) -> dict[str, Callable]:
    """Return the plug-ins of one kind as functions, keyed by name; each is imported when it is first called."""

    def caller(entry: EntryPoint) -> Callable:
        return lambda *values, **keywords: entry.load()(*values, **keywords)

    return {name: caller(entry) for name, entry in find_plugins(kind, reserved).items()}


def describe(entry: EntryPoint) -> str:
    """Return the name, group and location of a plug-in as text."""
    return f"plug-in '{entry.name}' ({entry.group}, {entry.value})"
