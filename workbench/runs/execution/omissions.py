"""Words and documents that are left out of the data of a run that continues another.

They are written as ``omit said mr`` (or ``omit said, New York``) and ``omit-document 3 17``; documents have the numbers that
they have in the run.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus, CorpusError
from workbench.corpus.experiments import keep_words
from workbench.engines.engine import WarmStart
from workbench.engines.lda.fold_in import mixture_probability
from workbench.errors import nearest_or_all
from workbench.models.options import OptionError

WORDS, DOCUMENTS = "omit", "omit-document"


class Omissions(NamedTuple):
    """Masks of the words and the documents of a corpus that stay when others are left out."""

    words: np.ndarray  # (word,) bool
    documents: np.ndarray  # (document,) bool

    def of_corpus(self, corpus: Corpus) -> Corpus:
        """Return the corpus without the omitted words and documents; raise CorpusError if no token is left."""
        if not (self.words[corpus.words] & self.documents[corpus.documents]).any():
            raise CorpusError(f"no token of {corpus.name!r} would be left; leave out fewer")
        reduced = corpus if self.words.all() else keep_words(corpus, self.words)
        return (
            reduced
            if self.documents.all()
            else reduced.of_documents(np.flatnonzero(self.documents))
        )

    def of_counts(self, start: WarmStart, corpus: Corpus) -> WarmStart:
        """Return a warm start without omitted tokens, whose counts are estimated if the topics of tokens are unknown."""
        is_kept = self.words[corpus.words] & self.documents[corpus.documents]
        n_kw, n_dk = np.zeros_like(start.n_kw), np.zeros_like(start.n_dk)
        weights = weights_of(start, corpus)
        for topic in range(len(n_kw)):
            topic_weights = np.where(is_kept, weights(topic), 0.0)
            n_kw[topic] = np.bincount(corpus.words, topic_weights, corpus.n_words)
            n_dk[:, topic] = np.bincount(corpus.documents, topic_weights, corpus.n_documents)
        topics = start.topics
        return WarmStart(
            np.ascontiguousarray(n_kw[:, self.words]),
            n_dk[self.documents],
            None if topics is None else topics[np.repeat(is_kept, corpus.counts)],
        )


def split_edits(edits: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split edits into two lists: those that change topics, and those that leave words or documents out."""
    groups: tuple[list[str], list[str]] = [], []
    for edit in edits:
        groups[str(edit).split(" ")[0] in (WORDS, DOCUMENTS)].append(edit)
    return groups


def omissions_of(edits: Sequence[str], corpus: Corpus) -> Omissions:
    """Return the `Omissions` of edits such as "omit said"; raise OptionError if the corpus lacks a word or document."""
    words, documents = np.ones(corpus.n_words, bool), np.ones(corpus.n_documents, bool)
    word_ids = {word: word_id for word_id, word in enumerate(corpus.vocabulary)}
    for edit in edits:
        action, _, arguments = edit.partition(" ")
        names = _split_names(arguments.strip(), word_ids if action == WORDS else {})
        if not names:
            raise OptionError.must_be(
                "an edit of the data", "like omit said or omit-document 3", edit
            )
        for name in names:
            if action == DOCUMENTS:
                number = int(name) if name.isdecimal() and len(name) < 10 else name
                documents[OptionError.whole("a document", number, 0, len(documents) - 1)] = False
            elif name in word_ids:
                words[word_ids[name]] = False
            else:
                hint = nearest_or_all(name, word_ids, "write it as the topics have it")
                raise OptionError(f"{corpus.name!r} has no word {name!r} to leave out; {hint}")
    if not documents.any():
        raise OptionError(f"no document of {corpus.name!r} would be left; leave out fewer")
    if corpus.sequence is not None and not documents.all():
        raise OptionError(
            f"the documents of {corpus.name!r} stand in sequences, of which none can be left out; leave out words"
        )
    return Omissions(words, documents)


def _split_names(text: str, vocabulary: Container[str]) -> list[str]:
    """Split a text at ", " into names, else at blanks, and at commas except those within a name in ``vocabulary``."""
    names = text.split(", ") if ", " in text else [text] if text in vocabulary else text.split()
    parts = ([name] if name in vocabulary else name.split(",") for name in names)
    return [name.strip() for part in parts for name in part if name.strip()]


def weights_of(start: WarmStart, corpus: Corpus) -> Callable[[int], np.ndarray]:
    """Return a function from a topic to the expected number (pair,) of tokens that each document-word pair has in it.

    They are counted if the topics of tokens are known, and else divided by p(topic | pair).
    """
    if start.topics is not None:
        pair = np.repeat(np.arange(corpus.n_pairs), corpus.counts)
        return lambda topic: np.bincount(pair[start.topics == topic], minlength=corpus.n_pairs)
    phi = start.n_kw / np.maximum(start.n_kw.sum(axis=1, keepdims=True), 1e-300)
    mixture = mixture_probability(start.n_dk, np.ascontiguousarray(phi.T), corpus)
    return lambda topic: (
        corpus.counts * start.n_dk[corpus.documents, topic] * phi[topic, corpus.words] / mixture
    )
