"""Drawings of the papers' figures, with their data and the lines of the captions on numbers and settings."""

import math
from dataclasses import replace

import numpy as np

from workbench.corpus import Corpus
from workbench.measures import Curve, each_run, spec_of
from workbench.measures.curves import mean_and_error
from workbench.numbers import format_with_error
from workbench.papers.correlated_topics import CLOCKS
from workbench.papers.figure import ALL, EACH, Extent, Figure
from workbench.papers.figures import CURVES
from workbench.papers.generic import TABLE, Published, format_size
from workbench.papers.hdp import BOUND, LOG_P, POINTS, STEPS
from workbench.papers.numbers import UNSEEN, Measured, Row, table
from workbench.papers.scored import SCORES, show_scored
from workbench.report.captions import settings, statistics
from workbench.report.gathering import ReportedRun
from workbench.views import Picture, perplexity_curves, pictures
from workbench.views.curves import overlay
from workbench.views.style import Look
from workbench.views.table import Line, table_height, table_view

SEEDED = ("held-out tokens", "inference seeds")
"""Settings with separate lines in a caption."""
SHORT = {"kos": "KOS", "reuters_top": "Reuters", "news5": "newsgroups", "kos500": "KOS 500"}
"""Names of corpora on axes; panels of one corpus share a range."""
OF_RECORDS = [
    "corpus",
    "algorithm",
    "topics requested",
    "seed",
    "iteration",
    "steps",
    "log p of a test word",
    "bound per token",
    "topics with a token",
]
OF_RUNS = [
    "model",
    "size",
    "method",
    "seed",
    "iterations run",
    "iterations until convergence",
    "CPU seconds per iteration",
    "CPU seconds until convergence",
    "perplexity, foldin_same",
    "perplexity, document completion",
    "perplexity, completion by known authors",
    "bound or log joint per token",
    "paper: iterations",
    "paper: seconds per iteration",
    "paper: hours until convergence",
    "paper: perplexity",
]


def show(
    figure: Figure, extent: Extent, measured: list[Measured], corpora: dict[str, Corpus]
) -> tuple[Picture, list[str]]:
    """Return the picture of a figure, and the lines of its caption on numbers and settings."""
    if figure.shows == TABLE:
        return _table(figure, extent, measured, corpora)
    if figure.shows in SCORES:
        return show_scored(figure, measured)
    return (
        _engines(figure, measured)
        if isinstance(figure.shows, str)
        else _curves(figure, extent, measured)
    )


def _engines(figure: Figure, measured: list[Measured]) -> tuple[Picture, list[str]]:
    """Return the picture of a report on the same runs, with the settings of the runs."""
    runs = each_run([result.run for result in measured])
    reported = [ReportedRun(result.run, spec_of(result.run), result.corpora) for result in measured]
    clocks = {CURVES: ("iteration",), CLOCKS: ("iteration", "elapsed")}.get(figure.shows)
    picture = next(
        picture_of_runs
        for picture_of_runs in pictures(runs)
        if picture_of_runs.name == (CURVES if clocks else figure.shows)
    )
    panels = (
        [perplexity_curves(runs, against=clock) for clock in clocks] if clocks else picture.panels
    )
    lines = [
        f"{name}: {value}"
        for name, value in [*settings(reported), *statistics(reported)]
        if name not in SEEDED
    ]
    return replace(picture, name=figure.name, panels=panels), lines


