"""The card of all pages: a heading, controls, a sentence, a picture, a table and downloads, computed in the background."""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from html import escape
from pathlib import Path
from typing import NamedTuple

import panel as pn
from bokeh.plotting import figure

from workbench.dashboard.shared.background import LOOKS, LatestTask, sentence_of
from workbench.dashboard.shared.clickable import Clickable
from workbench.dashboard.shared.downloads import Downloads, Handover, picture_downloads
from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.shell import PICTURE_CSS, column, message, styled, text
from workbench.dashboard.shared.ui_events import with_lock
from workbench.numbers import capital
from workbench.tables import Table
from workbench.views import Picture
from workbench.views.elements import looks
from workbench.views.live import PictureCard, figures_of
from workbench.views.picture import Control


class CardContent(NamedTuple):
    """The content of a card: a sentence, a picture, a table, and what belongs to these."""

    sentence: str = ""  # HTML
    picture: Picture | None = None
    table: str = ""  # HTML
    paths: tuple[Path, ...] = ()  # folders of the runs in the picture
    controls: tuple[Control, ...] = ()  # of the view
    extra: object = None  # what a subclass shows besides
    on_page: Picture | None = None  # what the page shows of the picture; None: all of it


WAITING = "The results of the runs are being computed …"
LiveContent = tuple[CardContent, list[figure]]
"""The content of a card, and the figures of its picture for one session."""


def live_content(content: CardContent, picture_before: Picture | None = None) -> LiveContent:
    """Return the content with new Bokeh figures of its picture, or none if that is ``picture_before``; safe in any thread."""
    new = content.picture is not None and content.picture is not picture_before
    figures = figures_of(content.on_page or content.picture) if new else []
    for each in figures:
        each.stylesheets = [PICTURE_CSS]
    return content, figures


class Card(PictureCard):
    """A card of a picture and a table, with a heading, ``tools`` and controls, and ``components`` above the picture.

    ``hides``: whether the card is hidden while it has nothing to show. ``kind``: further CSS classes. ``on_change()`` is called
    when a control was set. ``csv`` makes the CSV file instead of the table of the picture, and ``more_files`` further files,
    see `Downloads`; without ``has_picture`` the card has no picture. ``table``: the component of the table.
    """

    workers = LOOKS  # the pool that computes the content

    def __init__(
        self,
        heading: str,
        handover: Handover,
        *tools: pn.viewable.Viewable,
        components: Iterable[pn.viewable.Viewable] = (),
        hides: bool = False,
        kind: str = "",
        on_change: Callable[[], None] = lambda: None,
        csv: Callable[[], Callable[[], File]] | None = None,
        more_files: dict[str, Callable[[], Callable[[], File]]] | None = None,
        table: Clickable | None = None,
        has_picture: bool = True,
    ):
        super().__init__(on_change, styled)
        self.card_content, self._task, self._hides = CardContent(), LatestTask(self.workers), hides
        self.status, self.figure = text(sizing_mode="stretch_width"), column(kind="wb-figures")
        self.bar = column(kind="wb-bar")  # a Row would be as wide as all its parts
        self.caption = text(sizing_mode="stretch_width", styles={"color": "var(--wb-muted)"})
        scroll_attributes = {"tabindex": "0", "role": "group", "aria-label": f"table of {heading}"}
        self.table = table or text(
            "", "comparison.css", sizing_mode="stretch_width", html_attributes=scroll_attributes
        )
        makers = ({"CSV": csv} if csv else {}) | (more_files or {})
        self.files = (
            picture_downloads(handover, lambda: partial(_picture_of, self.card_content), makers)
            if has_picture
            else Downloads(handover, makers)
        )
        row = self.files.row("Download", f"download the {heading[:1].lower()}{heading[1:]}")
        self.results = column(kind="wb-stack", visible=False)
        self._content = [self.figure, self.caption, self.table, *row]
        title = text(f"<h2>{escape(heading)}</h2>", css_classes=["wb-mid"])
        bar = column(title, *tools, self.bar, kind="wb-bar")
        self._components = [bar, *components, self.status, self.results]
        self.view = column(
            *(() if hides else self._components), kind=f"wb-card {kind}", visible=not hides
        )

    def bring(self, key: Hashable, work: Callable[[], CardContent], waiting_text: str = "") -> None:
        """Compute ``work`` in a thread and show what it returns, unless ``key`` equals the last key.

        ``waiting_text`` is said meanwhile if the card shows nothing.
        """
        picture_before = self.picture

        def show_waiting() -> None:
            if self.pending:
                self.status.object = message(waiting_text)
                self._see()

        def on_start() -> None:
            self.pending = True
            if waiting_text and not (self.card_content.picture or self.card_content.table):
                with_lock(self._task.document, show_waiting)  # else it may be sent after the result

        self._task.submit(key, lambda: live_content(work(), picture_before), self.show, on_start)

    def show(self, content: LiveContent | None, error: Exception | None = None) -> None:
        """Show the content, or the error instead."""
        self.card_content, figures = content or (CardContent(), [])
        self.pending = False
        self.status.object = (
            self.card_content.sentence if error is None else message(sentence_of(error), "bad")
        )
        self.table.object = self.card_content.table
        self.results.visible = bool(
            self.card_content.picture or self.card_content.table or self.card_content.extra
        )
        if self.results.visible and not self.results.objects:  # what is hidden needs no models
            self.results.objects = self._content
        self._see()
        self.draw(self.card_content.picture, self.card_content.controls, figures)

    def _see(self) -> None:
        """Show a card that hides, if it has something to show, else hide it."""
        if self._hides:
            self.view.visible = bool(self.status.object) or self.results.visible
        if self.view.visible and not self.view.objects:
            self.view.objects = self._components

    def clear(self, sentence: str = "") -> None:
        """Show nothing but a sentence."""
        self._task.reset()
        self.show((CardContent(message(sentence)), []))

    def wait(self) -> None:
        """Show that the results are being computed, unless the card shows something."""
        if not self.status.object:
            self.status.object = message(WAITING)


def _picture_of(content: CardContent) -> tuple[Picture, tuple[Path, ...]]:
    if content.picture is None:
        raise FileError("there is no picture of this yet; wait, or choose other runs")
    return content.picture, content.paths


def by_label_html(table: Table) -> str:
    """Return a table as HTML, each row with a dot in the colour of the engine whose label begins the row."""
    labels = [str(cell).partition("\n")[0] for cell, *_ in table.rows]
    style = looks(labels)
    return table.html([{"style": f"--dot: {style[label].colour}"} for label in labels])


def paragraph(sentence: str) -> str:
    """Return the sentence as an HTML paragraph, with a capital letter in front."""
    return f'<p role="status">{escape(capital(sentence))}</p>' if sentence else ""
