"""A table of numbers that the browser sorts."""

from __future__ import annotations

import math
from typing import ClassVar

import param

from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.link import Part


class Sheet(Drawn):
    """The table. A click on a row chooses its key."""

    columns = param.List(doc="(title, hint) of each column.")
    texts = param.List(doc="Which columns are text.")
    content = param.Dict(default={}, doc="rows (of `sheet_row`), foot (texts of the last row) and caption; empty for none.")
    chosen = param.Integer(default=-1, doc="Key of the row that is chosen; -1: none.")
    sort = param.String(doc="Title of the column that rows are sorted by, downwards after a minus; as they come without one.")
    said = param.String()

    _esm = code("boxed", "sheet")
    _stylesheets: ClassVar[list[str]] = style("boxed", "sheet")

    def part(self) -> Part:
        """What rows are sorted by as a part of the link."""

        def take(sort: str) -> bool:
            known = sort in {sign + title for title, _ in self.columns for sign in ("", "-")}
            if known:
                self.sort = sort
            return known

        return Part(lambda: self.sort, "", take)


def sheet_row(key: int, cells: list[tuple[object, str]], colour: str = "") -> dict:
    """A row: of each cell what it is sorted by and what is read; a number that is none is sorted last."""
    values = [None if isinstance(value, float) and math.isnan(value) else value for value, _ in cells]
    return {"key": key, "values": values, "told": [told for _, told in cells], "colour": colour}


def number(value: float, digits: int = 3) -> tuple[float, str]:
    """A cell with a number; a dash where there is none."""
    return value, "–" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
