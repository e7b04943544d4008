"""Arrays of frozen data: checked, copied where others could change them, read-only."""

import numpy as np

from workbench.errors import DataError


def whole_numbers(values, what: str) -> np.ndarray:
    """The values as (row,) int64; refuses what is not a whole number, with its row."""
    values = np.asarray(values)
    if values.ndim != 1:
        raise DataError(f"{what} must be one-dimensional; got {values.ndim} dimensions")
    if values.dtype.kind in "iub" or values.size == 0:
        return values.astype(np.int64, copy=False)
    if values.dtype.kind != "f":
        raise DataError(f"{what} must be whole numbers; got values of type {values.dtype}")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values == np.floor(values))))
    if len(wrong):
        raise DataError(f"{what} must be whole numbers; row {wrong[0]} has {values[wrong[0]]}")
    return values.astype(np.int64)


def frozen(array, dtype, name: str = "") -> np.ndarray:
    """A read-only contiguous copy in the given type; with a name, of a one-dimensional array of whole numbers."""
    array = np.asarray(array)
    if array.dtype == dtype and not array.flags.writeable and array.flags.c_contiguous:
        return array
    if name and (array.ndim != 1 or array.dtype.kind not in "iu"):
        array = whole_numbers(array, name)
    return sealed(np.array(array, dtype=dtype, order="C"))


def sealed(array: np.ndarray) -> np.ndarray:
    """The array itself, made read-only."""
    array.flags.writeable = False
    return array
