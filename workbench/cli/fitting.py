"""Commands that fit runs: fit, compare, sweep, resume."""

import contextlib
from collections.abc import Callable
from typing import Annotated

import typer

import workbench as wb
from workbench.cli.flags import (
    CorpusName,
    Detach,
    Engine,
    Jobs,
    Json,
    Parts,
    Quiet,
    RunName,
    Scheduler,
    Seeds,
    Store,
    Test,
    load_documents,
    load_training_data,
    parse_options,
    parse_turns,
    settings_of,
    split_pairs,
    with_settings,
)
from workbench.cli.printing import describe, print_runs, resumable, say, store_path, summary
from workbench.cli.stored import find, print_words
from workbench.runs.settings import DEFAULT_ENGINE, DEFAULT_ENGINES, DEFAULT_HYBRID


@with_settings
def fit(
    corpus: CorpusName,
    engine: Engine = DEFAULT_ENGINE,
    name: Annotated[str | None, typer.Option("--name", help="Name of the run.")] = None,
    restarts: Annotated[
        int,
        typer.Option(
            "--restarts",
            help="Run with N different seeds and report the run with the highest bound.",
        ),
    ] = 1,
    test: Test = None,
    turn: Annotated[
        list[str] | None,
        typer.Option(
            "--turn",
            metavar="ITERATION:NAME=VALUE",
            help="Turn a setting before an iteration, as 50:r=2,alpha=0.05; may be repeated.",
        ),
    ] = None,
    scheduler: Parts = None,
    **flags,
) -> int:
    """Fit one engine to a corpus and store the run. Ctrl-C stops it cleanly; `resume` continues it."""
    from workbench.measures.starts import restarts_in_words
    from workbench.runs.execution.fit import (
        best_of,
        check_in_parts,
        check_restarts,
        cluster_of,
        finish,
        resume,
    )
    from workbench.runs.execution.run import make_runs

    wb.SpecError.whole("restarts", restarts, 1)
    if flags["detach"] and scheduler is not None:
        raise wb.SpecError(
            "the workers of a cluster share a run of this process; leave --detach or --scheduler out"
        )
    detach, json, progress = flags["detach"], flags["json"], not flags["quiet"]
    at_a_time, home = n_active(1, None, detach), store_path(flags["store"])
    extra = {"name": name, "interventions": parse_turns(turn)}
    plans = _plan_runs(corpus, [engine], restarts, at_a_time, flags, test, check_restarts, **extra)
    if scheduler is not None:
        check_in_parts(plans[0].train)
    with cluster_of(scheduler, home) as client:
        runs = make_runs(home, plans, at_a_time, here=not detach)
        if detach:
            return leave_in_background(runs, json)
        corpora = (plans[0].train, plans[0].test) if scheduler is None else None
        if restarts == 1:
            with contextlib.suppress(wb.Interrupted):  # `finish` has said how to resume
                finish(runs[0], progress=progress, corpora=corpora, client=client)
            status = print_runs(summaries_of(runs, plans), json)
            if not json:
                print_words(runs[0])
            return status
        try:
            best = best_of(
                resume(run, progress=progress, corpora=corpora, client=client) for run in runs
            )
        except wb.Interrupted as stop:
            best = stop.result
    status = print_runs(summaries_of(runs, plans), json, best=best.attrs["name"])
    if not json and (sentence := restarts_in_words(best)):
        print(sentence)
    return status


@with_settings
def compare(
    corpus: CorpusName,
    engines: Annotated[
        str,
        typer.Option(
            "--engines",
            "-e",
            help="Names separated by commas; svb-cgs:r=2 sets options of one engine.",
        ),
    ] = ",".join(DEFAULT_ENGINES),
    seeds: Seeds = 1,
    jobs: Jobs = 1,
    test: Test = None,
    scheduler: Scheduler = None,
    **flags,
) -> int:
    """Fit several engines to the same split with the same seeds. The same command again reopens the runs."""
    from workbench.runs.execution.compare import at_work_on, run_all
    from workbench.runs.execution.run import make_runs

    wb.SpecError.whole("jobs", jobs, 1)
    detach, home = flags["detach"], store_path(flags["store"])
    check_detached(scheduler, detach)
    with at_work_on(scheduler, home, n_active(jobs, scheduler, detach)) as workers:
        plans = _plan_runs(corpus, _engines(engines), seeds, workers.jobs, flags, test)
        runs = make_runs(home, plans, workers.jobs_here)
        if detach:
            return leave_in_background(runs, flags["json"], workers.client)
        with resumable():
            run_all(runs, workers.jobs, progress=not flags["quiet"], client=workers.client)
    return print_runs(summaries_of(runs, plans, up_to_asked=True), flags["json"])


