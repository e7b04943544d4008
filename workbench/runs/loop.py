"""The loop of every run: step, score, record, checkpoint; it waits when paused and ends when stopped.

All that a run needs to continue is its `Position`. A run that is resumed from one is identical, bit for bit, to a run that
was never interrupted, since randomness is a function of seed and iteration.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.corpus.corpus import AnyCorpus
from workbench.engines.engine import Engine, Options, StepContext, start_sweeps_of
from workbench.errors import Interrupted, Terminated
from workbench.models import Variable
from workbench.models.model import Model
from workbench.records import Records
from workbench.runs.interventions import values_of
from workbench.runs.parts.laying_out import InMemoryData, ShardedData
from workbench.runs.recorded import (
    CLOCKS,
    Position,
    Row,
    attributes,
    in_columns,
    label_counts,
    label_rows,
    recorded,
)
from workbench.runs.spec import RunSpec
from workbench.runs.stopping import WINDOW
from workbench.runs.store.provenance import versions
from workbench.runs.store.writer import RunWriter

if TYPE_CHECKING:
    import xarray as xr


class Stopped(Exception):
    """Raised by `Control` within a step, to stop the run and discard that step."""


class Control:
    """The loop's interrupt callback, called between slices of a step: here only a signal stops the run."""

    waited = 0.0  # seconds spent paused so far
    received: int | None = None  # the signal that requested a stop

    def __call__(self) -> None:
        """Do nothing; subclasses wait here, in the middle of a step, while a pause is requested, or raise `Stopped`."""

    def rest(self) -> None:
        """Do nothing; subclasses wait here, between steps, while a pause is requested."""

    def wants_rest(self) -> bool:
        """Return whether a pause or a stop is requested."""
        return self.received is not None

    stopping = wants_rest  # whether a stop is requested

    def asked(self) -> bool:
        """Return False; subclasses return whether a change of settings was requested since the last call."""
        return False

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """Request a stop, as Ctrl-C or another signal does."""
        self.received = number

    def raise_stop(self, result=None) -> None:
        """Raise Interrupted if Ctrl-C has requested a stop, Terminated if SIGTERM has; the exception carries ``result``."""
        if self.received is not None:
            raise (Terminated if self.received == signal.SIGTERM else Interrupted)(result)


OnIteration = Callable[[Position, dict], None]
"""A function that is called after every iteration with the position and the perplexities."""


def initial_position(spec: RunSpec, data: InMemoryData | ShardedData, control: Control) -> Position:
    """Return the position of a run before its first iteration; clocks and updates include those of the initialisation."""
    load_kernels(data.engine, data.model, data.options)
    context = StepContext(spec.seed, 0, spec.n_threads, control)
    (state, average), elapsed, cpu_time = clocked(
        data, control, lambda: data.init(context, spec.warm_start)
    )
    n_sweeps = 0 if spec.warm_start else start_sweeps_of(data.options)
    updates = n_sweeps * data.train.n_tokens if n_sweeps else 0
    return Position(0, state, average, elapsed, cpu_time, updates, data.rows)


def clocked(
    data: InMemoryData | ShardedData, control: Control, work: Callable
) -> tuple[Any, float, float]:
    """Call ``work()``; return its result, its seconds without pauses, and its CPU seconds on all machines."""

    def clocks() -> np.ndarray:
        cpu_time = time.process_time() + data.cpu_seconds_elsewhere()
        return np.array([time.perf_counter() - control.waited, cpu_time])

    start, result = clocks(), work()
    return result, *(clocks() - start).tolist()


def take_effect(
    spec: RunSpec,
    data: InMemoryData | ShardedData,
    position: Position,
    sink: MemorySink | RunWriter,
    control: Control,
) -> tuple[RunSpec, Position]:
    """Change the settings whose change is due before the next step; return the spec and the position after the change.

    What is asked for takes effect after all that the run has recorded or planned, so that a run that is computed again from
    a checkpoint makes the same steps. The running average begins anew.
    """
    iteration = position.iteration + 1
    if iteration > max(sink.iteration, spec.held_after) and control.asked():
        spec = sink.intervene(position)
    old_spec, new_spec = spec.at(position.iteration), spec.at(iteration)
    if new_spec is old_spec or new_spec.interventions == old_spec.interventions:
        return spec, position
    changes = {
        name
        for intervention in new_spec.interventions[len(old_spec.interventions) :]
        for name in intervention.changes
    }
    context = StepContext(
        spec.seed,
        iteration,
        spec.n_threads,
        warm=spec.start is not None,
        changed=values_of(old_spec, changes),
    )
    return spec, position._replace(
        state=data.retune(new_spec, position.state, context), average=data.average_anew()
    )


