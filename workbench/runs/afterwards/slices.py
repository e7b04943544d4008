"""Infer theta of many unseen documents in slices: one after the other here, or in parallel on the workers of a cluster.

The bounds of slices depend on the documents and the number of topics alone, and the uniforms of a document on its number and
those of its tokens. So each theta has the bits that it has when all documents are folded in together, and sums over slices do
not depend on the number of workers.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.any_corpus import AnyCorpus
from workbench.data.arrays import sealed
from workbench.data.stored_texts import NumberedTitles
from workbench.kernels.log_likelihood import log_likelihood
from workbench.runs.afterwards.learnt import Topics, checked_numbers, places_in, renumbered

PAIRS, NUMBERS = 1 << 18, 1 << 20
"""Most pairs of a slice (3 MB with their indices), and most numbers in its theta (8 MB); but one document at least."""


@dataclass(frozen=True, eq=False)
class Slice:
    """Some documents over the words of a run: what is sent to a worker with a task."""

    first_document: int  # documents before them
    first_token: int  # tokens, of words that the run knows, before them
    indptr: np.ndarray  # (document + 1,) int64, from 0 on
    words: np.ndarray  # (pair,) int32
    counts: np.ndarray  # (pair,) int32
    authors: tuple | None  # (document,)
    times: tuple | None  # (document,)
    name: str  # of their corpus

    def corpus(self, vocabulary) -> Corpus:
        """Return the documents as a corpus over a vocabulary, numbered from 0."""
        n = len(self.indptr) - 1
        return Corpus.of_checked(
            indptr=sealed(self.indptr),
            words=sealed(self.words),
            counts=sealed(self.counts),
            vocabulary=vocabulary,
            titles=NumberedTitles(range(n)),
            authors=self.authors,
            times=self.times,
            name=self.name,
        )


class Inferred(NamedTuple):
    """The results of inference for consecutive documents."""

    first: int  # document
    last: int  # one after the last
    theta: np.ndarray  # (document, topic) float64, without the rest of an HDP
    n_tokens: np.ndarray  # (document,) int64
    # (document,) float64: share of the tokens whose word the run does not know
    out_of_vocabulary: np.ndarray


def folded_in(
    n_threads: int, topics: Topics, seed: int, documents: Slice
) -> tuple[np.ndarray, float]:
    """Return theta (document, topic) of a slice, and the log likelihood of its known tokens, nats; called on workers too."""
    pairs = documents.corpus(topics.vocabulary)
    theta = topics.fold_in(pairs, seed, n_threads, documents.first_document, documents.first_token)
    logs = (
        log_likelihood(pairs.counts, topics.word_probability(theta, pairs))
        if pairs.n_pairs
        else 0.0
    )
    return np.ascontiguousarray(theta[:, : topics.n_topics]), logs


class Inference:
    """Inference of unseen documents under the topics of a run.

    Parameters
    ----------
    topics : Topics
    corpus : Corpus or ShardedCorpus
    seed, n_threads : int
        A SpecError where one is out of range.
    """

    def __init__(self, topics: Topics, corpus: AnyCorpus, seed: int, n_threads: int):
        checked_numbers(seed, n_threads)
        self.topics, self.corpus, self._seed, self._n_threads = topics, corpus, seed, n_threads
        self.bounds = self._cuts()
        self.n_known, self._logs = 0, []

    def slices(self, client=None) -> Iterator[Inferred]:
        """Yield the results of all documents, in order, slice by slice; computed on the workers of a client, if any."""
        shares: deque[tuple] = deque()  # of the slices under way

        def documents() -> Iterator[Slice]:
            places = places_in(self.topics.vocabulary, self.corpus.vocabulary)
            for first, last in pairwise(self.bounds):
                part = self.corpus.rows(first, last)
                pairs = (
                    (part.indptr, part.words, part.counts)
                    if places is None
                    else renumbered(part, places)
                )
                about = (
                    None if values is None else tuple(values)
                    for values in (part.authors, part.times)
                )
                sent = Slice(first, self.n_known, *pairs, *about, part.name)
                n_tokens, known = (
                    part.document_tokens,
                    sent.corpus(self.topics.vocabulary).document_tokens,
                )
                shares.append((n_tokens, (n_tokens - known) / np.maximum(n_tokens, 1)))
                self.n_known += int(known.sum())
                yield sent

        work = partial(folded_in, self._n_threads)
        shared = self.topics, self._seed
        if client is None:
            results = (work(*shared, each) for each in documents())
        else:
            from workbench.runs.execution.cluster.inferring import results_of

            results = results_of(client, work, shared, documents())
        for (theta, logs), (first, last) in zip(results, pairwise(self.bounds), strict=True):
            self._logs.append(logs)
            yield Inferred(first, last, theta, *shares.popleft())

    def attrs(self) -> dict:
        """Return run, engine, corpus and seed; after all slices also the share of unknown tokens and the perplexity."""
        log_likelihood = math.fsum(self._logs)
        return about(self.topics, self.corpus, self.n_known, self._seed) | {
            "perplexity_foldin_same": float(np.exp(-log_likelihood / self.n_known))
            if self.n_known
            else math.nan,
        }

    def _cuts(self) -> list[int]:
        """Return the first document of each slice, and one after the last; a slice lies within one part."""
        most, cuts = max(NUMBERS // self.topics.n_topics, 1), [0]
        for begin, part in self.corpus.parts_in_order():
            indptr, first, n_documents = part.indptr, 0, part.n_documents
            while first < n_documents:
                full = int(np.searchsorted(indptr, indptr[first] + PAIRS, "right")) - 1
                first = min(max(full, first + 1), first + most, n_documents)
                cuts.append(begin + first)
        return cuts


def about(topics: Topics, corpus, n_known: int, seed: int) -> dict:
    """Return run, engine, corpus and seed, and the share of the tokens that the run does not know."""
    return {
        "run": topics.spec.name,
        "engine": topics.spec.engine,
        "corpus": corpus.name,
        "seed": seed,
        "out_of_vocabulary": 1 - n_known / corpus.n_tokens if corpus.n_tokens else 0.0,
    }
