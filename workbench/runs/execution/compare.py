"""Compare several engines on the same train/test split with the same seeds."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.corpus import AnyCorpus, Corpus, prepare
from workbench.corpus.corpus import Documents
from workbench.engines import get_engine
from workbench.engines.options import named_options, no_option, split_options, takes
from workbench.errors import OneSentence, shown
from workbench.records import Records, prepare_records
from workbench.runs.execution.control import ending_cleanly, giving
from workbench.runs.execution.fit import run_specs, warm_start_from
from workbench.runs.execution.memory_check import Planned, check_room
from workbench.runs.execution.run import ENDED, Run, make_runs
from workbench.runs.input_data import (
    data_from,
    fitting_test_set,
    named_engines,
    pop_reading_options,
    separate_options,
    whole_if_one,
)
from workbench.runs.loading import ROWS
from workbench.runs.loop import Control
from workbench.runs.progress import bars
from workbench.runs.settings import (
    DEFAULT_ENGINES,
    LARGEST_SEED,
    RunSettings,
    SplitSettings,
    names,
    select_settings,
    signature_with,
)
from workbench.runs.spec import PRIORS, RunSpec, SpecError, make_model, make_spec
from workbench.runs.store.status import FAILED, FINISHED, LOST

if TYPE_CHECKING:
    from typing import Unpack

    import xarray as xr

    from workbench.choices import CompareSettings, DataName, EngineName


class RunFailed(OneSentence, RuntimeError):
    """Raised if the worker process of a run failed or was killed."""


NETWORK = ("model", "sizes")
"""Settings that only the engines of networks have."""


def plan(
    corpus: Corpus,
    engines: str | Sequence = DEFAULT_ENGINES,
    seeds: int = 1,
    *,
    seed: int = 0,
    options: dict | None = None,
    start: Run | str | Path | xr.Dataset | None = None,
    store: str | Path | None = None,
    test: Corpus | Records | None = None,
    **settings,
) -> tuple[list[RunSpec], Corpus, Corpus | None]:
    """Return (specs, training corpus, test corpus) of a comparison: one spec per engine and seed.

    ``engines`` are names (or one name) or (name, options) pairs. ``options`` are passed to every engine that has them and
    accepts their values (learn_alpha=maximised to those of LDA, learn_alpha=False to those of the HDP).
    ``seeds`` is the number of inference seeds, counting up from ``seed``; the split is the same for all. Held out is a share of
    the tokens of the corpus or of each document, or half the tokens of a share of the documents (``holdout_per``), or whole
    documents (``holdout_rows``); for records it is a share of their cells or whole records (``holdout_per``).
    ``top_words``, ``merge``, ``repeat`` and ``singletons`` change the corpus, see `workbench.corpus.prepare`. All runs start
    from the counts of ``start``, if given (a `Run`, path, Dataset, or a name in the ``store``). A ``test`` set that is given is
    used in place of a split. Other settings are those of
    `fit`; alpha and beta are passed to the engines whose model has them, model and sizes to those of networks. Raises
    SpecError, OptionError, ModelError or CorpusError.
    """
    if not isinstance(corpus, AnyCorpus | Records):
        raise SpecError(
            "what is compared must be a Corpus or Records (workbench.load_corpus and load_records make them)",
            f"; got {shown(repr(corpus))}",
        )
    train, test, split = (
        prepared(corpus, SplitSettings(**select_settings(SplitSettings, settings)))
        if test is None
        else (whole_if_one(corpus), fitting_test_set(corpus, test), None)
    )
    settings = {name: value for name, value in settings.items() if name not in names(SplitSettings)}
    engine_options = named_engines(engines)
    if not engine_options:
        raise SpecError("a comparison needs at least one engine; got none")
    engine_of = {name: get_engine(name) for name, _ in engine_options}
    check_kinds(engine_of)
    for option, value in (options or {}).items():
        if not is_option(option, [value], list(engine_of.values())):
            raise no_option([*engine_of.values()], option)
    for setting_names in (("alpha",), ("beta",), NETWORK):  # raises for what no model here has
        if not any(setting_names[0] in engine.model.takes for engine in engine_of.values()):
            make_model(
                engine_of[engine_options[0][0]],
                settings.get("n_topics"),
                **{setting: settings.get(setting) for setting in setting_names},
            )
    n_seeds, seed = (
        SpecError.whole("seeds", seeds, 1),
        SpecError.whole("seed", seed, 0, LARGEST_SEED),
    )
    if settings.get("name") and len(engine_options) * n_seeds > 1:
        raise SpecError(
            f"name is for a single run; the runs of a comparison are named automatically; got {settings['name']!r}"
        )
    if start is not None:
        settings["start"] = warm_start_from(start, train, settings.get("n_topics"), store)
    specs: dict[str, RunSpec] = {}
    for name, own_options in engine_options:
        common_options = {
            option: value
            for option, value in (options or {}).items()
            if takes(engine_of[name], option, value)
        }
        without_use = {*PRIORS, *NETWORK}.difference(engine_of[name].model.takes)
        values = {
            setting: value for setting, value in settings.items() if setting not in without_use
        }
        for chain in range(n_seeds):
            spec = make_spec(
                train,
                name,
                test=test,
                seed=seed + chain,
                options=common_options | own_options,
                split=split,
                **values,
            )
            specs.setdefault(spec.hash, spec)
    return list(specs.values()), train, test


def prepared(data: AnyCorpus | Records, settings: SplitSettings) -> tuple:
    """Return training data, test data and the record of split and changes; a corpus in a single shard is read into memory."""
    data = whole_if_one(data)
    return (prepare_records if isinstance(data, Records) else prepare)(
        data,
        settings.holdout,
        settings.split_seed,
        settings.top_words,
        settings.singletons,
        settings.holdout_per,
        settings.holdout_rows,
        settings.merge,
        settings.repeat,
    )


def check_kinds(engines: dict) -> None:
    """Raise SpecError if these engines need different data types: some documents, others records."""
    # the first engine of each data type
    engine_of = {engine.model.data: name for name, engine in reversed(engines.items())}
    if len(engine_of) > 1:
        kinds = " and ".join(
            f"{name} from {ROWS[kind]}" for kind, name in reversed(engine_of.items())
        )
        raise SpecError(
            f"engines that are compared infer from the same data, and {kinds}; leave one out",
            field="engines",
        )


def is_option(name: str, values: list, engines: list) -> bool:
    """Return whether any engine has the option; raise OptionError for the first value that no engine accepts."""
    takers = [engine for engine in engines if name in named_options(engine)]
    for value in values if takers else ():
        if not any(takes(engine, name, value) for engine in takers):
            split_options(takers[0], {name: value})  # raises the error
    return bool(takers)


def compare(
    corpus: DataName | Documents,
    engines: EngineName | str | Sequence[EngineName | str | tuple[str, dict]] = DEFAULT_ENGINES,
    n_topics: int | None = None,
    alpha: float | Sequence[float] | None = None,
    beta: float | None = None,
    *,
    store: str | Path | None = None,
    jobs: int = 1,
    progress: bool = True,
    start: Run | str | Path | xr.Dataset | None = None,
    client: object = None,
    **settings: Unpack[CompareSettings],
) -> xr.Dataset:
    """Run several engines on the same split with the same seeds.

    Returns
    -------
    xarray.Dataset
        The per-iteration variables of `fit` with a dim ``run``; coordinates ``run`` (name), ``engine``,
        ``label``, ``seed`` and ``state`` along it. Variables that only some engines record are NaN for the others.

    ``corpus`` is anything that `fit` accepts. With a ``store`` the runs are kept, and reopened when the same comparison is
    requested again, up to the iterations asked for; up to ``jobs`` of them are computed in parallel. See `plan` for engines,
    seeds, split, options, and changes of the corpus.

    ``client`` is a `distributed.Client`, the address of a scheduler, or "local": the workers of that cluster compute the runs.
    Raises ClusterError if a worker does not share the store, or for another problem of the cluster; and Interrupted or
    Terminated as `fit` does, whose ``result`` has the iterations so far.
    """
    SpecError.whole("jobs", jobs, 1)
    engines, own_settings = separate_options(compare, engines, settings)
    corpus = data_from(corpus, engines, **pop_reading_options(own_settings))
    own_settings |= {"n_topics": n_topics, "alpha": alpha, "beta": beta}
    specs, train, test = plan(corpus, engines, start=start, store=store, **own_settings)
    planned = [Planned(spec, train, test) for spec in specs]
    if store is None and client is not None:
        raise SpecError(
            "runs on a cluster are kept in a store; give store=, a folder", field="store"
        )
    if store is None:
        if progress and jobs > 1:
            message = "runs in memory are computed one after the other; for jobs in parallel give store=, a folder"
            print(message, file=sys.stderr)
        check_room(planned, here=True, stored=False)
        computed = []
        with giving(lambda partial_result: side_by_side([*computed, partial_result])):
            for spec in specs:
                computed += map(of_iterations, run_specs([spec], train, test, None, progress))
        return side_by_side(computed)
    with at_work_on(client, Path(store), jobs) as workers:
        runs = make_runs(Path(store), planned, workers.jobs_here)

        def result(_=None) -> xr.Dataset:
            return side_by_side(map(up_to, runs, (spec.n_iterations for spec in specs)))

        with giving(result):
            run_all(runs, workers.jobs, progress, workers.client)
    return result()


compare.__signature__ = signature_with(
    compare, plan, make_spec, RunSettings, SplitSettings, data_from, apart_from=("test", "split")
)


def side_by_side(datasets: Iterable[xr.Dataset]) -> xr.Dataset:
    """Return the per-iteration variables of several runs, joined along a dim ``run``."""
    import xarray as xr

    parts = [
        of_iterations(dataset).assign(updates=dataset["updates"].astype(float))
        for dataset in datasets
    ]
    joined = xr.concat(
        parts,
        "run",
        data_vars="all",
        coords="minimal",
        compat="override",
        join="outer",
        combine_attrs="drop",
    )
    specs = [RunSpec.from_json(part.attrs["spec"]) for part in parts]
    coords = {
        "run": [part.attrs["name"] for part in parts],
        "engine": [spec.engine for spec in specs],
        "label": [spec.label() for spec in specs],
        "seed": [spec.seed for spec in specs],
        "state": [part.attrs["state"] for part in parts],
        "spec": [part.attrs["spec"] for part in parts],
    }
    return joined.assign_coords(
        {
            name: ("run", np.array(values, dtype=None if name == "seed" else object))
            for name, values in coords.items()
        }
    )


def up_to(run: Run, n_iterations: int) -> xr.Dataset:
    """Return the per-iteration variables of a stored run up to iteration ``n_iterations``; the run may be longer."""
    rows, spec = run.progress(), run.spec  # its stop rule may have ended it early
    requested_spec = spec.lasting(min(spec.n_iterations, n_iterations), spec.rule)
    return rows.isel(iteration=rows["iteration"].values <= n_iterations).assign_attrs(
        spec=requested_spec.to_json()
    )


def of_iterations(dataset: xr.Dataset) -> xr.Dataset:
    """Return the per-iteration variables of a run's Dataset, leaving out its counts."""
    return dataset[
        [name for name, variable in dataset.data_vars.items() if "iteration" in variable.dims]
    ]