def iterate(
    spec: RunSpec,
    data: InMemoryData | ShardedData,
    position: Position,
    sink: MemorySink | RunWriter,
    control: Control,
    on_iteration: OnIteration | None = None,
) -> Position:
    """Compute iterations until the spec's last one, unless the stop rule or a request ends the run before.

    Returns the last position. Besides the regular rows and snapshots, the last iteration and one before a pause get both, an
    iteration with a snapshot gets a row, and so does one that a step marks as an event. A stop in the middle of a long step
    raises `Stopped`.
    """
    if (current_spec := spec.at(position.iteration)).interventions:
        data.use(current_spec)
    if position.iteration:
        load_kernels(data.engine, data.model, data.options)
    trail = _Trail(spec, sink, position.iteration)
    is_stop, settled = control.stopping(), trail.settled()
    if settled:  # the run was killed before this was recorded
        sink.settle(position.iteration)
    while (
        position.iteration < spec.n_iterations
        and not settled
        and not (is_stop and control.stopping())
    ):
        spec, position = take_effect(spec, data, position, sink, control)
        position, info = advance(spec, data, position, control)
        current_spec = spec.at(position.iteration)
        context = StepContext(spec.seed, position.iteration, spec.n_threads)
        average, scores, predicted = data.score(
            position.state,
            position.average,
            position.iteration > current_spec.end_of_burn_in,
            context,
        )
        position = position._replace(average=average)
        is_stop = position.iteration == spec.n_iterations or control.wants_rest()
        is_snapshot = is_stop or position.iteration % spec.snapshot_every == 0
        event = info.pop("event", False) or 0 < current_spec.held_after == position.iteration - 1
        if event or is_snapshot or position.iteration % spec.record_every == 0:
            row = measure(data, position, scores | data.further_scores(predicted), info, context)
            sink.record(row)
            settled = trail.settles_with(row, current_spec)
            is_stop = is_stop or settled
        if is_stop or is_snapshot:
            sink.snapshot(position.iteration, data.counts(position.state))
        sink.checkpoint(position, now=is_stop)
        if settled:
            sink.settle(position.iteration)
        if on_iteration:
            on_iteration(position, scores)
        if is_stop:
            control.rest()
    return position


class _Trail:
    """The values that a run's stop rule examines, since the last change of settings; empty without a rule."""

    def __init__(self, spec: RunSpec, sink: MemorySink | RunWriter, iteration: int):
        self._rule, current_spec = spec.rule, spec.at(iteration)
        trail = sink.trail(self._rule.watched, iteration) if self._rule else []
        self._points = [point for point in trail if self._counts(point[0], current_spec)]

    def _counts(self, iteration: int, spec: RunSpec) -> bool:
        first = spec.held_after + self._rule.begins_after(spec.burn_in, spec.warm_up)
        return iteration > first and iteration % spec.record_every == 0

    def settles_with(self, row: Row, spec: RunSpec) -> bool:
        """Add a row, computed with the settings of ``spec``, to the examined values; return whether the rule ends the run."""
        if not self._rule:
            return False
        self._points = [point for point in self._points if self._counts(point[0], spec)]
        if not self._counts(row.iteration, spec):
            return False
        self._points = [*self._points[-WINDOW:], (row.iteration, row.numbers[self._rule.watched])]
        return self.settled()

    def settled(self) -> bool:
        return bool(self._rule) and self._rule.settled(self._points)


def load_kernels(engine: Engine, model: Model, options: Options) -> None:
    """Compile the kernels of a step or load them from the cache, so that the clocks of a run exclude that time."""
    learning_step = getattr(options, "learn_after", 1) or options.learn_every or 10
    # documents with few and with many topics: kernels by document and by word
    for n_topics in (9, 4 * model.dims().get("topic", 0)):
        tiny = model.tiny(n_topics)
        engine.step(
            tiny,
            model,
            options,
            engine.init(tiny, model, options, StepContext(0, 0)),
            StepContext(0, learning_step),
        )


