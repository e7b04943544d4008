"""HTML of an object for notebooks: a heading and a table of names and values, without a style."""

from collections.abc import Iterable
from html import escape


def facts(heading: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return (name, value) rows as an HTML table for notebooks; rows without a value are left out."""
    cells = "".join(
        f'<tr><th style="text-align: left">{escape(name)}</th><td style="text-align: left">{escape(_text_of(value))}</td></tr>'
        for name, value in rows
        if value not in (None, "")
    )
    return f"<div><strong>{escape(heading)}</strong><table>{cells}</table></div>"


def _text_of(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
