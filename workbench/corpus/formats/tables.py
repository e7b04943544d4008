"""CSV files with a header row: one text per row, one count per row, or one document per row with a column per word.

For separators and quotes see `workbench.data.rows`. A table holds counts if it has the columns ``document``, ``word`` and
``count`` (or the columns named in their place) and no text. It has a column of counts per word if it has none of these, inputs
or a sequence are asked for, and all further columns are whole numbers. Tables may also have ``title``, ``label``, and the time,
inputs and sequence that are asked for; further columns are kept unchanged in the ``table`` of the corpus.

Documents and words are numbered in the order in which they first appear, and repeated rows of a document and word are added
up. A row with count 0 adds its document and its word, which may be empty and occur nowhere else.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.by_name import Kept, Rows, counts_by_name, named_counts
from workbench.corpus.formats.interface import (
    NAMES,
    Batch,
    Prepared,
    ReadOptions,
    Stream,
    suffix_of,
    unplaced,
)
from workbench.data.opening import BYTE_ORDER_MARK
from workbench.data.rows import header_of, read_columns, separator_of, stream_columns
from workbench.data.saving import encoded

MEANING = "a CSV file with a header row"
SUFFIXES = (".csv", ".tsv")
TAKES = ("columns", "columns of counts", "dialect", "encoding")
COUNTS = ("document", "word", "count")
WHOLE = re.compile(r"\s*[0-9]{1,18}(\.0*)?\s*")  # spreadsheets write 3 as 3.0


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether the first line is a header with the column of texts, or with the three columns of counts."""
    content, (separator, quote, _, comment) = (
        start.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace"),
        read_options.dialect,
    )
    names = header_of(content, comment).split(separator or separator_of(content, comment))
    columns = {name.strip(f' {quote}"\r\n') for name in names}
    read_options = read_options.spelled(columns)
    return read_options.text in columns or columns.issuperset(read_options.counts)


def read(path: Path, read_options: ReadOptions) -> dict:
    """Return a table's texts and chosen columns, or its counts if it has counts; an empty text is an empty document."""
    return read_table(
        path, read_options, *read_columns(path, read_options.encoding, read_options.dialect)
    )


def read_table(
    path: Path,
    read_options: ReadOptions,
    header: list[str],
    values: list[Sequence[str]],
    lines: list[int],
) -> dict:
    """Return what `read` does, for a table given by column names, column values and the line on which each row ends."""
    columns, read_options = columns_by_name(header, values), read_options.spelled(header)
    if _has_counts(path, read_options, header):
        return _read_counts(path, read_options, columns, lines)
    table = _rows(path, columns, range(len(lines)), lines)
    if (words := _wide(read_options, columns)) and read_options.text not in columns:
        return _read_wide(path, read_options, columns, words, table)
    return {"texts": table.column("text", read_options.text), **table.document_fields(read_options)}


def stream(
    path: Path, read_options: ReadOptions, progress: Callable[[float], None]
) -> Stream | None:
    """Return a stream of the documents that `read` would return; None if `read` needs all rows at once.

    This is so if the table may have one column of counts per word.
    """
    return stream_table(
        path,
        read_options,
        *stream_columns(path, read_options.encoding, read_options.dialect, progress),
    )


def stream_table(
    path: Path,
    read_options: ReadOptions,
    header: list[str],
    pieces: Iterator[tuple[list, list[int]]],
) -> Stream | None:
    """Return what `stream` does, for a table given by column names and pieces (column values, line numbers)."""
    read_options = read_options.spelled(header)
    if _has_counts(path, read_options, header):
        return _stream_counts(path, read_options, header, pieces)
    if read_options.text not in header and (
        read_options.inputs or read_options.sequence is not None
    ):
        return None
    fields, columns = Kept(read_options), columns_by_name(header, [()] * len(header))
    none = _rows(path, columns, (), [])
    # what is missing is refused of a table without rows too
    none.column("text", read_options.text), fields.document_fields(none, 0)

    def batches() -> Iterator[Batch]:
        for values, lines in pieces:
            rows = _rows(path, columns_by_name(header, values), range(len(lines)), lines)
            yield Batch(
                rows.column("text", read_options.text),
                fields.document_fields(rows, len(lines)),
                len(lines),
            )

    return Stream(batches(), fields.rest)


