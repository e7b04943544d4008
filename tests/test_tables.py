"""A table as text of every kind: the same cells, numbers as `workbench.numbers` writes them, and nothing read as markup."""

import io
import math

import pytest
from rich.console import Console

from workbench.tables import Column, Table, numbers, texts

HOSTILE = '<script>alert(1)</script>|"[red]'


@pytest.fixture
def table() -> Table:
    columns = [
        *texts("run"),
        *numbers("K"),
        *numbers("share", kind="share", digits=1),
        *numbers("time", kind="duration"),
        Column("difference", kind="number", digits=2, sign=True, unit="nats"),
        *texts("empty"),
    ]
    rows = [
        (HOSTILE, 1200, 0.123, 65, -1.5, None),
        ("b", "3 (of 10)", math.nan, None, "reference", ""),
    ]
    return Table(columns, rows, "runs")


def test_cells_are_written_as_the_kind_of_their_column_says(table):
    assert table.cells() == [
        [HOSTILE, "1,200", "12.3 %", "1 min 05 s", "−1.50 nats", ""],
        ["b", "3 (of 10)", "–", "–", "reference", ""],
    ]


def test_markdown_escapes_bars_and_aligns_numbers_right():
    text = Table([Column("a|b"), *numbers("n")], [("c|d\ne", 2)]).markdown()
    assert text == "| a\\|b | n |\n|---|---:|\n| c\\|d e | 2 |\n"


def test_html_escapes_every_text(table):
    html = table.html()
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_a_terminal_shows_brackets_as_they_are(table):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(table.rich())
    assert HOSTILE in console.export_text()


def test_columns_without_any_value_are_left_out(table):
    assert [column.name for column in table.without_empty_columns().columns] == [
        "run",
        "K",
        "share",
        "time",
        "difference",
    ]
    assert [column.name for column in Table(texts("a"), []).without_empty_columns().columns] == []
