"""The variables that a run records in every iteration and keeps in every snapshot, and the position of a run.

An engine names its scalars, and a model its arrays (`recorded` in `workbench.models`). Per-iteration arrays with other dims
than topics, whose number may grow, are stored in columns, cell by cell: ``alpha_theta[3]``.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.engines.engine import Data
from workbench.engines.options import options_of
from workbench.models import VARIABLES, Priors, Variable
from workbench.models.model import Estimate
from workbench.runs.interventions import values_of
from workbench.runs.scoring import Average
from workbench.runs.spec import RunSpec

if TYPE_CHECKING:
    import xarray as xr


class Position(NamedTuple):
    """The position of a run: the last completed iteration and all that the next iteration needs."""

    iteration: int
    state: NamedTuple
    average: Average
    elapsed: float  # seconds of inference
    cpu_time: float  # CPU seconds of inference
    updates: int
    # the document arrays of state and average, if they are in parts, which save(folder) writes; None if they are in these
    rows: Any = None


class Row(NamedTuple):
    """The recorded values of one iteration."""

    iteration: int
    numbers: dict  # scalars by name; see models.variables
    # (topic,) arrays by name, empty without topics; they may be longer than in earlier rows
    vectors: dict

    @property
    def n_topics(self) -> int:
        """Number of topics at this iteration; 0 if the model has none."""
        return max(map(len, self.vectors.values()), default=0)


CLOCKS = ("elapsed", "cpu_time", "updates")
TEST_PERPLEXITIES = (
    "test_perplexity",
    "test_perplexity_state",
    "test_perplexity_average",
    "test_perplexity_by_document",
    "test_perplexity_joint",
)
AVERAGES = ("test_perplexity_average", "test_perplexity_by_document", "test_perplexity_joint")
"""Perplexities of predictions that are averaged over iterations."""
CELL = re.compile(r"(.+)\[(\d+)\]")


class Recorded(NamedTuple):
    """What a run records: the columns of its rows, and the arrays of its snapshots.

    The columns of a row are the iteration, the scalars, then topic by topic the vectors.
    """

    names: tuple[str, ...]  # names of the scalars of every iteration, and of cells of arrays
    # names of the arrays (topic,) of every iteration; empty without topics
    vectors: tuple[str, ...]
    snapshot_names: tuple[str, ...]  # names of the arrays of a snapshot
    variables: dict[str, Variable]  # all variables by name, including those of the model
    sizes: dict[str, int]  # lengths of the dims of the model

    def as_stored(self, attributes_of_run: dict) -> Recorded:
        """Return the columns and arrays of a stored run, as the attributes of its Zarr group list them.

        For an engine outside the package the attributes also describe its variables.
        """
        added = [
            Variable(name, tuple(dims), *rest)
            for name, dims, *rest in attributes_of_run.get("variables", [])
        ]
        return self._replace(
            names=tuple(attributes_of_run["columns"]),
            vectors=tuple(attributes_of_run["vectors"]),
            snapshot_names=tuple(attributes_of_run["kept"]),
            variables=self.variables | {variable.name: variable for variable in added},
            sizes=self.sizes | attributes_of_run.get("sizes", {}),
        )

    def described(self) -> dict:
        """Return the variables that an engine outside this package adds, and the sizes of dims, for `as_stored`."""
        added = [variable for name, variable in self.variables.items() if name not in VARIABLES]
        return {"variables": added, "sizes": self.sizes}

    def width(self, n_topics: int) -> int:
        """Return the number of columns that rows with ``n_topics`` topics have."""
        return 1 + len(self.names) + n_topics * len(self.vectors)

    def n_topics(self, n_columns: int) -> int:
        """Return the number of topics that rows of ``n_columns`` columns have values for; the inverse of `width`."""
        return (n_columns - self.width(0)) // len(self.vectors) if self.vectors else 0

    def values(self, row: Row, n_topics: int) -> np.ndarray:
        """Return a `Row` as an array (column,) float64, with 0 for topics that do not exist yet."""
        topic_values = np.zeros((n_topics, len(self.vectors)))
        for column, name in enumerate(self.vectors):
            topic_values[: len(row.vectors[name]), column] = row.vectors[name]
        return np.concatenate(
            [[row.iteration], [row.numbers[name] for name in self.names], topic_values.ravel()]
        )

    def row(self, values: np.ndarray) -> Row:
        """Return the `Row` of an array (column,) from `values`."""
        topic_values = values[1 + len(self.names) :]
        return Row(
            int(values[0]),
            dict(zip(self.names, values[1:], strict=False)),
            {
                name: topic_values[column :: len(self.vectors)]
                for column, name in enumerate(self.vectors)
            },
        )

    def shapes(self, sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
        """Return the shape of each snapshot array, keyed by name, given the size of each dim."""
        return {
            name: tuple(sizes[dim] for dim in self.variables[name].dims[1:])
            for name in self.snapshot_names
        }


def recorded(spec: RunSpec) -> Recorded:
    """Return the columns and snapshot arrays of a run with this spec."""
    engine, model, options = spec.parts()
    # of an imported model nothing is known of its inference, neither time nor iterations
    unknown = () if model.course else (*CLOCKS, *AVERAGES)
    perplexities = CLOCKS if spec.test is None else (*CLOCKS, *TEST_PERPLEXITIES)
    score_variables = (
        [variable for scores in model.scores for variable in scores.variables]
        if spec.test is not None
        else []
    )
    variables, sizes = model.recorded(options), model.dims()
    vectors = [variable.name for variable in variables if variable.dims == ("iteration", "topic")]
    cells = [
        variable
        for variable in variables
        if variable.dims[0] == "iteration" and variable.name not in vectors
    ]
    return Recorded(
        (
            *(name for name in perplexities if name not in unknown),
            "train_perplexity",
            *(variable.name for variable in score_variables),
            *engine.watches,
            *(name for variable in cells for name in cells_of(variable, sizes)),
        ),
        tuple(vectors),
        (
            *(variable.name for variable in variables if variable.dims[0] == "snapshot"),
            *engine.keeps,
        ),
        VARIABLES | {variable.name: variable for variable in (*score_variables, *variables)},
        sizes,
    )


def cells_of(variable: Variable, sizes: dict[str, int]) -> list[str]:
    """Return the column names of a per-iteration variable: the name of a scalar, or one name per cell of an array."""
    if len(variable.dims) == 1:
        return [variable.name]
    return [
        f"{variable.name}[{i}]" for i in range(math.prod(sizes[dim] for dim in variable.dims[1:]))
    ]


def in_columns(numbers: dict) -> dict:
    """Return an iteration's values keyed by column name; each cell of an array is a column."""
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
    """Return variables (iteration, …) keyed by name, from columns (iteration,) of scalars and of arrays' cells."""
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
    spec: RunSpec,
    made_with: dict,
    state: str,
    rows: np.ndarray,
    settled: int | None = None,
    taken_on: str = "",
) -> dict:
    """Return the attributes of a run's Dataset, whose recorded numbers are ``rows``, as a dict.

    ``unfinished`` is present only if the run has not finished, and says how far it is; ``stopped_early`` only if the stop rule
    ended the run; and ``taken_on`` only if other kernels or machines continued it
    (`workbench.runs.store.provenance.describe_provenance`).
    """
    last_iteration = int(rows[-1, 0]) if len(rows) else 0
    is_ended = settled or last_iteration >= (spec.length or 0)
    values = {
        "title": f"{spec.label()} on {spec.corpus}{spec.size_text and ', '}{spec.size_text}",
        "unfinished": "" if is_ended else f"iteration {last_iteration} of {spec.n_iterations}",
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


def label_rows(leaves: Recorded, rows: np.ndarray, attrs: dict, spec: RunSpec) -> xr.Dataset:
    """Return rows (iteration, column) from `Recorded.values` as a Dataset of per-iteration variables.

    Topics that did not exist yet may be NaN in the rows; they become 0. Settings that the spec turns are variables too.
    """
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
    topic_values = np.nan_to_num(rows[:, 1 + len(names) :], nan=0.0)
    for column, name in enumerate(vectors):
        data[name] = (
            ("iteration", "topic"),
            topic_values[:, column :: len(vectors)],
            variables[name].attrs,
        )
    coords = {"iteration": ("iteration", iteration, {"long_name": "iteration"})}
    if vectors:
        coords["topic"] = np.arange(topic_values.shape[1] // len(vectors))
    return xr.Dataset(turned_settings(spec, iteration) | data, coords, attrs)


def turned_settings(spec: RunSpec, iteration: np.ndarray) -> dict[str, tuple]:
    """Return name → xarray variable (iteration, …) with the values of each setting that was changed while a run ran.

    An alpha is (iteration, topic), as a learnt one is; that of a network, which is of levels, is left out.
    """
    if not spec.interventions:
        return {}
    starts = [0, *(intervention.iteration for intervention in spec.interventions)]
    used_segments, segment = np.unique(
        np.searchsorted(starts, iteration, side="right") - 1, return_inverse=True
    )
    specs = [spec.at(starts[number]) for number in used_segments] or [spec.at(0)]
    names = dict.fromkeys(
        name for intervention in spec.interventions for name in intervention.changes
    )
    engine, data = spec.parts()[0], {}
    for name in names:
        variable = VARIABLES.get(name)
        values = [values_of(segment_spec, [name])[name] for segment_spec in specs]
        if variable and "topic" in variable.dims:
            values = [getattr(segment_spec.parts()[1], "alphas", None) for segment_spec in specs]
        if values[0] is not None:
            dims, attrs = (
                (variable.dims, variable.attrs)
                if variable
                else (("iteration",), {"long_name": options_of(engine)[name].metadata["help"]})
            )
            data[name] = dims, np.asarray(values, float)[segment], attrs
    return data


def model_of(run: xr.Dataset):
    """Return the model of a run, with the coordinate labels in the Dataset, such as a network's authors."""
    return RunSpec.from_json(run.attrs["spec"]).parts()[1].with_coords(run.coords)


def last_snapshot(run: xr.Dataset) -> xr.Dataset:
    """Return the last snapshot of a run, with the values recorded at that iteration, if any."""
    last, iteration = run.isel(snapshot=-1), int(run["snapshot_iteration"][-1])
    return (
        last.sel(iteration=iteration)
        if iteration in run.indexes["iteration"]
        else last.drop_dims("iteration")
    )


def priors_of(run: xr.Dataset) -> Priors:
    """Return the priors of a run at the last snapshot: learnt values where the run learns a prior, else the given ones.

    run : a Dataset with at least one snapshot
    """
    return model_of(run).priors(last_snapshot(run))


def label_counts(
    dataset: xr.Dataset,
    counts: xr.Dataset,
    iterations: np.ndarray,
    data: Data | None,
    leaves: Recorded,
    spec: RunSpec,
) -> xr.Dataset:
    """Return a run's Dataset with counts (snapshot, …) and the model's estimates from the last snapshot added.

    iterations (snapshot,) : the iteration of each snapshot; data : the training data, for labels
    """
    _, model, _ = spec.parts(data)
    dataset = dataset.merge(counts)
    dataset = dataset.assign_coords(
        snapshot_iteration=("snapshot", iterations, {"long_name": "iteration of the snapshot"})
    )
    estimates = model.estimates(last_snapshot(dataset), data) if len(iterations) else {}
    known_dims, coords = (
        set(dataset.dims).union(*(leaves.variables[name].dims for name in estimates)),
        {},
    )
    for name, (labels, meaning, *other_dims) in model.coords(data).items():
        dims = other_dims or [name]
        if dims[0] in known_dims:
            known_dims.update(dims)
            labels = np.array(
                labels, dtype=None if isinstance(labels, (range, np.ndarray)) else object
            )
            coords[name] = dims, labels, {"long_name": meaning} if meaning else {}
    dataset = dataset.assign_coords(coords)
    dataset = dataset.assign(
        _as_variables(estimates, leaves, model.dims(data) | dict(dataset.sizes))
    )
    for name in (*counts, *estimates):
        dataset[name].attrs = leaves.variables[name].attrs
    return dataset


def _as_variables(estimates: dict, leaves: Recorded, sizes: dict[str, int]) -> dict:
    """Return a model's estimates as xarray variables keyed by name; an `Estimate` computes its rows when they are used."""
    # a backend of xarray, which is slow to import
    from workbench.runs.lazy_arrays import Estimated, lazy_dataset

    arrays = {name: (leaves.variables[name].dims, values) for name, values in estimates.items()}
    lazy = {
        name: (dims, Estimated(values, tuple(sizes[dim] for dim in dims)))
        for name, (dims, values) in arrays.items()
        if isinstance(values, Estimate)
    }
    return arrays | dict(lazy_dataset(lazy).data_vars)
