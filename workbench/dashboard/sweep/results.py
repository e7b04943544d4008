"""What a tab shows of its runs: sentences, a figure, a table of numbers, and the files of both."""

from collections.abc import Callable, Iterable
from functools import partial
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.files import File, FileError, picture_file
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import column, message, text
from workbench.dashboard.shared.snapshots import Moment, moment_of
from workbench.report.drawing import draw, inline
from workbench.report.gathering import gather_started
from workbench.views import VIEWS, Picture, View

STYLE = "margin: 0; max-width: 1000px; fill: currentColor"


class Point(NamedTuple):
    """A run and how far it is: what is shown of it changes when this does."""

    moment: Moment  # its last snapshot
    iteration: int
    n_topics: int
    seed: int


class Shown(NamedTuple):
    """What a card shows."""

    advice: str = ""  # HTML
    picture: Picture | None = None  # for the files
    figure: str = ""  # HTML
    table: str = ""  # HTML
    points: tuple[Point, ...] = ()  # the runs of the picture


class Row(NamedTuple):
    """A row of a table: the HTML of its cells, and whether it is marked."""

    cells: list[str]
    marked: bool = False


class Card:
    """A card with a heading, and what `Shown` has."""

    def __init__(self, heading: str, handover: Handover):
        self._shown = Shown()
        self.advice = text(sizing_mode="stretch_width")
        self.figure = text(sizing_mode="stretch_width")
        self.table = text("", "comparison.css", sizing_mode="stretch_width")
        files = Downloads(
            handover,
            {"CSV": partial(self._make, "csv")},
            {form.upper(): partial(self._make, form) for form in ("svg", "pdf", "png")},
        )
        row = files.row("Download", f"download {heading}")
        self.results = column(self.figure, self.table, *row, kind="wb-stack", visible=False)
        title = text(f"<h2>{escape(heading)}</h2>")
        self.view = column(title, self.advice, self.results, kind="wb-card")

    def show(self, shown: Shown, error: Exception | None = None) -> None:
        """Show this, or why there is nothing to show."""
        self._shown = shown
        self.advice.object = shown.advice if error is None else message(sentence_of(error), "bad")
        self.figure.object, self.table.object = shown.figure, shown.table
        self.results.visible = bool(shown.figure)

    def wait(self) -> None:
        """Say that the results are being computed, if there are none yet."""
        if not self._shown.advice:
            self.advice.object = message("The results of the runs are being computed …")

    def _make(self, form: str, columns: int = 1) -> Callable[[], File]:
        return partial(results_file, self._shown, form, columns)


def points_of(readings: Iterable[Reading]) -> tuple[Point, ...]:
    """Return the runs that have a first row, in the same order."""
    return tuple(
        Point(moment_of(one), int(one.latest[0]), one.spec.n_topics, one.spec.seed)
        for one in readings
        if np.isfinite(one.latest[0])
    )


def view_named(name: str) -> View:
    """Return the view of this name."""
    return next(view for view in VIEWS if view.name == name)


def figure_html(picture: Picture) -> str:
    """Return the picture as HTML."""
    svg = draw(picture.panels, 2, ("svg",), picture.legend, picture.height)["svg"].decode()
    drawn = inline(svg, picture.name, picture.title)
    return f'<figure style="{STYLE}" aria-label="{escape(picture.title)}">{drawn}</figure>'


def table_html(name: str, heads: Iterable[tuple[str, str]], rows: Iterable[Row]) -> str:
    """Return a table as HTML; ``heads``: title and meaning of each column, of which the first has the names of the rows."""
    head = "".join(
        f'<th scope="col"{" class=n" if at else ""} title="{escape(meaning)}">{escape(title)}</th>'
        for at, (title, meaning) in enumerate(heads)
    )
    body = ""
    for (first, *others), marked in rows:
        cells = "".join(f'<td class="n">{cell}</td>' for cell in others)
        attributes = ' class="lit" aria-current="true"' if marked else ""
        body += f'<tr{attributes}><th scope="row">{first}</th>{cells}</tr>'
    return (
        f'<table class="by-k" aria-label="{escape(name)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def paragraph(sentence: str) -> str:
    """Return the sentence as HTML, with a capital letter in front."""
    return f'<p role="status">{escape(sentence[0].upper() + sentence[1:])}</p>' if sentence else ""


def results_file(shown: Shown, form: str, columns: int = 1) -> File:
    """Return the picture as a figure for paper, or its table as CSV."""
    picture = shown.picture
    if picture is None:
        raise FileError("there is nothing to download yet; wait for the first iteration of a run")
    if form == "csv":
        table = pd.DataFrame(picture.rows, columns=picture.header)
        return File(f"{picture.name}.csv", table.to_csv(index=False, lineterminator="\n").encode())
    gathered = gather_started([point.moment.path for point in shown.points])
    return picture_file(picture, gathered, form, columns)
