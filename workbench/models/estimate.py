"""What a model estimates from rows of counts, computed for the rows that are wanted when they are wanted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class Estimate:
    """An array each row of which is computed from the same row of others, as theta from n_dk; `numpy.asarray` gives all rows.

    Parameters
    ----------
    compute : (row, …) float64 of the same rows of each of the arrays
    *arrays : (row, …)
        Counts, which may lie on a disk: read by slices or numbers of rows, ascending.
    """

    def __init__(self, compute: Callable[..., np.ndarray], *arrays):
        self._compute, self.arrays = compute, arrays

    def rows(self, wanted: slice | np.ndarray) -> np.ndarray:
        """(row, …) float64 of these rows alone, with the bits that they have among all."""
        return self._compute(*(np.asarray(values[wanted]) for values in self.arrays))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.rows(slice(None)).astype(dtype or np.float64, copy=False)
