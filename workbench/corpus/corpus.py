"""A corpus as arrays: documents, word types and counts in document-major pairs.

A *pair* is a distinct word of a document together with its count, the only thing that an engine ever
reads. Pairs are sorted by document and then by word; the tokens of a pair are consecutive. This is
the canonical order in which tokens are numbered, drawn and given their random numbers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

MOST_TOKENS = 2**40
INT32_MAX = np.iinfo(np.int32).max


class CorpusError(ValueError):
    """What was wanted of a corpus, what came, and what to do about it, in one sentence."""


class WordMajor(NamedTuple):
    """The pairs of a corpus sorted by word and then by document."""

    indptr: np.ndarray     # (word + 1,) int64: the pairs of word w are indptr[w]:indptr[w + 1]
    documents: np.ndarray  # (pair,) int32
    pairs: np.ndarray      # (pair,) int64: where the pair stands in document-major order


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents as counts of words, checked once and never changed.

    Parameters
    ----------
    indptr : (document + 1,) int64
        The pairs of document d are ``indptr[d]:indptr[d + 1]``. Empty documents are legal.
    words : (pair,) int32
        Word type of each pair, ascending within a document.
    counts : (pair,) int32
        Tokens of each pair, at least 1.
    vocabulary : (word,) str
        One string per word type. Words that occur nowhere are legal and keep their place.
    titles : (document,) str
    authors, labels, times : optional, one entry per document
        A document's authors are a tuple of names.
    name : str
        What pages and file names call it.

    Raises
    ------
    CorpusError
        When the arrays do not fit together; `from_pairs` sorts and merges what does not come in order.
    """

    indptr: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    vocabulary: tuple[str, ...]
    titles: tuple[str, ...]
    authors: tuple | None = None
    labels: tuple | None = None
    times: tuple | None = None
    name: str = "corpus"

    def __post_init__(self):
        fix = object.__setattr__
        fix(self, "indptr", _frozen(self.indptr, np.int64, "indptr"))
        fix(self, "words", _frozen(self.words, np.int32, "words"))
        fix(self, "counts", _frozen(self.counts, np.int32, "counts"))
        for field in ("vocabulary", "titles", "authors", "labels", "times"):
            value = getattr(self, field)
            if value is not None:
                fix(self, field, tuple(tuple(entry) if isinstance(entry, list) else entry for entry in value))
        self._check()

    def _check(self):
        indptr, words, counts = self.indptr, self.words, self.counts
        if indptr.ndim != 1 or len(indptr) < 2 or indptr[0] != 0 or np.any(np.diff(indptr) < 0):
            raise CorpusError("indptr must begin with 0 and never fall, with one entry more than there are documents")
        if not len(words) == len(counts) == indptr[-1]:
            raise CorpusError(f"words, counts and indptr[-1] must agree; they are {len(words)}, {len(counts)} and {indptr[-1]}")
        if len(words) and (words.min() < 0 or words.max() >= len(self.vocabulary)):
            raise CorpusError(f"word ids must lie in 0..{len(self.vocabulary) - 1}; found {words.min()}..{words.max()}")
        if len(counts) and counts.min() < 1:
            raise CorpusError(f"counts must be at least 1; the smallest is {counts.min()}")
        falls = np.flatnonzero(np.diff(words) <= 0) + 1
        if len(np.setdiff1d(falls, indptr[1:-1])):
            raise CorpusError(
                "within a document each word may stand once, in ascending order; use Corpus.from_pairs to sort and merge"
            )
        for field in ("titles", "authors", "labels", "times"):
            value = getattr(self, field)
            if value is not None and len(value) != self.n_documents:
                raise CorpusError(f"{field} must have one entry per document ({self.n_documents}); it has {len(value)}")

    # ------------------------------------------------------------------ ways in

    @classmethod
    def from_pairs(cls, documents, words, counts, vocabulary=None, n_documents=None, n_words=None, **about) -> Corpus:
        """The corpus of coordinate triples, in any order; equal (document, word) rows are added up.

        Parameters
        ----------
        documents, words, counts : (row,) integers
            Zero-based ids. Rows with count 0 are dropped; floats are taken when they are whole numbers.
        vocabulary : (word,) str, default ``w0, w1, …``
        n_documents, n_words : int, default the largest id + 1
        **about
            titles, authors, labels, times, name.

        Raises
        ------
        CorpusError
            Non-integer or negative counts, ids out of range, or no token at all.
        """
        documents = _whole_numbers(documents, "document ids")
        words = _whole_numbers(words, "word ids")
        counts = _whole_numbers(counts, "counts")
        if not len(documents) == len(words) == len(counts):
            lengths = f"{len(documents)}, {len(words)} and {len(counts)}"
            raise CorpusError(f"documents, words and counts must have one length; they have {lengths}")
        if len(counts) and counts.min() < 0:
            raise CorpusError(f"counts must not be negative; row {int(np.argmin(counts))} has {counts.min()}")
        n_documents = _size(documents, n_documents, "document")
        n_words = _size(words, len(vocabulary) if n_words is None and vocabulary is not None else n_words, "word")
        if vocabulary is None:
            vocabulary = tuple(f"w{w}" for w in range(n_words))
        elif len(vocabulary) != n_words:
            raise CorpusError(f"the vocabulary must have {n_words} words; it has {len(vocabulary)}")
        used = counts > 0
        if not used.any():
            raise CorpusError("a corpus needs at least one token; none came")
        if not used.all():
            documents, words, counts = documents[used], words[used], counts[used]
        cells = documents * np.int64(n_words)
        cells += words
        if np.all(cells[1:] > cells[:-1]):  # sorted and merged as files mostly are: nothing to be sorted or added up
            totals = counts
        else:
            cells, inverse = np.unique(cells, return_inverse=True)
            words, totals = cells % n_words, np.bincount(inverse, weights=counts)
        if totals.max() > INT32_MAX or totals.sum() > MOST_TOKENS:
            raise CorpusError(f"a count may not exceed {INT32_MAX}; the largest is {int(totals.max())}")
        indptr = np.searchsorted(cells, np.arange(n_documents + 1, dtype=np.int64) * n_words)
        about.setdefault("titles", tuple(f"document {d}" for d in range(n_documents)))
        return cls(indptr, words, totals, vocabulary=vocabulary, **about)

    @classmethod
    def from_texts(cls, texts, titles=None, **options) -> Corpus:
        """The corpus of raw strings, one per document; see `workbench.corpus.text.count_words` for the options."""
        from workbench.corpus.text import count_words

        return count_words(texts, titles=titles, **options)

    def with_pairs(self, indptr, words, counts, **about) -> Corpus:
        """The same documents and vocabulary with other pairs (a split, a subset)."""
        kept = {field: getattr(self, field) for field in ("vocabulary", "titles", "authors", "labels", "times", "name")}
        return Corpus(indptr, words, counts, **(kept | about))

    def of_documents(self, documents) -> Corpus:
        """The corpus of these documents alone, in the order given; the vocabulary stays whole.

        ``documents`` are ids, at least one. A title, author, label or time goes with its document.
        """
        documents = np.asarray(documents, dtype=np.int64)
        lengths = np.diff(self.indptr)[documents]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        pairs = np.arange(indptr[-1]) + np.repeat(self.indptr[documents] - indptr[:-1], lengths)
        about = {
            field: tuple(values[d] for d in documents)
            for field in ("titles", "authors", "labels", "times")
            if (values := getattr(self, field)) is not None
        }
        return self.with_pairs(indptr, self.words[pairs], self.counts[pairs], **about)

    # ------------------------------------------------------------------ sizes

    @property
    def n_documents(self) -> int:
        """Documents, empty ones included."""
        return len(self.indptr) - 1

    @property
    def n_words(self) -> int:
        """Word types, unused ones included."""
        return len(self.vocabulary)

    @property
    def n_pairs(self) -> int:
        """Distinct words summed over documents."""
        return len(self.words)

    @cached_property
    def n_tokens(self) -> int:
        """Tokens, the sum of all counts."""
        return int(self.counts.sum(dtype=np.int64))

    @cached_property
    def tokens_before(self) -> np.ndarray:
        """(pair + 1,) int64: canonical number of the first token of each pair."""
        before = np.zeros(self.n_pairs + 1, np.int64)
        np.cumsum(self.counts, out=before[1:])
        return _sealed(before)

    @cached_property
    def document_tokens(self) -> np.ndarray:
        """(document,) int64: tokens of each document."""
        return _sealed(np.diff(self.tokens_before[self.indptr]))

    @cached_property
    def documents(self) -> np.ndarray:
        """(pair,) int32: the document of each pair."""
        return _sealed(np.repeat(np.arange(self.n_documents, dtype=np.int32), np.diff(self.indptr)))

    @cached_property
    def by_word(self) -> WordMajor:
        """The same pairs in word-major order."""
        pairs = np.argsort(self.words, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(self.words, minlength=self.n_words))])
        return WordMajor(_sealed(indptr), _sealed(self.documents[pairs]), _sealed(pairs))

    @cached_property
    def tokens_by_word(self) -> tuple[np.ndarray, np.ndarray]:
        """(pair,) int64 first token and (pair,) int32 count of each pair, in word-major order."""
        pairs = self.by_word.pairs
        return self.tokens_before[pairs], self.counts[pairs]

    @cached_property
    def content_hash(self) -> str:
        """sha256 (hex) of everything but the name; equal contents have equal hashes on every machine."""
        digest = hashlib.sha256()
        for array, kind in ((self.indptr, "<i8"), (self.words, "<i4"), (self.counts, "<i4")):
            digest.update(array.astype(kind, copy=False))
            digest.update(b"|")
        for field in (self.vocabulary, self.titles, self.authors, self.labels, self.times):
            digest.update(repr(field).encode() + b"|")
        return digest.hexdigest()

    def __repr__(self) -> str:
        return (
            f"Corpus({self.name!r}, {self.n_documents:,} documents, {self.n_words:,} words, "
            f"{self.n_pairs:,} pairs, {self.n_tokens:,} tokens)"
        )


