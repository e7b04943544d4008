"""Runs over a small corpus, whole or in several shards; `runs/conftest.py` has it as fixtures."""

import numpy as np
from toys import corpus_of_table

import workbench as wb
from workbench.corpus import Corpus

TIMES = ("elapsed", "cpu_time")
KEPT = ("n_kw", "n_dk", "token_topics", "theta", "phi")
"""What a run has of its topics and documents in the end."""


def drawn_corpus(n_documents: int = 60, n_words: int = 12, seed: int = 3) -> Corpus:
    """Documents with repeated words, every ninth of them empty, and a word that occurs nowhere."""
    random = np.random.default_rng(seed)
    table = random.poisson(1.2, (n_documents, n_words))
    table[:, -1] = 0
    table[::9] = 0
    table[4, :3] = 40, 7, 1
    return corpus_of_table(table, name="drawn")


def fitted(train, test, engine: str, options: dict, n_iterations: int = 6, **more):
    """A run of an engine with four topics; a network is that of LDA."""
    more = {"burn_in": 2, "progress": False} | more
    more |= {"model": "lda"} if engine.startswith("network") else {}
    return wb.fit(train, engine, 4, test=test, options=options, n_iterations=n_iterations, **more)


def last(array) -> np.ndarray:
    """The values of an array of a Dataset; of one of several snapshots those of the last."""
    return (array.isel(snapshot=-1) if "snapshot" in array.dims else array).values


def differing(a, b) -> list[str]:
    """The variables of two runs, times apart, that are not the same in every bit."""
    assert set(a.data_vars) == set(b.data_vars)
    return [
        name
        for name in a.data_vars
        if name not in TIMES
        and not np.array_equal(last(a[name]), last(b[name]), equal_nan=a[name].dtype.kind == "f")
    ]
