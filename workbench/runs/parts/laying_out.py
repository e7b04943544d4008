"""The data of a run for the loop: `InMemoryData` in memory, or `ShardedData` in several parts over a crew."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np

from workbench.corpus.corpus import AnyCorpus
from workbench.corpus.shards.sharded import ShardedCorpus
from workbench.engines.engine import (
    Data,
    State,
    StepContext,
    WarmStart,
    in_tree,
    never_interrupted,
    row_fields,
    sum_diagnostics,
)
from workbench.models.model import Predicted
from workbench.models.variables import VARIABLES
from workbench.runs.parts.crew import LocalParts, merged
from workbench.runs.parts.part import Call, Contribution, Setting, ShardRange, phase_of
from workbench.runs.scoring import (
    Average,
    Logs,
    further_scores,
    initial_average,
    perplexity,
    perplexity_of,
    score,
    scores_from,
)
from workbench.runs.spec import RunSpec


class InMemoryData:
    """Data in memory together with the engine of a spec; each method calls one of the engine's functions.

    `workbench.runs.parts.laying_out.ShardedData` has the same methods for a corpus in several parts.

    Attributes
    ----------
    engine, model, options
        Those of the spec; the model also has what the data determine, such as names of authors.
    rows : None
        The document arrays are in the state.
    """

    rows = None

    def __init__(self, spec: RunSpec, train: Data, test: Data | None = None):
        self.train, self.test = train, test
        self.use(spec.at(0))

    def use(self, spec: RunSpec) -> None:
        """Use the model and the options of a spec from the next step on; only live settings may have changed."""
        self.engine, self.model, self.options = spec.parts(self.train)

    def retune(self, spec: RunSpec, state: State, context: StepContext) -> State:
        """Use the settings of a spec from the next step on; return the state converted to these settings."""
        self.use(spec)
        return self.engine.retune(self.train, self.model, self.options, state, context)[0]

    def average_anew(self) -> Average:
        """Return a new running average of the predictive probabilities, which covers no iteration yet."""
        return initial_average(self.test)

    def init(self, context: StepContext, warm_start: WarmStart | None = None) -> tuple:
        """Return the initial state and the initial running average."""
        state = self.engine.init(self.train, self.model, self.options, context, warm_start)
        return state, initial_average(self.test)

    def step(self, state: State, context: StepContext) -> tuple:
        """Return the state after one step, and the diagnostics of the step."""
        return self.engine.step(self.train, self.model, self.options, state, context)

    def cpu_seconds_elsewhere(self) -> float:
        """Return 0, since all is computed in this process."""
        return 0.0

    def score(
        self, state: State, average: Average, past_burn_in: bool, context: StepContext
    ) -> tuple:
        """Score a state: return the updated running average, the test perplexities, and the input of `further_scores`."""
        return score(
            self.engine,
            self.train,
            self.test,
            self.model,
            self.options,
            state,
            average,
            past_burn_in,
            context,
        )

    def further_scores(self, predicted: Predicted | None) -> dict:
        """Return the scores that the model's family adds to the perplexities, as a dict."""
        return further_scores(self.train, self.test, self.model, predicted)

    def watch(self, state: State) -> dict:
        """Return the engine's diagnostics of a state, as a dict."""
        return self.engine.watch(self.train, self.model, self.options, state)

    def train_perplexity(self, state: State, context: StepContext) -> float:
        """Return the perplexity of the training data under a state."""
        return perplexity(
            self.train,
            self.engine.predict(self.train, self.model, self.options, state, self.train, context),
        )

    def counts(self, state: State) -> dict:
        """Return the arrays of a snapshot of a state, as a dict."""
        return self.engine.counts(self.train, self.model, self.options, state)

    def load(self, folder: Path) -> None:
        """Do nothing, since the document arrays are in the state."""


