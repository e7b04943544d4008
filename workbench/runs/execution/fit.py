"""Compute a run: in this process (`fit`), in the background (`start`), or from its last checkpoint (`resume`); warm starts."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from workbench.corpus import Corpus
from workbench.corpus.corpus import Documents
from workbench.corpus.shards.shard_writer import SHARD_PAIRS
from workbench.engines import any_with
from workbench.engines.engine import WarmStart
from workbench.errors import InputError, Named
from workbench.models.lda import LDA, check_topics
from workbench.records import Records
from workbench.runs.execution.control import ending_cleanly, giving
from workbench.runs.execution.memory_check import (
    LARGE,
    Planned,
    at_a_time,
    check_room,
    give_back_freed,
    laid_out,
    memory_forecast,
    unfinished,
)
from workbench.runs.execution.run import (
    Run,
    default_store,
    extend,
    find_run,
    make_runs,
    warn_of_other_kernels,
)
from workbench.runs.execution.warm_start import warm_start_now, warm_start_of
from workbench.runs.execution.worker import carry_on
from workbench.runs.input_data import (
    data_from,
    fitting_test_set,
    pop_reading_options,
    separate_options,
)
from workbench.runs.loop import Control, MemorySink, OnIteration, initial_position, iterate
from workbench.runs.parts.crew import LocalParts, PartsLost
from workbench.runs.progress import progress_bar
from workbench.runs.settings import DEFAULT_ENGINE, LARGEST_SEED, RunSettings, signature_with
from workbench.runs.spec import RunSpec, SpecError, cautions, make_spec
from workbench.runs.store.archive import corpora_of
from workbench.runs.store.status import FINISHED, STOPPED, read_status
from workbench.runs.store.writer import create_run

if TYPE_CHECKING:
    from typing import Unpack

    import xarray as xr

    from workbench.choices import DataName, EngineName, FitSettings, StartSettings


def warm_start_from(
    run, train: Corpus, n_topics: int | None = None, store=None
) -> tuple[WarmStart, dict]:
    """Return a warm start from the last counts of a run (`Run`, path, name or Dataset), and a record of its origin.

    See `workbench.runs.execution.warm_start.warm_start_of`. n_topics : default: that of an LDA. Raises SpecError, StoreError
    or ModelError.
    """
    import xarray as xr

    n_topics = check_topics(LDA.n_topics if n_topics is None else n_topics)
    if isinstance(run, xr.Dataset):
        return warm_start_of(run, train, n_topics)
    return warm_start_now(find_run(run, store), train, n_topics)


LOSSES = 5
"""A run fails if its workers are lost this many times without progress to a further iteration."""


def fit(
    corpus: DataName | Documents,
    engine: EngineName | str | tuple[str, dict] = DEFAULT_ENGINE,
    n_topics: int | None = None,
    alpha: float | Sequence[float] | None = None,
    beta: ArrayLike | None = None,
    *,
    seed: int = 0,
    store: str | Path | None = None,
    progress: bool = True,
    start: Run | str | Path | xr.Dataset | None = None,
    restarts: int = 1,
    client: object = None,
    **settings: Unpack[FitSettings],
) -> xr.Dataset:
    """Run an engine on a corpus and return the run's Dataset.

    Parameters
    ----------
    corpus : Corpus, name or path, list of texts or of lists of tokens, pandas Series or DataFrame, matrix of counts
        Training documents; see `workbench.corpus.corpus.corpus_of`.
    text, id, time, label : str, optional
        Columns of a DataFrame or of a table in a file. vocabulary: words of a matrix of counts, or of bags of words.
    stop_words, min_documents, ngrams, tokenizer, keep_text and others
        How raw text is counted; see `workbench.corpus.texts.counting.count_words`.
    engine : str
        Name of an engine of `workbench.engines`, or a pair of name and options, as ``wb.engines.svb_cgs(r=1)``.
    n_topics, alpha, beta
        Settings of the model: 10 topics by default; alpha is the prior of each topic (one number, or one per topic), beta that
        of each word type (one number; in LDA also one per word, or a table (topic, word)), 0.1 each by default. HDP engines
        raise an error for alpha and beta; their options set the totals.
    n_iterations : int
        Number of iterations; each is one call of the engine's step over the corpus.
    seed : int
        Determines all random numbers; the same seed gives the same bits for any ``n_threads``.
    test : Corpus, optional
        Held-out tokens of the same documents, from `hold_out_tokens`; without it no test perplexity.
    burn_in : int
        Iterations before the running average of p(w|d) begins.
    options : dict
        Options of the engine, such as ``{"r": 1}``; an option whose name no setting has may also be given by itself: ``r=1``.
    n_threads : int
        Number of threads; it does not change the result. Engines with the option ``partition`` use several threads only with
        that option, which makes them approximate.
    record_every, snapshot_every : int
        Iterations between two recorded rows, and between two snapshots of counts. The last iteration always has both.
    store : path, optional
        Folder in which the run is stored; None keeps it in memory.
    name : str, optional
        Name of the run in the store; by default from corpus, engine, K and hash.
    progress : bool
        Show a bar with the time left (stderr).
    split : dict, optional
        How the test tokens were drawn; it is only recorded.
    start : Run, path, name or Dataset, optional
        Start from the last counts of this run instead of at random; see `workbench.runs.execution.fit.warm_start_from`.
    restarts : int, default 1
        Number of runs, with seeds counting up from ``seed``; the run with the highest bound is returned. A store keeps all of
        them. ``ds.attrs["restarts"]`` (JSON) has the bound of each.
    client : distributed.Client, address of a scheduler, or "local", optional
        The workers of this cluster share the shards of the corpus (a `ShardedCorpus` with several), with the same result; see
        docs/cluster.md.
    stop_on : "bound", "perplexity" or "steps", optional
        End the run early when the bound, or the perplexity of the running average, has changed by at most the relative
        ``stop_tolerance`` in ten iterations, or, for HDP engines, after ``stop_tolerance`` steps (the number of topics, summed
        over iterations). Off by default.

    interventions : list of (int, dict), or a Run, optional
        Settings to turn while the run runs: ``[(50, {"r": 2})]`` computes iteration 50 and those after it with r = 2. Of a
        `Run`, what was turned while it ran. The running average begins anew with each.
    model : Network, dict, name or path, optional
        For the engines of networks: a shipped one ("lda", "author-topic", "labeled", "partially-labeled", "polylingual",
        "pachinko", "hpam1", "hpam2"), a `workbench.models.networks.network.Network`, or a file (.toml, .json). ``n_topics``
        is then the size of its variable "topic", alpha the prior of every Dirichlet level but the last, and beta that of the
        last; the network has the defaults.
    sizes : dict, optional
        Sizes of variables of the network, such as ``{"super": 5}``.

    Returns
    -------
    xarray.Dataset
        See `workbench.models.VARIABLES`.

    Raises
    ------
    SpecError, ModelError, OptionError, StoreError
    Interrupted, Terminated
        After Ctrl-C or SIGTERM; a KeyboardInterrupt and a SystemExit with status 143. Their ``result`` is the Dataset of the
        iterations so far, with the attribute ``state`` "stopped"; a run in a store can be resumed.
    """
    engine, own_settings = separate_options(fit, engine, settings)
    corpus = data_from(corpus, engine, **pop_reading_options(own_settings))
    own_settings["test"] = fitting_test_set(corpus, own_settings.get("test"))
    warm_start = None if start is None else warm_start_from(start, corpus, n_topics, store)
    first = SpecError.whole("seed", seed, 0, LARGEST_SEED)
    specs = [
        make_spec(
            corpus, engine, n_topics, alpha, beta, seed=first + i, start=warm_start, **own_settings
        )
        for i in range(SpecError.whole("restarts", restarts, 1))
    ]
    check_restarts(specs)
    with cluster_of(client, store) as cluster_client:
        return best_of(
            run_specs(specs, corpus, own_settings["test"], store, progress, cluster_client)
        )


fit.__signature__ = signature_with(fit, make_spec, RunSettings, data_from)


def run_specs(
    specs: list[RunSpec], corpus: Corpus, test: Corpus | None, store, progress: bool, client=None
) -> Iterator[xr.Dataset]:
    """Compute runs in this process, one after the other, and yield their Datasets.

    Raises SpecError if the largest does not fit into memory. With a client, its workers compute on the shards of the corpus.
    """
    crew = _crew(client, corpus)
    is_stored, planned_runs = store is not None, [Planned(spec, corpus, test) for spec in specs]
    check_room(
        unfinished(store, planned_runs) if is_stored else planned_runs, here=True, stored=is_stored
    )
    if progress:
        print_cautions(specs, corpus)
        if at_a_time(planned_runs, 1, is_stored) >= LARGE:
            print(f"takes {memory_forecast(planned_runs, stored=is_stored)}", file=sys.stderr)
    for spec in specs:
        if progress and not is_stored:
            tell_cost(client, Planned(spec, corpus, test))
        if is_stored:
            run = Run(create_run(Path(store), spec, corpus, test))
            yield resume(
                run,
                progress=progress,
                corpora=(corpus, test) if client is None else None,
                client=client,
            )
        else:
            yield _in_memory(spec, corpus, test if spec.test else None, progress, crew)


@contextlib.contextmanager
def cluster_of(client, store) -> Iterator:
    """Yield a connected client, whose workers share ``store`` if one is given; yield None if ``client`` is None."""
    if client is None:
        yield None
        return
    from workbench.runs.execution.cluster.connecting import client_of
    from workbench.runs.execution.cluster.sweeping import ready_cluster

    with client_of(client) if store is None else ready_cluster(client, Path(store)) as connected:
        yield connected


def _crew(client, corpus) -> Callable:
    """Return the function that creates the parts of a sharded corpus: in this process, or on the workers of ``client``."""
    if client is None:
        return LocalParts
    check_in_parts(corpus)
    from workbench.runs.execution.cluster.fitting import WorkerParts

    return partial(WorkerParts, client)


def check_in_parts(corpus) -> None:
    """Raise SpecError if a corpus has only one part (shard), so that several workers cannot share it."""
    if corpus.n_parts > 1:
        return
    rule = f"the workers of a cluster share the shards of a corpus, and {corpus.name!r}"
    client = Named("scheduler", text="client")
    if getattr(corpus, "n_pairs", 0) <= SHARD_PAIRS:
        reason = "is small enough for a single one" if isinstance(corpus, Corpus) else "has none"
        raise SpecError(f"{rule} {reason}: one process infers from it; leave ", client, " out")
    convert = "convert it: workbench data convert IN FOLDER --shards"
    raise SpecError(
        f"{rule} is whole: one process infers from it; leave ", client, f" out, or {convert}"
    )


def tell_cost(client, planned: Planned) -> None:
    """Print on stderr the expected time and network traffic of a run on a cluster; do nothing without a client."""
    if client is not None:
        from workbench.runs.execution.cluster.cost import cost_of

        print(cost_of(client, planned), file=sys.stderr)


def _in_memory(
    spec: RunSpec, corpus: Corpus, test: Corpus | None, progress: bool, crew: Callable
) -> xr.Dataset:
    """Compute a run to its end in memory, without a store, and return its Dataset."""
    give_back_freed()
    control, sink = Control(), MemorySink(spec, corpus)
    try:
        with (
            progress_bar(spec, is_shown=progress) as on_iteration,
            laid_out(Planned(spec, corpus, test), crew=crew) as data,
            ending_cleanly(control),
        ):
            position = initial_position(spec, data, control)
            last_iteration = iterate(spec, data, position, sink, control, on_iteration).iteration
    except PartsLost as lost:
        raise InputError(
            f"{lost}, and this run with it; with store it continues from its last checkpoint"
        ) from lost
    dataset = sink.dataset(
        FINISHED if last_iteration == (sink.settled or spec.n_iterations) else STOPPED
    )
    control.raise_stop(dataset)
    return dataset


def print_cautions(specs: list[RunSpec], data) -> None:
    """Print on stderr, once each, why threads will be idle, a run will end within its warm-up, or data tell too little."""
    for sentence in cautions(specs, data):
        print(sentence, file=sys.stderr)


def check_restarts(specs: list[RunSpec]) -> None:
    """Raise SpecError for restarts that have no bound to be compared by, start warm, or share a name."""
    if len(specs) == 1:
        return
    if "bound" not in specs[0].parts()[0].watches:
        raise SpecError(
            f"restarts are compared by their bound and {specs[0].engine} has none; {any_with('bound')} has one",
            field="restarts",
            value=len(specs),
        )
    if specs[0].start:
        raise SpecError(
            "restarts and start cannot be combined: a warm start leaves no random initialisation to vary; leave one of them out"
        )
    if len({spec.name for spec in specs}) < len(specs):
        raise SpecError(
            f"name is for a single run, and restarts makes several; got {specs[0].name!r}, leave it out",
            field="name",
            value=specs[0].name,
        )


def best_of(datasets: Iterable[xr.Dataset]) -> xr.Dataset:
    """Return the Dataset with the highest final bound; its attributes list the seed and bound of every run.

    ``datasets`` computes the runs one by one; after a run that was stopped by request no other is started. A single run is
    returned unchanged.
    """
    best, summaries = None, []

    def take(dataset: xr.Dataset) -> None:
        nonlocal best
        bound = (
            float(dataset["bound"][-1])
            if "bound" in dataset and dataset.sizes["iteration"]
            else -math.inf
        )
        summaries.append(
            {
                "name": dataset.attrs["name"],
                "seed": RunSpec.from_json(dataset.attrs["spec"]).seed,
                "bound": bound,
            }
        )
        if best is None or bound > max(other["bound"] for other in summaries[:-1]):
            best = dataset

    def result(partial_result: xr.Dataset | None = None) -> xr.Dataset:
        if partial_result is not None:
            take(partial_result)
        return best.assign_attrs(restarts=json.dumps(summaries)) if len(summaries) > 1 else best

    with giving(result):
        for dataset in datasets:
            take(dataset)
            if dataset.attrs["state"] != FINISHED:
                break
    return result()


def start(
    corpus: DataName | Documents,
    engine: EngineName | str | tuple[str, dict] = DEFAULT_ENGINE,
    *,
    test: Corpus | Records | None = None,
    store: str | Path | None = None,
    **settings: Unpack[StartSettings],
) -> Run:
    """Start `fit` in a separate process; return at once the `Run`, which can be read, paused, resumed and stopped.

    The settings are those of `fit`, by name. The default ``store`` is ``WORKBENCH_STORE`` or ``./runs``.
    """
    engine, own_settings = separate_options(start, engine, settings)
    corpus = data_from(corpus, engine, **pop_reading_options(own_settings))
    test = fitting_test_set(corpus, test)
    own_settings.pop("progress", None)
    if own_settings.pop("restarts", 1) != 1 or own_settings.pop("client", None) is not None:
        raise SpecError(
            "start makes one run on this machine; for restarts or a client use fit, or start one run per seed"
        )
    if own_settings.get("start") is not None:
        own_settings["start"] = warm_start_from(
            own_settings["start"], corpus, own_settings.get("n_topics"), store
        )
    spec = make_spec(corpus, engine, test=test, **own_settings)
    (run,) = make_runs(
        default_store() if store is None else Path(store), [Planned(spec, corpus, test)]
    )
    print_cautions([spec], corpus)
    run.resume()
    return run


start.__signature__ = signature_with(start, fit)


def resume(
    run: Run | str | Path,
    n_iterations: int | None = None,
    store: str | Path | None = None,
    progress: bool = True,
    corpora: tuple | None = None,
    client: object = None,
) -> xr.Dataset:
    """Resume a run (a `Run`, path or name) in this process until its end, and return its Dataset.

    ``n_iterations`` is a new last iteration, at least the last committed one. A finished run is returned unchanged.
    ``corpora`` are its training and test corpus; by default they are read from the store. ``client`` is as in `fit`.
    """
    run, train = Run(find_run(run, store)), corpora[0] if corpora else None
    with giving(lambda _: run.dataset(train)):
        finish(run, n_iterations, progress, corpora, client)
    return run.dataset(train)


def _compute_to_end(
    path: Path, on_iteration: OnIteration | None, corpora: tuple, crew: Callable
) -> None:
    """Compute a run to its end by `carry_on`, starting again from the last checkpoint if a cluster's worker is lost.

    Raises InputError if workers are lost `LOSSES` times without progress.
    """
    furthest, n_lost = -1, 0
    while True:
        try:
            carry_on(path, on_iteration, corpora=corpora, crew=crew)
            return
        except PartsLost as lost:
            iteration = int(read_status(path)["iteration"])
            furthest, n_lost = (iteration, 1) if iteration > furthest else (furthest, n_lost + 1)
            if n_lost == LOSSES:
                raise InputError(
                    f"{lost}, {LOSSES} times before the run got past iteration {furthest}; see to the workers, perhaps "
                    f"they have too little memory, then continue with: workbench resume {path}"
                ) from lost
            print(f"{lost}; the run continues from its last checkpoint", file=sys.stderr)


def finish(
    run: Run,
    n_iterations: int | None = None,
    progress: bool = True,
    corpora: tuple | None = None,
    client=None,
) -> Run:
    """Resume a run as `resume` does, and return its `Run`; Interrupted and Terminated carry the `Run` as result."""

    def print_how_to_resume(_=None) -> Run:
        """Print how to resume the run if it was stopped; return the run."""
        status = run.status()
        if status["state"] == STOPPED:
            progress_text = "iteration {iteration} of {n_iterations}".format_map(status)
            print(
                f"stopped after {progress_text}; resume with: workbench resume {run.path}",
                file=sys.stderr,
            )
        return run

    extend(run.path, n_iterations)
    status = run.status()
    if status["state"] != FINISHED:
        warn_of_other_kernels([run])
        with (
            giving(print_how_to_resume),
            progress_bar(
                run.spec, is_shown=progress, done=int(status["iteration"])
            ) as on_iteration,
        ):
            corpora = corpora or corpora_of(run.path.parent, run.spec)
            with cluster_of(client, run.path.parent) as cluster_client:
                crew = _crew(cluster_client, corpora[0])
                if progress:
                    tell_cost(cluster_client, Planned(run.spec, *corpora))
                _compute_to_end(run.path, on_iteration, corpora, crew)
    return print_how_to_resume()
