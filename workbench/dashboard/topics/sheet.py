"""A table of numbers that the browser sorts."""

import math

import param

from workbench.dashboard.shared.drawn import code, style
from workbench.dashboard.shared.link import Part, attribute_part
from workbench.dashboard.shared.snapshots import topic_colour
from workbench.dashboard.topics.filled import Filled
from workbench.numbers import format_number


class Sheet(Filled):
    """A table with a row for each topic; a click on a row chooses its topic."""

    columns = param.List(doc="(title, hint) of each column.")
    texts = param.List(doc="Which columns are text.")
    content = param.Dict(
        default={},
        doc="rows (of `sheet_row`), foot (texts of the last row) and caption; empty for none.",
    )
    sort = param.String(
        doc="Title of the column that rows are sorted by, downwards after a minus; as they come without one."
    )

    _esm = code("boxed", "sheet")
    _stylesheets = style("boxed", "sheet")

    def part(self) -> Part:
        """Return the sort order as a part of the link."""
        return attribute_part(
            self,
            "sort",
            {sign + title for title, _ in self.columns for sign in ("", "-")}.__contains__,
        )


def sheet_row(topic: int, *cells) -> dict:
    """Return the row of a topic; each cell is a value, or a pair of sort value and text; NaN is sorted last."""
    pairs = [cell if isinstance(cell, tuple) else (cell, str(cell)) for cell in (topic, *cells)]
    values = [
        None if isinstance(value, float) and math.isnan(value) else value for value, _ in pairs
    ]
    return {
        "key": topic,
        "values": values,
        "told": [told for _, told in pairs],
        "colour": topic_colour(topic),
    }


def number_cell(value: float) -> tuple[float, str]:
    """Return sort value and text of a cell with a number; a dash for NaN."""
    return value, format_number(value, 3)
