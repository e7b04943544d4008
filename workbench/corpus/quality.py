"""What is doubtful about the documents of a corpus before a run is started: empty ones, and those that stand there twice, or
nearly so.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.corpus.any_corpus import AnyCorpus
from workbench.corpus.corpus import Corpus

MOST_NAMED = 3
"""Documents that a sentence names."""
NEAR = 0.9
"""Jaccard index of the tokens of two documents, shared ones by all, from which they are nearly the same."""
BANDS, ROWS = 8, 8
"""Of MinHash: two documents are compared where all ROWS values of one of the BANDS are equal. At an index of 0.9 that happens
with a probability of 1 - (1 - 0.9**8)**8 = 0.99, at 0.95 of 0.9999, at 0.5 of 0.03."""
MOST_TOKENS = 10_000_000
"""Beyond which nearly equal documents are not looked for."""
BLOCK = 1 << 16
"""Tokens that are hashed at a time, which the processor's cache holds."""
COMPARED = 10_000
"""Pairs of documents that are compared at a time, which bounds memory."""


def _mixed(values: np.ndarray) -> np.ndarray:
    """Return uint64 hashes by the finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


SEEDS = _mixed(np.arange(BANDS * ROWS, dtype=np.uint64)) | np.uint64(1)


class Quality(NamedTuple):
    """Empty and duplicate documents by their numbers, ascending."""

    empty: np.ndarray  # (found,) without a token
    # (found,) with the words and counts of an earlier document, which is none of these
    repeated: np.ndarray
    originals: np.ndarray  # (found,) that earlier document
    # (found,) with nearly the tokens of an earlier document, none of these and not repeated
    near: np.ndarray
    near_originals: np.ndarray  # (found,) that earlier document


def quality_of(corpus: AnyCorpus) -> Quality | None:
    """Return the empty, duplicate and nearly duplicate documents of a corpus; None of one in several parts.

    Two documents are the same where their counts are: texts that differ in case, in stop words or in the order of their words
    alone are the same, too. They are nearly the same where their Jaccard index is `NEAR` or more. An empty document repeats
    none.
    """
    if corpus.n_parts > 1:
        return None
    (corpus,), first, repeated, originals = corpus.parts(), {}, [], []
    words, counts, bounds = corpus.words, corpus.counts, corpus.indptr.tolist()
    for document, (begin, end) in enumerate(pairwise(bounds)):
        if begin == end:
            continue
        earlier = first.setdefault(
            (words[begin:end].tobytes(), counts[begin:end].tobytes()), document
        )
        if earlier != document:
            repeated.append(document)
            originals.append(earlier)
    as_ids = [np.array(ids, np.int64) for ids in (repeated, originals)]
    others = np.setdiff1d(np.flatnonzero(np.diff(corpus.indptr)), as_ids[0])
    return Quality(
        np.flatnonzero(np.diff(corpus.indptr) == 0),
        *as_ids,
        *_near(corpus.of_documents(others), others),
    )


def _near(corpus: Corpus, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return documents with an earlier near-duplicate, and that one, by ``ids``; all must be different and not empty.

    Candidates come from MinHash and banding; of documents that agree in a band each is compared with the first of them and the
    one before it. What is found has been compared exactly.

    Source: Broder 1997; Leskovec, Rajaraman & Ullman 2020, chapter 3.
    """
    none = np.zeros(0, np.int64)
    if corpus.n_documents < 2 or corpus.n_tokens > MOST_TOKENS:
        return none, none
    pairs = np.unique(np.concatenate([_candidates(band) for band in _bands(corpus)]), axis=0)
    counts, n_tokens, found = corpus.to_scipy(), corpus.document_tokens, []
    for begin in range(0, len(pairs), COMPARED):
        earlier, later = pairs[begin : begin + COMPARED].T
        shared = counts[earlier].minimum(counts[later]).sum(axis=1)
        alike = shared >= NEAR * (n_tokens[earlier] + n_tokens[later] - shared)
        found.append(pairs[begin : begin + COMPARED][alike])
    earlier, later = np.concatenate([none.reshape(0, 2), *found]).T
    near, first = np.unique(later, return_index=True)  # pairs ascend by the earlier document
    return ids[near], ids[earlier[first]]


