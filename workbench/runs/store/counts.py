"""Read the counts of a run's snapshots as a lazy Dataset; a snapshot that was deleted since, or is damaged, is an error.

A run that continues thins its snapshots out (`workbench.runs.store.writer`), and Zarr reads what was deleted as zeros. So with
every read it is looked up whether the run still has what was read.
"""

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core.indexing import IndexingSupport, explicit_indexing_adapter

from workbench.runs.lazy_arrays import lazy_dataset
from workbench.runs.store.committed import Committed, Stored, read
from workbench.runs.store.layout import DamagedError


class SnapshotGone(ValueError):
    """The run has deleted a snapshot since the Dataset was made."""


def read_counts(stored: Stored, committed: Committed, iterations: np.ndarray) -> xr.Dataset:
    """Return the committed counts (snapshot, …) of a run, read when they are used.

    iterations : (slot,) the iteration that each slot holds now, 0 where it was deleted.

    Using a snapshot that was deleted since raises `SnapshotGone`, a damaged one a DamagedError.
    """
    dims = {name: stored.recorded.variables[name].dims for name in stored.counts}
    return lazy_dataset(
        {name: (dims[name], _OfSnapshots(stored, name, committed, iterations)) for name in dims}
    )


class _OfSnapshots(BackendArray):
    """A lazy array that checks at every read that its snapshots still exist."""

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
            values = read(self._stored.path, self._array, tuple(map(_within, key, self.shape)))
        except DamagedError:
            self._refuse_gone(slots)
            raise
        self._refuse_gone(slots)
        return values

    def _refuse_gone(self, slots: np.ndarray) -> None:
        now = self._stored.iterations(self._committed)
        if (gone := self._known[slots][self._known[slots] != now[slots]]).size:
            raise SnapshotGone(
                f"run '{self._stored.path.name}' has deleted its snapshot of iteration {gone[0]} since this Dataset was "
                "read; call dataset() again"
            )


def _within(part, n: int):
    """Return a slice clipped to the first ``n`` items, as stored arrays are longer; other indices unchanged."""
    return slice(*part.indices(n)) if isinstance(part, slice) else part
