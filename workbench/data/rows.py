"""The columns of a CSV file with a header; separated by comma, semicolon or tab, whichever the header has most of."""

import csv
import io
from pathlib import Path

from workbench.data.encodings import STRICT
from workbench.data.opening import read_text
from workbench.errors import DataError

SEPARATORS = ",;\t"
LONGEST_FIELD = 2**31 - 1  # Python's csv stops at 131,072 characters otherwise


def read_columns(path: Path, encoding: str = STRICT) -> tuple[list[str], list[tuple[str, ...]], list[int]]:
    """The header, a tuple of values for each column, and the line of the file on which each row below the header ends.

    A row of another length than the header, quotes that do not close and bytes that are not of the encoding are refused, with
    the line; see `workbench.data.encodings.decoded`.
    """
    content = read_text(path, encoding)
    first = content.lstrip().split("\n", 1)[0]
    separator = max(SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True)
    limit = csv.field_size_limit(LONGEST_FIELD)
    rows, lines = [], []
    try:
        for row in reader:
            if row:
                rows.append(tuple(row))  # the garbage collector passes tuples of text by, which halves the time
                lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: not a CSV row ({error}); check the quotes") from None
    finally:
        csv.field_size_limit(limit)
    header = [column.strip() for column in rows[0]]
    if wrong := [at for at, row in enumerate(rows) if len(row) != len(header)]:
        raise DataError(
            f"{path}, line {lines[wrong[0]]}: {len(header)} columns were wanted and {len(rows[wrong[0]])} came; "
            f"put double quotes around a text that contains {separator!r}"
        )
    return header, list(zip(*rows[1:], strict=True)) or [()] * len(header), lines[1:]
