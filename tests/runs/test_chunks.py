"""Rows that are written past Zarr are what Zarr would have written."""

import numpy as np
import pytest
import zarr

from workbench.runs.store import layout
from workbench.runs.store.committed import put_rows

ROWS = np.array([[0.0, np.nan, -1.5], [1e300, 2.0, 0.0], [3.0, 4.0, 5.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("chunks", "packed", "start"),
    [
        ((4, 3), None, 0),
        ((4, 3), None, 8),  # one file
        ((4, 3), layout.ROWS, 0),
        ((4, 3), layout.ROWS, 8),
        ((4, 3), layout.ROWS, 2),  # with checksums
        ((4, 2), None, 4),
        ((4, 3), layout.COUNTS, 4),
        ((2, 3), None, 4),
        ((4, 3), None, 2),  # several, packed, parts of some
    ],
)
def test_rows_are_there_and_their_files_are_those_of_zarr(chunks, packed, start, tmp_path):
    group = zarr.create_group(str(tmp_path / "data"))
    for name in ("ours", "zarrs"):
        group.create_array(
            name,
            shape=(12, 3),
            chunks=chunks,
            dtype="float64",
            fill_value=np.nan,
            compressors=packed,
        )
    with zarr.config.set({"array.write_empty_chunks": True}):
        ours, zarrs = group["ours"], group["zarrs"]
    put_rows(ours, start, ROWS)
    zarrs[start : start + 4] = ROWS
    np.testing.assert_array_equal(ours[:], zarrs[:])
    files = [
        {
            path.relative_to(tmp_path / "data" / name): path.read_bytes()
            for path in (tmp_path / "data" / name).rglob("*")
            if path.is_file()
        }
        for name in ("ours", "zarrs")
    ]
    assert files[0] == files[1] and len(files[0]) > 1


def test_whole_numbers_are_written_in_the_type_of_the_array(tmp_path):
    group = zarr.create_group(str(tmp_path / "data"))
    array = group.create_array("one", shape=(3,), chunks=(3,), dtype="int64", compressors=None)
    put_rows(array, 0, np.array([1, 2, 3], np.int32))
    assert array[:].tolist() == [1, 2, 3]
