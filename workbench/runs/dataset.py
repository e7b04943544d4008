"""A run as an xarray Dataset: every array named, labelled, with its unit and one sentence."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version

import numpy as np
import xarray as xr

import workbench
from workbench.corpus import Corpus
from workbench.models import VARIABLES
from workbench.runs.spec import RunSpec

COUNTS = ("n_kw", "n_dk")


def versions() -> dict[str, str]:
    """What a run was made with, without a word about where."""
    packages = {name: version(name) for name in ("numpy", "numba", "xarray", "zarr")}
    return {"workbench": workbench.__version__, "python": ".".join(platform.python_version_tuple()[:2]), **packages}


def attributes(spec: RunSpec, made_with: dict, state: str, settled: int | None = None) -> dict:
    """The attributes of a run's Dataset; ``stopped_early`` only where its rule ended it."""
    early = {"stopped_early": spec.rule.told(settled)} if settled and spec.rule else {}
    return {
        "title": f"{spec.label()} on {spec.corpus}, K={spec.model['n_topics']}",
        "name": spec.name,
        "engine": spec.engine,
        "state": state,
        "spec": spec.to_json(),
        "spec_hash": spec.hash,
        "corpus_hash": spec.train,
        "versions": json.dumps(made_with, sort_keys=True),
    } | early


def label_rows(names, rows: np.ndarray, attrs: dict) -> xr.Dataset:
    """The per-iteration part: rows are (iteration, column) with columns iteration, scalars by name, then n_k."""
    iteration = rows[:, 0].astype(np.int64)
    data = {}
    for column, name in enumerate(names, start=1):
        values = rows[:, column].astype(np.int64) if name == "updates" else rows[:, column]
        data[name] = ("iteration", values, VARIABLES[name].attrs)
    n_k = rows[:, 1 + len(names) :]
    data["n_k"] = (("iteration", "topic"), n_k, VARIABLES["n_k"].attrs)
    coords = {"iteration": ("iteration", iteration, {"long_name": "iteration"}), "topic": np.arange(n_k.shape[1])}
    return xr.Dataset(data, coords, attrs)


def label_counts(dataset: xr.Dataset, counts: xr.Dataset, iterations: np.ndarray, corpus: Corpus, model) -> xr.Dataset:
    """The Dataset with the counts (snapshot, …) at the given iterations, and theta and phi of the last."""
    coords = {
        "snapshot_iteration": ("snapshot", iterations, {"long_name": "iteration of the snapshot"}),
        "word": ("word", np.array(corpus.vocabulary, dtype=object), {"long_name": "word type"}),
        "document": ("document", np.array(corpus.titles, dtype=object), {"long_name": "document"}),
    }
    dataset = dataset.merge(counts).assign_coords(coords)
    for name in COUNTS:
        dataset[name].attrs = VARIABLES[name].attrs
    if len(iterations):
        n_dk = dataset["n_dk"].isel(snapshot=-1).values + model.alphas
        n_kw = dataset["n_kw"].isel(snapshot=-1).values + model.beta
        dataset["theta"] = (("document", "topic"), n_dk / n_dk.sum(1, keepdims=True), VARIABLES["theta"].attrs)
        dataset["phi"] = (("topic", "word"), n_kw / n_kw.sum(1, keepdims=True), VARIABLES["phi"].attrs)
    return dataset
