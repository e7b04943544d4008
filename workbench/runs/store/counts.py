"""The counts of a run's snapshots as a lazy Dataset, with an error where a snapshot was deleted since.

A run that goes on thins its snapshots out (`workbench.runs.store.writer`), and Zarr reads what was deleted as zeros. So after
every read it is looked up whether the run still has what was read.
"""

from pathlib import Path

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core.indexing import IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter


class SnapshotGone(ValueError):
    """A snapshot of a Dataset was deleted by its run since; the message names it and what to do."""


def read_counts(path: Path, arrays: dict[str, tuple], iterations, n_snapshots: int) -> xr.Dataset:
    """The arrays (snapshot, …) of a run at their full capacity of snapshots, read when they are used.

    arrays : by name, the dims and the array in the store.
    iterations : (slot,) the array in the store with the iteration that each slot holds now, 0 where it was deleted;
        the first ``n_snapshots`` of them are known.

    Using a snapshot that was deleted since raises `SnapshotGone`.
    """
    return xr.open_dataset(path, engine=_Counts, arrays=arrays, iterations=iterations, n_snapshots=n_snapshots)


class _Counts(BackendEntrypoint):
    """The backend through which xarray opens the arrays, and caches what was read."""

    def open_dataset(self, filename_or_obj, *, drop_variables=None, arrays, iterations, n_snapshots):
        known = iterations[:n_snapshots]
        return xr.Dataset({
            name: (dims, LazilyIndexedArray(_OfSnapshots(array, iterations, known, filename_or_obj)))
            for name, (dims, array) in arrays.items()
        })


class _OfSnapshots(BackendArray):
    """One of the arrays, that checks after every read that its snapshots are still there."""

    def __init__(self, array, iterations, known: np.ndarray, path: str):
        self._array, self._iterations, self._known, self._path = array, iterations, known, path
        self.shape, self.dtype = array.shape, array.dtype

    def __getitem__(self, key):
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple) -> np.ndarray:
        found, slots = self._array.oindex[key], key[0]
        known, now = np.atleast_1d(self._known[slots]), np.atleast_1d(self._iterations.oindex[slots])
        if (gone := known[known != now]).size:
            raise SnapshotGone(
                f"{Path(self._path).name} went on and has dropped its snapshot of iteration {gone[0]} since this Dataset was "
                "made; take its dataset() again"
            )
        return found
