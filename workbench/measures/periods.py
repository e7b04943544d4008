"""Calendar periods: the year, quarter, month, week or day of each time, and all periods from the first to the last."""

import math
import numbers

import numpy as np

from workbench.measures.selection import MeasureError

PERIODS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D"}
"""Period → its pandas frequency."""
DAYS = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
MOST_PERIODS = 10_000
"""Maximum of periods from the first to the last; more indicate a wrong date or too short a period."""


def fitting_period(times: list, most: int = 40) -> str:
    """Return the shortest period length for which at most ``most`` periods span the times; "year" for years."""
    if all(time is None or is_year(time) for time in times):
        return "year"
    dates = dates_of(times)
    span = (dates.max() - dates.min()).days + 1
    return next((name for name, days in reversed(DAYS.items()) if span <= most * days), "year")


def numbered_periods(times: list, period: str):
    """Return each document's period index (document,), -1 for none; the pandas periods; and the period names."""
    import pandas as pd

    if period not in PERIODS:
        raise MeasureError(f"the period must be one of {', '.join(PERIODS)}; got {period!r}")
    periods = dates_of(times).to_period(PERIODS[period])
    if not periods.notna().any():
        raise MeasureError("no document has a time; give one for each document, as corpus.times")
    first, last = periods.min(), periods.max()
    if (n := last.ordinal - first.ordinal + 1) > MOST_PERIODS:
        raise MeasureError(
            f"the times span {n:,} periods of a {period}, from {first} to {last}; choose a longer period, or "
            "correct the times"
        )
    all_periods = pd.period_range(first, last)
    names = (
        all_periods.start_time.strftime("%G-W%V") if period == "week" else all_periods.astype(str)
    )
    return (
        np.where(periods.isna(), -1, periods.asi8 - first.ordinal),
        all_periods,
        names.to_numpy(object),
    )


def is_year(time: object) -> bool:
    """Return whether a time is a year: a whole number, or text of four digits."""
    try:
        return _year(time) is not None
    except TypeError:
        return False


def dates_of(times: list):
    """Return the times as a DatetimeIndex, with NaT for missing ones."""
    import pandas as pd

    date_of = {None: pd.NaT}
    for document, time in enumerate(times):
        if time in date_of:
            continue
        try:
            year = _year(time)
            date = pd.to_datetime(time) if year is None else pd.Timestamp(year=year, month=1, day=1)
            date_of[time] = date.tz_localize(None)
        except (ValueError, TypeError, OverflowError, AttributeError):
            raise MeasureError(
                f"the time of document {document} is {str(time)[:60]!r}, which is no date; write it as "
                "2024-07-31, or as a year"
            ) from None
    return pd.DatetimeIndex([date_of[time] for time in times])


def _year(time: object) -> int | None:
    """Return a time as a year if it is a whole number or text of four digits, else None."""
    if isinstance(time, str):
        return int(time) if len(time.strip()) == 4 and time.strip().isdecimal() else None
    if isinstance(time, numbers.Real) and (
        isinstance(time, bool) or not math.isfinite(time) or time != int(time)
    ):
        raise TypeError
    return int(time) if isinstance(time, numbers.Real) else None
