"""The format of lda-c: ``NAME.dat``, one document per line, with its vocabulary in a companion file.

A line is ``M id:count id:count …``: the number of distinct words, then each with its count, ids from 0; the line
``0`` is an empty document, a blank line is nothing. The vocabulary, one word a line, is ``NAME.vocab.txt``,
``NAME.vocab`` or ``vocab.txt`` beside it. It determines the number of words; without it, unused words after
the last used one are unknown.

Source: Blei's lda-c (2004), the file ``ap.dat`` of its example.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.interface import (
    IDS,
    Batch,
    Prepared,
    ReadOptions,
    Stream,
    about_counts,
    find_words,
    stem_of,
    with_companions,
)
from workbench.corpus.formats.triples import read_and_stream
from workbench.data.opening import BYTE_ORDER_MARK, with_head

MEANING = "an lda-c file of counts"
SUFFIXES = (".dat", ".ldac", ".lda-c")
CERTAIN = True
NUMBER = rb"\d{1,18}"  # what an int64 holds for certain
PAIR = re.compile(rb"%b:%b" % (NUMBER, NUMBER))
LINE = re.compile(rb"[ \t]*%b(?:[ \t]+%b)*[ \t\r]*" % (NUMBER, PAIR.pattern))
ALSO = "vocab.txt"


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether these first bytes are lines ``M id:count …`` with M pairs each and at least one pair overall.

    The last line may be cut off and does not count, unless it is the only one.
    """
    lines = start.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    whole = [line for line in lines[:-1] if line.strip()]
    if not whole:
        return (
            LINE.fullmatch(lines[0].rpartition(b" ")[0] or lines[0]) is not None
            and b":" in lines[0]
        )
    return b":" in start and all(
        LINE.fullmatch(line) and int(line.split()[0]) == line.count(b":") for line in whole
    )


def _stream(path: Path, read_options: ReadOptions, blocks: Iterator[bytes]) -> Stream:
    """Stream the counts of a file, given as blocks of lines."""
    stem = stem_of(path, SUFFIXES)
    vocabulary = find_words(path, stem, read_options.vocabulary, None, ALSO)
    head, blocks = with_head(blocks, path)
    sizes = {"n_documents": 0, "n_words": len(vocabulary) if vocabulary else 0}

    def batches() -> Iterator[Batch]:
        first = 1
        for block in chain([head.removeprefix(BYTE_ORDER_MARK)], blocks):
            numbered = [
                (number, line)
                for number, line in enumerate(block.split(b"\n"), start=first)
                if line.strip()
            ]
            first += block.count(b"\n")
            lengths, words, counts = _pairs(path, numbered)
            if vocabulary is None:
                sizes["n_words"] = max(sizes["n_words"], int(words.max(initial=-1)) + 1)
            documents = np.repeat(np.arange(len(lengths)), lengths)
            bad_pairs = np.flatnonzero(words >= sizes["n_words"])
            if len(bad_pairs):
                line = numbered[documents[bad_pairs[0]]][0]
                raise CorpusError(
                    f"{path}, line {line}: the word id must lie in 0..{sizes['n_words'] - 1}, as the vocabulary "
                    f"has {sizes['n_words']} words; it is {words[bad_pairs[0]]}"
                )
            documents += sizes["n_documents"]
            sizes["n_documents"] += len(lengths)
            yield Batch((documents, words, counts), {}, 0)

    return Stream(
        batches(),
        lambda: about_counts(path, stem, **sizes, words=vocabulary),
        IDS,
        lambda: vocabulary,
    )


read, stream = read_and_stream(_stream)


def _pairs(
    path: Path, numbered: list[tuple[int, bytes]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of pairs on each line (line,), and the words (pair,) and counts (pair,)."""
    for number, line in numbered:
        if not LINE.fullmatch(line):
            raise CorpusError(f"{path}, line {number}: {_trouble(line)}")
    numbers = np.fromstring(
        b" ".join(line for _, line in numbered).replace(b":", b" "), dtype=np.int64, sep=" "
    )
    n_pairs = np.array([line.count(b":") for _, line in numbered], np.int64)
    starts = np.cumsum(1 + 2 * n_pairs) - 1 - 2 * n_pairs
    bad_lines = np.flatnonzero(numbers[starts] != n_pairs)
    if len(bad_lines):
        first = bad_lines[0]
        raise CorpusError(
            f"{path}, line {numbered[first][0]}: the line promises {numbers[starts][first]} pairs and "
            f"{n_pairs[first]} came; the file is truncated or not an lda-c file"
        )
    words, counts = np.delete(numbers, starts).reshape(-1, 2).T
    return n_pairs, words, counts


def write(corpus: Corpus, path: Path, vocabulary: bool) -> Prepared:
    """Return the lda-c file and companion files (vocabulary, titles, labels) to write; authors and times are lost."""
    pairs = [
        f"{word}:{count}"
        for word, count in zip(corpus.words.tolist(), corpus.counts.tolist(), strict=True)
    ]
    bounds = corpus.indptr.tolist()
    lines = [" ".join([str(end - begin), *pairs[begin:end]]) for begin, end in pairwise(bounds)]
    return with_companions(
        corpus, path, stem_of(path, SUFFIXES), vocabulary, "".join(f"{line}\n" for line in lines)
    )


def _trouble(line: bytes) -> str:
    """Describe what is wrong with a line that is not in lda-c's format."""
    first, *pairs = line.split()
    entry = next((pair for pair in pairs if not PAIR.fullmatch(pair)), None)
    if not re.fullmatch(NUMBER, first) or entry is None:
        return f"the number of pairs and then id:count each were wanted; {first.decode('utf-8', 'replace')[:60]!r} came"
    return f"a word id and its count were wanted as two whole numbers, id:count; {entry.decode('utf-8', 'replace')[:60]!r} came"