def _bands(corpus: Corpus) -> np.ndarray:
    """Return (band, document) uint64, equal where all MinHash values in the band are; no document may be empty."""
    keys = np.zeros((BANDS, corpus.n_documents), np.uint64)
    before, begin = corpus.tokens_before[corpus.indptr], 0
    while begin < corpus.n_documents:
        end = max(begin + 1, int(np.searchsorted(before, before[begin] + BLOCK)) - 1)
        pairs = slice(corpus.indptr[begin], corpus.indptr[end])
        counts = corpus.counts[pairs]
        occurrence = np.arange(before[begin], before[end]) - np.repeat(
            corpus.tokens_before[pairs], counts
        )
        words = np.repeat(corpus.words[pairs], counts).astype(np.uint64)
        tokens = _mixed(words << np.uint64(32) | occurrence.astype(np.uint64))
        starts = before[begin:end] - before[begin]
        for at, seed in enumerate(SEEDS):
            least = np.minimum.reduceat((tokens ^ seed) * seed, starts)
            keys[at // ROWS, begin:end] = _mixed(keys[at // ROWS, begin:end] ^ least)
        begin = end
    return keys


def _candidates(band: np.ndarray) -> np.ndarray:
    """Return (pair, 2) earlier and later documents equal in a band: each with the first of its group and the one before."""
    order = np.argsort(band, kind="stable")
    follows = np.concatenate([[False], band[order][1:] == band[order][:-1]])
    first = np.maximum.accumulate(np.where(follows, 0, np.arange(len(order))))
    at = np.flatnonzero(follows)
    return np.concatenate(
        [np.stack([order[first[at]], order[at]], 1), np.stack([order[at - 1], order[at]], 1)]
    )


def describe_quality(corpus: AnyCorpus) -> list[str]:
    """Return a sentence each about empty and about duplicate documents, where there are any."""
    found, said = quality_of(corpus), []
    if found is None:
        return [f"{corpus.name!r} is in shards; empty and repeated documents were not looked for"]
    of = f"of {corpus.n_documents:,} documents of {corpus.name!r}"
    if n := len(found.empty):
        have = "has" if n == 1 else "have"
        said.append(f"{n:,} {of} {have} no word that is counted: {_named(corpus, found.empty)}")
    if n := len(found.repeated):
        have = "has" if n == 1 else "have"
        said.append(
            f"{n:,} {of} {have} the same words as an earlier one: {_as(corpus, found.repeated, found.originals)}"
        )
    if n := len(found.near):
        have = "has" if n == 1 else "have"
        said.append(
            f"{n:,} {of} {have} nearly the same words as an earlier one ({NEAR:.0%} of those of both): "
            f"{_as(corpus, found.near, found.near_originals)}"
        )
    if corpus.n_tokens > MOST_TOKENS:
        said.append(
            f"{corpus.name!r} has more than {MOST_TOKENS:,} tokens; nearly repeated documents were not looked for"
        )
    return said


def _as(corpus: Corpus, documents: np.ndarray, originals: np.ndarray) -> str:
    """Describe which documents are duplicates of which."""
    pairs = [
        f"{corpus.titles[one]!r} as {corpus.titles[other]!r}"
        for one, other in zip(documents[:MOST_NAMED], originals[:MOST_NAMED], strict=True)
    ]
    return ", ".join(pairs) + _more(len(documents))


def _named(corpus: Corpus, documents: np.ndarray) -> str:
    return ", ".join(repr(corpus.titles[at]) for at in documents[:MOST_NAMED]) + _more(
        len(documents)
    )


def _more(n: int) -> str:
    return f" and {n - MOST_NAMED:,} more" if n > MOST_NAMED else ""
