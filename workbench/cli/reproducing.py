"""The command that makes figures of the papers again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import workbench as wb
from workbench.cli import INTERRUPTED
from workbench.cli.flags import FORMATS, Formats, Json, Quiet, Store
from workbench.cli.printing import print_json, print_table, resumable, say, store_path, summary


def reproduce(
    figure: Annotated[
        str | None, typer.Argument(metavar="FIGURE", help="A figure, or all; without it they are listed.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Less of it: two minutes on two cores.")] = False,
    seeds: Annotated[int | None, typer.Option("--seeds", help="Runs of each engine; seed s draws split and start.")] = None,
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", help="Iterations over the corpus.")] = None,
    topics: Annotated[
        str | None, typer.Option("--topics", "-k", metavar="NUMBERS", help="Other numbers of topics, with commas.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Runs side by side.")] = 2,
    store: Store = None,
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = Path("out/reproduce"),
    formats: Formats = FORMATS, quiet: Quiet = False, json: Json = False,
) -> int:
    """Make a figure of a paper again: run what is missing, draw it, hold the paper's claims against it."""
    from workbench.papers.figures import get_figure, names

    if figure is None:
        _print_figures([get_figure(name) for name in names()], json)
        return 0
    from workbench.papers.verdicts import verdict_lines

    described, status, failed = [], INTERRUPTED, False
    asked = {"seeds": seeds, "iterations": iterations, "topics": parse_topics(topics)}
    with resumable():
        for name in names() if figure == "all" else [figure]:
            made = wb.reproduce(
                name, out, store_path(store), quick, jobs=jobs, formats=formats.split(","), progress=not quiet, **asked
            )
            for line in (*made.files, *verdict_lines(made.verdicts), *(f"workbench: {why}" for why in made.failures)):
                say(line)
            failed |= bool(made.failures)
            described.append(_describe(made))
        status = int(failed)
    if json:
        print_json({"figures": described})
    return status


def parse_topics(text: str | None) -> list[int] | None:
    """``40,80`` as numbers; None where there is none."""
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError:
        raise wb.SpecError(f"--topics takes whole numbers with commas, as 40,80; got '{text}'") from None


def _describe(made) -> dict:
    """The JSON that describes a figure, its files, runs and verdicts."""
    claims = [
        asdict(each.claim) | {name: getattr(each, name) for name in ("outcome", "difference", "error", "n_pairs")}
        for each in made.verdicts
    ]
    runs = [summary(run, cell.spec.n_iterations) for cell, run in zip(made.cells, made.runs, strict=True)]
    return {"name": made.figure.name, "files": [str(path) for path in made.files], "claims": claims, "runs": runs}


def _print_figures(figures: list, json: bool) -> None:
    """Prints the figures with their cost, full and quick; those that need no run have none."""
    from workbench.papers.figure import Drawing
    from workbench.runs.execution.forecast import duration

    listed = [
        {name: getattr(one, name) for name in ("name", "what", "paper")} | ({} if isinstance(one, Drawing) else {
            "corpus": one.corpus, **{
                name: {"runs": one.n_runs(of), "seconds": round(one.cost(of)), **asdict(of)}
                for name, of in (("full", one.full), ("quick", one.quick))
            }
        })
        for one in figures
    ]
    if json:
        return print_json({"figures": listed})
    rows = [
        (each["name"], each["what"],
         *(f"{each[extent]['runs']} runs, {duration(each[extent]['seconds'])}" if extent in each else "no run, seconds"
           for extent in ("full", "quick")))
        for each in listed
    ]
    print_table(("figure", "what", "as published", "--quick"), rows, left=(0, 1))
    for paper in dict.fromkeys(each["paper"] for each in listed):
        say(f"{paper}. Times are rough, for two cores; figures of the same runs share them.")