def _frozen(array, dtype, name) -> np.ndarray:
    """A read-only contiguous copy of the array in the given integer type."""
    array = np.asarray(array)
    if array.dtype == dtype and not array.flags.writeable and array.flags.c_contiguous:
        return array
    if array.ndim != 1 or array.dtype.kind not in "iu":
        array = _whole_numbers(array, name)
    array = np.array(array, dtype=dtype, order="C")
    array.flags.writeable = False
    return array


def _sealed(array) -> np.ndarray:
    """The array itself, which nobody else holds, read-only from now on."""
    array.flags.writeable = False
    return array


def _whole_numbers(values, what: str) -> np.ndarray:
    """The values as int64; refuses what is not a whole number."""
    values = np.asarray(values)
    if values.ndim != 1:
        raise CorpusError(f"{what} must be one-dimensional; got {values.ndim} dimensions")
    if values.dtype.kind in "iub" or values.size == 0:
        return values.astype(np.int64, copy=False)
    if values.dtype.kind != "f":
        raise CorpusError(f"{what} must be whole numbers; got values of type {values.dtype}")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values == np.floor(values))))
    if len(wrong):
        raise CorpusError(f"{what} must be whole numbers; row {wrong[0]} has {values[wrong[0]]}")
    return values.astype(np.int64)


def _size(ids: np.ndarray, size: int | None, what: str) -> int:
    """How many documents or words there are, given ids and perhaps a stated size."""
    if len(ids) and ids.min() < 0:
        raise CorpusError(f"{what} ids begin with 0; row {int(np.argmin(ids))} has {ids.min()}")
    largest = int(ids.max()) + 1 if len(ids) else 0
    if size is None:
        return largest
    if largest > size:
        raise CorpusError(f"{what} ids must lie in 0..{size - 1}; row {int(np.argmax(ids))} has {largest - 1}")
    return int(size)
