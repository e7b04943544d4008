"""Read the rows, settings, state and Dataset of a run, also while it is being written."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.corpus import AnyCorpus
from workbench.corpus.document_table import DocumentTable
from workbench.runs.recorded import Recorded, attributes, label_counts, label_rows
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.archive import get_table, train_of
from workbench.runs.store.committed import Stored
from workbench.runs.store.notes import NoteError, with_labels
from workbench.runs.store.provenance import KERNELS, computed_on, describe_provenance, provenance
from workbench.runs.store.status import read_ending, read_spec, read_status

if TYPE_CHECKING:
    import xarray as xr


class RunReader:
    """A reader of the committed part of a run, also while the run is being written.

    ``recorded`` has the columns of the rows and the variables of the snapshots.
    """

    def __init__(self, path: Path):
        self.path, self._stored = Path(path), Stored(path)
        self._attributes, self._versions = self._stored.attributes, self._stored.versions
        self.recorded: Recorded = self._stored.recorded

    def rows(self, after: int = 0) -> np.ndarray:
        """Return the committed rows (row, column) float64 after the first ``after``: iteration, scalars, topics."""
        return self._stored.rows(self._stored.committed(), after)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each snapshot array, keyed by name, with the committed number of topics; fast."""
        n_topics = self._stored.committed().n_topics
        return {name: self._stored.shape(name, n_topics) for name in self._stored.counts}

    @property
    def spec(self) -> RunSpec:
        """The run's settings, with the current number of iterations and stop rule; fast."""
        return read_spec(self.path, self._attributes)

    @property
    def table(self) -> DocumentTable | None:
        """The texts and other columns of the training documents; None if they were not kept."""
        name = self.spec.table
        return name and get_table(self.path.parent, name)

    @property
    def readable_table(self) -> DocumentTable | None:
        """The same; None also if they cannot be read, such as after their removal from the store."""
        try:
            return self.table
        except SpecError:
            return None

    def provenance(self) -> list[list]:
        """Return the versions of the compiled kernels that computed the run, as a list of [iteration, hash]."""
        return provenance(self.path, self._versions)

    def describe_provenance(self) -> str:
        """Describe the kernels and machines that computed the run; "" if they never changed."""
        return describe_provenance(
            self.provenance(), computed_on(self.path, self._versions), self._versions
        )

    def by_other_kernels(self) -> bool:
        """Return whether the last committed row was computed by other kernels than this process has."""
        return self.provenance()[-1][1] != KERNELS and self._stored.committed().n_rows > 0

    def status(self) -> dict:
        """Return state, iteration, n_iterations, time_left (seconds or None) and message as a dict; fast."""
        return read_status(self.path, self._attributes)

    def progress(self) -> xr.Dataset:
        """Return the per-iteration variables as a Dataset; fast enough to be called every second."""
        return self._labelled(self.rows())

    def _labelled(self, rows: np.ndarray) -> xr.Dataset:
        settled, spec = read_ending(self.path, self._attributes).settled, self.spec
        attrs = attributes(
            spec,
            self._versions,
            self.status()["state"],
            rows,
            settled,
            self.describe_provenance(),
        )
        return label_rows(self.recorded, rows, attrs, spec)

    def dataset(self, train: AnyCorpus | None = None) -> xr.Dataset:
        """Return the Dataset of all committed iterations and snapshots; counts are read when they are used.

        train : the training corpus, by default read from the store
        Using a snapshot that the run has deleted meanwhile raises `counts.SnapshotGone`.
        """
        # a backend of xarray, which is slow to import
        from workbench.runs.store.counts import read_counts

        committed = self._stored.committed()
        iterations = self._stored.iterations(committed)
        slots = np.flatnonzero(iterations)
        counts = read_counts(self._stored, committed, iterations).isel(
            snapshot=slots, missing_dims="ignore"
        )
        train = train or train_of(self.path.parent, self.spec)
        labelled = label_counts(
            self._labelled(self._stored.rows(committed)),
            counts,
            iterations[slots],
            train,
            self.recorded,
            self.spec,
        )
        try:
            return with_labels(labelled, self.path)
        except NoteError as error:  # damaged notes must not hide the results
            warnings.warn(str(error), stacklevel=2)
            return labelled
