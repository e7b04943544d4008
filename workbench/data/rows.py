"""Read the columns of a CSV file with a header, in any dialect that Python's csv module reads.

The separator is comma, semicolon, tab or bar, whichever the header has most of, or that of a first line ``sep=;``.
Blanks before a quote and quotes after a backslash are allowed if the file cannot be read otherwise.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from workbench.data.blocks import batched
from workbench.data.encodings import STRICT
from workbench.data.opening import LONGEST_LINE, encoding_of, read_text, text_lines, text_of
from workbench.data.reading import note
from workbench.errors import DataError

SEPARATORS = ",;\t|"
WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "none": None}
"""Names for characters that are hard to type."""
SAYS = re.compile(r"\ufeff?sep=([^\w\r\n\"'])\r?\n")
"""The first line with which a spreadsheet states the separator."""
HEAD = 1 << 20
"""Characters that are read at a time; the first piece holds the header."""
LONGEST_FIELD = 2**31 - 1  # Python's csv stops at 131,072 characters otherwise


class Dialect(NamedTuple):
    """The special characters of a CSV file: separator, quote, escape, comment."""

    separator: str | None = None  # None: detected
    quote: str | None = '"'  # None: no quotes
    escape: str | None = None  # removes the special meaning of the next character; None: detected
    comment: str | None = None  # begins lines that are left out

    def checked(self) -> "Dialect":
        """Return the dialect with "tab" and the like as characters; raise DataError for an invalid or repeated one."""
        options = {
            name: WORDS.get(value, value) if isinstance(value, str) else value
            for name, value in self._asdict().items()
        }
        for name, value in options.items():
            if value is not None and (
                not isinstance(value, str) or len(value) != 1 or value in "\r\n"
            ):
                raise DataError.must_be(name, "one character, tab, space or none", value)
        characters = {name: value for name, value in options.items() if value is not None}
        if len(set(characters.values())) < len(characters):
            raise DataError(
                f"the characters of a CSV file must differ; {', '.join(f'{n}={v!r}' for n, v in characters.items())}"
            )
        return Dialect(**options)


def read_columns(
    path: Path,
    encoding: str = STRICT,
    dialect: Dialect | None = None,
) -> tuple[list[str], list[tuple[str, ...]], list[int]]:
    """Return the header, the values of each column, and the line on which each row ends.

    Raise an error that names the line for a row of another length than the header, quotes that do not close, and bytes that
    are invalid in the encoding; see `workbench.data.encodings.decoded`.
    """
    return columns_of(path, read_text(path, encoding), dialect)


def columns_of(
    path: Path, content: str, dialect: Dialect | None = None
) -> tuple[list[str], list[tuple[str, ...]], list[int]]:
    """Return header, column values and line numbers, as `read_columns` does, from the text of a file."""
    dialect = (dialect or Dialect()).checked()
    separator = dialect.separator or separator_of(content, dialect.comment)
    note("found", separator=separator)
    dialect = dialect._replace(separator=separator).checked()

    def rows(form: dict) -> Iterator[tuple[tuple[str, ...], int]]:
        return _rows_in(
            path, _Lines(io.StringIO(content, newline=""), dialect.comment), form, LONGEST_FIELD
        )

    form = _fitting(_forms(dialect, [content]), rows, dialect.quote)
    (names, *values), (_, *lines) = zip(*rows(form), strict=True)
    header = [name.strip() for name in names]
    return header, list(zip(*values, strict=True)) or [()] * len(header), lines


def stream_columns(
    path: Path,
    encoding: str = STRICT,
    dialect: Dialect | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[list[str], Iterator[tuple[list[tuple[str, ...]], list[int]]]]:
    """Return the header and an iterator over blocks of rows, each as (values of each column, line numbers of the rows).

    The file is read several times. Raise an error for a line, or a value in quotes, of over `LONGEST_LINE` characters.
    """
    dialect = (dialect or Dialect()).checked()
    encoding = encoding_of(path, encoding)
    with text_of(path, encoding, "") as file:
        start = file.read(HEAD)
    separator = dialect.separator or separator_of(start, dialect.comment)
    note("found", separator=separator)
    dialect = dialect._replace(separator=separator).checked()

    def rows(
        form: dict, progress: Callable[[float], None] | None = None
    ) -> Iterator[tuple[tuple[str, ...], int]]:
        with text_of(path, encoding, "", progress) as file:
            yield from _rows_in(
                path, _Lines(text_lines(file, path), dialect.comment), form, LONGEST_LINE
            )

    def texts() -> Iterator[str]:
        with text_of(path, encoding, "") as file:
            yield from iter(partial(file.read, HEAD), "")

    form = _fitting(_forms(dialect, texts()), rows, dialect.quote)
    header, _ = next(rows(form))

    def batches() -> Iterator[tuple[list[tuple[str, ...]], list[int]]]:
        columns = islice(rows(form, progress), 1, None)
        for batch in batched(columns, lambda row: sum(map(len, row[0]))):
            values, lines = zip(*batch, strict=True)
            yield list(zip(*values, strict=True)), list(lines)

    return [column.strip() for column in header], batches()


def header_of(content: str, comment: str | None = None) -> str:
    """Return the first line that is not blank, a comment or a ``sep=`` line."""
    content = SAYS.sub("", content, count=1) if SAYS.match(content) else content
    lines = (
        line
        for line in io.StringIO(content)
        if line.strip() and not (comment and line.startswith(comment))
    )
    return next(lines, "")


def separator_of(content: str, comment: str | None = None) -> str:
    """Return the separator of columns: from a ``sep=`` line, else the one most frequent in the header."""
    if match := SAYS.match(content):
        return match[1]
    return max(SEPARATORS, key=header_of(content, comment).count)


def _forms(dialect: Dialect, texts: Iterable[str]) -> list[dict]:
    """Return csv settings to try: the dialect and, if the texts have such, also with blanks before quotes, with escapes."""
    separator, quote = dialect.separator, dialect.quote
    form = {"delimiter": separator, "quotechar": quote, "escapechar": dialect.escape}
    forms = [form if quote else form | {"quoting": csv.QUOTE_NONE}]
    escapes = quote not in (None, "\\") and dialect.escape is None
    blanks = escaped = False
    end = ""
    for text in texts if quote else ():
        text = end + text
        blanks = (
            blanks or re.search(f"{re.escape(separator)} +{re.escape(quote)}", text) is not None
        )
        escaped = escaped or (escapes and f"\\{quote}" in text)
        # what a pattern may begin with that ends in the next piece
        end = text[len(text.rstrip(" ")) - 1 :]
    if blanks:
        forms.append(form | {"skipinitialspace": True})
    return (
        forms + [form_of_quotes | {"escapechar": "\\"} for form_of_quotes in forms]
        if escaped
        else forms
    )


def _fitting(
    forms: list[dict],
    rows: Callable[[dict], Iterator[tuple[tuple[str, ...], int]]],
    quote: str | None,
) -> dict:
    """Return the first settings by which all rows are read, if possible with no value that begins with blank and quote."""
    if len(forms) == 1:
        return forms[0]
    fitting, errors = None, []
    for form in forms:
        try:
            values = (value for row, _ in rows(form) for value in row)
            if not any(text[:1] == " " and text.lstrip(" ")[:1] == quote for text in values):
                return form
            deque(rows(form), maxlen=0)
            fitting = fitting or form
        except DataError as error:
            errors.append(error)
    if fitting is None:
        raise errors[0]
    return fitting


class _Lines:
    """An iterator over the lines of a file that skips comments and counts all lines read."""

    def __init__(self, lines: Iterable[str], comment: str | None):
        self._rest, self._comment, self.number, self.begins_row = lines, comment, 0, True
        self.n_comments = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._rest:
            self.number += 1
            if self.number == 1 and SAYS.fullmatch(line):
                continue
            if self._comment is None or not (self.begins_row and line.startswith(self._comment)):
                self.begins_row = False
                yield line
            else:
                self.n_comments += 1


def _next_row(rows: Iterator[list[str]], longest: int) -> list[str] | None:
    """Return the next row, or None at the end; raise csv.Error for a value of more than ``longest`` characters.

    The limit is one of the process: between two rows it is that of others, also while a reader is left in the middle.
    """
    limit = csv.field_size_limit(longest)
    try:
        return next(rows, None)
    finally:
        csv.field_size_limit(limit)


def _rows_in(
    path: Path, reading: _Lines, form: dict, longest: int
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each row of a file with the line on which it ends; raise an error for unequal lengths or too long a value."""
    rows, length = csv.reader(reading, strict=True, **form), None
    try:
        while (row := _next_row(rows, longest)) is not None:
            if row:
                length = length or len(row)
                if len(row) != length:
                    raise DataError(
                        f"{path}, line {reading.number}: {length} columns were wanted and {len(row)} came; "
                        f"put double quotes around a text that contains {form['delimiter']!r}"
                    )
                # the garbage collector passes tuples of text by, which halves the time
                yield tuple(row), reading.number
            reading.begins_row = True
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reading.number}: not a CSV row ({error}); check the quotes"
        ) from None
    if reading.n_comments:
        note("left_out", comments=reading.n_comments)
    if length is None:
        raise DataError(f"{path} holds nothing but comments; a header and rows were wanted")
