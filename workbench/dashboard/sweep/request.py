"""A request for runs that answer one question together: which of them the store has, their progress, and their results."""

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from workbench.corpus.formats.interface import stem_of
from workbench.corpus.formats.readers import FORMATS
from workbench.corpus.shards.sharded import ShardedCorpus, is_sharded
from workbench.dashboard.compare.starting import paces
from workbench.dashboard.compare.wording import number_of_runs
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.snapshots import SnapshotKey, snapshot_of
from workbench.engines import get_engine
from workbench.errors import DataError
from workbench.numbers import format_duration
from workbench.runs.loading import named_set
from workbench.runs.request import RunRequest
from workbench.runs.spec import RunSpec, model_fields
from workbench.runs.store.status import ALIVE, FAILED, FINISHED, LOST

UNCHANGED = {"top_words": None, "merge": 1, "repeat": 1, "singletons": "keep"}
"""Settings that change a corpus before tokens are held out → the value that changes nothing."""
MARK = {"class": "lit", "aria-current": "true"}
"""HTML attributes of a marked row."""


class Point(NamedTuple):
    """A run at its present iteration; results computed from a point stay valid until the iteration changes."""

    snapshot: SnapshotKey  # last snapshot of the run
    iteration: int
    n_topics: int
    seed: int


class RunKey(NamedTuple):
    """The key of a run among the runs of a form: what distinguishes it from the others."""

    label: str  # engine and options
    n_topics: int
    seed: int


class FoundRuns(NamedTuple):
    """Those runs of a form that the store has already."""

    settings: list[Reading]
    reference: Sequence[Reading] = ()  # the long chains

    @property
    def all(self) -> list[Reading]:
        """Return each run once, those of the reference first."""
        return list({run.name: run for run in (*self.reference, *self.settings)}.values())


@dataclass(frozen=True, kw_only=True)
class SweepRequest(RunRequest):
    """A request for runs that answer a question together. Each subclass is a tab of the page.

    name, title, question : of the tab
    cards : headings of the cards with the results
    placed_at : setting → field that shows a mistake in it
    fields() : the fields of the tab alone, by their names in the link
    sentences() : the mistakes of the request as sentences, by setting
    find(readings) : the requested runs that the store has, whoever started them
    wanted(found) : the iterations of each requested run
    describe(readings) : a sentence on the runs that `begin` starts
    begin(store, found) : starts the requested runs that have not ended
    results(readings, found) : for each card a function and its arguments; equal ones give equal content
    """

    placed_at: ClassVar = {"engines": "engine"}

    @property
    def each_seed(self) -> range:
        """Return the seeds: with each of them, the form has one run of each setting."""
        return range(self.seed, self.seed + self.seeds)

    def goes_on(self, store: Path, found_runs: FoundRuns) -> bool:
        """Return whether a process is at work that starts further runs of this request, as that of a warm sweep does."""
        return False


class Progress(NamedTuple):
    """The progress of the runs of a form."""

    n_wanted: int
    n_ended: int  # finished
    n_short: int  # finished with fewer iterations than the form asks for
    n_alive: int
    seconds_left: float | None  # estimate; None before any run has a pace
    failed: tuple[str, ...]  # error message of each failed run

    def sentence(self, is_going_on: bool) -> str:
        """Return the progress as a sentence; ``is_going_on``: whether further runs start automatically."""
        may_start, wanted_text = not policy().read_only, number_of_runs(self.n_wanted)
        if self.n_ended == self.n_wanted:
            advice = "; Start takes them there" * may_start
            short = f", {self.n_short} with fewer iterations than the form says{advice}"
            return f"All {wanted_text} have ended{short if self.n_short else ''}."
        ended_text = (
            f"{self.n_ended} of {wanted_text} {'has' if self.n_ended == 1 else 'have'} ended"
        )
        if self.n_alive or is_going_on:
            if self.seconds_left is None:
                return f"{ended_text}."
            return f"{ended_text}; about {format_duration(self.seconds_left)} left."
        message = policy().for_visitors(next(iter(self.failed), ""))
        failed_text = f"; {len(self.failed)} failed: {message}" if message else ""
        return f"{ended_text}{failed_text}. {'Start runs the others.' if may_start else 'No run is active.'}"


