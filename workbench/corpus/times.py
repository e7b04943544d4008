"""When documents were written: dates of any usual form, or numbers."""

import re
import warnings
from collections.abc import Callable, Sequence

from workbench.corpus.document_table import iso
from workbench.errors import DataError, shown

WHOLE = re.compile(r"[+-]?[0-9]{1,7}(\.0*)?")
COMPACT = re.compile(r"[0-9]{8}")
"""Dates such as 20240731."""
YEAR_FIRST = re.compile(r"[0-9]{4}(?![0-9])")


def times_of(values: Sequence, name: str, where: Callable[[int], str]) -> tuple:
    """(document,) the time of each document: a whole number as it is, a date as text (2024-07-31), None where there is none.

    Dates are read by pandas: in the form of the first one, day before month only where month before day does not fit all of
    them; those of a time zone are converted to UTC. In an error ``where(row)`` says where a value stands, and ``name`` is the
    column.

    Raises
    ------
    DataError
        A value that is neither a date nor a whole number, or a column of both.
    """
    import pandas as pd

    values = list(values)
    there = [row for row, value in enumerate(values) if not _is_missing(value)]
    found: list = [None] * len(values)
    given = [values[row] for row in there]
    texts = [_as_text(value) for value in given]
    if all(isinstance(text, str) and WHOLE.fullmatch(text) for text in texts):
        read = [int(text.partition(".")[0]) for text in texts]
    else:
        read = [iso(moment) for moment in _dates(pd, texts, there, name, where)]
    for row, time in zip(there, read, strict=True):
        found[row] = time
    return tuple(found)


def _is_missing(value) -> bool:
    return value is None or value != value or str(value).strip() in ("", "NaT", "<NA>")


def _as_text(value):
    """Text and numbers as text, dates as they are; pandas would take a number for nanoseconds."""
    value = value.item() if hasattr(value, "item") else value
    whole = isinstance(value, float) and value.is_integer()
    return (
        str(int(value) if whole else value).strip()
        if isinstance(value, str | int | float)
        else value
    )


def _dates(pd, texts: list, rows: list[int], name: str, where: Callable[[int], str]):
    """The dates of texts, dates and times as timestamps without a time zone."""
    forms = [{}, {"format": "ISO8601"}, {"dayfirst": True}, {"format": "mixed"}]
    if all(isinstance(text, str) and COMPACT.fullmatch(text) for text in texts):
        forms = [{"format": "%Y%m%d"}]
    elif all(
        not isinstance(text, str) or YEAR_FIRST.match(text) for text in texts
    ):  # where a day never comes before a month
        forms = forms[:2]
    for form in forms:
        with warnings.catch_warnings():
            # of forms that cannot be inferred, of days taken before months
            warnings.simplefilter("ignore")
            try:
                moments = pd.to_datetime(pd.Series(texts, dtype=object), utc=True, **form)
            except (ValueError, TypeError, OverflowError):
                continue
        return moments.dt.tz_localize(None)
    wrong = next(
        (at for at, text in enumerate(texts) if pd.isna(pd.to_datetime(text, errors="coerce"))), 0
    )
    raise DataError(
        f"{where(rows[wrong])}: {name!r} must be a date, as 2024-07-31, or a whole number, as 2024; it is "
        f"{shown(repr(texts[wrong]))}"
    )
