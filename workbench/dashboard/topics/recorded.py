"""The card *Figures of this run*: views that no other card shows, one at a time; all views for a run without topics.

Views that need no snapshot are drawn from the recorded iterations, again after some iterations; others for each snapshot.
"""

from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from inspect import signature

import panel as pn
import xarray as xr

from workbench.dashboard.shared.card import Card, Live, Shown
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.shell import styled
from workbench.dashboard.shared.snapshots import (
    IN_MEMORY,
    Moment,
    changes,
    made_of,
    progress_of,
    run_of,
)
from workbench.measures import spec_of
from workbench.report.gathering import stored_corpora, with_table
from workbench.runs.afterwards.heldout_by_document import Scored, score_documents
from workbench.runs.spec import SpecError
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import ALIVE
from workbench.views import VIEWS, Picture, SideBySide
from workbench.views.every import view_named
from workbench.views.picture import Control
from workbench.views.sequence_gains import draw_gains

MOST_TIMES = 120
"""Number of points of a figure that decides how often it is drawn, see `changes`."""
Choices = tuple[tuple[str, object], ...]
"""Names and chosen values of options."""


class Recorded(Card):
    """The card *Figures of this run*; hidden if there is no figure for it."""

    def __init__(self, handover: Handover):
        self.title = styled(pn.widgets.Select(label="Figure", options=[], width=330))
        self._shown: tuple[Moment, int, int] | None = None

        def again(*event) -> None:
            if self._shown is not None:
                self.follow(*self._shown)

        super().__init__(
            "Figures of this run", handover, self.title, hides=True, kind="recorded", changed=again
        )
        self.title.param.watch(again, "value")

    def follow(self, moment: Moment, n_rows: int, written: int) -> None:
        """Draw the figures of a run at its recorded iterations and last snapshot; ``written``: when labels were written."""
        self._shown = moment, n_rows, written
        chosen = tuple(self.options.items())
        asked = moment, written, changes(n_rows, MOST_TIMES), self.title.value, chosen
        self.bring(asked, partial(_drawn, *asked))

    def clear(self, said: str = "") -> None:
        """Show nothing but a sentence."""
        self._shown = None
        super().clear(said)

    def show(self, found: Live | None, error: Exception | None = None) -> None:
        """Show the picture, and offer the titles of all figures."""
        super().show(found, error)
        self.title.options = self.shown.beside or []


@lru_cache(maxsize=8)
def _drawn(
    moment: Moment, written: int, n_changes: int, title: str | None, chosen: Choices
) -> Shown:
    """Return the figure called ``title``, else the first, and all titles; of more views for a run without topics.

    ``written``: when labels were written; ``n_changes`` is a key of the cache; ``chosen``: chosen options of views.
    """
    run, drawn = progress_of(moment), []
    if not run.sizes["iteration"]:
        return Shown()
    offered = [view for view in VIEWS if view.on_page or "n_k" not in run]
    for name in _of_snapshots(moment, tuple(view.name for view in offered)):
        drawn += _of_snapshot(moment, written, name, _of_view(name, chosen))
    for view in offered:
        pictures = view.pictures(SideBySide([run], 1), **dict(_of_view(view.name, chosen)))
        drawn += [(picture, view.controls(run)) for picture in pictures]
    found = {picture.title: (picture, controls) for picture, controls in drawn}
    if not found:
        return Shown()
    picture, controls = found.get(title) or next(iter(found.values()))
    named = replace(picture, name=f"{moment.path.name}-{picture.name}")
    return Shown("", named, "", (moment.path,), controls, list(found))


def _of_view(name: str, chosen: Choices) -> Choices:
    """Return those of the chosen options that the view has: a change of other options does not redraw the view."""
    known = signature(view_named(name).draw).parameters
    return tuple((option, value) for option, value in chosen if option in known)


@lru_cache(maxsize=16)
def _of_snapshots(moment: Moment, offered: tuple[str, ...]) -> list[str]:
    """Return the names of those ``offered`` views that need a snapshot and have all data that they need in the run."""
    rows = run_of(moment).progress()
    views = [view for view in VIEWS if view.name in offered and not view.fits(rows)]
    return made_of(moment, lambda run: [view.name for view in views if view.fits(run)])


@lru_cache(maxsize=48)
def _of_snapshot(
    moment: Moment, written: int, name: str, chosen: Choices
) -> list[tuple[Picture, tuple[Control, ...]]]:
    """Return the pictures of a view that needs a snapshot; ``written`` is a key of the cache."""
    view = view_named(name)

    def make(run: xr.Dataset) -> list[tuple[Picture, tuple[Control, ...]]]:
        run = with_table(run, run_of(moment))
        reads_documents = any("n_dk" in names.split() for names in view.needs)
        some, said = _sample(run) if reads_documents else (run, "")
        controls = view.controls(some)
        scored = _scored(moment) if view.draw is draw_gains else {}
        shown = SideBySide(
            [some], 2, {} if said else stored_corpora(moment.path.parent, spec_of(run)), scored
        )
        pictures = view.pictures(shown, **dict(chosen))
        return [
            (replace(picture, caption=picture.caption + said), controls) for picture in pictures
        ]

    return made_of(moment, make)


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
def _scored(moment: Moment) -> dict[str, Scored]:
    """Return the scores of held-out tokens of a run that has ended, by hash of its spec; empty if there are none."""
    if moment.state not in ALIVE:
        with suppress(SpecError, StoreError, OSError):
            return {moment.hash: score_documents(moment.path)}
    return {}
