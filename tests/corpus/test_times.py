"""Times and years of documents: dates in usual forms, numbers, and what is neither."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from data_files import put, refusal, refused

import workbench as wb
from workbench.corpus import Corpus
from workbench.corpus.formats.readers import read_corpus
from workbench.corpus.shards.streaming import read_shards
from workbench.corpus.times import nearest_years, times_of, years_of
from workbench.data.reading import noting
from workbench.errors import DataError


def read(values):
    return times_of(values, "day", "row {}".format, "refuse")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (
            ["2020-01-02", "2021-12-31 10:00", "", "1999-05-05"],
            ("2020-01-02", "2021-12-31T10:00:00", None, "1999-05-05"),
        ),
        (["1999", " 2001.0 "], (1999, 2001)),
        ([3, 1.0, None, float("nan")], (3, 1, None, None)),
        (np.array([7, 8]), (7, 8)),
        (["13/02/2021", "03/04/2021"], ("2021-02-13", "2021-04-03")),
        (["03/04/2021", "13/02/2021"], ("2021-04-03", "2021-02-13")),
        (["03/04/2021"], ("2021-03-04",)),
        (["2021/3/4", "2020/12/01"], ("2021-03-04", "2020-12-01")),
        (["March 3, 2021", "4 May 2020"], ("2021-03-03", "2020-05-04")),
        (["1999-05", "2000-06"], ("1999-05-01", "2000-06-01")),
        (
            ["2024-01-01T01:00:00+02:00", "2024-02-01T10:00:00+01:00"],
            ("2023-12-31T23:00:00", "2024-02-01T09:00:00"),
        ),
        (["20240102", "20231231"], ("2024-01-02", "2023-12-31")),
        ([20240102, 20231231], ("2024-01-02", "2023-12-31")),
        (pd.to_datetime(["2020-01-02", None]), ("2020-01-02", None)),
        ([date(2020, 5, 6)], ("2020-05-06",)),
        (["", None], (None, None)),
    ],
    ids=str,
)
def test_dates_and_numbers_are_read(given, found):
    assert read(given) == found


@pytest.mark.parametrize(
    ("given", "row", "value"),
    [
        (["2020-01-01", "x"], 1, "'x'"),
        (["2020-13-01"], 0, "'2020-13-01'"),
        (["20240102", "20231399"], 1, "'20231399'"),
        (["2020-02-30"], 0, "'2020-02-30'"),
        ([1.5], 0, "'1.5'"),
        ([float("inf"), 3], 0, "'inf'"),
        ([[1]], 0, "[1]"),
        (["2020-01-01", "12 apples"], 1, "'12 apples'"),
    ],
    ids=str,
)
def test_times_that_cannot_be_read_are_named_with_their_row(given, row, value):
    wanted = "'day' must be a date, as 2024-07-31, or a whole number, as 2024"
    assert refused(read, given) == f"row {row}: {wanted}; it is {value}"


def test_what_is_no_date_is_counted_noted_and_left_without_a_date():
    values = ["13/02/2021", "n/a", "", "03/04/2021", "12 apples"]
    said = "2 of 4 values of 'day' are no dates and were left out: row 1 'n/a', row 4 '12 apples'"
    with noting() as notes, pytest.warns(UserWarning, match=f"^{said}$"):
        found = times_of(values, "day", "row {}".format)
    assert found == ("2021-02-13", None, None, "2021-04-03", None)
    assert notes == {"found": {"bad_dates": said}, "left_out": {"bad_dates": 2}}
    with pytest.warns(UserWarning, match="1 of 12 values .* row 11 'x'$"):
        assert times_of([*range(11), "x"], "day", "row {}".format) == (*range(11), None)
    with pytest.warns(UserWarning, match="11 of 12 values .* row 9 'x' …$"):
        assert times_of(["x"] * 11 + [3], "day", "row {}".format) == (*[None] * 11, 3)
    assert "row 0: 'day' must be a date" in refused(times_of, ["x", "y"], "day", "row {}".format)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_columns_are_found_whatever_their_case_where_that_is_unambiguous(tmp_path, name):
    rows = [{"TEXT": "red ant", "Title": "a", "Day": "2020-01-31", "x": "", "X": ""}]
    file, frame = tmp_path / name, pd.DataFrame(rows)
    frame.to_csv(file, index=False) if name == "a.csv" else frame.to_json(
        file, orient="records", lines=True
    )
    for read_file in (read_corpus, lambda path, **how: read_shards(path, tmp_path / "s", **how)):
        corpus = read_file(file, time="day")
        assert (corpus.times, list(corpus.titles)) == (("2020-01-31",), ["a"])
        with pytest.raises(DataError, match="no (column|field) 'xx?' for the label"):
            read_corpus(file, label="xx")
    assert wb.corpus_of(frame, text="text", time="DAY").times == ("2020-01-31",)
    counts = put(tmp_path, "counts.csv", "Document,WORD,count\na,ant,2\n")
    assert read_corpus(counts).n_tokens == 2


def test_models_over_years_take_the_years_of_dates():
    table = pd.DataFrame(
        {"text": ["red ant", "green bee", "red bee"], "day": ["2020-01-31", "2022-12-31", "2020"]}
    )
    years = years_of(wb.corpus_of(table, time="day"))
    assert (years.first, years.n, years.of_documents.tolist()) == (2020, 3, [0, 2, 0])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "text,day,title\nred ant,2020-01-31,one\ngreen bee,,two\n"),
        (
            "a.csv",
            "document,word,count,day\none,ant,2,2020-01-31\none,bee,1,2020-01-31\ntwo,bee,1,\n",
        ),
        (
            "a.jsonl",
            '{"text": "red", "day": "2020-01-31", "title": "one"}\n{"text": "bee", "title": "two", "day": null}\n',
        ),
        (
            "a.jsonl",
            '{"counts": {"a": 1}, "day": "2020-01-31", "title": "one"}\n{"counts": {"b": 1}, "title": "two", "day": ""}\n',
        ),
    ],
)
def test_a_column_of_a_file_has_the_times(tmp_path, name, content):
    corpus = wb.load_corpus(put(tmp_path, name, content), time="day")
    assert (corpus.times, corpus.titles) == (("2020-01-31", None), ("one", "two"))


def test_a_document_of_counts_has_one_time(tmp_path):
    rows = "document,word,count,day\none,ant,2,2020-01-31\none,bee,1,2020-02-01\n"
    sentence = refusal(put(tmp_path, "a.csv", rows), time="day")
    assert "'day' of document 'one' is '2020-02-01' here and '2020-01-31' on line 2" in sentence


# ---------------------------------------------------------------------- years of documents


def corpus_of(times):
    n = len(times) if times is not None else 2
    return Corpus.from_pairs(range(n), [0] * n, [1] * n, times=times, name="mine")


def test_every_year_from_the_first_to_the_last_is_one():
    years = years_of(corpus_of((1990, "1987", 1988.0)))
    assert (years.first, years.n, list(years.labels)) == (1987, 4, [1987, 1988, 1989, 1990])
    assert years.of_documents.tolist() == [3, 0, 1]


@pytest.mark.parametrize(
    "times, sentence",
    [
        (
            None,
            "topics over time need the year of each document, and 'mine' has none; give times, as the corpus nips has",
        ),
        (
            (1990, 1990.5),
            "the time of a document must be a year, a whole number; that of 'document 1' is 1990.5",
        ),
        (
            (1990, None),
            "the time of a document must be a year, a whole number; that of 'document 1' is None",
        ),
        (
            ("1990-03", 1990),
            "the time of a document must be a year, a whole number; that of 'document 0' is '1990-03'",
        ),
        (
            (True, 1990),
            "the time of a document must be a year, a whole number; that of 'document 0' is True",
        ),
        (
            (float("nan"), 1),
            "the time of a document must be a year, a whole number; that of 'document 0' is nan",
        ),
        (
            (float("inf"), 1),
            "the time of a document must be a year, a whole number; that of 'document 0' is inf",
        ),
        (
            (0, 10_000),
            "the times of 'mine' go from 0 to 10000; topics over time take at most 10000 years: give years, or "
            "count time in larger steps",
        ),
    ],
)
def test_what_is_no_year_is_refused_in_a_sentence(times, sentence):
    assert refused(years_of, corpus_of(times)) == sentence


def test_an_unseen_document_is_of_the_nearest_year_and_of_the_last_where_it_has_none():
    assert nearest_years(corpus_of((1980, 1991, None, 2010)), 1990, 3).tolist() == [0, 1, 2, 2]
    assert nearest_years(corpus_of(None), 1990, 3).tolist() == [2, 2]
