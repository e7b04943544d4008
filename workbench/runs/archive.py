"""Corpora kept by content beside the runs of a store, so that a worker, a resume and another machine find them."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from workbench.corpus import Corpus
from workbench.runs.control import partial_of
from workbench.runs.spec import SpecError

FOLDER = ".corpora"
STRINGS = ("vocabulary", "titles", "authors", "labels", "times")


def put_corpus(store: Path, corpus: Corpus) -> Path:
    """Writes the corpus under its hash unless it is there; whole or not at all."""
    path = store / FOLDER / f"{corpus.content_hash}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = partial_of(path)
        strings = {name: getattr(corpus, name) for name in STRINGS}
        about = json.dumps({"name": corpus.name, **strings}).encode()
        with open(partial, "wb") as file:
            np.savez_compressed(
                file, indptr=corpus.indptr, words=corpus.words, counts=corpus.counts, about=np.frombuffer(about, np.uint8)
            )
        os.replace(partial, path)
    return path


@lru_cache(maxsize=8)
def get_corpus(store: Path, content_hash: str) -> Corpus:
    """The corpus of a hash.

    Raises
    ------
    SpecError
        When it is not in the store, or not what its name says.
    """
    path = store / FOLDER / f"{content_hash}.npz"
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