def advance(
    spec: RunSpec, data: InMemoryData | ShardedData, position: Position, control: Control
) -> tuple[Position, dict]:
    """Compute one step; return the new position and the step's diagnostics. Clocks exclude time spent paused."""
    iteration = position.iteration + 1
    context = StepContext(
        spec.seed, iteration, spec.n_threads, control, warm=spec.start is not None
    )
    (state, info), elapsed, cpu_time = clocked(
        data, control, lambda: data.step(position.state, context)
    )
    return position._replace(
        iteration=iteration,
        state=state,
        elapsed=position.elapsed + elapsed,
        cpu_time=position.cpu_time + cpu_time,
        updates=position.updates + info.pop("updates"),
    ), info


def measure(
    data: InMemoryData | ShardedData,
    position: Position,
    numbers: dict,
    info: dict,
    context: StepContext,
) -> Row:
    """Return the row of one iteration: clocks, perplexities and diagnostics of the engine.

    numbers : test perplexities and further scores; info : diagnostics of the step
    """
    diagnostics = data.watch(position.state)
    topic_values = {
        variable.name: np.array(diagnostics.pop(variable.name), float)
        for variable in data.model.recorded(data.options)
        if variable.dims == ("iteration", "topic")
    }
    clocks = {name: getattr(position, name) for name in CLOCKS}
    fit = {"train_perplexity": data.train_perplexity(position.state, context)}
    return Row(
        position.iteration, clocks | numbers | fit | info | in_columns(diagnostics), topic_values
    )


class MemorySink:
    """A sink that keeps a run's rows and snapshots in memory; `dataset` returns them."""

    def __init__(self, spec: RunSpec, train: AnyCorpus | Records):
        self._spec, self._train = spec, train
        self._recorded = recorded(spec)
        self._n_topics = self._recorded.sizes.get("topic", 0)
        self._rows: list[Row] = []
        self.iteration = 0
        self._snapshots: dict[int, dict] = {}
        self.settled: int | None = None

    def record(self, row: Row) -> None:
        self._rows.append(row)
        self._n_topics = max(self._n_topics, row.n_topics)

    def snapshot(self, iteration: int, counts: dict) -> None:
        self._snapshots[iteration] = {
            name: np.array(counts[name], self._recorded.variables[name].dtype, order="C")
            for name in self._recorded.snapshot_names
        }

    def checkpoint(self, position: Position, now: bool) -> None:
        return

    def trail(self, name: str, iteration: int) -> list[tuple[int, float]]:
        return []  # a run in memory is never resumed

    def settle(self, iteration: int) -> None:
        self.settled = iteration

    def dataset(self, state: str) -> xr.Dataset:
        """Return the rows and snapshots so far as a Dataset."""
        import xarray as xr

        rows = np.reshape(
            [self._recorded.values(row, self._n_topics) for row in self._rows],
            (-1, self._recorded.width(self._n_topics)),
        )
        labelled = label_rows(
            self._recorded,
            rows,
            attributes(self._spec, versions(), state, rows, self.settled),
            self._spec,
        )
        if not self._snapshots:
            return labelled
        counts = xr.Dataset(
            {
                name: (
                    variable.dims,
                    np.stack(
                        [
                            self._widen(variable, snapshot[name])
                            for snapshot in self._snapshots.values()
                        ]
                    ),
                )
                for name, variable in self._recorded.variables.items()
                if name in self._recorded.snapshot_names
            }
        )
        return label_counts(
            labelled,
            counts,
            np.array(list(self._snapshots)),
            self._train,
            self._recorded,
            self._spec,
        )

    def _widen(self, variable: Variable, counts: np.ndarray) -> np.ndarray:
        """Return a snapshot's counts, padded with zeros for topics that were created later."""
        missing = [
            self._n_topics - n if dim == "topic" else 0
            for dim, n in zip(variable.dims[1:], counts.shape, strict=True)
        ]
        return np.pad(counts, [(0, n) for n in missing]) if any(missing) else counts