def key_of_run(run: Reading) -> RunKey:
    """Return the `RunKey` of a run among the runs of a form; a warm start makes no difference."""
    return RunKey(run.spec.label().removesuffix(" warm"), run.spec.n_topics, run.spec.seed)


def points_of(readings: Iterable[Reading]) -> tuple[Point, ...]:
    """Return a point for each run that has a recorded iteration, in the same order."""
    return tuple(
        Point(
            snapshot_of(reading), int(reading.latest[0]), reading.spec.n_topics, reading.spec.seed
        )
        for reading in readings
        if np.isfinite(reading.latest[0])
    )


def runs_alike(
    readings: Iterable[Reading], request: RunRequest, labels: Collection[str]
) -> list[Reading]:
    """Return the runs with these labels on the data of the form, newest first.

    If runs have different tokens under the same corpus name, return only those with the tokens of the newest.
    """
    names = names_of(request.corpus)
    runs = [
        run
        for run in readings
        if run.spec is not None
        and _fits(run.spec, request, names)
        and key_of_run(run).label in labels
    ]
    return [
        run
        for run in runs
        if (run.spec.train, run.spec.test) == (runs[0].spec.train, runs[0].spec.test)
    ]


def progress_of(
    runs: Collection[Reading], iterations_wanted: dict[RunKey, int], jobs: int
) -> Progress:
    """Return the progress of runs; ``iterations_wanted``: the iterations of each run that the form describes.

    The time left is estimated from the `paces` of the engines, of an engine without one from their mean.
    """
    runs_by_key = {key_of_run(run): run for run in runs}
    pace = {engine: each for (engine, _), each in paces(runs).items()}
    mean_pace = sum(pace.values()) / max(1, len(pace))
    reached_iterations = {key: run.status["iteration"] for key, run in runs_by_key.items()}
    to_come = {
        key: max(0, end - reached_iterations.get(key, 0)) for key, end in iterations_wanted.items()
    }
    seconds = sum(
        pace.get(key.label.split()[0], mean_pace) * (key.n_topics or 1) * n
        for key, n in to_come.items()
    )
    at_once = min(jobs, os.cpu_count() or 1, max(1, sum(n > 0 for n in to_come.values())))
    ended_keys = [key for key, run in runs_by_key.items() if run.state == FINISHED]
    return Progress(
        len(iterations_wanted),
        len(ended_keys),
        sum(reached_iterations[key] < iterations_wanted.get(key, 0) for key in ended_keys),
        sum(run.state in ALIVE for run in runs_by_key.values()),
        seconds / at_once if pace else None,
        tuple(run.status["message"] for run in runs_by_key.values() if run.state in (FAILED, LOST)),
    )


def names_of(corpus: str) -> set[str]:
    """Return the names under which runs may record a corpus, given as an entry of the menu or as a path."""
    if named_set(corpus):
        return {corpus}
    path, path_found = Path(corpus), policy().find(corpus)
    if path_found is not None and is_sharded(path_found):
        return {path.name, *_name_within(str(path_found), path_found.stat().st_mtime_ns)}
    return {path.name, *(stem_of(path, reader.SUFFIXES) for reader in FORMATS.values())}


@lru_cache(maxsize=8)
def _name_within(folder: str, time_changed: int) -> tuple[str, ...]:
    """Return the name stored in the folder of a sharded corpus; empty if the folder is damaged."""
    try:
        return (ShardedCorpus.open(folder).name,)
    except DataError:
        return ()


def _fits(spec: RunSpec, request: RunRequest, names: set[str]) -> bool:
    """Return whether a run has the corpus, the train/test split and the priors of the form."""
    priors = [name for name in model_fields(get_engine(spec.engine)) if name != "n_topics"]
    if (
        spec.corpus not in names
        or (spec.test is None) != (request.holdout == 0)
        or any(spec.model.get(name) != getattr(request, name) for name in priors)
    ):
        return False
    changes = {
        name: value
        for name, default in UNCHANGED.items()
        if (value := getattr(request, name)) != default
    }
    split = spec.split or {}
    if "rows" in split:
        return split == {"rows": split["rows"]} | changes
    share = {"fraction": request.holdout, "seed": 0, "per": request.holdout_per}
    return split == ({} if spec.test is None else share) | changes
