"""Draw the papers' figures, with their data and the lines of their captions on numbers and settings."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.measures import Curve, each_run, spec_of
from workbench.measures.curves import mean_and_error
from workbench.numbers import format_with_error
from workbench.papers.correlated_topics import CLOCKS
from workbench.papers.figure import ALL, EACH, HITS, Extent, Figure
from workbench.papers.figures import CURVES
from workbench.papers.generic import TABLE, Published, format_size
from workbench.papers.hdp import BOUND, LOG_P, POINTS, STEPS
from workbench.papers.numbers import (
    BOTTOM,
    OVER_ADDED,
    OVER_CLIPPED,
    OVER_SEEN,
    TOP,
    UNSEEN,
    Measured,
    Row,
    table,
)
from workbench.report.captions import settings, statistics
from workbench.report.gathering import ReportedRun
from workbench.views import Picture, perplexity_curves, pictures
from workbench.views.comparison import GAINS, gain_marks, score_courses
from workbench.views.elements import (
    GREY,
    INK,
    Look,
    bare_panel,
    element,
    looks,
    overlay,
    text_labels,
)
from workbench.views.picture import RunsToDraw

LINE = 0.14
"""Height of a line, inches."""
MARGIN = 2.1
"""Width of the column of names, in columns of numbers."""


class Line(NamedTuple):
    """A row of a `table_view`; a row without cells is a heading of the rows below."""

    name: str
    # the number of a column, and the one below it in grey
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def height(self) -> float:
        return 1.0 if not self.cells else 2.1 if any(other for _, other in self.cells) else 1.1


def table_view(heads: list[tuple[str, tuple[str, ...]]], lines: list[Line], title: str = ""):
    """Draw a table with grouped columns and one or two numbers per cell, as a `holoviews.Overlay`.

    ``heads`` are names of groups with those of their columns; a line has no cells or one for each column.
    """
    names, headings, numbers, other_numbers, rules = [], [], [], [], []
    x, y = MARGIN, -2.3
    for group, columns in heads:
        headings.append((x + len(columns) / 2, 0.0, group))
        rules.append((x + 0.1, -0.55, x + len(columns) - 0.1, -0.55))
        numbers += [
            (x + column_number + 0.5, -1.1, column) for column_number, column in enumerate(columns)
        ]
        x += len(columns)
    for line in lines:
        names.append((0.15 if line.cells else 0.0, y, line.name))
        numbers += [
            (MARGIN + column_number + 0.5, y, number)
            for column_number, (number, _) in enumerate(line.cells)
        ]
        other_numbers += [
            (MARGIN + column_number + 0.5, y - 0.9, other)
            for column_number, (_, other) in enumerate(line.cells)
            if other
        ]
        y -= line.height
    elements = [
        text_labels(names, "name", align="left"),
        text_labels(headings, "heading", weight="bold"),
        text_labels(numbers, "number"),
        text_labels(other_numbers, "other", color=GREY),
        element(
            "Segments",
            [*rules, (0.0, -1.7, x, -1.7), (0.0, y + 0.4, x, y + 0.4)],
            color=INK,
            linewidth=0.6,
        ),
    ]
    return bare_panel(elements, (7.0, table_height(lines)), (0, x), (y, 0.6), title=title)


def table_height(lines: list[Line]) -> float:
    """Return the height in inches at which the letters of a `table_view` are legible."""
    return LINE * (sum(line.height for line in lines) + 3.0)


LIKELIHOOD = "test_log_likelihood"
SCORES = {
    "hits": (TOP, BOTTOM, LIKELIHOOD),
    "courses": (TOP, BOTTOM, LIKELIHOOD),
    "gains": (OVER_CLIPPED, OVER_ADDED, OVER_SEEN, "test_gain_added"),
}
"""Drawing of a figure → numbers of its caption and table."""
SMALLEST_GAIN = -1.0
"""Smallest gain, nats per item, that is drawn; a lower one would compress all others."""
HEADS = {
    TOP: "top 10",
    BOTTOM: "bottom 10",
    LIKELIHOOD: "log p of an item",
    OVER_CLIPPED: "joint, clipped",
    OVER_ADDED: "joint, 0.1 added",
    OVER_SEEN: "joint, seen",
    "test_gain_added": "one by one, 0.1 added",
}


def show_scored(figure: Figure, results: list[Measured]) -> tuple[Picture, list[str]]:
    """Draw a figure of hits, gains or courses of scores; return the picture, and lines for the caption."""
    rows = table(results)
    if figure.shows == HITS:
        picture = _hits(figure, rows)
    else:
        picture = _courses(figure, results) if figure.shows == "courses" else _gains(figure, rows)
    lines = [*_means(rows, SCORES[figure.shows]), *_spread(figure, rows), ""]
    if figure.shows == "gains" and len(_drawn_rows(rows)) < len(rows):
        not_drawn = [row.method for row in rows if row not in _drawn_rows(rows)]
        note = f"not drawn, more than {-SMALLEST_GAIN:g} nats behind: {', '.join(not_drawn)}"
        lines += [note, ""]
    lines += [f"options of {row.method}: {_options(figure, row.method)}" for row in rows]
    return picture, lines


def _hits(figure: Figure, rows: list[Row]) -> Picture:
    """Draw the paper's table of hits per year, our numbers above the paper's, with log likelihoods."""
    years = list(next(iter(rows)).runs[0].hits)
    columns = ("top 10", "bottom 10", "log likelihood")
    lines, records = [], []
    for row in rows:
        cells = []
        for year in years:
            hits = np.array([run.hits[year] for run in row.runs])
            top, top_sd, bottom, bottom_sd, log_p = hits.mean(axis=0)
            paper = figure.published.get((row.method, int(year)))
            cells += [
                (
                    f"{top:.1f} ({top_sd:.1f})",
                    f"{paper.top} ({paper.top_deviation})" if paper else "",
                ),
                (
                    f"{bottom:.1f} ({bottom_sd:.1f})",
                    f"{paper.bottom} ({paper.bottom_deviation})" if paper else "",
                ),
                (f"{log_p:.3f}", ""),
            ]
            paper_values = list(paper) if paper else [""] * 4
            records += [
                [row.method, run.seed, int(year), *run.hits[year], *paper_values]
                for run in row.runs
            ]
        lines.append(Line(row.method, tuple(cells)))
    header = [
        "method",
        "seed",
        "year",
        "top",
        "top_sd",
        "bottom",
        "bottom_sd",
        "log_likelihood",
        "paper: top",
        "paper: top_sd",
        "paper: bottom",
        "paper: bottom_sd",
    ]
    panels = [table_view([(f"{year:g}", columns) for year in years], lines)]
    return Picture(
        figure.name, figure.title, "", panels, header, records, False, table_height(lines)
    )


def _courses(figure: Figure, results: list[Measured]) -> Picture:
    """Draw hits and log likelihood against time in seconds (log scale), labelled as in the paper."""
    runs, labels = [result.run for result in results], [result.method for result in results]
    header, rows = RunsToDraw(runs).records(*SCORES["courses"])
    label_of = dict(zip((run.attrs["name"] for run in runs), labels, strict=True))
    rows = [[label_of[row[1]], *row[1:]] for row in rows]
    courses = score_courses(runs, labels=labels, styles=looks(labels))
    decades = [(float(10**k), f"{10**k:g}") for k in range(-2, 5)]
    panels = [panel.opts(logx=True, xticks=decades, backend="matplotlib") for panel in courses]
    return Picture(figure.name, figure.title, "", panels, header, rows)


def _gains(figure: Figure, rows: list[Row]) -> Picture:
    """Draw the gain of each method in log likelihood over each baseline, labelled as in the paper."""
    styles = looks(row.method for row in rows)
    panels = [
        gain_marks(
            {row.method: [run.number(score) for run in row.runs] for row in _drawn_rows(rows)},
            score,
            styles,
        )
        for score in GAINS
    ]
    header = [
        "method",
        "seed",
        *SCORES["gains"],
        "CPU seconds a sweep",
        "CPU seconds until converged",
    ]
    records = [
        [
            row.method,
            run.seed,
            *(run.number(name) for name in (*SCORES["gains"], "seconds", "until_converged")),
        ]
        for row in rows
        for run in row.runs
    ]
    return Picture(
        figure.name,
        figure.title,
        "",
        panels,
        header,
        records,
        False,
        0.5 + 0.26 * len(_drawn_rows(rows)),
    )


def _drawn_rows(rows: list[Row]) -> list[Row]:
    """Return the rows of runs to be drawn: those with a mean gain over clipped frequencies above `SMALLEST_GAIN`."""
    return [row for row in rows if row.mean(OVER_CLIPPED)[0] > SMALLEST_GAIN]


def _means(rows: list[Row], scores: tuple[str, ...]) -> list[str]:
    """Return the mean scores as text, a line per method."""
    heads = (
        "method",
        "runs",
        "sweeps",
        *(HEADS[name] for name in scores),
        "CPU s a sweep",
        "CPU s until converged",
    )
    return _aligned(
        heads,
        *(
            (
                row.method,
                str(len(row.runs)),
                f"{row.runs[0].run['iteration'].values[-1]}",
                *(format_with_error(*row.mean(name), 3) for name in scores),
                format_with_error(*row.mean("seconds"), 4),
                format_with_error(*row.mean("until_converged"), 2),
            )
            for row in rows
        ),
    )


def _spread(figure: Figure, rows: list[Row]) -> list[str]:
    """Return lines that compare the deviation of gains between stick orders with that between starts; [] in other figures."""
    if len({method.engine for method in figure.methods}) > 1 or not any(
        "order" in method.options for method in figure.methods
    ):
        return []
    gains = np.array([[run.number(OVER_ADDED) for run in row.runs] for row in rows])
    start_deviation = (
        float(np.sqrt(gains.var(axis=1, ddof=1).mean())) if gains.shape[1] > 1 else np.nan
    )
    _, error = mean_and_error(gains.mean(axis=1))
    order_deviation, expected_deviation = (
        error * np.sqrt(len(rows)),
        start_deviation / np.sqrt(gains.shape[1]),
    )
    return [
        "",
        f"joint gain: standard deviation over starts of one order {start_deviation:.3f}; over the means of orders "
        f"{order_deviation:.3f}, where starts alone would give {expected_deviation:.3f}",
    ]


def _options(figure: Figure, label: str) -> str:
    """Return a method's engine and options as text."""
    method = next(candidate for candidate in figure.methods if candidate.label == label)
    options = ", ".join(f"{name}={value}" for name, value in method.options.items())
    return f"{method.engine}{options and ', '}{options}"


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
    figure: Figure, extent: Extent, results: list[Measured], corpora: dict[str, Corpus]
) -> tuple[Picture, list[str]]:
    """Draw a figure; return the picture, and lines for the caption with numbers and settings."""
    if figure.shows == TABLE:
        return _table(figure, extent, results, corpora)
    if figure.shows in SCORES:
        return show_scored(figure, results)
    return (
        _engines(figure, results)
        if isinstance(figure.shows, str)
        else _curves(figure, extent, results)
    )


