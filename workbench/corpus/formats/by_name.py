"""Functions shared by readers of tables and JSON lines: read named columns or fields, number words given as strings."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.formats.interface import ReadOptions, read_words
from workbench.corpus.times import listed, times_of
from workbench.errors import Named


class Rows(NamedTuple):
    """Rows of a table, or objects of JSON lines, one per document."""

    kind: str  # "column" or "field", for errors
    # place (file and line) of each header, and the names in it
    headers: Iterable[tuple[str, Iterable[str]]]
    # name of a column → its values (row,), None for missing ones
    values: Callable[[str | None], list]
    where: Callable[[int], str]  # number of a row → its file and line

    def column(self, what: str, name: str | None) -> list:
        """Return the values (row,) of a column; raise an error for a missing column, except the default title and label."""
        for place, names in self.headers:
            if name not in names and (what == "text" or name not in (None, what)):
                name_list = ", ".join(map(repr, names))
                sentence = f"{place}: no {self.kind} {name!r} for the {what}; there are {name_list}; say which "
                raise CorpusError(sentence, Named(what, ...), value=name)
        return self.values(name)

    def document_fields(self, read_options: ReadOptions, without: Sequence[str] = ()) -> dict:
        """Return the fields of a Corpus that the rows contain: titles, labels, times, inputs, sequence and table.

        Without positions, the documents of a sequence are in the order of the file. ``without``: columns of counts.
        """
        document_fields = {}
        for role, name in (("title", read_options.title), ("label", read_options.label)):
            values = self.column(role, name)
            if any(value is not None for value in values):
                document_fields[role + "s"] = [
                    "" if value is None else str(value) for value in values
                ]
        if read_options.time is not None:
            document_fields["times"] = times_of(
                self.column("time", read_options.time),
                read_options.time,
                self.where,
                read_options.on_bad,
            )
        if read_options.inputs:
            document_fields["inputs"] = {
                name: self._numbers("inputs", name) for name in read_options.inputs
            }
        if read_options.sequence is not None:
            names = [
                "" if value is None else str(value).strip()
                for value in self.column("sequence", read_options.sequence)
            ]
            if "" in names:
                place = self.where(names.index(""))
                raise CorpusError(
                    f"{place}: {read_options.sequence!r} is empty; the name of a sequence was wanted"
                )
            if read_options.position is None:
                counters = defaultdict(count)
                positions = [next(counters[name]) for name in names]
            else:
                positions = self._numbers("position", read_options.position)
            document_fields["sequence"] = tuple(zip(names, positions, strict=True))
        if read_options.keep_text and (
            columns := {name: self.values(name) for name in self.names if name not in without}
        ):
            document_fields["table"] = DocumentTable(
                columns, read_options.text if read_options.text in columns else None
            )
        return document_fields

    @property
    def names(self) -> list[str]:
        """The names of all columns or fields, in the order in which they first appear."""
        return list(dict.fromkeys(chain.from_iterable(names for _, names in self.headers)))

    def _numbers(self, what: str, name: str) -> list:
        """Return the values (row,) of a column as finite numbers, or, if ``what`` is "position", as integers."""
        values, is_whole = self.column(what, name), what == "position"
        numbers = [_number(value) for value in values]
        if bad_rows := [
            row
            for row, number in enumerate(numbers)
            if not math.isfinite(number) or (is_whole and not number.is_integer())
        ]:
            kind = "whole" if is_whole else "finite"
            rest = (
                f"; {len(bad_rows):,} of {len(values):,} are none: {listed(bad_rows, values, self.where)}; fill them in "
                "or leave these documents out"
            )
            raise CorpusError(
                f"{self.where(bad_rows[0])}: {name!r} must be a {kind} number, not {str(values[bad_rows[0]])[:60]!r}"
                + rest * (len(bad_rows) > 1)
            )
        return [int(number) for number in numbers] if is_whole else numbers


def _number(value: object) -> float:
    """Return a value as a float, NaN if it is not a number."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