class ShardedData:
    """Training and test corpus in parts (shards), with the object (crew) that computes on the parts.

    It has the methods of `workbench.runs.parts.laying_out.InMemoryData`. A state has the shared arrays; its document arrays are
    with the parts, and empty in the state.

    Parameters
    ----------
    spec : RunSpec
    train, test : ShardedCorpus, AnyCorpus or None
        Corpora of the same documents.
    scratch : Path, optional
        Folder for the document arrays of parts, one of which is then in memory at a time; None: all are in memory.
    crew : function (setting, shard_ranges) that returns the crew; by default in this process
    """

    def __init__(
        self,
        spec: RunSpec,
        train: ShardedCorpus,
        test: AnyCorpus | None,
        scratch: Path | None = None,
        crew: Callable = LocalParts,
    ):
        self.train, self.test, self.shard_ranges = train, test, shard_ranges_of(train)
        self.engine, self.model, self.options = spec.at(0).parts(train)
        self._n_rows = {"document": train.n_documents, "token": train.n_tokens}
        self._row_names = row_fields(self.engine.state)
        self._samples = self._samples_any()
        self._scratch = (
            None if scratch is None else tempfile.TemporaryDirectory(".partial", "rows-", scratch)
        )
        folder = self._scratch and self._scratch.name
        corpora = sent(train), None if test is None else sent(test)
        self.crew = crew(Setting(spec.at(0), *corpora, folder, self._samples), self.shard_ranges)

    def _samples_any(self) -> bool:
        return any(self.engine.samples(part, self.options) for part in self.train.parts())

    def use(self, spec: RunSpec, changed: Mapping = MappingProxyType({})) -> None:
        """Use the model and options of a spec from the next step on; ``changed`` has the old values of changed settings."""
        self.engine, self.model, self.options = spec.parts(self.train)
        self._samples = self._samples_any()
        self.crew.collect("use", spec, self._samples, tuple(changed.items()))

    def retune(self, spec: RunSpec, state: State, context: StepContext) -> State:
        """Use the settings of a spec from the next step on; return the state converted to these settings."""
        self.use(spec, context.changed)
        if not hasattr(self.engine.retune, "phases"):  # it changes no array of documents
            return self.engine.retune(self.train, self.model, self.options, state, context)[0]
        return self._compute_phase(Call("retune", context.step), state, context)[0]

    def average_anew(self) -> Average:
        """Restart the running averages of all parts; return an empty running average, as the parts keep the arrays."""
        self.crew.collect("average_anew")
        return initial_average(None)

    @property
    def rows(self) -> ShardedData:
        """The object that saves and loads the document arrays of the parts for checkpoints: this one."""
        return self

    def init(self, context: StepContext, warm_start: WarmStart | None = None) -> tuple:
        """Return the initial state and the initial running average."""
        contribution = self.crew.side_by_side(Call("init", 0), None, context.interrupt, warm_start)
        state = self._complete(merged(None, contribution), contribution.sums)
        for number in range(1, len(self.engine.init.phases)):
            state, _ = self._compute_phase(Call("init", 0, number), state, context)
        return state, initial_average(None)

    def step(self, state: State, context: StepContext) -> tuple:
        """Compute all phases of a step over all parts of the corpus; return the new state and the diagnostics of the step."""
        info: dict = {}
        for number in range(len(self.engine.step.phases)):
            state, phase_info = self._compute_phase(
                Call("step", context.step, number), state, context
            )
            info = sum_diagnostics(info, phase_info)
        return state, info

    def cpu_seconds_elsewhere(self) -> float:
        """Return the CPU seconds that the crew has spent in other processes."""
        return self.crew.cpu_seconds_elsewhere()

    def _compute_phase(self, call: Call, state: State, context: StepContext) -> tuple:
        """Compute one phase over all parts of the corpus; return the new state and the diagnostics of the phase."""
        phase, shared = phase_of(self.engine, call), self._shared(state)
        if self.engine.idle(self.options) is not None and not phase.side_by_side(self.options):
            contribution = self.crew.in_turn(call, shared, context.interrupt)
            shared = contribution.shared if isinstance(contribution, Contribution) else None
        else:
            contribution = self.crew.side_by_side(call, shared, context.interrupt)
            shared = (
                merged(shared, contribution) if isinstance(contribution, Contribution) else None
            )
        return contribution.value if shared is None else self._complete(shared, contribution.sums)

    def _complete(self, shared: dict, sums: dict):
        """Complete a phase from shared arrays and the sums over all parts of the corpus; return its result.

        Sums replace the shared arrays of the same name.
        """
        fields = {name: value for name, value in sums.items() if name in shared}
        return self.crew.finish(shared | fields, sums)

    def _shared(self, state: State) -> dict:
        """Return the arrays of a state that all parts of the corpus share, as a dict."""
        return {
            name: value for name, value in state._asdict().items() if name not in self._row_names
        }

    def score(
        self, state: State, average: Average, past_burn_in: bool, context: StepContext
    ) -> tuple:
        """Score a state: return the updated running average (without arrays: the parts keep them) and the perplexities."""
        if self.test is None:
            return average, {}, None
        logs = self.crew.collect("scored", self._shared(state), average.n_averaged, past_burn_in)
        columns = zip(*(map(float, log) for log in logs), strict=True)
        total = Logs(*(in_tree(column, float.__add__) for column in columns))
        average = average._replace(n_averaged=average.n_averaged + past_burn_in)
        return *scores_from(total, average, self.test, self._samples, past_burn_in), None

    def further_scores(self, predicted: None) -> dict:
        """Return {}, since these scores are not computed for a corpus in parts."""
        return {}

    def watch(self, state: State) -> dict:
        """Return the engine's diagnostics of a state, as a dict."""
        contribution = self.crew.in_turn(Call("watch", 0), self._shared(state), never_interrupted)
        return self.crew.finish(contribution.shared, contribution.sums)

    def train_perplexity(self, state: State, context: StepContext) -> float:
        """Return the perplexity of the training tokens under a state."""
        logs = map(float, self.crew.collect("fitted", self._shared(state)))
        return perplexity_of(in_tree(logs, float.__add__), self.train)

    def counts(self, state: State) -> dict:
        """Return the arrays of a snapshot as a dict; an array with a row per document or token is an `InRows`."""
        shared = self._shared(state)
        counts = self.crew.alone(0, "counts", shared)
        variables = (*VARIABLES.values(), *self.model.recorded(self.options))
        dims = {variable.name: variable.dims for variable in variables}
        for name, values in counts.items():
            if sizes := [n for dim, n in self._n_rows.items() if dim in dims[name]]:
                pieces = partial(self.crew.each_in_turn, "rows_of", name, shared)
                counts[name] = InRows(pieces, (*sizes, *values.shape[1:]))
        return counts

    def save(self, folder: Path) -> None:
        """Write the document arrays of all parts of the corpus to files in the folder."""
        self.crew.collect("save", str(folder))

    def load(self, folder: Path) -> None:
        """Read the document arrays of all parts of the corpus from the files that `save` wrote."""
        self.crew.collect("load", str(folder))

    def close(self) -> None:
        """Delete the document arrays of all parts of the corpus, and their files."""
        self.crew.close()
        if self._scratch:
            self._scratch.cleanup()


class InRows:
    """A snapshot's array whose rows are read part by part; conversion to an ndarray reads it as a whole.

    Attributes
    ----------
    shape : tuple of int
    """

    def __init__(self, pieces, shape: tuple[int, ...]):
        self._pieces, self.shape = pieces, shape

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (index of the first row, rows) of each part of the corpus."""
        first = 0
        for rows in self._pieces():
            yield first, rows
            first += len(rows)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.concatenate([rows for _, rows in self]).astype(dtype, copy=False)


def sent(corpus: AnyCorpus) -> str | AnyCorpus:
    """Return the corpus as it is sent to another process: the path of its folder, or the corpus itself if it has none."""
    return corpus if corpus.folder is None else str(Path(corpus.folder).resolve())


def shard_ranges_of(corpus: ShardedCorpus) -> list[ShardRange]:
    """Return the position of each shard in the whole corpus, as a list of `ShardRange`."""
    firsts = corpus.first_pairs.tolist(), corpus.first_tokens.tolist()
    bounds = pairwise(corpus.bounds.tolist())
    return [
        ShardRange(*bound, *first)
        for bound, *first in zip(bounds, *(f[:-1] for f in firsts), strict=True)
    ]
