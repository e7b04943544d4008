"""The command that runs a whole grid of settings."""

from __future__ import annotations

from typing import Annotated

import typer

import workbench as wb
from workbench.cli.fitting import leave_in_background
from workbench.cli.flags import CorpusName, Engine, Jobs, Seeds, load_documents, settings_of, split_pairs, with_settings
from workbench.cli.printing import print_runs, resumable, say, store_path, summary


@with_settings
def sweep(
    corpus: CorpusName,
    grid: Annotated[
        list[str],
        typer.Option("--grid", "-g", metavar="NAME=VALUES", help="Values with commas, as r=0,1,inf; give several."),
    ],
    engine: Engine = "svb-cgs", seeds: Seeds = 1, jobs: Jobs = 1,
    warm: Annotated[
        bool, typer.Option("--warm", help="Begin each run from the counts of that with the next smaller number of topics.")
    ] = False,
    **flags,
) -> int:
    """Run every combination of a grid of settings and options; asked again, it reopens the runs."""
    from workbench.runs.execution.forecast import forecast
    from workbench.runs.execution.grid import lay_out
    from workbench.runs.execution.memory_check import predict_memory
    from workbench.runs.execution.run import make_runs
    from workbench.runs.execution.sweep import failures, run_cells, rungs
    from workbench.runs.execution.worker import SLOTS
    from workbench.runs.spec import whole

    whole("jobs", jobs, 1)
    axes = parse_grid(grid)
    fixed = {name: value for name, value in settings_of(flags).items() if name not in axes}  # defaults give way to the grid
    documents = load_documents(corpus, flags["vocabulary"], flags["read"], engine)
    progress, json, home = not flags["quiet"], flags["json"], store_path(flags["store"])
    if flags["detach"]:
        if warm:
            raise wb.SpecError("a warm sweep waits for each number of topics before it begins the next; leave --detach out")
        cells = lay_out(documents, axes, engine, seeds, **fixed)
        return leave_in_background(list(dict.fromkeys(make_runs(home, cells, SLOTS))), json)
    cells, runs = [], []
    with resumable():
        for rung in rungs(documents, axes, engine, seeds, home, warm, jobs, **fixed):
            opened = make_runs(home, rung, jobs)
            cells, runs = [*cells, *rung], [*runs, *opened]
            if progress:
                say(f"{documents!r}: {forecast(rung, opened, jobs)}")
            run_cells(opened, jobs, progress)
    status = print_runs([
        summary(run, cell.spec.n_iterations) | {
            "memory": predict_memory(cell).total,
            "grid": {key: "inf" if value == float("inf") else value for key, value in cell.at.items()},  # as JSON can hold it
        }
        for cell, run in zip(cells, runs, strict=True)
    ], json)
    broken = failures(runs)
    for why in broken:
        say(f"workbench: {why}")
    return 1 if broken else status


def parse_grid(texts: list[str]) -> dict[str, list[str]]:
    """``r=0,1,inf`` flags as lists by the settings' full names."""
    from workbench.runs.execution.grid import SHORT

    axes: dict[str, list[str]] = {}
    wanted = "a grid is written name=values, as in --grid r=0,1,inf"
    for name, values in split_pairs(texts, wanted, "grid", lambda values: values.strip(", ")):
        name = name.replace("-", "_")
        name = SHORT.get(name, name)
        if name in axes:
            raise wb.SpecError(f"--grid names '{name}' twice; put its values into one list", field="grid", value=values)
        axes[name] = [value.strip() for value in values.split(",") if value.strip()]
    return axes
