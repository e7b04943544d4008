"""Collect the Datasets of the runs of a report, with the corpora of their stores."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import xarray as xr

from workbench.corpus import Corpus
from workbench.corpus.document_table import DocumentTable
from workbench.measures import MeasureError, each_run, spec_of, with_columns
from workbench.measures.frontier import CHAINS, settings_and_chains
from workbench.measures.selection import grouped
from workbench.report.files import ReportError
from workbench.runs.afterwards.heldout_by_document import (
    Pooled,
    Scored,
    pool_chains,
    score_documents,
)
from workbench.runs.execution.run import Run, find_run
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store import archive
from workbench.runs.store.layout import StoreError

AnyRun = Run | str | os.PathLike | xr.Dataset
"""A run by its handle, path, name in a store, or Dataset."""


class ReportedRun(NamedTuple):
    """A run in a report: Dataset, spec, and for a stored run also corpora and path."""

    dataset: xr.Dataset
    spec: RunSpec
    # training and test tokens, if stored
    corpora: tuple[Corpus | None, Corpus | None]
    path: Path | None = None  # None for a Dataset


def gather(
    runs: AnyRun | Iterable[AnyRun], store: str | os.PathLike | None = None
) -> list[ReportedRun]:
    """Open the runs; return them in the given order, without duplicates.

    Parameters
    ----------
    runs
        One or several of: `Run`, path, name in ``store``, Dataset of a run, Dataset of `workbench.compare`.
    store : path, optional
        Where names are looked up: by default ``WORKBENCH_STORE`` or ``./runs``.

    Raises
    ------
    MeasureError, StoreError
        No run, an unknown run, or one without a committed iteration.
    """
    entries, left_out = gather_started(runs, store)
    if left_out:
        raise MeasureError(
            f"run '{left_out[0]}' has no committed iteration yet; wait for the first, or leave it out"
        )
    return entries


def gather_one(run: AnyRun, store: str | os.PathLike | None, rule: str) -> ReportedRun:
    """Open one run as `gather` does; raise ReportError, with a message that begins with ``rule``, for several runs."""
    entries = gather(run, store)
    if len(entries) > 1:
        raise ReportError(f"{rule}; got {len(entries)}")
    return entries[0]


def gather_started(
    runs: AnyRun | Iterable[AnyRun], store: str | os.PathLike | None = None
) -> tuple[list[ReportedRun], list[str]]:
    """Open the runs as `gather` does; return runs with a committed iteration, and the names of runs without one."""
    datasets, paths = [], {}
    single = isinstance(runs, (str, os.PathLike, Run, xr.Dataset)) or not isinstance(runs, Iterable)
    for run in [runs] if single else list(runs):
        if isinstance(run, xr.Dataset):
            datasets.append(run)
        elif isinstance(run, (str, os.PathLike, Run)):
            path = find_run(run, store)
            dataset = _dataset(Run(path))
            paths[dataset.attrs["spec"]] = path
            datasets.append(dataset)
        else:
            raise MeasureError(
                f"wanted runs: handles, paths, names or Datasets; got {type(run).__name__}"
            )
    started_runs = [dataset for dataset in datasets if dataset.sizes.get("iteration", 1)]
    left_out = (
        [dataset.attrs["name"] for dataset in datasets if not dataset.sizes.get("iteration", 1)]
        if started_runs
        else []
    )
    entries = []
    for dataset in each_run(started_runs or datasets):
        spec, path = spec_of(dataset), paths.get(dataset.attrs["spec"])
        entries.append(ReportedRun(dataset, spec, _corpora(path and path.parent, spec), path))
    return entries, left_out


def corpora_of(entries: list[ReportedRun]) -> dict[str, Corpus]:
    """Return content hash → corpus for the training and test corpora that are available."""
    return {
        content: corpus
        for entry in entries
        for content, corpus in zip((entry.spec.train, entry.spec.test), entry.corpora, strict=True)
        if corpus is not None
    }


def stores_of(entries: list[ReportedRun]) -> dict[str, Path]:
    """Return spec hash → store, of the runs that are stored."""
    return {entry.spec.hash: entry.path.resolve().parent for entry in entries if entry.path}


def stored_corpora(store: Path, spec: RunSpec) -> dict[str, Corpus]:
    """Return content hash → corpus for the available corpora of one stored run."""
    corpora_by_hash = zip((spec.train, spec.test), _corpora(store, spec), strict=True)
    return {content: corpus for content, corpus in corpora_by_hash if corpus is not None}


def scores_of_sequences(entries: list[ReportedRun]) -> dict[str, Scored]:
    """Return spec hash → held-out scores of each document (`scores`), for the runs whose documents are in sequences."""
    return scores([entry for entry in entries if "sequence" in entry.dataset.coords])


def scores(entries: list[ReportedRun]) -> dict[str, Scored]:
    """Return spec hash → held-out scores of each document, for stored runs.

    Left out are runs without test tokens, and runs without a checkpoint of the last iteration.
    """
    scores_by_hash = {}
    for entry in (
        entry for entry in entries if entry.path is not None and entry.spec.test is not None
    ):
        # only an interval is missing then
        with suppress(SpecError, StoreError, OSError):
            scores_of_run = score_documents(entry.path)
            if scores_of_run.iteration == int(entry.dataset["iteration"].values[-1]):
                scores_by_hash[entry.spec.hash] = scores_of_run
    return scores_by_hash


def pooled_chains_of(entries: list[ReportedRun]) -> list[Pooled]:
    """Return the perplexity of averaged predictions of long Gibbs chains, for each model and split with enough chains."""
    candidates = [
        entry for entry in entries if entry.path is not None and entry.spec.test is not None
    ]
    pools = []
    for members in grouped(
        [(entry.spec.train, entry.spec.test, repr(entry.spec.model)) for entry in candidates],
        candidates,
    ).values():
        paths = {entry.spec.hash: entry.path for entry in members}
        with suppress(MeasureError, SpecError, StoreError, OSError):
            _, chains = settings_and_chains([entry.dataset for entry in members])
            if len(chains) >= CHAINS:
                pools.append(pool_chains([paths[spec_of(chain).hash] for chain in chains]))
    return pools


def table_of(entry: ReportedRun) -> DocumentTable | None:
    """Return the texts and columns of a stored run's documents; None if they were not stored or cannot be read."""
    return None if entry.path is None else Run(entry.path).readable_table


def with_table(dataset: xr.Dataset, run: Run) -> xr.Dataset:
    """Return the Dataset of a run with the stored columns of its documents; see `with_columns`."""
    return with_columns(dataset, run.readable_table)


def _dataset(run: Run) -> xr.Dataset:
    """Return the Dataset of the run's committed iterations, leaving out counts if the corpus is missing."""
    try:
        return with_table(run.edited(), run)
    except SpecError:
        return run.progress()


def _corpora(store: Path | None, spec: RunSpec) -> tuple[Corpus | None, Corpus | None]:
    """Return (training corpus, test corpus) of a stored run, None for a missing one."""
    with suppress(SpecError):  # the numbers of a run can be shown without its corpus
        if store is not None:
            return archive.corpora_of(store, spec)
    return None, None
