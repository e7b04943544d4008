"""What is doubtful about the documents of a corpus before a run is started: empty ones, and those that stand there twice."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import Corpus

MOST_NAMED = 3
"""Documents that a sentence names."""


class Quality(NamedTuple):
    """Documents by their numbers, ascending."""

    empty: np.ndarray        # (found,) without a token
    repeated: np.ndarray     # (found,) with the words and counts of an earlier document, which is none of these
    originals: np.ndarray    # (found,) that earlier document


def quality_of(corpus: Corpus) -> Quality:
    """The empty and the repeated documents of a corpus.

    Two documents are the same where their counts are: texts that differ in case, in stop words or in the order of their words
    alone are the same, too. An empty document repeats none.
    """
    first, repeated, originals = {}, [], []
    words, counts, bounds = corpus.words, corpus.counts, corpus.indptr.tolist()
    for document, (begin, end) in enumerate(pairwise(bounds)):
        if begin == end:
            continue
        earlier = first.setdefault((words[begin:end].tobytes(), counts[begin:end].tobytes()), document)
        if earlier != document:
            repeated.append(document)
            originals.append(earlier)
    as_ids = [np.array(ids, np.int64) for ids in (repeated, originals)]
    return Quality(np.flatnonzero(np.diff(corpus.indptr) == 0), *as_ids)


def describe_quality(corpus: Corpus) -> list[str]:
    """A sentence each about empty documents and about repeated ones, where there are any."""
    found, said = quality_of(corpus), []
    of = f"of {corpus.n_documents:,} documents of {corpus.name!r}"
    if n := len(found.empty):
        have = "has" if n == 1 else "have"
        said.append(f"{n:,} {of} {have} no word that is counted: {_named(corpus, found.empty)}")
    if n := len(found.repeated):
        have = "has" if n == 1 else "have"
        pairs = [f"{corpus.titles[one]!r} as {corpus.titles[other]!r}" for one, other in
                 zip(found.repeated[:MOST_NAMED], found.originals[:MOST_NAMED], strict=True)]
        said.append(f"{n:,} {of} {have} the same words as an earlier one: {', '.join(pairs)}{_more(n)}")
    return said


def _named(corpus: Corpus, documents: np.ndarray) -> str:
    return ", ".join(repr(corpus.titles[at]) for at in documents[:MOST_NAMED]) + _more(len(documents))


def _more(n: int) -> str:
    return f" and {n - MOST_NAMED:,} more" if n > MOST_NAMED else ""
