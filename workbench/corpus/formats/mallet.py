"""MALLET's text import format: ``name label text…``, one document per line.

Name and label are single words; blanks, tabs and commas separate them from what follows, as in the regular
expression of ``mallet import-file``. The label ``-`` means no label. The result of ``import-file``, a ``.mallet``
file, is a dump of Java objects; it raises an error that names the command to print it as such text.

Source: McCallum, MALLET (2002), Csv2Vectors and Vectors2Info.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.interface import (
    Batch,
    Prepared,
    ReadOptions,
    Stream,
    has_titles,
    unplaced,
)
from workbench.data.blocks import batched
from workbench.data.opening import encoding_of, first_bytes, read_text, text_lines, text_of
from workbench.data.saving import encoded

MEANING = "a MALLET text file (name label text)"
SUFFIXES = (".mallet",)
CERTAIN = True
TAKES = ("encoding",)
JAVA_MAGIC = b"\xac\xed\x00"
NAME = re.compile(r"(\S+)[\s,]+")
LABEL = re.compile(r"(\S+)[\s,]*+")
BETWEEN = re.compile(r"[\s,]*+")
NO_LABEL = "-"


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether the file is a ``.mallet`` file (serialised Java objects); MALLET's text format cannot be recognised."""
    return start.startswith(JAVA_MAGIC)


def read(path: Path, read_options: ReadOptions) -> dict:
    """Return the texts with their names as titles; options for texts, such as `stop_words`, apply.

    ``stop_words=None, token_pattern=r"\\S+"`` keeps every word as written, in lower case.
    """
    _refuse_java(path)
    rows = list(_rows(path, enumerate(read_text(path, read_options.encoding).split("\n"), start=1)))
    titles, labels, texts = zip(*rows, strict=True)
    return {"texts": texts, "titles": titles, "labels": _labels(labels)}


def stream(path: Path, read_options: ReadOptions, progress: Callable[[float], None]) -> Stream:
    """Stream the texts that `read` returns, some lines at a time."""
    _refuse_java(path)
    encoding = encoding_of(path, read_options.encoding)

    def batches() -> Iterator[Batch]:
        with text_of(path, encoding, "\n", progress) as file:
            for rows in batched(
                _rows(path, enumerate(text_lines(file, path), start=1)), lambda row: len(row[2])
            ):
                titles, labels, texts = zip(*rows, strict=True)
                yield Batch(texts, {"titles": titles, "labels": _labels(labels)}, len(texts))

    return Stream(batches(), dict)


def _refuse_java(path: Path) -> None:
    if first_bytes(path).startswith(JAVA_MAGIC):
        raise CorpusError(
            f"{path} is MALLET's binary instance list; print it as text with "
            f"`mallet info --input {path.name} --print-matrix siw > {path.stem}.txt` and read that with format='mallet'"
        )


def _rows(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield (name, label, text) of each line that is not blank."""
    for line, content in lines:
        if not content.strip():
            continue
        content = content.strip()
        # the name is looked for before, or commas took time squared
        last = len(content) - BETWEEN.match(content[::-1]).end()
        if not (name := NAME.match(content, 0, last)):
            raise CorpusError(
                f"{path}, line {line}: a name, a label and a text were wanted; {content[:60]!r} came"
            )
        label = LABEL.match(content, name.end())
        yield name[1], label[1], content[label.end() :]


def _labels(labels: Sequence[str]) -> list[str] | None:
    return (
        None
        if set(labels) == {NO_LABEL}
        else ["" if label == NO_LABEL else label for label in labels]
    )


def write(corpus: Corpus, path: Path, vocabulary: bool) -> Prepared:
    """Return the file to be written, with one line per document, in which each word is repeated as often as it occurs.

    Words that occur nowhere, the order of the vocabulary, authors and times are lost. Blanks and commas in titles
    and labels become ``_``. Raise an error for a word that MALLET would split or drop.
    """
    if bad_words := [word for word in corpus.vocabulary if not re.fullmatch(r"[^\s,]\S*", word)]:
        raise CorpusError(
            f"{path}: MALLET takes blanks and commas as ends of words and cannot hold {bad_words[0]!r}; "
            "write npz, csv or jsonl instead"
        )
    names = [one_word(title) for title in corpus.titles]
    labels = [one_word(str(label)) for label in corpus.labels or [""] * corpus.n_documents]
    tokens = [corpus.vocabulary[word] for word in corpus.words.repeat(corpus.counts).tolist()]
    bounds = corpus.tokens_before[corpus.indptr].tolist()
    lines = [
        " ".join([name, label, *tokens[begin:end]])
        for name, label, (begin, end) in zip(names, labels, pairwise(bounds), strict=True)
    ]
    lost = unplaced(corpus, "titles", "labels")
    if has_titles(corpus) and tuple(names) != corpus.titles:
        lost.append("blanks and commas in titles")
    if corpus.labels is not None and labels != [str(label) or NO_LABEL for label in corpus.labels]:
        lost.append("blanks and commas in labels")
    if vocabulary and len(set(corpus.words.tolist())) < corpus.n_words:
        lost.append("words that occur nowhere")
    if vocabulary and list(corpus.vocabulary) != sorted(corpus.vocabulary):
        lost.append("the order of the words")
    return Prepared({path: encoded("".join(f"{line}\n" for line in lines), path)}, lost)


def one_word(text: str) -> str:
    """Return a title or label as a single word for MALLET, with ``_`` for blanks and commas."""
    return re.sub(r"[\s,]+", "_", text) or NO_LABEL
