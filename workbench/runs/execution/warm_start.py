"""Warm starts: the last counts of a run, with which another run starts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import WarmStart
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.archive import counts_hash
from workbench.runs.store.counts import SnapshotGone
from workbench.runs.store.reader import RunReader

if TYPE_CHECKING:
    import xarray as xr


def warm_start_now(
    path: Path, train: Corpus, n_topics: int | None = None
) -> tuple[WarmStart, dict]:
    """Return a warm start and its record from the run in a folder; read again if the run drops the snapshot meanwhile."""
    while True:
        try:
            return warm_start_of(RunReader(path).dataset(), train, n_topics)
        except SnapshotGone:
            continue


def warm_start_of(
    dataset: xr.Dataset, train: Corpus, n_topics: int | None = None
) -> tuple[WarmStart, dict]:
    """Return a warm start from the last counts of a run, and a record of its origin.

    The vocabularies must be equal. If the documents are the same too, their counts are used, and if a sampler has seen the
    same corpus, the topics of tokens; otherwise only the counts of words by topic. If the run has fewer topics than
    ``n_topics`` (default: its own number), empty ones are added; if it has more, the largest are used, and the tokens of the
    others have no topic.

    Returns
    -------
    warm_start : WarmStart
    record : dict
        ``name``, ``hash`` (of the spec) and ``iteration`` of the run, ``counts`` (hash of the warm start), ``n_topics`` of the
        run, and ``dropped``, the share of its tokens whose topics were dropped.

    Raises
    ------
    SpecError
        The run has no counts yet, or another vocabulary.
    """
    name = dataset.attrs.get("name", "the run")
    if "n_kw" not in dataset or not dataset.sizes.get("snapshot"):
        raise SpecError(
            f"{name} has no counts yet to start from; let it take its first snapshot, or stop it"
        )
    if tuple(dataset["word"].values) != train.vocabulary:
        raise SpecError(
            f"{name} has another vocabulary than the corpus; a run can start from one with the same words only"
        )
    spec, last = RunSpec.from_json(dataset.attrs["spec"]), dataset.isel(snapshot=-1)
    same_documents = tuple(dataset["document"].values) == train.titles
    n_kw = last["n_kw"].values.astype(np.float64)
    n_topics = len(n_kw) if n_topics is None else n_topics
    # in the order of their numbers
    largest = np.sort(np.argsort(-n_kw.sum(axis=1), kind="stable")[:n_topics])
    position = np.full(len(n_kw), -1, np.int32)
    position[largest] = np.arange(len(largest))
    more = 0, n_topics - len(largest)
    n_dk = (
        np.pad(last["n_dk"].values.astype(np.float64)[:, largest], [(0, 0), more])
        if same_documents
        else None
    )
    warm_start = WarmStart(
        np.pad(n_kw[largest], [more, (0, 0)]),
        None if n_dk is None else np.ascontiguousarray(n_dk),
        position[last["token_topics"].values]
        if "token_topics" in dataset and spec.train == train.content_hash
        else None,
    )
    total = n_kw.sum()
    return warm_start, {
        "name": name,
        "hash": spec.hash,
        "iteration": int(last["snapshot_iteration"]),
        "counts": counts_hash(warm_start),
        "n_topics": int(np.count_nonzero(n_kw.sum(axis=1) > 0)),
        "dropped": round(float(1 - n_kw[largest].sum() / total), 6) if total else 0.0,
    }
