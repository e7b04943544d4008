"""Corpora, and counts to start from, kept by content beside the runs of a store: a worker and a resume find them there."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from workbench.corpus import Corpus
from workbench.data.errors import DataError
from workbench.data.saving import load_data, partial_of
from workbench.engines.engine import WarmStart
from workbench.records import Records
from workbench.runs.spec import SpecError

FOLDER, STARTS = ".corpora", ".starts"


def put_corpus(store: Path, data: Corpus | Records) -> Path:
    """Writes data under their hash unless they are there; whole or not at all."""
    return data.save(store / FOLDER)


@lru_cache(maxsize=8)
def get_corpus(store: Path, content_hash: str) -> Corpus | Records:
    """The data of a hash.

    Raises
    ------
    SpecError
        When they are not in the store, or not what the name says.
    """
    path = store / FOLDER / f"{content_hash}.npz"
    if not path.exists():
        raise SpecError(f"the corpus of this run is not in the store; expected the file {path}")
    try:
        return load_data(path, Corpus, Records, mend="delete it and fit the run again")
    except DataError as error:
        raise SpecError(str(error)) from error


def put_warm_start(store: Path, counts_hash: str, start: WarmStart) -> None:
    """Writes counts to start from under their hash unless they are there."""
    path = store / STARTS / f"{counts_hash}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = partial_of(path)
        with open(partial, "wb") as file:
            np.savez_compressed(file, **{name: counts for name, counts in start._asdict().items() if counts is not None})
        os.replace(partial, path)


def get_warm_start(store: Path, counts_hash: str) -> WarmStart:
    """The counts of a hash.

    Raises
    ------
    SpecError
        When they are not in the store.
    """
    path = store / STARTS / f"{counts_hash}.npz"
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            return WarmStart(file["n_kw"], file.get("n_dk"), file.get("topics"))
    except Exception as error:  # whatever numpy and zipfile make of a damaged file
        raise SpecError(f"the counts that this run starts from cannot be read from {path}; fit the run again") from error
