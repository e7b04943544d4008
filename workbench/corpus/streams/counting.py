"""Documents that come one after the other, counted over a fixed vocabulary; they are never held all at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import INT32_MAX, Corpus
from workbench.corpus.objects import is_pair
from workbench.data.arrays import as_array
from workbench.errors import DataError, shown

WANTED = (
    "a document of a stream is a text, a list of tokens, a mapping of words to counts, or, with a vocabulary, a list of "
    "(word id, count) pairs"
)


class Counted(NamedTuple):
    """A document counted over a vocabulary."""

    words: np.ndarray  # (pair,) int32: numbers of its known words, ascending
    counts: np.ndarray  # (pair,) int32: tokens of each, at least 1
    n_unknown: int  # tokens whose word is not in the vocabulary


class Vocabulary:
    """The known words and their numbers.

    Parameters
    ----------
    words : (word,) str
        Of words that are spelt alike the first counts.
    words_of : function of a text that gives its words
        See `workbench.corpus.texts.words.analyser`.
    ids : (id,) str, optional
        Words of the ids in lists of (word id, count) pairs.
    """

    def __init__(
        self,
        words: Iterable[str],
        words_of: Callable[[str], list[str]],
        ids: Iterable[str] | None = None,
    ):
        self._place = {word: at for at, word in reversed(list(enumerate(words)))}
        self._words_of = words_of
        self._of_ids = None if ids is None else self._places(ids)

    def _places(self, words: Iterable[str]) -> np.ndarray:
        return np.fromiter((self._place.get(word, -1) for word in words), np.int64)

    def count(self, documents: Iterable) -> Iterator[Counted]:
        """Yield each document, counted; the DataError for an invalid one has its number."""
        for number, document in enumerate(documents):
            try:
                yield self._counted(document)
            except DataError as error:
                raise DataError(f"document {number} (counted from 0): {error}") from None

    def count_corpus(self, corpus: Corpus) -> Iterator[Counted]:
        """Yield the documents of a corpus, which may have another vocabulary."""
        place = self._places(corpus.vocabulary)
        for first, last in zip(corpus.indptr[:-1], corpus.indptr[1:], strict=True):
            yield _summed(place[corpus.words[first:last]], corpus.counts[first:last])

    def _counted(self, document) -> Counted:
        if isinstance(document, str):
            return self._tokens(self._words_of(document))
        if isinstance(document, Mapping):
            words, counts = list(document), list(document.values())
            if odd := [word for word in words if not isinstance(word, str)]:
                raise DataError(f"the words of a mapping are strings; got {shown(repr(odd[0]))}")
            return _summed(self._places(words), _checked_counts(counts))
        if isinstance(document, bytes) or not isinstance(document, Iterable):
            raise DataError(f"{WANTED}; got {shown(repr(document))}")
        items = list(document)
        if all(isinstance(item, str) for item in items):
            return self._tokens(items)
        if not all(map(is_pair, items)):
            raise DataError(f"{WANTED}; got {shown(repr(items))}")
        return self._pairs(items)

    def _tokens(self, tokens: list[str]) -> Counted:
        return _summed(self._places(tokens), np.ones(len(tokens), np.int64))

    def _pairs(self, pairs: list) -> Counted:
        if self._of_ids is None:
            raise DataError(
                "counts by word id need the words of the ids; give them with vocabulary=, or words in place of ids"
            )
        ids = as_array([word for word, _ in pairs], "word ids")
        if ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= len(self._of_ids):
            raise DataError(
                f"word ids must be whole numbers in 0..{len(self._of_ids) - 1}; got {shown(repr(ids.tolist()))}"
            )
        return _summed(self._of_ids[ids], _checked_counts([count for _, count in pairs]))


def _checked_counts(counts: list) -> np.ndarray:
    """(row,) int64."""
    found = as_array(counts, "counts")
    whole = not len(counts) or (
        found.dtype.kind in "iuf" and found.ndim == 1 and np.all(found == np.floor(found))
    )
    if not whole or found.min(initial=0) < 0 or found.max(initial=0) > INT32_MAX:
        raise DataError(
            f"counts must be whole numbers from 0 to {INT32_MAX}; got {shown(repr(counts))}"
        )
    return found.astype(np.int64)


def _summed(places: np.ndarray, counts: np.ndarray) -> Counted:
    """Return the document of word numbers, repeated and in any order; -1 stands for an unknown word."""
    known = (places >= 0) & (counts > 0)
    words, inverse = np.unique(places[known], return_inverse=True)
    totals = np.bincount(inverse, counts[known], len(words))
    if totals.max(initial=0) > INT32_MAX:
        raise DataError(f"a count may not exceed {INT32_MAX}; the largest is {int(totals.max())}")
    return Counted(words.astype(np.int32), totals.astype(np.int32), int(counts[places < 0].sum()))


def in_batches(documents: Iterable, size: int) -> Iterator[list]:
    """Yield lists of ``size`` documents; the last ``size`` + 1 to 2 ``size`` - 1 in two halves, so that none is tiny."""
    waiting: list = []
    for document in documents:
        waiting.append(document)
        if len(waiting) == 2 * size:
            yield waiting[:size]
            waiting = waiting[size:]
    half = -(-len(waiting) // 2) if len(waiting) > size else len(waiting)
    yield from filter(None, (waiting[:half], waiting[half:]))


def as_arrays(documents: list[Counted]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr (document + 1,), words and counts (pair,), as a Corpus has them."""
    indptr = np.concatenate([[0], np.cumsum([len(each.words) for each in documents])])
    return (
        indptr,
        np.concatenate([each.words for each in documents]),
        np.concatenate([each.counts for each in documents]),
    )
