"""The interface of a file format: what each format module defines, the types it uses, and companion files of counts.

One format is one file (`uci`, `ldac`, `matrix_market`, `mallet`, `tables`, `json_lines`, `npz`, `folder`, `zipped`), a
module with

::

    MEANING                             a file of this format, in words
    SUFFIXES                            of the names of such files
    read(path, read_options)            the arguments of `Corpus.from_texts` or, of a file of counts, `Corpus.from_pairs`

and optionally (otherwise `DEFAULTS` apply)

::

    looks_like(start, read_options)     whether the first bytes of a file are of this format
    CERTAIN                             whether no other format begins so: then the bytes decide before the name does
    TAKES                               groups of arguments of `read_corpus` that it takes: "columns" (inputs, sequence,
                                        position, time), "columns of counts", "dialect", "encoding"
    TEXT_OPTIONS                        text options that ``read`` itself takes
    write(corpus, path, vocabulary)     Prepared: the bytes of each file, and the fields that the format cannot hold
    stream(path, read_options, progress)    Stream: what ``read`` gives, some documents at a time; None where a file
                                        cannot be read so

``read``, ``write`` and ``stream`` raise a CorpusError of one sentence, with the file and, if possible, the line.
To add one: write the file and add a line to `FORMATS` in `readers`.

Vocabulary, titles and labels of a file that holds only numbers are in companion files. Beside ``docword.NAME.txt[.gz]`` they
are ``vocab.NAME.txt``, ``titles.NAME.txt`` and ``labels.NAME.txt``; beside any other ``NAME.suffix`` they are
``NAME.vocab.txt`` (or ``NAME.vocab``), ``NAME.titles.txt`` and ``NAME.labels.txt``. One word a line, one document a line.
Titles and labels are our addition; any other reader ignores them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.times import LEAVE
from workbench.data.encodings import DETECT
from workbench.data.names import spelled
from workbench.data.opening import read_lines
from workbench.data.rows import Dialect
from workbench.data.saving import encoded, not_a_line

DEFAULTS = {
    "CERTAIN": False,
    "TAKES": (),
    "TEXT_OPTIONS": (),
    "looks_like": lambda start, read_options: False,
    "stream": lambda path, read_options, progress: None,
}
"""Defaults of names that a format module leaves out; a format without ``write`` is read-only."""
TEXTS, NAMES, IDS = "texts", "names", "ids"
"""Kinds of documents in a stream: texts; counts with words as strings; counts with word ids."""


def trait(format: ModuleType, name: str) -> Any:
    """Return an attribute of a format module, or the default if the module does not define it."""
    return getattr(format, name, DEFAULTS[name])


COLUMNS = ("text", "title", "label", "time", "sequence", "position")
"""Options of `ReadOptions` that name one column or field each."""


class ReadOptions(NamedTuple):
    """The arguments of `workbench.corpus.read_corpus` that the reader of a format needs."""

    vocabulary: object = None  # path or words; None: the companion file, if any
    text: str = "text"  # this and the next two: columns of a table, fields of a JSON object
    title: str | None = "title"
    label: str | None = "label"
    time: str | None = None
    encoding: str = DETECT
    keep_text: bool = True  # whether to keep texts and all other columns or fields
    inputs: tuple[str, ...] = ()  # columns or fields of real covariates
    sequence: str | None = None
    position: str | None = None
    # columns of a table of counts that together identify the document
    document: tuple[str, ...] = ("document",)
    word: str = "word"
    count: str = "count"
    dialect: Dialect = Dialect()  # of a CSV file
    on_bad: str = LEAVE  # see `workbench.corpus.times.ON_BAD`

    def spelled(self, names: Iterable[str]) -> "ReadOptions":
        """Return the options with names of columns or fields in the upper and lower case that the file's ``names`` have.

        The names of documents, words and counts change only if the file has them all.
        """
        one = {name: spelled(getattr(self, name), names) for name in COLUMNS}
        options = self._replace(inputs=tuple(spelled(name, names) for name in self.inputs), **one)
        *document, word, count = (spelled(name, names) for name in self.counts)
        if {*document, word, count} <= {*names}:
            return options._replace(document=tuple(document), word=word, count=count)
        return options

    @property
    def counts(self) -> tuple[str, ...]:
        """The names of a table's columns of document (one or more), word and count, in this order."""
        return (*self.document, self.word, self.count)


class Batch(NamedTuple):
    """A batch of a stream: texts of some documents, or rows (document, word, count)."""

    documents: Sequence[str] | tuple[np.ndarray, Sequence[str] | np.ndarray, np.ndarray]
    """Texts; or numbers of documents, words (strings or ids) and counts (row,), in any order."""
    # titles, labels, inputs (by name) of documents that are new in this batch
    fields: dict
    n_documents: int


class Stream(NamedTuple):
    """A file read as a stream of documents."""

    batches: Iterator[Batch]
    # after the last batch: further arguments of `Corpus.from_pairs` or `from_texts`
    rest: Callable[[], dict]
    words: str = TEXTS  # kind of the documents: TEXTS, NAMES or IDS
    # words of the ids so far; None if they have no names
    names: Callable[[], Sequence[str] | None] = lambda: None


class Prepared(NamedTuple):
    """The files of a corpus, ready to be written; the file of counts comes last."""

    files: dict[Path, bytes]
    lost_fields: list[str]  # fields of the corpus that the format cannot hold, as text


