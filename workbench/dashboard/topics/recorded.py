"""What a run recorded that no other card shows: of a run without topics all of it, one figure at a time.

Views that need no snapshot are drawn of the rows, anew every so many iterations; the others once for each new snapshot.
"""

from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from html import escape
from inspect import signature

import panel as pn
import xarray as xr

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.downloads import Downloads
from workbench.dashboard.shared.shell import column, message, styled, text
from workbench.dashboard.shared.snapshots import IN_MEMORY, Moment, made_of
from workbench.dashboard.topics.filled import changes
from workbench.measures import spec_of
from workbench.report.drawing import draw, inline
from workbench.report.gathering import stored_corpora, with_table
from workbench.runs.afterwards.heldout_by_document import Scored, score_documents
from workbench.runs.execution.run import Run
from workbench.runs.spec import SpecError
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import ALIVE
from workbench.views import VIEWS, Picture, SideBySide, View
from workbench.views.picture import Control, Slider
from workbench.views.sequence_gains import draw_gains

MOST_TIMES = 120
"""How often a figure is drawn while its run goes on."""
Choices = tuple[tuple[str, object], ...]
"""Names of options and what was chosen."""
STYLE = "margin: 0; max-width: 740px; fill: currentColor"


class Recorded:
    """The card; hidden where there is no such figure."""

    def __init__(self, files: Downloads):
        self.title = styled(pn.widgets.Select(label="Figure", options=[], width=330))
        self.menu, self.second = self.menus = [
            styled(pn.widgets.Select(label=" ", options=[], width=200, visible=False))
            for _ in range(2)
        ]
        self.slider = styled(
            pn.widgets.FloatSlider(label=" ", start=0, end=1, value=0, width=240, visible=False)
        )
        self.play = styled(
            pn.widgets.Toggle(label="Play", width=60, visible=False), css_classes=["wb-mid"]
        )
        self.picture, self._latest, self._shown = (
            text(sizing_mode="stretch_width"),
            LatestTask(),
            None,
        )
        self._controls: tuple[Control, ...] = ()  # what menus and slider stand for now
        # are they being set here; the choices that are drawn
        self._setting, self._drawn_of = False, ()
        self.title.param.watch(lambda event: self.show(*self._shown), "value")
        for widget in (*self.menus, self.slider):
            widget.param.watch(self._chosen, "value")
        bar = column(self.title, *self.menus, self.slider, self.play, kind="wb-bar")
        self.card = column(
            text("<h2>Figures of this run</h2>"),
            bar,
            self.picture,
            *files.row("The figure:", "download the figure of this run"),
            kind="wb-card recorded",
            visible=False,
        )

    def tick(self, moment: Moment, n_rows: int) -> None:
        """What `show` does, each second: where the slider plays it makes a step first, once the last one is drawn."""
        if self.play.value and self.play.visible and self._drawn_of == self.chosen:
            here = self.slider
            self._set(
                here,
                value=here.start
                if here.value + here.step > here.end + 1e-9
                else here.value + here.step,
            )
        self.show(moment, n_rows)

    def show(self, moment: Moment, n_rows: int) -> None:
        """Brings the card to the rows of a run and to its last snapshot."""
        self._shown = moment, n_rows
        chosen = self.chosen

        def then(result, error) -> None:
            titles, svg, controls = (
                ([], message(sentence_of(error), "bad"), ()) if error is not None else result
            )
            self._drawn_of = chosen
            self.card.visible, self.title.options, self.picture.object = bool(svg), titles, svg
            self._take(controls)

        wanted = moment, changes(n_rows, MOST_TIMES), self.title.value, chosen
        self._latest.submit(wanted, partial(_drawn, *wanted), then)

    @property
    def chosen(self) -> Choices:
        """Name and value of what menus and slider stand for; empty where the figure has none."""
        return tuple((each.option, self._widget(each).value) for each in self._controls)

    def _widget(self, control: Control):
        """The slider, or of the menus the one in the place that the control has among those of the figure."""
        return (
            self.slider if isinstance(control, Slider) else self.menus[self._menus.index(control)]
        )

    @property
    def _menus(self) -> list[Control]:
        return [each for each in self._controls if not isinstance(each, Slider)]

    def _chosen(self, event) -> None:
        if not self._setting:
            self.show(*self._shown)

    def _set(self, widget, **values) -> None:
        """Sets what the visitor has not changed."""
        self._setting = True
        widget.param.update(**values)
        self._setting = False

    def _take(self, controls: tuple[Control, ...]) -> None:
        """Gives menus and slider what the figure that is shown has for them."""
        if controls != self._controls:
            before, self._controls = self._controls, controls
            for each in controls:
                if each in before:
                    continue
                if isinstance(each, Slider):
                    about = {
                        "label": each.label,
                        "start": each.low,
                        "end": each.high,
                        "step": each.step,
                        "value": each.value,
                    }
                    whole = float(each.low).is_integer() and float(each.step).is_integer()
                    self._set(self.slider, format="0" if whole else "0[.]00", **about)
                else:
                    self._set(
                        self._widget(each),
                        label=each.label,
                        options=list(each.choices),
                        value=each.value,
                    )
            self._drawn_of = self.chosen
        shown = {self._widget(each) for each in controls}
        for widget in (*self.menus, self.slider):
            widget.visible = widget in shown
        self.play.visible = any(isinstance(each, Slider) and each.plays for each in controls)

    def clear(self) -> None:
        """Nothing is shown."""
        self._latest.reset()
        self.card.visible = False


