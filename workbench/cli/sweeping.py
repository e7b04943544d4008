"""The command that runs a whole grid of settings."""

from __future__ import annotations

from typing import Annotated

import typer

from workbench.cli import fitting
from workbench.cli.fitting import (
    Alpha,
    Beta,
    BurnIn,
    CorpusName,
    Detach,
    Holdout,
    HoldoutPer,
    Iterations,
    Json,
    Model,
    Option,
    Quiet,
    Read,
    RecordEvery,
    Seed,
    Singletons,
    Size,
    SnapshotEvery,
    SplitSeed,
    Start,
    StopOn,
    StopTolerance,
    Store,
    Threads,
    Topics,
    TopWords,
    Vocabulary,
)
from workbench.cli.printing import (
    number,
    parse_alpha,
    parse_options,
    parse_sizes,
    print_json,
    print_table,
    say,
    store_path,
    summary,
)


def sweep(
    corpus: CorpusName,
    grid: Annotated[
        list[str],
        typer.Option("--grid", "-g", metavar="NAME=VALUES", help="Values with commas, as r=0,1,inf; give several."),
    ],
    engine: Annotated[str, typer.Option("--engine", "-e", help="A name of `workbench engines`.")] = "svb-cgs",
    model: Model = None, topics: Topics = None, size: Size = None, alpha: Alpha = None, beta: Beta = None,
    iterations: Iterations = 300, seed: Seed = 0,
    seeds: Annotated[int, typer.Option("--seeds", help="Inference seeds, counting up from --seed; the split stays.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Runs side by side.")] = 1,
    option: Option = None, holdout: Holdout = 0.1, holdout_per: HoldoutPer = "corpus", split_seed: SplitSeed = 0,
    top_words: TopWords = None, singletons: Singletons = "keep", burn_in: BurnIn = 10, record_every: RecordEvery = 1,
    snapshot_every: SnapshotEvery = 50, store: Store = None, start: Start = None,
    warm: Annotated[
        bool, typer.Option("--warm", help="Begin each run from the counts of that with the next smaller number of topics.")
    ] = False,
    stop_on: StopOn = None, stop_tolerance: StopTolerance = 1e-4, threads: Threads = 1, vocabulary: Vocabulary = None,
    read: Read = None, detach: Detach = False, quiet: Quiet = False, json: Json = False,
) -> int:
    """Run every combination of a grid of settings and options; asked again, it reopens the runs."""
    from workbench.runs.execution.forecast import forecast
    from workbench.runs.execution.grid import lay_out
    from workbench.runs.execution.memory_check import predict_memory
    from workbench.runs.execution.sweep import failures, open_cells, run_cells, rungs
    from workbench.runs.execution.worker import SLOTS
    from workbench.runs.spec import SpecError, whole

    whole("jobs", jobs, 1)
    axes = parse_grid(grid)
    settings = {
        "n_topics": topics, "alpha": parse_alpha(alpha), "beta": beta, "n_iterations": iterations, "seed": seed,
        "holdout": holdout, "holdout_per": holdout_per, "split_seed": split_seed, "top_words": top_words,
        "singletons": singletons, "burn_in": burn_in, "record_every": record_every, "snapshot_every": snapshot_every,
        "start": fitting.run_to_start_from(start, store), "stop_on": stop_on, "stop_tolerance": stop_tolerance,
        "n_threads": threads, "model": model, "sizes": parse_sizes(size),
    }
    fixed = {name: value for name, value in settings.items() if name not in axes}  # a flag's default gives way to the grid
    documents = fitting.load_documents(corpus, vocabulary, read)
    if warm and detach:
        raise SpecError("a warm sweep waits for each number of topics before it begins the next; leave --detach out")
    home, options = store_path(store), parse_options(option or [])
    if detach:
        cells = lay_out(documents, axes, engine, seeds, options, **fixed)
        return fitting.leave_in_background(list(dict.fromkeys(open_cells(cells, home, SLOTS))), json)
    cells, runs = [], []
    try:
        for rung in rungs(documents, axes, engine, seeds, home, warm, jobs, options=options, **fixed):
            opened = open_cells(rung, home, jobs)
            cells, runs = [*cells, *rung], [*runs, *opened]
            if not quiet:
                say(f"{documents!r}: {forecast(rung, opened, jobs)}")
            run_cells(opened, jobs, progress=not quiet)
    except KeyboardInterrupt:
        say("interrupted; what was committed is kept, and the same command goes on from there")
    told = [
        summary(run, cell.spec.n_iterations) | {"memory": predict_memory(cell.planned).total, "grid": cell.at}
        for cell, run in zip(cells, runs, strict=True)
    ]
    print_cells(told, json)
    broken = failures(runs)
    for why in broken:
        say(f"workbench: {why}")
    return 1 if broken else 0 if all(cell["state"] == "finished" for cell in told) else 130


def parse_grid(texts: list[str]) -> dict[str, list[str]]:
    """``r=0,1,inf`` flags as lists by the settings' full names.

    Raises
    ------
    SpecError
    """
    from workbench.runs.execution.grid import SHORT
    from workbench.runs.spec import SpecError

    axes: dict[str, list[str]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        name = name.strip().replace("-", "_")
        if not equals or not name or not listed:
            raise SpecError(f"a grid is written name=values, as in --grid r=0,1,inf; got '{text}'")
        name = SHORT.get(name, name)
        if name in axes:
            raise SpecError(f"--grid names '{name}' twice; put its values into one list")
        axes[name] = listed
    return axes


def print_cells(cells: list[dict], as_json: bool) -> None:
    """The cells of a sweep as JSON on stdout or as a table on stderr."""
    if as_json:
        print_json({"runs": [cell | {"grid": {key: _written(value) for key, value in cell["grid"].items()}} for cell in cells]})
        return
    keys = list(cells[0]["grid"])
    rows = [
        (
            *(str(_written(cell["grid"][key])) for key in keys), cell["name"], cell["state"], f"{cell['n_iterations']:,}",
            number(cell["test_perplexity"]), number(cell["test_perplexity_state"]), number(cell["test_perplexity_average"]),
            number(cell["cpu_time"], "s"),
        )
        for cell in cells
    ]
    heads = (*keys, "run", "state", "iterations", "perplexity", "state alone", "average", "CPU")
    print_table(heads, rows, left=(len(keys), len(keys) + 1))


def _written(value):
    """Infinity as "inf", which JSON can hold too."""
    return "inf" if value == float("inf") else value


def add_to(app: typer.Typer) -> None:
    app.command()(sweep)
