"""Predict the cost of a run over several workers of a cluster: time, and bytes over the network."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.corpus import AnyCorpus
from workbench.engines.engine import StepContext, row_fields
from workbench.numbers import format_duration
from workbench.runs.execution.cluster.connecting import losses
from workbench.runs.execution.forecast import LONG, one_iteration
from workbench.runs.execution.memory_check import Planned
from workbench.runs.parts.laying_out import sent
from workbench.runs.parts.part import opened
from workbench.runs.spec import RunSpec

if TYPE_CHECKING:
    from distributed import Client

SAMPLE = 2**24
"""Bytes that are sent to a worker and back, to measure the network."""
TINY = 9
"""Words in the small corpus from whose state the bytes per word are computed."""


class Moved(NamedTuple):
    """The traffic of one phase of an iteration: bytes of counts, and whether the parts of the corpus take turns."""

    in_turn: bool  # whether the parts wait for each other
    n_bytes: float  # bytes of all counts by word


def moved_by(planned: Planned) -> list[Moved]:
    """Return a `Moved` for each phase of an iteration that exchanges sums over parts of the corpus."""
    engine, model, options = planned.spec.parts()
    tiny, context, phases = model.tiny(TINY), StepContext(0, 1), []
    state = engine.init(tiny, model, options, StepContext(0, 0))
    shared = set(engine.state._fields) - set(row_fields(engine.state))
    arrays = (np.asarray(getattr(state, name)) for name in shared)
    of_words = sum(array.nbytes for array in arrays if array.shape[-2:-1] == (tiny.n_words,))
    for phase in engine.step.phases:
        if next(phase.work(tiny, model, options, state, context), None) is not None:
            idle = engine.idle(options) is not None and not phase.side_by_side(options)
            phases.append(Moved(idle, planned.train.n_words * of_words / tiny.n_words))
    return phases


def network_of(phases: list[Moved], n_workers: int) -> tuple[float, float]:
    """Return (bytes, bytes waited for): traffic of all workers in one iteration, and how much of it delays computation.

    Before a phase the shared arrays are sent to each worker, along a binary tree of workers. Sums of parts in parallel are sent
    up such a tree; counts of parts in turn are sent from worker to worker. The client receives the result.
    """
    if not n_workers:
        return 0.0, 0.0
    levels, n_bytes, waited = int(np.ceil(np.log2(n_workers))), 0.0, 0.0
    for in_turn, of_words in phases:
        n_bytes += 2 * n_workers * of_words
        waited += (2 + levels + (n_workers - 1 if in_turn else levels)) * of_words
    return n_bytes, waited


def cost_of(client: Client, planned: Planned) -> str:
    """Return a sentence on the time and network traffic of an iteration, and on how many workers pay off.

    For a long run an iteration over one shard is timed on a worker; for a short run no time is reported.
    """
    spec, train = planned.spec, planned.train
    threads, n_parts = client.nthreads(), train.n_parts
    if not threads:
        return "no worker is left on the cluster, so the cost of an iteration is not known"
    n_workers = min(len(threads), n_parts)
    phases = moved_by(planned)
    n_bytes, _ = network_of(phases, n_workers)
    text = f"{n_workers} worker{'s' * (n_workers > 1)}, {n_bytes / 1e9:.2g} GB over the network in an iteration"
    if train.n_tokens * (spec.n_topics or 1) * spec.n_iterations < LONG:
        return text
    home = min(threads)
    timed_spec = replace(spec, warm_start=None, test=None, split=None, start=None)
    try:  # if that worker is lost, another one measures the time
        future = client.submit(
            seconds_over_shard,
            timed_spec,
            sent(train),
            workers=[home],
            allow_other_workers=True,
            pure=False,
        )
        seconds_computing = future.result() * train.n_parts
        per_byte = _seconds_of_a_byte(client, home)
    except (
        *losses(),
        KeyError,
        TimeoutError,
    ):  # the run itself reports the error, or continues with the other workers
        return f"{text}; a worker was lost while an iteration was timed"

    def seconds(n: int) -> tuple[float, float]:
        """Return the seconds that an iteration on n workers spends computing, and those it spends waiting for the network."""
        waiting = any(phase.in_turn for phase in phases)
        n_busy = 1 if waiting else min(n * threads[home], n_parts)
        return seconds_computing / n_busy, network_of(phases, n)[1] * per_byte

    text += f", about {format_duration(sum(seconds(n_workers)))} each"
    too_many = next((n for n in range(1, n_parts + 1) if np.less(*seconds(n))), None)
    if too_many is None:
        return f"{text}; up to {n_parts} workers have something to do"
    if too_many == 1:
        return f"{text}; the network takes longer than computing, so one process without a scheduler is faster"
    return f"{text}; with {too_many} workers or more the network would take longer than computing"


def seconds_over_shard(spec: RunSpec, corpus: str | AnyCorpus) -> float:
    """Return the seconds of one iteration over the first shard of a corpus; called on a worker."""
    return one_iteration(Planned(spec, opened(corpus).shard(0), None))


def _seconds_of_a_byte(client: Client, home: str) -> float:
    """Return the seconds that a byte takes to a worker, or back from there; the better of two measurements."""
    sample, measurements = np.zeros(SAMPLE, np.uint8), []
    for _ in range(2):
        start = time.perf_counter()
        client.gather(client.scatter(sample, workers=[home], hash=False))
        measurements.append((time.perf_counter() - start) / (2 * SAMPLE))
    return min(measurements)
