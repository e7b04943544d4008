"""One part of the corpus of a run: its documents, its rows of the state and of the running average, and their computations.

The rows stay in the process of the part. The shared arrays (counts by word and by topic, priors) are arguments of each call.

The arrays of a part are in memory, or in files that are memory-mapped while the part is computed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus import AnyCorpus, Corpus
from workbench.corpus.shards.sharded import ShardedCorpus
from workbench.data.saving import read_arrays, write_arrays
from workbench.engines.engine import Engine, Phase, State, StepContext, WarmStart, row_fields
from workbench.kernels.log_likelihood import log_likelihood
from workbench.kernels.simd.vectors import aligned_copy
from workbench.kernels.uniforms import (
    GIBBS,
    HDP_NEW_TOPICS,
    HDP_TABLES,
    PATHS_WITHIN,
    RESPONSIBILITIES,
    TOPICS,
)
from workbench.runs.scoring import Average, Logs, initial_average, updated_average
from workbench.runs.spec import RunSpec


def read_ahead(folder: Path) -> None:
    """Ask the system to read the array files of a folder in the background, if it supports this."""
    if hasattr(os, "posix_fadvise"):
        for path in folder.rglob("*.npy"):
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)


class OwnRows:
    """The named arrays with rows for one part's documents or tokens, in memory or each in a file of a folder.

    An array in a file is memory-mapped when it is requested: changes are written to the file, and it uses memory until it is
    deleted.
    """

    def __init__(self, folder: Path | None):
        self._folder, self._held = folder, {}

    def put(self, arrays: dict[str, np.ndarray]) -> None:
        """Store arrays, given as name → array."""
        for name, array in arrays.items():
            if self._folder is None or not array.size:  # an empty file cannot be mapped
                self._held[name] = array
                continue
            is_mapped = name in self._held and self._held[name] is None
            if not is_mapped or self._mapped(name).shape != array.shape:
                self._folder.mkdir(parents=True, exist_ok=True)
                np.lib.format.open_memmap(
                    self._folder / f"{name}.npy", "w+", array.dtype, array.shape
                )
                self._held[name] = None
            self._mapped(name)[...] = array

    def get(self) -> dict[str, np.ndarray]:
        """Return all arrays as a dict, to be changed in place; another thread may call `put` meanwhile."""
        return {
            name: self._mapped(name) if array is None else array
            for name, array in self._held.copy().items()
        }

    def _mapped(self, name: str) -> np.ndarray:
        return np.asarray(np.load(self._folder / f"{name}.npy", mmap_mode="r+"))


def rows_in(path: Path, kind: str) -> dict[str, np.ndarray]:
    """Return a part's arrays from its checkpoint file, by name: of the state ("own") or the running average ("average")."""
    arrays = read_arrays(path, f"{kind}_", mend="")
    return {name.removeprefix(f"{kind}_"): aligned_copy(array) for name, array in arrays.items()}


class ShardRange(NamedTuple):
    """The position of one shard's documents, pairs and tokens in the corpus."""

    first: int  # first document
    last: int  # one after the last document
    first_pair: int  # number of its first pair in the whole corpus
    first_token: int  # number of its first token in the whole corpus


class Setting(NamedTuple):
    """The settings of a run that every process with parts of it receives; picklable."""

    spec: RunSpec
    # path of the folder of the corpus, or the corpus if it is in memory
    train: str | AnyCorpus
    test: str | AnyCorpus | None
    scratch: str | None  # folder for the rows of parts; None if they are in memory
    samples: bool  # whether any token of the corpus is sampled


def opened(corpus: str | AnyCorpus) -> AnyCorpus:
    """Return a corpus given as such or as the path of its folder, which is then opened."""
    return _opened(corpus) if isinstance(corpus, str) else corpus


_opened = lru_cache(maxsize=4)(ShardedCorpus.open)


