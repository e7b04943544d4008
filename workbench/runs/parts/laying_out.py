"""A corpus in shards laid out for one run: which group has which documents, and who works on them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from workbench.corpus.sharded import ShardedCorpus
from workbench.engines.in_parts import ROUNDS
from workbench.engines.lda.partition import ranges_of
from workbench.runs.parts.crew import Here
from workbench.runs.parts.group import Place, Setting
from workbench.runs.spec import RunSpec


class LaidOut:
    """A training and a test corpus in shards, laid out over the groups of a crew; stands for the training corpus in the loop.

    Parameters
    ----------
    spec : RunSpec
    train, test : ShardedCorpus, None
        Of the same documents.
    scratch : Path, optional
        Folder for the rows of parts, one of which is in memory at a time; None: all are held in memory.
    crew : (setting, places) -> who works on the groups; default in this process
    """

    item = ShardedCorpus.item

    def __init__(
        self,
        spec: RunSpec,
        train: ShardedCorpus,
        test: ShardedCorpus | None,
        scratch=None,
        crew: Callable = Here,
    ):
        self.whole, self.test, self.places = train, test, places_of(spec, train)
        self._scratch = (
            None if scratch is None else tempfile.TemporaryDirectory(".partial", "rows-", scratch)
        )
        folder = self._scratch and self._scratch.name
        setting = Setting(spec, given(train), None if test is None else given(test), folder)
        self.crew = crew(setting, self.places)

    n_documents = property(lambda self: self.whole.n_documents)
    n_words = property(lambda self: self.whole.n_words)
    n_pairs = property(lambda self: self.whole.n_pairs)
    n_tokens = n_items = property(lambda self: self.whole.n_tokens)

    def save(self, folder: Path) -> None:
        """Writes the rows of all parts into files of the folder."""
        for number in range(len(self.places)):
            self.crew.alone(number, "save", str(folder), number)

    def load(self, folder: Path) -> None:
        """The rows of all parts from such files."""
        for number in range(len(self.places)):
            self.crew.alone(number, "load", str(folder), number)

    def close(self) -> None:
        """Lets the rows go, and deletes the files they were in."""
        self.crew.close()
        if self._scratch:
            self._scratch.cleanup()


def given(corpus: ShardedCorpus):
    """How another process finds the corpus: by its folder, where it has one."""
    return corpus if corpus.folder is None else str(Path(corpus.folder).resolve())


def places_of(spec: RunSpec, corpus: ShardedCorpus) -> list[list[Place]]:
    """The places of the parts of each group: a shard each, or of an engine with rounds a range of its partition each."""
    engine, _, options = spec.parts()
    tokens_before = np.concatenate([[0], np.cumsum(corpus.document_tokens)])
    cuts = list(pairwise(corpus.bounds.tolist()))
    if any(each.kind == ROUNDS for each in engine.in_parts.passes(options, 1)):
        cuts = ranges_of(tokens_before, options.partition)
    return [list(_places(corpus, tokens_before, *cut)) for cut in cuts]


def _places(
    corpus: ShardedCorpus, tokens_before: np.ndarray, first: int, last: int
) -> Iterator[Place]:
    """The parts of the documents from ``first`` to before ``last``, one for each shard that has any."""
    bounds = corpus.bounds.tolist()
    for shard, (begin, end) in enumerate(pairwise(bounds)):
        begin, end = max(begin, first), min(end, last)
        if begin < end:
            before = int(corpus.shard(shard).indptr[begin - bounds[shard]])
            yield Place(
                begin, end, int(corpus.first_pairs[shard]) + before, int(tokens_before[begin])
            )
