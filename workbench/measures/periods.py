"""Years, quarters, months, weeks and days of times: each document's period, and every one from the first to the last."""

import math
import numbers

import numpy as np

from workbench.measures.selection import MeasureError

PERIODS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D"}
"""Period → what pandas calls it."""
DAYS = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
MOST_PERIODS = 10_000
"""From the first to the last; more are a mistake in a date, or too short."""


def fitting_period(times: list, most: int = 40) -> str:
    """The shortest period of which there are at most so many from the first time to the last; for times see `dates_of`."""
    if all(time is None or is_year(time) for time in times):
        return "year"
    dates = dates_of(times)
    span = (dates.max() - dates.min()).days + 1
    return next((name for name, days in reversed(DAYS.items()) if span <= most * days), "year")


def numbered_periods(times: list, period: str):
    """(document,) the number of the period of each time, -1 for none; every period, as pandas has it; what they are called."""
    import pandas as pd

    if period not in PERIODS:
        raise MeasureError(f"the period must be one of {', '.join(PERIODS)}; got {period!r}")
    periods = dates_of(times).to_period(PERIODS[period])
    if not periods.notna().any():
        raise MeasureError("no document has a time; give one for each document, as corpus.times")
    first, last = periods.min(), periods.max()
    if (n := last.ordinal - first.ordinal + 1) > MOST_PERIODS:
        raise MeasureError(
            f"the times go from {first} to {last}, {n:,} periods of a {period}; choose a longer period, or "
            "correct the times"
        )
    every = pd.period_range(first, last)
    called = every.start_time.strftime("%G-W%V") if period == "week" else every.astype(str)
    return (
        np.where(periods.isna(), -1, periods.asi8 - first.ordinal),
        every,
        called.to_numpy(object),
    )


def is_year(time) -> bool:
    try:
        return _year(time) is not None
    except TypeError:
        return False


def dates_of(times: list):
    """The times as a DatetimeIndex, NaT where there is none."""
    import pandas as pd

    found = {None: pd.NaT}
    for at, time in enumerate(times):
        if time in found:
            continue
        try:
            year = _year(time)
            date = pd.to_datetime(time) if year is None else pd.Timestamp(year=year, month=1, day=1)
            found[time] = date.tz_localize(None)
        except (ValueError, TypeError, OverflowError, AttributeError):
            raise MeasureError(
                f"the time of document {at} is {str(time)[:60]!r}, which is no date; write it as "
                "2024-07-31, or as a year"
            ) from None
    return pd.DatetimeIndex([found[time] for time in times])


def _year(time) -> int | None:
    """The year that a whole number or a text of four digits is; None for anything else."""
    if isinstance(time, str):
        return int(time) if len(time.strip()) == 4 and time.strip().isdecimal() else None
    if isinstance(time, numbers.Real) and (
        isinstance(time, bool) or not math.isfinite(time) or time != int(time)
    ):
        raise TypeError
    return int(time) if isinstance(time, numbers.Real) else None
