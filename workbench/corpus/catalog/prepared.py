"""Data sets of the catalog that are made from published ones, as a paper made them: nothing of them is stored."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.corpus.catalog.data_set import DataSet
from workbench.corpus.catalog.published import AP, KOS, NEWS20
from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.experiments import (
    drop_stop_words,
    frequent_words,
    keep_documents,
    keep_top_words,
)
from workbench.corpus.texts.english_stop_words import ENGLISH_STOP_WORDS

FIVE_GROUPS = (
    "comp.os.ms-windows.misc",
    "rec.autos",
    "rec.sport.baseball",
    "sci.space",
    "talk.politics.misc",
)


def five_groups(news20: Corpus) -> Corpus:
    """The messages of five groups: stop words out, then words of fewer than ten tokens."""
    return frequent_words(drop_stop_words(keep_documents(news20, FIVE_GROUPS)), 10)


def five_hundred(kos: Corpus) -> Corpus:
    """500 documents drawn with numpy's generator and seed 0, in the order drawn, with the words that they use."""
    chosen = np.random.default_rng(0).choice(kos.n_documents, 500, replace=False)
    return frequent_words(kos.of_documents(chosen))


def thousand_words(corpus: Corpus) -> Corpus:
    """The 1,000 most frequent words, where stop words are out already."""
    return keep_top_words(corpus, 1000)


def thousand_of_messages(news20: Corpus) -> Corpus:
    """The 1,000 most frequent words that are no stop words by scikit-learn's list, stumps of contractions kept."""
    return keep_top_words(drop_stop_words(news20, ENGLISH_STOP_WORDS), 1000)


@dataclass(frozen=True, kw_only=True)
class PreparedSet(DataSet):
    """A data set made from another one, whose files it uses; its statistics are those of the result."""

    source: DataSet
    make: Callable[[Corpus], Corpus]
    part: str = "all"  # of the source

    def folders(self) -> list[Path]:
        """Return the folders to search for the files of its source."""
        return self.source.folders()

    def fetch(self, progress: bool = True) -> Path:
        """The folder with the files of its source; see `DataSet.fetch`."""
        return self.source.fetch(progress)

    def load(self) -> Corpus:
        """Return the corpus, made anew; raise an error if its content is not the published one."""
        corpus = replace(self.make(self.source.load(self.part)), name=self.name)
        if corpus.content_hash != self.content:
            raise CorpusError(
                f"the data set {self.name!r} did not come out as described: content with the sha256 {self.content[:12]}… was "
                f"wanted, {corpus.content_hash[:12]}… came; another version of scikit-learn may have other stop words"
            )
        return corpus


def _prepared(
    name: str, title: str, source: DataSet, make: Callable[[Corpus], Corpus], **facts
) -> PreparedSet:
    """The data set that is made of a source, under the source's licence."""
    origin = f"made here of {source.name!r}: {source.origin}"
    return PreparedSet(
        name,
        title,
        source.forms,
        licence=source.licence,
        origin=origin,
        source=source,
        make=make,
        **facts,
    )


PREPARED = (
    _prepared(
        "kos500",
        "500 blog entries of dailykos.com, drawn from 'kos'",
        KOS,
        five_hundred,
        content="4c7ba5c459abd12c98e46b3cc47fb816e7fc43cd1a5b913d559cecd5c859dd3a",
        n_documents=500,
        n_words=6_253,
        n_pairs=50_212,
        n_tokens=66_321,
        agreement="exact: the documents of the specification of the HDP, section 17",
    ),
    _prepared(
        "news5",
        "five groups of 20 Newsgroups, stop words and rare words out",
        NEWS20,
        five_groups,
        content="2eb7e3f9792fac8c2cf191e8a653944fd8e8b7ca9a8335a6d4efb0274cd0686c",
        n_documents=4_700,
        n_words=8_631,
        n_pairs=340_902,
        n_tokens=510_142,
        agreement="other preparation: published were 4,716 documents, 8,424 words and 437,850 tokens; here scikit-learn's stop "
        "words and words of fewer than ten tokens are out",
    ),
    _prepared(
        "ap1000",
        "Associated Press articles, the 1,000 most frequent words",
        AP,
        thousand_words,
        content="deeefe5db3d0bed77c04b4e50c2bb9c307e74840ea9db72b9b2f053e1956e3de",
        n_documents=2_246,
        n_words=1_000,
        n_pairs=151_821,
        n_tokens=233_992,
        agreement="as the specification of stick-breaking, B.9, has it; stop words are out of 'ap' already",
    ),
    _prepared(
        "news1000",
        "training messages of 20 Newsgroups, the 1,000 most frequent words, stop words out",
        NEWS20,
        thousand_of_messages,
        part="train",
        content="8715aa0a5262cca71d25934a6093731370a4c93d7d86c13356f0e57ddf96c252",
        n_documents=11_269,
        n_words=1_000,
        n_pairs=433_149,
        n_tokens=678_293,
        agreement="as the specification of stick-breaking, B.9, has it",
    ),
)