@with_settings
def sweep(
    corpus: CorpusName,
    grid: Annotated[
        list[str],
        typer.Option(
            "--grid",
            "-g",
            metavar="NAME=VALUES",
            help="Values separated by commas, such as r=0,1,inf; repeatable.",
        ),
    ],
    engine: Engine = DEFAULT_HYBRID,
    seeds: Seeds = 1,
    jobs: Jobs = 1,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm",
            help="Initialise each run from the counts of the run with the next smaller number of topics.",
        ),
    ] = False,
    scheduler: Scheduler = None,
    **flags,
) -> int:
    """Fit every combination of a grid of settings and options. The same command again reopens the runs."""
    from workbench.runs.execution import warm_sweep
    from workbench.runs.execution.compare import at_work_on
    from workbench.runs.execution.memory_check import predict_memory
    from workbench.runs.execution.run import make_runs
    from workbench.runs.execution.sweep import (
        cold_groups,
        failures,
        groups_by_n_topics,
        lay_out,
        run_groups,
    )

    wb.SpecError.whole("jobs", jobs, 1)
    axes, detach = _parse_grid(grid), flags["detach"]
    check_detached(scheduler, detach, warm)
    # defaults give way to the grid
    settings = {name: value for name, value in settings_of(flags).items() if name not in axes}
    documents = load_training_data(corpus, flags["vocabulary"], flags["read"], engine)
    progress, json, home = not flags["quiet"], flags["json"], store_path(flags["store"])
    results = []
    with at_work_on(scheduler, home, n_active(jobs, scheduler, detach)) as workers:
        if detach and warm:
            groups = cold_groups(documents, axes, engine, seeds, store=home, **settings)
            status = leave_in_background(warm_sweep.begin(home, groups, workers.jobs), json)
            say("those with more topics begin when these have ended")
            return status
        if detach:
            cells = lay_out(documents, axes, engine, seeds, **settings)
            return leave_in_background(
                list(dict.fromkeys(make_runs(home, cells, workers.jobs_here))), json, workers.client
            )
        with resumable():
            all_groups = groups_by_n_topics(
                documents, axes, engine, seeds, home, warm, workers.jobs_here, **settings
            )
            for pair in run_groups(all_groups, home, workers, progress, repr(documents)):
                results.append(pair)  # there in the table even if an interrupt ends the loop
    status = print_runs(
        [
            summary(run, cell.spec.n_iterations)
            | {
                "memory": predict_memory(cell).total,
                "grid": {
                    key: "inf" if value == float("inf") else value
                    for key, value in cell.key_values.items()
                },  # as JSON can hold it
            }
            for cell, run in results
        ],
        json,
    )
    broken = failures([run for _, run in results])
    for failure in broken:
        say(f"workbench: {failure}")
    return 1 if broken else status


def check_detached(scheduler: str | None, detach: bool, warm: bool = False) -> None:
    """Raise SpecError for options that cannot run in the background."""
    if detach and scheduler == "local":
        sentence = "the workers of a local cluster end with the command; leave --detach out, or give the address of a scheduler"
        raise wb.SpecError(sentence, field="scheduler", value=scheduler)
    if detach and scheduler is not None and warm:
        raise wb.SpecError(
            "a warm sweep on a cluster needs its client; leave --detach or --scheduler out"
        )


def n_active(jobs: int, scheduler: str | None, detach: bool) -> int:
    """Return how many runs are active at once: --jobs, or the maximum of the store for runs in the background."""
    from workbench.runs.execution.worker import SLOTS

    return SLOTS if detach and scheduler is None else jobs


