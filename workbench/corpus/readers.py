"""A corpus from a file or folder in any of the formats that people keep text and counts in.

A UCI bag of words is known by its header and a folder by being one; CSV and JSON lines are known by their
names, or else by how they begin. Everything may be gzipped. Text is UTF-8.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.opening import decoded, first_bytes, read_bytes, read_text
from workbench.corpus.text import count_words
from workbench.corpus.uci import looks_like_uci, read_uci

FORMATS = {
    "uci": "a UCI bag of words",
    "folder": "a folder of .txt files",
    "csv": "a CSV file with a header row",
    "jsonl": "a file with one JSON object a line",
}
SUFFIXES = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
TEXT_OPTIONS = ("stop_words", "min_documents", "max_share", "max_words", "token_pattern")
SEPARATORS = ",;\t"
LONGEST_FIELD = 2**31 - 1  # Python's csv stops at 131,072 characters otherwise


class Texts(NamedTuple):
    """What a format of raw text holds."""

    texts: list[str]
    titles: list[str] | None
    labels: list[str] | None


def read_corpus(
    path: str | os.PathLike,
    vocabulary=None,
    format: str | None = None,
    text: str = "text",
    title: str | None = "title",
    label: str | None = "label",
    name: str | None = None,
    **text_options,
) -> Corpus:
    """The corpus in a file or folder.

    Parameters
    ----------
    path : path
        A UCI bag of words; a folder of ``.txt`` files, subfolders included (titles are the file names, labels the
        subfolders if there are any); a CSV file with a header row, its columns separated by comma, semicolon
        or tab; a file with one JSON object a line.
    vocabulary : path or words, for UCI only
        Default ``vocab.NAME.txt`` beside ``docword.NAME.txt``, or ``w0, w1, …`` when there is none.
    format : "uci", "folder", "csv" or "jsonl", default whichever it looks like
    text, title, label : str
        Columns of a CSV file, fields of the JSON objects. Title and label may be missing unless another name
        than the default is asked for; None leaves them out.
    name : str, default from the file's name
    **text_options
        stop_words, min_documents, max_share, max_words, token_pattern: see `workbench.corpus.text.count_words`.

    Raises
    ------
    CorpusError
        One sentence with the file, the line where there is one, what was wanted and what came.
    """
    path = Path(path)
    for option in text_options:
        if option not in TEXT_OPTIONS:
            raise CorpusError(f"no reader option {option!r}; for raw text there are {', '.join(TEXT_OPTIONS)}")
    found = _format(path, format, text)
    if found == "uci":
        if text_options:
            raise CorpusError(f"{path} is a bag of words, already counted; leave out {', '.join(text_options)}")
        return read_uci(path, vocabulary, name)
    if vocabulary is not None:
        raise CorpusError(f"{path} is raw text and makes its own vocabulary; leave vocabulary out, or prune with max_words")
    if found == "folder":
        read = _read_folder(path)
    elif found == "csv":
        read = _read_csv(path, text, title, label)
    else:
        read = _read_json_lines(path, text, title, label)
    if not read.texts:
        raise CorpusError(f"{path} holds no document; at least one was wanted")
    try:
        return count_words(*read, name=name or _stem(path), **text_options)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from None


def _format(path: Path, format: str | None, text: str) -> str:
    """Which of the formats it is: as told, or as it looks."""
    if format is not None and format not in FORMATS:
        raise CorpusError(f"no format {format!r}; there are {', '.join(FORMATS)}")
    if not path.exists():
        raise CorpusError(f"there is no file or folder {path}; check the path")
    if format is not None:
        if (format == "folder") != path.is_dir():
            kind = "a folder" if path.is_dir() else "a file"
            raise CorpusError(f"{path} is {kind}; format={format!r} wants {FORMATS[format]}")
        return format
    if path.is_dir():
        return "folder"
    start = first_bytes(path).removeprefix(b"\xef\xbb\xbf")
    if looks_like_uci(start) or path.name.startswith("docword."):
        return "uci"
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    if start.lstrip().startswith(b"{"):
        return "jsonl"
    columns = re.split(f"[{SEPARATORS}]", start.split(b"\n")[0].decode("utf-8", "replace"))
    if text in [column.strip(' "\r') for column in columns]:
        return "csv"
    read_bytes(path)  # what cannot be read has its own sentence
    wanted = ", ".join(FORMATS.values())
    raise CorpusError(f"{path} has a format that is not recognised; wanted is one of {wanted}; say which with format=…")


def _stem(path: Path) -> str:
    """What the corpus is called: the file's name without its suffixes."""
    name = path.resolve().name
    return name if path.is_dir() else re.sub(r"(?i)(\.(csv|tsv|jsonl|ndjson|json|txt))?(\.gz)?\Z", "", name)


