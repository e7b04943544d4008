"""The Dataset of each run that is to be reported, with the corpora that its store has."""

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
from workbench.runs.afterwards.heldout_by_document import Scored, score_documents
from workbench.runs.afterwards.pooled_chains import Pooled, pool_chains
from workbench.runs.execution.run import Run, find_run
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store import archive
from workbench.runs.store.layout import StoreError


class Gathered(NamedTuple):
    """A run to report on."""

    dataset: xr.Dataset
    spec: RunSpec
    # training and test tokens, as far as a store holds them
    corpora: tuple[Corpus | None, Corpus | None]
    path: Path | None = None  # None: given as a Dataset


def gather(runs, store=None) -> list[Gathered]:
    """The runs, each once, in the order given.

    Parameters
    ----------
    runs
        One or several of: `Run`, path, name in ``store``, Dataset of a run, Dataset of `workbench.compare`.
    store : path, optional
        Where names are looked up: by default ``WORKBENCH_STORE`` or ``./runs``.

    Raises
    ------
    MeasureError, StoreError
        No run, an unknown run, or one of which nothing is committed yet.
    """
    found, left_out = gather_begun(runs, store)
    if left_out:
        raise MeasureError(
            f"run '{left_out[0]}' has no committed iteration yet; wait for its first, or leave it out"
        )
    return found


def gather_begun(runs, store=None) -> tuple[list[Gathered], list[str]]:
    """The runs as `gather` gives them, and the names of those that have nothing committed yet, as long as others have."""
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
    begun = [dataset for dataset in datasets if dataset.sizes.get("iteration", 1)]
    left_out = (
        [dataset.attrs["name"] for dataset in datasets if not dataset.sizes.get("iteration", 1)]
        if begun
        else []
    )
    found = []
    for dataset in each_run(begun or datasets):
        spec, path = spec_of(dataset), paths.get(dataset.attrs["spec"])
        found.append(Gathered(dataset, spec, _corpora(path and path.parent, spec), path))
    return found, left_out


def corpora_of(found: list[Gathered]) -> dict[str, Corpus]:
    """The training and test tokens that are at hand, by their hash."""
    hashes = ((each.spec.train, each.spec.test) for each in found)
    return {
        content: corpus
        for each, both in zip(found, hashes, strict=True)
        for content, corpus in zip(both, each.corpora, strict=True)
        if corpus is not None
    }


def stored_corpora(store: Path, spec: RunSpec) -> dict[str, Corpus]:
    """Those of one run of a store."""
    both = zip((spec.train, spec.test), _corpora(store, spec), strict=True)
    return {content: corpus for content, corpus in both if corpus is not None}


def scores_of_sequences(found: list[Gathered]) -> dict[str, Scored]:
    """`scores` of the runs whose documents stand in sequences."""
    return scores([each for each in found if "sequence" in each.dataset.coords])


def scores(found: list[Gathered]) -> dict[str, Scored]:
    """The scores of each document's held-out tokens by runs of a store, by the hash of their specs.

    Left out: a run without test tokens or checkpoint, and one whose checkpoint is not of the last iteration gathered.
    """
    said = {}
    for each in (each for each in found if each.path is not None and each.spec.test is not None):
        # an interval less; what is recorded is shown all the same
        with suppress(SpecError, StoreError, OSError):
            scored = score_documents(each.path)
            if scored.iteration == int(each.dataset["iteration"].values[-1]):
                said[each.spec.hash] = scored
    return said


def pooled(found: list[Gathered]) -> list[Pooled]:
    """What the long chains of a store predict together that the other runs of their model and split are set against."""
    having = [each for each in found if each.path is not None and each.spec.test is not None]
    said = []
    for own in grouped(
        [(each.spec.train, each.spec.test, repr(each.spec.model)) for each in having], having
    ).values():
        paths = {each.spec.hash: each.path for each in own}
        with suppress(MeasureError, SpecError, StoreError, OSError):
            _, chains = settings_and_chains([each.dataset for each in own])
            if len(chains) >= CHAINS:
                said.append(pool_chains([paths[spec_of(chain).hash] for chain in chains]))
    return said


def table_of(each: Gathered) -> DocumentTable | None:
    """The columns of the documents of a run of a store, where they were kept and can be read."""
    with suppress(SpecError):
        return each.path and Run(each.path).table
    return None


def with_table(dataset: xr.Dataset, run: Run) -> xr.Dataset:
    """The Dataset of a run with the columns of its documents, where they were kept and can be read; see `with_columns`."""
    with suppress(SpecError):
        return with_columns(dataset, run.table)
    return dataset


def _dataset(run: Run) -> xr.Dataset:
    """What is committed of the run; without its counts where its corpus is gone."""
    try:
        return with_table(run.dataset(), run)
    except SpecError:
        return run.progress()


def _corpora(home: Path | None, spec: RunSpec) -> tuple[Corpus | None, Corpus | None]:
    with suppress(SpecError):  # the numbers of a run can be shown without its corpus
        if home is not None:
            return archive.corpora_of(home, spec)
    return None, None
