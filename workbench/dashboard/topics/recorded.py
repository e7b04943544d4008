"""The card *Figures of this run*: views that no other card shows, one at a time; all views for a run without topics.

Views that need no snapshot are drawn from the recorded iterations, again after some iterations; others for each snapshot.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from inspect import signature

import panel as pn
import xarray as xr

from workbench.dashboard.shared.background import SEARCHES, LatestTask
from workbench.dashboard.shared.card import Card, CardContent, LiveContent
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.shell import message, styled
from workbench.dashboard.shared.snapshots import (
    IN_MEMORY,
    SnapshotKey,
    apply_to_run,
    changes,
    progress_of,
    run_of,
)
from workbench.data.caching import cached_once
from workbench.measures import spec_of
from workbench.report.gathering import stored_corpora, with_table
from workbench.runs.afterwards.heldout_by_document import Scored, score_documents
from workbench.runs.spec import SpecError
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import ALIVE
from workbench.views import VIEWS, Picture, RunsToDraw
from workbench.views.elements import SEARCH
from workbench.views.every import view_named
from workbench.views.picture import Control
from workbench.views.sequence_gains import draw_gains

MOST_TIMES = 120
"""Number of points of a figure that decides how often it is drawn, see `changes`."""
TAP = " Tap a point or a cell for its documents in the list."
DRAWING = "Drawing the figure …"
Figure = tuple[Picture, tuple[Control, ...]]
"""A picture, and the controls of its view."""
Choices = tuple[tuple[str, object], ...]
"""Names and chosen values of options."""


class Recorded(Card):
    """The card *Figures of this run*; hidden if there is no figure for it."""

    def __init__(self, handover: Handover):
        self.title = styled(pn.widgets.Select(label="Figure", options=[], width=330))
        self._arguments: tuple[SnapshotKey, int, int] | None = None
        self._titles_task, self._is_setting = LatestTask(SEARCHES), False

        def redraw(*event) -> None:
            if self._arguments is not None and not self._is_setting:
                self.follow(*self._arguments)
                if self.pending:
                    self.status.object = message(DRAWING)

        super().__init__(
            "Figures of this run",
            handover,
            self.title,
            hides=True,
            kind="recorded",
            on_change=redraw,
        )
        self.title.param.watch(redraw, "value")

    def follow(self, snapshot: SnapshotKey, n_rows: int, written: int) -> None:
        """Draw the figures of a run at its recorded iterations and last snapshot; ``written``: when labels were written."""
        self._arguments = snapshot, n_rows, written
        self.bring(
            (self.title.value, self._request),
            partial(_figure_card, self.title.value, *self._request),
            DRAWING,
        )

    @property
    def _request(self) -> tuple[SnapshotKey, int, int, Choices]:
        """Return what decides the figures: the run, its recorded iterations and labels, and the chosen options."""
        snapshot, n_rows, written = self._arguments
        # an initial value is what is drawn without it, before the controls are known
        initial = {control.option: control.value for control in self.card_content.controls}
        changed_options = (pair for pair in self.options.items() if pair[1] != initial.get(pair[0]))
        return snapshot, written, changes(n_rows, MOST_TIMES), tuple(changed_options)

    def clear(self, sentence: str = "") -> None:
        """Show nothing but a sentence."""
        self._arguments = None
        self._titles_task.reset()
        super().clear(sentence)

    def show(self, content: LiveContent | None, error: Exception | None = None) -> None:
        """Show the picture, and offer the titles of all figures once they are known."""
        super().show(content, error)
        if self.picture is None or self._arguments is None:
            self._offer([])
            return
        if self.picture.title not in self.title.options:
            self._offer([self.picture.title])
        # the other figures are drawn when the first one is seen
        self._titles_task.submit(self._request, partial(_titles, *self._request), self._on_titles)

    def _on_titles(self, titles: list[str] | None, error: Exception | None) -> None:
        if self.picture is not None and self.picture.title in (titles or ()):
            self._offer(titles)

    def _offer(self, titles: list[str]) -> None:
        """Set the menu to the titles of figures, and to the one of the picture, without drawing it again."""
        self._is_setting = True
        value = self.picture.title if self.picture is not None else None
        if (titles, value) != (self.title.options, self.title.value):
            self.title.param.update(options=titles, value=value)
        self._is_setting = False


@lru_cache(maxsize=8)
def _figure_card(
    title: str | None, snapshot: SnapshotKey, written: int, n_changes: int, choices: Choices
) -> CardContent:
    """Return the figure called ``title``, else the first; for the other arguments see `_figures`."""
    figure_found = None
    for figure in _figures(snapshot, written, n_changes, choices, title):
        figure_found = figure_found or figure
        if not title or figure[0].title == title:
            figure_found = figure
            break
    return (
        CardContent("", figure_found[0], "", (snapshot.path,), figure_found[1])
        if figure_found
        else CardContent()
    )


@lru_cache(maxsize=8)
def _titles(*arguments) -> list[str]:
    """Return the titles of all figures; for the arguments see `_figures`."""
    return [picture.title for picture, _ in _figures(*arguments)]


def _figures(
    snapshot: SnapshotKey, written: int, n_changes: int, choices: Choices, title: str | None = None
) -> Iterator[Figure]:
    """Yield the figures of a run, drawn one after the other; those of the view that ``title`` begins with come first.

    A run without topics has figures of more views.
    ``written``: when labels were written; ``n_changes`` is a key of caches; ``choices``: chosen options of views.
    """
    run = progress_of(snapshot)
    if not run.sizes["iteration"]:
        return
    names_on_page = tuple(view.name for view in VIEWS if view.on_page or "n_k" not in run)
    of_snapshots = _views_of_snapshots(snapshot, names_on_page)
    names = [*of_snapshots, *(name for name in names_on_page if name not in of_snapshots)]
    for name in sorted(
        names, key=lambda name: not (title or "").startswith(view_named(name).title)
    ):
        options = _options_of_view(name, choices)
        if name in of_snapshots:
            yield from _figures_of_snapshot(snapshot, written, name, options)
        else:
            yield from _figures_of_rows(snapshot, written, n_changes, name, options)


@lru_cache(maxsize=48)
def _figures_of_rows(
    snapshot: SnapshotKey, written: int, n_changes: int, name: str, choices: Choices
) -> list[Figure]:
    """Return the figures of a view that needs no snapshot; ``written`` and ``n_changes`` are keys of the cache."""
    run, view = progress_of(snapshot), view_named(name)
    pictures = view.pictures(RunsToDraw([run], 1), **dict(choices))
    return [(_picture_of_run(picture, snapshot), view.controls(run)) for picture in pictures]


def _picture_of_run(picture: Picture, snapshot: SnapshotKey, sentence: str = "") -> Picture:
    """Return the picture with the run in its name, and at the end of its caption a sentence and what a tap does."""
    has_search = any(SEARCH in element.vdims for panel in picture.panels for element in panel)
    caption = picture.caption + sentence + TAP * has_search
    return replace(picture, name=f"{snapshot.path.name}-{picture.name}", caption=caption)


def _options_of_view(name: str, choices: Choices) -> Choices:
    """Return those of the chosen options that the view has: a change of other options does not redraw the view."""
    parameters = signature(view_named(name).draw).parameters
    return tuple((option, value) for option, value in choices if option in parameters)


@lru_cache(maxsize=16)
def _views_of_snapshots(snapshot: SnapshotKey, names: tuple[str, ...]) -> list[str]:
    """Return the names of those ``names`` views that need a snapshot and have all data that they need in the run."""
    rows = run_of(snapshot).progress()
    views = [view for view in VIEWS if view.name in names and not view.fits(rows)]
    return apply_to_run(snapshot, lambda run: [view.name for view in views if view.fits(run)])


@lru_cache(maxsize=48)
def _figures_of_snapshot(
    snapshot: SnapshotKey, written: int, name: str, choices: Choices
) -> list[Figure]:
    """Return the figures of a view that needs a snapshot; ``written`` is a key of the cache."""
    view = view_named(name)

    def make(run: xr.Dataset) -> list[Figure]:
        run = run.assign_coords(_further_columns(snapshot))
        reads_documents = any("n_dk" in names.split() for names in view.needs)
        some, sentence = _sample(run) if reads_documents else (run, "")
        controls = view.controls(some)
        scores = _scores_of(snapshot) if view.draw is draw_gains else {}
        selection = RunsToDraw(
            [some],
            2,
            {} if sentence else stored_corpora(snapshot.path.parent, spec_of(run)),
            scores,
        )
        pictures = view.pictures(selection, **dict(choices))
        return [(_picture_of_run(picture, snapshot, sentence), controls) for picture in pictures]

    return apply_to_run(snapshot, make)


@cached_once(4)
def _further_columns(snapshot: SnapshotKey) -> dict[str, xr.DataArray]:
    """Return the columns of the stored texts by which documents can be grouped, as coordinates of the run."""

    def make(run: xr.Dataset) -> dict[str, xr.DataArray]:
        coordinates = with_table(run, run_of(snapshot)).coords
        return {name: values for name, values in coordinates.items() if name not in run.coords}

    return apply_to_run(snapshot, make)


def _sample(run: xr.Dataset) -> tuple[xr.Dataset, str]:
    """Return the run with a sample of evenly spaced documents, and a sentence about it; all documents if they are few."""
    n = run.sizes["document"]
    step = -(-n * run.sizes["topic"] // IN_MEMORY)
    if step <= 1:
        return run, ""
    some = run.isel(document=slice(None, None, step))
    return (
        some,
        f" Of a sample of {some.sizes['document']:,} of {n:,} documents, at even distances; a report has all.",
    )


@lru_cache(maxsize=8)
def _scores_of(snapshot: SnapshotKey) -> dict[str, Scored]:
    """Return the scores of held-out tokens of a run that has ended, by hash of its spec; empty if there are none."""
    if snapshot.state not in ALIVE:
        with suppress(SpecError, StoreError, OSError):
            return {snapshot.hash: score_documents(snapshot.path)}
    return {}