class Part:
    """One part of a run's data: a shard's documents, with their rows of the state and of the running average."""

    def __init__(self, setting: Setting, shard_range: ShardRange, number: int):
        folder = None if setting.scratch is None else Path(setting.scratch) / str(number)
        self.shard_range, self.number, self._setting, self._folder = (
            shard_range,
            number,
            setting,
            folder,
        )
        self.engine, self._model, self._options = setting.spec.parts(opened(setting.train))
        self.own, self.average = OwnRows(folder), OwnRows(folder and folder / "average")
        self._held: dict = {}
        self._derived: dict[str, tuple[type, OwnRows]] = {}
        self._generator: Generator | None = None
        self._changed_settings: dict = {}

    def use(self, spec: RunSpec, samples: bool, changed: tuple = ()) -> None:
        """Use the model and the options of a spec from the next step on.

        changed : (name, former value) of each setting that was turned
        """
        self._setting = self._setting._replace(spec=spec, samples=samples)
        self.engine, self._model, self._options = spec.parts(opened(self._setting.train))
        if changed:  # what was derived for the old settings is not for these
            self._derived = {}
        self._changed_settings = dict(changed)

    def average_anew(self) -> None:
        """Begin the running average of the part's held-out tokens anew."""
        if test := self.corpus("test"):
            self.put_average(initial_average(test))

    def corpus(self, which: str = "train") -> Corpus | None:
        """Return the part's training ("train") or test ("test") documents.

        If the rows are in files, the documents are memory-mapped again for each call, to save memory.
        """
        if which in self._held:
            return self._held[which]
        source = getattr(self._setting, which)
        documents = (
            None
            if source is None
            else opened(source).rows(self.shard_range.first, self.shard_range.last)
        )
        if self._folder is None:
            self._held[which] = documents
        return documents

    def read_ahead(self) -> None:
        """Ask the system to read the part's files in the background, while another part is computed."""
        if self._folder is not None:
            read_ahead(self._folder)

    def state(self, shared: dict) -> NamedTuple:
        """Return the engine's state for this part: the shared arrays together with the part's document arrays."""
        return self.engine.state(**shared | self.own.get())

    def context(self, step: int, interrupt: Callable, once: Callable) -> StepContext:
        """Return the context of a step, in which each token and pair gets the same uniforms as over the whole corpus."""
        _, _, first_pair, first_token = self.shard_range
        streams = TOPICS, GIBBS, HDP_NEW_TOPICS, HDP_TABLES, PATHS_WITHIN
        shifts = [(stream, first_token) for stream in streams]
        shifts.append((RESPONSIBILITIES, first_pair * self._model.n_topics))
        spec, samples = self._setting.spec, self._setting.samples
        return StepContext(
            spec.seed,
            step,
            spec.n_threads,
            interrupt,
            tuple(shifts),
            samples=samples,
            warm=spec.start is not None,
            changed=self._changed_settings,
            derived=self._derived_arrays,
            once=once,
        )

    def _derived_arrays(self, name: str, make: Callable[[], NamedTuple]) -> NamedTuple:
        """Return the arrays of that name, computed by ``make`` from the part's documents at the first call."""
        if name not in self._derived:
            values, rows = make(), OwnRows(self._folder and self._folder / "derived" / name)
            rows.put({field: np.asarray(value) for field, value in values._asdict().items()})
            self._derived[name] = type(values), rows
        kind, rows = self._derived[name]
        return kind(**rows.get())

    # ------------------------------------------------------------------ functions of the engine

    def work(
        self, call: Call, shared: dict | None, context: StepContext, warm_start: WarmStart | None
    ) -> Contribution | Returned:
        """Compute a phase on this part until sums over all parts are needed; return the part's contribution to these.

        If the phase needs no sums, its result is returned. Else the first part completes it by `finish`.
        shared : None in the first phase of `init`
        """
        phase, arguments = phase_of(self.engine, call), [self.corpus(), self._model, self._options]
        if shared is None:
            self.average_anew()
            arguments += context, self._part_warm_start(warm_start)
        else:
            arguments += self.state(shared), context
        generator = phase.work(*arguments)
        try:
            meeting = next(generator)
        except StopIteration as end:
            return Returned(self._without_rows(end.value))
        fields, old_rows = meeting.state._asdict(), self.own.get()
        rows = {name: fields.pop(name) for name in row_fields(self.engine.state)}
        self.own.put(
            {name: value for name, value in rows.items() if value is not old_rows.get(name)}
        )
        if self.number == 0:
            self._generator = generator
        return Contribution(fields, dict(meeting.sums))

    def finish(self, shared: dict, sums: dict):
        """Complete the phase that `work` began, given shared arrays and the sums over all parts; return the phase's result."""
        try:
            self._generator.send((self.state(shared), sums))
        except StopIteration as end:
            self._generator = None
            return self._without_rows(end.value)
        raise TypeError("a phase of an engine has one meeting, and this one yielded twice")

    def _without_rows(self, value):
        """Return the result of a phase without the document arrays of its state, which stay in this part."""
        names = row_fields(self.engine.state)

        def empty(state: State):
            rows = {name: getattr(state, name) for name in names}
            return state._replace(
                **{name: np.zeros((0,) * array.ndim, array.dtype) for name, array in rows.items()}
            )

        return with_state(value, self.engine.state, empty)

    def _part_warm_start(self, warm_start: WarmStart | None) -> WarmStart | None:
        """Return the warm start restricted to the documents of this part."""
        if warm_start is None:
            return None
        n_dk, topics, shard_range = warm_start.n_dk, warm_start.topics, self.shard_range
        last = shard_range.first_token + self.corpus().n_tokens
        return WarmStart(
            warm_start.n_kw,
            None if n_dk is None else n_dk[shard_range.first : shard_range.last],
            None if topics is None else topics[shard_range.first_token : last],
        )

    def fitted(self, shared: dict) -> float:
        """Return the log likelihood of the part's training tokens."""
        corpus, state = self.corpus(), self.state(shared)
        return log_likelihood(
            corpus.weights, self.engine.predict(corpus, self._model, self._options, state, corpus)
        )

    def scored(self, shared: dict, n_averaged: int, past_burn_in: bool) -> Logs:
        """Update the running average of the part's held-out tokens; return the log likelihoods of these tokens."""
        test, rows = self.corpus("test"), self.average.get()
        arguments = self.corpus(), self._model, self._options, self.state(shared), test
        average = Average(rows["probability"], n_averaged, rows["log_of_groups"])
        average, logs = updated_average(
            test, self.engine.predict(*arguments), average, past_burn_in
        )
        if past_burn_in:
            self.put_average(average)
        return logs

    def put_average(self, average: Average) -> None:
        """Store the running average of the part's held-out tokens."""
        names = "probability", "log_of_groups"
        self.average.put({name: getattr(average, name) for name in names})

    def counts(self, shared: dict) -> dict[str, np.ndarray]:
        """Return the arrays of a snapshot as a dict, with the rows of this part's documents only."""
        return self.engine.counts(self.corpus(), self._model, self._options, self.state(shared))

    def rows_of(self, name: str, shared: dict) -> np.ndarray:
        """Return one of the arrays that `counts` returns."""
        return self.counts(shared)[name]

    # ------------------------------------------------------------------ checkpoints

    def save(self, folder: str) -> None:
        """Write the part's document arrays and running average to a file in the folder, replacing an old file as a whole."""
        arrays = {
            f"{kind}_{name}": array
            for kind in ("own", "average")
            for name, array in getattr(self, kind).get().items()
        }
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_arrays(Path(folder) / f"{self.number}.npz", arrays)

    def load(self, folder: str) -> None:
        """Read the part's document arrays and running average from the file that `save` wrote."""
        path = Path(folder) / f"{self.number}.npz"
        for kind in ("own", "average"):
            getattr(self, kind).put(rows_in(path, kind))


class Call(NamedTuple):
    """A request to compute one phase of an engine's function over all parts: function, iteration, number of the phase."""

    function: str  # "init", "step", "watch" or "retune"
    step: int  # 0 for "init", else the iteration
    phase: int = 0


def phase_of(engine: Engine, call: Call) -> Phase:
    """Return the engine's `Phase` that a `Call` asks to compute."""
    return getattr(engine, call.function).phases[call.phase]


class Contribution(NamedTuple):
    """The contribution of some parts to a phase that needs sums over all parts."""

    # the shared arrays after parts in turn, or their changes by parts in parallel, by name
    shared: dict
    sums: dict  # sums over the documents of the parts, by name


class Returned(NamedTuple):
    """The result of a phase that the first part completed alone, as it needs no sums over the parts."""

    value: object


def with_state(value, kind: type, change: Callable):
    """Return the result of a phase with ``change`` applied to the state in it, if there is one.

    kind : type of the state; change : function that returns the changed state
    """
    if isinstance(value, kind):
        return change(value)
    return (change(value[0]), value[1]) if isinstance(value, tuple) else value
