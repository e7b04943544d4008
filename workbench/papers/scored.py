"""Drawings of figures of rows and sequences: hits by year, scores against time, gains of each method."""

import numpy as np

from workbench.measures.curves import mean_and_error
from workbench.numbers import format_with_error
from workbench.papers.figure import HITS, Figure
from workbench.papers.numbers import (
    BOTTOM,
    OVER_ADDED,
    OVER_CLIPPED,
    OVER_SEEN,
    TOP,
    Measured,
    Row,
    table,
)
from workbench.views import Picture
from workbench.views.picture import SideBySide
from workbench.views.row_scores import GAINS, gain_marks, score_courses
from workbench.views.style import Look, looks
from workbench.views.table import Line, table_height, table_view

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


def show_scored(figure: Figure, measured: list[Measured]) -> tuple[Picture, list[str]]:
    """Return the picture of a figure of scores, and the lines of its caption on numbers and settings."""
    rows = table(measured)
    if figure.shows == HITS:
        picture = _hits(figure, rows)
    else:
        picture = _courses(figure, measured) if figure.shows == "courses" else _gains(figure, rows)
    not_drawn = (
        [row.method for row in rows if row not in _drawn(rows)] if figure.shows == "gains" else []
    )
    lines = [*_means(rows, SCORES[figure.shows]), *_spread(figure, rows), ""]
    lines += (
        [f"not drawn, more than {-SMALLEST_GAIN:g} nats behind: {', '.join(not_drawn)}", ""]
        if not_drawn
        else []
    )
    lines += [f"options of {row.method}: {_options(figure, row.method)}" for row in rows]
    return picture, lines


def _hits(figure: Figure, rows: list[Row]) -> Picture:
    """Return the paper's table: hits by year, our numbers above the paper's, with the log likelihood of each year."""
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


def _courses(figure: Figure, measured: list[Measured]) -> Picture:
    """Return hits and log likelihood against seconds, in decades, with the labels of the figure."""
    runs, labels = [result.run for result in measured], [result.method for result in measured]
    header, rows = SideBySide(runs).records(*SCORES["courses"])
    label_of = dict(zip((run.attrs["name"] for run in runs), labels, strict=True))
    rows = [[label_of[row[1]], *row[1:]] for row in rows]
    courses = score_courses(runs, labels=labels, styles=looks(labels))
    decades = [(float(10**k), f"{10**k:g}") for k in range(-2, 5)]
    panels = [panel.opts(logx=True, xticks=decades, backend="matplotlib") for panel in courses]
    return Picture(figure.name, figure.title, "", panels, header, rows)


def _gains(figure: Figure, rows: list[Row]) -> Picture:
    """Return the gains of each method over each base, with the labels of the figure."""
    styles = looks(row.method for row in rows)
    panels = [_panel(rows, score, styles) for score in GAINS]
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
        0.5 + 0.26 * len(_drawn(rows)),
    )


def _panel(rows: list[Row], score: str, styles: dict[str, Look]):
    return gain_marks(
        {row.method: [run.number(score) for run in row.runs] for row in _drawn(rows)}, score, styles
    )


def _drawn(rows: list[Row]) -> list[Row]:
    """Return the methods that are drawn: all except those with a very low gain."""
    return [row for row in rows if row.mean(OVER_CLIPPED)[0] > SMALLEST_GAIN]


def _means(rows: list[Row], scores: tuple[str, ...]) -> list[str]:
    """Return the means over the runs of each method as text, a line per method."""
    heads = (
        "method",
        "runs",
        "sweeps",
        *(HEADS[name] for name in scores),
        "CPU s a sweep",
        "CPU s until converged",
    )
    lines = [
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
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _spread(figure: Figure, rows: list[Row]) -> list[str]:
    """Return a comparison of the variation over orders and over starts, for figures of one engine with several orders."""
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
    """Return engine and options of a method as a text."""
    method = next(candidate for candidate in figure.methods if candidate.label == label)
    options = ", ".join(f"{name}={value}" for name, value in method.options.items())
    return f"{method.engine}{options and ', '}{options}"
