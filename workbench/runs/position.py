"""The position of a run and the row that an iteration records: what the loop passes to the store."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from workbench.runs.scoring import Average


class RowsOfDocuments(Protocol):
    """Rows of documents of a state that are in parts."""

    def save(self, folder: Path) -> None: ...


class Position(NamedTuple):
    """Where a run is: the iteration that was completed and all that the next one needs."""

    iteration: int
    state: NamedTuple
    average: Average
    elapsed: float  # seconds of inference
    cpu_time: float  # CPU seconds of inference
    updates: int
    # who has the rows of documents, of state and average; None: the state and the average
    rows: RowsOfDocuments | None = None


class Row(NamedTuple):
    """What one iteration leaves behind."""

    iteration: int
    numbers: dict  # scalar by name; see models.variables
    # (topic,) by name, none where there are no topics; there may be more than in the rows before
    vectors: dict

    @property
    def n_topics(self) -> int:
        """The topics by then; 0 where the model has none."""
        return max(map(len, self.vectors.values()), default=0)
