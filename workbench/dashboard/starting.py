"""Runs made and steered in a thread, so that reading a corpus or starting a worker freezes nobody's page."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import lru_cache
from pathlib import Path

from workbench.corpus import Corpus, data_sets, load_corpus
from workbench.engines import get_engine
from workbench.runs.compare import plan
from workbench.runs.run import Run
from workbench.runs.store import FINISHED, create_run

WORKERS = ThreadPoolExecutor(2, thread_name_prefix="workbench-desk")
LOG = logging.getLogger(__name__)


def in_background(document, work: Callable[[], object], then: Callable[[object, Exception | None], None]) -> None:
    """Does ``work`` in a thread, then calls ``then(result, error)`` in the session; without a session, all of it now."""

    def task() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as problem:  # it is shown to the visitor; a thread has nobody else to tell
            error = problem
            if not isinstance(problem, ValueError):
                LOG.exception("a request of the page failed")
        if document is None:
            then(result, error)
        elif document.session_context is not None:
            document.add_next_tick_callback(lambda: then(result, error))

    if document is None:
        task()
    else:
        WORKERS.submit(task)


def start_runs(store: Path, values: dict) -> tuple[list[Run], list[Run]]:
    """Creates and starts the runs that the form asks for.

    Everything is checked before the first folder is made, so that nothing is started half.

    Returns
    -------
    started, finished : lists of Run
        ``finished`` were there already, with all the iterations asked for.

    Raises
    ------
    SpecError, ModelError, OptionError, CorpusError, StoreError
    """
    settings = dict(values)
    corpus = corpus_of(settings.pop("corpus"))
    known = {name for engine in settings["engines"] for name in _option_names(engine)}
    settings["options"] = {name: value for name, value in settings["options"].items() if name in known}
    specs, train, test = plan(corpus, **settings)
    runs = [Run(create_run(Path(store), spec, train, test)) for spec in specs]
    finished = [run for run in runs if run.state == FINISHED]
    started = [run for run in runs if run not in finished]
    for run in started:
        run.resume()
    return started, finished


def told(started: list[Run], finished: list[Run]) -> str:
    """What came of a start, as a sentence."""
    parts = []
    if started:
        parts.append("1 run started" if len(started) == 1 else f"{len(started)} runs started")
    if finished:
        there = "1 run was" if len(finished) == 1 else f"{len(finished)} runs were"
        parts.append(f"{there} there already, finished; change the seed or raise the iterations for more")
    return "; ".join(parts) + "."


def corpus_of(name_or_path: str) -> Corpus:
    """The corpus, kept for the next start; a file that has changed since is read again."""
    path = Path(name_or_path).expanduser()
    changed = path.stat().st_mtime_ns if name_or_path not in data_sets() and path.exists() else 0
    return _loaded(name_or_path if name_or_path in data_sets() else str(path), changed)


@lru_cache(maxsize=2)
def _loaded(name_or_path: str, changed: int) -> Corpus:
    return load_corpus(name_or_path)


def _option_names(engine: str) -> list[str]:
    return [field.name for field in fields(get_engine(engine).options)]
