"""Checks of a corpus before a run is started: empty documents, duplicates and near-duplicates."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import AnyCorpus, Corpus

MOST_NAMED = 3
"""Maximum of documents that a sentence names."""
NEAR = 0.9
"""Jaccard index of the tokens of two documents (shared by all) from which they are near-duplicates."""
BANDS, ROWS = 8, 8
"""Of MinHash: two documents are compared where all ROWS values of one of the BANDS are equal. At an index of 0.9 that happens
with a probability of 1 - (1 - 0.9**8)**8 = 0.99, at 0.95 of 0.9999, at 0.5 of 0.03."""
MOST_TOKENS = 10_000_000
"""Maximum of tokens of a corpus in which near-duplicates are searched for."""
CANDIDATES = 16
"""Maximum of earlier documents with which one is compared, so that a thousand copies of a letter do not give a million pairs.
Of KOS, which has such letters, all 16 near-duplicates are found with the last 16, and 10 with the first 16."""
COMPARED = 10_000
"""Pairs of documents that are compared at a time, to bound memory."""


REPEATED = KEEP, DROP = "keep", "drop"
"""What a reader does with documents that have the counts of an earlier one."""


class Quality(NamedTuple):
    """The indices of empty, duplicate and nearly duplicate documents, in ascending order."""

    empty: np.ndarray  # (found,) documents without tokens
    # (found,) documents with the counts of an earlier document that is not among them
    repeated: np.ndarray
    originals: np.ndarray  # (found,) the earlier document of each
    # (found,) near-duplicates of an earlier document, except those in `repeated`
    near: np.ndarray
    near_originals: np.ndarray  # (found,) the earlier document of each


def quality_of(corpus: AnyCorpus) -> Quality | None:
    """Return the empty, duplicate and nearly duplicate documents of a corpus; None if the corpus is sharded.

    Two documents are duplicates if their counts are equal: texts may differ in case, in stop words or in the order of words.
    They are near-duplicates if their Jaccard index is at least `NEAR`. Empty documents are not counted as duplicates.
    """
    if corpus.n_parts > 1:
        return None
    (corpus,) = corpus.parts()
    as_ids = _duplicates(corpus)
    others = np.setdiff1d(np.flatnonzero(np.diff(corpus.indptr)), as_ids[0])
    return Quality(
        np.flatnonzero(np.diff(corpus.indptr) == 0),
        *as_ids,
        *_near_duplicates(corpus.of_documents(others), others),
    )


def _near_duplicates(corpus: Corpus, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of near-duplicates, and the id of the earlier document that each resembles.

    The documents of ``corpus`` are distinct and not empty; ``ids`` has the id of each.
    Candidates come from MinHash and are compared exactly.
    """
    none = np.zeros(0, np.int64)
    if corpus.n_documents < 2 or corpus.n_tokens > MOST_TOKENS:
        return none, none
    pairs = np.array(list(_candidates(corpus)), np.int64).reshape(-1, 2)
    counts, n_tokens, near_pairs = corpus.to_scipy(), corpus.document_tokens, []
    for begin in range(0, len(pairs), COMPARED):
        earlier, later = pairs[begin : begin + COMPARED].T
        n_shared = counts[earlier].minimum(counts[later]).sum(axis=1)
        is_near = n_shared >= NEAR * (n_tokens[earlier] + n_tokens[later] - n_shared)
        near_pairs.append(pairs[begin : begin + COMPARED][is_near])
    earlier, later = np.concatenate([none.reshape(0, 2), *near_pairs]).T
    near_documents, first = np.unique(later, return_index=True)  # the earliest comes first
    return ids[near_documents], ids[earlier[first]]


def _candidates(corpus: Corpus) -> Iterator[tuple[int, int]]:
    """Yield pairs (earlier, later) of documents that MinHash finds similar, at most `CANDIDATES` per later document."""
    from datasketch import MinHash, MinHashLSH

    # of a word that a document has twice the second occurrence is a token of its own
    occurrence = np.arange(corpus.n_tokens) - np.repeat(corpus.tokens_before[:-1], corpus.counts)
    tokens = np.repeat(corpus.words, corpus.counts).astype(np.int64) << 32 | occurrence
    hashes = np.unique(tokens, return_inverse=True)[1].tolist()
    bounds = pairwise(corpus.tokens_before[corpus.indptr].tolist())
    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    documents = (hashes[begin:end] for begin, end in bounds)
    sketches = MinHash.generator(documents, num_perm=BANDS * ROWS, hashfunc=int)
    for later, sketch in enumerate(sketches):
        yield from ((earlier, later) for earlier in sorted(index.query(sketch))[-CANDIDATES:])
        index.insert(later, sketch)


def _duplicates(corpus: Corpus) -> list[np.ndarray]:
    """Return the indices of non-empty documents that have the counts of an earlier one, and those of the earlier ones."""
    first, repeated, originals = {}, [], []
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
    return [np.array(ids, np.int64) for ids in (repeated, originals)]


def without_repeated(corpus: Corpus) -> Corpus:
    """Return the corpus without duplicates of earlier documents; its ``reading`` says how many were left out."""
    repeated = _duplicates(corpus)[0]
    if not len(repeated):
        return corpus
    reduced = corpus.of_documents(np.setdiff1d(np.arange(corpus.n_documents), repeated))
    reading = dict(corpus.reading or {}) | {"content": reduced.content_hash}
    left_out = reading.get("left_out", {}) | {"repeated_documents": len(repeated)}
    return replace(reduced, reading=reading | {"left_out": left_out})


def describe_quality(corpus: AnyCorpus, quality: Quality | None = None) -> list[str]:
    """Return sentences on empty, duplicate and near-duplicate documents, where there are any, and on checks not made.

    ``quality``: as `quality_of` returns it, computed if None.
    """
    quality, sentences = quality or quality_of(corpus), []
    if quality is None:
        return [f"{corpus.name!r} is in shards; empty and repeated documents were not looked for"]
    of_corpus = f"of {corpus.n_documents:,} documents of {corpus.name!r}"
    for documents, originals, reason in (
        (quality.empty, None, "no word that is counted"),
        (quality.repeated, quality.originals, "the same words as an earlier one"),
        (
            quality.near,
            quality.near_originals,
            f"nearly the same words as an earlier one ({NEAR:.0%} of those of both)",
        ),
    ):
        if n := len(documents):
            verb = "has" if n == 1 else "have"
            sentences.append(
                f"{n:,} {of_corpus} {verb} {reason}: {_title_list(corpus, documents, originals)}"
            )
    if corpus.n_tokens > MOST_TOKENS:
        sentences.append(
            f"{corpus.name!r} has more than {MOST_TOKENS:,} tokens; nearly repeated documents were not looked for"
        )
    return sentences


def _title_list(corpus: Corpus, documents: np.ndarray, originals: np.ndarray | None) -> str:
    """Return the titles of the first documents as text, each with its original's title if ``originals`` are given."""
    names = [repr(corpus.titles[document]) for document in documents[:MOST_NAMED]]
    if originals is not None:
        names = [
            f"{name} as {corpus.titles[document]!r}"
            for name, document in zip(names, originals, strict=False)
        ]
    more = f" and {len(documents) - MOST_NAMED:,} more" if len(documents) > MOST_NAMED else ""
    return ", ".join(names) + more
