"""A corpus from Python objects: texts, lists of tokens, pandas objects, matrices of counts, bags of words."""

import numbers
import warnings
from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from workbench.corpus.document_table import DocumentTable, plain_value
from workbench.corpus.texts.counting import as_counted, count_words
from workbench.corpus.times import times_of
from workbench.data.names import spelled
from workbench.errors import DataError, nearest_or_all, shown

COLUMNS = ("text", "id", "time", "label")
"""Roles that columns of a DataFrame can have."""
MOST_NAMED = 3
"""Maximum of documents that a warning names."""
WANTED = (
    "documents are a Corpus, a name or path, a list of texts or of lists of tokens, a pandas Series or DataFrame, a matrix of "
    "counts (scipy.sparse or numpy) or a bag of words as gensim has it"
)


def pairs_of(data, columns: dict, vocabulary, name: str, counted, text_options: dict) -> dict:
    """Return the arguments of `Corpus.from_pairs` for documents given as Python objects; see `corpus_of`.

    columns : role of a column of a DataFrame (text, id, time, label) → its name.
    """
    if hasattr(data, "iloc"):
        refuse_vocabulary(vocabulary, data)
        if is_frame(data):
            return _frame_pairs(data, columns, name, counted, text_options)
        return _value_pairs(
            list(data), counted, text_options, titles=_titles(data.index), name=name
        )
    if hasattr(data, "tocoo") or (isinstance(data, np.ndarray) and data.ndim == 2):
        refuse_options(text_options, "a matrix of counts")
        return _matrix_pairs(data, vocabulary, name)
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise DataError(f"{WANTED}; got {kind_of(data)}; one text is written [text]")
    return _list_pairs(list(data), vocabulary, name, counted, text_options)


def is_frame(data: object) -> bool:
    """Return whether the object is a DataFrame."""
    return hasattr(data, "columns") and hasattr(data, "iloc")


def _list_pairs(data: list, vocabulary, name: str, counted, text_options: dict) -> dict:
    """Return arguments of `Corpus.from_pairs` for a list of texts, of lists of tokens, or of bags of words."""
    if not data or any(isinstance(element, str) for element in data):
        refuse_vocabulary(vocabulary, data)
        return count_words(data, name=name, **as_counted(counted, text_options))
    refuse_options(text_options, "a list of tokens or of counts")
    if odd := [number for number, element in enumerate(data) if not isinstance(element, Iterable)]:
        raise DataError(
            f"{WANTED}; document {odd[0]} (counted from 0) is {shown(repr(data[odd[0]]))}"
        )
    rows = [tuple(element) for element in data]
    kinds = {_item(item) for item in chain.from_iterable(rows)}
    if kinds <= {"token"}:
        refuse_vocabulary(vocabulary, data)
        return pairs_of_tokens(rows, name=name)
    if kinds == {"pair"}:
        documents = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        words, counts = zip(*chain.from_iterable(rows), strict=True)
        return {
            "documents": documents,
            "words": words,
            "counts": counts,
            "vocabulary": words_by_id(vocabulary, max(words) + 1),
            "n_documents": len(rows),
            "name": name,
        }
    odd = next(
        item for item in chain.from_iterable(rows) if len(kinds) > 1 or _item(item) == "other"
    )
    raise DataError(
        f"a document is a list of tokens, or of (word id, count) pairs, and nothing else; got {shown(repr(odd))}"
    )


def _item(item: object) -> str:
    """Return what an entry of a document is: "token" (a string), "pair" (two numbers, as word id and count) or "other"."""
    if isinstance(item, str):
        return "token"
    return "pair" if is_pair(item) else "other"


def is_pair(item: object) -> bool:
    """Return whether the entry is a pair of numbers, such as a word id and its count."""
    return (
        isinstance(item, tuple | list)
        and len(item) == 2
        and all(isinstance(part, numbers.Real) for part in item)
    )


def pairs_of_tokens(documents: Iterable[Iterable[str]], **about) -> dict:
    """Return the arguments of `Corpus.from_pairs` for lists of tokens; the vocabulary is sorted by code point.

    ``about``: titles, authors, labels, times, name, as `Corpus.from_pairs` takes them.
    """
    rows = [list(row) for row in documents]
    tokens = list(chain.from_iterable(rows))
    if odd := [token for token in tokens if not isinstance(token, str)]:
        raise DataError(f"every token must be a string; got {shown(repr(odd[0]))}")
    vocabulary = sorted(set(tokens))
    index_of = {word: number for number, word in enumerate(vocabulary)}
    row_of_token = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    words = np.array([index_of[token] for token in tokens], np.int64)
    return {
        "documents": row_of_token,
        "words": words,
        "counts": np.ones(len(words), np.int64),
        "vocabulary": vocabulary or None,
        "n_documents": max(len(rows), 1),
        **about,
    }


def _matrix_pairs(matrix, vocabulary, name: str) -> dict:
    """Return the arguments of `Corpus.from_pairs` for a matrix of counts (document, word)."""
    n_documents, n_words = matrix.shape
    if hasattr(matrix, "tocoo"):
        cells = matrix.tocoo()
        documents, words, counts = cells.row, cells.col, cells.data
    else:
        documents, words = np.nonzero(matrix)
        counts = matrix[documents, words]
    return {
        "documents": documents,
        "words": words,
        "counts": counts,
        "vocabulary": words_by_id(vocabulary, n_words),
        "n_documents": n_documents,
        "n_words": n_words,
        "name": name,
    }


