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
from workbench.dashboard.shared.card import Card, Live, Shown
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.shell import message, styled
from workbench.dashboard.shared.snapshots import (
    IN_MEMORY,
    SnapshotKey,
    changes,
    made_of,
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
        self._shown: tuple[SnapshotKey, int, int] | None = None
        self._listing, self._moving = LatestTask(SEARCHES), False

        def again(*event) -> None:
            if self._shown is not None and not self._moving:
                self.follow(*self._shown)
                if self.pending:
                    self.said.object = message(DRAWING)

        super().__init__(
            "Figures of this run", handover, self.title, hides=True, kind="recorded", changed=again
        )
        self.title.param.watch(again, "value")

    def follow(self, snapshot: SnapshotKey, n_rows: int, written: int) -> None:
        """Draw the figures of a run at its recorded iterations and last snapshot; ``written``: when labels were written."""
        self._shown = snapshot, n_rows, written
        self.bring(
            (self.title.value, self._asked),
            partial(_drawn, self.title.value, *self._asked),
            DRAWING,
        )

    @property
    def _asked(self) -> tuple[SnapshotKey, int, int, Choices]:
        """Return what decides the figures: the run, its recorded iterations and labels, and the chosen options."""
        snapshot, n_rows, written = self._shown
        # an initial value is what is drawn without it, before the controls are known
        initial = {control.option: control.value for control in self.shown.controls}
        chosen = (pair for pair in self.options.items() if pair[1] != initial.get(pair[0]))
        return snapshot, written, changes(n_rows, MOST_TIMES), tuple(chosen)

    def clear(self, said: str = "") -> None:
        """Show nothing but a sentence."""
        self._shown = None
        self._listing.reset()
        super().clear(said)

    def show(self, found: Live | None, error: Exception | None = None) -> None:
        """Show the picture, and offer the titles of all figures once they are known."""
        super().show(found, error)
        if self.picture is None or self._shown is None:
            self._offer([])
            return
        if self.picture.title not in self.title.options:
            self._offer([self.picture.title])
        # the other figures are drawn when the first one is seen
        self._listing.submit(self._asked, partial(_titles, *self._asked), self._listed)

    def _listed(self, titles: list[str] | None, error: Exception | None) -> None:
        if self.picture is not None and self.picture.title in (titles or ()):
            self._offer(titles)

    def _offer(self, titles: list[str]) -> None:
        """Set the menu to the titles of figures, and to the one of the picture, without drawing it again."""
        self._moving = True
        value = self.picture.title if self.picture is not None else None
        if (titles, value) != (self.title.options, self.title.value):
            self.title.param.update(options=titles, value=value)
        self._moving = False


@lru_cache(maxsize=8)
def _drawn(
    title: str | None, snapshot: SnapshotKey, written: int, n_changes: int, chosen: Choices
) -> Shown:
    """Return the figure called ``title``, else the first; for the other arguments see `_figures`."""
    found = None
    for figure in _figures(snapshot, written, n_changes, chosen, title):
        found = found or figure
        if not title or figure[0].title == title:
            found = figure
            break
    return Shown("", found[0], "", (snapshot.path,), found[1]) if found else Shown()


@lru_cache(maxsize=8)
def _titles(*asked) -> list[str]:
    """Return the titles of all figures; for the arguments see `_figures`."""
    return [picture.title for picture, _ in _figures(*asked)]


def _figures(
    snapshot: SnapshotKey, written: int, n_changes: int, chosen: Choices, title: str | None = None
) -> Iterator[Figure]:
    """Yield the figures of a run, drawn one after the other; those of the view that ``title`` begins with come first.

    A run without topics has figures of more views.
    ``written``: when labels were written; ``n_changes`` is a key of caches; ``chosen``: chosen options of views.
    """
    run = progress_of(snapshot)
    if not run.sizes["iteration"]:
        return
    offered = tuple(view.name for view in VIEWS if view.on_page or "n_k" not in run)
    of_snapshots = _of_snapshots(snapshot, offered)
    names = [*of_snapshots, *(name for name in offered if name not in of_snapshots)]
    for name in sorted(
        names, key=lambda name: not (title or "").startswith(view_named(name).title)
    ):
        options = _of_view(name, chosen)
        if name in of_snapshots:
            yield from _of_snapshot(snapshot, written, name, options)
        else:
            yield from _of_rows(snapshot, written, n_changes, name, options)


@lru_cache(maxsize=48)
def _of_rows(
    snapshot: SnapshotKey, written: int, n_changes: int, name: str, chosen: Choices
) -> list[Figure]:
    """Return the figures of a view that needs no snapshot; ``written`` and ``n_changes`` are keys of the cache."""
    run, view = progress_of(snapshot), view_named(name)
    pictures = view.pictures(RunsToDraw([run], 1), **dict(chosen))
    return [(_named(picture, snapshot), view.controls(run)) for picture in pictures]


def _named(picture: Picture, snapshot: SnapshotKey, said: str = "") -> Picture:
    """Return the picture with the run in its name, and at the end of its caption a sentence and what a tap does."""
    is_tapped = any(SEARCH in part.vdims for panel in picture.panels for part in panel)
    caption = picture.caption + said + TAP * is_tapped
    return replace(picture, name=f"{snapshot.path.name}-{picture.name}", caption=caption)


def _of_view(name: str, chosen: Choices) -> Choices:
    """Return those of the chosen options that the view has: a change of other options does not redraw the view."""
    known = signature(view_named(name).draw).parameters
    return tuple((option, value) for option, value in chosen if option in known)


@lru_cache(maxsize=16)
def _of_snapshots(snapshot: SnapshotKey, offered: tuple[str, ...]) -> list[str]:
    """Return the names of those ``offered`` views that need a snapshot and have all data that they need in the run."""
    rows = run_of(snapshot).progress()
    views = [view for view in VIEWS if view.name in offered and not view.fits(rows)]
    return made_of(snapshot, lambda run: [view.name for view in views if view.fits(run)])


@lru_cache(maxsize=48)
def _of_snapshot(snapshot: SnapshotKey, written: int, name: str, chosen: Choices) -> list[Figure]:
    """Return the figures of a view that needs a snapshot; ``written`` is a key of the cache."""
    view = view_named(name)

    def make(run: xr.Dataset) -> list[Figure]:
        run = run.assign_coords(_further_columns(snapshot))
        reads_documents = any("n_dk" in names.split() for names in view.needs)
        some, said = _sample(run) if reads_documents else (run, "")
        controls = view.controls(some)
        scored = _scored(snapshot) if view.draw is draw_gains else {}
        shown = RunsToDraw(
            [some], 2, {} if said else stored_corpora(snapshot.path.parent, spec_of(run)), scored
        )
        pictures = view.pictures(shown, **dict(chosen))
        return [(_named(picture, snapshot, said), controls) for picture in pictures]

    return made_of(snapshot, make)


@cached_once(4)
def _further_columns(snapshot: SnapshotKey) -> dict[str, xr.DataArray]:
    """Return the columns of the stored texts by which documents can be grouped, as coordinates of the run."""

    def make(run: xr.Dataset) -> dict[str, xr.DataArray]:
        more = with_table(run, run_of(snapshot)).coords
        return {name: values for name, values in more.items() if name not in run.coords}

    return made_of(snapshot, make)


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
def _scored(snapshot: SnapshotKey) -> dict[str, Scored]:
    """Return the scores of held-out tokens of a run that has ended, by hash of its spec; empty if there are none."""
    if snapshot.state not in ALIVE:
        with suppress(SpecError, StoreError, OSError):
            return {snapshot.hash: score_documents(snapshot.path)}
    return {}
