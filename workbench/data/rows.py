"""The columns of a CSV file with a header, in any dialect that Python's csv module reads.

Columns are separated by comma, semicolon, tab or bar, whichever the header has most of, or as a first line ``sep=;`` says.
Blanks before a quote and quotes after a backslash are seen to where the file cannot be read otherwise.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.data.encodings import STRICT
from workbench.data.opening import read_text
from workbench.errors import DataError

SEPARATORS = ",;\t|"
WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "none": None}
"""What a character may be called where it cannot well be typed."""
SAYS = re.compile(r"\ufeff?sep=([^\w\r\n\"'])\r?\n")
"""The first line by which a spreadsheet says what separates."""
LONGEST_FIELD = 2**31 - 1  # Python's csv stops at 131,072 characters otherwise


class Dialect(NamedTuple):
    """The characters of a CSV file with a meaning of their own."""

    separator: str | None = None    # None: found
    quote: str | None = '"'         # None: none
    escape: str | None = None       # what takes the meaning from the next character; None: found
    comment: str | None = None      # lines that begin with it are left out

    def checked(self) -> "Dialect":
        """The same with characters for their names; what is none, or has two meanings, is a DataError."""
        given = {name: WORDS.get(value, value) if isinstance(value, str) else value for name, value in self._asdict().items()}
        for name, value in given.items():
            if value is not None and (not isinstance(value, str) or len(value) != 1 or value in "\r\n"):
                raise DataError.must_be(name, "one character, tab, space or none", value)
        named = {name: value for name, value in given.items() if value is not None}
        if len(set(named.values())) < len(named):
            raise DataError(f"the characters of a CSV file must differ; {', '.join(f'{n}={v!r}' for n, v in named.items())}")
        return Dialect(**given)


class Table(NamedTuple):
    """Rows as they stand in a file, the header first."""

    rows: list[tuple[str, ...]]
    lines: list[int]                # on which each row ends


def read_columns(
    path: Path, encoding: str = STRICT, dialect: Dialect | None = None,
) -> tuple[list[str], list[tuple[str, ...]], list[int]]:
    """The header, a tuple of values for each column, and the line of the file on which each row below the header ends.

    A row of another length than the header, quotes that do not close and bytes that are not of the encoding are refused, with
    the line; see `workbench.data.encodings.decoded`.
    """
    table = _table(path, read_text(path, encoding), (dialect or Dialect()).checked())
    header = [column.strip() for column in table.rows[0]]
    return header, list(zip(*table.rows[1:], strict=True)) or [()] * len(header), table.lines[1:]


def header_of(content: str, comment: str | None = None) -> str:
    """The first line that is neither blank nor a comment, nor says what separates."""
    content = SAYS.sub("", content, count=1) if SAYS.match(content) else content
    lines = (line for line in io.StringIO(content) if line.strip() and not (comment and line.startswith(comment)))
    return next(lines, "")


def separator_of(content: str, comment: str | None = None) -> str:
    """What separates columns: as the first line says, else what the header has most of."""
    if said := SAYS.match(content):
        return said[1]
    return max(SEPARATORS, key=header_of(content, comment).count)


def _table(path: Path, content: str, dialect: Dialect) -> Table:
    """The rows in the first form that fits: as they are; without blanks before quotes; with quotes after a backslash."""
    separator = dialect.separator or separator_of(content, dialect.comment)
    quote = dialect._replace(separator=separator).checked().quote
    form = {"delimiter": separator, "quotechar": quote, "escapechar": dialect.escape}
    forms = [form if quote else form | {"quoting": csv.QUOTE_NONE}]
    if quote and re.search(f"{re.escape(separator)} +{re.escape(quote)}", content):
        forms.append(form | {"skipinitialspace": True})
    if quote not in (None, "\\") and dialect.escape is None and f"\\{quote}" in content:
        forms += [form | {"escapechar": "\\"} for form in forms]
    fitting, errors = None, []
    for form in forms:
        try:
            found = _in_form(path, content, dialect.comment, form)
        except DataError as error:
            errors.append(error)
            continue
        if len(forms) == 1 or not any(_is_quoted(value, quote) for row in found.rows for value in row):
            return found
        fitting = fitting or found
    if fitting is None:
        raise errors[0]
    return fitting


def _is_quoted(value: str, quote: str) -> bool:
    """Is a quote left that stands after blanks?"""
    return value[:1] == " " and value.lstrip(" ")[:1] == quote


class _Lines:
    """The lines of a file without comments between rows, and the number of the one that was read last."""

    def __init__(self, content: str, comment: str | None):
        said = SAYS.match(content)
        self._rest = io.StringIO(content[said.end():] if said else content, newline="")
        self._comment, self.number, self.begins_row = comment, int(said is not None), True

    def __iter__(self) -> Iterator[str]:
        for line in self._rest:
            self.number += 1
            if self._comment is None or not (self.begins_row and line.startswith(self._comment)):
                self.begins_row = False
                yield line


def _in_form(path: Path, content: str, comment: str | None, form: dict) -> Table:
    """The rows of a file, all of one length."""
    reading, rows, lines = _Lines(content, comment), [], []
    limit = csv.field_size_limit(LONGEST_FIELD)
    try:
        for row in csv.reader(reading, strict=True, **form):
            if row:
                rows.append(tuple(row))  # the garbage collector passes tuples of text by, which halves the time
                lines.append(reading.number)
            reading.begins_row = True
    except csv.Error as error:
        raise DataError(f"{path}, line {reading.number}: not a CSV row ({error}); check the quotes") from None
    finally:
        csv.field_size_limit(limit)
    if not rows:
        raise DataError(f"{path} holds nothing but comments; a header and rows were wanted")
    if wrong := [at for at, row in enumerate(rows) if len(row) != len(rows[0])]:
        raise DataError(
            f"{path}, line {lines[wrong[0]]}: {len(rows[0])} columns were wanted and {len(rows[wrong[0]])} came; "
            f"put double quotes around a text that contains {form['delimiter']!r}"
        )
    return Table(rows, lines)
