"""What is done with the documents of one group: those of a shard, or of a range of a partition, in one process.

A group has one part for each shard that its documents lie in. Its own rows of the state stay where it is; what all groups
share, counts by word and by topic and the priors, comes with every call and goes back with what it changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache, partial, reduce
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.sharded import ShardedCorpus
from workbench.data.archives import read_arrays, write_arrays
from workbench.engines.engine import StepContext, WarmStart, never_interrupted
from workbench.engines.in_parts import Pass, add_told
from workbench.engines.lda.blocks import Blocks
from workbench.engines.lda.partition import BlockOfPart, Columns, column_of, shared_out
from workbench.kernels.log_likelihood import log_likelihood
from workbench.kernels.uniforms import GIBBS, RESPONSIBILITIES, TOPICS
from workbench.runs.parts.own_rows import Derived, OwnRows, read_ahead
from workbench.runs.scoring import Average, Logs, initial_average, taken_in
from workbench.runs.spec import RunSpec

PREPARED: dict[tuple, object] = {}
"""What the last pass of a kind has prepared, by run, pass and step."""
ONE_AT_A_TIME = Lock()


class Place(NamedTuple):
    """Where a part lies: documents of one shard that follow each other."""

    first: int  # document
    last: int  # document after the last
    first_pair: int  # canonical numbers, in the whole corpus
    first_token: int


class Setting(NamedTuple):
    """What every process that works on parts of a run is told; it can be sent."""

    spec: RunSpec
    # folder of the corpus; the corpus itself where it is in memory
    train: str | ShardedCorpus
    test: str | ShardedCorpus | None
    scratch: str | None  # folder for the rows of parts; None: they are held in memory


def opened(given: str | ShardedCorpus) -> ShardedCorpus:
    """The corpus, from its folder if need be."""
    return _opened(given) if isinstance(given, str) else given


@lru_cache(maxsize=4)
def _opened(folder: str) -> ShardedCorpus:
    return ShardedCorpus.open(folder)


def sets_of(setting: Setting) -> np.ndarray:
    """(word,) the set of each word in passes of the kind ROUNDS, by the partition of the engine's options."""
    return shared_out(
        opened(setting.train).word_tokens.astype(np.float64), setting.spec.parts()[2].partition
    )


def pass_of(setting: Setting, at: int, step: int) -> Pass:
    """A pass of a step."""
    engine, _, options = setting.spec.parts()
    return engine.in_parts.passes(options, step)[at]


class Part:
    """The documents of one place, with the rows of the state, and of the running average, that are theirs."""

    def __init__(self, setting: Setting, place: Place, number: str):
        folder = None if setting.scratch is None else Path(setting.scratch) / number
        self.place, self._setting, self._folder = place, setting, folder
        self.own, self.average = OwnRows(folder), OwnRows(folder and folder / "average")
        self._held: dict = {}
        self._derived = Derived(folder and folder / "derived")

    def corpus(self, which: str = "train") -> Corpus | None:
        """The documents, to train on or to test; mapped anew for each use where memory is to be spared."""
        if which in self._held:
            return self._held[which]
        given = getattr(self._setting, which)
        found = None if given is None else opened(given).rows(self.place.first, self.place.last)
        if self._folder is None:
            self._held[which] = found
        return found

    def read_ahead(self) -> None:
        """Has its files read while another part is worked on."""
        if self._folder is not None:
            read_ahead(self._folder)

    def columns(self, corpus: Corpus, split, sets: np.ndarray, of: int, sampled: bool) -> Columns:
        """The pairs of the documents that are sampled, or averaged, with the words of one set."""

        def make() -> Columns:
            return column_of(corpus, np.flatnonzero(split.sampled == sampled), sets, of)

        return self._derived.get(f"{'sampled' if sampled else 'averaged'}-{of}", make)

    def with_blocks(self, split) -> SplitOfPart:
        """A split of the documents whose blocks are made once."""
        return SplitOfPart(split, self._derived)


class SplitOfPart:
    """A split with its blocks kept, in memory or in files; otherwise as it is."""

    def __init__(self, split, derived: Derived):
        self._split, self._derived = split, derived

    def __getattr__(self, name: str):
        return getattr(self._split, name)

    def blocks(self, lanes: int, n_threads: int) -> Blocks:
        """See `workbench.engines.lda.split.Split.blocks`."""
        found = self._derived.get(
            f"blocks-{lanes}-{n_threads}", lambda: self._split.blocks(lanes, n_threads)
        )
        return found._replace(ranges=[(int(first), int(last)) for first, last in found.ranges])


