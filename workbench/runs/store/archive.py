"""Corpora and warm starts, stored by content hash beside the runs of a store, where a worker and a resume find them."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.saving import partial_of
from workbench.engines.engine import WarmStart
from workbench.runs.spec import SpecError

CORPORA, WARM_STARTS = ".corpora", ".starts"
STRINGS = ("vocabulary", "titles", "authors", "labels", "times")


def put_corpus(store: Path, corpus: Corpus) -> Path:
    """Writes the corpus under its hash unless it is there; whole or not at all."""
    path = store / CORPORA / f"{corpus.content_hash}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        strings = {name: getattr(corpus, name) for name in STRINGS}
        about = json.dumps({"name": corpus.name, **strings}).encode()
        _write(path, indptr=corpus.indptr, words=corpus.words, counts=corpus.counts, about=np.frombuffer(about, np.uint8))
    return path


def _write(path: Path, save=np.savez, **arrays) -> None:
    """Writes an npz whole or not at all; a corpus uncompressed, as compression took longer than all else in making a run."""
    partial = partial_of(path)
    with open(partial, "wb") as file:
        save(file, **arrays)
    os.replace(partial, path)


@lru_cache(maxsize=8)
def get_corpus(store: Path, content_hash: str) -> Corpus:
    """The corpus of a hash.

    Raises
    ------
    SpecError
        When it is not in the store, or not what its name says.
    """
    path = store / CORPORA / f"{content_hash}.npz"
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = json.loads(file["about"].tobytes())
            corpus = Corpus(file["indptr"], file["words"], file["counts"], **about)
    except FileNotFoundError:
        raise SpecError(f"the corpus of this run is not in the store; expected the file {path}") from None
    except Exception as error:
        raise SpecError(f"{path} is damaged ({type(error).__name__}); delete it and fit the run again") from error
    if corpus.content_hash != content_hash:
        raise SpecError(f"{path} does not hold the corpus its name says; delete it and fit the run again")
    return corpus


def put_warm_start(store: Path, counts_hash: str, warm_start: WarmStart) -> None:
    """Writes the counts of a warm start under their hash unless they are there."""
    path = store / WARM_STARTS / f"{counts_hash}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        known = {name: counts for name, counts in warm_start._asdict().items() if counts is not None}
        _write(path, np.savez_compressed, **known)


def get_warm_start(store: Path, counts_hash: str) -> WarmStart:
    """The warm start of a hash.

    Raises
    ------
    SpecError
        When they are not in the store.
    """
    path = store / WARM_STARTS / f"{counts_hash}.npz"
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            return WarmStart(file["n_kw"], file.get("n_dk"), file.get("topics"))
    except Exception as error:  # whatever numpy and zipfile make of a damaged file
        raise SpecError(f"the counts that this run starts from cannot be read from {path}; fit the run again") from error
