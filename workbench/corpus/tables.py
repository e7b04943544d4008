"""CSV files with a header row: one text a row, or one count a row.

Columns are separated by comma, semicolon or tab, whichever the header has most of. A table with the columns
``document``, ``word`` and ``count`` (and no text) holds counts; ``title`` and ``label`` may stand beside them, and the inputs
and the sequence that are asked for; further columns are ignored. Documents and words are numbered in the order in which they
first appear; rows of one document and word are added up; a row with count 0 makes its document and its word known, so that an
empty document and a word that occurs nowhere have a place too.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import chain
from pathlib import Path

import numpy as np

from workbench.corpus.by_name import corpus_by_name, named_counts, numbered
from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.covariates import read_covariates
from workbench.corpus.formats import Asked, Prepared, Texts, stem_of, suffix_of, unplaced
from workbench.data.opening import BYTE_ORDER_MARK
from workbench.data.rows import SEPARATORS, read_rows
from workbench.data.saving import encoded
from workbench.errors import Named

MEANING = "a CSV file with a header row"
SUFFIXES = (".csv", ".tsv")
COUNTS = ("document", "word", "count")
WHOLE = re.compile(r"\s*[0-9]{1,18}(\.0*)?\s*")  # spreadsheets write 3 as 3.0


def looks_like(start: bytes, asked: Asked) -> bool:
    """Whether the first line is a header that has the text's column, or the three of counts."""
    line = start.removeprefix(BYTE_ORDER_MARK).split(b"\n")[0].decode("utf-8", "replace")
    columns = {column.strip(' "\r') for column in re.split(f"[{SEPARATORS}]", line)}
    return asked.text in columns or columns.issuperset(COUNTS)


def read(path: Path, asked: Asked) -> Corpus | Texts:
    """The chosen columns (an empty cell is an empty document), or the counts where the columns say so.

    Raises
    ------
    CorpusError
        With the line: a row of another length than the header, quotes that do not close, a column that is
        missing, a count that is not a whole number.
    """
    header, rows, lines = read_rows(path)
    if asked.text not in header and set(COUNTS) <= set(header):
        return _read_counts(path, asked, header, rows, lines)
    wanted = {"text": asked.text, "title": asked.title, "label": asked.label}
    at = {what: header.index(column) if column in header else None for what, column in wanted.items()}
    for what, column in wanted.items():
        check_there(f"{path}, line 1", what, column, at[what] is not None, "column", header)
    known = _covariates(path, asked, header, rows, lines)
    return Texts(*([row[at[what]] for row in rows] if at[what] is not None else None for what in wanted), **known)


def write(corpus: Corpus, path: Path, vocabulary: bool) -> Prepared:
    """One row per pair: ``document,word,count``, then ``label`` where there are labels; everything else is lost.

    Documents are called by their titles; where two have the same they are numbered from 0, and ``title`` is a
    column of its own. With ``vocabulary`` the first document has a row for every word, count 0 where it has none
    of it, which keeps the order of the words and those that occur nowhere. An empty document has one row of count 0.
    """
    about = {}
    if len(set(corpus.titles)) < corpus.n_documents:
        about["title"] = corpus.titles
    if corpus.labels is not None:
        about["label"] = corpus.labels
    strings = map(str, chain(corpus.vocabulary, corpus.titles, corpus.labels or ()))
    quoting = csv.QUOTE_NONNUMERIC if any("\r" in text for text in strings) else csv.QUOTE_MINIMAL  # which forgets about \r
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t" if suffix_of(path) == ".tsv" else ",", lineterminator="\n", quoting=quoting)
    writer.writerow([*COUNTS, *about])
    called = range(corpus.n_documents) if "title" in about else corpus.titles
    for document, counts, *more in zip(called, named_counts(corpus, vocabulary), *about.values(), strict=True):
        counts = counts or {corpus.vocabulary[0]: 0}
        writer.writerows([document, word, count, *more] for word, count in counts.items())
    return Prepared({path: encoded(file.getvalue(), path)}, unplaced(corpus, "titles", "labels"))


def check_there(where: str, what: str, wanted: str | None, there: bool, kind: str, known: list[str]):
    """Refuses a missing text, and a title or label that was asked for by name."""
    if not there and (what == "text" or wanted not in (None, what)):
        listed = ", ".join(repr(column) for column in known)
        said = f"{where}: no {kind} {wanted!r} for the {what}; there are {listed}; say which "
        raise CorpusError(said, Named(what, ...), value=wanted)


def _covariates(path: Path, asked: Asked, header: list[str], rows: list[tuple[str, ...]], lines: list[int]) -> dict:
    """The inputs and the sequence of rows, one a document."""
    def column(what: str, name: str) -> list[str]:
        check_there(f"{path}, line 1", what, name, name in header, "column", header)
        return [row[header.index(name)] for row in rows]

    return read_covariates(asked.inputs, asked.sequence, asked.position, column, lambda row: f"{path}, line {lines[row]}")


def _read_counts(path: Path, asked: Asked, header: list[str], rows: list[tuple[str, ...]], lines: list[int]) -> Corpus:
    """The corpus of a table of counts; title, label, inputs and sequence of a document are those of its first row."""
    if not rows:
        raise CorpusError(f"{path} holds no row of counts; at least one was wanted")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    count_of = {text: int(text.partition(".")[0]) for text in set(columns["count"]) if WHOLE.fullmatch(text)}
    wrong = next((at for at, text in enumerate(columns["count"]) if text not in count_of), None)
    if wrong is not None:
        shown = columns["count"][wrong][:60]
        raise CorpusError(f"{path}, line {lines[wrong]}: the count must be a whole number, not {shown!r}")
    documents, titles = numbered(columns["document"])
    _, first_rows = np.unique(documents, return_index=True)
    first_rows = first_rows.tolist()
    about = {"titles": titles}
    about |= _covariates(path, asked, header, [rows[row] for row in first_rows], [lines[row] for row in first_rows])
    for name in (*asked.inputs, *filter(None, (asked.sequence, asked.position))):
        _check_one_each(path, name, columns[name], documents, titles, first_rows, lines)
    for what, column in (("title", asked.title), ("label", asked.label)):
        check_there(f"{path}, line 1", what, column, column in header, "column", header)
        if column in header:
            about[what + "s"] = [columns[column][row] for row in first_rows]
    counts = [count_of[text] for text in columns["count"]]
    return corpus_by_name(path, stem_of(path, SUFFIXES), asked, documents, columns["word"], counts, len(titles), **about)


def _check_one_each(path: Path, name: str, values, documents, titles: list[str], first_rows: list[int], lines: list[int]):
    """Refuses a column of which a document has two values."""
    for row, (document, value) in enumerate(zip(documents.tolist(), values, strict=True)):
        first = first_rows[document]
        if value != values[first]:
            raise CorpusError(f"{path}, line {lines[row]}: {name!r} of document {titles[document]!r} is {value!r} here and "
                              f"{values[first]!r} on line {lines[first]}; a document has one")
