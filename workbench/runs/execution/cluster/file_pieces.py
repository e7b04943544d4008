"""The files of a run between client and worker: in pieces, since memory may not hold them, and each is replaced whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PIECE = 2**20
"""Bytes of a file that go at once."""
NOT_COPIED = ("lock", "control.json", "notes.json", "notes.json.lock")
"""Files of a run that stay where they are: what people write comes to a copy as the state that is wanted."""


class Piece(NamedTuple):
    """A piece of a file, which is replaced whole with the last."""

    name: str
    is_first: bool
    data: bytes
    is_last: bool


def pieces_of(files: Iterable[tuple[str, Path]]) -> Iterator[Piece]:
    """The pieces of files, given by their names on the other side and their paths here."""
    for name, path in files:
        with open(path, "rb") as file:
            data, is_first = file.read(PIECE), True
            while data or is_first:
                coming = file.read(PIECE)
                yield Piece(name, is_first, data, not coming)
                data, is_first = coming, False


def some(pieces: Iterator[Piece], n_bytes: int) -> list[Piece]:
    """The next pieces, as many as reach a number of bytes; none only where none is left."""
    found = []
    while n_bytes > 0 and (piece := next(pieces, None)) is not None:
        found.append(piece)
        n_bytes -= len(piece.data)
    return found


def put(folder: Path, piece: Piece) -> None:
    """Writes a piece; the file takes its place in the folder with the last one."""
    path = folder / piece.name
    partial = path.with_name(f".{path.name}-coming.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(partial, "wb" if piece.is_first else "ab") as file:
        file.write(piece.data)
    if piece.is_last:
        os.replace(partial, path)


def own_files(run: Path) -> Iterator[tuple[str, Path]]:
    """The files of a run that are copied, by their names in it."""
    for folder, folders, files in os.walk(run):
        folders[:] = [name for name in folders if not name.endswith(".partial")]
        for file in files:
            if not file.endswith(".partial") and file not in NOT_COPIED:
                path = Path(folder, file)
                yield path.relative_to(run).as_posix(), path
