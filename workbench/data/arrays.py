"""Read-only arrays: check, convert and freeze them; and convert entries to Python's own types."""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from workbench.errors import DataError

PLAIN = {str, int, float, bool, type(None)}
"""Types that JSON, and so a stored file, can hold."""


def as_array(values: object, description: str) -> np.ndarray:
    """Return the values as an array; raise an error for rows of different lengths."""
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(
            f"{description} must be an array; got values that make none ({error})"
        ) from None


def whole_numbers(
    values: object, description: str, dtype: np.typing.DTypeLike = np.int64
) -> np.ndarray:
    """Return the values (row,) as integers; the error for a value too large or not whole names its row."""
    values = as_array(values, description)
    if values.ndim != 1:
        raise DataError(f"{description} must be one-dimensional; got {values.ndim} dimensions")
    if values.dtype.kind not in "iubf" and values.size:
        raise DataError(f"{description} must be whole numbers; got values of type {values.dtype}")
    return narrowed(values, description, dtype)


def narrowed(values: np.ndarray, description: str, dtype: np.typing.DTypeLike) -> np.ndarray:
    """Return numbers (row, …) in an integer type; the error for one too large or not whole names its row."""
    if values.size == 0 or np.can_cast(values.dtype, dtype):
        return values.astype(dtype, copy=False)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if values.dtype.kind == "f":
        positions = np.argwhere(~(np.isfinite(values) & (values == np.floor(values))))
        if len(positions):
            raise DataError(
                f"{description} must be whole numbers; row {positions[0][0]} has {values[tuple(positions[0])]}"
            )
        is_within = (values >= float(low)) & (values < 2.0 ** round(math.log2(high)))
    else:
        is_within = (values >= low) & (values <= high)
    if not is_within.all():
        positions = np.argwhere(~is_within)[0]
        raise DataError(
            f"{description} must lie in {low}..{high}; row {positions[0]} has {values[tuple(positions)]}"
        )
    return values.astype(dtype)


def frozen(array, dtype: np.typing.DTypeLike, description: str) -> np.ndarray:
    """Return a contiguous, read-only array of the integer type ``dtype``, copied if needed; errors call it ``description``."""
    array = as_array(array, description)
    if array.dtype == dtype and not array.flags.writeable and array.flags.c_contiguous:
        return array
    if array.dtype.kind not in "iu":
        array = whole_numbers(array, description, dtype)
    return sealed(np.array(narrowed(array, description, dtype), order="C"))


def sealed(array: np.ndarray) -> np.ndarray:
    """Make the array read-only and return it."""
    array.flags.writeable = False
    return array


def plain_values(values: Iterable, description: str) -> tuple:
    """Return the values as a tuple of Python's own types, not numpy's, so that equal contents have equal hashes.

    Lists become tuples; other values, such as dates, do not change.
    """
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise DataError(f"{description} must be a list, an entry for each; got {values!r}")
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