class Workers(NamedTuple):
    """The processes of this machine, or the workers of a cluster, that compute runs in parallel."""

    jobs: int  # number of runs at a time
    jobs_here: int  # number of runs at a time for which this machine must have memory
    client: object = None  # a `distributed.Client` of the cluster


@contextlib.contextmanager
def at_work_on(client, store: Path, jobs: int) -> Iterator[Workers]:
    """Yield the `Workers` for the runs of a store: ``jobs`` processes of this machine, or the cluster of ``client``."""
    if client is None:
        yield Workers(jobs, jobs)
        return
    from workbench.runs.execution.cluster.sweeping import ready_cluster

    with ready_cluster(client, store, jobs) as connected:
        # each thread computes one run at a time
        yield Workers(sum(connected.nthreads().values()), 0, connected)


def run_all(runs: list[Run], jobs: int, progress: bool = True, client=None) -> None:
    """Compute every run to its end, up to ``jobs`` at a time or on a cluster, with a progress bar per run.

    Ctrl-C stops the runs cleanly and is raised when they have stopped; they can be resumed. Raises RunFailed for the first run
    that failed or whose worker was killed.
    """
    with bars(runs, progress) as move:
        work_through(runs, jobs, move, client)
    for failure in failures(runs):
        raise RunFailed(failure)


