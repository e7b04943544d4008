"""Padding and alignment of rows of topics."""

import numpy as np
import pytest

from workbench.kernels.simd.vectors import ALIGNMENT, LANES, aligned_zeros, pad_topics, padded


@pytest.mark.parametrize(
    ("n_topics", "lanes"), [(1, 16), (15, 16), (16, 16), (17, 32), (33, 48), (100, 112)]
)
def test_rows_are_padded_to_whole_lanes(n_topics, lanes):
    assert padded(n_topics) == lanes
    assert lanes % LANES == 0


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64, np.float64])
@pytest.mark.parametrize("shape", [(16,), (0, 16), (3, 32), (5, 7)])
def test_zeros_begin_on_a_cache_line(shape, dtype):
    for _ in range(20):
        array = aligned_zeros(shape, dtype)
        assert array.size == 0 or array.ctypes.data % ALIGNMENT == 0
        assert array.shape == shape
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert not array.any()


def test_padding_topics_hold_the_fill():
    row = pad_topics([0.5, 0.25], fill=1.0)
    assert row.tolist() == [0.5, 0.25] + [1.0] * 14
    assert not pad_topics(np.ones(17))[17:].any()
