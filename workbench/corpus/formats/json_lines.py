"""JSON lines: one object per document, with a text or with counts; blank lines are skipped.

``{"text": "…"}`` holds a text; without one, ``{"counts": {"word": n, …}}`` holds counts and ``{"tokens": ["word", …]}``
tokens. The first object decides which for all. Objects may also have ``title`` and ``label``, and the inputs and the sequence
that are asked for.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.by_name import Kept, Rows, counts_by_name, named_counts
from workbench.corpus.formats.interface import (
    NAMES,
    TEXTS,
    Batch,
    Prepared,
    ReadOptions,
    Stream,
    unplaced,
)
from workbench.data.blocks import batched
from workbench.data.encodings import DETECT, STRICT
from workbench.data.opening import BYTE_ORDER_MARK, encoding_of, read_text, text_lines, text_of
from workbench.data.saving import encoded

MEANING = "a file with one JSON object a line"
SUFFIXES = (".jsonl", ".ndjson", ".json")
TAKES = ("columns", "encoding")
KINDS = {"counts": (dict, 'an object {"word": count, …}'), "tokens": (list, 'a list ["word", …]')}


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether the file begins with a brace."""
    return start.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{")


def read(path: Path, read_options: ReadOptions) -> dict:
    """Return the texts and chosen fields of the objects, or counts of words if the objects have no text.

    Words are numbered in the order in which they first appear; a count of 0 adds a word to the vocabulary.
    """
    encoding = STRICT if read_options.encoding == DETECT else read_options.encoding  # JSON is UTF-8
    where, entries = _entries(path, enumerate(read_text(path, encoding).split("\n"), start=1))
    rows, read_options = _rows(where, entries), read_options.spelled(entries[0])
    if (what := _kind(entries[0], read_options)) is None:
        return {"texts": _texts(rows, read_options), **rows.document_fields(read_options)}
    documents, words, counts = _counts_of(where, entries, what)
    return counts_by_name(
        path,
        read_options,
        words,
        documents=documents,
        counts=counts,
        n_documents=len(entries),
        **rows.document_fields(read_options, tuple(KINDS)),
    )


def stream(path: Path, read_options: ReadOptions, progress: Callable[[float], None]) -> Stream:
    """Stream the documents that `read` returns, some lines at a time."""
    encoding = encoding_of(
        path, STRICT if read_options.encoding == DETECT else read_options.encoding
    )

    def pieces() -> Iterator[tuple[list[str], list[dict]]]:
        with text_of(path, encoding, "\n", progress) as file:
            lines = (
                (line, content)
                for line, content in enumerate(text_lines(file, path), start=1)
                if content.strip()
            )
            for piece in batched(lines, lambda entry: len(entry[1])):
                yield _entries(path, piece)

    with closing(pieces()) as first_pieces:
        first = next(first_pieces, None)
    if first is None:
        raise CorpusError(f"{path} is empty; a file with data was wanted")
    read_options = read_options.spelled(first[1][0])
    kind, fields = _kind(first[1][0], read_options), Kept(read_options)

    def batches() -> Iterator[Batch]:
        n = 0
        for places, entries in pieces():
            rows = _rows(places, entries)
            texts = (
                _texts(rows, read_options) if kind is None else _counts_of(places, entries, kind, n)
            )
            yield Batch(texts, fields.document_fields(rows, len(entries)), len(entries))
            n += len(entries)

    return Stream(batches(), fields.rest, TEXTS if kind is None else NAMES)


def write(corpus: Corpus, path: Path, vocabulary: bool) -> Prepared:
    """Return the file to be written, with one object per document: title, label and counts; all other fields are lost.

    With ``vocabulary`` the first document lists every word, with count 0 if it does not contain it. This keeps the order
    of the words, and words that occur nowhere.
    """
    lines = []
    for d, counts in enumerate(named_counts(corpus, vocabulary)):
        label = {} if corpus.labels is None else {"label": str(corpus.labels[d])}
        lines.append(
            json.dumps({"title": corpus.titles[d], **label, "counts": counts}, ensure_ascii=False)
        )
    return Prepared(
        {path: encoded("".join(f"{line}\n" for line in lines), path)},
        unplaced(corpus, "titles", "labels"),
    )


def _entries(path: Path, lines: Iterable[tuple[int, str]]) -> tuple[list[str], list[dict]]:
    """Return the place ("FILE, line 3") of each line that is not blank, and the JSON object on it."""
    places, entries = [], []
    for line, content in lines:
        if content.strip():
            places.append(f"{path}, line {line}")
            entries.append(_json_object(content, places[-1]))
    return places, entries


def _rows(places: list[str], entries: list[dict]) -> Rows:
    return Rows(
        "field",
        list(zip(places, entries, strict=True)),
        lambda name: [entry.get(name) for entry in entries],
        places.__getitem__,
    )


def _kind(first: dict, read_options: ReadOptions) -> str | None:
    """Return which field, "counts" or "tokens", the first object has instead of a text; None for a text or neither."""
    return (
        next((kind for kind in KINDS if kind in first), None)
        if read_options.text not in first
        else None
    )


def _texts(rows: Rows, read_options: ReadOptions) -> list[str]:
    texts = rows.column("text", read_options.text)
    if bad_rows := [row for row, text in enumerate(texts) if not isinstance(text, str)]:
        excerpt = json.dumps(texts[bad_rows[0]])[:60]
        raise CorpusError(
            f"{rows.where(bad_rows[0])}: {read_options.text!r} must be a string; it is {excerpt}; "
            'leave the line out, or write "" for an empty document'
        )
    return texts


def _counts_of(
    places: list[str], entries: list[dict], what: str, first: int = 0
) -> tuple[list[int], list[str], list[int]]:
    """Return the counts in JSON objects as documents, words and counts (row,); object i is document ``first`` + i."""
    documents, words, counts = [], [], []
    for d, (place, entry) in enumerate(zip(places, entries, strict=True), start=first):
        entry_counts = _counts(place, entry, what)
        documents += [d] * len(entry_counts)
        words += entry_counts.keys()
        counts += entry_counts.values()
    return documents, words, counts


def _counts(place: str, entry: dict, what: str) -> dict[str, int]:
    """Return the counts of the words in an object's field ``what``, as a dict."""
    kind, sentence = KINDS[what]
    value = entry.get(what)
    if not isinstance(value, kind):
        raise CorpusError(f"{place}: {what!r} must be {sentence}; it is {json.dumps(value)[:60]}")
    if what == "tokens":
        if bad_tokens := [token for token in value if not isinstance(token, str)]:
            raise CorpusError(
                f"{place}: every token must be a string; there is {json.dumps(bad_tokens[0])[:60]}"
            )
        return Counter(value)
    for word, count in value.items():
        if type(count) is not int or count < 0:
            raise CorpusError(
                f"{place}: the count of {word!r} must be a whole number; it is {json.dumps(count)[:60]}"
            )
    return value


def _json_object(content: str, place: str) -> dict:
    """Return the JSON object on a line; raise an error if the line is something else."""
    try:
        entry = json.loads(content, object_pairs_hook=_sum_repeated)
    except json.JSONDecodeError as error:
        raise CorpusError(
            f"{place}: not JSON ({error.msg}, column {error.colno}); one JSON object a line was wanted"
        ) from None
    except (ValueError, RecursionError):  # numbers of thousands of digits, thousands of brackets
        problem = (
            "JSON that cannot be read, with a number too long or brackets too deep; correct it"
        )
        raise CorpusError(f"{place}: {problem}") from None
    if not isinstance(entry, dict):
        raise CorpusError(
            f"{place}: one JSON object a line was wanted; a value of type {type(entry).__name__} came"
        )
    return entry


def _sum_repeated(pairs: list[tuple[str, object]]) -> dict:
    """Return (name, value) pairs as a dict; values of a repeated name are summed if all values are integers."""
    counts = dict(pairs)
    if len(counts) < len(pairs) and all(type(value) is int for value in counts.values()):
        counts = dict.fromkeys(counts, 0)
        for name, value in pairs:
            counts[name] += value if type(value) is int else 0
    return counts
