"""A picture on a page, drawn in the background, with a sentence about it and its downloads."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.card import page_figures
from workbench.dashboard.shared.downloads import Handover, picture_downloads
from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.shell import styled, text
from workbench.views.live import PictureCard
from workbench.views.picture import Control, Picture


class Drawn(NamedTuple):
    """A picture or None, a sentence, the controls of the view, and further content of the card."""

    picture: Picture | None = None
    said: str = ""
    controls: tuple[Control, ...] = ()
    beside: object = None


class PagePicture(PictureCard):
    """A picture of runs; its CSV has the data of the picture, unless ``table`` is given, which makes the CSV instead."""

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
        more = {"CSV": table} if table else None
        self.files = picture_downloads(handover, self._named, more)

    def fill(
        self, paths: list[Path], work: Callable[..., Drawn], *asked, waiting: str = ""
    ) -> None:
        """Show the picture of the runs in ``paths`` that ``work(*asked)`` returns, unless ``asked`` equals the last."""
        shown = self.picture

        def made() -> tuple[Drawn, list]:
            drawn = work(*asked)
            is_new = drawn.picture is not None and drawn.picture is not shown
            return drawn, page_figures(drawn.picture) if is_new else []

        def then(result, error) -> None:
            self._paths, self.pending = paths, False
            self.take(*((Drawn(said=sentence_of(error)), []) if error is not None else result))

        def first() -> None:
            self.pending = True
            if waiting and shown is None:
                self.said.say(waiting)

        self._latest.submit(asked, made, then, first)

    def take(self, drawn: Drawn, figures: list) -> None:
        """Show the drawn picture and its sentence."""
        self.show(drawn.picture, drawn.controls, figures)
        self.said.say(drawn.said)

    def clear(self, said: str = "") -> None:
        """Show no picture, only a sentence if one is given."""
        self._latest.reset()
        self.take(Drawn(said=said), [])

    def _named(self) -> Callable[[], tuple[Picture, list[Path]]]:
        """Return a function that returns the shown picture (named after its runs) and the paths of the runs."""
        picture, paths = self.picture, self._paths

        def give() -> tuple[Picture, list[Path]]:
            if picture is None:
                raise FileError("nothing is drawn yet; wait for the picture")
            name = f"{'-with-'.join(each.name for each in paths)}-{picture.name}"
            return replace(picture, name=name), paths

        return give
