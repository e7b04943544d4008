"""The runs that the form asks for, made and started."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from workbench.corpus import Corpus, is_named, load_corpus
from workbench.runs.compare import plan
from workbench.runs.made_by import taken_on_now
from workbench.runs.need import Planned, check_room, outlook_on_memory, unfinished
from workbench.runs.run import Run
from workbench.runs.store import FINISHED, create_run
from workbench.runs.worker import SLOTS


def start_runs(store: Path, values: dict) -> tuple[list[Run], list[Run], str, str]:
    """Creates and starts the runs that the form asks for.

    Everything is checked before the first folder is made, so that nothing is started half. There are as many threads as the
    largest partition has parts, if the machine has them.

    Returns
    -------
    started, finished : lists of Run
        ``finished`` were there already, with all the iterations asked for.
    memory : str
        What those started will take of it, in words.
    others : str
        That other kernels made the beginning of some, if so.

    Raises
    ------
    SpecError, ModelError, OptionError, CorpusError, StoreError
    """
    settings = dict(values)
    corpus = corpus_of(settings.pop("corpus"))
    options = settings.pop("options")
    settings["engines"] = [(engine, options.get(engine, {})) for engine in settings["engines"]]
    if settings["start"] is not None:
        settings["start"] = Path(store) / settings["start"]
    most_parts = max((given.get("partition", 1) for _, given in settings["engines"]), default=1)
    specs, train, test = plan(corpus, n_threads=min(most_parts, os.cpu_count() or 1), **settings)
    planned = [Planned(spec, train, test) for spec in specs]
    coming = unfinished(store, planned)
    check_room(coming, SLOTS)
    runs = [Run(create_run(Path(store), *each)) for each in planned]
    finished = [run for run in runs if run.state == FINISHED]
    started = [run for run in runs if run not in finished]
    others = taken_on_now([run.name for run in started if run.reader.by_other_kernels()])
    for run in started:
        run.resume()
    return started, finished, outlook_on_memory(coming, SLOTS) if coming else "", others


def told(started: list[Run], finished: list[Run], memory: str, others: str = "") -> str:
    """What came of a start, as a sentence."""
    parts = []
    if started:
        parts.append(f"{'1 run' if len(started) == 1 else f'{len(started)} runs'} started, {memory}")
    if finished:
        there = "1 run was" if len(finished) == 1 else f"{len(finished)} runs were"
        parts.append(f"{there} there already, finished; change the seed or raise the iterations for more")
    parts += [others] if others else []
    return "; ".join(parts) + "."


def corpus_of(name_or_path: str) -> Corpus:
    """The corpus, kept for the next start; a file that has changed since is read again."""
    if is_named(name_or_path):
        return _loaded(name_or_path, 0)
    path = Path(name_or_path).expanduser()
    return _loaded(str(path), path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=2)
def _loaded(name_or_path: str, changed: int) -> Corpus:
    return load_corpus(name_or_path)
