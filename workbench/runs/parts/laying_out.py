"""A corpus in shards laid out for one run: which group has which documents, and who works on them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from workbench.corpus.sharded import ShardedCorpus
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.in_parts import ADDED, ROUNDS, add_told, in_tree
from workbench.engines.lda.hyperparameters import learn
from workbench.engines.lda.likelihoods import added
from workbench.engines.lda.partition import ranges_of
from workbench.kernels.simd.lanes import aligned_copy, aligned_zeros
from workbench.runs.parts.crew import Here
from workbench.runs.parts.group import Place, Setting
from workbench.runs.scoring import Average, Logs, initial_average, perplexity_of, scores_from
from workbench.runs.spec import RunSpec


class LaidOut:
    """A training and a test corpus in shards, laid out over the groups of a crew, as the loop works on them.

    It has the methods of `workbench.runs.parts.whole.Whole`. A state has what all parts share; the rows that belong to
    documents are with the groups, and are empty in it.

    Parameters
    ----------
    spec : RunSpec
    train, test : ShardedCorpus, None
        Of the same documents.
    scratch : Path, optional
        Folder for the rows of parts, one of which is in memory at a time; None: all are held in memory.
    crew : (setting, places) -> who works on the groups; default in this process
    """

    def __init__(
        self,
        spec: RunSpec,
        train: ShardedCorpus,
        test: ShardedCorpus | None,
        scratch=None,
        crew: Callable = Here,
    ):
        self.train, self.test, self.places = train, test, places_of(spec, train)
        self.engine, self.model, self.options = spec.parts(train)
        self._how = self.engine.in_parts
        self._scratch = (
            None if scratch is None else tempfile.TemporaryDirectory(".partial", "rows-", scratch)
        )
        folder = self._scratch and self._scratch.name
        setting = Setting(spec, given(train), None if test is None else given(test), folder)
        self.crew = crew(setting, self.places)

    @property
    def rows(self) -> LaidOut:
        """Who has the rows of documents."""
        return self

    def init(self, context: StepContext, warm_start: WarmStart | None = None) -> tuple:
        """The first state, of sums of what the groups begin with, and the average before the first iteration."""
        shared = self.crew.begin(warm_start, context.interrupt)
        empty = {name: np.zeros((0, len(self.model.alphas))) for name in self._how.own}
        state = self.engine.state(**shared, **empty)
        return self._work_passes(state, 0, context.interrupt)[0], initial_average(None)

    def step(self, state, context: StepContext) -> tuple:
        """The state after every pass of a step over all groups, with priors that are due, and what the step tells."""
        spent = self.crew.cpu_seconds_elsewhere()
        state, told = self._work_passes(state, context.step, context.interrupt)

        def likelihood(corpus, statistics, prior):
            """Of alpha from the counts of documents, of all groups; of beta from those of words, which are here."""
            if prior.name == "beta":
                return self._how.likelihood(corpus, self.options, state, prior)
            return added(self._of_parts("likelihood", state, prior))

        samples = self._how.samples(self.options)
        state = learn(
            self.train, self.options, state, context, samples, lambda *_: None, likelihood
        )
        told = self._how.told(self.train, self.options, told)
        return state, told | {"cpu_time_elsewhere": self.crew.cpu_seconds_elsewhere() - spent}

    def _work_passes(self, state, step: int, interrupt: Callable) -> tuple:
        """The state after the passes of a step, and the numbers that they told."""
        told: dict = {}
        for at, each in enumerate(self._how.passes(self.options, step)):
            shared = self._shared(state)
            if each.kind == ADDED:
                changed, numbers = self.crew.added(at, step, shared, interrupt)
                state = state._replace(**changed)
            elif each.kind == ROUNDS:
                numbers = self.crew.rounds(at, step, shared, interrupt)
            else:
                counts = {
                    name: aligned_zeros(shared[name].shape, shared[name].dtype)
                    for name in each.changes
                }
                numbers = self.crew.in_order(at, step, shared | counts, interrupt)
                state = state._replace(**counts)
            told = add_told([told, numbers])
        return state, told

    def _shared(self, state) -> dict:
        """What all parts share, by name."""
        return {name: value for name, value in state._asdict().items() if name not in self._how.own}

    def _of_parts(self, method: str, state, *arguments) -> list:
        """The results of a method for all parts, in the order of their documents."""
        by_group = self.crew.each(method, self._shared(state), *arguments)
        return [*chain.from_iterable(by_group)]

    def score(self, state, average: Average, past_burn_in: bool, context: StepContext) -> tuple:
        """The average with a state taken in, and the test perplexities; the running average is kept by the groups."""
        if self.test is None:
            return average, {}, None
        logs = self._of_parts("scored", state, average.n_averaged, past_burn_in)
        columns = zip(*(map(float, each) for each in logs), strict=True)
        total = Logs(*(in_tree(column, float.__add__) for column in columns))
        average = average._replace(n_averaged=average.n_averaged + past_burn_in)
        samples = self._how.samples(self.options)
        return *scores_from(total, average, self.test, samples, past_burn_in), None

    def further_scores(self, predicted: None) -> dict:
        """The further scores of the model's family: none are computed by parts."""
        return {}

    def watch(self, state) -> dict:
        """The numbers that the engine watches."""
        watched = self._of_parts("watched", state)
        sums: dict = {
            name: in_tree([each[name] for each in watched], float.__add__) for name in watched[0]
        }
        # one group after the other: these arrays are as large as all counts of words
        if self._how.by_word:
            each = self.crew.each_in_turn("by_word", self._shared(state))
            # what was sent is read-only
            sums["by_word"] = reduce(self._how.joined, each, aligned_copy(next(each)))
        return self._how.watched(self.model, self.options, state, sums)

    def train_perplexity(self, state, context: StepContext) -> float:
        """The perplexity of the training tokens."""
        logs = map(float, self._of_parts("fitted", state))
        return perplexity_of(in_tree(logs, float.__add__), self.train)

    def counts(self, state) -> dict:
        """What a snapshot keeps: counts by word as they are, rows of documents and tokens from the groups."""
        shared, n_topics = self._shared(state), self.model.n_topics
        counts = {"n_kw": self._how.of_words(state)[:, :n_topics].T}
        for name, shape in {
            "n_dk": (self.train.n_documents, n_topics),
            "token_topics": (self.train.n_tokens,),
        }.items():
            if name == "n_dk" or name in self.engine.keeps:
                counts[name] = InRows(partial(_rows_of, self.crew, name, shared), shape)
        return counts

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


class InRows:
    """An array of a snapshot whose rows come from parts, one after the other; as an array it is made whole.

    Attributes
    ----------
    shape : tuple of int
    """

    def __init__(self, pieces, shape: tuple[int, ...]):
        self._pieces, self.shape = pieces, shape

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        """(first row, rows) of each part."""
        first = 0
        for rows in self._pieces():
            yield first, rows
            first += len(rows)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.concatenate([rows for _, rows in self]).astype(dtype, copy=False)


def _rows_of(crew, name: str, shared: dict) -> Iterator[np.ndarray]:
    for of_group in crew.each_in_turn("counts", name, shared):
        yield from of_group


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
