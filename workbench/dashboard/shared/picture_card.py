"""The picture of a card of a page: drawn in the background, with a sentence about it and its downloads."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.files import File, FileError, picture_file
from workbench.dashboard.shared.shell import read_style, styled, text
from workbench.report.drawing import FORMATS
from workbench.report.gathering import gather_started
from workbench.views.live import PictureCard, figures_of
from workbench.views.picture import Control, Picture

STYLE = read_style("picture.css")


class Drawn(NamedTuple):
    """A picture, or none, a sentence about it, the controls of its view, and what else the card shows."""

    picture: Picture | None = None
    said: str = ""
    controls: tuple[Control, ...] = ()
    beside: object = None


class PagePicture(PictureCard):
    """A picture of runs. ``table``, where it is given, makes the CSV in the place of the table of the picture."""

    def __init__(
        self,
        handover: Handover,
        changed: Callable[[], None] = lambda: None,
        table: Callable[[], Callable[[], File]] | None = None,
    ):
        super().__init__(changed, styled)
        self.said = text(sizing_mode="stretch_width")
        self.caption = text(sizing_mode="stretch_width", styles={"color": "var(--wb-muted)"})
        self._latest = LatestTask()
        self._paths: list[Path] = []
        figures = {form.upper(): partial(self._file, form) for form in FORMATS}
        self.files = Downloads(handover, {"CSV": table or partial(self._file, "csv")}, figures)

    def fill(
        self, paths: list[Path], work: Callable[..., Drawn], *asked, waiting: str = ""
    ) -> None:
        """Show the picture of the runs in these folders that ``work(*asked)`` returns, unless that was asked last."""
        shown = self.picture

        def made() -> tuple[Drawn, list]:
            drawn = work(*asked)
            figures = (
                [] if drawn.picture is None or drawn.picture is shown else figures_of(drawn.picture)
            )
            for each in figures:
                each.stylesheets = [STYLE]
            return drawn, figures

        def then(result, error) -> None:
            self._paths, self.pending = paths, False
            self.take(*((Drawn(said=sentence_of(error)), []) if error is not None else result))

        def first() -> None:
            self.pending = True
            if waiting and shown is None:
                self.said.say(waiting)

        self._latest.submit(asked, made, then, first)

    def take(self, drawn: Drawn, figures: list) -> None:
        """Show what was drawn."""
        self.show(drawn.picture, drawn.controls, figures)
        self.said.say(drawn.said)

    def clear(self, said: str = "") -> None:
        """Show nothing but, perhaps, a sentence."""
        self._latest.reset()
        self.take(Drawn(said=said), [])

    def _file(self, form: str, columns: int = 1) -> Callable[[], File]:
        """Return what makes a file of the picture that is shown."""
        picture, paths = self.picture, self._paths

        def make() -> File:
            if picture is None:
                raise FileError("nothing is drawn yet; wait for the picture")
            named = replace(
                picture, name=f"{'-with-'.join(each.name for each in paths)}-{picture.name}"
            )
            return picture_file(named, gather_started(paths), form, columns)

        return make
