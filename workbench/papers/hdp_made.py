"""A figure of the paper on CV-HDP made again: its runs laid out, run in the store, drawn and told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workbench.corpus import Corpus, prepare
from workbench.papers.hdp import ALL, BETA_TOTAL, EACH, Algorithm, HdpExtent, HdpFigure
from workbench.papers.hdp_numbers import (
    POINTS,
    Measured,
    Row,
    against_steps,
    against_topics,
    judge,
    lines_of,
    table,
)
from workbench.papers.reproduction import Reproduction, verdict_lines
from workbench.report.pictures import Picture
from workbench.runs.execution.forecast import duration, forecast
from workbench.runs.execution.grid import Cell
from workbench.runs.execution.run import Run
from workbench.runs.execution.sweep import open_cells, run_cells, warmed
from workbench.runs.spec import make_spec
from workbench.runs.store.status import FINISHED
from workbench.views.curves import overlay
from workbench.views.style import Look

HOLDOUT = 0.1
HEADER = ["corpus", "algorithm", "topics asked for", "seed", "iteration", "steps", "log p of a test word", "bound per token",
          "topics with a token"]
SHORT = {"kos": "KOS", "reuters_top": "Reuters", "news5": "newsgroups", "kos500": "KOS 500"}
"""The corpora in names of axes: panels of one corpus have one range."""


def run_figure(
    figure: HdpFigure, corpora: dict[str, Corpus], extent: HdpExtent, store: Path, jobs: int, progress: bool
) -> tuple[list[Cell], list[Run]]:
    """The cells of the figure and their runs, those that begin from others after these have ended."""
    cells, runs = [], []
    if progress:
        cost = duration(figure.cost(extent))
        print(f"{figure.name}: {figure.n_runs(extent)} runs, roughly {cost} on two cores", file=sys.stderr)
    for stage in stages(figure, corpora, extent, store):
        opened = open_cells(stage, store, jobs)
        cells, runs = [*cells, *stage], [*runs, *opened]
        if progress:
            print(f"{figure.name}: {forecast(stage, opened, jobs)}", file=sys.stderr)
        run_cells(opened, jobs, progress)
    return cells, runs


def stages(figure: HdpFigure, corpora: dict[str, Corpus], extent: HdpExtent, store: Path) -> Iterator[list[Cell]]:
    """The cells that begin at random, and then, for whoever has run them, those that begin from their last states."""
    cold = lay_out_figure(figure, corpora, extent)
    first = [cell for cell in cold if not _algorithm(figure, cell).start]
    yield first
    ended = {
        (cell.at["corpus"], cell.at["algorithm"], cell.at["seed"]): store / cell.spec.name for cell in first
        if Run(store / cell.spec.name).state == FINISHED
    }
    begun = []
    for cell in cold:
        source = (cell.at["corpus"], _algorithm(figure, cell).start, cell.at["seed"])
        if source in ended:
            begun.append(cell._replace(spec=warmed(cell.spec, ended[source], cell.train, cell.test)))
    if begun:
        yield begun


def lay_out_figure(figure: HdpFigure, corpora: dict[str, Corpus], extent: HdpExtent) -> list[Cell]:
    """The runs of a figure as cells: each algorithm with each number of topics on each corpus with each seed."""
    cells = []
    for corpus, documents in corpora.items():
        for seed in range(extent.n_seeds):
            train, test, split = prepare(documents, HOLDOUT, seed, per="document")
            for algorithm in figure.algorithms:
                for n_topics in (algorithm.n_topics,) if algorithm.n_topics else extent.n_topics:
                    at = {
                        "corpus": corpus, "algorithm": algorithm.label, "n_topics": 0 if algorithm.n_topics else n_topics,
                        "seed": seed,
                    }
                    lasts = extent.iterations(algorithm, n_topics)
                    spec = make_spec(
                        train, algorithm.engine, n_topics, test=test, split=split, seed=seed, options=algorithm.options,
                        n_iterations=lasts, burn_in=extent.burn_in(algorithm, n_topics), snapshot_every=lasts,
                        record_every=1 if algorithm.n_topics else max(1, lasts // POINTS),
                        **_priors(algorithm, n_topics, train.n_words), **_budget(algorithm, extent),
                    )
                    cells.append(Cell(at, spec, train, test))
    return cells


def _priors(algorithm: Algorithm, n_topics: int, n_words: int) -> dict:
    """alpha and beta of LDA, per topic and per word; the HDP engines have beta = 100 in total by themselves."""
    if not algorithm.alpha:
        return {}
    return {"alpha": {ALL: 0.1 / n_topics, EACH: 0.1}[algorithm.alpha], "beta": BETA_TOTAL / n_words}


def _budget(algorithm: Algorithm, extent: HdpExtent) -> dict:
    """The rule that ends a run whose number of topics changes."""
    return {"stop_on": "steps", "stop_tolerance": extent.steps} if algorithm.n_topics and not extent.sweeps else {}


def _algorithm(figure: HdpFigure, cell: Cell) -> Algorithm:
    return next(one for one in figure.algorithms if one.label == cell.at["algorithm"])


def measured_of(made: Reproduction) -> list[Measured]:
    """The runs that have committed something, with what they stand for."""
    found = []
    for cell, run in zip(made.cells, made.runs, strict=True):
        progress = run.progress()
        if progress.sizes["iteration"]:
            at = cell.at
            found.append(Measured(
                at["corpus"], _algorithm(made.figure, cell), at["n_topics"], at["seed"],
                progress.isel(iteration=progress["iteration"].values <= cell.spec.n_iterations),
            ))
    return found


def show(made: Reproduction) -> tuple[Picture, str, Reproduction]:
    """The picture, its caption, and the same with its verdicts."""
    measured = measured_of(made)
    rows = table(measured)
    made = made._replace(verdicts=judge(made.figure, measured, rows, made.extent.as_long_as(made.figure.full)))
    picture = Picture(made.figure.name, made.title, "", _panels(made, measured, rows), HEADER, _records(measured))
    return picture, _caption(made, rows), made


def _panels(made: Reproduction, measured: list[Measured], rows: list[Row]) -> list:
    """Rows of panels, a column a corpus: test words and bound against topics, and against steps where the figure has it."""
    figure, extent = made.figure, made.extent
    looks = {one.label: Look(one.colour, one.line, one.marker) for one in figure.algorithms}
    test, bound = "log p(test)", "bound"

    def drawn(curves, corpus, what, against):
        return overlay(curves, f"{SHORT[corpus]}, {what}", against, looks)

    kinds = {
        "topics": lambda corpus, of_bound: against_topics(figure, rows, corpus, extent, of_bound),
        "steps": lambda corpus, of_bound: against_steps(figure, measured, corpus, extent, of_bound),
    }
    shown = {
        "topics": (("topics", False), ("steps", False), ("topics", True)), "steps": (("steps", True), ("steps", False)),
        "finals": (("steps", False), ("steps", True)),
    }[figure.shows]
    return [
        drawn(kinds[against](corpus, of_bound), corpus, bound if of_bound else test, f"number of {against}")
        for against, of_bound in shown for corpus in figure.corpora
    ]


def _records(measured: list[Measured]) -> list[list]:
    """Every record of every run."""
    found = []
    for each in measured:
        topics = each.run["n_active_topics"].values if "n_active_topics" in each.run else [each.n_topics] * len(each.steps)
        columns = each.run["iteration"].values, each.steps, each.log_likelihood, each.bound, topics
        of_run = [each.corpus, each.algorithm.label, each.n_topics or "found", each.seed]
        found += [
            [*of_run, int(iteration), int(steps), *map(float, others)]
            for iteration, steps, *others in zip(*columns, strict=True)
        ]
    return found


def _caption(made: Reproduction, rows: list[Row]) -> str:
    figure, extent, last = made.figure, made.extent, made.extent.n_seeds - 1
    budget = (
        f"{extent.sweeps[0]} iterations of variational engines, {extent.sweeps[1]} sweeps of samplers" if extent.sweeps else
        f"{extent.steps:,} steps: iterations times topics, where their number changes the sum over the iterations"
    )
    corpora = dict.fromkeys((cell.at["corpus"], repr(whole_of(cell))) for cell in made.cells if cell.at["seed"] == 0)
    lines = [
        made.title, f"After {figure.paper}.",
        "Log p of a test word, in nats: mean over the held-out tokens, of the state with posterior means for variational "
        "engines, of the average over the samples after burn-in for those that sample. The bound is that of the engine's own "
        "family, per training token: exact for V-LDA, its expectations by improved second order for CV-LDA and CV-HDP.",
        *(["Means over the seeds, with one standard error to either side."] if last else []),
        *([figure.note] if figure.note else []), *made.left_out, "", *lines_of(rows), "",
        *(f"corpus: {corpus}, training part {told}" for corpus, told in corpora),
        f"topics of LDA, truncation of CV-HDP: {', '.join(map(str, extent.n_topics))}", f"length: {budget}",
        f"alpha of LDA: {ALL} or {EACH}; beta {BETA_TOTAL:g} in all, for every engine",
        f"held-out tokens: {100 * HOLDOUT:g} % of each document, rounded down, drawn anew for each seed",
        f"seeds of split and start: {f'0 to {last}' if last else '0'}", "",
        "What the paper says, and what these runs say (first minus second, paired by corpus, seed and number of topics; ± is "
        "one standard error, and a verdict needs the 95 % interval on one side):",
        *verdict_lines(made.verdicts), "", "Made by:", f"  {made.command}",
    ]
    return "\n".join(lines) + "\n"


def whole_of(cell: Cell) -> Corpus:
    """The training part of a cell, as it is called."""
    return replace(cell.train, name=cell.spec.corpus)


def reduced(figure: HdpFigure, extent: HdpExtent) -> list[str]:
    """What an extent leaves out, a clause each."""
    full, parts = figure.full, []
    if extent.n_documents != full.n_documents:
        parts.append(f"{extent.n_documents} documents of each corpus, drawn at random")
    if extent.n_topics != full.n_topics:
        parts.append(f"{', '.join(map(str, extent.n_topics))} topics, not {', '.join(map(str, full.n_topics))}")
    if extent.sweeps != full.sweeps:
        parts.append(f"{extent.sweeps[0]} iterations and {extent.sweeps[1]} sweeps, not {full.sweeps[0]} and {full.sweeps[1]}")
    elif extent.steps != full.steps:
        parts.append(f"{extent.steps:,} steps, not {full.steps:,}")
    if extent.n_seeds != full.n_seeds:
        parts.append(f"{extent.n_seeds} run{'s' * (extent.n_seeds > 1)} of each algorithm, not {full.n_seeds}")
    return parts
