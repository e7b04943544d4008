"""fit, start, resume: a run here and now, a run in the background, a run that goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import xarray as xr

from workbench.corpus import Corpus
from workbench.runs.control import STOPPED, MemoryPulse, ending_cleanly
from workbench.runs.loop import iterate
from workbench.runs.loop import start as first_position
from workbench.runs.memory import MemorySink
from workbench.runs.progress import progress_bar
from workbench.runs.run import Run, default_store, extend, find_run
from workbench.runs.spec import make_spec
from workbench.runs.store import FINISHED, create_run
from workbench.runs.worker import carry_on


def fit(
    corpus: Corpus, engine: str = "cgs", n_topics: int = 10, alpha=0.1, beta: float = 0.1, n_iterations: int = 300,
    seed: int = 0, test: Corpus | None = None, burn_in: int = 10, options: dict | None = None, n_threads: int = 1,
    record_every: int = 1, snapshot_every: int = 50, store=None, name: str | None = None, progress: bool = True,
    split: dict | None = None,
) -> xr.Dataset:
    """Runs an engine on a corpus and returns the run's Dataset.

    Parameters
    ----------
    corpus : Corpus
        Training documents.
    engine : str
        A name of `workbench.engines`.
    n_topics, alpha, beta
        The model; alpha is per topic (a number, or one per topic), beta per word type.
    n_iterations : int
        Iterations, each one call of the engine's step over the corpus.
    seed : int
        Decides every random number; the same seed gives the same bits, whatever ``n_threads``.
    test : Corpus, optional
        Held-out tokens of the same documents, from `hold_out_tokens`; without it no test perplexity.
    burn_in : int
        Iterations before the running average of p(w|d) begins.
    options : dict
        Of the engine: ``{"r": 1}``.
    record_every, snapshot_every : int
        Cadence, in iterations, of rows and of counts. The last iteration is always both.
    store : path, optional
        Folder to keep the run in; None keeps it in memory.
    name : str, optional
        Of the run in the store; by default from corpus, engine, K and hash.
    progress : bool
        Show a bar with the time left (stderr).
    split : dict, optional
        How the test tokens were drawn, for the record.

    Returns
    -------
    xarray.Dataset
        See `workbench.models.VARIABLES`. After Ctrl-C: what there is so far; ``ds.attrs["state"]`` is then
        ``stopped``, and a run in a store can be resumed.

    Raises
    ------
    SpecError, ModelError, OptionError, StoreError
        One sentence each.
    """
    spec = make_spec(
        corpus, engine, n_topics, alpha, beta, n_iterations, seed, test, burn_in, options, n_threads, record_every,
        snapshot_every, split, name,
    )
    if store is not None:
        return resume(Run(create_run(Path(store), spec, corpus, test)), progress=progress)
    test = test if spec.test else None
    pulse, sink = MemoryPulse(), MemorySink(spec, corpus)
    with progress_bar(spec, shown=progress) as watch, ending_cleanly(pulse):
        position = iterate(spec, corpus, test, first_position(spec, corpus, test), sink, pulse, watch)
    return sink.dataset(FINISHED if position.iteration == spec.n_iterations else STOPPED)


def start(corpus: Corpus, engine: str = "cgs", *, test: Corpus | None = None, store=None, **settings) -> Run:
    """`fit` in a process of its own: returns at once with a `Run` to look at, pause, resume and stop.

    Takes the settings of `fit`, by name; without ``store`` the run goes to ``WORKBENCH_STORE`` or ``./runs``.
    """
    settings.pop("progress", None)
    spec = make_spec(corpus, engine, test=test, **settings)
    run = Run(create_run(default_store() if store is None else Path(store), spec, corpus, test))
    run.resume()
    return run


def resume(run, n_iterations: int | None = None, store=None, progress: bool = True) -> xr.Dataset:
    """Takes a run (a `Run`, path or name) on to its end, in this process, and returns its Dataset.

    ``n_iterations`` moves the end, but never before what is committed. A finished run is returned as it is.
    """
    run = Run(find_run(run, store))
    extend(run.path, n_iterations)
    status = run.status()
    if status["state"] != FINISHED:
        with progress_bar(run.spec, shown=progress, done=int(status["iteration"])) as watch:
            finished = carry_on(run.path, watch)
        if not finished:
            status = run.status()
            told = f"stopped after iteration {status['iteration']} of {status['n_iterations']}"
            print(f"{told}; go on with: workbench resume {run.path}", file=sys.stderr)
    return run.dataset()

