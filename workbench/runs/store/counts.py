"""Read the counts of a run's snapshots as a lazy Dataset, which raises an error for a deleted or damaged snapshot.

A run that continues deletes some of its old snapshots (`workbench.runs.store.writer`), and Zarr reads deleted data as zeros. So
every read checks that the run still has the snapshots.
"""

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core.indexing import IndexingSupport, explicit_indexing_adapter

from workbench.runs.lazy_arrays import lazy_dataset
from workbench.runs.store.committed import Committed, Stored, read
from workbench.runs.store.layout import DamagedError


class SnapshotGone(ValueError):
    """Raised if a snapshot was deleted from the run after the Dataset was made."""


def read_counts(stored: Stored, committed: Committed, iterations: np.ndarray) -> xr.Dataset:
    """Return the committed counts (snapshot, …) of a run as a lazy Dataset.

    iterations (snapshot,) : the iteration of each snapshot, 0 for a deleted one

    Using a snapshot raises `SnapshotGone` if it was deleted since, and DamagedError if it is damaged.
    """
    dims = {name: stored.recorded.variables[name].dims for name in stored.counts}
    return lazy_dataset(
        {name: (dims[name], _SnapshotArray(stored, name, committed, iterations)) for name in dims}
    )


class _SnapshotArray(BackendArray):
    """A lazy array that checks at every read that the run still has the snapshots."""

    def __init__(self, stored: Stored, name: str, committed: Committed, iterations: np.ndarray):
        self._stored, self._name, self._committed, self._iterations = (
            stored,
            name,
            committed,
            iterations,
        )
        self._array = stored.counts[name]
        self.shape, self.dtype = (
            (len(iterations), *stored.shape(name, committed.n_topics)),
            self._array.dtype,
        )
        self.chunks = tuple(map(min, self._array.chunks, self.shape))

    def __getitem__(self, key):
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple) -> np.ndarray:
        slots = np.atleast_1d(np.arange(len(self._iterations))[key[0]])
        try:
            rows = np.atleast_1d(np.arange(self.shape[1])[key[1]]) if len(key) > 1 else None
            self._stored.refuse_missing_counts(
                self._name, slots.tolist(), self._committed.n_topics, rows
            )
            values = read(self._stored.path, self._array, tuple(map(_clip, key, self.shape)))
        except DamagedError:
            self._refuse_gone(slots)
            raise
        self._refuse_gone(slots)
        return values

    def _refuse_gone(self, slots: np.ndarray) -> None:
        iterations = self._stored.iterations(self._committed)
        if (deleted := self._iterations[slots][self._iterations[slots] != iterations[slots]]).size:
            raise SnapshotGone(
                f"run '{self._stored.path.name}' has deleted its snapshot of iteration {deleted[0]} since this Dataset was "
                "read; call dataset() again"
            )


def _clip(part, n: int):
    """Clip a slice to the first ``n`` items, as the stored array may be longer; return other indices unchanged."""
    return slice(*part.indices(n)) if isinstance(part, slice) else part
