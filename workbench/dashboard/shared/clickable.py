"""HTML of Python in which parts can be clicked: rows that are chosen, headings that sort, pages that are turned."""

from collections.abc import Callable
from typing import ClassVar

import panel as pn
import param
from markupsafe import Markup

from workbench.dashboard.shared.shell import SCRIPTS, read_style
from workbench.tables import Column

KEY = Markup('<button type="button" data-key="{}" title="{}">{}</button>')


class Clickable(pn.custom.JSComponent):
    """A component of HTML that calls ``on_click("topic", "3")`` for a click on an element with ``data-key="topic 3"``.

    Texts of others are escaped before they are put into ``object``; what ``on_click`` gets is checked there.
    """

    object = param.String(default="", doc="The HTML.")
    marked = param.List(default=[], doc="Keys of the elements that are chosen.")

    _esm = SCRIPTS / "clickable.js"
    _stylesheets: ClassVar[list[str]] = [read_style("clickable.css")]

    def __init__(self, on_click: Callable[[str, str], None], **settings):
        super().__init__(sizing_mode="stretch_width", margin=0, **settings)
        self._on_click = on_click

    def _handle_msg(self, message) -> None:
        if isinstance(message, str):
            kind, _, value = message.partition(" ")
            self._on_click(kind, value)


def sort_by(column: Column, sort: str) -> Column:
    """Return the column with a button as heading; clicks sort numbers descending, then ascending, then not at all.

    ``sort``: the name of the column that rows are sorted by now, after a minus if from the largest on.
    """
    turns = [column.name, f"-{column.name}"] if column.is_text else [f"-{column.name}", column.name]
    following = dict(zip(turns, [turns[1], ""], strict=True)).get(sort, turns[0])
    arrow = {column.name: " ↑", f"-{column.name}": " ↓"}.get(sort, "")
    button = KEY.format(f"sort {following}", column.meaning, f"{column.heading}{arrow}")
    return column._replace(label=button, meaning="")
