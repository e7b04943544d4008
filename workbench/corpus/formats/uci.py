"""The UCI "bag of words" format: ``docword.NAME.txt[.gz]`` with the vocabulary in ``vocab.NAME.txt``.

The file begins with three lines of one integer each, the numbers of documents D, of words W and of rows;
then one row ``document word count`` per pair, ids from 1. Empty documents and unused words have no row and
keep their places. Titles and labels are in companion files (`workbench.corpus.formats.interface`).

Source: UCI Machine Learning Repository, "Bag of Words" (Newman, 2008).
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
from workbench.data.opening import with_head

MEANING = "a UCI bag of words"
SUFFIXES = ()
CERTAIN = True
SIZE = rb"[ \t]*(\d{1,18})[ \t]*"
HEADER = re.compile(rb"\A(?:\xef\xbb\xbf)?%b\r?\n%b\r?\n%b(?:\r?\n|\Z)" % (SIZE, SIZE, SIZE))
LAST_HEADER_LINE = 3


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether a file that begins with these bytes is a UCI bag of words."""
    return HEADER.match(start) is not None


def _stream(path: Path, read_options: ReadOptions, blocks: Iterator[bytes]) -> Stream:
    """Stream the rows of a file, given as blocks of lines, after parsing its header."""
    head, blocks = with_head(blocks, path)
    header = HEADER.match(head)
    if not header:
        lines = [*head.split(b"\n", LAST_HEADER_LINE), b"", b""][:LAST_HEADER_LINE]
        bad_line = next(
            (
                line_number
                for line_number, line in enumerate(lines, start=1)
                if not line.strip().isdigit()
            ),
            LAST_HEADER_LINE,
        )
        raise CorpusError(
            f"{path}, line {bad_line}: a UCI bag of words begins with three lines of one whole number each, "
            "documents, words and rows; this line is none of them"
        )
    sizes = Sizes(*(int(number) for number in header.groups()), LAST_HEADER_LINE)
    blocks = chain([head[header.end() :]], blocks)
    return stream_triples(path, stem_of(path, SUFFIXES), read_options.vocabulary, blocks, sizes)


read, stream = read_and_stream(_stream)


def write(corpus: Corpus, path: Path, vocabulary: bool) -> Prepared:
    """Return the UCI file and companion files (vocabulary, titles, labels) to write; authors and times are lost."""
    content = f"{corpus.n_documents}\n{corpus.n_words}\n{corpus.n_pairs}\n{triples_of(corpus)}"
    return with_companions(corpus, path, stem_of(path, SUFFIXES), vocabulary, content)
