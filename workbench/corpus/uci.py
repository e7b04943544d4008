"""A corpus from the UCI "bag of words" format: ``docword.NAME.txt[.gz]`` with ``vocab.NAME.txt`` beside it.

The file begins with three lines of one integer each, the numbers of documents D, of words W and of rows;
then one row ``document word count`` per pair, ids from 1. Beside it may also lie ``titles.NAME.txt`` and
``labels.NAME.txt``, one line per document: our addition, any other reader ignores them.

Source: UCI Machine Learning Repository, "Bag of Words" (Newman, 2008).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import INT32_MAX, Corpus, CorpusError
from workbench.corpus.opening import read_bytes, read_lines

HEADER = re.compile(rb"\A(?:\xef\xbb\xbf)?[ \t]*(\d+)[ \t]*\r?\n[ \t]*(\d+)[ \t]*\r?\n[ \t]*(\d+)[ \t]*(?:\r?\n|\Z)")
FILE_NAME = re.compile(r"(?:docword\.)?(.+?)(?:\.txt)?(?:\.gz)?\Z")


def read_uci(path: Path, vocabulary: str | Path | Iterable[str] | None = None, name: str | None = None) -> Corpus:
    """The corpus in a UCI file.

    Parameters
    ----------
    path : Path
        Plain or gzipped.
    vocabulary : path or words, default ``vocab.NAME.txt`` beside ``docword.NAME.txt[.gz]``
        One word a line; without one the words are ``w0, w1, …``.
    name : str, default NAME

    Raises
    ------
    CorpusError
        With the line: a row that is not three whole numbers, an id out of range. Without: fewer or more
        rows than the header says, a vocabulary that does not fit, a file that cannot be read.
    """
    data = read_bytes(path)
    header = HEADER.match(data)
    if not header:
        raise CorpusError(
            f"{path}, line {_first_wrong_header_line(data)}: a UCI bag of words begins with three lines of one whole number "
            "each, documents, words and rows; this line is none of them"
        )
    n_documents, n_words, n_rows = (int(number) for number in header.groups())
    for size, what in ((n_documents, "documents"), (n_words, "words")):
        if not 1 <= size <= INT32_MAX:
            raise CorpusError(f"{path}: the header must give between 1 and {INT32_MAX} {what}; it gives {size}")
    rows = _rows(path, data, header.end())
    if len(rows) != n_rows:
        trouble = "fewer: the file is truncated, fetch it again" if len(rows) < n_rows else "more: correct line 3"
        raise CorpusError(f"{path}: the header promises {n_rows} rows and {len(rows)} came, {trouble}")
    _check_ids(path, data, rows, n_documents, n_words)
    stem = FILE_NAME.match(path.name).group(1)
    about = {what: _beside(path, what, stem, n_documents) for what in ("titles", "labels")}
    about = {what: lines for what, lines in about.items() if lines is not None}
    words = _words(path, vocabulary, stem, n_words)
    documents, ids, counts = rows.T
    try:
        return Corpus.from_pairs(
            documents - 1, ids - 1, counts, words, n_documents, n_words, name=name or stem, **about
        )
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from None


def looks_like_uci(start: bytes) -> bool:
    """Whether a file that begins with these bytes is a UCI bag of words."""
    return HEADER.match(start) is not None


def _rows(path: Path, data: bytes, start: int) -> np.ndarray:
    """(row, 3) int64: document, word, count as written."""
    body = data[start:]
    if not body.strip():
        return np.empty((0, 3), dtype=np.int64)
    if body.translate(None, b"0123456789 \t\r\n"):
        raise _wrong_row(path, data)
    try:
        rows = np.loadtxt(io.BytesIO(body), dtype=np.int64, comments=None, ndmin=2)
    except ValueError:
        raise _wrong_row(path, data) from None
    if rows.shape[1] != 3:
        raise _wrong_row(path, data)
    return rows


def _wrong_row(path: Path, data: bytes) -> CorpusError:
    """The sentence about the first row that is not three whole numbers."""
    for line, row in _numbered_rows(data):
        fields = row.split()
        where = f"{path}, line {line}"
        if len(fields) != 3:
            shown = row.decode("utf-8", "replace").strip()[:60]
            return CorpusError(f"{where}: three numbers were wanted, document, word and count; {len(fields)} came: {shown!r}")
        for field, what in zip(fields, ("document", "word", "count"), strict=True):
            if not field.isdigit() or len(field) > 18:
                shown = field.decode("utf-8", "replace")
                return CorpusError(f"{where}: the {what} must be a whole number, not {shown!r}")
    return CorpusError(f"{path}: the rows cannot be read as three whole numbers each")


def _check_ids(path: Path, data: bytes, rows: np.ndarray, n_documents: int, n_words: int):
    """Refuses an id that the header does not allow, with its line."""
    for column, size, what in ((0, n_documents, "document"), (1, n_words, "word")):
        wrong = np.flatnonzero((rows[:, column] < 1) | (rows[:, column] > size))
        if len(wrong):
            line = next(line for number, (line, _) in enumerate(_numbered_rows(data)) if number == wrong[0])
            raise CorpusError(f"{path}, line {line}: the {what} id must lie in 1..{size}; it is {rows[wrong[0], column]}")


def _numbered_rows(data: bytes):
    """(line number, bytes) of every line below the header that is not blank."""
    for line, row in enumerate(data.split(b"\n"), start=1):
        if line > 3 and row.strip():
            yield line, row


def _first_wrong_header_line(data: bytes) -> int:
    """Number of the first of the three header lines that is not one whole number."""
    lines = [*data.split(b"\n", 3), b"", b""][:3]
    return next((number for number, line in enumerate(lines, start=1) if not line.strip().isdigit()), 3)


def _words(path: Path, vocabulary, stem: str, n_words: int) -> list[str] | None:
    """The vocabulary given or found beside the file; None when there is none."""
    if vocabulary is None:
        return _beside(path, "vocab", stem, n_words)
    if not isinstance(vocabulary, (str, Path)):
        return list(vocabulary)
    return read_lines(Path(vocabulary), n_words, "words", f"give the vocabulary that belongs to {path}")


def _beside(path: Path, what: str, stem: str, wanted: int) -> list[str] | None:
    """The lines of ``WHAT.NAME.txt`` beside ``docword.NAME.txt``; None when there is no such file."""
    if not path.name.startswith("docword."):
        return None
    lines = {"vocab": "words"}.get(what, what)
    for file in (path.with_name(f"{what}.{stem}.txt"), path.with_name(f"{what}.{stem}.txt.gz")):
        if file.is_file():
            mend = "give the right one with vocabulary=…" if what == "vocab" else "mend or remove it"
            return read_lines(file, wanted, lines, f"it does not belong to {path}; {mend}")
    return None