# ---------------------------------------------------------------------- a folder


def _read_folder(folder: Path) -> Texts:
    """Every .txt file below the folder, in the order of their paths; hidden ones are left out."""
    inside = [file.relative_to(folder) for file in folder.rglob("*") if file.suffix.lower() == ".txt" and file.is_file()]
    inside = sorted(file for file in inside if not any(part.startswith(".") for part in file.parts))
    if not inside:
        raise CorpusError(f"{folder} has no .txt file, one per document was wanted; for another format give the file itself")
    texts = [_text_of(folder / file) for file in inside]
    titles = [file.stem for file in inside]
    if len(set(titles)) < len(titles):
        titles = [file.with_suffix("").as_posix() for file in inside]
    labels = [file.parent.as_posix() for file in inside]
    if set(labels) == {"."}:
        return Texts(texts, titles, None)
    return Texts(texts, titles, ["" if label == "." else label for label in labels])


def _text_of(file: Path) -> str:
    """The text of one file of a folder; an empty file is an empty document."""
    try:
        return decoded(file.read_bytes(), file)
    except OSError as error:
        raise CorpusError(f"{file} cannot be read: {error.strerror}") from None


# ---------------------------------------------------------------------- CSV


def _read_csv(path: Path, text: str, title: str | None, label: str | None) -> Texts:
    """The chosen columns; an empty cell is an empty document."""
    content = read_text(path)
    first = content.lstrip().split("\n", 1)[0]
    separator = max(SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True)
    limit = csv.field_size_limit(LONGEST_FIELD)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise CorpusError(f"{path}, line {reader.line_num}: not a CSV row ({error}); check the quotes") from None
    finally:
        csv.field_size_limit(limit)
    header = [column.strip() for column in rows[0][1]]
    for line, row in rows:
        if len(row) != len(header):
            raise CorpusError(
                f"{path}, line {line}: {len(header)} columns were wanted and {len(row)} came; "
                f"put double quotes around a text that contains {separator!r}"
            )
    wanted = {"text": text, "title": title, "label": label}
    at = {what: header.index(column) if column in header else None for what, column in wanted.items()}
    for what, column in wanted.items():
        _check_there(f"{path}, line 1", what, column, at[what] is not None, "column", header)
    return Texts(*([row[at[what]] for _, row in rows[1:]] if at[what] is not None else None for what in wanted))


def _check_there(where: str, what: str, wanted: str | None, there: bool, kind: str, known: list[str]):
    """Refuses a missing text, and a title or label that was asked for by name."""
    if not there and (what == "text" or wanted not in (None, what)):
        listed = ", ".join(repr(column) for column in known)
        raise CorpusError(f"{where}: no {kind} {wanted!r} for the {what}; there are {listed}; say which with {what}=…")


# ---------------------------------------------------------------------- JSON lines


def _read_json_lines(path: Path, text: str, title: str | None, label: str | None) -> Texts:
    """The chosen fields of each object; blank lines are skipped."""
    read = {"text": [], "title": [], "label": []}
    wanted = {"text": text, "title": title, "label": label}
    for line, content in enumerate(read_text(path).split("\n"), start=1):
        if not content.strip():
            continue
        entry = _json_object(content, f"{path}, line {line}")
        for what, field in wanted.items():
            _check_there(f"{path}, line {line}", what, field, field in entry, "field", list(entry))
            read[what].append(entry.get(field))
        if not isinstance(entry[text], str):
            raise CorpusError(
                f"{path}, line {line}: {text!r} must be a string; it is {json.dumps(entry[text])[:60]}; "
                'leave the line out, or write "" for an empty document'
            )
    for what in ("title", "label"):
        given = any(value is not None for value in read[what])
        read[what] = ["" if value is None else str(value) for value in read[what]] if given else None
    return Texts(read["text"], read["title"], read["label"])


def _json_object(content: str, where: str) -> dict:
    """The object on a line."""
    try:
        entry = json.loads(content)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{where}: not JSON ({error.msg}, column {error.colno}); one JSON object a line was wanted") from None
    if not isinstance(entry, dict):
        raise CorpusError(f"{where}: one JSON object a line was wanted; a value of type {type(entry).__name__} came")
    return entry
