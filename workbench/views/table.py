"""A table of numbers as a picture, with a second number below each for comparison."""

from typing import NamedTuple

from workbench.views.elements import bare_panel, element, text_labels
from workbench.views.style import GREY, INK

LINE = 0.14
"""Height of a line, inches."""
MARGIN = 2.1
"""Width of the column of names, in columns of numbers."""


class Line(NamedTuple):
    """A row of a `table_view`; a row without cells is a heading of those below."""

    name: str
    # the number of a column, and the one below it in grey
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def height(self) -> float:
        return 1.0 if not self.cells else 2.1 if any(other for _, other in self.cells) else 1.1


def table_view(heads: list[tuple[str, tuple[str, ...]]], lines: list[Line], title: str = ""):
    """Draw a table with grouped columns and one or two numbers per cell, as a `holoviews.Overlay`.

    ``heads`` are names of groups with those of their columns; a line has no cells or one for each column.
    """
    names, bold, numbers, other_numbers, rules = [], [], [], [], []
    x, y = MARGIN, -2.3
    for group, columns in heads:
        bold.append((x + len(columns) / 2, 0.0, group))
        rules.append((x + 0.1, -0.55, x + len(columns) - 0.1, -0.55))
        numbers += [
            (x + column_number + 0.5, -1.1, column) for column_number, column in enumerate(columns)
        ]
        x += len(columns)
    for line in lines:
        names.append((0.15 if line.cells else 0.0, y, line.name))
        numbers += [
            (MARGIN + column_number + 0.5, y, number)
            for column_number, (number, _) in enumerate(line.cells)
        ]
        other_numbers += [
            (MARGIN + column_number + 0.5, y - 0.9, other)
            for column_number, (_, other) in enumerate(line.cells)
            if other
        ]
        y -= line.height
    drawn = [
        text_labels(names, "name", align="left"),
        text_labels(bold, "heading", weight="bold"),
        text_labels(numbers, "number"),
        text_labels(other_numbers, "other", color=GREY),
        element(
            "Segments",
            [*rules, (0.0, -1.7, x, -1.7), (0.0, y + 0.4, x, y + 0.4)],
            color=INK,
            linewidth=0.6,
        ),
    ]
    return bare_panel(drawn, (7.0, table_height(lines)), (0, x), (y, 0.6), title=title)


def table_height(lines: list[Line]) -> float:
    """Return the height in inches at which the letters of a `table_view` are legible."""
    return LINE * (sum(line.height for line in lines) + 3.0)
