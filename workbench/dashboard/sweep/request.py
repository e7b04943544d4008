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
from workbench.dashboard.compare.wording import counted
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


class Place(NamedTuple):
    """The key of a run among the runs of a form: what distinguishes it from the others."""

    label: str  # engine and options
    n_topics: int
    seed: int


class Found(NamedTuple):
    """Those runs of a form that the store has already."""

    settings: list[Reading]
    reference: Sequence[Reading] = ()  # the long chains

    @property
    def all(self) -> list[Reading]:
        """Return each run once, those of the reference first."""
        return list({one.name: one for one in (*self.reference, *self.settings)}.values())


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

    def goes_on(self, store: Path, found: Found) -> bool:
        """Return whether further runs start automatically, as in a warm sweep, whose process starts one after another."""
        return False


class Progress(NamedTuple):
    """The progress of the runs of a form."""

    n_wanted: int
    n_ended: int  # finished
    n_short: int  # finished with fewer iterations than the form asks for
    n_alive: int
    seconds_left: float | None  # estimate; None before any run has a pace
    failed: tuple[str, ...]  # error message of each failed run

    def sentence(self, goes_on: bool) -> str:
        """Return the progress as a sentence; ``goes_on``: whether further runs start automatically."""
        may_start, wanted = not policy().read_only, counted(self.n_wanted)
        if self.n_ended == self.n_wanted:
            advice = "; Start takes them there" * may_start
            short = f", {self.n_short} with fewer iterations than the form says{advice}"
            return f"All {wanted} have ended{short if self.n_short else ''}."
        ended = f"{self.n_ended} of {wanted} {'has' if self.n_ended == 1 else 'have'} ended"
        if self.n_alive or goes_on:
            if self.seconds_left is None:
                return f"{ended}."
            return f"{ended}; about {format_duration(self.seconds_left)} left."
        message = policy().shown(next(iter(self.failed), ""))
        failed = f"; {len(self.failed)} failed: {message}" if message else ""
        return f"{ended}{failed}. {'Start runs the others.' if may_start else 'No run is active.'}"


def place_of(run: Reading) -> Place:
    """Return the `Place` of a run among the runs of a form; a warm start makes no difference."""
    return Place(run.spec.label().removesuffix(" warm"), run.spec.n_topics, run.spec.seed)


def points_of(readings: Iterable[Reading]) -> tuple[Point, ...]:
    """Return a point for each run that has a recorded iteration, in the same order."""
    return tuple(
        Point(snapshot_of(one), int(one.latest[0]), one.spec.n_topics, one.spec.seed)
        for one in readings
        if np.isfinite(one.latest[0])
    )


def runs_alike(
    readings: Iterable[Reading], asked: RunRequest, labels: Collection[str]
) -> list[Reading]:
    """Return the runs with these labels on the data of the form, newest first.

    If runs have different tokens under the same corpus name, return only those with the tokens of the newest.
    """
    names = names_of(asked.corpus)
    alike = [
        one
        for one in readings
        if one.spec is not None and _fits(one.spec, asked, names) and place_of(one).label in labels
    ]
    return [
        one
        for one in alike
        if (one.spec.train, one.spec.test) == (alike[0].spec.train, alike[0].spec.test)
    ]


def progress_of(runs: Collection[Reading], wanted: dict[Place, int], jobs: int) -> Progress:
    """Return the progress of runs; ``wanted``: the iterations of each run that the form describes.

    The time left is estimated from the `paces` of the engines, of an engine without one from their mean.
    """
    there = {place_of(one): one for one in runs}
    pace = {engine: each for (engine, _), each in paces(runs).items()}
    usual = sum(pace.values()) / max(1, len(pace))
    reached = {place: one.status["iteration"] for place, one in there.items()}
    to_come = {place: max(0, end - reached.get(place, 0)) for place, end in wanted.items()}
    seconds = sum(
        pace.get(place.label.split()[0], usual) * (place.n_topics or 1) * n
        for place, n in to_come.items()
    )
    at_once = min(jobs, os.cpu_count() or 1, max(1, sum(n > 0 for n in to_come.values())))
    ended = [place for place, one in there.items() if one.state == FINISHED]
    return Progress(
        len(wanted),
        len(ended),
        sum(reached[place] < wanted.get(place, 0) for place in ended),
        sum(one.state in ALIVE for one in there.values()),
        seconds / at_once if pace else None,
        tuple(one.status["message"] for one in there.values() if one.state in (FAILED, LOST)),
    )


def names_of(corpus: str) -> set[str]:
    """Return the names under which runs may record a corpus, given as an entry of the menu or as a path."""
    if named_set(corpus):
        return {corpus}
    path, there = Path(corpus), policy().find(corpus)
    if there is not None and is_sharded(there):
        return {path.name, *_name_within(str(there), there.stat().st_mtime_ns)}
    return {path.name, *(stem_of(path, about.SUFFIXES) for about in FORMATS.values())}


@lru_cache(maxsize=8)
def _name_within(folder: str, changed: int) -> tuple[str, ...]:
    """Return the name stored in the folder of a sharded corpus; empty if the folder is damaged."""
    try:
        return (ShardedCorpus.open(folder).name,)
    except DataError:
        return ()


def _fits(spec: RunSpec, asked: RunRequest, names: set[str]) -> bool:
    """Return whether a run has the corpus, the train/test split and the priors of the form."""
    priors = [name for name in model_fields(get_engine(spec.engine)) if name != "n_topics"]
    if (
        spec.corpus not in names
        or (spec.test is None) != (asked.holdout == 0)
        or any(spec.model.get(name) != getattr(asked, name) for name in priors)
    ):
        return False
    changes = {
        name: value for name, usual in UNCHANGED.items() if (value := getattr(asked, name)) != usual
    }
    split = spec.split or {}
    if "rows" in split:
        return split == {"rows": split["rows"]} | changes
    share = {"fraction": asked.holdout, "seed": 0, "per": asked.holdout_per}
    return split == ({} if spec.test is None else share) | changes
