"""Numbers as text, text as numbers, and errors about inputs."""

import math
import pickle

import pytest

import workbench as wb
from workbench.errors import Got, InputError, Named
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


# ---------------------------------------------------------------------- errors about inputs


def corpus():
    return wb.synthetic.bars(3, 12, 9)[0]


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"n_topics": 0}, "n_topics"),
        ({"alpha": -1}, "alpha"),
        ({"alpha": (0.1, 0.2)}, "alpha"),
        ({"beta": "x"}, "beta"),
        ({"n_iterations": 0}, "n_iterations"),
        ({"seed": -1}, "seed"),
        ({"burn_in": 1.5}, "burn_in"),
        ({"n_threads": 0}, "n_threads"),
        ({"record_every": 0}, "record_every"),
        ({"stop_on": "luck"}, "stop_on"),
        ({"stop_on": "bound"}, "stop_on"),
        ({"stop_on": "perplexity", "stop_tolerance": -1}, "stop_tolerance"),
        ({"holdout": 1.5}, "holdout"),
        ({"holdout_per": "word"}, "holdout_per"),
        ({"split_seed": -1}, "split_seed"),
        ({"top_words": 0}, "top_words"),
        ({"top_words": 99}, "top_words"),
        ({"singletons": "some"}, "singletons"),
        ({"options": {"scan": "some"}}, "scan"),
        ({"zzz": 1}, "zzz"),
    ],
)
def test_an_error_has_the_field_and_the_value(settings, field):
    with pytest.raises(InputError) as error:
        wb.compare(corpus(), ["cgs"], progress=False, **settings)
    wrong = {**settings, **settings.get("options", {})}[field]
    assert (error.value.field, error.value.value) == (field, wrong)


@pytest.mark.parametrize(
    "option, value", [("r", "often"), ("phases", "interleaved"), ("a_alpha", 2), ("qq", 1)]
)
def test_an_error_about_an_option_has_its_name(option, value):
    with pytest.raises(InputError) as error:
        wb.fit(corpus(), "svb-cgs", options={option: value})
    assert error.value.field == option


def test_a_sentence_is_its_parts_and_survives_a_process():
    error = InputError.must_be(Named("n_topics", text="topics"), "a whole number", "ten").within(
        "somewhere: "
    )
    assert (
        str(error) == "somewhere: topics must be a whole number; got 'ten'"
        and error.field == "n_topics"
    )
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.parts, again.value) == (str(error), error.parts, "ten")
    assert [str(part) for part in (Named("r"), Named("r", 1), Named("text", ...), Got(None))] == [
        "r",
        "r=1",
        "with text=…",
        "; got None",
    ]
