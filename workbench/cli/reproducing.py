"""Commands that reproduce figures of the papers and show the ledger of results."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import workbench as wb
from workbench.cli import INTERRUPTED
from workbench.cli.flags import FORMATS, Formats, Json, Quiet, Store
from workbench.cli.printing import print_json, print_table, resumable, say, store_path, summary
from workbench.tables import numbers, texts


def reproduce(
    figure: Annotated[
        str | None,
        typer.Argument(
            metavar="FIGURE", help="Name of a figure, or all; without it the figures are listed."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A shorter version: two minutes on two cores.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            help="Number of runs of each engine; each seed sets split and initialisation.",
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", "-n", help="Iterations over the corpus.")
    ] = None,
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics",
            "-k",
            metavar="NUMBERS",
            help="Numbers of topics, separated by commas; default: those of the figure.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Number of runs computed in parallel.")
    ] = 2,
    store: Store = None,
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = Path("out/reproduce"),
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            metavar="FILE",
            help="File for the results; default: ledger.json of the store.",
        ),
    ] = None,
    formats: Formats = FORMATS,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Reproduce a figure of a paper: run what is missing, draw it, and test the paper's claims."""
    from workbench.papers.figures import get_figure, names

    if figure is None:
        _print_figures([get_figure(name) for name in names()], json)
        return 0
    from workbench.papers.results import FILE
    from workbench.papers.verdicts import verdict_lines

    ledger = ledger or store_path(store) / FILE
    descriptions, status, failed = [], INTERRUPTED, False
    extent = {"seeds": seeds, "iterations": iterations, "topics": parse_topics(topics)}
    with resumable():
        for name in names() if figure == "all" else [figure]:
            reproduction = wb.reproduce(
                name,
                out,
                store_path(store),
                quick,
                jobs=jobs,
                formats=formats,
                progress=not quiet,
                ledger=ledger,
                **extent,
            )
            if not json:
                print(
                    *reproduction.files, *verdict_lines(reproduction.verdicts), sep="\n", flush=True
                )
            for failure in reproduction.failures:
                say(f"workbench: {failure}")
            failed |= bool(reproduction.failures)
            descriptions.append(_describe(reproduction))
        status = int(failed)
    if json:
        print_json({"figures": descriptions})
    return status


def ledger(
    store: Store = None,
    shipped: Annotated[
        bool,
        typer.Option("--shipped", help="Show only the results that come with the package."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write a Markdown file instead of the table."),
    ] = None,
    json: Json = False,
) -> int:
    """Show every figure, table and number of the papers with our results, and what was not run."""
    from workbench.papers.ledger_table import (
        counts,
        describe_result,
        entries,
        to_markdown,
        verdict_of,
    )
    from workbench.papers.results import FILE
    from workbench.report.files import put_file

    rows = entries(None if shipped else store_path(store) / FILE)
    if out is not None:
        put_file(out, to_markdown(rows).encode())
    if json:
        print_json({"counts": counts(rows), "entries": [_describe_entry(row) for row in rows]})
    elif out is not None:
        print(str(out))
    else:
        print_table(
            texts("id", "in the paper", "figure", "verdict", "claim", "ours"),
            [
                (
                    row.item.id,
                    row.item.where,
                    row.figure or "–",
                    verdict_of(line, row.extent),
                    line.says,
                    line.ours,
                )
                for row in rows
                for line in row.lines
            ],
        )
        for row in {row.figure: row for row in rows if row.result}.values():
            print(f"{row.figure}: {describe_result(row)} {row.command} ({row.source})")
    return 0


def _describe_entry(row) -> dict:
    """Return an item of the ledger with its result as a dict for JSON; the result is None if it was not run."""
    item = {
        name: getattr(row.item, name) for name in ("id", "paper", "where", "target", "test", "why")
    }
    lines = [line._asdict() for line in row.lines]
    return item | {
        "figure": row.figure,
        "lines": lines,
        "command": row.command,
        "source": row.source,
        "result": asdict(row.result) if row.result else None,
    }


def parse_topics(text: str | None) -> list[int] | None:
    """Parse ``40,80`` into numbers; return None for None."""
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError:
        raise wb.SpecError(
            f"--topics takes whole numbers separated by commas, such as 40,80; got '{text}'"
        ) from None


def _describe(reproduced) -> dict:
    """Return a figure with its files, runs and verdicts as a dict for JSON."""
    claims = [
        asdict(verdict.claim)
        | {name: getattr(verdict, name) for name in ("outcome", "difference", "error", "n_pairs")}
        for verdict in reproduced.verdicts
    ]
    runs = [
        summary(run, cell.spec.n_iterations)
        for cell, run in zip(reproduced.cells, reproduced.runs, strict=True)
    ]
    return {
        "name": reproduced.figure.name,
        "files": [str(path) for path in reproduced.files],
        "claims": claims,
        "runs": runs,
    }


def _print_figures(figures: list, json: bool) -> None:
    """Print the figures with the cost of their full and quick versions, if they need runs."""
    from workbench.numbers import format_duration
    from workbench.papers.figure import Drawing

    figure_facts = [
        {name: getattr(entry, name) for name in ("name", "what", "paper")}
        | (
            {}
            if isinstance(entry, Drawing)
            else {
                "corpus": entry.corpus,
                **{
                    name: {
                        "runs": entry.n_runs(extent_of_runs),
                        "seconds": round(entry.cost(extent_of_runs)),
                        **asdict(extent_of_runs),
                    }
                    for name, extent_of_runs in (("full", entry.full), ("quick", entry.quick))
                },
            }
        )
        for entry in figures
    ]
    if json:
        return print_json({"figures": figure_facts})
    rows = [
        (
            figure["name"],
            figure["what"],
            *(
                f"{figure[extent]['runs']} runs, {format_duration(figure[extent]['seconds'])}"
                if extent in figure
                else "no run, seconds"
                for extent in ("full", "quick")
            ),
        )
        for figure in figure_facts
    ]
    print_table([*texts("figure", "what"), *numbers("as published", "--quick")], rows)
    for paper in dict.fromkeys(figure["paper"] for figure in figure_facts):
        say(f"{paper}. Times are rough, for two cores; figures of the same runs share them.")
