"""The record of how data were read: file, options, what was found in the file, and what was left out.

A record is a dict of JSON values: ``path`` and ``sha256`` of a file, ``found`` (format, encoding, separator), ``options`` (all
options of reading and counting, defaults too), ``left_out`` (of rows a number, of words [words, tokens]), and ``content``, the
content hash of the data as they were read. A named data set has ``data_set`` (the name), a folder of shards ``shards``.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

_NOTES: ContextVar[dict | None] = ContextVar("notes", default=None)
GIVEN = "given in Python"
"""Recorded value of an option that JSON cannot represent, such as a function or a list of all words."""
ORIGINS = ("data_set", "shards", "path")
"""Entries of a record that say where the data can be read again."""


@contextmanager
def noting(*parts: str) -> Iterator[dict[str, dict]]:
    """Yield a dict of notes on how data are read (``found``, ``left_out``), which `note` fills if called in the block.

    ``parts`` : further parts, which are noted only if asked for, such as `workbench.corpus.texts.counting.DROPPED`
    """
    token = _NOTES.set(notes := {part: {} for part in ("found", "left_out", *parts)})
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def is_noted(part: str) -> bool:
    """Return whether notes under ``part``, such as "found", are kept now, in a block of `noting` that has this part."""
    return part in (_NOTES.get() or ())


def note(part: str, **values) -> None:
    """Add values to the notes under ``part``, such as "found"; do nothing outside `noting`, or if it lacks the part."""
    if is_noted(part):
        _NOTES.get()[part].update(values)


def hash_of(file: Path) -> str:
    """Return the sha256 (hex) of a file, or of the names and hashes of all files in a folder."""
    if file.is_dir():
        paths = sorted(path for path in file.rglob("*") if path.is_file())
        names = [f"{hash_of(path)}  {path.relative_to(file)}\n" for path in paths]
        return hashlib.sha256("".join(names).encode("utf-8", "surrogateescape")).hexdigest()
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_file(path: Path, options: dict, notes: dict) -> dict:
    """Return the record of how a file was read: its path and hash (not those of a pipe), the options and the notes."""
    about = {"options": {name: _plain(value) for name, value in options.items()}, **notes}
    return (
        about if path.is_fifo() else {"path": str(path.resolve()), "sha256": hash_of(path)} | about
    )


def _plain(value: object):
    """Return the value of an option as JSON has it: a path in full, texts as a list, anything else as `GIVEN`."""
    if isinstance(value, Path):
        return str(value.resolve())
    if isinstance(value, Iterable) and not isinstance(value, str | dict):
        value = list(value)
        return (
            value if len(value) < MOST and all(isinstance(entry, str) for entry in value) else GIVEN
        )
    return value if isinstance(value, str | int | float | None) else GIVEN


MOST = 1000
"""Maximum of texts in an option that a record holds."""


def current(data) -> dict | None:
    """Return the record of how data were read, without path or data set name if the data have changed since."""
    if (reading := data.reading) is None or reading.get("content", data.content_hash) in (
        data.content_hash,
        None,
    ):
        return reading
    return of_changed(reading, data.content_hash)


def of_changed(reading: dict, content: str) -> dict:
    """Return the record of data changed since they were read: without path or data set name, with the new content hash."""
    settings = {name: value for name, value in reading.items() if name not in ORIGINS}
    return settings | {"changed": True, "content": content}


def with_current(data):
    """Return the data with their record of reading as `current` returns it, which says if the data have changed since."""
    return data if (reading := current(data)) is data.reading else replace(data, reading=reading)
