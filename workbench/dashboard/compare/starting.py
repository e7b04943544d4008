"""The runs that the form describes: their number, their estimated duration, and their start."""

import contextlib
import math
import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import panel as pn

from workbench.corpus import AnyCorpus, Corpus
from workbench.corpus.shards.sharded import is_sharded
from workbench.dashboard.compare.wording import number_of_runs
from workbench.dashboard.shared.background import in_background
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.run_monitor import ALIVE, Reading, RunMonitor
from workbench.dashboard.shared.uploads import ReceivedFile
from workbench.data.reading import ORIGINS
from workbench.engines import get_engine
from workbench.errors import InputError
from workbench.numbers import format_duration
from workbench.records import Records
from workbench.runs.execution.bounded_reading import read_bounded
from workbench.runs.execution.memory_check import (
    Planned,
    at_a_time,
    memory_forecast,
    predict_memory,
    unfinished,
)
from workbench.runs.execution.queue import enqueue
from workbench.runs.execution.run import ENDED, Run, make_runs
from workbench.runs.execution.worker import SLOTS
from workbench.runs.input_data import whole_if_one
from workbench.runs.loading import load_data, named_set, named_sets
from workbench.runs.request import COLUMNS as COLUMNS_READ
from workbench.runs.request import RunRequest, as_list
from workbench.runs.store.archive import corpora_of
from workbench.runs.store.places import run_paths
from workbench.runs.store.provenance import other_kernels_warning
from workbench.runs.store.status import FINISHED, read_status

STARTING = Lock()
"""Held while runs are counted and made, so that two visitors do not both use the same free capacity."""
ELAPSED = COLUMNS.index("elapsed")
SETTLED = 5
"""Minimum number of iterations before the pace of a run is used."""


def paces(readings: Iterable[Reading]) -> dict[tuple[str, str], float]:
    """Return a dict (engine, corpus) -> seconds per topic and iteration of its newest run with `SETTLED` iterations."""
    seconds: dict[tuple[str, str], float] = {}
    for reading in readings:
        iteration, elapsed_seconds = reading.latest[0], reading.latest[ELAPSED]
        if reading.spec is not None and iteration >= SETTLED and elapsed_seconds > 0:
            seconds.setdefault(
                (reading.spec.engine, reading.spec.corpus),
                elapsed_seconds / (iteration * (reading.spec.n_topics or 1)),
            )
    return seconds


def describe_sweep(request: RunRequest, pace: dict[tuple[str, str], float]) -> str:
    """Return a sentence such as: 24 runs, 4 in parallel, 20 queued; estimated 3 min."""
    n, jobs = request.n_runs(), request.jobs
    sentence = number_of_runs(n) + (f", {jobs} in parallel, {n - jobs} queued" if n > jobs else "")
    paces_of_engines = [pace.get((engine, request.corpus)) for engine in request.engines]
    is_changed = request.top_words is not None or (request.merge, request.repeat) != (1, 1)
    if None in paces_of_engines or is_changed:
        return f"{sentence}."
    seconds = sum(
        each
        * sum(as_list(request.n_topics or 1))
        * math.prod(
            len(values) for name, values in request.grid_of(engine).items() if name != "n_topics"
        )
        for each, engine in zip(paces_of_engines, request.engines, strict=True)
    )
    seconds *= request.seeds * request.n_iterations / min(jobs, n, os.cpu_count() or 1)
    return f"{sentence}; estimated {format_duration(seconds)}."


def mark_busy(start: pn.widgets.Button, busy: bool) -> None:
    """Disable the Start button while runs are made, and say so on it."""
    start.param.update(disabled=busy, label="Preparing …" if busy else "Start")


class StartResult(NamedTuple):
    """What a click on Start led to: the runs started, those that were finished before, and a sentence for the visitor."""

    runs: list  # those that were started
    finished: list[Run]  # those that existed already, with all iterations of the request
    sentence: str


class Starts:
    """The starts of runs from one open page, counted together for the limit per session."""

    def __init__(self, monitor: RunMonitor):
        self._n_started, self._monitor, self._document = 0, monitor, pn.state.curdoc

    def begin(
        self,
        n: int,
        work: Callable[[], StartResult],
        say: Callable[..., None],
        refuse: Callable[[Exception], None],
        on_result: Callable[[list], None] = lambda runs: None,
    ) -> None:
        """Start ``n`` runs by ``work`` in a thread, so that the page stays usable while the corpus is read.

        say : called with a sentence, its kind, and whether the start is in progress
        then : called with the started runs
        """
        try:
            policy().limits.check("session", self._n_started + n)
        except PolicyError as error:
            refuse(error)
            return
        say("Reading the corpus and making the runs …", busy=True)

        def done(result: StartResult, error: Exception | None) -> None:
            if error is not None:
                refuse(error)
                return
            self._n_started += len(result.runs)
            say(result.sentence, "good" if result.runs else "muted")
            on_result(result.runs)
            self._monitor.look_soon()

        in_background(self._document, work, done)


def start_runs(store: Path, request: RunRequest) -> StartResult:
    """Create and start the runs of a request, at most ``jobs`` of them in parallel.

    All runs are checked before the first folder is made, so a mistake prevents all of them. The number of threads is the number
    of parts in the largest partition, if the machine has this many.

    Raises
    ------
    SpecError, ModelError, OptionError, CorpusError, StoreError, PolicyError
    """
    policy().check_change()
    data = data_of(request.corpus, request.read, request.engines[0])
    return start_cells(Path(store), request.cells(data, store), request.jobs)


