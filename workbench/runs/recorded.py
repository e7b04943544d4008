"""What a run records of every iteration and keeps of every snapshot, and its position, which the loop passes to the store.

An engine names the scalars that it computes, a model the arrays that it brings (`recorded` of `workbench.models`). Arrays of an
iteration that are not along topics, whose number may grow, are stored in columns, cell by cell: ``alpha_theta[3]``.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from workbench.engines.engine import Data
from workbench.models import VARIABLES, Priors, Variable
from workbench.models.model import Estimate
from workbench.runs.scoring import Average
from workbench.runs.spec import RunSpec

if TYPE_CHECKING:
    import xarray as xr


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


def attributes(
    spec: RunSpec, made_with: dict, state: str, settled: int | None = None, taken_on: str = ""
) -> dict:
    """Return the attributes of a run's Dataset; ``stopped_early`` only where its rule ended it, ``taken_on`` where other
    kernels or machines computed than it was made with (`workbench.runs.store.provenance.describe_provenance`)."""
    values = {
        "title": f"{spec.label()} on {spec.corpus}{spec.size_text and ', '}{spec.size_text}",
        "name": spec.name,
        "engine": spec.engine,
        "state": state,
        "spec": spec.to_json(),
        "spec_hash": spec.hash,
        "corpus_hash": spec.train,
        "versions": json.dumps(made_with, sort_keys=True),
        "stopped_early": spec.rule.describe(settled) if settled and spec.rule else "",
        "taken_on": taken_on,
    }
    return {name: value for name, value in values.items() if value}


def label_rows(leaves: Recorded, rows: np.ndarray, attrs: dict) -> xr.Dataset:
    """Return the per-iteration part of rows (iteration, column) as `Recorded.values` makes them; NaN for missing topics."""
    import xarray as xr

    names, vectors, _, variables, sizes = leaves
    iteration = rows[:, 0].astype(np.int64)
    scalars = {
        name: rows[:, column].astype(np.int64) if name == "updates" else rows[:, column]
        for column, name in enumerate(names, start=1)
    }
    data = {
        name: (variables[name].dims, values, variables[name].attrs)
        for name, values in put_together(scalars, variables, sizes).items()
    }
    of_topics = np.nan_to_num(rows[:, 1 + len(names) :], nan=0.0)
    for column, name in enumerate(vectors):
        data[name] = (
            ("iteration", "topic"),
            of_topics[:, column :: len(vectors)],
            variables[name].attrs,
        )
    coords = {"iteration": ("iteration", iteration, {"long_name": "iteration"})}
    if vectors:
        coords["topic"] = np.arange(of_topics.shape[1] // len(vectors))
    return xr.Dataset(data, coords, attrs)


def model_of(run: xr.Dataset):
    """Return the model of a run, with the labels that its Dataset has (the authors of a network)."""
    return RunSpec.from_json(run.attrs["spec"]).parts()[1].with_coords(run.coords)


def last_snapshot(run: xr.Dataset) -> xr.Dataset:
    """Return the arrays of the last snapshot of a run, and what was recorded of its iteration."""
    last, iteration = run.isel(snapshot=-1), int(run["snapshot_iteration"][-1])
    return (
        last.sel(iteration=iteration)
        if iteration in run.indexes["iteration"]
        else last.drop_dims("iteration")
    )


def priors_of(run: xr.Dataset) -> Priors:
    """Return the priors behind the counts of a run's last snapshot: as learnt by then, or as they were given.

    run : a run's Dataset with at least one snapshot.
    """
    return model_of(run).priors(last_snapshot(run))


def label_counts(
    dataset: xr.Dataset,
    counts: xr.Dataset,
    iterations: np.ndarray,
    data: Data | None,
    leaves: Recorded,
) -> xr.Dataset:
    """Return the Dataset with the counts (snapshot, …) at the given iterations, and what the model estimates from the last."""
    _, model, _ = RunSpec.from_json(dataset.attrs["spec"]).parts(data)
    dataset = dataset.merge(counts)
    axis = "snapshot", iterations, {"long_name": "iteration of the snapshot"}
    dataset = dataset.assign_coords(snapshot_iteration=axis)
    estimates = model.estimates(last_snapshot(dataset), data) if len(iterations) else {}
    known, coords = (
        set(dataset.dims).union(*(leaves.variables[name].dims for name in estimates)),
        {},
    )
    for name, (labels, meaning, *along) in model.coords(data).items():
        dims = along or [name]
        if dims[0] in known:
            known.update(dims)
            labels = np.array(
                labels, dtype=None if isinstance(labels, (range, np.ndarray)) else object
            )
            coords[name] = dims, labels, {"long_name": meaning} if meaning else {}
    dataset = dataset.assign_coords(coords)
    for name in counts:
        dataset[name].attrs = leaves.variables[name].attrs
    dataset = dataset.assign(
        _as_variables(estimates, leaves, model.dims(data) | dict(dataset.sizes))
    )
    for name in estimates:
        dataset[name].attrs = leaves.variables[name].attrs
    return dataset


def _as_variables(estimates: dict, leaves: Recorded, sizes: dict[str, int]) -> dict:
    """Return what a model estimates by name, with dims; of an `Estimate` the rows that are used are computed when they are."""
    # a backend of xarray, which is slow to import
    from workbench.runs.lazy_arrays import Estimated, lazy_dataset

    arrays = {name: (leaves.variables[name].dims, values) for name, values in estimates.items()}
    lazy = {
        name: (dims, Estimated(values, tuple(sizes[dim] for dim in dims)))
        for name, (dims, values) in arrays.items()
        if isinstance(values, Estimate)
    }
    return arrays | dict(lazy_dataset(lazy).data_vars)
