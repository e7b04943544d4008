"""Keeps the rows and snapshots of a run in memory: the sink of ``fit(store=None)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.models import Variable
from workbench.runs.dataset import attributes, label_counts, label_rows
from workbench.runs.position import Position, Row
from workbench.runs.recorded import recorded
from workbench.runs.versions import versions

if TYPE_CHECKING:
    import xarray as xr


class MemorySink:
    """Collects the rows and snapshots of one run; `dataset` labels them."""

    def __init__(self, spec, train):
        self._spec, self._train = spec, train
        self._recorded = recorded(spec)
        self._n_topics = self._recorded.sizes.get("topic", 0)
        self._rows: list[Row] = []
        self._snapshots: dict[int, dict] = {}
        self.settled: int | None = None

    def record(self, row: Row) -> None:
        self._rows.append(row)
        self._n_topics = max(self._n_topics, row.n_topics)

    def snapshot(self, iteration: int, counts: dict) -> None:
        self._snapshots[iteration] = {
            name: np.array(counts[name], self._recorded.variables[name].dtype, order="C")
            for name in self._recorded.kept
        }

    def checkpoint(self, position: Position, now: bool) -> None:
        return

    def trail(self, name: str, iteration: int) -> list[tuple[int, float]]:
        return []  # a run in memory is never resumed

    def settle(self, iteration: int) -> None:
        self.settled = iteration

    def dataset(self, state: str) -> xr.Dataset:
        """The Dataset of the rows and snapshots so far."""
        import xarray as xr

        rows = [self._recorded.values(row, self._n_topics) for row in self._rows]
        rows = np.reshape(rows, (-1, self._recorded.width(self._n_topics)))
        labelled = label_rows(
            self._recorded, rows, attributes(self._spec, versions(), state, self.settled)
        )
        if not self._snapshots:
            return labelled
        counts = xr.Dataset(
            {
                name: (
                    each.dims,
                    np.stack(
                        [self._widened(each, taken[name]) for taken in self._snapshots.values()]
                    ),
                )
                for name, each in self._recorded.variables.items()
                if name in self._recorded.kept
            }
        )
        return label_counts(
            labelled, counts, np.array(list(self._snapshots)), self._train, self._recorded
        )

    def _widened(self, about: Variable, counts: np.ndarray) -> np.ndarray:
        """The counts with zeros for topics that came later."""
        missing = [
            self._n_topics - n if dim == "topic" else 0
            for dim, n in zip(about.dims[1:], counts.shape, strict=True)
        ]
        return np.pad(counts, [(0, n) for n in missing]) if any(missing) else counts