def work_through(
    runs: list[Run], jobs: int, on_progress: Callable[[list[Run]], None], client=None
) -> None:
    """Compute runs until all have ended: up to ``jobs`` at a time in worker processes, or on a cluster.

    The failure of a run does not stop the others. ``on_progress`` is called ten times a second with the runs in progress, and
    with all runs at the end. The first Ctrl-C (or SIGTERM) stops the runs cleanly and is raised when they have stopped; a
    second Ctrl-C is raised at once.
    """
    if client is not None:
        from workbench.runs.execution.cluster.sweeping import work_through_on

        return work_through_on(client, runs, on_progress)
    waiting, at_work = [run for run in runs if run.state != FINISHED], []
    # an exception could be raised in a destructor, which would ignore it
    with ending_cleanly(control := Control()):
        while (waiting or at_work) and not control.stopping():
            while waiting and len(at_work) < jobs:
                at_work.append(waiting.pop(0))
                at_work[-1].resume()
            time.sleep(0.1)
            on_progress(at_work)
            at_work = [run for run in at_work if run.state not in ENDED]
        if control.stopping():
            for run in at_work:
                run.stop()
            for run in at_work:
                run.wait(timeout=30)
    control.raise_stop()
    on_progress(runs)


def failures(runs: list[Run]) -> list[str]:
    """Return one sentence, with the reason, per run that failed or whose worker was killed."""
    sentences = []
    for run in dict.fromkeys(runs):
        state, message = (run.status()[name] for name in ("state", "message"))
        if state in (FAILED, LOST):
            reason = message or "its worker was killed"
            sentences.append(
                f"run '{run.name}' {state}: {reason}; worker.log in {run.path} may say more"
            )
    return sentences