def _engines(figure: Figure, results: list[Measured]) -> tuple[Picture, list[str]]:
    """Draw a figure as a report on its runs does; return the picture, and lines on the settings of the runs."""
    runs = each_run([result.run for result in results])
    reported = [ReportedRun(result.run, spec_of(result.run), result.corpora) for result in results]
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
        if name not in ("held-out tokens", "inference seeds")  # these have lines of their own
    ]
    return replace(picture, name=figure.name, panels=panels), lines


def _curves(figure: Figure, extent: Extent, results: list[Measured]) -> tuple[Picture, list[str]]:
    """Draw log p of test words, or the bound, against topics or steps, one panel per corpus, with a table of all records."""
    rows, look_by_method = (
        table(results),
        {
            method.label: Look(method.colour, method.line, method.marker)
            for method in figure.methods
        },
    )
    panels = [
        overlay(
            against_topics(figure, rows, corpus, extent, number)
            if axis == "topics"
            else against_steps(figure, results, corpus, extent, number),
            f"{SHORT[corpus]}, {'bound' if number == BOUND else 'log p(test)'}",
            f"number of {axis}",
            look_by_method,
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
        for result in results
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
            for result in results
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
    """Return a curve per method: a final number against the number of topics, constant if the method infers that number."""
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
    figure: Figure, results: list[Measured], corpus: str, extent: Extent, number: str
) -> list[Curve]:
    """Return a curve per method: a quantity against steps, averaged over seeds, at the smallest number of topics.

    Bounds begin after a tenth of the steps; earlier ones are so low that they would compress the axis.
    """
    budget, curves = extent.steps or STEPS, []
    grid = np.linspace(0, budget, POINTS + 1)[1:]
    for method in figure.methods:
        values = [
            _interpolated(grid, result.curve("steps"), result.curve(number))
            for result in results
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
    """Return values interpolated linearly on a grid; NaN before the first record, and after records that end early."""
    # the last record can be slightly before or after the budget
    last = steps[-1] * (1 + 1e-9)
    return np.interp(
        grid, steps, values, left=np.nan, right=values[-1] if last >= grid[-1] * 0.98 else np.nan
    )


def _table(
    figure: Figure, extent: Extent, results: list[Measured], corpora: dict[str, Corpus]
) -> tuple[Picture, list[str]]:
    """Draw the paper's table, with a heading per number, a line per size, and the paper's numbers below ours."""
    rows = table(results)
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

    def cell(key, number, digits, paper_text) -> tuple[str, str]:
        row, paper = row_of.get(key), figure.published.get(key)
        return (
            ("–", "")
            if row is None
            else (_format(row, number, digits), paper_text(paper) if paper else "")
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
    for result in results:
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
    """Return the means over seeds as text, a line per row of runs; in a table figure, with the paper's numbers."""
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

    return _aligned(heads, *map(cells, rows))


def _aligned(*lines: Sequence[str]) -> list[str]:
    """Return lines of cells as text, with each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _format(row: Row, number: str, digits: int) -> str:
    """Return the mean of a number as text, after ≥ if longer runs could have a larger one."""
    mean = row.mean(number)[0]
    is_lower_bound = (
        number in ("converged", "until_converged")
        and not math.isnan(mean)
        and row.mean("moving")[0] > 0
    )
    return "≥ " * is_lower_bound + format_with_error(mean, math.nan, digits)
