"""Rows ``document word count`` of whole numbers, ids from 1: what UCI and Matrix Market files hold below their headers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import INT32_MAX, Corpus, CorpusError

LARGEST_EXACT = 2**53
"""Whole numbers above this are not told apart in a float."""


class Sizes(NamedTuple):
    """What a header promises, and the line of the file on which it says how many rows there are."""

    n_documents: int
    n_words: int
    n_rows: int
    line: int


def read_triples(path: Path, data: bytes, start: int, sizes: Sizes, real: bool = False) -> tuple[np.ndarray, ...]:
    """(row,) int64 zero-based documents, zero-based words, and counts, from the bytes from ``start`` on.

    With ``real`` counts may be written as floats that are whole numbers.

    Raises
    ------
    CorpusError
        With the line: a row that is not three whole numbers, an id out of range. Without: sizes out of
        range, fewer or more rows than promised.
    """
    for size, what in ((sizes.n_documents, "documents"), (sizes.n_words, "words")):
        if not 1 <= size <= INT32_MAX:
            raise CorpusError(f"{path}: the header must give between 1 and {INT32_MAX} {what}; it gives {size}")
    rows = _rows(path, data, start, real)
    if len(rows) != sizes.n_rows:
        fewer = len(rows) < sizes.n_rows
        trouble = "fewer: the file is truncated, fetch it again" if fewer else f"more: correct line {sizes.line}"
        raise CorpusError(f"{path}: the header promises {sizes.n_rows} rows and {len(rows)} came, {trouble}")
    _check_ids(path, data, start, rows, sizes)
    documents, words, counts = rows.T
    return documents - 1, words - 1, counts


def triples_of(corpus: Corpus) -> str:
    """The pairs of a corpus as such rows."""
    columns = corpus.documents + 1, corpus.words + 1, corpus.counts
    return "".join(f"{d} {w} {count}\n" for d, w, count in zip(*(column.tolist() for column in columns), strict=True))


def _rows(path: Path, data: bytes, start: int, real: bool) -> np.ndarray:
    """(row, 3) int64: document, word, count as written."""
    body = data[start:]
    if not body.strip():
        return np.empty((0, 3), dtype=np.int64)
    if body.translate(None, b"0123456789 \t\r\n" + b".eE+-" * real):
        raise _wrong_row(path, data, start, real)
    try:
        rows = np.loadtxt(io.BytesIO(body), dtype=np.float64 if real else np.int64, comments=None, ndmin=2)
    except ValueError:
        raise _wrong_row(path, data, start, real) from None
    if rows.shape[1] != 3 or (real and not np.all((rows == np.floor(rows)) & (rows >= 0) & (rows <= LARGEST_EXACT))):
        raise _wrong_row(path, data, start, real)
    return rows.astype(np.int64)


def _wrong_row(path: Path, data: bytes, start: int, real: bool) -> CorpusError:
    """The sentence about the first row that is not three whole numbers."""
    for line, row in _numbered_rows(data, start):
        fields = row.split()
        where = f"{path}, line {line}"
        if len(fields) != 3:
            shown = row.decode("utf-8", "replace").strip()[:60]
            return CorpusError(f"{where}: three numbers were wanted, document, word and count; {len(fields)} came: {shown!r}")
        for field, what in zip(fields, ("document", "word", "count"), strict=True):
            if not (_is_whole_float(field) if real else field.isdigit() and len(field) <= 18):
                shown = field.decode("utf-8", "replace")
                return CorpusError(f"{where}: the {what} must be a whole number, not {shown!r}")
    return CorpusError(f"{path}: the rows cannot be read as three whole numbers each")


def _is_whole_float(field: bytes) -> bool:
    try:
        value = float(field)
    except ValueError:
        return False
    return value.is_integer() and 0 <= value <= LARGEST_EXACT


def _check_ids(path: Path, data: bytes, start: int, rows: np.ndarray, sizes: Sizes):
    """Refuses an id that the header does not allow, with its line."""
    for column, size, what in ((0, sizes.n_documents, "document"), (1, sizes.n_words, "word")):
        wrong = np.flatnonzero((rows[:, column] < 1) | (rows[:, column] > size))
        if len(wrong):
            line = next(line for number, (line, _) in enumerate(_numbered_rows(data, start)) if number == wrong[0])
            raise CorpusError(f"{path}, line {line}: the {what} id must lie in 1..{size}; it is {rows[wrong[0], column]}")


def _numbered_rows(data: bytes, start: int):
    """(line number, bytes) of every line below the header that is not blank."""
    for line, row in enumerate(data[start:].split(b"\n"), start=1 + data.count(b"\n", 0, start)):
        if row.strip():
            yield line, row
