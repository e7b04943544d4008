"""Download buttons: the file is made in a thread after the click, and sent over the connection of the page."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import panel as pn
import param

from workbench.dashboard.shared.background import FILES, in_background, sentence_of
from workbench.dashboard.shared.files import HEIGHTS, File, picture_file
from workbench.dashboard.shared.shell import SCRIPTS, Choice, button, in_row, styled, text
from workbench.numbers import format_size
from workbench.report.drawing import FORMATS
from workbench.report.gathering import gather_started
from workbench.views import Picture

WIDTHS = {"one column": 1, "two columns": 2}


class Handover(pn.custom.JSComponent):
    """An invisible component that sends a file to the browser, which saves it without a further request."""

    file = param.Dict(
        default={},
        doc="name and content (bytes) of the file that is on its way; empty when it has arrived.",
    )

    _esm = SCRIPTS / "downloads.js"

    def _handle_msg(self, message) -> None:
        if message == "arrived":
            self.file = {}


class Downloads:
    """Download buttons, and a sentence about the result of the last click.

    Parameters
    ----------
    handover : Handover
        The component of the session that sends the files.
    makers : dict
        Label of a button → a function that is called at the click and returns a function that makes the file, both without
        arguments.
    figures : dict
        The same for figures, whose buttons come first: the first function takes the width as a number of page columns.
    """

    def __init__(
        self,
        handover: Handover,
        makers: dict[str, Callable[[], Callable[[], File]]],
        figures: dict[str, Callable[[int], Callable[[], File]]] | None = None,
    ):
        self._handover, self._document = handover, pn.state.curdoc
        self.status = text(sizing_mode="stretch_width", visible=False)
        self.width = None
        if figures:
            self.width = styled(Choice(label="Width of figures", options=WIDTHS, value=1))
            makers = {
                name: lambda make=make: make(self.width.value) for name, make in figures.items()
            } | makers
        self.buttons = {name: button(name) for name in makers}
        for name, maker in makers.items():
            self.buttons[name].on_click(lambda event, maker=maker: self._make(maker()))

    def row(self, label: str, name: str) -> list:
        """Return a group called ``name`` (label, choice of figure width, buttons), and the sentence on the last click."""
        width = [self.width] if self.width else []
        return [in_row(label, name, *width, *self.buttons.values()), self.status]

    def _make(self, work: Callable[[], File]) -> None:
        def show(disabled: bool, sentence: str, kind: str = "muted") -> None:
            for each in self.buttons.values():
                each.disabled = disabled
            self.status.say(sentence, kind)

        def on_result(file: File | None, error: Exception | None) -> None:
            if error is not None:
                show(False, sentence_of(error), "bad")
                return
            show(
                False,
                f"{file.name}, {format_size(len(file.content))}, is among the downloads of the browser.",
            )
            self._handover.file = file._asdict()

        show(True, "Making the file …")
        in_background(self._document, work, on_result, FILES)


def picture_downloads(
    handover: Handover,
    picture: Callable[[], Callable[[], tuple[Picture, Iterable[Path]]]],
    more_files: dict[str, Callable[[], Callable[[], File]]] | None = None,
) -> Downloads:
    """Return buttons for a picture as SVG, PDF and PNG, for its table as CSV, and for ``more_files`` files.

    ``picture`` is called at the click and returns a function; that is called in a thread and returns a picture and the paths of
    the runs in its caption.
    """

    def make(form: str, columns: int = 1) -> Callable[[], File]:
        make_picture = picture()

        def work() -> File:
            new_picture, paths = make_picture()
            height = new_picture.height or (
                HEIGHTS[columns] if len(new_picture.panels) == 1 else None
            )
            gathered_runs = gather_started(list(paths)) if paths else None
            return picture_file(replace(new_picture, height=height), gathered_runs, form, columns)

        return work

    figures = {form.upper(): partial(make, form) for form in FORMATS}
    return Downloads(handover, {"CSV": partial(make, "csv")} | (more_files or {}), figures)
