"""The years of documents as whole numbers, and the years of a corpus, without a gap from the first to the last."""

import math
import numbers
import re
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import Corpus
from workbench.errors import DataError

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MOST_YEARS = 10_000
"""From the first year to the last; more is taken for days or seconds."""


class Years(NamedTuple):
    """Every year from the first to the last, and which of them each document is of."""

    first: int
    n: int
    of_documents: np.ndarray  # (document,) int64: its year less the first

    @property
    def labels(self) -> range:
        """The years, those without a document included."""
        return range(self.first, self.first + self.n)


def years_of(corpus: Corpus) -> Years:
    """Return the years of a corpus, from its ``times``.

    Raises
    ------
    DataError
        Where it has no times, one is no whole number (1987, 1987.0, "1987" and "1987-06-30" are), or they are too far apart.
    """
    if corpus.times is None:
        raise DataError(
            f"topics over time need the year of each document, and {corpus.name!r} has none; "
            "give times, as the corpus nips has"
        )
    years = np.array([_whole(corpus, d) for d in range(corpus.n_documents)], np.int64)
    first, n = int(years.min()), int(years.max()) - int(years.min()) + 1
    if n > MOST_YEARS:
        raise DataError(
            f"the times of {corpus.name!r} go from {first} to {first + n - 1}; topics over time take at most {MOST_YEARS} "
            "years: give years, or count time in larger steps"
        )
    return Years(first, n, years - first)


def nearest_years(corpus: Corpus, first: int, n: int) -> np.ndarray:
    """Return (document,) int64 the nearest of n years, counted from the first; unknown ones become the last."""
    years = np.full(corpus.n_documents, n - 1, np.int64)
    for d, time in enumerate(corpus.times or ()):
        if time is not None:
            years[d] = min(max(_whole(corpus, d) - first, 0), n - 1)
    return years


def _whole(corpus: Corpus, d: int) -> int:
    """Return the time of a document as a whole number; raise an error where it is none."""
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
