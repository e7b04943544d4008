"""Rows ``document word count`` of whole numbers, ids from 1: what UCI and Matrix Market files hold below their headers."""

import io
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.companions import counts_of, find_words
from workbench.corpus.corpus import INT32_MAX, Corpus, CorpusError

COLUMNS = ("document", "word", "count")
LARGEST_EXACT = 2**53
"""Whole numbers above this are not told apart in a float."""


class Sizes(NamedTuple):
    """What a header promises, and the line of the file on which it says how many rows there are."""

    n_documents: int
    n_words: int
    n_rows: int
    line: int


def read_triples(path: Path, stem: str, vocabulary, data: bytes, start: int, sizes: Sizes, real: bool = False) -> dict:
    """Arguments of `Corpus.from_pairs`, from the bytes from ``start`` on and from what lies beside the file.

    With ``real`` counts may be written as floats that are whole numbers.
    """
    for size, what in ((sizes.n_documents, "documents"), (sizes.n_words, "words")):
        if not 1 <= size <= INT32_MAX:
            raise CorpusError(f"{path}: the header must give between 1 and {INT32_MAX} {what}; it gives {size}")
    rows = _rows(path, data, start, real)
    if len(rows) != sizes.n_rows:
        fewer = len(rows) < sizes.n_rows
        trouble = "fewer: the file is truncated, fetch it again" if fewer else f"more: correct line {sizes.line}"
        raise CorpusError(f"{path}: the header promises {sizes.n_rows} rows and {len(rows)} came, {trouble}")
    for ids, size, what in zip(rows.T, sizes[:2], COLUMNS, strict=False):
        wrong = np.flatnonzero((ids < 1) | (ids > size))
        if len(wrong):
            line, _ = next(islice(_numbered_rows(data, start), wrong[0], None))
            raise CorpusError(f"{path}, line {line}: the {what} id must lie in 1..{size}; it is {ids[wrong[0]]}")
    named, (documents, words, counts) = find_words(path, stem, vocabulary, sizes.n_words), rows.T
    return counts_of(path, stem, (documents - 1, words - 1, counts), sizes.n_documents, sizes.n_words, named)


def triples_of(corpus: Corpus) -> str:
    """The pairs of a corpus as such rows."""
    columns = corpus.documents + 1, corpus.words + 1, corpus.counts
    return "".join(f"{d} {w} {count}\n" for d, w, count in zip(*(column.tolist() for column in columns), strict=True))


def _rows(path: Path, data: bytes, start: int, real: bool) -> np.ndarray:
    """(row, 3) int64: document, word, count as written."""
    body = data[start:]
    if not body.strip():
        return np.empty((0, 3), dtype=np.int64)
    try:
        if body.translate(None, b"0123456789 \t\r\n" + b".eE+-" * real):
            raise ValueError
        rows = np.loadtxt(io.BytesIO(body), dtype=np.float64 if real else np.int64, comments=None, ndmin=2)
        if rows.shape[1] != 3 or rows.min(initial=0) < 0:  # as numpy before 2.3 reads what is too large
            raise ValueError
        if real and not np.all((rows == np.floor(rows)) & (rows <= LARGEST_EXACT)):
            raise ValueError
    except ValueError:
        raise _wrong_row(path, data, start, real) from None
    return rows.astype(np.int64)


def _wrong_row(path: Path, data: bytes, start: int, real: bool) -> CorpusError:
    """The sentence about the first row that is not three whole numbers."""
    for line, row in _numbered_rows(data, start):
        where, fields = f"{path}, line {line}", row.split()
        if len(fields) != 3:
            shown = row.decode("utf-8", "replace").strip()[:60]
            return CorpusError(f"{where}: three numbers were wanted, document, word and count; {len(fields)} came: {shown!r}")
        for field, what in zip(fields, COLUMNS, strict=True):
            if not (_is_whole_float(field) if real else field.isdigit() and len(field) <= 18):
                return CorpusError(f"{where}: the {what} must be a whole number, not {field.decode('utf-8', 'replace')!r}")
    return CorpusError(f"{path}: the rows cannot be read as three whole numbers each")


def _is_whole_float(field: bytes) -> bool:
    try:
        value = float(field)
    except ValueError:
        return False
    return value.is_integer() and 0 <= value <= LARGEST_EXACT


def _numbered_rows(data: bytes, start: int):
    """(line number, bytes) of every line below the header that is not blank."""
    for line, row in enumerate(data[start:].split(b"\n"), start=1 + data.count(b"\n", 0, start)):
        if row.strip():
            yield line, row
