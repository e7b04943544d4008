"""Lazy arrays of a Dataset: they are read or computed when first used, and then cached by the Dataset."""

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core.indexing import IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter

from workbench.data.blocks import CHUNKS, as_slice, blocks, rows_at_once, sum_groups
from workbench.models.model import Estimate


def lazy_dataset(arrays: dict[str, tuple[tuple[str, ...], BackendArray]]) -> xr.Dataset:
    """Return a Dataset of lazy arrays, given as name → (dims, array); ``array.chunks`` is the shape of one read."""
    return xr.open_dataset(None, engine=_Arrays, arrays=arrays)


class _Arrays(BackendEntrypoint):
    """The xarray backend that opens lazy arrays and caches the values once read."""

    def open_dataset(self, filename_or_obj, *, drop_variables=None, arrays):
        return xr.Dataset(
            {
                name: xr.Variable(
                    dims,
                    LazilyIndexedArray(array),
                    {},
                    {CHUNKS: dict(zip(dims, array.chunks, strict=True))},
                )
                for name, (dims, array) in arrays.items()
            }
        )


class Estimated(BackendArray):
    """A lazy array (row, column) of an `Estimate`, which computes only the rows that are used, block by block."""

    def __init__(self, estimate: Estimate, shape: tuple[int, int]):
        self._estimate, self.shape, self.dtype = estimate, shape, np.dtype(np.float64)
        self.chunks = max(map(rows_at_once, estimate.arrays)), shape[1]

    def __getitem__(self, key):
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple) -> np.ndarray:
        rows, columns = key
        distinct_rows, inverse = np.unique(np.arange(self.shape[0])[rows], return_inverse=True)
        values = np.empty((len(distinct_rows), *np.shape(np.arange(self.shape[1])[columns])))
        for block in blocks(len(distinct_rows), self.chunks[0]):
            values[block] = self._estimate.rows(as_slice(distinct_rows[block]))[:, columns]
        return values if isinstance(rows, slice) and (rows.step or 1) > 0 else values[inverse]


class Summed(BackendArray):
    """A lazy array of sums over groups along a dimension of a variable, of which only the used parts are read."""

    def __init__(self, variable: xr.Variable, dim: str, groups: np.ndarray):
        """Sum ``variable`` over groups along ``dim``; ``groups`` has the group of each entry along it, -1 for none."""
        self._variable, self._dim, self._groups, self.dtype = variable, dim, groups, variable.dtype
        self._n_groups = int(groups.max()) + 1
        shape = variable.sizes | {dim: self._n_groups}
        chunks = shape | variable.encoding.get(CHUNKS, {}) | {dim: self._n_groups}
        self.shape, self.chunks = tuple(shape.values()), tuple(chunks.values())

    def __getitem__(self, key):
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple) -> np.ndarray:
        of_dim = dict(zip(self._variable.dims, key, strict=True))
        groups = {self._dim: of_dim.pop(self._dim)}
        part = self._variable.isel(of_dim)
        axis = part.get_axis_num(self._dim)
        sums = sum_groups(part.values, self._groups, self._n_groups, axis)
        return xr.Variable(part.dims, sums).isel(groups).values
