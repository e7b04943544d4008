"""What a run recorded that no other card shows: of a run without topics all of it, one figure at a time."""

from functools import lru_cache, partial
from html import escape
from pathlib import Path

import panel as pn

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.downloads import Downloads
from workbench.dashboard.shared.shell import column, message, styled, text
from workbench.report.drawing import draw, inline
from workbench.runs.execution.run import Run
from workbench.views import VIEWS, Picture, SideBySide

MOST_TIMES = 120
"""How often a figure is drawn while its run goes on."""
STYLE = "margin: 0; max-width: 740px; fill: currentColor"


class Recorded:
    """The card; hidden where there is no such figure."""

    def __init__(self, files: Downloads):
        self.title = styled(pn.widgets.Select(label="Figure", options=[], width=330))
        self.picture, self._latest, self._rows = text(sizing_mode="stretch_width"), LatestTask(), None
        self.title.param.watch(lambda event: self.show(*self._rows), "value")
        self.card = column(
            text("<h2>Recorded</h2>"), column(self.title, kind="wb-bar"), self.picture,
            *files.row("The figure:", "download the recorded figure"), kind="wb-card recorded", visible=False,
        )

    def show(self, path: Path, hash: str, n_rows: int) -> None:
        """Brings the card to the rows of a run."""
        self._rows = path, hash, n_rows

        def then(result, error) -> None:
            titles, svg = ([], message(sentence_of(error), "bad")) if error is not None else result
            self.card.visible, self.title.options, self.picture.object = bool(svg), titles, svg

        wanted = path, hash, n_rows // max(1, n_rows // MOST_TIMES), self.title.value
        self._latest.submit(wanted, partial(_drawn, *wanted), then)

    def clear(self) -> None:
        """Nothing is shown."""
        self._latest.reset()
        self.card.visible = False


def recorded_of(path: Path) -> dict[str, Picture]:
    """By title the pictures of a run that are offered beside the cards; of a run without topics all that it has."""
    run = Run(path).progress()
    if not run.sizes["iteration"]:
        return {}
    offered = [view for view in VIEWS if view.on_page or "n_k" not in run]
    return {picture.title: picture for view in offered for picture in view.pictures(SideBySide([run], 1))}


@lru_cache(maxsize=8)
def _drawn(path: Path, hash: str, n_steps: int, title: str | None) -> tuple[list[str], str]:
    """The titles, and the figure of one of them or of the first; hash and n_steps identify the state of the run."""
    found = recorded_of(path)
    if not found:
        return [], ""
    one = found.get(title) or next(iter(found.values()))
    svg = draw(one.panels, 2, ("svg",), one.legend, one.height)["svg"].decode()
    caption = f"<figcaption>{escape(one.caption)}</figcaption>"
    return list(found), f'<figure style="{STYLE}">{inline(svg, one.name, one.title)}{caption}</figure>'
