"""A small editable table of counts, with a row for each document and a column for each word."""

from collections.abc import Callable

import param

from workbench.dashboard.oracle.toys import LONGEST, MOST_COLUMNS, MOST_ROWS, cells_of, written
from workbench.dashboard.shared.drawn import Drawn, code, style


class Counts(Drawn):
    """The table; after each edit ``on_change`` is called with the text of the complete table, see `toys.written`."""

    cells = param.List(doc="Texts of the cells, row by row.")
    wrong = param.String(doc="A sentence about what is wrong with them, or nothing.")
    most = param.List(default=[MOST_ROWS, MOST_COLUMNS], doc="Rows and columns there may be.")

    _esm = code("counts")
    _stylesheets = style("counts")

    def __init__(self, counts: str, on_change: Callable[[str], None]):
        self._on_change = on_change
        super().__init__(cells=cells_of(counts))

    def show(self, counts: str) -> None:
        """Show the table that a text describes."""
        self.cells = cells_of(counts)

    def _handle_msg(self, said) -> None:
        """Take a message of the browser: the text typed into a cell, or the new number of rows and columns."""
        try:
            cells = [list(row) for row in self.cells]
            if "size" in said:
                rows, columns = (
                    min(max(int(n), 1), most)
                    for n, most in zip(said["size"], self.most, strict=True)
                )
                cells = [
                    (row + ["0"] * columns)[:columns]
                    for row in [*cells, *[[] for _ in range(rows)]][:rows]
                ]
            else:
                row, column = int(said["row"]), int(said["column"])
                if row < 0 or column < 0:
                    return
                cells[row][column] = str(said["text"])[:LONGEST]
        except (TypeError, ValueError, KeyError, IndexError):  # the message is not from this page
            return
        self._on_change(written(cells))
