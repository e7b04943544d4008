"""Counts whose words are written out, in a table or in JSON: numbered when read, named when written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from workbench.corpus.companions import read_words
from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats import Asked


def numbered(names: Sequence[str], known: Sequence[str] = ()) -> tuple[np.ndarray, list[str]]:
    """(name,) int64 ids in the order of first appearance after the known ones, and the names by id."""
    ids = {name: at for at, name in enumerate(dict.fromkeys(chain(known, names)))}
    return np.fromiter(map(ids.__getitem__, names), np.int64, len(names)), list(ids)


def corpus_by_name(path: Path, stem: str, asked: Asked, documents, words: Sequence[str], counts, n_documents: int, **about):
    """The corpus of (row,) zero-based documents, words by name, and counts; count 0 makes a word known.

    The vocabulary is in the order of first appearance, unless one is asked for: then a word that it does not
    have is refused.
    """
    known = () if asked.vocabulary is None else read_words(asked.vocabulary, None, f"give the vocabulary of {path}")
    ids, vocabulary = numbered(words, known)
    if known and len(vocabulary) > len(known):
        raise CorpusError(f"{path}: the word {vocabulary[len(known)]!r} is not in the vocabulary; give one that has all words, "
                          "or leave vocabulary out")
    try:
        return Corpus.from_pairs(documents, ids, counts, vocabulary, n_documents, name=asked.name or stem, **about)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from None


def named_counts(corpus: Corpus, vocabulary: bool) -> Iterator[dict[str, int]]:
    """For each document its words with their counts.

    With ``vocabulary`` the first document has every word, count 0 where it has none of it, so that whoever reads
    the documents in order sees the words in their order, those that occur nowhere included.
    """
    words, counts, bounds = corpus.words.tolist(), corpus.counts.tolist(), corpus.indptr.tolist()
    for d, (begin, end) in enumerate(pairwise(bounds)):
        found = dict.fromkeys(corpus.vocabulary, 0) if vocabulary and d == 0 else {}
        found.update((corpus.vocabulary[word], count) for word, count in zip(words[begin:end], counts[begin:end], strict=True))
        yield found
