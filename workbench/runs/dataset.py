"""A run as an xarray Dataset: every array named, labelled, with its unit and one sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from workbench.models import Priors
from workbench.models.model import Estimate
from workbench.runs.recorded import Recorded, put_together
from workbench.runs.spec import RunSpec

if TYPE_CHECKING:
    import xarray as xr


def attributes(
    spec: RunSpec, made_with: dict, state: str, settled: int | None = None, taken_on: str = ""
) -> dict:
    """The attributes of a run's Dataset; ``stopped_early`` only where its rule ended it, ``taken_on`` where other kernels or
    machines computed than it was made with (`workbench.runs.store.provenance.describe_provenance`)."""
    found = {
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
    return {name: value for name, value in found.items() if value}


def label_rows(leaves: Recorded, rows: np.ndarray, attrs: dict) -> xr.Dataset:
    """The per-iteration part: rows are (iteration, column) as `Recorded.values` makes them; NaN for topics not there yet."""
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
    """The model of a run, with the labels that its Dataset has (the authors of a network)."""
    return RunSpec.from_json(run.attrs["spec"]).parts()[1].with_coords(run.coords)


def last_snapshot(run: xr.Dataset) -> xr.Dataset:
    """The arrays of the last snapshot of a run, and what was recorded of its iteration."""
    last, iteration = run.isel(snapshot=-1), int(run["snapshot_iteration"][-1])
    return (
        last.sel(iteration=iteration)
        if iteration in run.indexes["iteration"]
        else last.drop_dims("iteration")
    )


def priors_of(run: xr.Dataset) -> Priors:
    """The priors behind the counts of a run's last snapshot: as learnt by then, or as they were given.

    run : a run's Dataset with at least one snapshot.
    """
    return model_of(run).priors(last_snapshot(run))


def label_counts(
    dataset: xr.Dataset, counts: xr.Dataset, iterations: np.ndarray, data, leaves: Recorded
) -> xr.Dataset:
    """The Dataset with the counts (snapshot, …) at the given iterations, and what the model estimates from the last."""
    _, model, _ = RunSpec.from_json(dataset.attrs["spec"]).parts(data)
    dataset = dataset.merge(counts)
    at = "snapshot", iterations, {"long_name": "iteration of the snapshot"}
    dataset = dataset.assign_coords(snapshot_iteration=at)
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
    """What a model estimates by name, with dims; of an `Estimate` the rows that are used are computed when they are."""
    # a backend of xarray, which is slow to import
    from workbench.runs.lazy_arrays import Estimated, lazy_dataset

    given = {name: (leaves.variables[name].dims, values) for name, values in estimates.items()}
    lazy = {
        name: (dims, Estimated(values, tuple(sizes[dim] for dim in dims)))
        for name, (dims, values) in given.items()
        if isinstance(values, Estimate)
    }
    return given | dict(lazy_dataset(lazy).data_vars)
