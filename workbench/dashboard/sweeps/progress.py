"""How far the runs of a form are, in a sentence, and what a corpus may be called in them."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from workbench.corpus.formats.interface import stem_of
from workbench.corpus.formats.readers import FORMATS
from workbench.corpus.shards.sharded import ShardedCorpus, is_sharded
from workbench.dashboard.compare.wording import counted
from workbench.dashboard.shared.policy import policy
from workbench.errors import DataError
from workbench.numbers import format_duration
from workbench.runs.loading import named_set


class Progress(NamedTuple):
    """How far the runs of a form are."""

    n_wanted: int
    n_ended: int  # at their last iteration
    n_short: int  # of these, before the iteration that the form says
    n_alive: int
    left: float | None  # seconds, about; None where no run has a pace yet
    failed: tuple[str, ...]  # why runs failed


def told(progress: Progress, goes_on: bool) -> str:
    """The progress as a sentence; ``goes_on``: will further runs begin by themselves?"""
    n_wanted, n_ended, n_short, n_alive, left, failed = progress
    said = f"{n_ended} of {counted(n_wanted)} {'has' if n_ended == 1 else 'have'} ended"
    if n_ended == n_wanted:
        on = "" if policy().read_only else "; Start takes them there"
        short = f", {n_short} with fewer iterations than the form says{on}" if n_short else ""
        return f"All {counted(n_wanted)} have ended{short}."
    if n_alive or goes_on:
        return f"{said}; about {format_duration(left)} left." if left is not None else f"{said}."
    why = f"; {len(failed)} failed: {policy().shown(failed[0])}" if failed and failed[0] else ""
    return f"{said}{why}. {'No run is active.' if policy().read_only else 'Start runs the others.'}"


def names_of(corpus: str) -> set[str]:
    """What a corpus of the menu, or read from this path, may be called."""
    if named_set(corpus):
        return {corpus}
    path, there = Path(corpus), policy().find(corpus)
    if there is not None and is_sharded(there):
        return {path.name, *_name_within(str(there), there.stat().st_mtime_ns)}
    return {path.name, *(stem_of(path, about.SUFFIXES) for about in FORMATS.values())}


@lru_cache(maxsize=8)
def _name_within(folder: str, changed: int) -> tuple[str, ...]:
    """What a corpus in shards is called, which stands in its folder; none of one that is damaged."""
    try:
        return (ShardedCorpus.open(folder).name,)
    except DataError:
        return ()
