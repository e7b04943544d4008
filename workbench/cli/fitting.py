"""Commands that infer: fit, compare, resume."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.printing import describe, parse_alpha, parse_options, parse_sizes, print_runs, say, store_path, summary

CorpusName = Annotated[str, typer.Argument(metavar="CORPUS", help="A name of `workbench data list`, or a file or folder.")]
Topics = Annotated[int | None, typer.Option("--topics", "-k", help="Number of topics K; 10 unless the model says another.")]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help="Of an engine of networks: lda, author-topic, pachinko, hpam1, hpam2, or a "
                 "file (.toml, .json)."),
]
Size = Annotated[
    list[str] | None, typer.Option("--size", metavar="NAME=N", help="Of a variable of the network, as super=5; give several.")
]
Alpha = Annotated[
    str | None, typer.Option("--alpha", help="Dirichlet prior per topic: a number (0.1), or one per topic with commas.")
]
Beta = Annotated[float | None, typer.Option("--beta", help="Dirichlet prior per word type; 0.1 by default.")]
Iterations = Annotated[int, typer.Option("--iterations", "-n", help="Iterations over the corpus.")]
Seed = Annotated[int, typer.Option("--seed", help="Inference seed.")]
Option = Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="Option of the engine, as r=1.")]
Holdout = Annotated[float, typer.Option("--holdout", help="Share of the tokens held out for test perplexity; 0 for none.")]
HoldoutPer = Annotated[
    str, typer.Option("--holdout-per", metavar="corpus|document", help="A share of all tokens, or of each document's.")
]
SplitSeed = Annotated[int, typer.Option("--split-seed", help="Seed of the held-out split.")]
TopWords = Annotated[
    int | None, typer.Option("--top-words", metavar="N", help="Keep the N most frequent words alone; the split comes after.")
]
Singletons = Annotated[
    str,
    typer.Option(
        "--singletons", metavar="keep|train|both-own|both-full", help="Drop words that a document has once, after the split."
    ),
]
BurnIn = Annotated[int, typer.Option("--burn-in", help="Iterations before the running average begins.")]
RecordEvery = Annotated[int, typer.Option("--record-every", help="Iterations between recorded rows.")]
SnapshotEvery = Annotated[int, typer.Option("--snapshot-every", help="Iterations between snapshots of the counts.")]
Store = Annotated[Path | None, typer.Option("--store", help="Folder of the runs; $WORKBENCH_STORE or ./runs by default.")]
Threads = Annotated[
    int, typer.Option("--threads", help="Threads of one run; they never change a bit. cgs, cvb, cvb0 need -o partition=4 too.")
]
Read = Annotated[
    list[str] | None,
    typer.Option("--read", metavar="NAME=VALUE", help="How a file is read: text=COLUMN, title=, label=, min_documents=5 …"),
]
Vocabulary = Annotated[Path | None, typer.Option("--vocabulary", help="Vocabulary file of a bag of words.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")]
Start = Annotated[
    str | None, typer.Option("--start", metavar="RUN", help="Begin from the last counts of this run, not at random.")
]
StopOn = Annotated[
    str | None, typer.Option("--stop-on", metavar="bound|perplexity|steps", help="End early once this has settled.")
]
StopTolerance = Annotated[
    float, typer.Option("--stop-tolerance", help="Relative change under which it counts as settled; or how many steps.")
]
Detach = Annotated[bool, typer.Option("--detach", help="Run in the background and return at once.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def fit(
    corpus: CorpusName,
    engine: Annotated[str, typer.Option("--engine", "-e", help="A name of `workbench engines`.")] = "cgs",
    model: Model = None, topics: Topics = None, size: Size = None, alpha: Alpha = None, beta: Beta = None,
    iterations: Iterations = 300, seed: Seed = 0, option: Option = None, holdout: Holdout = 0.1,
    holdout_per: HoldoutPer = "corpus", split_seed: SplitSeed = 0,
    top_words: TopWords = None, singletons: Singletons = "keep", burn_in: BurnIn = 10,
    record_every: RecordEvery = 1, snapshot_every: SnapshotEvery = 50, store: Store = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the run.")] = None,
    restarts: Annotated[int, typer.Option("--restarts", help="Run with so many seeds; say which has the highest bound.")] = 1,
    start: Start = None, stop_on: StopOn = None, stop_tolerance: StopTolerance = 1e-4,
    threads: Threads = 1, vocabulary: Vocabulary = None, read: Read = None, detach: Detach = False, quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Run one engine on a corpus and keep the run. Ctrl-C ends it cleanly; `resume` goes on."""
    from workbench.runs.execution.compare import plan
    from workbench.runs.execution.fit import best_of, check_restarts, finish, resume, tell_of_idle_threads
    from workbench.runs.execution.memory_check import Planned, check_room, unfinished
    from workbench.runs.execution.run import Run
    from workbench.runs.execution.worker import SLOTS
    from workbench.runs.spec import whole
    from workbench.runs.store.store import create_run

    documents = load_documents(corpus, vocabulary, read)
    specs, train, test = plan(
        documents, [engine], whole("restarts", restarts, 1), seed, holdout, split_seed, parse_options(option or []), top_words,
        singletons, run_to_start_from(start, store), n_topics=topics, alpha=parse_alpha(alpha), beta=beta,
        n_iterations=iterations, burn_in=burn_in, record_every=record_every, snapshot_every=snapshot_every, n_threads=threads,
        name=name, stop_on=stop_on, stop_tolerance=stop_tolerance, holdout_per=holdout_per, model=model,
        sizes=parse_sizes(size),
    )
    check_restarts(specs)
    planned, jobs = [Planned(spec, train, test) for spec in specs], SLOTS if detach else 1
    if not quiet:
        say(describe(planned, documents, jobs))
        tell_of_idle_threads(specs)
    check_room(unfinished(store_path(store), planned), jobs, here=not detach)
    runs = [Run(create_run(store_path(store), *each)) for each in planned]
    if detach:
        return leave_in_background(runs, json)
    if restarts > 1:
        best = best_of(resume(run, progress=not quiet, corpora=(train, test)) for run in runs)
    else:
        finish(runs[0], progress=not quiet, corpora=(train, test))
    summaries = summaries_of(runs, planned)
    if restarts > 1:
        print_runs(summaries, json, best=best.attrs["name"])
        if not json and best.sizes["iteration"]:
            say(f"{best.attrs['name']} has the highest bound, {float(best['bound'][-1]):,.1f} nats")
    else:
        print_runs(summaries, json)
    return 0 if all(run["state"] == "finished" for run in summaries) else 130


