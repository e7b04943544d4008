"""What a run records of every iteration and keeps of every snapshot, and its position, which the loop passes to the store.

An engine names the scalars that it computes, a model the arrays that it brings (`recorded` of `workbench.models`). Arrays of an
iteration that are not along topics, whose number may grow, are stored in columns, cell by cell: ``alpha_theta[3]``.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from workbench.models import VARIABLES, Variable
from workbench.runs.scoring import Average
from workbench.runs.spec import RunSpec


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


CLOCKS = ("elapsed", "cpu_time", "updates")
PERPLEXITIES = (
    "test_perplexity",
    "test_perplexity_state",
    "test_perplexity_average",
    "test_perplexity_by_document",
    "test_perplexity_joint",
    "train_perplexity",
)
AVERAGES = ("test_perplexity_average", "test_perplexity_by_document", "test_perplexity_joint")
"""Those that average over iterations."""
CELL = re.compile(r"(.+)\[(\d+)\]")


class Recorded(NamedTuple):
    """What one run records and keeps: the columns of its rows, and the arrays of its snapshots.

    A row has its iteration, the scalars by name, then topic by topic the vectors.
    """

    names: tuple[str, ...]  # of the scalars of every iteration, and of cells of arrays
    # of what every iteration has of each topic; none where there are no topics
    vectors: tuple[str, ...]
    kept: tuple[str, ...]  # of what a snapshot holds
    variables: dict[str, Variable]  # all that there are, those of the model too
    sizes: dict[str, int]  # length of the dims that the model brings

    def as_stored(self, about: dict) -> Recorded:
        """Return the columns and arrays that the attributes of a run's group name.

        A run of an engine outside the package also says what its variables are.
        """
        brought = [
            Variable(name, tuple(dims), *of) for name, dims, *of in about.get("variables", [])
        ]
        return self._replace(
            names=tuple(about["columns"]),
            vectors=tuple(about["vectors"]),
            kept=tuple(about["kept"]),
            variables=self.variables | {variable.name: variable for variable in brought},
            sizes=self.sizes | about.get("sizes", {}),
        )

    def described(self) -> dict:
        """Return what `as_stored` reads of variables and sizes, for JSON."""
        brought = [variable for name, variable in self.variables.items() if name not in VARIABLES]
        return {"variables": brought, "sizes": self.sizes}

    def width(self, n_topics: int) -> int:
        """Return the number of columns of rows with ``n_topics`` topics."""
        return 1 + len(self.names) + n_topics * len(self.vectors)

    def n_topics(self, n_columns: int) -> int:
        """Return the number of topics that ``n_columns`` columns can hold."""
        return (n_columns - self.width(0)) // len(self.vectors) if self.vectors else 0

    def values(self, row: Row, n_topics: int) -> np.ndarray:
        """Return (column,) float64 of a `Row` of the loop, 0 for topics that are not there yet."""
        of_topics = np.zeros((n_topics, len(self.vectors)))
        for column, name in enumerate(self.vectors):
            of_topics[: len(row.vectors[name]), column] = row.vectors[name]
        return np.concatenate(
            [[row.iteration], [row.numbers[name] for name in self.names], of_topics.ravel()]
        )

    def shapes(self, sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array of a snapshot, given the length of every dim."""
        return {
            name: tuple(sizes[dim] for dim in self.variables[name].dims[1:]) for name in self.kept
        }


def recorded(spec: RunSpec) -> Recorded:
    """Return what a run records and keeps, in order."""
    engine, model, options = spec.parts()
    scored = PERPLEXITIES if spec.test is not None else PERPLEXITIES[-1:]
    clocks = CLOCKS
    # of how it was inferred nothing is known here: no time, no iterations to average over
    if not model.course:
        scored, clocks = tuple(name for name in scored if name not in AVERAGES), ()
    further = (
        [variable for scores in model.scores for variable in scores.variables]
        if spec.test is not None
        else []
    )
    variables, sizes = model.recorded(options), model.dims()
    of_topics = [variable.name for variable in variables if variable.dims == ("iteration", "topic")]
    cells = [
        variable
        for variable in variables
        if variable.dims[0] == "iteration" and variable.name not in of_topics
    ]
    return Recorded(
        (
            *clocks,
            *scored,
            *(variable.name for variable in further),
            *engine.watches,
            *(name for variable in cells for name in cells_of(variable, sizes)),
        ),
        tuple(of_topics),
        (
            *(variable.name for variable in variables if variable.dims[0] == "snapshot"),
            *engine.keeps,
        ),
        VARIABLES | {variable.name: variable for variable in (*further, *variables)},
        sizes,
    )


def cells_of(variable: Variable, sizes: dict[str, int]) -> list[str]:
    """Return the columns of an array of every iteration: its own name where it is a number."""
    if len(variable.dims) == 1:
        return [variable.name]
    return [
        f"{variable.name}[{i}]" for i in range(math.prod(sizes[dim] for dim in variable.dims[1:]))
    ]


def in_columns(numbers: dict) -> dict:
    """Return numbers of an iteration with arrays taken apart, cell by cell."""
    values = {}
    for name, value in numbers.items():
        if np.ndim(value):
            values |= {f"{name}[{i}]": cell for i, cell in enumerate(np.ravel(value))}
        else:
            values[name] = value
    return values


def put_together(
    data: dict[str, np.ndarray], variables: dict[str, Variable], sizes: dict[str, int]
) -> dict[str, np.ndarray]:
    """Return columns (iteration,) by name with those of an array as one (iteration, …)."""
    columns: dict[str, list] = {}
    for name, values in data.items():
        cell = CELL.fullmatch(name)
        columns.setdefault(cell[1] if cell else name, []).append(values)
    return {
        name: np.stack(columns_of_array, axis=-1).reshape(
            -1, *(sizes[dim] for dim in variables[name].dims[1:])
        )
        for name, columns_of_array in columns.items()
    }
