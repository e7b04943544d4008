"""A table of numbers as a picture, each with another below it that it is to be held against."""

from __future__ import annotations

from typing import NamedTuple

from workbench.views.elements import bare_panel, element, text_labels
from workbench.views.style import GREY, INK

LINE = 0.14
"""Height of a line, inches."""
MARGIN = 2.1
"""Width of the column of names, in columns of numbers."""


class Line(NamedTuple):
    """A row of the table; without cells, a heading of the rows below."""

    name: str
    cells: tuple[tuple[str, str], ...] = ()  # what stands in a column, and what stands below it in grey


def table_view(heads: list[tuple[str, tuple[str, ...]]], lines: list[Line], title: str = ""):
    """Columns in groups, rows with names, two numbers in a cell: `holoviews.Overlay`, as high as `table_height`.

    ``heads`` are names of groups with those of their columns; a line has no cell or as many as there are columns.
    """
    names, bold, numbers, below, rules = [], [], [], [], []
    x = MARGIN
    for group, columns in heads:
        bold.append((x + len(columns) / 2, 0.0, group))
        rules.append((x + 0.1, -0.55, x + len(columns) - 0.1, -0.55))
        for column in columns:
            numbers.append((x + 0.5, -1.1, column))
            x += 1
    rules.append((0.0, -1.7, x, -1.7))
    y = -2.3
    for line in lines:
        if not line.cells:
            names.append((0.0, y, line.name))
            y -= 1.0
            continue
        names.append((0.15, y, line.name))
        for at, (number, other) in enumerate(line.cells):
            numbers.append((MARGIN + at + 0.5, y, number))
            if other:
                below.append((MARGIN + at + 0.5, y - 0.9, other))
        y -= 2.1 if any(other for _, other in line.cells) else 1.1
    drawn = [
        text_labels(names, "name", align="left"), text_labels(bold, "heading", weight="bold"), text_labels(numbers, "number"),
        text_labels(below, "other", color=GREY),
        element("Segments", [*rules, (0.0, y + 0.4, x, y + 0.4)], color=INK, linewidth=0.6),
    ]
    return bare_panel(drawn, (7.0, table_height(lines)), (0, x), (y, 0.6), title=title)


def table_height(lines: list[Line]) -> float:
    """Inches that `table_view` needs for letters to be legible."""
    rows = sum(1.0 if not line.cells else 2.1 if any(other for _, other in line.cells) else 1.1 for line in lines)
    return LINE * (rows + 3.0)
