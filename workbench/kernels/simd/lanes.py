"""Rows of topics, padded to 16 and aligned to 64 bytes.

A row of counts then never straddles a cache line that it need not touch, and loops over topics have
a length that fills vector registers. Padding topics hold zero counts and zero prior, so they are never
drawn and never weigh.
"""

import numpy as np

LANES = 16
ALIGNMENT = 64
LINE = ALIGNMENT // 8
"""Numbers of float64 in a cache line."""


def padded(n_topics: int) -> int:
    """The number of topics rounded up to whole lanes."""
    return -(-n_topics // LANES) * LANES


def aligned_zeros(shape: tuple[int, ...], dtype) -> np.ndarray:
    """A zeroed C-contiguous array whose first byte lies on a 64-byte boundary."""
    return _aligned(np.zeros, shape, np.dtype(dtype))


def aligned_empty(shape: tuple[int, ...], dtype) -> np.ndarray:
    """An uninitialised C-contiguous array whose first byte lies on a 64-byte boundary."""
    return _aligned(np.empty, shape, np.dtype(dtype))


def aligned_copy(values: np.ndarray) -> np.ndarray:
    """A C-contiguous copy whose first byte lies on a 64-byte boundary."""
    array = aligned_empty(values.shape, values.dtype)
    array[...] = values
    return array


def _aligned(make, shape, dtype) -> np.ndarray:
    n_bytes = int(np.prod(shape)) * dtype.itemsize
    raw = make(n_bytes + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + n_bytes].view(dtype).reshape(shape)


def pad_topics(values, fill: float = 0.0) -> np.ndarray:
    """One float64 value per topic, followed by ``fill`` for the padding topics."""
    row = np.full(padded(len(values)), fill)
    row[: len(values)] = values
    return row