def write(corpus: Corpus, path: Path, vocabulary: bool) -> Prepared:
    """Return the table to be written: a row per pair with ``document,word,count`` and, if there are labels, ``label``.

    Other fields are lost.
    The column ``document`` has the titles. If two titles are equal it has numbers from 0, and ``title`` is another
    column. With ``vocabulary`` the first document has a row for every word, with count 0 if it does not contain it. This
    keeps the order of the words, and words that occur nowhere. An empty document has one row of count 0.
    """
    extra_columns = {}
    if len(set(corpus.titles)) < corpus.n_documents:
        extra_columns["title"] = corpus.titles
    if corpus.labels is not None:
        extra_columns["label"] = corpus.labels
    strings = map(str, chain(corpus.vocabulary, corpus.titles, corpus.labels or ()))
    # which forgets about \r
    quoting = csv.QUOTE_NONNUMERIC if any("\r" in text for text in strings) else csv.QUOTE_MINIMAL
    file = io.StringIO()
    writer = csv.writer(
        file,
        delimiter="\t" if suffix_of(path) == ".tsv" else ",",
        lineterminator="\n",
        quoting=quoting,
    )
    writer.writerow([*COUNTS, *extra_columns])
    document_names = range(corpus.n_documents) if "title" in extra_columns else corpus.titles
    for document, counts, *extra in zip(
        document_names, named_counts(corpus, vocabulary), *extra_columns.values(), strict=True
    ):
        counts = counts or {corpus.vocabulary[0]: 0}
        writer.writerows([document, word, count, *extra] for word, count in counts.items())
    return Prepared({path: encoded(file.getvalue(), path)}, unplaced(corpus, "titles", "labels"))


