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
from workbench.report.drawing import draw, inline
from workbench.runs.execution.run import Run
from workbench.views import VIEWS, Picture, SideBySide, View

MOST_TIMES = 120
"""How often a figure is drawn while its run goes on."""
STYLE = "margin: 0; max-width: 740px; fill: currentColor"


class Recorded:
    """The card; hidden where there is no such figure."""

    def __init__(self, files: Downloads):
        self.title = styled(pn.widgets.Select(label="Figure", options=[], width=330))
        self.picture, self._latest, self._shown = text(sizing_mode="stretch_width"), LatestTask(), None
        self.title.param.watch(lambda event: self.show(*self._shown), "value")
        self.card = column(
            text("<h2>Recorded</h2>"), column(self.title, kind="wb-bar"), self.picture,
            *files.row("The figure:", "download the recorded figure"), kind="wb-card recorded", visible=False,
        )

    def show(self, moment: Moment, n_rows: int) -> None:
        """Brings the card to the rows of a run and to its last snapshot."""
        self._shown = moment, n_rows

        def then(result, error) -> None:
            titles, svg = ([], message(sentence_of(error), "bad")) if error is not None else result
            self.card.visible, self.title.options, self.picture.object = bool(svg), titles, svg

        wanted = moment, n_rows // max(1, n_rows // MOST_TIMES), self.title.value
        self._latest.submit(wanted, partial(_drawn, *wanted), then)

    def clear(self) -> None:
        """Nothing is shown."""
        self._latest.reset()
        self.card.visible = False


def recorded_of(moment: Moment) -> dict[str, Picture]:
    """By title the pictures of a run that are offered beside the cards; of a run without topics all that it has."""
    run = Run(moment.path).progress()
    if not run.sizes["iteration"]:
        return {}
    pictures = [picture for view in _offered(run) for picture in view.pictures(SideBySide([run], 1))]
    return {picture.title: picture for picture in (*_of_snapshots(moment), *pictures)}


def _offered(run: xr.Dataset) -> list[View]:
    return [view for view in VIEWS if view.on_page or "n_k" not in run]


@lru_cache(maxsize=8)
def _of_snapshots(moment: Moment) -> tuple[Picture, ...]:
    """The pictures that need a snapshot."""
    rows = Run(moment.path).progress()
    views = [view for view in _offered(rows) if not view.fits(rows)]
    return made_of(moment, lambda run: tuple(picture for view in views for picture in view.pictures(SideBySide([run], 1))))


@lru_cache(maxsize=8)
def _drawn(moment: Moment, n_steps: int, title: str | None) -> tuple[list[str], str]:
    """The titles, and the figure of one of them or of the first; moment and n_steps identify the state of the run."""
    found = recorded_of(moment)
    if not found:
        return [], ""
    one = found.get(title) or next(iter(found.values()))
    svg = draw(one.panels, 2, ("svg",), one.legend, one.height)["svg"].decode()
    caption = f"<figcaption>{escape(one.caption)}</figcaption>"
    return list(found), f'<figure style="{STYLE}">{inline(svg, one.name, one.title, one.hover)}{caption}</figure>'
