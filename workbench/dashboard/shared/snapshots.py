"""The counts of a run at its last snapshot, read from disk once for all sessions of the process."""

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.data.caching import cached_once
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.counts import SnapshotGone
from workbench.runs.store.edition import Edition, EditionError, read_edition, with_edition
from workbench.runs.store.layout import DamagedError, StoreError
from workbench.runs.store.notes import NoteError, labels_of_topics, read_notes
from workbench.runs.store.status import ALIVE

IN_MEMORY = 2**23
"""Maximum size of n_dk (documents times topics) for which theta and n_dk are kept in memory: 64 MB each."""


class SnapshotKey(NamedTuple):
    """A snapshot of a run: path and hash of the run, iteration, state of the run, and edits of its topics."""

    path: Path
    hash: str
    iteration: int
    state: str
    edition: Edition = Edition()


def snapshot_of(reading: Reading) -> SnapshotKey:
    """Return the last snapshot that a run can have by now; a run that has ended has one at its last iteration."""
    iteration = int(reading.latest[0]) if np.isfinite(reading.latest[0]) else 0
    if reading.state in ALIVE:
        iteration -= iteration % reading.spec.snapshot_every
    edition = edition_of(reading.path)
    return SnapshotKey(reading.path, reading.spec.hash, iteration, reading.state, edition)


def edition_of(path: Path) -> Edition:
    """Return the edits that people made of a run's topics; none if their file is damaged, see `workbench edit`."""
    try:
        return read_edition(path)
    except EditionError:
        return Edition()


@lru_cache(maxsize=16)
def run_of(snapshot: SnapshotKey) -> Run:
    """Return the run of a snapshot, cached for all sessions, since opening a run is slow while the server is busy."""
    return Run(snapshot.path)


def progress_of(snapshot: SnapshotKey) -> xr.Dataset:
    """Return the per-iteration variables of a run, with its edited topics."""
    return with_edition(run_of(snapshot).progress(), snapshot.edition.texts)


def train_of(snapshot: SnapshotKey) -> Corpus:
    """Return the training corpus of a run."""
    return get_corpus(snapshot.path.parent, run_of(snapshot).spec.train)


@cached_once(4)
def counts_of(snapshot: SnapshotKey) -> xr.Dataset | None:
    """Return phi, n_kw and n_k at the last snapshot; None before the first."""
    return last_of(snapshot, lambda run: ["phi", "n_kw", "n_k"] if "phi" in run else [])


def last_of(snapshot: SnapshotKey, names: Callable[[xr.Dataset], list[str]]) -> xr.Dataset | None:
    """Return the variables that ``names`` selects, at the last snapshot, in memory; None if it selects none."""

    def load(run: xr.Dataset) -> xr.Dataset | None:
        if not (variables := names(run)):
            return None
        return run[variables].isel(snapshot=[-1], iteration=[-1], missing_dims="ignore").load()

    return apply_to_run(snapshot, load)


def apply_to_run(snapshot: SnapshotKey, make: Callable[[xr.Dataset], object]):
    """Return ``make(run)`` for the Dataset of a run with its edited topics, whose arrays are read only when used.

    If an active run drops a snapshot meanwhile, read again. Raise StoreError if the run was removed.
    """
    run = Run(snapshot.path)
    while True:
        try:
            return make(with_edition(run.dataset(), snapshot.edition.texts))
        except SnapshotGone:
            continue
        except (KeyError, OSError, DamagedError) as error:
            if snapshot.path.exists():
                raise
            raise StoreError(
                f"{snapshot.path.name} was removed while it was read; choose another run"
            ) from error


def apply_to_documents(make: Callable[..., object], *snapshots: SnapshotKey):
    """Return ``make(*runs)`` of the runs at these snapshots, with the variables of `counts_of`, theta and n_dk.

    Only the used rows of theta and n_dk are read; small arrays are kept in memory. If a run drops a snapshot, read again.
    """
    while True:
        try:
            return make(*map(_counts_and_shares_of, snapshots))
        except SnapshotGone:
            _counts_and_shares_of.cache_clear()


@cached_once(3)
def _counts_and_shares_of(snapshot: SnapshotKey) -> xr.Dataset | None:
    counts = counts_of(snapshot)
    if counts is None:
        return None

    def last(run: xr.Dataset) -> xr.Dataset:
        rows = run[["theta", "n_dk"]].isel(snapshot=[-1])
        return rows.load() if rows["n_dk"].size <= IN_MEMORY else rows

    rows = apply_to_run(snapshot, last)
    document_coordinates = {
        name: values for name, values in rows.coords.items() if values.dims == ("document",)
    }
    return counts.assign_coords(document_coordinates).assign(theta=rows["theta"], n_dk=rows["n_dk"])


def labels_of_snapshot(snapshot: SnapshotKey) -> tuple[dict[int, str], str]:
    """Return the labels that people gave the topics of the last snapshot, by topic, and an error sentence or ""."""
    try:
        return labels_of_topics(read_notes(snapshot.path), counts_of(snapshot)), ""
    except NoteError as error:
        return {}, policy().for_visitors(str(error))


def with_labels(run: xr.Dataset, labels: dict[int, str]) -> xr.Dataset:
    """Return the run with the labels that people gave its topics."""
    if not labels:
        return run
    names = [labels.get(topic, "") for topic in run["topic"].values.tolist()]
    return run.assign(topic_label=("topic", names))


def changes(n_rows: int, most: int) -> int:
    """Return how often a picture of ``n_rows`` rows was redrawn: at the first ``most``, then per growth by 1 / most."""
    return n_rows if n_rows <= most else int(most * (1.0 + math.log(n_rows / most)))