def columns_by_name(header: list[str], values: list[Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return the column values keyed by column name; if several columns have one name, the first is used."""
    return dict.fromkeys(header) | dict(zip(header[::-1], values[::-1], strict=True))


def _has_counts(path: Path, read_options: ReadOptions, header: list[str]) -> bool:
    """Return whether a row is a document, a word and a count; raise an error if a column in the options is missing."""
    is_named = read_options.counts != COUNTS
    if missing := [name for name in read_options.counts if is_named and name not in header]:
        raise CorpusError(
            f"{path}, line 1: no column {missing[0]!r} for documents, words and counts; there are "
            f"{', '.join(map(repr, header))}"
        )
    return is_named or (read_options.text not in header and set(header) >= set(COUNTS))


def _rows(
    path: Path, columns: dict[str, Sequence[str]], rows: Sequence[int], lines: list[int]
) -> Rows:
    """Return the fields of documents as `Rows`; ``rows`` is the first table row of each document."""

    def values(name: str | None) -> list:
        return [columns[name][row] for row in rows] if name in columns else [None] * len(rows)

    return Rows(
        "column",
        [(f"{path}, line 1", columns)],
        values,
        lambda row: f"{path}, line {lines[rows[row]]}",
    )


def _wide(read_options: ReadOptions, columns: dict[str, Sequence[str]]) -> list[str]:
    """Return the names of the word columns if a table has a document per row and a column per word; [] otherwise.

    Without inputs or a sequence in the options the result is []: a column of years would become a word.
    """
    if not read_options.inputs and read_options.sequence is None:
        return []
    other_columns = {
        read_options.title,
        read_options.label,
        read_options.time,
        read_options.sequence,
        read_options.position,
        *read_options.inputs,
    }
    words = [name for name in columns if name not in other_columns]
    is_whole = all(WHOLE.fullmatch(value) for name in words for value in columns[name])
    return words if len(words) > 1 and is_whole and len(columns[words[0]]) else []


def _read_wide(
    path: Path,
    read_options: ReadOptions,
    columns: dict[str, Sequence[str]],
    words: list[str],
    table: Rows,
) -> dict:
    """Return the counts of a table with one document per row and one column per word."""
    counts = np.array(
        [[int(value.strip().partition(".")[0]) for value in columns[name]] for name in words],
        np.int64,
    ).T
    documents, column = np.indices(counts.shape)
    return counts_by_name(
        path,
        read_options,
        [words[w] for w in column.ravel()],
        documents=documents.ravel(),
        counts=counts.ravel(),
        n_documents=len(counts),
        **table.document_fields(read_options, words),
    )


def _read_counts(
    path: Path, read_options: ReadOptions, columns: dict[str, Sequence[str]], lines: list[int]
) -> dict:
    """Return the counts of a table with one count per row; other fields of a document come from its first row."""
    if not lines:
        raise _no_counts(path)
    documents_so_far = _Documents(path, read_options)
    documents, first_rows, counts = documents_so_far.of(columns, lines)
    document_fields = {"titles": documents_so_far.titles} | _rows(
        path, columns, first_rows, lines
    ).document_fields(read_options, (read_options.word, read_options.count))
    document_fields |= {
        "documents": documents,
        "counts": counts,
        "n_documents": len(documents_so_far.titles),
    }
    return counts_by_name(path, read_options, columns[read_options.word], **document_fields)


def _stream_counts(
    path: Path,
    read_options: ReadOptions,
    header: list[str],
    pieces: Iterator[tuple[list, list[int]]],
) -> Stream:
    """Stream a table with one count per row; the rows of a document need not be adjacent."""
    documents_so_far, fields = _Documents(path, read_options), Kept(read_options)

    def batches() -> Iterator[Batch]:
        for values, lines in pieces:
            columns, n_before = columns_by_name(header, values), len(documents_so_far.titles)
            documents, first_rows, counts = documents_so_far.of(columns, lines)
            document_fields = fields.document_fields(
                _rows(path, columns, first_rows, lines), len(first_rows)
            )
            yield Batch(
                (documents, columns[read_options.word], counts),
                {"titles": documents_so_far.titles[n_before:]} | document_fields,
                len(first_rows),
            )
        if not documents_so_far.titles:
            raise _no_counts(path)

    return Stream(batches(), fields.rest, NAMES)


class _Documents:
    """The documents of a table with one count per row, numbered in order of first appearance."""

    def __init__(self, path: Path, read_options: ReadOptions):
        self._path, self._read_options, self.titles = path, read_options, []
        self._ids: dict[tuple[str, ...], int] = {}
        self._single_columns = tuple(
            dict.fromkeys(
                (
                    *read_options.inputs,
                    *filter(
                        None, (read_options.sequence, read_options.position, read_options.time)
                    ),
                )
            )
        )
        self._first_values: dict[str, list[tuple[str, int]]] = {
            name: [] for name in self._single_columns
        }

    def of(
        self, columns: dict[str, Sequence[str]], lines: list[int]
    ) -> tuple[list[int], list[int], list[int]]:
        """Return each row's document (row,), the first row of each new document, and each row's count (row,).

        Raise an error for a count that is not whole, and for a document with two different titles, labels or inputs.
        """
        column = columns[self._read_options.count]
        count_of = {
            text: int(text.strip().partition(".")[0])
            for text in set(column)
            if WHOLE.fullmatch(text)
        }
        if bad_rows := [row for row, text in enumerate(column) if text not in count_of]:
            excerpt = column[bad_rows[0]][:60]
            raise CorpusError(
                f"{self._path}, line {lines[bad_rows[0]]}: the count must be a whole number, not {excerpt!r}"
            )
        documents, first_rows = [], []
        for row, key in enumerate(
            zip(*(columns[name] for name in self._read_options.document), strict=True)
        ):
            if (document := self._ids.setdefault(key, len(self._ids))) == len(self.titles):
                first_rows.append(row)
                self.titles.append(" ".join(key))
                for name in self._single_columns:
                    self._first_values[name].append((columns[name][row], lines[row]))
            documents.append(document)
        for name in self._single_columns:
            for document, value, line in zip(documents, columns[name], lines, strict=True):
                first, first_line = self._first_values[name][document]
                if value != first:
                    raise CorpusError(
                        f"{self._path}, line {line}: {name!r} of document {self.titles[document]!r} is {value!r} "
                        f"here and {first!r} on line {first_line}; a document has one"
                    )
        return documents, first_rows, [count_of[text] for text in column]


def _no_counts(path: Path) -> CorpusError:
    return CorpusError(f"{path} holds no row of counts; at least one was wanted")
