"""Rows ``document word count`` of whole numbers, ids from 1, as in UCI and Matrix Market files below the header."""

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import INT32_MAX, Corpus, CorpusError
from workbench.corpus.formats.interface import (
    IDS,
    Batch,
    ReadOptions,
    Stream,
    about_counts,
    find_words,
)
from workbench.data.arrays import sealed
from workbench.data.opening import bounded, line_blocks

COLUMNS = ("document", "word", "count")
LARGEST_EXACT = 2**53
"""Whole numbers above this are not distinct in a float."""


class Sizes(NamedTuple):
    """The sizes in a file's header, and the number of the line that states the number of rows."""

    n_documents: int
    n_words: int
    n_rows: int
    line: int


def read_and_stream(
    stream_of: Callable[[Path, ReadOptions, Iterator[bytes]], Stream],
) -> tuple[Callable[..., dict], Callable[..., Stream]]:
    """Return the functions ``read`` and ``stream`` of a format whose lines are parsed by ``stream_of``."""

    def read(path: Path, read_options: ReadOptions) -> dict:
        """Return the counts in a file, plain or gzipped; repeated rows of a document and word are summed."""
        rows = stream_of(path, read_options, bounded(line_blocks(path), path))
        columns = [
            list(column)
            for column in zip(*(batch.documents for batch in rows.batches), strict=True)
        ]
        documents, words, counts = (sealed(np.concatenate(columns.pop(0))) for _ in range(3))
        return {"documents": documents, "words": words, "counts": counts, **rows.rest()}

    def stream(path: Path, read_options: ReadOptions, progress: Callable[[float], None]) -> Stream:
        """Stream the counts that `read` returns, some lines at a time."""
        return stream_of(path, read_options, line_blocks(path, progress))

    return read, stream


def stream_triples(
    path: Path, stem: str, vocabulary, blocks: Iterable[bytes], sizes: Sizes, real: bool = False
) -> Stream:
    """Return a stream of the rows below a header; words, titles and labels come from companion files.

    ``blocks`` consist of whole lines; with ``real`` counts may be written as floats with whole values.
    """
    for size, unit in ((sizes.n_documents, "documents"), (sizes.n_words, "words")):
        if not 1 <= size <= INT32_MAX:
            raise CorpusError(
                f"{path}: the header must give between 1 and {INT32_MAX} {unit}; it gives {size}"
            )

    def batches() -> Iterator[Batch]:
        n_rows, line = 0, sizes.line + 1
        yield Batch((np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32)), {}, 0)
        for block in blocks:
            rows = _rows(path, block, line, real)
            for ids, size, unit in zip(rows.T, sizes[:2], COLUMNS, strict=False):
                bad_ids = np.flatnonzero((ids < 1) | (ids > size))
                if len(bad_ids):
                    number, _ = next(islice(_numbered_rows(block, line), bad_ids[0], None))
                    raise CorpusError(
                        f"{path}, line {number}: the {unit} id must lie in 1..{size}; it is {ids[bad_ids[0]]}"
                    )
            n_rows += len(rows)
            line += block.count(b"\n")
            documents, words, counts = rows.T
            counts = counts.astype(np.int32 if counts.max(initial=0) <= INT32_MAX else np.int64)
            yield Batch(
                ((documents - 1).astype(np.int32), (words - 1).astype(np.int32), counts), {}, 0
            )
        if n_rows != sizes.n_rows:
            is_fewer = n_rows < sizes.n_rows
            problem = (
                "fewer: the file is truncated, fetch it again"
                if is_fewer
                else f"more: correct line {sizes.line}"
            )
            raise CorpusError(
                f"{path}: the header promises {sizes.n_rows} rows and {n_rows} came, {problem}"
            )

    names = partial(find_words, path, stem, vocabulary, sizes.n_words)
    return Stream(batches(), lambda: about_counts(path, stem, *sizes[:2], names()), IDS, names)


def triples_of(corpus: Corpus) -> str:
    """Return the document-word pairs of a corpus as lines ``document word count``."""
    columns = corpus.documents + 1, corpus.words + 1, corpus.counts
    return "".join(
        f"{d} {w} {count}\n"
        for d, w, count in zip(*(column.tolist() for column in columns), strict=True)
    )


def _rows(path: Path, block: bytes, line: int, real: bool) -> np.ndarray:
    """Parse whole lines, numbered from ``line`` on; return rows (row, 3) int64 of document, word and count."""
    if not block.strip():
        return np.empty((0, 3), dtype=np.int64)
    try:
        if block.translate(None, b"0123456789 \t\r\n" + b".eE+-" * real):
            raise ValueError
        rows = np.loadtxt(
            io.BytesIO(block), dtype=np.float64 if real else np.int64, comments=None, ndmin=2
        )
        # as numpy before 2.3 reads what is too large
        if rows.shape[1] != 3 or rows.min(initial=0) < 0:
            raise ValueError
        if real and not np.all((rows == np.floor(rows)) & (rows <= LARGEST_EXACT)):
            raise ValueError
    except ValueError:
        raise _wrong_row(path, block, line, real) from None
    return rows.astype(np.int64, copy=False)


def _wrong_row(path: Path, block: bytes, line: int, real: bool) -> CorpusError:
    """Return the error for the first line that is not three whole numbers."""
    for number, row in _numbered_rows(block, line):
        place, fields = f"{path}, line {number}", row.split()
        if len(fields) != 3:
            excerpt = row.decode("utf-8", "replace").strip()[:60]
            return CorpusError(
                f"{place}: three numbers were wanted, document, word and count; {len(fields)} came: {excerpt!r}"
            )
        for field, column in zip(fields, COLUMNS, strict=True):
            if not (_is_whole_float(field) if real else field.isdigit() and len(field) <= 18):
                return CorpusError(
                    f"{place}: the {column} must be a whole number, not {field.decode('utf-8', 'replace')!r}"
                )
    return CorpusError(f"{path}: the rows cannot be read as three whole numbers each")


def _is_whole_float(field: bytes) -> bool:
    try:
        value = float(field)
    except ValueError:
        return False
    return value.is_integer() and 0 <= value <= LARGEST_EXACT


def _numbered_rows(block: bytes, line: int):
    """Yield (line number, bytes) of every line that is not blank."""
    for number, row in enumerate(block.split(b"\n"), start=line):
        if row.strip():
            yield number, row
