"""What a run shared by the workers of a cluster will take, told before it begins: time, and bytes over the network."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.engines.engine import StepContext
from workbench.engines.in_parts import ADDED
from workbench.numbers import format_duration
from workbench.runs.execution.cluster.connecting import losses
from workbench.runs.execution.forecast import LONG, one_iteration
from workbench.runs.execution.memory_check import Planned
from workbench.runs.parts.group import opened
from workbench.runs.parts.laying_out import given, places_of
from workbench.runs.spec import RunSpec

if TYPE_CHECKING:
    from distributed import Client

SAMPLE = 2**24
"""Bytes that are sent to a worker and back, to measure the network."""
TINY = 9
"""Words of a document of the corpus whose state tells how many bytes a word has in the counts."""


class Network(NamedTuple):
    """Network traffic of an iteration."""

    n_bytes: float  # to and from all workers together
    waited: float  # bytes of them that computing waits for


class Moved(NamedTuple):
    """Counts that are sent in one pass."""

    kind: str
    sent: float  # bytes of all counts of words, which each worker gets before the pass
    changed: float  # bytes of those that the pass changes


def moved_by(planned: Planned) -> list[Moved]:
    """Return the bytes that each pass of an iteration sends."""
    engine, model, options = planned.spec.parts()
    tiny = model.tiny(TINY)
    state = engine.init(tiny, model, options, StepContext(0, 0))
    passes = engine.in_parts.passes(options, 1)
    by_word = {name for each in passes for name in each.words}

    def size(names) -> float:
        return (
            planned.train.n_words
            * sum(getattr(state, name).nbytes for name in names)
            / tiny.n_words
        )

    return [Moved(each.kind, size(by_word), size(each.words)) for each in passes]


def network_of(passes: list[Moved], n_workers: int) -> Network:
    """Return the network traffic of an iteration on a number of workers.

    Counts of words are sent to each worker before a pass, from worker to worker in a binary tree. Where a pass adds up counts,
    sums go up a tree of workers; in one of rounds each set of words goes to each worker once. The client has all in the end.
    """
    levels, n_bytes, waited = int(np.ceil(np.log2(n_workers))), 0.0, 0.0
    for kind, sent, changed in passes:
        between = n_workers - 1 if kind == ADDED else n_workers if n_workers > 1 else 0
        n_bytes += n_workers * sent + (between + 1) * changed
        waited += (1 + levels) * sent + ((levels if kind == ADDED else n_workers > 1) + 1) * changed
    return Network(n_bytes, waited)


def cost_of(client: Client, planned: Planned) -> str:
    """Return one sentence: time and network traffic of an iteration, and how many workers are too many.

    Of a long run one iteration over a shard is timed on a worker; of a short one no time is told.
    """
    spec, train = planned.spec, planned.train
    threads, n_groups = client.nthreads(), len(places_of(spec, train))
    n_workers = min(len(threads), n_groups)
    passes = moved_by(planned)
    moved = network_of(passes, n_workers).n_bytes
    text = f"{n_workers} worker{'s' * (n_workers > 1)}, {moved / 1e9:.2g} GB over the network in an iteration"
    if train.n_tokens * (spec.n_topics or 1) * spec.n_iterations < LONG:
        return text
    home = min(threads)
    timed_spec = replace(spec, warm_start=None, test=None, split=None, start=None)
    try:  # another worker times it where that one is lost meanwhile
        timed = client.submit(
            seconds_over_shard,
            timed_spec,
            given(train),
            workers=[home],
            allow_other_workers=True,
            pure=False,
        )
        computed = timed.result() * train.n_parts
        per_byte = _seconds_of_a_byte(client, home)
    except (
        *losses(),
        KeyError,
        TimeoutError,
    ):  # the run itself says what is wrong, or goes on with the others
        return f"{text}; a worker was lost while an iteration was timed"

    def seconds(n: int) -> tuple[float, float]:
        """Return seconds (computing, waiting for the network) on n workers with as many threads as these."""
        at_once = min(n * threads[home], n_groups)
        return computed / at_once, network_of(passes, n).waited * per_byte

    text += f", about {format_duration(sum(seconds(n_workers)))} each"
    too_many = next((n for n in range(1, n_groups + 1) if np.less(*seconds(n))), None)
    if too_many is None:
        return f"{text}; up to {n_groups} workers have something to do"
    if too_many == 1:
        return f"{text}; the network takes longer than computing, so one process without a scheduler is faster"
    return f"{text}; with {too_many} workers or more the network would take longer than computing"


def seconds_over_shard(spec: RunSpec, corpus) -> float:
    """Return the seconds of an iteration over the first shard of a corpus; called on a worker."""
    return one_iteration(Planned(spec, opened(corpus).shard(0), None))


def _seconds_of_a_byte(client: Client, home: str) -> float:
    """Return the seconds that a byte takes to a worker or back; the better of two tries."""
    sample, tries = np.zeros(SAMPLE, np.uint8), []
    for _ in range(2):
        begun = time.perf_counter()
        client.gather(client.scatter(sample, workers=[home], hash=False))
        tries.append((time.perf_counter() - begun) / (2 * SAMPLE))
    return min(tries)