class Kept:
    """Collector of document fields in a file read in pieces; times and sequences are returned at the end."""

    LATER = ("time", "sequence", "position")
    """Fields that need all rows: dates must have one form, and positions are counted within a sequence."""

    def __init__(self, read_options: ReadOptions):
        self._early_options = read_options._replace(
            time=None, sequence=None, position=None, keep_text=False
        )
        self._late_options = read_options._replace(
            title=None, label=None, inputs=(), keep_text=False
        )
        self._columns = {
            name: [] for what in self.LATER if (name := getattr(read_options, what)) is not None
        }
        self._kind, self._where = "", []

    def document_fields(self, rows: Rows, n_rows: int) -> dict:
        """Return titles, labels and inputs of a piece of the file; store its times and sequences until `rest` is called."""
        if self._columns:
            fields = {
                name: rows.column(what, name)
                for what in self.LATER
                if (name := getattr(self._late_options, what)) is not None
            }
            for name, values in fields.items():  # a column may be of two uses
                self._columns[name] += values
            self._kind = rows.kind
            self._where += map(rows.where, range(n_rows))
        return rows.document_fields(self._early_options)

    def rest(self) -> dict:
        """Return times and sequences of all rows; to be called after the last piece."""
        headers = [("", self._columns)]
        return Rows(
            self._kind, headers, lambda name: self._columns.get(name, []), self._where.__getitem__
        ).document_fields(self._late_options)


def numbered(names: Sequence[str], first_names: Sequence[str] = ()) -> tuple[np.ndarray, list[str]]:
    """Number names by first appearance, after those in ``first_names``; return ids (name,) int64 and all distinct names."""
    ids = {name: number for number, name in enumerate(dict.fromkeys(chain(first_names, names)))}
    return np.fromiter(map(ids.__getitem__, names), np.int64, len(names)), list(ids)


def counts_by_name(path: Path, read_options: ReadOptions, words: Sequence[str], **rows) -> dict:
    """Return arguments of `Corpus.from_pairs` for rows with words as strings; a row of count 0 only lists its word.

    The vocabulary is in the order of first appearance, unless the option gives one: then raise an error for a word
    that it lacks.
    """
    fixed_words = known_words(path, read_options)
    ids, vocabulary = numbered(words, fixed_words)
    if fixed_words and len(vocabulary) > len(fixed_words):
        raise unknown_word(path, vocabulary[len(fixed_words)])
    return {"words": ids, "vocabulary": vocabulary, **rows}


def known_words(path: Path, read_options: ReadOptions) -> Sequence[str]:
    """Return the words given by the option ``vocabulary``; () without it."""
    return (
        ()
        if read_options.vocabulary is None
        else read_words(read_options.vocabulary, None, f"give the vocabulary of {path}")
    )


def unknown_word(path: Path, word: str) -> CorpusError:
    """Return the error for a word that is not in the option ``vocabulary``."""
    return CorpusError(
        f"{path}: the word {word!r} is not in the vocabulary; give one that has all words, or leave vocabulary "
        "out"
    )


def named_counts(corpus: Corpus, vocabulary: bool = False) -> Iterator[dict[str, int]]:
    """Yield a dict from words to counts for each document.

    With ``vocabulary`` the first document lists every word, with count 0 if it does not contain it. Readers then find
    all words in the order of the vocabulary, also those that occur nowhere.
    """
    words, counts, bounds = corpus.words.tolist(), corpus.counts.tolist(), corpus.indptr.tolist()
    for d, (begin, end) in enumerate(pairwise(bounds)):
        row = dict.fromkeys(corpus.vocabulary, 0) if vocabulary and d == 0 else {}
        row.update(
            (corpus.vocabulary[word], count)
            for word, count in zip(words[begin:end], counts[begin:end], strict=True)
        )
        yield row