def words_by_id(vocabulary, n_words: int) -> list[str] | None:
    """Return the words of a vocabulary in the order of the word ids; None without a vocabulary."""
    if vocabulary is None:
        return None
    if hasattr(vocabulary, "token2id"):
        vocabulary = vocabulary.token2id
    if isinstance(vocabulary, Mapping):
        by_id = (
            {word: number for number, word in vocabulary.items()}
            if isinstance(next(iter(vocabulary), 0), str)
            else vocabulary
        )
        if missing := [number for number in range(max(n_words, len(by_id))) if number not in by_id]:
            raise DataError(
                f"the vocabulary has no word for the id {missing[0]}; give one for each of 0 to {n_words - 1}"
            )
        return [by_id[number] for number in range(max(n_words, len(by_id)))]
    if isinstance(vocabulary, str):
        raise DataError(
            f"a vocabulary is a list of words here; got the string {shown(repr(vocabulary))}"
        )
    return list(vocabulary)


def _value_pairs(values: list, counted, text_options: dict, **about) -> dict:
    """Return arguments of `Corpus.from_pairs` for texts or token lists from pandas; warn about missing ones."""
    tokens, missing = (
        _are_tokens(values),
        [row for row, value in enumerate(values) if _is_missing(value)],
    )
    if missing and len(missing) < len(values):
        titles = about.get("titles") or [f"document {row}" for row in range(len(values))]
        rest = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
        title_list = ", ".join(repr(titles[row]) for row in missing[:MOST_NAMED]) + rest
        sentence = (
            "is missing and is an empty document"
            if len(missing) == 1
            else "are missing and are empty documents"
        )
        warnings.warn(
            f"{len(missing):,} of {len(values):,} texts {sentence}: {title_list}", stacklevel=4
        )
        values = _fill(values, [] if tokens else "")
    if tokens:
        refuse_options(
            {name: value for name, value in text_options.items() if name != "keep_text"},
            "a list of tokens",
        )
        return pairs_of_tokens(values, **about)
    return count_words(values, **about, **as_counted(counted, text_options))


def _frame_pairs(frame, columns: dict, name: str, counted, text_options: dict) -> dict:
    """Return arguments of `Corpus.from_pairs` for a DataFrame with one document per row."""
    column_names = list(map(str, frame.columns))
    columns = {
        key: column if column in frame.columns else spelled(str(column), column_names)
        for key, column in columns.items()
    }
    for key, column in columns.items():
        if column not in frame.columns:
            raise DataError(
                f"the table has no column {column!r} for {key}=; {nearest_or_all(str(column), column_names)}"
            )
    fields = {}
    if "label" in columns:
        fields["labels"] = tuple(
            "" if _is_missing(label) else str(label) for label in frame[columns["label"]]
        )
    if "time" in columns:
        fields["times"] = times_of(
            frame[columns["time"]], columns["time"], "row {} (counted from 0)".format
        )
    titles = _titles(frame[columns["id"]] if "id" in columns else frame.index)
    text = columns.get("text") or _text_column(frame)
    used_columns = columns | {"text": text}
    fields["reading"] = {
        "options": {"title" if key == "id" else key: str(used_columns[key]) for key in used_columns}
    }
    values, table = (
        list(frame[text]),
        {str(column): list(frame[column]) for column in frame.columns},
    )
    if not _are_tokens(values):
        fields["table"] = DocumentTable(table | {str(text): _fill(values, "")}, str(text))
    elif text_options.get("keep_text", True) and (
        others := {name: table[name] for name in table if name != str(text)}
    ):
        fields["table"] = DocumentTable(others)
    return _value_pairs(values, counted, text_options, titles=titles, name=name, **fields)


def _text_column(frame):
    """Return the name of the column "text", or of the only column of strings."""
    if "text" in frame.columns:
        return "text"
    columns = [
        column for column in frame.columns if isinstance(_first(frame[column]), str | list | tuple)
    ]
    if len(columns) != 1:
        column_list = ", ".join(map(repr, map(str, columns or frame.columns)))
        raise DataError(
            f"which column has the texts? say text=; {'columns of texts' if columns else 'columns'} are {column_list}"
        )
    return columns[0]


def _titles(index) -> tuple[str, ...] | None:
    """Return the entries of an index as titles; None for the default index 0, 1, 2, …"""
    values = list(index)
    return None if values == list(range(len(values))) else tuple(map(str, values))


def _is_missing(value: object) -> bool:
    return np.ndim(value) == 0 and plain_value(value) is None


def _fill(values: list, empty) -> list:
    """Return the values with missing ones replaced by ``empty``."""
    return [empty if _is_missing(value) else value for value in values]


def _first(values: Iterable):
    """Return the first value that is not missing; None if all are missing."""
    return next((value for value in values if not _is_missing(value)), None)


def _are_tokens(values: Iterable) -> bool:
    first = _first(values)
    return not isinstance(first, str) and isinstance(first, Iterable)


def refuse_options(text_options: dict, what: str) -> None:
    """Raise DataError if options for raw text are given; ``what`` names the documents in the message."""
    if text_options:
        raise DataError(
            f"{next(iter(text_options))}= is for raw text, and {what} is counted as it is; leave it out"
        )


def refuse_vocabulary(vocabulary, data) -> None:
    """Raise DataError if a vocabulary is given though the documents contain words, not word ids."""
    if vocabulary is not None:
        raise DataError(
            f"a vocabulary is for counts by word id, and {kind_of(data)} has words; leave vocabulary= out"
        )


def kind_of(data: object) -> str:
    """Describe an invalid argument in a few words, for an error message."""
    return (
        shown(repr(data))
        if isinstance(data, str | int | float | None)
        else f"a {type(data).__name__}"
    )
