"""Read the committed part of a run's arrays, for its readers and its writer."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.runs.recorded import Recorded, recorded
from workbench.runs.spec import RunSpec
from workbench.runs.store.chunks import fill_missing, read, refuse_missing
from workbench.runs.store.layout import DamagedError, open_arrays, open_group


class Committed(NamedTuple):
    """Numbers of valid rows, snapshots and topics of a run."""

    n_rows: int
    n_snapshots: int
    n_topics: int


class Stored:
    """The arrays of the run in a folder. A missing or damaged part is a DamagedError when it is read."""

    def __init__(self, path: Path, mode: str = "r"):
        self.path = Path(path)
        self.group = open_group(self.path, mode)
        self.about = dict(self.group.attrs)
        try:
            self.recorded: Recorded = recorded(RunSpec.from_json(self.about["spec"])).as_stored(
                self.about
            )
            self.versions = self.about["versions"]
        except KeyError as error:
            raise DamagedError.of(self.path, f"its attributes have no {error}") from error
        self.numbers, self.snapshot_iteration, self.counter = open_arrays(
            self.path, self.group, ("numbers", "snapshot_iteration", "committed")
        )
        self.counts = dict(
            zip(
                self.recorded.kept,
                open_arrays(self.path, self.group, self.recorded.kept),
                strict=True,
            )
        )

    @property
    def capacity(self) -> int:
        """Topics that the arrays can hold."""
        return self.recorded.n_topics(self.numbers.shape[1])

    def committed(self) -> Committed:
        """Return the commit counter; open the arrays again where they have grown."""
        self._refuse_missing(self.counter, [0])
        committed = Committed(*map(int, read(self.path, self.counter, slice(None))))
        if committed.n_topics > self.capacity:  # the arrays have grown since they were opened
            self.numbers, *counts = open_arrays(self.path, self.group, ("numbers", *self.counts))
            self.counts = dict(zip(self.counts, counts, strict=True))
            if committed.n_topics > self.capacity:
                raise DamagedError.of(
                    self.path,
                    f"{committed.n_topics} topics are committed and its arrays hold {self.capacity}",
                )
        return committed

    def rows(self, committed: Committed, after: int = 0) -> np.ndarray:
        """Return the committed rows (row, column) float64 from number ``after`` on."""
        n_columns = self.recorded.width(committed.n_topics)
        if committed.n_rows <= after:
            return np.empty((0, n_columns))
        self._refuse_missing(self.numbers, range(after, committed.n_rows), (n_columns,))
        return read(self.path, self.numbers, (slice(after, committed.n_rows), slice(n_columns)))

    def iterations(self, committed: Committed) -> np.ndarray:
        """Return the iteration of each snapshot (snapshot,); 0 where it was thinned out."""
        self._refuse_missing(self.snapshot_iteration, range(committed.n_snapshots))
        return read(self.path, self.snapshot_iteration, slice(committed.n_snapshots))

    def shape(self, name: str, n_topics: int) -> tuple[int, ...]:
        """Return the shape of one snapshot of an array at a number of topics."""
        dims, array = self.recorded.variables[name].dims, self.counts[name]
        return tuple(
            n_topics if dim == "topic" else n
            for dim, n in zip(dims[1:], array.shape[1:], strict=True)
        )

    def refuse_missing_counts(
        self, name: str, slots: Iterable[int], n_topics: int, of_rows: np.ndarray | None = None
    ) -> None:
        """Raise DamagedError where a chunk of these snapshots is missing; ``of_rows``: check chunks of these rows alone."""
        self._refuse_missing(self.counts[name], slots, self.shape(name, n_topics), of_rows)

    def fill(self, committed: Committed, iterations, before: Committed) -> None:
        """Write the chunks of new topics that no row or snapshot has written, so that no committed chunk is missing.

        before : the commit counter when chunks were last filled. A chunk within it that is missing was lost, and stays so.
        """
        now, then = ((self.recorded.width(each.n_topics),) for each in (committed, before))
        fill_missing(self.numbers, range(committed.n_rows), now, before.n_rows, then)
        for name, array in self.counts.items():
            now, then = (
                self.shape(name, n_topics) for n_topics in (committed.n_topics, before.n_topics)
            )
            fill_missing(array, np.flatnonzero(iterations).tolist(), now, before.n_snapshots, then)

    def _refuse_missing(
        self, array, rows: Iterable[int], shape: tuple[int, ...] = (), of_rows=None
    ) -> None:
        refuse_missing(self.path, array, rows, shape, of_rows)
