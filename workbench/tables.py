"""Tables: columns and rows, as text for a terminal, Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import escape

from workbench.numbers import DASH, format_duration, format_number

if TYPE_CHECKING:
    from rich.table import Table as RichTable


class Column(NamedTuple):
    """A column of a `Table`: its name and the format of its values; a value None is missing."""

    name: str
    label: str | None = None  # heading; None: the name
    kind: str = "text"  # text, number, share or duration
    digits: int = 0
    unit: str = ""
    sign: bool = False
    wide: bool = False  # whether texts may have several lines
    meaning: str = ""  # hover text of the heading on a page

    @property
    def heading(self) -> str:
        return self.name if self.label is None else self.label

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    def shown(self, value: object) -> str:
        """Format one value of the column as text; a missing number becomes a dash."""
        if isinstance(value, str):
            return value
        if self.is_text:
            return "" if value is None else str(value)
        if self.kind == "duration":
            return format_duration(value)
        if self.kind == "share":
            return format_number(value and 100 * value, self.digits, unit="%")
        return format_number(value, self.digits, self.sign, self.unit)


def texts(*names: str) -> list[Column]:
    """Return text columns with these names."""
    return [Column(name) for name in names]


def numbers(*names: str, **settings) -> list[Column]:
    """Return columns of numbers with these names, shown without decimals by default."""
    return [Column(name, **{"kind": "number"} | settings) for name in names]


class Table:
    """A table: its columns, and rows with one value per column."""

    def __init__(
        self, columns: Iterable[Column], rows: Iterable[Sequence | Mapping], caption: str = ""
    ):
        self.columns, self.caption = list(columns), caption
        names = [column.name for column in self.columns]
        self.rows = [
            [row[name] for name in names] if isinstance(row, Mapping) else list(row) for row in rows
        ]

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self) -> list[list[str]]:
        """Return the text of every cell, row by row."""
        return [
            [column.shown(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def without_empty_columns(self) -> Table:
        """Return the table without the columns in which every cell is empty or a dash."""
        cells = self.cells()
        positions = [
            position
            for position in range(len(self.columns))
            if any(row[position] not in ("", DASH) for row in cells)
        ]
        rows = [[row[position] for position in positions] for row in self.rows]
        return Table([self.columns[position] for position in positions], rows, self.caption)

    def markdown(self) -> str:
        """Return the table as Markdown; vertical bars in cells are escaped, line breaks become blanks."""
        lines = [[column.heading for column in self.columns], *self.cells()]
        heading, *rows = (f"| {' | '.join(map(_markdown_cell, line))} |\n" for line in lines)
        rule = "|".join("---" if column.is_text else "---:" for column in self.columns)
        return f"{heading}|{rule}|\n{''.join(rows)}"

    def latex(self) -> str:
        """Return the table as a LaTeX tabular with the rules of the package booktabs."""
        import pandas as pd

        headings = [column.heading for column in self.columns]
        alignment = "".join(
            "p{0.6\\linewidth}" if column.wide else "l" if column.is_text else "r"
            for column in self.columns
        )
        style = pd.DataFrame(self.cells(), columns=headings).style.hide(axis="index")
        text = (
            style.format(escape="latex")
            .format_index(escape="latex", axis=1)
            .to_latex(hrules=True, column_format=alignment)
        )
        for sign, command in (("±", "$\\pm$"), ("−", "$-$"), ("…", "\\ldots{}"), ("–", "--")):
            text = text.replace(sign, command)
        return text

    def html(self, attributes: Sequence[Mapping[str, str]] = ()) -> str:
        """Return the table as HTML with ``attributes`` for each row; every text is escaped, except `markupsafe.Markup`.

        Numbers have the class ``n``; there is no other style.
        """
        kinds = ["" if column.is_text else ' class="n"' for column in self.columns]
        head = "".join(
            f'<th scope="col"{kind}{_attributes({"title": column.meaning})}>{escape(column.heading)}</th>'
            for kind, column in zip(kinds, self.columns, strict=True)
        )
        rows = ""
        for (first, *cells_after_first), row_attributes in zip_longest(
            self.cells(), attributes, fillvalue={}
        ):
            cells = "".join(
                f"<td{kind}>{escape(cell)}</td>"
                for kind, cell in zip(kinds[1:], cells_after_first, strict=True)
            )
            rows += (
                f'<tr{_attributes(row_attributes)}><th scope="row">{escape(first)}</th>{cells}</tr>'
            )
        return (
            f'<table aria-label="{escape(self.caption)}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table>"
        )

    def rich(self) -> RichTable:
        """Return the table for a terminal; long cells are wrapped, and markup in cells is not interpreted."""
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=None, pad_edge=False, header_style="bold")
        for column in self.columns:
            justify = "left" if column.is_text else "right"
            table.add_column(Text(column.heading), justify=justify, overflow="fold")
        for row in self.cells():
            table.add_row(*map(Text, row))
        return table


def _attributes(attributes: Mapping[str, str]) -> str:
    """Return the attributes of an HTML element as text, leaving out those with an empty value."""
    return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)


def _markdown_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
