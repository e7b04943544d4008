"""What a run recorded that no other card shows: of a run without topics all of it, one figure at a time.

Views that need no snapshot are drawn of the rows, anew every so many iterations; the others once for each new snapshot.
"""

from functools import lru_cache, partial
from html import escape

import panel as pn
import xarray as xr

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.downloads import Downloads
from workbench.dashboard.shared.shell import column, message, styled, text
from workbench.dashboard.shared.snapshots import Moment, made_of
from workbench.dashboard.topics.filled import changes
from workbench.report.drawing import draw, inline
from workbench.runs.execution.run import Run
from workbench.views import VIEWS, Picture, SideBySide, View
from workbench.views.picture import Slider

MOST_TIMES = 120
"""How often a figure is drawn while its run goes on."""
STYLE = "margin: 0; max-width: 740px; fill: currentColor"


class Recorded:
    """The card; hidden where there is no such figure."""

    def __init__(self, files: Downloads):
        self.title = styled(pn.widgets.Select(label="Figure", options=[], width=330))
        self.slider = styled(pn.widgets.FloatSlider(label=" ", start=0, end=1, value=0, width=240, visible=False))
        self.picture, self._latest, self._shown = text(sizing_mode="stretch_width"), LatestTask(), None
        self._of_slider: Slider | None = None  # what the slider stands for now
        self.title.param.watch(lambda event: self.show(*self._shown), "value")
        self.slider.param.watch(lambda event: self.show(*self._shown), "value")
        self.card = column(
            text("<h2>Recorded</h2>"), column(self.title, self.slider, kind="wb-bar"), self.picture,
            *files.row("The figure:", "download the recorded figure"), kind="wb-card recorded", visible=False,
        )

    def show(self, moment: Moment, n_rows: int) -> None:
        """Brings the card to the rows of a run and to its last snapshot."""
        self._shown = moment, n_rows

        def then(result, error) -> None:
            titles, svg, slider = ([], message(sentence_of(error), "bad"), None) if error is not None else result
            self.card.visible, self.title.options, self.picture.object = bool(svg), titles, svg
            self._slide(slider)

        wanted = moment, changes(n_rows, MOST_TIMES), self.title.value, self.chosen
        self._latest.submit(wanted, partial(_drawn, *wanted), then)

    @property
    def chosen(self) -> tuple[tuple[str, float], ...]:
        """Name and value of what the slider stands for; empty where the figure has none."""
        return ((self._of_slider.option, self.slider.value),) if self._of_slider else ()

    def _slide(self, slider: Slider | None) -> None:
        """Gives the slider what the figure that is shown has for it."""
        if slider != self._of_slider:
            self._of_slider = slider
            if slider:
                about = {"label": slider.label, "start": slider.low, "end": slider.high, "step": slider.step}
                self.slider.param.update(value=slider.value, **about)
        self.slider.visible = slider is not None

    def clear(self) -> None:
        """Nothing is shown."""
        self._latest.reset()
        self.card.visible = False


def recorded_of(moment: Moment, chosen: tuple[tuple[str, float], ...] = ()) -> dict[str, tuple[Picture, Slider | None]]:
    """By title the pictures of a run that are offered beside the cards; of a run without topics all that it has.

    Each with the slider of its view; ``chosen`` are values of options that have one.
    """
    run = Run(moment.path).progress()
    if not run.sizes["iteration"]:
        return {}
    found = [*_of_snapshots(moment, chosen), *(one for view in _offered(run) for one in _pictures(view, run, chosen))]
    return {picture.title: (picture, slider) for picture, slider in found}


def _offered(run: xr.Dataset) -> list[View]:
    return [view for view in VIEWS if view.on_page or "n_k" not in run]


def _pictures(view: View, run: xr.Dataset, chosen) -> list[tuple[Picture, Slider | None]]:
    options = {name: value for name, value in chosen if view.slider and name == view.slider.option}
    return [(picture, view.slider) for picture in view.pictures(SideBySide([run], 1), **options)]


@lru_cache(maxsize=8)
def _of_snapshots(moment: Moment, chosen) -> list[tuple[Picture, Slider | None]]:
    """The pictures that need a snapshot."""
    rows = Run(moment.path).progress()
    views = [view for view in _offered(rows) if not view.fits(rows)]
    return made_of(moment, lambda run: [one for view in views for one in _pictures(view, run, chosen)])


@lru_cache(maxsize=8)
def _drawn(moment: Moment, n_changes: int, title: str | None, chosen) -> tuple[list[str], str, Slider | None]:
    """The titles, the figure of one of them or of the first, and its slider; moment and n_changes are the state of the run."""
    found = recorded_of(moment, chosen)
    if not found:
        return [], "", None
    one, slider = found.get(title) or next(iter(found.values()))
    svg = draw(one.panels, 2, ("svg",), one.legend, one.height)["svg"].decode()
    drawn, caption = inline(svg, one.name, one.title, one.hover), f"<figcaption>{escape(one.caption)}</figcaption>"
    return list(found), f'<figure style="{STYLE}">{drawn}{caption}</figure>', slider
