"""Numbers as text, and text as numbers."""

import math

import pytest

from workbench.numbers import (
    GIB,
    MIB,
    format_duration,
    format_interval,
    format_number,
    format_size,
    format_with_error,
    join_words,
    parse_number,
)


def test_format_number_separates_thousands_and_writes_a_true_minus():
    assert format_number(-1234.56) == "−1,234.6"
    assert format_number(3, 0, sign=True) == "+3" and format_number(2.345, 2, unit="s") == "2.35 s"


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_no_number_is_a_dash_without_a_unit(value):
    assert format_number(value, unit="s") == "–" and format_duration(value) == "–"


def test_format_with_error_leaves_out_an_unknown_error():
    assert format_with_error(12.34, 0.56, sign=True) == "+12.3 ± 0.6"
    assert format_with_error(12.34, math.nan) == "12.3" and format_with_error(math.nan, 1) == "–"


def test_format_interval_is_empty_where_an_end_is_missing():
    assert format_interval(-2210.44, 3, sign=True) == "−2,210.4 … +3.0"
    assert format_interval(math.nan, 1) == format_interval(1, math.inf) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (12.34, "12.3 s"),
        (59.97, "1 min 00 s"),
        (65, "1 min 05 s"),
        (3599.7, "1 h 00 min"),
        (7800, "2 h 10 min"),
    ],
)
def test_format_duration_takes_the_two_largest_units(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 kB"),
        (1, "1 kB"),
        (34_400, "34 kB"),
        (MIB, "1 MB"),
        (1.25 * MIB, "1.2 MB"),
        (9.94 * MIB, "9.9 MB"),
        (9.96 * MIB, "10 MB"),
        (340.4 * MIB, "340 MB"),
        (1000 * MIB, "1,000 MB"),
        (GIB, "1.0 GB"),
        (1234.5 * GIB, "1,234.5 GB"),
    ],
)
def test_format_size_takes_powers_of_1024(n_bytes, text):
    assert format_size(n_bytes) == text


def test_parse_number_keeps_a_text_that_is_no_number():
    assert [parse_number(text) for text in ("3", "-2.5", " 1e3 ", " k ")] == [3, -2.5, 1000.0, "k"]
    assert isinstance(parse_number("3"), int)


def test_join_words_writes_and_before_the_last():
    assert [join_words(list(words)) for words in ("a", "ab", "abc")] == [
        "a",
        "a and b",
        "a, b and c",
    ]
