"""Times of documents: dates in any common form, or numbers; and the years of a corpus, without gaps."""

from __future__ import annotations

import math
import numbers
import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.corpus.document_table import iso
from workbench.data.reading import note
from workbench.errors import DataError, InputError, shown

if TYPE_CHECKING:
    import pandas as pd

    from workbench.corpus.corpus import Corpus

WHOLE = re.compile(r"[+-]?[0-9]{1,7}(\.0*)?")
COMPACT = re.compile(r"[0-9]{8}")
"""Dates such as 20240731."""
LEAVE, REFUSE = "leave", "refuse"
ON_BAD = (LEAVE, REFUSE)
"""What is done with a value that is no date: the document has no date, or the data are refused."""
MOST_BAD = 10
"""Maximum of wrong values in a sentence."""
YEAR_FIRST = re.compile(r"[0-9]{4}(?![0-9])")


def times_of(
    values: Sequence, name: str, where: Callable[[int], str], on_bad: str = LEAVE
) -> tuple:
    """Return each document's time: a whole number, a date as text (2024-07-31), or None if missing or no date.

    Dates are read by pandas: in the form of the first one, day before month only where month before day does not fit all of
    them; those of a time zone are converted to UTC. ``where(row)`` and ``name`` are the place of a value and
    the column, for errors. What is no date is noted (see `workbench.data.reading`) and warned of.

    Raises
    ------
    DataError
        No value is a date or a whole number; or one is not, and ``on_bad`` is "refuse".
    """
    import pandas as pd

    values = list(values)
    rows = [row for row, value in enumerate(values) if not _is_missing(value)]
    texts = [_as_text(values[row]) for row in rows]
    parsed = [
        int(text.partition(".")[0]) if isinstance(text, str) and WHOLE.fullmatch(text) else None
        for text in texts
    ]
    if None in parsed:
        parsed = min(parsed, _dates(pd, texts), key=lambda candidate: candidate.count(None))
    times = dict(zip(rows, parsed, strict=True))
    if bad := [row for row, time in times.items() if time is None]:
        sentence = (
            f"{where(bad[0])}: {name!r} must be a date, as 2024-07-31, or a whole number, as 2024; it is "
            f"{shown(repr(texts[rows.index(bad[0])]))}"
        )
        if on_bad == REFUSE or len(bad) == len(rows):
            raise DataError(sentence)
        left_out = (
            f"{len(bad):,} of {len(rows):,} values of {name!r} are no dates and were left out: "
            f"{listed(bad, values, where)}"
        )
        note("left_out", bad_dates=len(bad))
        note("found", bad_dates=left_out)
        warnings.warn(left_out, stacklevel=2)
    return tuple(map(times.get, range(len(values))))


def listed(rows: Sequence[int], values: Sequence, where: Callable[[int], str]) -> str:
    """Return line numbers and values of the first rows as text, such as "line 3 'n/a', line 8 ''"."""
    first = rows[:MOST_BAD]
    lines = [f"{where(row).rpartition(', ')[2]} {shown(repr(values[row]))}" for row in first]
    return ", ".join(lines) + " …" * (len(rows) > MOST_BAD)


def _is_missing(value: object) -> bool:
    return value is None or value != value or str(value).strip() in ("", "NaT", "<NA>")


def _as_text(value: object):
    """Return a number or text as text, and a date unchanged; pandas would read a number as nanoseconds."""
    value = value.item() if hasattr(value, "item") else value
    whole = isinstance(value, float) and value.is_integer()
    return (
        str(int(value) if whole else value).strip()
        if isinstance(value, str | int | float)
        else value
    )


