"""The arrays of a state, declared before they are made, and the bytes that a run takes for its engine."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.kernels.simd.lanes import aligned_zeros, padded

DOUBLE = 8
"""Bytes of a number of a float64 array."""


class Memory(NamedTuple):
    """Forecast of the bytes that an engine takes in a run, the corpus and the common part apart."""

    state: int = 0  # of the arrays of a state, held from step to step and written to checkpoints
    indices: int = 0  # of what is derived from the corpus and held beside the state
    step: int = 0  # at the most, besides, during a step
    # at the most, besides, while a state is watched, predicts, or gives its counts
    look: int = 0


class Array(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    dtype: type = np.float64


def zeros(arrays: dict[str, Array]) -> dict[str, np.ndarray]:
    """Return the arrays by name, filled with zeros."""
    return {name: aligned_zeros(*array) for name, array in arrays.items()}


def stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the arrays of several chains along a new first dimension; that of a single chain is not copied."""
    first, *others = arrays
    return np.stack(arrays) if others else first[None]


def size(arrays: dict[str, Array]) -> int:
    """Return the bytes of the arrays."""
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in arrays.values())


def topic_counts(
    name: str, corpus, n_topics: int, dtype=np.float64, of_topics=None
) -> dict[str, Array]:
    """Return arrays for counts: ``<name>_dk`` (document, topic), ``<name>_wk`` (word, topic), ``<name>_k`` (topic,), padded."""
    lanes = padded(n_topics)
    return {
        f"{name}_dk": Array((corpus.n_documents, lanes), dtype),
        f"{name}_wk": Array((corpus.n_words, lanes), dtype),
        f"{name}_k": Array((lanes,), of_topics or dtype),
    }


def partition_bytes(corpus, n_parts: int, n_pairs: int) -> int:
    """Return the bytes of a `partition.Partition`; one part of all pairs shares the arrays of the corpus, and takes 0."""
    if n_parts == 1 and n_pairs == corpus.n_pairs:
        return 0
    return (
        n_pairs * (4 + 4 + 8 + (8 if n_parts > 1 else 0)) + n_parts * (corpus.n_documents + 1) * 8
    )


def word_major_bytes(corpus) -> int:
    """Return the bytes of `Corpus.by_word`, the pairs in word-major order."""
    return corpus.n_pairs * (8 + 4) + (corpus.n_words + 1) * 8
