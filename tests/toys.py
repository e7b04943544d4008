"""Tiny corpora, and exact values for some of them (tests/oracles)."""

import json
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np

from workbench.corpus import Corpus
from workbench.engines import ENGINES, get_engine
from workbench.models import HDP, LDA
from workbench.records import Records


def called(function):
    """A part of kernels with an entrance from Python, which it has not by itself."""
    return numba.njit(lambda *arguments: function(*arguments), error_model="numpy")


def read_oracles(name: str = "lda") -> dict:
    return json.loads((Path(__file__).parent / "oracles" / f"{name}.json").read_text())


def corpus_of(pairs, n_documents=None, n_words=None) -> Corpus:
    """The corpus of [(document, word, count)]."""
    return Corpus.from_pairs(*np.array(pairs).T, n_documents=n_documents, n_words=n_words)


def corpus_of_table(counts, vocabulary=None, **about) -> Corpus:
    """The corpus of (document, word) counts."""
    counts = np.array(counts)
    documents, words = np.nonzero(counts)
    rows = documents, words, counts[documents, words]
    return Corpus.from_pairs(*rows, vocabulary, *counts.shape, **about)


def dense(corpus: Corpus) -> np.ndarray:
    """(document, word) counts."""
    return corpus.to_scipy().toarray()


def dated(corpus: Corpus) -> Corpus:
    """The same corpus with the years 1990, 1992 and 1993, in turns: one year has no document."""
    years = (1990, 1992, 1993)
    return replace(corpus, times=tuple(years[d % 3] for d in range(corpus.n_documents)))


def placed(corpus: Corpus) -> Corpus:
    """The same corpus with inputs: the years of `dated`, and latitudes that no two documents share."""
    years = [(1990.0, 1992.0, 1993.0)[d % 3] for d in range(corpus.n_documents)]
    inputs, names = (
        np.column_stack([years, 30.0 + np.arange(corpus.n_documents)]),
        ("year", "latitude"),
    )
    return replace(corpus, inputs=inputs, input_names=names)


def labelled(corpus: Corpus) -> Corpus:
    """The same corpus with the labels "0", "1" and "2", in turns: categories that could be numbers."""
    return replace(corpus, labels=tuple(str(d % 3) for d in range(corpus.n_documents)))


def sequenced(corpus: Corpus) -> Corpus:
    """The same corpus in two sequences: of the first ten documents, and of what is left."""
    return replace(
        corpus,
        sequence=tuple(("first" if d < 10 else "second", d) for d in range(corpus.n_documents)),
    )


def records_of(corpus: Corpus) -> Records:
    """A record for each document, with a field for each word: none, one, more of it; empty ones have no known cell."""
    values = np.zeros((corpus.n_documents, corpus.n_words), int)
    values[corpus.documents, corpus.words] = np.minimum(corpus.counts, 2)
    values[corpus.document_tokens == 0] = -1
    levels = (("none", "one", "more"),) * corpus.n_words
    return Records(
        values,
        np.ones(len(values), int),
        tuple(f"word {w}" for w in range(corpus.n_words)),
        levels,
        corpus.name,
    )


def data_for(engine, corpus: Corpus) -> Corpus | Records:
    """The data of a corpus as the model of an engine takes them."""
    return records_of(corpus) if engine.model.data is Records else corpus


def each_level(records: Records) -> list[Records]:
    """For each level of the first field, records that have it, and no other cell: what to ask a predictive for."""
    values = np.full(records.values.shape, -1)
    found = []
    for level in range(len(records.levels[0])):
        values[:, 0] = level
        found.append(records.with_values(values.copy(), records.multiplicities))
    return found


def has_topics(name: str) -> bool:
    """Has the model of an engine topics, with priors of theta and phi?"""
    return hasattr(get_engine(name).model, "priors")


def toy_a() -> tuple[Corpus, LDA]:
    """2 documents, 3 words, 5 pairs, 9 tokens, K = 2, alpha = (0.7, 0.4): the toyA of the oracles."""
    return corpus_of([(0, 0, 3), (0, 1, 1), (1, 0, 1), (1, 1, 1), (1, 2, 3)]), LDA(
        2, (0.7, 0.4), 0.3
    )


def toy_three_topics() -> tuple[Corpus, LDA]:
    """3 documents, 3 words, 7 tokens, K = 3 with unequal alpha: 2187 assignments."""
    return corpus_of([(0, 0, 2), (0, 2, 1), (1, 1, 1), (1, 2, 1), (2, 0, 1), (2, 1, 1)]), LDA(
        3, (0.9, 0.5, 0.2), 0.4
    )


def simulated(n_documents=12, n_words=20, tokens_per_document=15, seed=3) -> Corpus:
    """About 180 tokens of 4 topics, counts from 1 upwards."""
    return LDA(4, 0.3, 0.2).simulate(n_documents, n_words, tokens_per_document, seed)[0]


LDA_ENGINES, HDP_ENGINES = (
    [name for name in ENGINES if get_engine(name).model is model] for model in (LDA, HDP)
)


CORPORA = {
    "toy_a": toy_a()[0],
    "one_token": corpus_of([(0, 0, 1)], 1, 3),
    "one_document": corpus_of([(0, 0, 1), (0, 2, 4), (0, 3, 2)], 1, 5),
    "one_word": corpus_of([(0, 0, 1), (1, 0, 4), (2, 0, 2)], 3, 1),
    "one_token_documents": corpus_of([(d, d % 4, 1) for d in range(9)], 9, 4),
    "empty_documents_and_unused_words": corpus_of([(1, 1, 2), (1, 4, 1), (3, 1, 1)], 6, 7),
    "twelve_documents": simulated(),
}


def doubled(corpus: Corpus) -> Corpus:
    """Every count twice."""
    return corpus.with_pairs(corpus.indptr, corpus.words, 2 * corpus.counts)


def every_pair(corpus: Corpus) -> Corpus:
    """Each document with each word once: what to ask a predictive for to see a whole table."""
    documents, words = np.indices((corpus.n_documents, corpus.n_words)).reshape(2, -1)
    return Corpus.from_pairs(
        documents,
        words,
        np.ones(len(words)),
        n_documents=corpus.n_documents,
        n_words=corpus.n_words,
    )


def random_gamma(corpus: Corpus, n_topics: int, seed: int = 0) -> np.ndarray:
    """(pair, topic) responsibilities, flat."""
    return np.random.default_rng(seed).dirichlet(np.ones(n_topics), corpus.n_pairs)


def random_topics(corpus: Corpus, n_topics: int, seed: int = 0) -> np.ndarray:
    """(token,) topics, uniform."""
    return np.random.default_rng(seed).integers(n_topics, size=corpus.n_tokens).astype(np.uint16)