def _plan_runs(
    corpus: str,
    engines: list,
    seeds: int,
    jobs: int,
    flags: dict,
    test: str | None,
    check: Callable = list,
    **extra,
) -> list:
    """Return the `Planned` of each run of a comparison, and print a line about them; ``check`` is called with the specs."""
    from workbench.runs.execution.compare import plan
    from workbench.runs.execution.fit import print_cautions
    from workbench.runs.execution.memory_check import Planned

    first = engines[0] if engines else None
    first = first[0] if isinstance(first, tuple) else first
    documents = load_training_data(corpus, flags["vocabulary"], flags["read"], first)
    extra["test"] = None if test is None else load_documents(test, None, None, first)
    specs, train, test = plan(documents, engines, seeds, **settings_of(flags), **extra)
    check(specs)
    plans = [Planned(spec, train, test) for spec in specs]
    if not flags["quiet"]:
        say(describe(plans, documents, jobs))
        print_cautions(specs, documents)
    return plans


def resume(
    run: RunName,
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            "-n",
            help="New total number of iterations; recorded iterations are kept.",
        ),
    ] = None,
    scheduler: Parts = None,
    detach: Detach = False,
    store: Store = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Resume a paused run, or continue a stopped one from its last checkpoint."""
    from workbench.runs.execution.fit import finish
    from workbench.runs.execution.run import extend
    from workbench.runs.store.status import FINISHED, PAUSED, RUNNING

    resumed = find(run, store)
    extend(resumed.path, iterations)
    state = resumed.state
    if state == FINISHED:
        say(
            f"{resumed.name} is finished ({resumed.spec.n_iterations} iterations); --iterations raises its end"
        )
    elif detach or state in (PAUSED, RUNNING):
        resumed.resume()
        say(f"{resumed.name} continues in the background; `workbench show {resumed.name}` shows it")
    else:
        with contextlib.suppress(wb.Interrupted):  # `finish` has said how to resume again
            finish(resumed, progress=not quiet, client=scheduler)
        return print_runs([summary(resumed)], json)
    if json:
        print_runs([summary(resumed)], json)
    return 0


def leave_in_background(runs, json: bool, client=None) -> int:
    """Start a worker for every run, or leave the runs to a cluster, and print how to look at them."""
    from workbench.runs.store.status import FINISHED

    if client is not None:
        from workbench.runs.execution.cluster.sweeping import leave

        leave(runs, client)
    for run in runs:
        if client is None:
            run.resume()
        say(f"{run.name} {'is finished' if run.state == FINISHED else 'runs in the background'}")
    say("look at them with `workbench runs` or `workbench serve`")
    if json:
        print_runs([summary(run) for run in runs], json)
    return 0


def summaries_of(runs, plans, up_to_asked: bool = False) -> list[dict]:
    """Return the summaries of runs, each with its predicted memory in bytes.

    up_to_asked : whether a run that is longer than what was asked for is summarised at the iteration asked for
    """
    from workbench.runs.execution.memory_check import predict_memory

    return [
        summary(run, plan.spec.n_iterations if up_to_asked else None)
        | {"memory": predict_memory(plan).total}
        for run, plan in zip(runs, plans, strict=True)
    ]


def _engines(text: str) -> list[tuple[str, dict]]:
    """Parse ``svb,svb-cgs:r=2:n_chains=3`` into (name, options) pairs."""
    entries = [entry.strip().split(":") for entry in text.split(",") if entry.strip()]
    return [(name.strip(), parse_options(pairs)) for name, *pairs in entries]


def _parse_grid(texts: list[str]) -> dict[str, list[str]]:
    """Parse flags such as ``r=0,1,inf`` into lists of values by the full names of settings."""
    from workbench.runs.execution.sweep import SHORT

    axes: dict[str, list[str]] = {}
    rule = "a grid is written name=values, as in --grid r=0,1,inf"
    for name, values in split_pairs(texts, rule, "grid", lambda values: values.strip(", ")):
        name = name.replace("-", "_")
        name = SHORT.get(name, name)
        if name in axes:
            raise wb.SpecError(
                f"--grid names '{name}' twice; put its values into one list",
                field="grid",
                value=values,
            )
        axes[name] = [value.strip() for value in values.split(",") if value.strip()]
    return axes
