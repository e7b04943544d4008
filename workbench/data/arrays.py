"""Read-only arrays: check, convert and freeze them; and convert entries to Python's own types."""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from workbench.errors import DataError

PLAIN = {str, int, float, bool, type(None)}
"""Types that JSON, and so a stored file, can hold."""


def as_array(values: object, what: str) -> np.ndarray:
    """Return the values as an array; raise an error for rows of different lengths."""
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{what} must be an array; got values that make none ({error})") from None


def whole_numbers(values: object, what: str, dtype: np.typing.DTypeLike = np.int64) -> np.ndarray:
    """Return the values (row,) as integers; the error for a value too large or not whole names its row."""
    values = as_array(values, what)
    if values.ndim != 1:
        raise DataError(f"{what} must be one-dimensional; got {values.ndim} dimensions")
    if values.dtype.kind not in "iubf" and values.size:
        raise DataError(f"{what} must be whole numbers; got values of type {values.dtype}")
    return narrowed(values, what, dtype)


def narrowed(values: np.ndarray, what: str, dtype: np.typing.DTypeLike) -> np.ndarray:
    """Return numbers (row, …) in an integer type; the error for one too large or not whole names its row."""
    if values.size == 0 or np.can_cast(values.dtype, dtype):
        return values.astype(dtype, copy=False)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if values.dtype.kind == "f":
        wrong = np.argwhere(~(np.isfinite(values) & (values == np.floor(values))))
        if len(wrong):
            raise DataError(
                f"{what} must be whole numbers; row {wrong[0][0]} has {values[tuple(wrong[0])]}"
            )
        fits = (values >= float(low)) & (values < 2.0 ** round(math.log2(high)))
    else:
        fits = (values >= low) & (values <= high)
    if not fits.all():
        wrong = np.argwhere(~fits)[0]
        raise DataError(
            f"{what} must lie in {low}..{high}; row {wrong[0]} has {values[tuple(wrong)]}"
        )
    return values.astype(dtype)


def frozen(array, dtype: np.typing.DTypeLike, what: str) -> np.ndarray:
    """Return a contiguous, read-only array of the integer type ``dtype``, copied if needed; errors call it ``what``."""
    array = as_array(array, what)
    if array.dtype == dtype and not array.flags.writeable and array.flags.c_contiguous:
        return array
    if array.dtype.kind not in "iu":
        array = whole_numbers(array, what, dtype)
    return sealed(np.array(narrowed(array, what, dtype), order="C"))


def sealed(array: np.ndarray) -> np.ndarray:
    """Make the array read-only and return it."""
    array.flags.writeable = False
    return array


def plain_values(values: Iterable, what: str) -> tuple:
    """Return the values as a tuple of Python's own types, not numpy's, so that equal contents have equal hashes.

    Lists become tuples; other values, such as dates, do not change.
    """
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise DataError(f"{what} must be a list, an entry for each; got {values!r}")
    values = tuple(values)
    if set(map(type, values)) <= PLAIN:
        return values
    return tuple(map(_plain, values))


def _plain(value: object):
    """Return one value with numpy scalars converted to Python's types."""
    value = value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
    if isinstance(value, (tuple, list)):
        return tuple(map(_plain, value))
    return value
