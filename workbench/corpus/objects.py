"""A corpus from what Python holds documents in: texts, lists of tokens, pandas, matrices of counts, bags of words by gensim."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from workbench.corpus.corpus import Corpus
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.times import times_of
from workbench.errors import DataError, nearest_or_all, shown

COLUMNS = ("text", "id", "time", "label")
"""What the columns of a DataFrame may be, besides those that are left aside."""
WANTED = (
    "documents are a Corpus, a name or path, a list of texts or of lists of tokens, a pandas Series or DataFrame, a matrix of "
    "counts (scipy.sparse or numpy) or a bag of words as gensim has it"
)


def corpus_of(given, *, text=None, id=None, time=None, label=None, vocabulary=None, name: str = "texts") -> Corpus:
    """The corpus of documents that Python holds.

    Parameters
    ----------
    given
        A Corpus is returned as it is. Otherwise: strings, one a document, counted as `Corpus.from_texts` does; lists of
        tokens, taken as they are; a pandas Series of texts, whose index has their titles; a DataFrame with a row a document; a
        matrix of counts (document, word), scipy.sparse or numpy; or a list of (word id, count) pairs for each document.
    text, id, time, label : str, optional
        Columns of a DataFrame: the text (by default the only column of texts, or that of this name), title, time (dates, or
        whole numbers; see `workbench.corpus.times.times_of`) and label. All columns are kept, as ``table`` of the corpus.
    vocabulary : (word,) strings, or a mapping from ids to words or from words to ids, optional
        Words of a matrix or of a bag of words; w0, w1, … by default. gensim's Dictionary is one.
    name : str
        What pages and file names call the corpus.

    Raises
    ------
    DataError
        One sentence: something else was given, a column is not there, a text is missing.
    """
    columns = {key: value for key, value in zip(COLUMNS, (text, id, time, label), strict=True) if value is not None}
    is_frame = hasattr(given, "columns") and hasattr(given, "iloc")
    if columns and not is_frame:
        raise DataError(f"{next(iter(columns))}= names a column of a DataFrame; got {_kind(given)}; leave it out")
    if isinstance(given, Corpus):
        _refuse_vocabulary(vocabulary, given)
        return given
    if is_frame:
        _refuse_vocabulary(vocabulary, given)
        return _of_frame(given, columns, name)
    if hasattr(given, "iloc"):
        _refuse_vocabulary(vocabulary, given)
        return Corpus.from_texts(list(given), titles=_titles(given.index), name=name)
    if hasattr(given, "tocoo") or (isinstance(given, np.ndarray) and given.ndim == 2):
        return _of_matrix(given, vocabulary, name)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise DataError(f"{WANTED}; got {_kind(given)}; one text is written [text]")
    return _of_list(list(given), vocabulary, name)


def _of_list(given: list, vocabulary, name: str) -> Corpus:
    """Texts, lists of tokens, or bags of words."""
    if not given or any(isinstance(one, str) for one in given):
        _refuse_vocabulary(vocabulary, given)
        return Corpus.from_texts(given, name=name)
    if odd := [at for at, one in enumerate(given) if not isinstance(one, Iterable)]:
        raise DataError(f"{WANTED}; document {odd[0]} (counted from 0) is {shown(repr(given[odd[0]]))}")
    rows = [tuple(one) for one in given]
    kinds = {_item(item) for item in chain.from_iterable(rows)}
    if kinds <= {"token"}:
        _refuse_vocabulary(vocabulary, given)
        return of_tokens(rows, name=name)
    if kinds == {"pair"}:
        documents = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        words, counts = zip(*chain.from_iterable(rows), strict=True)
        return Corpus.from_pairs(documents, words, counts, _words(vocabulary, max(words) + 1), len(rows), name=name)
    odd = next(item for item in chain.from_iterable(rows) if len(kinds) > 1 or _item(item) == "other")
    raise DataError(f"a document is a list of tokens, or of (word id, count) pairs, and nothing else; got {shown(repr(odd))}")


def _item(item) -> str:
    """What an item of a document is."""
    if isinstance(item, str):
        return "token"
    pair = isinstance(item, tuple | list) and len(item) == 2 and all(isinstance(part, numbers.Real) for part in item)
    return "pair" if pair else "other"


def of_tokens(documents: Iterable[Iterable[str]], **about) -> Corpus:
    """The corpus of lists of tokens, which are taken as they are; words in alphabetical (code point) order.

    ``about``: titles, authors, labels, times, name, as `Corpus.from_pairs` takes them.
    """
    rows = [list(row) for row in documents]
    tokens = list(chain.from_iterable(rows))
    if odd := [token for token in tokens if not isinstance(token, str)]:
        raise DataError(f"every token must be a string; got {shown(repr(odd[0]))}")
    vocabulary = sorted(set(tokens))
    place = {word: at for at, word in enumerate(vocabulary)}
    of = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    words = np.array([place[token] for token in tokens], np.int64)
    return Corpus.from_pairs(of, words, np.ones(len(words), np.int64), vocabulary or None, max(len(rows), 1), **about)


def _of_matrix(matrix, vocabulary, name: str) -> Corpus:
    """A row a document, a column a word."""
    n_documents, n_words = matrix.shape
    if hasattr(matrix, "tocoo"):
        cells = matrix.tocoo()
        documents, words, counts = cells.row, cells.col, cells.data
    else:
        documents, words = np.nonzero(matrix)
        counts = matrix[documents, words]
    return Corpus.from_pairs(documents, words, counts, _words(vocabulary, n_words), n_documents, n_words, name=name)


def _words(vocabulary, n_words: int) -> list[str] | None:
    """The words of a vocabulary in the order of their ids; None where there is none."""
    if vocabulary is None:
        return None
    if hasattr(vocabulary, "token2id"):
        vocabulary = vocabulary.token2id
    if isinstance(vocabulary, Mapping):
        by_id = {word: at for at, word in vocabulary.items()} if isinstance(next(iter(vocabulary), 0), str) else vocabulary
        if missing := [at for at in range(max(n_words, len(by_id))) if at not in by_id]:
            raise DataError(f"the vocabulary has no word for the id {missing[0]}; give one for each of 0 to {n_words - 1}")
        return [by_id[at] for at in range(max(n_words, len(by_id)))]
    if isinstance(vocabulary, str):
        raise DataError(f"a vocabulary is a list of words here; got the string {shown(repr(vocabulary))}")
    return list(vocabulary)


def _of_frame(frame, columns: dict, name: str) -> Corpus:
    """A row a document; the text in one column, what is known of it in others."""
    there = list(map(str, frame.columns))
    for key, column in columns.items():
        if column not in frame.columns:
            raise DataError(f"the table has no column {column!r} for {key}=; {nearest_or_all(str(column), there)}")
    about = {}
    if "label" in columns:
        about["labels"] = tuple(map(str, frame[columns["label"]]))
    if "time" in columns:
        about["times"] = times_of(frame[columns["time"]], columns["time"], "row {} (counted from 0)".format)
    titles = _titles(frame[columns["id"]] if "id" in columns else frame.index)
    text = columns.get("text") or _text_column(frame)
    about["table"] = DocumentTable({column: list(frame[column]) for column in frame.columns}, str(text))
    return Corpus.from_texts(list(frame[text]), titles=titles, name=name, **about)


def _text_column(frame):
    """The column named text, or the only one of strings."""
    if "text" in frame.columns:
        return "text"
    found = [column for column in frame.columns if len(frame) and isinstance(frame[column].iloc[0], str)]
    if len(found) != 1:
        there = ", ".join(map(repr, map(str, found or frame.columns)))
        raise DataError(f"which column has the texts? say text=; {'columns of texts' if found else 'columns'} are {there}")
    return found[0]


def _titles(index) -> tuple[str, ...] | None:
    """The titles of an index or column; None of one that only counts."""
    values = list(index)
    return None if values == list(range(len(values))) else tuple(map(str, values))


def _refuse_vocabulary(vocabulary, given) -> None:
    if vocabulary is not None:
        raise DataError(f"a vocabulary is for counts by word id, and {_kind(given)} has words; leave vocabulary= out")


def _kind(given) -> str:
    """What was given, in a word or two."""
    return shown(repr(given)) if isinstance(given, str | int | float | None) else f"a {type(given).__name__}"