def start_cells(store: Path, cells: list[Planned], jobs: int) -> StartResult:
    """Create and start prepared runs in order, at most ``jobs`` in parallel; see `start_runs`."""
    policy().check_change()
    coming = unfinished(store, cells)
    with STARTING:
        check_memory(store, coming, jobs)
        check_waiting(store, len(coming))
        runs = list(dict.fromkeys(make_runs(store, cells, jobs)))
    finished_runs = [run for run in runs if run.state == FINISHED]
    started_runs = [run for run in runs if run not in finished_runs]
    others = other_kernels_warning([run.name for run in started_runs if run.by_other_kernels()])
    begun = [run for run in started_runs if run.state in ENDED]
    for run in started_runs:
        if run not in begun:
            run.resume()
    enqueue([run.path for run in begun], jobs)
    memory = memory_forecast(coming, jobs) if coming else ""
    at_once = f"{jobs} in parallel, " * (len(started_runs) > jobs)
    verb = "was" if len(finished_runs) == 1 else "were"
    clauses = (
        started_runs and f"{number_of_runs(len(started_runs))} started, {at_once}{memory}",
        finished_runs
        and f"{number_of_runs(len(finished_runs))} {verb} there already, finished; change the seed or raise "
        "the iterations for more",
        others,
    )
    return StartResult(started_runs, finished_runs, "; ".join(filter(None, clauses)) + ".")


def check_waiting(store: Path, n: int) -> None:
    """Raise PolicyError if ``n`` more runs would make too many unfinished ones."""
    limits = policy().limits
    if limits.waiting < math.inf:
        limits.check("waiting", n + sum(map(_at_work, run_paths(store))))


def _at_work(path: Path) -> bool:
    """Return whether the run has not ended; False if it cannot be read."""
    try:
        return read_status(path)["state"] in ALIVE
    except InputError:
        return False


def check_memory(store: Path, coming: Iterable[Planned], jobs: int) -> None:
    """Raise PolicyError if the runs, with the unfinished ones of the store, would exceed the memory limit.

    Of all runs the largest `SLOTS` are counted, since at most this many runs of a store compute at once.
    """
    most = policy().limits.memory
    if most == math.inf or not (coming := list(coming)):
        return
    names = {run.spec.name for run in coming}
    planned_runs = []
    for path in run_paths(store):
        if path.name not in names and _at_work(path):
            with contextlib.suppress(InputError):  # it cannot be read
                planned_runs.append(planned_run(path))
    new = sorted(coming, key=lambda run: predict_memory(run).total, reverse=True)[:jobs]
    if at_a_time([*new, *planned_runs], SLOTS) > most * 1e9:
        others = f" beside {number_of_runs(len(planned_runs))} at work" if planned_runs else ""
        raise PolicyError(
            f"these runs take {memory_forecast(coming, jobs)}{others}, where {most:g} GB may be taken at once "
            "here; take fewer topics, or fewer parallel runs, or wait until some have ended"
        )


def planned_run(path: Path) -> Planned:
    """Return the stored run at a path as `Planned`: its spec with its training and test data."""
    spec = Run(path).spec
    return Planned(spec, *corpora_of(path.parent, spec))


def data_of(
    name_or_path: str | Path | ReceivedFile | Corpus, reading_options: dict, engine: str
) -> Corpus | Records:
    """Return the data for an engine, cached for the next start; a changed file is read again.

    read : how a file is read, as `load_corpus` or `read_records` takes it.
    """
    return data_and_losses(name_or_path, reading_options, engine)[0]


def data_and_losses(
    name_or_path: str | Path | ReceivedFile | Corpus, reading_options: dict, engine: str
) -> tuple[Corpus | Records, dict]:
    """Return the data (see `data_of`), and what was left out of texts (see `DROPPED` of `texts.counting`)."""
    if isinstance(name_or_path, AnyCorpus | Records):
        return name_or_path, {}
    kind = get_engine(engine).model.data
    if (path := path_of(name_or_path)) is None:
        return _load_data(str(name_or_path), 0, kind, "")
    if is_sharded(path):  # its columns were chosen when the shards were written
        reading_options = {
            name: value for name, value in reading_options.items() if name not in COLUMNS_READ
        }
    # an upload is removed with its page, and visitors from elsewhere are not told where files lie
    upload = path.name if isinstance(name_or_path, ReceivedFile) or policy().others else ""
    return _load_data(str(path), path.stat().st_mtime_ns, kind, upload, **reading_options)


def path_of(corpus: str | Path | ReceivedFile) -> Path | None:
    """Return the file or folder that a form names; None if it names a data set, or nothing.

    Raises
    ------
    DataError, PolicyError
        It does not exist, or this server does not read it; see `Policy.place_of`.
    """
    if isinstance(corpus, ReceivedFile):
        return corpus.existing_path()
    return policy().place_of(str(corpus)) if corpus and not named_set(str(corpus)) else None


@lru_cache(maxsize=2)
def _load_data(
    name_or_path: str, time_changed: int, kind: type, upload: str, **reading_options
) -> tuple[Corpus | Records, dict]:
    """Return the data, and what was left out of texts; data of an ``upload`` record its name in place of their path.

    A data set of the catalog without options is read complete, a folder of shards one shard at a time. Anything else may be of
    any size, and is read within limits.
    """
    losses: dict[str, list[int]] = {}
    if name_or_path in named_sets() or is_sharded(name_or_path):
        data = whole_if_one(load_data(name_or_path, kind, **reading_options))
    else:
        data = read_bounded(name_or_path, kind, dropped=losses, **reading_options)
    if upload and data.reading:
        for origin in ORIGINS:
            data.reading.pop(origin, None)
        data.reading["upload"] = upload
    return data, losses
