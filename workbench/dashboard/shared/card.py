"""Cards with a sentence, a picture, a table and downloads."""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from html import escape
from pathlib import Path
from typing import NamedTuple

import panel as pn
from bokeh.plotting import figure

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.downloads import Handover, picture_downloads
from workbench.dashboard.shared.files import FileError
from workbench.dashboard.shared.shell import PICTURE_CSS, column, message, text
from workbench.tables import Table
from workbench.views import Picture
from workbench.views.live import figures_of, panes_of
from workbench.views.style import looks


class Shown(NamedTuple):
    """The content of a card."""

    said: str = ""  # HTML
    picture: Picture | None = None
    table: str = ""  # HTML
    paths: tuple[Path, ...] = ()  # folders of the runs in the picture


Live = tuple[Shown, list[figure]]
"""The content of a card, and the figures of its picture for one session."""


def live(shown: Shown) -> Live:
    """Return the content of a card with the figures of its picture; can be called in any thread."""
    return shown, page_figures(shown.picture) if shown.picture else []


def page_figures(picture: Picture) -> list[figure]:
    """Return the figures of a picture for one session, in the colours of the page; can be called in any thread."""
    figures = figures_of(picture)
    for each in figures:
        each.stylesheets = [PICTURE_CSS]
    return figures


class Card:
    """A card with a heading, ``tools`` beside it, and components ``above`` the content.

    ``hides``: whether the card is hidden while it has nothing to show.
    """

    def __init__(
        self,
        heading: str,
        handover: Handover,
        *tools: pn.viewable.Viewable,
        above: Iterable[pn.viewable.Viewable] = (),
        hides: bool = False,
    ):
        self.shown, self._task, self._hides = Shown(), LatestTask(), hides
        self.said, self.figure = text(sizing_mode="stretch_width"), column(kind="wb-figures")
        scrolled = {"tabindex": "0", "role": "group", "aria-label": f"table of {heading}"}
        self.table = text(
            "", "comparison.css", sizing_mode="stretch_width", html_attributes=scrolled
        )
        self.files = picture_downloads(handover, lambda: partial(_picture_of, self.shown))
        row = self.files.row("Download", f"download the {heading[:1].lower()}{heading[1:]}")
        self.results = column(self.figure, self.table, *row, kind="wb-stack", visible=False)
        title = column(
            text(f"<h2>{escape(heading)}</h2>", css_classes=["wb-mid"]), *tools, kind="wb-bar"
        )
        self._parts = [title, *above, self.said, self.results]
        self.view = column(*(() if hides else self._parts), kind="wb-card", visible=not hides)

    def bring(self, key: Hashable, work: Callable[[], Shown]) -> None:
        """Compute ``work`` in a thread and show what it returns, unless ``key`` equals the last key."""
        self._task.submit(key, lambda: live(work()), self.show)

    def show(self, found: Live | None, error: Exception | None = None) -> None:
        """Show the content, or the error instead."""
        before, (self.shown, figures) = self.shown, found or (Shown(), [])
        self.said.object = self.shown.said if error is None else message(sentence_of(error), "bad")
        self.table.object = self.shown.table
        self.results.visible = bool(self.shown.picture or self.shown.table)
        self.view.visible = bool(self.said.object) or self.results.visible or not self._hides
        if self.view.visible and not self.view.objects:  # a hidden card needs no models
            self.view.objects = self._parts
        if self.shown.picture is not before.picture:
            self.figure.objects = panes_of(figures)

    def wait(self) -> None:
        """Show that the results are being computed, unless the card shows something."""
        if not self.said.object:
            self.said.object = message("The results of the runs are being computed …")


def _picture_of(shown: Shown) -> tuple[Picture, tuple[Path, ...]]:
    if shown.picture is None:
        raise FileError("there is no picture of this yet; wait, or choose other runs")
    return shown.picture, shown.paths


def by_label_html(table: Table, runs: list[tuple[str, ...]]) -> str:
    """Return an HTML table with a row for each label, in the colour of its engine; ``runs``: names of the runs of each row.

    `highlight.js` finds a row by the names of its runs.
    """
    style = looks(str(label) for label, *_ in table.rows)
    rows = zip(table.rows, runs, strict=True)
    return table.html(
        [
            {"data-runs": "\n".join(names), "style": f"--dot: {style[str(label)].colour}"}
            for (label, *_), names in rows
        ]
    )


def paragraph(sentence: str) -> str:
    """Return the sentence as an HTML paragraph, with a capital letter in front."""
    return f'<p role="status">{escape(sentence[0].upper() + sentence[1:])}</p>' if sentence else ""
