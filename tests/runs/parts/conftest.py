"""A small corpus in several shards, with held-out tokens in as many."""

import numpy as np
import pytest

from workbench.corpus import Corpus, ShardedCorpus
from workbench.corpus.shards import shard_writer as writing
from workbench.corpus.splits import hold_out_tokens

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
    documents, words = np.nonzero(table)
    return Corpus.from_pairs(
        documents,
        words,
        table[documents, words],
        n_documents=n_documents,
        n_words=n_words,
        name="drawn",
    )


@pytest.fixture(scope="session")
def pair():
    """Training and test corpus, whole."""
    return hold_out_tokens(drawn_corpus(), 0.2, 1)


@pytest.fixture(scope="session")
def in_shards(pair, tmp_path_factory):
    """The same two in folders, in five shards or more."""
    folder = tmp_path_factory.mktemp("shards")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "SHARD_PAIRS", 64)
        train, test = (
            ShardedCorpus.write(corpus, folder / name)
            for corpus, name in zip(pair, ("train", "test"), strict=True)
        )
    assert train.n_parts >= 5
    return train, test


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
