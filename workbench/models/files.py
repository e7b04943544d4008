"""Reading of model files, which hold a table of settings as TOML or JSON, for all families of models."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path

from workbench.data.opening import read_text
from workbench.errors import DataError
from workbench.models.model import ModelError


def read_settings(path: str | Path, subject: str, keys: str) -> dict:
    """Return the table of settings in a .toml or .json file as a dict.

    subject, keys : a description such as "a network", and its keys such as "name and levels", for error messages.

    Raises
    ------
    ModelError
        For another suffix, a missing file, a file that is no TOML or JSON, or that holds no table.
    """
    path = Path(path)
    if path.suffix not in (".toml", ".json"):
        raise ModelError(f"{path}: {subject} is read from .toml or .json; rename it")
    try:
        text = read_text(path)
        table = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except DataError as error:
        raise ModelError(*error.parts) from None
    except (ValueError, RecursionError) as error:  # of both readers
        raise ModelError(f"{path} is not {path.suffix[1:].upper()}: {error}") from None
    if not isinstance(table, dict):
        raise ModelError(f"{path} must hold one table with {keys}; got {type(table).__name__}")
    return table


def check_table(table: Mapping, kind: type, owner: str, lists: Iterable[str] = ()) -> None:
    """Raise ModelError if a table has an unknown key, lacks a required key, or has no list under a key of ``lists``."""
    names = [declared.name for declared in fields(kind)]
    for name in table:
        if name not in names:
            matches = get_close_matches(str(name), names, 1, 0.5)
            hint = f"did you mean '{matches[0]}'?" if matches else f"it has {', '.join(names)}"
            raise ModelError(f"{owner} has no '{name}'; {hint}")
    required = [declared.name for declared in fields(kind) if declared.default is MISSING]
    if missing := [name for name in (*required, *lists) if name not in table]:
        raise ModelError(f"{owner} needs '{missing[0]}'; got {', '.join(table) or 'nothing'}")
    for name in lists:
        if not isinstance(table[name], list | tuple):
            raise ModelError(f"{owner}: '{name}' must be a list of tables; got {table[name]!r}")