def stem_of(path: Path, suffixes: tuple[str, ...]) -> str:
    """Return a corpus's name: its file name without ``docword.``, ``.gz``, and the suffix of its format or ``.txt``."""
    endings = "|".join(re.escape(suffix) for suffix in (*suffixes, ".txt"))
    return re.sub(
        rf"(?i)(?<=.)({endings})?(\.gz)?\Z", "", path.name.removeprefix("docword."), count=1
    )


def suffix_of(path: Path) -> str:
    """Return the last suffix of a file name in lower case, ignoring ``.gz``."""
    return next(
        (suffix for suffix in map(str.lower, reversed(path.suffixes)) if suffix != ".gz"), ""
    )


def unplaced(corpus: Corpus, *placed: str) -> list[str]:
    """Return the names of the corpus's fields (titles, times, …) that are lost in a file which holds only ``placed``."""
    fields = ("titles", "labels", "authors", "times", "inputs", "sequence")
    return [field for field in fields if field not in placed and getattr(corpus, field) is not None]


def has_titles(corpus: Corpus) -> bool:
    """Return whether the corpus has titles other than the default "document 0", "document 1", …"""
    return corpus.titles != tuple(f"document {d}" for d in range(corpus.n_documents))


def about_counts(
    path: Path, stem: str, n_documents: int, n_words: int, words: list[str] | None, **about
) -> dict:
    """Return arguments of `Corpus.from_pairs` other than rows: sizes, vocabulary; titles and labels from companion files.

    Raise an error if there are more or fewer titles or labels than documents.
    """
    for what in ("titles", "labels"):
        if what not in about and (
            file := next(filter(Path.is_file, _names(path, stem, what)), None)
        ):
            about[what] = read_lines(
                file, n_documents, what, f"it does not belong to {path}; mend or remove it"
            )
    return {"vocabulary": words, "n_documents": n_documents, "n_words": n_words, **about}


def find_words(
    path: Path, stem: str, vocabulary, n_words: int | None, also: str = ""
) -> list[str] | None:
    """Return the words of ``vocabulary`` (a path or words) or, if it is None, of a companion file; None without one.

    Raise an error for a repeated word, or if there are not ``n_words`` words (None: any number).
    ``also`` is one more possible name of the companion file.
    """
    if vocabulary is not None:
        return read_words(vocabulary, n_words, f"give the vocabulary that belongs to {path}")
    file = next(
        filter(
            Path.is_file, _names(path, stem, "vocab") + ([path.with_name(also)] if also else [])
        ),
        None,
    )
    return file and read_words(
        file, n_words, f"it does not belong to {path}; give the right one with vocabulary=…"
    )


def read_words(vocabulary, n_words: int | None, mend: str) -> list[str]:
    """Return the words of a vocabulary given as a path or as words; raise an error for duplicates."""
    if not isinstance(vocabulary, (str, Path)):
        words = list(vocabulary)
        refuse_repeated(words)
        return words
    words = read_lines(Path(vocabulary), n_words, "words", mend)
    refuse_repeated(words, Path(vocabulary))
    return words


def refuse_repeated(words: Sequence[str], path: Path | None = None) -> None:
    """Raise an error if a vocabulary repeats a word, since adding up the counts of the two would change the data."""
    first: dict[str, int] = {}
    for index, word in enumerate(words):
        if first.setdefault(word, index) != index:
            problem = f"the vocabulary has {word!r} twice, as words {first[word]} and {index} counted from 0"
            if path is not None:
                problem = f"{path}, line {index + 1}: the word {word!r} stands on line {first[word] + 1} already"
            raise CorpusError(f"{problem}; two words may not have one name, change one of them")


def with_companions(
    corpus: Corpus, path: Path, stem: str, vocabulary: bool, content: str
) -> Prepared:
    """Return a file of counts (``content``) with companion files of vocabulary, titles and labels, all to be written.

    Default titles (document 0, …) are not written.
    """
    files, lost = {}, unplaced(corpus, "titles", "labels")
    for field in ("vocab", "titles", "labels"):
        values = corpus.vocabulary if field == "vocab" else getattr(corpus, field)
        if (
            values is None
            or (field == "vocab" and not vocabulary)
            or (field == "titles" and not has_titles(corpus))
        ):
            continue
        values, file = [str(value) for value in values], _names(path, stem, field)[0]
        if (bad_index := not_a_line(values)) is None:
            files[file] = encoded("".join(f"{text}\n" for text in values), file)
        elif field == "vocab":
            raise CorpusError(
                f"{file} has one word a line and cannot hold {values[bad_index]!r}; write npz, csv or jsonl instead"
            )
        else:
            lost.append(
                f"{field} (document {bad_index} has {values[bad_index]!r}, which is not one line of text)"
            )
    return Prepared(files | {path: content.encode()}, lost)


def _names(path: Path, stem: str, what: str) -> list[Path]:
    """Return the paths that a companion file of vocabulary, titles or labels may have, the most common one first."""
    stems = (
        [f"{what}.{stem}.txt"]
        if path.name.startswith("docword.")
        else [f"{stem}.{what}.txt", f"{stem}.{what}"]
    )
    return [path.with_name(name + packing) for name in stems for packing in ("", ".gz")]
