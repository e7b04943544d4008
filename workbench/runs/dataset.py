"""A run as an xarray Dataset: every array named, labelled, with its unit and one sentence."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

import workbench
from workbench.corpus import Corpus
from workbench.models import VARIABLES, Priors
from workbench.models.networks.network import Network
from workbench.runs.recorded import Recorded, put_together
from workbench.runs.spec import RunSpec
from workbench.runs.store.provenance import KERNELS, taken_on

if TYPE_CHECKING:
    import xarray as xr


def versions() -> dict[str, str]:
    """What a run was made with, without a word about where; ``kernels`` is a hash of their sources."""
    packages = {name: version(name) for name in ("numpy", "numba", "xarray", "zarr")}
    return {"workbench": workbench.__version__, "python": ".".join(platform.python_version_tuple()[:2]), **packages} | {
        "kernels": KERNELS
    }


def attributes(spec: RunSpec, made_with: dict, state: str, settled: int | None = None, made: list | tuple = ()) -> dict:
    """The attributes of a run's Dataset; ``stopped_early`` only where its rule ended it, ``taken_on`` where other kernels did.

    made : see `workbench.runs.store.provenance.makers`.
    """
    early = {"stopped_early": spec.rule.told(settled)} if settled and spec.rule else {}
    others = {"taken_on": taken_on(made)} if taken_on(made) else {}
    return {
        "title": f"{spec.label()} on {spec.corpus}, K={spec.model['n_topics']}",
        "name": spec.name,
        "engine": spec.engine,
        "state": state,
        "spec": spec.to_json(),
        "spec_hash": spec.hash,
        "corpus_hash": spec.train,
        "versions": json.dumps(made_with, sort_keys=True),
    } | early | others


def row_of(row, names, vectors, n_topics: int) -> np.ndarray:
    """(column,) float64 of one row: iteration, scalars by name, then each topic's vectors, 0 for topics not there yet."""
    of_topics = np.zeros((n_topics, len(vectors)))
    for column, name in enumerate(vectors):
        of_topics[: len(row.vectors[name]), column] = row.vectors[name]
    return np.concatenate([[row.iteration], [row.numbers[name] for name in names], of_topics.ravel()])


def width(names, vectors, n_topics: int) -> int:
    """The columns of a row."""
    return 1 + len(names) + n_topics * len(vectors)


def label_rows(leaves: Recorded, rows: np.ndarray, attrs: dict) -> xr.Dataset:
    """The per-iteration part: rows are (iteration, column) as `row_of` makes them; NaN for topics not there yet."""
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
        data[name] = (("iteration", "topic"), of_topics[:, column :: len(vectors)], variables[name].attrs)
    n_topics = of_topics.shape[1] // len(vectors)
    coords = {"iteration": ("iteration", iteration, {"long_name": "iteration"}), "topic": np.arange(n_topics)}
    return xr.Dataset(data, coords, attrs)


def priors_of(run: xr.Dataset) -> Priors:
    """The priors behind the counts of a run's last snapshot: as learnt by then, or as they were given.

    run : a run's Dataset with at least one snapshot.
    """
    from workbench.runs.afterwards.network_learnt import network_in, pseudo_counts

    def learnt(name):
        return run[name].sel(iteration=int(run["snapshot_iteration"][-1])).values

    if "alpha_total" in run:
        tau = run["tau"].isel(snapshot=-1).values if "tau" in run else 1.0 / run.sizes["word"]
        alphas = learnt("alpha")
        return Priors(alphas, learnt("beta_total") * tau, max(float(learnt("alpha_total") - alphas.sum()), 0.0))
    if network_in(run) is not None:
        return pseudo_counts(run)
    given = RunSpec.from_json(run.attrs["spec"]).parts()[1].priors
    return Priors(
        learnt("alpha") if "alpha" in run else given.alphas, float(learnt("beta")) if "beta" in run else given.beta
    )


def label_counts(
    dataset: xr.Dataset, counts: xr.Dataset, iterations: np.ndarray, corpus: Corpus, leaves: Recorded
) -> xr.Dataset:
    """The Dataset with the counts (snapshot, …) at the given iterations, and theta and phi of the last."""
    from workbench.runs.afterwards.network_means import posterior_means, with_values

    coords = {
        "snapshot_iteration": ("snapshot", iterations, {"long_name": "iteration of the snapshot"}),
        "word": ("word", np.array(corpus.vocabulary, dtype=object), {"long_name": "word type"}),
        "document": ("document", np.array(corpus.titles, dtype=object), {"long_name": "document"}),
    }
    dataset = dataset.merge(counts).assign_coords(coords)
    for name in counts:
        dataset[name].attrs = leaves.variables[name].attrs
    _, model, _ = RunSpec.from_json(dataset.attrs["spec"]).parts(corpus)
    if isinstance(model, Network):
        dataset = with_values(dataset, model)
    if len(iterations) and isinstance(model, Network):
        for name, means in posterior_means(dataset, model, corpus).items():
            dataset[name] = (VARIABLES[name].dims, means, VARIABLES[name].attrs)
    elif len(iterations):
        priors = priors_of(dataset)
        for name, means, kept in (("theta", priors.theta, "n_dk"), ("phi", priors.phi, "n_kw")):
            dataset[name] = (VARIABLES[name].dims, means(dataset[kept].isel(snapshot=-1).values), VARIABLES[name].attrs)
    return dataset
