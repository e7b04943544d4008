"""How figures of whole rows and of sequences are drawn: a table of hits by year, their course in time, gains of each method."""

import numpy as np

from workbench.measures.intervals import mean_and_error
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
"""By what a figure shows: numbers of its caption and of its table."""
FAR = -1.0
"""Nats for each item: a method with a lower gain would leave the others no room in a picture."""
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
    """The picture of a figure of scores, and the lines of its caption on numbers and settings."""
    rows = table(measured)
    if figure.shows == HITS:
        picture = _hits(figure, rows)
    else:
        picture = _courses(figure, measured) if figure.shows == "courses" else _gains(figure, rows)
    beyond = (
        [row.method for row in rows if row not in _drawn(rows)] if figure.shows == "gains" else []
    )
    lines = [*_means(rows, SCORES[figure.shows]), *_spread(figure, rows), ""]
    lines += (
        [f"not drawn, more than {-FAR:g} nats behind: {', '.join(beyond)}", ""] if beyond else []
    )
    lines += [f"options of {row.method}: {_options(figure, row.method)}" for row in rows]
    return picture, lines


def _hits(figure: Figure, rows: list[Row]) -> Picture:
    """The paper's table: hits by year, our numbers above its own; the log likelihood of each year beside them."""
    years = list(next(iter(rows)).runs[0].hits)
    columns = ("top 10", "bottom 10", "log likelihood")
    lines, records = [], []
    for row in rows:
        cells = []
        for year in years:
            found = np.array([run.hits[year] for run in row.runs])
            top, top_sd, bottom, bottom_sd, log_p = found.mean(axis=0)
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
            theirs = list(paper) if paper else [""] * 4
            records += [
                [row.method, run.seed, int(year), *run.hits[year], *theirs] for run in row.runs
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
    """Hits and log likelihood against seconds, in decades: the panels of a report on the same runs, under our own labels."""
    runs, labels = [each.run for each in measured], [each.method for each in measured]
    header, rows = SideBySide(runs).records(*SCORES["courses"])
    own = dict(zip((run.attrs["name"] for run in runs), labels, strict=True))
    rows = [[own[row[1]], *row[1:]] for row in rows]
    courses = score_courses(runs, labels=labels, styles=looks(labels))
    decades = [(float(10**k), f"{10**k:g}") for k in range(-2, 5)]
    panels = [panel.opts(logx=True, xticks=decades, backend="matplotlib") for panel in courses]
    return Picture(figure.name, figure.title, "", panels, header, rows)


def _gains(figure: Figure, rows: list[Row]) -> Picture:
    """Gains of each method over each base: the panels of a report on the same runs, under the figure's own labels."""
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
    """The methods that have a place in the picture: all but those far behind the frequencies, whatever these are."""
    return [row for row in rows if row.mean(OVER_CLIPPED)[0] > FAR]


def _means(rows: list[Row], scores: tuple[str, ...]) -> list[str]:
    """The means over the runs of each method as text, a line a method."""
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
    """How much methods differ that are one engine with several orders, beside how much its starts do."""
    if len({method.engine for method in figure.methods}) > 1 or not any(
        "order" in method.options for method in figure.methods
    ):
        return []
    gains = np.array([[run.number(OVER_ADDED) for run in row.runs] for row in rows])
    starts = float(np.sqrt(gains.var(axis=1, ddof=1).mean())) if gains.shape[1] > 1 else np.nan
    _, error = mean_and_error(gains.mean(axis=1))
    of_orders, of_means = error * np.sqrt(len(rows)), starts / np.sqrt(gains.shape[1])
    return [
        "",
        f"joint gain: standard deviation over starts of one order {starts:.3f}; over the means of orders "
        f"{of_orders:.3f}, where starts alone would give {of_means:.3f}",
    ]


def _options(figure: Figure, label: str) -> str:
    method = next(each for each in figure.methods if each.label == label)
    own = ", ".join(f"{name}={value}" for name, value in method.options.items())
    return f"{method.engine}{own and ', '}{own}"
