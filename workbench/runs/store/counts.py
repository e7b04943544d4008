"""The counts of a run's snapshots as a lazy Dataset, with an error where a snapshot was deleted since, or is damaged.

A run that goes on thins its snapshots out (`workbench.runs.store.writer`), and Zarr reads what was deleted as zeros. So with
every read it is looked up whether the run still has what was read.
"""

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core.indexing import IndexingSupport, explicit_indexing_adapter

from workbench.runs.lazy_arrays import lazy_dataset
from workbench.runs.store.chunks import read
from workbench.runs.store.committed import Committed, Stored
from workbench.runs.store.layout import DamagedError


class SnapshotGone(ValueError):
    """A snapshot of a Dataset was deleted by its run since; the message names it and what to do."""


def read_counts(stored: Stored, committed: Committed, iterations: np.ndarray) -> xr.Dataset:
    """The counts (snapshot, …) of a run as far as they are committed, read when they are used.

    iterations : (slot,) the iteration that each slot holds now, 0 where it was deleted.

    Using a snapshot that was deleted since raises `SnapshotGone`, a damaged one a DamagedError.
    """
    dims = {name: stored.recorded.variables[name].dims for name in stored.counts}
    return lazy_dataset(
        {name: (dims[name], _OfSnapshots(stored, name, committed, iterations)) for name in dims}
    )


class _OfSnapshots(BackendArray):
    """One of the arrays, that checks with every read that its snapshots are still there."""

    def __init__(self, stored: Stored, name: str, committed: Committed, iterations: np.ndarray):
        self._stored, self._name, self._committed, self._known = stored, name, committed, iterations
        self._array = stored.counts[name]
        self.shape, self.dtype = (
            (len(iterations), *stored.shape(name, committed.n_topics)),
            self._array.dtype,
        )
        self.chunks = tuple(map(min, self._array.chunks, self.shape))

    def __getitem__(self, key):
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple) -> np.ndarray:
        slots = np.atleast_1d(np.arange(len(self._known))[key[0]])
        try:
            rows = np.atleast_1d(np.arange(self.shape[1])[key[1]]) if len(key) > 1 else None
            self._stored.refuse_missing_counts(
                self._name, slots.tolist(), self._committed.n_topics, rows
            )
            found = read(self._stored.path, self._array, tuple(map(_within, key, self.shape)))
        except DamagedError:
            self._refuse_gone(slots)
            raise
        self._refuse_gone(slots)
        return found

    def _refuse_gone(self, slots: np.ndarray) -> None:
        now = self._stored.iterations(self._committed)
        if (gone := self._known[slots][self._known[slots] != now[slots]]).size:
            raise SnapshotGone(
                f"{self._stored.path.name} went on and has dropped its snapshot of iteration {gone[0]} since this Dataset was "
                "made; take its dataset() again"
            )


def _within(part, n: int):
    """A slice as one that ends within the first ``n``, as the stored arrays are longer; all else as it is."""
    return slice(*part.indices(n)) if isinstance(part, slice) else part
