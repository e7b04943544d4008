"""Read the columns of a table or of JSON lines with their first values, without reading the whole file."""

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from workbench.corpus.document_table import plain_value
from workbench.corpus.formats.readers import FORMATS, format_of
from workbench.corpus.formats.tables import columns_by_name
from workbench.data.encodings import DETECT, STRICT, decoded
from workbench.data.opening import first_bytes, path_of, read_bytes
from workbench.data.rows import columns_of, read_columns

START = 1 << 20
"""Decompressed bytes from which the first rows are read."""
WIDE = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of encodings in which a line end takes several bytes."""
MOST_ROWS, MOST_LETTERS, MOST_COLUMNS = 20, 200, 500
"""Maximum of values per column, of letters of a value or name, and of columns."""


def columns_in(
    path: str | os.PathLike, format: str | None = None, encoding: str = DETECT
) -> dict[str, list[str]]:
    """Return the first values of each column or field as shortened text; {} if the format has no columns.

    Raises
    ------
    CorpusError
        A file that is missing, empty or damaged, or of an unknown format.
    """
    path = path_of(path)
    reader = READERS.get(format_of(path, format))
    if reader is None:
        return {}
    columns = {
        str(name).strip(): values[:MOST_ROWS] for name, values in reader(path, encoding).items()
    }
    return {
        name: [*map(_short, values)]
        for name, values in islice(columns.items(), MOST_COLUMNS)
        if name == _short(name)
    }


def _short(value: object) -> str:
    plain = plain_value(value)
    return "" if plain is None else str(plain)[:MOST_LETTERS]


def _csv_columns(path: Path, encoding: str) -> dict[str, list]:
    """Return the columns of a CSV file with the values of its first complete rows."""
    start = _start(path)
    if len(start) < START or start.startswith(WIDE):
        return columns_by_name(*read_columns(path, encoding)[:2])
    end = len(start)  # of the last line with an even number of quotes before its end
    while (end := start.rfind(b"\n", 0, end)) > 0 and start.count(b'"', 0, end) % 2:
        pass
    rows = start[: end + 1] if end > 0 else start
    return columns_by_name(*columns_of(path, decoded(rows, path, encoding))[:2])


def _json_columns(path: Path, encoding: str) -> dict[str, list]:
    """Return the fields of the first objects of a JSON-lines file; lines that are no objects are ignored."""
    start = _start(path)
    whole = start if len(start) < START else start[: start.rfind(b"\n") + 1]
    lines = decoded(whole, path, STRICT if encoding == DETECT else encoding).split("\n")
    entries = list(islice(_objects(lines), MOST_ROWS))
    return {name: [entry.get(name) for entry in entries] for entry in entries for name in entry}


def _objects(lines: list[str]) -> Iterator[dict]:
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield entry


def _frame_columns(path: Path, encoding: str) -> dict[str, list]:
    """Return the columns of a Parquet or Excel file with the values of its first rows."""
    frame = FORMATS[format_of(path)].first_rows(path, MOST_ROWS)
    return {str(name): frame.iloc[:, column].tolist() for column, name in enumerate(frame.columns)}


def _start(path: Path) -> bytes:
    """Return the first bytes of a file, decompressed."""
    start = first_bytes(path, START)
    return start if start.strip() else read_bytes(path)[:START]  # which raises the error


READERS = {
    "csv": _csv_columns,
    "jsonl": _json_columns,
    "parquet": _frame_columns,
    "excel": _frame_columns,
}
