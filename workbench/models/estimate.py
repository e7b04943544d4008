"""Arrays that a model estimates from counts, computed row by row when they are read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class Estimate:
    """An array whose rows are computed from the same rows of others, as theta from n_dk; `numpy.asarray` gives all.

    Parameters
    ----------
    compute : (row, …) float64 of the same rows of each of the arrays
    *arrays : (row, …)
        Counts, which may lie on a disk: read by slices or numbers of rows, ascending.
    """

    def __init__(self, compute: Callable[..., np.ndarray], *arrays):
        self._compute, self.arrays = compute, arrays

    def rows(self, wanted: slice | np.ndarray) -> np.ndarray:
        """Return these rows alone (row, …) float64, with the bits that they have among all rows."""
        return self._compute(*(np.asarray(values[wanted]) for values in self.arrays))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.rows(slice(None)).astype(dtype or np.float64, copy=False)