def _curves(figure: Figure, extent: Extent, measured: list[Measured]) -> tuple[Picture, list[str]]:
    """Return a panel per corpus in each row: log p of test words or bound against topics or steps; and all records."""
    rows, looks = (
        table(measured),
        {
            method.label: Look(method.colour, method.line, method.marker)
            for method in figure.methods
        },
    )
    panels = [
        overlay(
            against_topics(figure, rows, corpus, extent, number)
            if axis == "topics"
            else against_steps(figure, measured, corpus, extent, number),
            f"{SHORT[corpus]}, {'bound' if number == BOUND else 'log p(test)'}",
            f"number of {axis}",
            looks,
        )
        for axis, number in figure.shows
        for corpus in figure.corpora
    ]
    records = [
        [
            result.corpus,
            result.method,
            result.n_topics or "found",
            result.seed,
            int(iteration),
            int(steps),
            log_p,
            bound,
            float(topics),
        ]
        for result in measured
        for iteration, steps, log_p, bound, topics in zip(
            result.run["iteration"].values,
            *(result.curve(name).tolist() for name in ("steps", LOG_P, BOUND)),
            result.run.get(
                "n_active_topics", np.full(result.run.sizes["iteration"], result.n_topics)
            ),
            strict=True,
        )
    ]
    budget = (
        f"{extent.steps:,} steps: iterations times topics, where their number changes the sum over the iterations"
        if extent.steps
        else f"{extent.sweeps[0]} iterations of variational engines, {extent.sweeps[1]} sweeps of samplers"
    )
    lines = [
        *lines_of(figure, rows),
        "",
        *dict.fromkeys(
            f"corpus: {result.corpus}, training part {result.corpora[0]!r}"
            for result in measured
            if result.seed == 0
        ),
        f"topics of LDA, truncation of CV-HDP: {', '.join(map(str, extent.n_topics))}",
        f"length: {budget}",
        f"alpha of LDA: {ALL} or {EACH}; beta {figure.beta_total:g} in all, for every engine",
    ]
    return Picture(figure.name, figure.title, "", panels, OF_RECORDS, records), lines


def against_topics(
    figure: Figure, rows: list[Row], corpus: str, extent: Extent, number: str
) -> list[Curve]:
    """Return a final number of each method for each number of topics; constant if the method infers it."""
    curves = []
    for method in figure.methods:
        method_rows = [row for row in rows if (row.corpus, row.method) == (corpus, method.label)]
        values = [row.mean(number) for row in method_rows]
        if method_rows and np.isfinite(values[0][0]):
            topics = extent.n_topics if method.n_topics else [row.n_topics for row in method_rows]
            mean, error = np.broadcast_to(np.array(values).T, (2, len(topics)))
            curves.append(
                Curve(
                    method.label,
                    method.label,
                    np.array(topics, float),
                    mean,
                    error,
                    len(method_rows[0].runs),
                )
            )
    return curves


def against_steps(
    figure: Figure, measured: list[Measured], corpus: str, extent: Extent, number: str
) -> list[Curve]:
    """Return a number against steps, for each method with the fewest topics; mean over seeds.

    Bounds begin after a tenth of the steps; earlier ones are so low that they would compress the axis.
    """
    budget, curves = extent.steps or STEPS, []
    grid = np.linspace(0, budget, POINTS + 1)[1:]
    for method in figure.methods:
        values = [
            _interpolated(grid, result.curve("steps"), result.curve(number))
            for result in measured
            if (result.corpus, result.method) == (corpus, method.label)
            and result.n_topics in (0, extent.n_topics[0])
        ]
        if values and np.isfinite(values).any():
            mean, error = mean_and_error(values)
            is_drawn = np.isfinite(mean) & (grid > (budget / 10 if number == BOUND else 0))
            curves.append(
                Curve(
                    method.label,
                    method.label,
                    grid[is_drawn],
                    mean[is_drawn],
                    error[is_drawn],
                    len(values),
                )
            )
    return curves


