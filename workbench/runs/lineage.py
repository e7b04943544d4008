"""A run that begins from the counts of another one: what it takes, and what is recorded of where it came from."""

from __future__ import annotations

import hashlib

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.engines.engine import Start
from workbench.runs.run import find_run
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store import RunReader


def start_from(run, train: Corpus, n_topics: int, store=None) -> tuple[Start, dict]:
    """The last counts of a run (a `Run`, path, name or Dataset), to start another one from, and the record of it.

    The words must be the same and the topics as many. Where the documents are the same too, each of them goes
    on from where it was; otherwise only the topics are taken.

    Returns
    -------
    start : Start
    record : dict
        ``name``, ``hash`` (of its spec), ``iteration``, ``counts`` (hash of what was taken).

    Raises
    ------
    SpecError, StoreError
        One sentence each.
    """
    dataset = run if isinstance(run, xr.Dataset) else RunReader(find_run(run, store)).dataset()
    name = dataset.attrs.get("name", "the run")
    if "n_kw" not in dataset or not dataset.sizes.get("snapshot"):
        raise SpecError(f"{name} has no counts yet to start from; let it take its first snapshot, or stop it")
    if dataset.sizes["topic"] != n_topics:
        raise SpecError(f"{name} has {dataset.sizes['topic']} topics where {n_topics} were asked for; set topics to match")
    if tuple(dataset["word"].values) != train.vocabulary:
        raise SpecError(f"{name} has another vocabulary than the corpus; a run can start from one with the same words only")
    last = dataset[["n_kw", "n_dk"]].isel(snapshot=-1)
    same_documents = tuple(dataset["document"].values) == train.titles
    start = Start(
        np.ascontiguousarray(last["n_kw"].values, np.float64),
        np.ascontiguousarray(last["n_dk"].values, np.float64) if same_documents else None,
    )
    return start, {
        "name": name,
        "hash": RunSpec.from_json(dataset.attrs["spec"]).hash,
        "iteration": int(dataset["snapshot_iteration"][-1]),
        "counts": counts_hash(start),
    }


def counts_hash(start: Start) -> str:
    """sha256 (hex) of the counts, with their shapes."""
    digest = hashlib.sha256()
    for counts in start:
        digest.update(b"none" if counts is None else str(counts.shape).encode() + counts.tobytes())
    return digest.hexdigest()