def compare(
    corpus: CorpusName,
    engines: Annotated[str, typer.Option("--engines", "-e", help="Names with commas; svb-cgs:r=2 gives one its own options.")]
    = "svb,cvb,cgs,svb-cgs,cvb-cgs,cv-hdp",
    model: Model = None, topics: Topics = None, size: Size = None, alpha: Alpha = None, beta: Beta = None,
    iterations: Iterations = 300, seed: Seed = 0,
    seeds: Annotated[int, typer.Option("--seeds", help="Inference seeds, counting up from --seed; the split stays.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Runs side by side.")] = 1,
    option: Option = None, holdout: Holdout = 0.1, holdout_per: HoldoutPer = "corpus", split_seed: SplitSeed = 0,
    top_words: TopWords = None, singletons: Singletons = "keep", burn_in: BurnIn = 10,
    record_every: RecordEvery = 1, snapshot_every: SnapshotEvery = 50, store: Store = None, start: Start = None,
    stop_on: StopOn = None, stop_tolerance: StopTolerance = 1e-4, threads: Threads = 1,
    vocabulary: Vocabulary = None, read: Read = None, detach: Detach = False, quiet: Quiet = False, json: Json = False,
) -> int:
    """Run several engines on the same split with the same seeds; asked again, it reopens the runs."""
    from workbench.runs.execution.compare import plan, run_all
    from workbench.runs.execution.fit import tell_of_idle_threads
    from workbench.runs.execution.memory_check import Planned, check_room, unfinished
    from workbench.runs.execution.run import Run
    from workbench.runs.execution.worker import SLOTS
    from workbench.runs.spec import whole
    from workbench.runs.store.store import create_run

    whole("jobs", jobs, 1)
    documents = load_documents(corpus, vocabulary, read)
    specs, train, test = plan(
        documents, _engines(engines), seeds, seed, holdout, split_seed, parse_options(option or []), top_words, singletons,
        run_to_start_from(start, store), n_topics=topics, alpha=parse_alpha(alpha), beta=beta, n_iterations=iterations,
        burn_in=burn_in, record_every=record_every, snapshot_every=snapshot_every, n_threads=threads, stop_on=stop_on,
        stop_tolerance=stop_tolerance, holdout_per=holdout_per, model=model, sizes=parse_sizes(size),
    )
    planned, jobs = [Planned(spec, train, test) for spec in specs], SLOTS if detach else jobs
    if not quiet:
        say(describe(planned, documents, jobs))
        tell_of_idle_threads(specs)
    check_room(unfinished(store_path(store), planned), jobs)
    runs = [Run(create_run(store_path(store), *each)) for each in planned]
    if detach:
        return leave_in_background(runs, json)
    try:
        run_all(runs, jobs, progress=not quiet)
    except KeyboardInterrupt:
        say("interrupted; what was committed is kept, and the same command goes on from there")
    summaries = summaries_of(runs, planned)
    print_runs(summaries, json)
    return 0 if all(run["state"] == "finished" for run in summaries) else 130


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A name in the store, or a path.")],
    iterations: Annotated[
        int | None, typer.Option("--iterations", "-n", help="Move the end of the run; what is committed stays.")
    ] = None,
    detach: Detach = False, store: Store = None, quiet: Quiet = False, json: Json = False,
) -> int:
    """Let a paused run go on, or take a stopped one from where it is to its end."""
    from workbench.runs.execution.fit import finish
    from workbench.runs.execution.run import Run, extend, find_run
    from workbench.runs.store.store import FINISHED, PAUSED, RUNNING

    found = Run(find_run(run, store))
    extend(found.path, iterations)
    state = found.state
    if state == FINISHED:
        say(f"{found.name} is finished ({found.spec.n_iterations} iterations); --iterations raises its end")
    elif detach or state in (PAUSED, RUNNING):
        found.resume()
        say(f"{found.name} goes on in the background; `workbench show {found.name}` looks at it")
    else:
        state = finish(found, progress=not quiet).state
        print_runs([summary(found)], json)
        return 0 if state == FINISHED else 130
    if json:
        print_runs([summary(found)], json)
    return 0