def _interpolated(grid: np.ndarray, steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the values at given steps by linear interpolation; NaN before the first and after the last record."""
    # the last record can be slightly before or after the budget
    last = steps[-1] * (1 + 1e-9)
    return np.interp(
        grid, steps, values, left=np.nan, right=values[-1] if last >= grid[-1] * 0.98 else np.nan
    )


def _table(
    figure: Figure, extent: Extent, measured: list[Measured], corpora: dict[str, Corpus]
) -> tuple[Picture, list[str]]:
    """Return the table as in the paper: a heading for each number and a line for each size, the paper's numbers below ours."""
    rows = table(measured)
    row_of = {(row.model, row.n_topics, row.method): row for row in rows}
    models = [model for model in figure.models if any(row.model == model for row in rows)]
    methods = tuple(method.label for method in figure.methods)
    quantities = (
        (
            "convergence time, CPU seconds (paper: hours)",
            "until_converged",
            1,
            lambda paper: f"{paper.hours:g} h",
        ),
        ("iteration, CPU seconds", "seconds", 3, lambda paper: f"{paper.seconds:g}"),
        ("iterations until convergence", "converged", 0, lambda paper: str(paper.iterations)),
        (
            "perplexity of unseen documents, foldin_same",
            "foldin_same",
            1,
            lambda paper: str(paper.perplexity),
        ),
        ("perplexity, document completion (not in the paper)", "completion", 1, lambda paper: ""),
    )

    def cell(place, number, digits, theirs) -> tuple[str, str]:
        row, paper = row_of.get(place), figure.published.get(place)
        return (
            ("–", "")
            if row is None
            else (_format(row, number, digits), theirs(paper) if paper else "")
        )

    lines = []
    for name, *cell_arguments in quantities:
        lines.append(Line(name))
        for n_topics in extent.n_topics:
            cells = [
                cell((model, n_topics, method), *cell_arguments)
                for model in models
                for method in methods
            ]
            lines.append(
                Line(
                    ", ".join(dict.fromkeys(format_size(model, n_topics) for model in models)),
                    tuple(cells),
                )
            )
    records = []
    for result in measured:
        paper = figure.published.get(
            (result.model, result.n_topics, result.method), Published(*[math.nan] * 4)
        )
        records.append(
            [
                result.model,
                format_size(result.model, result.n_topics),
                result.method,
                result.seed,
                int(result.run["iteration"].values[-1]),
                int(result.number("converged")),
                result.number("seconds"),
                result.number("until_converged"),
                *result.unseen.values(),
                float(result.objective()[-1]),
                paper.iterations,
                paper.seconds,
                paper.hours,
                paper.perplexity,
            ]
        )
    panels = [table_view([(model, methods) for model in models], lines)]
    picture = Picture(
        figure.name, figure.title, "", panels, OF_RUNS, records, False, table_height(lines)
    )
    return picture, [
        *lines_of(figure, rows),
        "",
        "learnt priors, mean over values and groups:",
        *(
            f"  {row.model} {format_size(row.model, row.n_topics)} {row.method}: "
            + ", ".join(
                f"{name} {np.mean([result.priors()[name] for result in row.runs]):.4g}"
                for name in row.runs[0].priors()
            )
            for row in rows
            if row.runs[0].priors()
        ),
        "",
        *(
            f"corpus: {corpus!r}, {round(figure.holdout * corpus.n_documents):,} of them unseen"
            for corpus in corpora.values()
        ),
        f"length: {extent.sweeps[0]} iterations of VB and VB_ML, {extent.sweeps[1]} sweeps of Gibbs",
        *(
            f"options of {method.label}: {method.engine}, "
            + ", ".join(f"{name}={value}" for name, value in method.options.items())
            for method in figure.methods
        ),
    ]


def lines_of(figure: Figure, rows: list[Row]) -> list[str]:
    """Return the means over seeds as text, a line per row, with the paper's if they are a table."""
    if figure.shows == TABLE:
        heads = (
            "model",
            "size",
            "method",
            "runs",
            "iterations",
            "s each",
            "s in all",
            "foldin_same",
            "completion",
            "by authors",
            "paper:",
            "iterations",
            "s each",
            "h in all",
            "perplexity",
        )

        def cells(row: Row) -> tuple[str, ...]:
            paper = figure.published.get((row.model, row.n_topics, row.method))
            return (
                row.model,
                format_size(row.model, row.n_topics),
                row.method,
                str(len(row.runs)),
                _format(row, "converged", 0),
                _format(row, "seconds", 3),
                _format(row, "until_converged", 1),
                *(format_with_error(*row.mean(name), 1) for name in UNSEEN),
                "",
                *(
                    (
                        f"{paper.iterations}",
                        f"{paper.seconds:g}",
                        f"{paper.hours:g}",
                        f"{paper.perplexity}",
                    )
                    if paper
                    else "––––"
                ),
            )
    else:
        heads = (
            "corpus",
            "algorithm",
            "K",
            "runs",
            "log p of a test word",
            "bound per token",
            "topics",
            "steps",
        )

        def cells(row: Row) -> tuple[str, ...]:
            return (
                row.corpus,
                row.method,
                str(row.n_topics or "found"),
                str(len(row.runs)),
                format_with_error(*row.mean(LOG_P), 3),
                format_with_error(*row.mean(BOUND), 3),
                format_with_error(*row.mean("topics"), 1),
                f"{row.mean('steps')[0]:,.0f}",
            )

    lines = [heads, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _format(row: Row, number: str, digits: int) -> str:
    """Return a mean, with ≥ if it could be larger in longer runs."""
    mean = row.mean(number)[0]
    is_lower_bound = (
        number in ("converged", "until_converged")
        and not math.isnan(mean)
        and row.mean("moving")[0] > 0
    )
    return "≥ " * is_lower_bound + format_with_error(mean, math.nan, digits)
