"""Documents in the order of their sequences, and their words by place on the stick, for engines of sequences."""

import hashlib
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import cached_by_corpus


class Sequences(NamedTuple):
    """The documents of all sequences as rows, one sequence after the other, each in the order of its positions."""

    documents: np.ndarray  # (row,) int64: the document of each row
    # (sequence + 1,) int64: the rows of sequence s are indptr[s]:indptr[s + 1]
    indptr: np.ndarray
    # (sequence,) int64: behind the last of its rows that has tokens; its first row where none has
    ends: np.ndarray
    # (sequence,) uint64: a hash of its name, so that draws do not depend on the order of sequences
    keys: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Row of each document, (document,)."""
        return np.argsort(self.documents)

    @property
    def pairs(self) -> np.ndarray:
        """Rows that follow another row of their sequence, up to its last tokens: (step,) int64."""
        after = [
            np.arange(first + 1, end)
            for first, end in zip(self.indptr[:-1], self.ends, strict=True)
        ]
        return np.concatenate(after).astype(np.int64)


class Counts(NamedTuple):
    """The pairs of a corpus by row and place on the stick."""

    indptr: np.ndarray  # (row + 1,) int64
    places: np.ndarray  # (pair,) int64: place on the stick of the word, ascending within a row
    counts: np.ndarray  # (pair,) int64
    pairs: np.ndarray  # (pair,) int64: where the pair stands in the corpus


@cached_by_corpus
def sequences_of(corpus: Corpus) -> Sequences:
    """Return the sequences of a training corpus; rows without tokens at the end of a sequence are to be forecast."""
    names, indptr, documents = corpus.by_sequence
    places = np.where(corpus.document_tokens[documents] > 0, np.arange(1, len(documents) + 1), 0)
    ends = np.maximum(np.maximum.reduceat(places, indptr[:-1]), indptr[:-1])
    keys = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") for name in names]
    return Sequences(documents, indptr, ends, np.array(keys, np.uint64))


def counts_of(pairs, sequences: Sequences, order: np.ndarray) -> Counts:
    """Return the pairs of a training or test corpus by row; order (word,): the word numbers in stick order."""
    rows, places = sequences.rows[pairs.documents], np.argsort(order)[pairs.words]
    by_row = np.lexsort((places, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(sequences.documents)))])
    return Counts(indptr, places[by_row], pairs.counts[by_row].astype(np.int64), by_row)