def recorded_of(
    moment: Moment, chosen: Choices = ()
) -> dict[str, tuple[Picture, tuple[Control, ...]]]:
    """By title the pictures of a run that are offered beside the cards; of a run without topics all that it has.

    Each with the controls of its view; ``chosen`` are values of options that have one.
    """
    run = Run(moment.path).progress()
    if not run.sizes["iteration"]:
        return {}
    offered = {view.name: view for view in VIEWS if view.on_page or "n_k" not in run}
    of_rows = [view for view in offered.values() if view.fits(run)]
    named = _of_snapshots(moment, tuple(offered))
    found = [one for name in named for one in _of_snapshot(moment, name, _of_view(name, chosen))]
    shown = SideBySide([run], 1)
    for view in of_rows:
        controls = view.controls(run)
        options = {
            name: value for name, value in chosen if name in {each.option for each in controls}
        }
        found += [(picture, controls) for picture in view.pictures(shown, **options)]
    return {picture.title: (picture, controls) for picture, controls in found}


def _of_view(name: str, chosen: Choices) -> Choices:
    """What was chosen of the options of a view, by their names alone: those of other views are no reason to draw it anew."""
    (view,) = (view for view in VIEWS if view.name == name)
    known = signature(view.draw).parameters
    return tuple((option, value) for option, value in chosen if option in known)


@lru_cache(maxsize=16)
def _of_snapshots(moment: Moment, offered: tuple[str, ...]) -> list[str]:
    """The names of the views, of these, that need a snapshot, which the run has."""
    rows = Run(moment.path).progress()
    views = [view for view in VIEWS if view.name in offered and not view.fits(rows)]
    return made_of(moment, lambda run: [view.name for view in views if view.fits(run)])


@lru_cache(maxsize=48)
def _of_snapshot(moment: Moment, name: str, chosen) -> list[tuple[Picture, tuple[Control, ...]]]:
    """The pictures of one view that needs a snapshot."""
    (view,) = (view for view in VIEWS if view.name == name)

    def make(run: xr.Dataset) -> list[tuple[Picture, tuple[Control, ...]]]:
        run = with_table(run, Run(moment.path))
        some, said = _sample(run) if _reads_documents(view) else (run, "")
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


def _reads_documents(view: View) -> bool:
    """Does the view need the tokens of each topic in every document?"""
    return any("n_dk" in names.split() for names in view.needs)


def _sample(run: xr.Dataset) -> tuple[xr.Dataset, str]:
    """The run with as many of its documents, at even distances, as a page reads, and a sentence about them; all of fewer."""
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
    """The scores of held-out tokens of a run that has ended, by the hash of its spec; empty where there are none."""
    if moment.state not in ALIVE:
        with suppress(SpecError, StoreError, OSError):
            return {moment.hash: score_documents(moment.path)}
    return {}


@lru_cache(maxsize=8)
def _drawn(
    moment: Moment, n_changes: int, title: str | None, chosen
) -> tuple[list[str], str, tuple[Control, ...]]:
    """The titles, the figure of one of them or of the first, its controls; moment and n_changes are the state of the run."""
    found = recorded_of(moment, chosen)
    if not found:
        return [], "", ()
    one, controls = found.get(title) or next(iter(found.values()))
    svg = draw(one.panels, 2, ("svg",), one.legend, one.height)["svg"].decode()
    drawn, caption = (
        inline(svg, one.name, one.title, one.hover),
        f"<figcaption>{escape(one.caption)}</figcaption>",
    )
    return list(found), f'<figure style="{STYLE}">{drawn}{caption}</figure>', controls