def run_to_start_from(run: str | None, store: Path | None) -> Path | None:
    """The run to start from."""
    from workbench.runs.execution.run import find_run

    return None if run is None else find_run(run, store)


def leave_in_background(runs, json: bool) -> int:
    """Starts a worker for every run and says where to look."""
    for run in runs:
        run.resume()
        say(f"{run.name} runs in the background")
    say("look at them with `workbench runs` or `workbench serve`")
    if json:
        print_runs([summary(run) for run in runs], json)
    return 0


def summaries_of(runs, planned) -> list[dict]:
    """What there is to say of the runs at the end, with the bytes of memory that each was to take."""
    from workbench.runs.execution.memory_check import predict_memory

    return [summary(run) | {"memory": predict_memory(each).total} for run, each in zip(runs, planned, strict=True)]


def load_documents(corpus: str, vocabulary: Path | None, read: list[str] | None):
    from workbench.corpus import load_corpus

    options = {name: _scalar(value) for name, value in parse_options(read or []).items()}
    return load_corpus(corpus, **options | ({"vocabulary": vocabulary} if vocabulary else {}))


def _scalar(text: str):
    """A number or null as JSON writes it, else the text itself."""
    try:
        value = json_format.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, int | float) else text


def _engines(text: str) -> list[tuple[str, dict]]:
    """``svb,svb-cgs:r=2:n_samples=3`` as (name, options) pairs."""
    entries = [entry.strip().split(":") for entry in text.split(",") if entry.strip()]
    return [(name.strip(), parse_options(pairs)) for name, *pairs in entries]


def add_to(app: typer.Typer) -> None:
    for command in (fit, compare, resume):
        app.command()(command)
