"""The table of the paper on generic topic models made again: its runs laid out, run in the store, drawn and told."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from workbench.corpus import Corpus, hold_out_documents
from workbench.papers.generic import HOLDOUT, METHODS, MODELS, GenericExtent, GenericFigure, Method, network_for, size_told
from workbench.papers.generic_numbers import (
    ATM,
    Measured,
    Row,
    at_least,
    foretold,
    judge,
    learnt_words,
    lines_of,
    models_of,
    table,
    told,
)
from workbench.papers.reproduction import Reproduction, verdict_lines
from workbench.papers.verdicts import SETTLED
from workbench.report.picture import Picture
from workbench.runs.execution.forecast import duration, forecast
from workbench.runs.execution.grid import Cell
from workbench.runs.execution.run import Run
from workbench.runs.execution.sweep import open_cells, run_cells
from workbench.runs.spec import make_spec
from workbench.views.table import Line, table_height, table_view

HEADER = ["model", "size", "method", "seed", "iterations run", "iterations until convergence", "CPU seconds an iteration",
          "CPU seconds until convergence", "perplexity, foldin_same", "perplexity, document completion",
          "perplexity, completion by known authors", "bound or log joint per token", "paper: iterations",
          "paper: seconds an iteration", "paper: hours until convergence", "paper: perplexity"]
RECORDS = 100
"""Records of a run, at most: the log joint of a sampler is looked at that often."""


def run_figure(
    figure: GenericFigure, corpora: dict[str, Corpus], extent: GenericExtent, store: Path, jobs: int, progress: bool
) -> tuple[list[Cell], list[Run]]:
    """The cells of the table and their runs, all taken to their ends."""
    cells = lay_out_figure(corpora, extent)
    runs = open_cells(cells, store, jobs)
    if progress:
        cost = duration(figure.cost(extent))
        print(f"{figure.name}: {figure.n_runs(extent)} runs, roughly {cost} on two cores; {forecast(cells, runs, jobs)}",
              file=sys.stderr)
    run_cells(runs, jobs, progress)
    return cells, runs


def lay_out_figure(corpora: dict[str, Corpus], extent: GenericExtent) -> list[Cell]:
    """The runs of the table as cells: each model in each size by each method with each seed."""
    cells = []
    for corpus, documents in corpora.items():
        for seed in range(extent.n_seeds):
            train, _ = hold_out_documents(documents, HOLDOUT, seed)
            for model in MODELS:
                for n_topics in extent.n_topics:
                    for method in METHODS:
                        at = {"corpus": corpus, "model": model, "n_topics": n_topics, "method": method.label, "seed": seed}
                        cells.append(Cell(at, _spec(train, model, n_topics, method, seed, extent), train, None))
    return cells


def _spec(train: Corpus, model: str, n_topics: int, method: Method, seed: int, extent: GenericExtent):
    lasts = extent.sweeps[method.samples]
    return make_spec(
        train, method.engine, model=network_for(model, n_topics), n_iterations=lasts, seed=seed, options=method.options,
        record_every=max(1, lasts // RECORDS), snapshot_every=lasts,
    )


def measured_of(made: Reproduction, corpora: dict[str, Corpus]) -> list[Measured]:
    """The runs that have topics to foretell unseen documents with, and what they foretell."""
    found = []
    for cell, run in zip(made.cells, made.runs, strict=True):
        progress, at = run.progress(), cell.at
        if run.status()["iteration"] >= cell.spec.n_iterations:
            _, unseen = hold_out_documents(corpora[at["corpus"]], HOLDOUT, at["seed"])
            unseen = learnt_words(unseen, cell.train)
            found.append(Measured(
                at["model"], at["n_topics"], at["method"], at["seed"],
                progress.isel(iteration=progress["iteration"].values <= cell.spec.n_iterations),
                foretold(run, at["model"], unseen, at["seed"]),
            ))
    return found


def show(made: Reproduction, corpora: dict[str, Corpus]) -> tuple[Picture, str, Reproduction]:
    """The table as a picture, its caption, and the same with its verdicts."""
    measured = measured_of(made, corpora)
    rows = table(measured)
    made = made._replace(verdicts=judge(made.figure, measured, made.extent))
    lines = _lines(rows, made.extent)
    heads = [(model, tuple(method.label for method in METHODS)) for model in models_of(rows)]
    panels, records = [table_view(heads, lines)], _records(measured, rows)
    picture = Picture(made.figure.name, made.title, "", panels, HEADER, records, False, table_height(lines))
    return picture, _caption(made, rows, corpora), made


def _lines(rows: list[Row], extent: GenericExtent) -> list[Line]:
    """The table as the paper has it, a heading for each quantity and a line for each size, the paper's numbers below ours."""
    quantities = (
        ("convergence time, CPU seconds (paper: hours)",
         lambda row: at_least(row, row.until_converged[0], 1), lambda paper: f"{paper.hours:g} h"),
        ("iteration, CPU seconds", lambda row: told(row.seconds[0], 3), lambda paper: f"{paper.seconds:g}"),
        ("iterations until convergence",
         lambda row: at_least(row, row.iterations[0], 0), lambda paper: str(paper.iterations)),
        ("perplexity of unseen documents, foldin_same",
         lambda row: told(row.foldin_same[0], 1), lambda paper: str(paper.perplexity)),
        ("perplexity, document completion (not in the paper)", lambda row: told(row.completion[0], 1), lambda paper: ""),
    )
    lines, by_place = [], {(row.model, row.n_topics, row.method): row for row in rows}
    models = models_of(rows)
    for name, ours, theirs in quantities:
        lines.append(Line(name))
        for n_topics in extent.n_topics:
            places = [by_place.get((model, n_topics, method.label)) for model in models for method in METHODS]
            cells = tuple(
                ("–", "") if row is None else (ours(row), theirs(row.published) if row.published else "") for row in places
            )
            sizes = dict.fromkeys(size_told(model, n_topics) for model in models)
            lines.append(Line(", ".join(sizes), cells))
    return lines


