"""Matrix Market coordinate files, documents × words: ``NAME.mtx[.gz]`` with ``NAME.vocab.txt`` beside it.

A banner ``%%MatrixMarket matrix coordinate integer general`` (or ``real``, when every count is a whole number),
comments that begin with ``%``, a line ``documents words entries``, then one line ``document word count`` per
entry, ids from 1. Empty documents and unused words keep their places.

scipy.io reads and writes the same files; tests compare the two. The rows are read here so that errors can name
the line.

Source: Boisvert, Pozo & Remington, "The Matrix Market Exchange Formats" (1996).
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.interface import (
    Prepared,
    ReadOptions,
    Stream,
    stem_of,
    with_companions,
)
from workbench.corpus.formats.triples import (
    Sizes,
    read_and_stream,
    stream_triples,
    triples_of,
)
from workbench.data.opening import BYTE_ORDER_MARK, with_head

MEANING = "a Matrix Market coordinate file"
SUFFIXES = (".mtx", ".mm")
CERTAIN = True
BANNER = re.compile(rb"(?i)\A%%MatrixMarket\b([^\n]*)(?:\n|\Z)")
HEAD = re.compile(rb"(?:[ \t]*(?:%[^\n]*)?\r?\n)*([^\n]*)(?:\n|\Z)")
SIZES = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")
WANTED = ("matrix coordinate integer general", "matrix coordinate real general")


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether a file that begins with these bytes is a Matrix Market file of any kind."""
    return BANNER.match(start.removeprefix(BYTE_ORDER_MARK)) is not None


def _stream(path: Path, read_options: ReadOptions, blocks: Iterator[bytes]) -> Stream:
    """Stream the rows of a file, given as blocks of lines, after parsing its header."""
    start, blocks = with_head(blocks, path)
    start = start.removeprefix(BYTE_ORDER_MARK)
    banner = BANNER.match(start)
    if not banner:
        raise CorpusError(
            f"{path}, line 1: a Matrix Market file begins with '%%MatrixMarket {WANTED[0]}'; this one does not"
        )
    kind = " ".join(banner.group(1).decode("utf-8", "replace").lower().split())
    if kind not in WANTED:
        raise CorpusError(
            f"{path}, line 1: counts are a '{WANTED[0]}' (or real); this is a {kind!r}; write it as counts"
        )
    head = HEAD.match(start, banner.end())
    line = 1 + start.count(b"\n", 0, head.start(1))
    if not (match := SIZES.fullmatch(head.group(1))):
        excerpt = head.group(1).decode("utf-8", "replace").strip()[:60]
        raise CorpusError(
            f"{path}, line {line}: three whole numbers were wanted, documents, words and entries; {excerpt!r} came"
        )
    sizes = Sizes(*(int(number) for number in match.groups()), line)
    blocks, stem = chain([start[head.end() :]], blocks), stem_of(path, SUFFIXES)
    real = kind == WANTED[1]
    return stream_triples(path, stem, read_options.vocabulary, blocks, sizes, real)


read, stream = read_and_stream(_stream)


def write(corpus: Corpus, path: Path, vocabulary: bool) -> Prepared:
    """Return the Matrix Market file and companion files (words, titles, labels) to write; authors and times are lost."""
    sizes = f"{corpus.n_documents} {corpus.n_words} {corpus.n_pairs}"
    content = f"%%MatrixMarket {WANTED[0]}\n{sizes}\n{triples_of(corpus)}"
    return with_companions(corpus, path, stem_of(path, SUFFIXES), vocabulary, content)
