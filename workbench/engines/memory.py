"""What an engine takes of memory, told in bytes by sizes alone: beside its arrays, and before any of them is made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.kernels.simd.lanes import padded

DOUBLE = 8
"""Bytes of a number of a float64 array."""


class Memory(NamedTuple):
    """Bytes that a run takes for its engine, beside what its corpus and every run take."""

    state: int = 0     # of the arrays of a state, held from step to step and written to checkpoints
    indices: int = 0   # of what is derived from the corpus and held beside the state
    step: int = 0      # at the most, besides, while a step is under way
    look: int = 0      # at the most, besides, while a state is watched, predicts, or gives its counts


def row_bytes(corpus, n_topics: int, dtype=np.float64) -> int:
    """Of counts of all documents and all words, (document, topic) and (word, topic), padded."""
    return (corpus.n_documents + corpus.n_words) * padded(n_topics) * np.dtype(dtype).itemsize


def responsibility_bytes(n_pairs: int, n_topics: int, dtype=np.float64) -> int:
    """Of one responsibility for each of so many pairs, padded."""
    return n_pairs * padded(n_topics) * np.dtype(dtype).itemsize


def partition_bytes(corpus, n_parts: int, n_pairs: int) -> int:
    """Of `partition.Partition`: so many pairs once more, by parts; one part of all pairs has those of the corpus itself."""
    if n_parts == 1 and n_pairs == corpus.n_pairs:
        return 0
    return n_pairs * (4 + 4 + 8 + 8) + n_parts * (corpus.n_documents + 1) * 8


def word_major_bytes(corpus) -> int:
    """Of `Corpus.by_word`: pairs in word-major order."""
    return corpus.n_pairs * (8 + 4) + (corpus.n_words + 1) * 8