def reading_ahead(items: list) -> Iterator:
    """Groups, or parts, in order; the files of the next are read while one is worked on."""
    for item, following in zip_longest(items, items[1:]):
        if following is not None:
            following.read_ahead()
        yield item


class Group:
    """The parts of a group and all that is done with them; each method is called by its name (see `crew`)."""

    def __init__(self, setting: Setting, number: int, places: list[Place]):
        self.setting, spec = setting, setting.spec
        self._engine, self._model, self._options = spec.parts()
        self._how = self._engine.in_parts
        self.parts = [Part(setting, place, f"{number}-{at}") for at, place in enumerate(places)]

    def read_ahead(self) -> None:
        """Has the files of its first part read while another group is worked on."""
        for part in self.parts[:1]:
            part.read_ahead()

    @cached_property
    def sets(self) -> np.ndarray:
        """(word,) the set of each word in passes of the kind ROUNDS."""
        return sets_of(self.setting)

    def _context(self, part: Part, step: int, interrupt) -> StepContext:
        """The context of a step whose uniforms are those that the part has in the whole corpus."""
        _, _, first_pair, first_token = part.place
        before = (
            (TOPICS, first_token),
            (GIBBS, first_token),
            (RESPONSIBILITIES, first_pair * self._model.n_topics),
        )
        return StepContext(
            self.setting.spec.seed, step, self.setting.spec.n_threads, interrupt, before
        )

    def _states(self, shared: dict) -> Iterator[tuple[Part, Corpus, NamedTuple]]:
        """Each part with its documents and its state: what is shared, and its own rows."""
        for part in reading_ahead(self.parts):
            yield part, part.corpus(), self._engine.state(**shared | part.own.get())

    # ------------------------------------------------------------------ steps

    def begin(self, warm_start: WarmStart | None, interrupt=never_interrupted) -> dict:
        """Makes the first state of the parts; returns what is shared, with the counts of these documents alone."""
        totals: dict = {}
        for part in self.parts:
            corpus, place = part.corpus(), part.place
            given = warm_start and _of_documents(warm_start, place, corpus.n_tokens)
            context = self._context(part, 0, interrupt)
            state = (self._how.begin or self._engine.init)(
                corpus, self._model, self._options, context, given
            )._asdict()
            part.own.put({name: state.pop(name) for name in self._how.own})
            if test := part.corpus("test"):
                _put(part.average, initial_average(test))
            totals = add_shared(totals, state) if totals else state
        return totals

    def added(
        self, at: int, step: int, shared: dict, interrupt=never_interrupted
    ) -> tuple[dict, dict]:
        """A pass of the kind ADDED: what it changes, as these documents count it, and numbers to be told."""
        each = pass_of(self.setting, at, step)
        prepared = (
            () if each.prepare is None else (self._prepared(each, (at, step), shared, interrupt),)
        )
        totals, told = {}, []
        for part, corpus, state in self._states(shared):
            state = state._replace(**{name: getattr(state, name).copy() for name in each.changes})
            split = part.with_blocks(self._how.split(corpus, self._options))
            state, numbers = each.work(
                corpus, self._options, state, self._context(part, step, interrupt), split, *prepared
            )
            changed = {name: getattr(state, name) for name in (*each.changes, *self._how.numbers)}
            totals = add_shared(totals, changed) if totals else changed
            told.append(numbers)
        return totals, add_told(told)

    def _prepared(self, each: Pass, when: tuple[int, int], shared: dict, interrupt):
        """What a pass prepares for all parts: made once by the groups of a run in this process."""
        key = self.setting.spec.hash, *when
        with ONE_AT_A_TIME:
            if key not in PREPARED:
                PREPARED.clear()
                empty = dict.fromkeys(self._how.own)
                context = StepContext(
                    self.setting.spec.seed, when[1], self.setting.spec.n_threads, interrupt
                )
                PREPARED[key] = each.prepare(
                    self._options, self._engine.state(**shared | empty), context
                )
            return PREPARED[key]

    def block(self, at: int, step: int, shared: dict, of: int, interrupt=never_interrupted) -> dict:
        """A block of a pass of the kind ROUNDS, with one set of words, in place; returns numbers to be told."""
        each, told = pass_of(self.setting, at, step), []
        for part, corpus, state in self._states(shared):
            columns = partial(
                part.columns, corpus, self._how.split(corpus, self._options), self.sets, of
            )
            split = BlockOfPart(corpus.n_documents, self.sets == of, columns)
            told.append(
                each.work(
                    corpus, self._options, state, self._context(part, step, interrupt), split
                )[1]
            )
        return add_told(told)

    def in_order(self, at: int, step: int, shared: dict, interrupt=never_interrupted) -> dict:
        """A pass of the kind IN_ORDER, in place."""
        each, told = pass_of(self.setting, at, step), []
        for part, corpus, state in self._states(shared):
            split = self._how.split(corpus, self._options)
            told.append(
                each.work(
                    corpus, self._options, state, self._context(part, step, interrupt), split
                )[1]
            )
        return add_told(told)

    # ------------------------------------------------------------------ what is looked at

    def watched(self, shared: dict) -> list[dict]:
        """What is watched of documents, a part each."""
        return [
            self._how.of_part(corpus, self._model, self._options, state)
            for _, corpus, state in self._states(shared)
        ]

    def by_word(self, shared: dict) -> np.ndarray:
        """What is watched of words, (…, word, topic), of these documents; two such arrays are held at a time."""
        each = (
            self._how.by_word(corpus, self._model, self._options, state)
            for _, corpus, state in self._states(shared)
        )
        return reduce(self._how.joined, each)

    def fitted(self, shared: dict) -> list[float]:
        """The log likelihood of the training tokens, a part each."""
        return [
            log_likelihood(
                corpus.weights,
                self._engine.predict(corpus, self._model, self._options, state, corpus),
            )
            for _, corpus, state in self._states(shared)
        ]

    def scored(self, shared: dict, n_averaged: int, past_burn_in: bool) -> list[Logs]:
        """Takes the probabilities of the held-out tokens into the running average; returns their logarithms, a part each."""
        found = []
        for part, corpus, state in self._states(shared):
            test = part.corpus("test")
            probability = self._engine.predict(corpus, self._model, self._options, state, test)
            average, logs = taken_in(
                test, probability, _average(part.average, n_averaged), past_burn_in
            )
            if past_burn_in:
                _put(part.average, average)
            found.append(logs)
        return found

    def likelihood(self, shared: dict, prior) -> list:
        """The likelihood of the prior of documents, a part each."""
        return [
            self._how.likelihood(corpus, self._options, state, prior)
            for _, corpus, state in self._states(shared)
        ]

    def counts(self, name: str, shared: dict) -> list[np.ndarray]:
        """An array of a snapshot that has rows of documents or tokens, a part each."""
        states = self._states(shared)
        return [
            self._engine.counts(corpus, self._model, self._options, state)[name]
            for _, corpus, state in states
        ]

    # ------------------------------------------------------------------ checkpoints

    def save(self, folder: str, number: int) -> None:
        """Writes the rows of the parts into a file of the folder, which is replaced whole."""
        arrays = {
            f"{at}_{kind}_{name}": array
            for at, part in enumerate(self.parts)
            for kind in ("own", "average")
            for name, array in getattr(part, kind).get().items()
        }
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_arrays(Path(folder) / f"{number}.npz", arrays)

    def load(self, folder: str, number: int) -> None:
        """The rows from such a file."""
        found = read_arrays(Path(folder) / f"{number}.npz")
        for at, part in enumerate(self.parts):
            for kind in ("own", "average"):
                start = f"{at}_{kind}_"
                own = {
                    name.removeprefix(start): array
                    for name, array in found.items()
                    if name.startswith(start)
                }
                getattr(part, kind).load(own)


def add_shared(total: dict, other: dict) -> dict:
    """The counts of two parts added up, in place of the first; what is no count (a prior) stays."""
    for name, value in other.items():
        if isinstance(value, np.ndarray) and name != "alpha":
            total[name] += value
        elif name not in ("alpha", "beta"):
            total[name] = total[name] + value
    return total


def _of_documents(warm_start: WarmStart, place: Place, n_tokens: int) -> WarmStart:
    """What is known of the documents of a part."""
    n_dk, topics = warm_start.n_dk, warm_start.topics
    return WarmStart(
        warm_start.n_kw,
        None if n_dk is None else n_dk[place.first : place.last],
        None if topics is None else topics[place.first_token : place.first_token + n_tokens],
    )


def _put(rows: OwnRows, average: Average) -> None:
    rows.put({"probability": average.probability, "log_of_groups": average.log_of_groups})


def _average(rows: OwnRows, n_averaged: int) -> Average:
    found = rows.get()
    return Average(found["probability"], n_averaged, found["log_of_groups"])
