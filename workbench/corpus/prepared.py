"""Data sets of the catalog that are made from published ones, as a paper made them: nothing of them is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.data_set import FACTS, DataSet
from workbench.corpus.experiments import drop_stop_words, frequent_words, keep_documents
from workbench.corpus.published import KOS, NEWS20

FIVE_GROUPS = ("comp.os.ms-windows.misc", "rec.autos", "rec.sport.baseball", "sci.space", "talk.politics.misc")


def five_groups(news20: Corpus) -> Corpus:
    """The messages of five groups: stop words out, then words of fewer than ten tokens."""
    return frequent_words(drop_stop_words(keep_documents(news20, FIVE_GROUPS)), 10)


def five_hundred(kos: Corpus) -> Corpus:
    """500 documents drawn with numpy's generator and seed 0, in the order drawn, with the words that they use."""
    chosen = np.random.default_rng(0).choice(kos.n_documents, 500, replace=False)
    return frequent_words(kos.of_documents(chosen))


@dataclass(frozen=True)
class PreparedSet:
    """A name of the catalog for what is made of another data set; its statistics are those of what comes out."""

    name: str
    title: str               # one line for people
    source: DataSet
    make: Callable[[Corpus], Corpus]
    content: str             # sha256 (hex) of what comes out
    n_documents: int
    n_words: int
    n_pairs: int
    n_tokens: int
    agreement: str

    @property
    def licence(self) -> str:
        return self.source.licence

    @property
    def origin(self) -> str:
        return f"made here of {self.source.name!r}: {self.source.origin}"

    @property
    def options(self) -> dict:
        """Nothing can be chosen."""
        return {}

    def folder(self) -> Path | None:
        """Where the files of its source are."""
        return self.source.folder()

    def whereabouts(self) -> str:
        """As of its source."""
        return self.source.whereabouts()

    def facts(self) -> dict:
        """What there is to know of it, as JSON can hold it."""
        return self.source.facts() | {name: getattr(self, name) for name in FACTS} | {"options": {}}

    def fetch(self, progress: bool = True) -> Path:
        """The folder with the files of its source; see `DataSet.fetch`."""
        return self.source.fetch(progress)

    def load(self) -> Corpus:
        """The corpus, made anew.

        Raises
        ------
        CorpusError
            The source is missing or is not the published one, or something else came out than was described.
        """
        corpus = replace(self.make(self.source.load()), name=self.name)
        if corpus.content_hash != self.content:
            raise CorpusError(
                f"the data set {self.name!r} did not come out as described: content with the sha256 {self.content[:12]}… was "
                f"wanted, {corpus.content_hash[:12]}… came; another version of scikit-learn may have other stop words"
            )
        return corpus


PREPARED = (
    PreparedSet(
        "kos500", "500 blog entries of dailykos.com, drawn from 'kos'", KOS, five_hundred,
        content="4c7ba5c459abd12c98e46b3cc47fb816e7fc43cd1a5b913d559cecd5c859dd3a",
        n_documents=500, n_words=6_253, n_pairs=50_212, n_tokens=66_321,
        agreement="exact: the documents of the specification of the HDP, section 17",
    ),
    PreparedSet(
        "news5", "five groups of 20 Newsgroups, stop words and rare words out", NEWS20, five_groups,
        content="2eb7e3f9792fac8c2cf191e8a653944fd8e8b7ca9a8335a6d4efb0274cd0686c",
        n_documents=4_700, n_words=8_631, n_pairs=340_902, n_tokens=510_142,
        agreement="other preparation: published were 4,716 documents, 8,424 words and 437,850 tokens; here scikit-learn's stop "
        "words and words of fewer than ten tokens are out",
    ),
)
