"""A small table of counts that is typed into: a row for each document, a column for each word."""

from collections.abc import Callable

import param

from workbench.dashboard.oracle.toys import LONGEST, MOST_COLUMNS, MOST_ROWS, cells_of, written
from workbench.dashboard.shared.drawn import Drawn, code, style


class Counts(Drawn):
    """The table; what is typed goes to ``on_change`` as the text of the whole table, see `toys.written`."""

    cells = param.List(doc="Texts of the cells, row by row.")
    wrong = param.String(doc="A sentence about what is wrong with them, or nothing.")
    most = param.List(default=[MOST_ROWS, MOST_COLUMNS], doc="Rows and columns there may be.")

    _esm = code("counts")
    _stylesheets = style("counts")

    def __init__(self, counts: str, on_change: Callable[[str], None]):
        self._on_change = on_change
        super().__init__(cells=cells_of(counts))

    def show(self, counts: str) -> None:
        """Shows the table of a text."""
        self.cells = cells_of(counts)

    def _handle_msg(self, said) -> None:
        """A cell that was typed, or the number of rows and columns that there are to be."""
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
        except (TypeError, ValueError, KeyError, IndexError):  # not from this page
            return
        self._on_change(written(cells))
