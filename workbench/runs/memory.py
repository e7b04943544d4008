"""A run that is kept in memory: the sink behind ``fit(store=None)``."""

from __future__ import annotations

import numpy as np
import xarray as xr

from workbench.models import VARIABLES
from workbench.runs.dataset import COUNTS, attributes, label_counts, label_rows, versions
from workbench.runs.loop import Position, Row, columns


class MemorySink:
    """Takes in rows and snapshots of one run and gives its Dataset."""

    def __init__(self, spec, train):
        self._spec, self._train = spec, train
        engine, self._model, _ = spec.parts()
        self._names = columns(spec, engine)
        self._rows: list[np.ndarray] = []
        self._snapshots: dict[int, dict] = {}
        self.settled: int | None = None

    def record(self, row: Row) -> None:
        self._rows.append(np.concatenate([[row.iteration], [row.numbers[name] for name in self._names], row.n_k]))

    def snapshot(self, iteration: int, counts: dict) -> None:
        self._snapshots[iteration] = {name: np.array(values, float, order="C") for name, values in counts.items()}

    def checkpoint(self, position: Position, now: bool) -> None:
        return

    def trail(self, name: str, iteration: int) -> list[tuple[int, float]]:
        return []  # a run in memory is never resumed

    def settle(self, iteration: int) -> None:
        self.settled = iteration

    def dataset(self, state: str) -> xr.Dataset:
        """What came in, labelled."""
        rows = np.stack(self._rows) if self._rows else np.empty((0, 1 + len(self._names) + self._model.n_topics))
        labelled = label_rows(self._names, rows, attributes(self._spec, versions(), state, self.settled))
        if not self._snapshots:
            return labelled
        counts = xr.Dataset({
            name: (VARIABLES[name].dims, np.stack([snapshot[name] for snapshot in self._snapshots.values()])) for name in COUNTS
        })
        return label_counts(labelled, counts, np.array(list(self._snapshots)), self._train, self._model)