def _dates(pd, texts: list) -> list[str | None]:
    """Return texts and dates as ISO dates without a time zone; None for an entry that is no date."""
    moments, positions = _parse_dates(pd, texts), range(len(texts))
    if moments is None:
        one_by_one = {"utc": True, "errors": "coerce", "format": "mixed"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dates_found = pd.to_datetime(pd.Series(texts, dtype=object), **one_by_one)
        dates_found = dates_found.dropna().dt.tz_localize(None)
        positions = dates_found.index
        moments = _parse_dates(pd, [texts[index] for index in positions])
        moments = dates_found if moments is None else moments
    dates = dict(zip(positions, map(iso, moments), strict=True))
    return [dates.get(index) for index in range(len(texts))]


def _parse_dates(pd, texts: list):
    """Parse texts and dates by the first date format that fits all; return timestamps without time zone, or None."""
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
    return None


DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MOST_YEARS = 10_000
"""Maximum of years from the first to the last; numbers further apart are taken for days or seconds."""


class Years(NamedTuple):
    """The range of years that a corpus spans, and the year of each document."""

    first: int
    n: int
    of_documents: np.ndarray  # (document,) int64: year of each, counted from the first

    @property
    def labels(self) -> range:
        """The years, including those without a document."""
        return range(self.first, self.first + self.n)


def years_of(corpus: Corpus) -> Years:
    """Return the years of a corpus, from its ``times``.

    Raises
    ------
    DataError
        If it has no times, if they are too far apart, or if one has no year (1987, 1987.0, "1987" and "1987-06-30" have one).
    """
    if corpus.times is None:
        raise DataError(
            f"topics over time need the year of each document, and {corpus.name!r} has none; "
            "give times, as the corpus nips has"
        )
    years = np.array([_whole_year(corpus, d) for d in range(corpus.n_documents)], np.int64)
    first, n = int(years.min()), int(years.max()) - int(years.min()) + 1
    if n > MOST_YEARS:
        raise DataError(
            f"the times of {corpus.name!r} go from {first} to {first + n - 1}; topics over time take at most {MOST_YEARS} "
            "years: give years, or count time in larger steps"
        )
    return Years(first, n, years - first)


def nearest_years(corpus: Corpus, first: int, n: int) -> np.ndarray:
    """Return each document's year minus ``first`` (document,) int64, clipped to 0 … n - 1; n - 1 if it is unknown."""
    years = np.full(corpus.n_documents, n - 1, np.int64)
    for d, time in enumerate(corpus.times or ()):
        if time is not None:
            years[d] = min(max(_whole_year(corpus, d) - first, 0), n - 1)
    return years


def _whole_year(corpus: Corpus, d: int) -> int:
    """Return the year of document ``d`` as a whole number; raise an error if its time is no year or date."""
    time = corpus.times[d]
    if isinstance(time, str) and DATE.match(time):
        return int(time[:4])
    try:
        number = (
            float(time)
            if isinstance(time, (str, numbers.Real)) and not isinstance(time, bool)
            else math.nan
        )
    except ValueError:
        number = math.nan
    if not number.is_integer() or abs(number) > 2**53:
        raise DataError(
            f"the time of a document must be a year, a whole number; that of {corpus.titles[d]!r} is {time!r}"
        )
    return int(number)


def dates_of(times: list, error: type[InputError] = DataError) -> pd.DatetimeIndex:
    """Return the times as a DatetimeIndex, with NaT for missing ones; raise ``error`` for one that is no date."""
    import pandas as pd

    texts = [*dict.fromkeys(each for each in times if isinstance(each, str) and not year_in(each))]
    date_of = {None: pd.NaT}
    # if a text is no date, the loop below says which
    with suppress(ValueError, TypeError, OverflowError, AttributeError):
        date_of |= zip(texts, pd.to_datetime(texts, format="mixed").tz_localize(None), strict=True)
    for document, time in enumerate(times):
        if time in date_of:
            continue
        try:
            year = year_in(time)
            if year is None and isinstance(time, numbers.Real):
                raise TypeError
            date = pd.to_datetime(time) if year is None else pd.Timestamp(year=year, month=1, day=1)
            date_of[time] = date.tz_localize(None)
        except (ValueError, TypeError, OverflowError, AttributeError):
            raise error(
                f"the time of document {document} is {str(time)[:60]!r}, which is no date; write it as "
                "2024-07-31, or as a year"
            ) from None
    return pd.DatetimeIndex([date_of[time] for time in times])


def year_in(time: object) -> int | None:
    """Return a time as a year if it is a whole number or text of four digits, else None."""
    if isinstance(time, str):
        is_year = len(time.strip()) == 4 and time.strip().isdecimal()
    elif isinstance(time, numbers.Real) and not isinstance(time, bool):
        is_year = math.isfinite(time) and time == int(time)
    else:
        is_year = False
    return int(time) if is_year else None