def _records(measured: list[Measured], rows: list[Row]) -> list[list]:
    """A row for each run."""
    published = {(row.model, row.n_topics, row.method): row.published for row in rows}
    found = []
    for each in measured:
        paper = published[each.model, each.n_topics, each.method]
        found.append([
            each.model, size_told(each.model, each.n_topics), each.method, each.seed, int(each.run["iteration"].values[-1]),
            each.converged, each.seconds, each.until_converged, *each.unseen, float(each.objective[-1]),
            *([math.nan] * 4 if paper is None else [paper.iterations, paper.seconds, paper.hours, paper.perplexity]),
        ])
    return found


def _caption(made: Reproduction, rows: list[Row], corpora: dict[str, Corpus]) -> str:
    figure, extent, last = made.figure, made.extent, made.extent.n_seeds - 1
    lines = [
        made.title, f"After {figure.paper}, figure 2.",
        f"In grey and on the right: the paper's numbers. A run has converged when exp(-x) stays within {100 * SETTLED:g} % of "
        "its end, x the bound per token of VB and VB_ML, the log joint of the state per token of Gibbs. Times are CPU times of "
        "one thread, without measuring and storing. ≥: only in the last tenth of the run, so perhaps later in a longer one.",
        "foldin_same, the paper's protocol: theta of unseen documents is fitted to the very tokens that are scored, which is "
        "optimistic. Completion: it is fitted to one half of each document, and the other half is scored. In both a document "
        f"of {ATM} is by an author of its own, unknown to the run; by authors: those that the run knows have what they had. "
        "Words that no training document has are left out.",
        *(["Means over the seeds, with one standard error."] if last else []), figure.note, *made.left_out, "",
        *lines_of(rows), "", "learnt priors, mean over values and groups:",
        *(f"  {row.model} {size_told(row.model, row.n_topics)} {row.method}: "
          + ", ".join(f"{name} {value:.4g}" for name, value in row.priors.items()) for row in rows if row.priors), "",
        *(f"corpus: {corpus!r}, {round(HOLDOUT * corpus.n_documents):,} of them unseen" for corpus in corpora.values()),
        f"length: {extent.sweeps[0]} iterations of VB and VB_ML, {extent.sweeps[1]} sweeps of Gibbs",
        *(f"options of {method.label}: {method.engine}, "
          + ", ".join(f"{name}={value}" for name, value in method.options.items()) for method in METHODS),
        f"seeds of unseen documents and start: {f'0 to {last}' if last else '0'}", "",
        "What the paper says, and what these runs say (first minus second, paired by model, size, method and seed as far as "
        "they are not compared; ± is one standard error, and a verdict needs the 95 % interval on one side):",
        *verdict_lines(made.verdicts), "", "Made by:", f"  {made.command}",
    ]
    return "\n".join(lines) + "\n"


def reduced(figure: GenericFigure, extent: GenericExtent) -> list[str]:
    """What an extent leaves out, a clause each."""
    full, parts = figure.full, []
    if extent.n_documents != full.n_documents:
        parts.append(f"{extent.n_documents} documents, drawn at random")
    if extent.n_topics != full.n_topics:
        sizes, published = (
            "; ".join(f"K={n}, {size_told('PAM', n)}" for n in each.n_topics) for each in (extent, full)
        )
        parts.append(f"sizes {sizes}, not {published}")
    if extent.sweeps != full.sweeps:
        parts.append(f"{extent.sweeps[0]} iterations and {extent.sweeps[1]} sweeps, not {full.sweeps[0]} and {full.sweeps[1]}")
    if extent.n_seeds < full.n_seeds:
        parts.append(f"{extent.n_seeds} run{'s' * (extent.n_seeds > 1)} of each, not {full.n_seeds}")
    return parts
