"""Commands that infer: fit, compare, resume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from workbench.cli.flags import (
    CorpusName,
    Detach,
    Engine,
    Jobs,
    Json,
    Quiet,
    RunName,
    Seeds,
    Store,
    load_documents,
    parse_options,
    settings_of,
    with_settings,
)
from workbench.cli.printing import describe, print_runs, resumable, say, store_path, summary
from workbench.runs.settings import DEFAULT_ENGINES


@with_settings
def fit(
    corpus: CorpusName, engine: Engine = "cgs",
    name: Annotated[str | None, typer.Option("--name", help="Name of the run.")] = None,
    restarts: Annotated[int, typer.Option("--restarts", help="Run with so many seeds; say which has the highest bound.")] = 1,
    **flags,
) -> int:
    """Run one engine on a corpus and keep the run. Ctrl-C ends it cleanly; `resume` goes on."""
    from workbench.runs.execution.fit import best_of, check_restarts, finish, resume
    from workbench.runs.spec import whole

    whole("restarts", restarts, 1)
    runs, planned = _created(corpus, [engine], restarts, 1, flags, check_restarts, here=True, name=name)
    json, progress, corpora = flags["json"], not flags["quiet"], (planned[0].train, planned[0].test)
    if flags["detach"]:
        return leave_in_background(runs, json)
    if restarts == 1:
        finish(runs[0], progress=progress, corpora=corpora)
        return print_runs(summaries_of(runs, planned), json)
    best = best_of(resume(run, progress=progress, corpora=corpora) for run in runs)
    status = print_runs(summaries_of(runs, planned), json, best=best.attrs["name"])
    if not json and best.sizes["iteration"]:
        say(f"{best.attrs['name']} has the highest bound, {float(best['bound'][-1]):,.1f} nats")
    return status


@with_settings
def compare(
    corpus: CorpusName,
    engines: Annotated[str, typer.Option("--engines", "-e", help="Names with commas; svb-cgs:r=2 gives one its own options.")]
    = ",".join(DEFAULT_ENGINES),
    seeds: Seeds = 1, jobs: Jobs = 1, **flags,
) -> int:
    """Run several engines on the same split with the same seeds; asked again, it reopens the runs."""
    from workbench.runs.execution.compare import run_all
    from workbench.runs.spec import whole

    whole("jobs", jobs, 1)
    runs, planned = _created(corpus, _engines(engines), seeds, jobs, flags)
    if flags["detach"]:
        return leave_in_background(runs, flags["json"])
    with resumable():
        run_all(runs, jobs, progress=not flags["quiet"])
    return print_runs(summaries_of(runs, planned), flags["json"])


def _created(corpus: str, engines: list, seeds: int, jobs: int, flags: dict, check: Callable = list, here=False, **more):
    """The runs of a comparison, made or reopened in the store, and what was planned of each."""
    from workbench.runs.execution.compare import plan
    from workbench.runs.execution.fit import warn_of_idle_threads
    from workbench.runs.execution.memory_check import Planned
    from workbench.runs.execution.run import make_runs
    from workbench.runs.execution.worker import SLOTS

    first = engines[0] if engines else None
    documents = load_documents(corpus, flags["vocabulary"], flags["read"], first[0] if isinstance(first, tuple) else first)
    specs, train, test = plan(documents, engines, seeds, **settings_of(flags), **more)
    check(specs)
    planned, jobs = [Planned(spec, train, test) for spec in specs], SLOTS if flags["detach"] else jobs
    if not flags["quiet"]:
        say(describe(planned, documents, jobs))
        warn_of_idle_threads(specs)
    return make_runs(store_path(flags["store"]), planned, jobs, here=here and not flags["detach"]), planned


def resume(
    run: RunName,
    iterations: Annotated[
        int | None, typer.Option("--iterations", "-n", help="Move the end of the run; what is committed stays.")
    ] = None,
    detach: Detach = False, store: Store = None, quiet: Quiet = False, json: Json = False,
) -> int:
    """Let a paused run go on, or take a stopped one from where it is to its end."""
    from workbench.runs.execution.fit import finish
    from workbench.runs.execution.run import Run, extend, find_run
    from workbench.runs.store.status import FINISHED, PAUSED, RUNNING

    found = Run(find_run(run, store))
    extend(found.path, iterations)
    state = found.state
    if state == FINISHED:
        say(f"{found.name} is finished ({found.spec.n_iterations} iterations); --iterations raises its end")
    elif detach or state in (PAUSED, RUNNING):
        found.resume()
        say(f"{found.name} goes on in the background; `workbench show {found.name}` looks at it")
    else:
        return print_runs([summary(finish(found, progress=not quiet))], json)
    if json:
        print_runs([summary(found)], json)
    return 0


def leave_in_background(runs, json: bool) -> int:
    """Starts a worker for every run and prints how to look at them."""
    for run in runs:
        run.resume()
        say(f"{run.name} runs in the background")
    say("look at them with `workbench runs` or `workbench serve`")
    if json:
        print_runs([summary(run) for run in runs], json)
    return 0


def summaries_of(runs, planned) -> list[dict]:
    """The summaries of finished runs, each with its predicted bytes of memory."""
    from workbench.runs.execution.memory_check import predict_memory

    return [summary(run) | {"memory": predict_memory(each).total} for run, each in zip(runs, planned, strict=True)]


def _engines(text: str) -> list[tuple[str, dict]]:
    """``svb,svb-cgs:r=2:n_chains=3`` as (name, options) pairs."""
    entries = [entry.strip().split(":") for entry in text.split(",") if entry.strip()]
    return [(name.strip(), parse_options(pairs)) for name, *pairs in entries]
