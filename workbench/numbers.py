"""Format numbers for people, in the same form in pages, tables and the command line; and parse them."""

import math
from collections.abc import Sequence

DASH = "–"
"""Shown in place of a missing number."""
MIB, GIB = 1 << 20, 1 << 30


def format_number(value: float | None, digits: int = 1, sign: bool = False, unit: str = "") -> str:
    """Return a number as text with thousands separators; a dash for None, NaN and infinity."""
    if value is None or not math.isfinite(value):
        return DASH
    text = f"{value:{'+' if sign else ''},.{digits}f}".replace("-", "−")
    return f"{text} {unit}" if unit else text


def format_with_error(mean: float, error: float, digits: int = 1, sign: bool = False) -> str:
    """Return "mean ± standard error"; only the mean if the error is NaN."""
    text = format_number(mean, digits, sign)
    is_known = math.isfinite(mean) and math.isfinite(error)
    return f"{text} ± {format_number(error, digits)}" if is_known else text


def format_interval(low: float, high: float, digits: int = 1, sign: bool = False) -> str:
    """Return an interval, as in "2,210.4 … 2,319.0"; "" if an end is missing."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"{format_number(low, digits, sign)} … {format_number(high, digits, sign)}"


def format_duration(seconds: float | None) -> str:
    """Return a duration as text with units: 3.2 s, 1 min 05 s, 2 h 10 min; a dash for None, NaN and infinity."""
    if seconds is None or seconds < 59.95 or not math.isfinite(seconds):
        return format_number(seconds, unit="s")
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def format_size(n_bytes: float) -> str:
    """Return a number of bytes as text, in units that are powers of 1,024: 34 kB, 1.2 MB, 340 MB, 3.1 GB."""
    if n_bytes >= GIB:
        return f"{n_bytes / GIB:,.1f} GB"
    if n_bytes >= MIB:
        return f"{n_bytes / MIB:{'.2g' if n_bytes < 9.95 * MIB else ',.0f'}} MB"
    return f"{math.ceil(n_bytes / 1024)} kB"


def parse_number(text: str) -> int | float | str:
    """Return the text as an int if it is one, else as a float, else without the blanks around it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()


def with_noun(n: int, noun: str) -> str:
    """Return a number with its noun, as "1 topic" or "1,200 topics"."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def join_words(words: Sequence[str]) -> str:
    """Join the words as a list in a sentence: a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def capital(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
