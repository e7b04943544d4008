"""Records check themselves, merge equal ones, and come back as they were saved."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from data_files import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.corpus import Corpus
from workbench.records import DataError, Records
from workbench.runs.store.archive import CORPORA, get_corpus

GOLDEN = Path(__file__).parents[1] / "golden" / "data"
COLUMNS = {
    "colour": ["red", "blue", None, "red", "red"],
    "size": [2, 10, 10.0, 2, float("nan")],
    "known": [True, True, False, True, ""],
}
VALUES = st.sampled_from(["a", "b", "c", None])


def rows_of(records):
    """Every record as often as it came, as names of levels, sorted."""
    named = [
        tuple(
            "" if value < 0 else names[value]
            for names, value in zip(records.levels, row, strict=True)
        )
        for row in records.values
    ]
    return sorted(
        name
        for name, n in zip(named, records.multiplicities.tolist(), strict=True)
        for _ in range(n)
    )


@st.composite
def tables(draw):
    """name → values of up to four fields of up to 12 records, each field with a known value."""
    n_fields, n_rows = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    columns = st.lists(VALUES, min_size=n_rows, max_size=n_rows).filter(
        lambda values: set(values) != {None}
    )
    return {f"f{at}": draw(columns) for at in range(n_fields)}


def test_columns_become_level_numbers_and_equal_records_are_merged():
    records = Records.from_columns(COLUMNS, name="things")
    assert records.fields == ("colour", "size", "known")
    # numbers by size, text by alphabet
    assert records.levels == (("blue", "red"), ("2", "10"), ("False", "True"))
    assert records.values.tolist() == [[-1, 1, 0], [0, 1, 1], [1, -1, -1], [1, 0, 1]]
    assert records.multiplicities.tolist() == [1, 1, 1, 2]
    assert (
        repr(records) == "Records('things', 5 records, 4 distinct, 3 fields, 12 cells, 3 missing)"
    )
    assert records.n_levels.tolist() == [2, 2, 2]


@settings(max_examples=100, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_records_are_those_that_came_whatever_their_order(columns, random):
    records = Records.from_columns(columns)
    rows = list(zip(*columns.values(), strict=True))
    assert rows_of(records) == sorted(tuple(value or "" for value in row) for row in rows)
    assert len(np.unique(records.values, axis=0)) == records.n_distinct
    random.shuffle(rows)
    again = Records.from_columns(
        dict(zip(columns, zip(*rows, strict=True), strict=True)), name="another"
    )
    assert again.content_hash == records.content_hash


@settings(max_examples=50, deadline=None)
@given(tables())
def test_the_sum_of_the_weights_is_the_number_of_known_cells(columns):
    records = Records.from_columns(columns)
    known = sum(value is not None for values in columns.values() for value in values)
    assert records.item == "cell" and records.n_items == records.weights.sum() == known
    assert len(records.weights) == len(records.groups) == len(records.cells.fields)
    assert np.all(records.values[records.cells] >= 0) and np.array_equal(
        records.groups, records.cells.records
    )
    sizes = records.describe()
    assert (
        sizes["cells"] + sizes["missing"]
        == sizes["records"] * sizes["fields"]
        == len(columns["f0"]) * len(columns)
    )


def test_a_column_may_say_how_often_each_row_stands():
    records = Records.from_columns({"f": ["a", "b", "a"], "n": [2, "3", 4.0]}, multiplicity="n")
    assert (
        records.fields == ("f",)
        and records.multiplicities.tolist() == [6, 3]
        and records.n_records == 9
    )


def test_levels_that_are_given_keep_their_order_and_those_that_occur_nowhere():
    records = Records.from_columns(
        {"f": ["low", "high", ""]}, levels={"f": ["low", "middle", "high"]}
    )
    assert records.levels == (("low", "middle", "high"),) and records.values.tolist() == [
        [-1],
        [0],
        [2],
    ]
    missing = Records.from_columns({"f": ["NA", "?"]}, levels={"f": ["low"]}, missing=("NA", "?"))
    assert missing.values.tolist() == [[-1]] and (missing.n_records, missing.n_items) == (2, 0)


def test_a_field_of_one_level_is_a_field():
    records = Records.from_columns({"f": ["a", "a"]})
    assert (records.n_distinct, records.multiplicities.tolist(), records.levels) == (
        1,
        [2],
        (("a",),),
    )


def test_of_fields_merges_what_has_become_equal():
    records = Records.from_columns({"f": "aab", "g": "xyx"}).of_fields(["f"])
    assert records.values.tolist() == [[0], [1]] and records.multiplicities.tolist() == [2, 1]
    assert "'records' has no field 'h'; there are 'f'" in refused(records.of_fields, ["h"])


def test_a_data_frame_gives_the_same_records():
    frame = pd.DataFrame(COLUMNS)
    assert Records.from_pandas(frame).content_hash == Records.from_columns(COLUMNS).content_hash
    typed = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], "Int64"),
            "b": pd.array([True, None, False], "boolean"),
            "s": pd.array(["x", None, "y"], "string"),
            "c": pd.Categorical(["low", None, "high"], ["low", "middle", "high"]),
            "n": [1, 2, 1],
        }
    )
    records = Records.from_pandas(typed, "typed", multiplicity="n")
    assert records.levels == (("1", "3"), ("False", "True"), ("x", "y"), ("low", "middle", "high"))
    assert records.values.tolist() == [[-1, -1, -1, -1], [0, 1, 0, 0], [1, 0, 1, 2]]
    assert records.multiplicities.tolist() == [2, 1, 1] and records.name == "typed"
    typed.columns = ["i", "i", "s", "c", "n"]
    assert "two fields of the table have the name 'i'; rename one of them" in refused(
        Records.from_pandas, typed
    )


def test_what_is_saved_is_loaded_under_the_name_of_its_content(tmp_path):
    records = Records.from_columns(COLUMNS, name="things")
    path = records.save(tmp_path)
    assert path.name == f"{records.content_hash}.npz"
    found = Records.load(path)
    assert (found.content_hash, found.name, found.fields, found.levels) == (
        records.content_hash,
        "things",
        records.fields,
        records.levels,
    )
    assert np.array_equal(found.values, records.values) and np.array_equal(
        found.multiplicities, records.multiplicities
    )
    assert "holds data by the cell; Corpus was wanted" in refused(Corpus.load, path)
    path.write_bytes(b"PK")
    with pytest.raises(DataError, match=r"is damaged \(\w+\); save it again"):
        Records.load(path)


def test_a_store_holds_records_and_corpora_by_their_content(tmp_path):
    records, corpus = Records.from_columns(COLUMNS), Corpus.from_pairs([0], [0], [1])
    for data in (records, corpus):
        data.save(tmp_path / CORPORA)
        found = get_corpus(tmp_path, data.content_hash)
        assert type(found) is type(data) and found.content_hash == data.content_hash


def test_golden_files_are_read_for_ever():
    """The files were written once; they may never change, or stored runs lose their data."""
    records = Records.load(
        GOLDEN / "d4e03e3a300cd5366a1d59c37afda7171ed9cbe78de9e448d95d740197835e69.npz"
    )
    assert (
        records.content_hash == Records.from_columns(COLUMNS).content_hash
        and records.name == "things"
    )
    corpus = Corpus.load(
        GOLDEN / "d8091e620b20e9ee9c9801a85cc2e84ae04ba40f97a6a9c78a4268548938af87.npz"
    )
    assert corpus.input_names == ("year", "lat") and corpus.inputs.tolist() == [
        [1999, 1.5],
        [2000, 0],
        [2001, 3],
    ]
    assert corpus.sequence == (("s", 7), ("s", 2), ("3", -1)) and corpus.authors == (
        ("ann",),
        ("bob", "ann"),
        (),
    )


def test_the_votes_are_the_published_ones(votes):
    assert votes.describe() == {
        "records": 435,
        "distinct": 342,
        "fields": 17,
        "cells": 7_003,
        "missing": 392,
    }
    assert votes.levels[0] == ("democrat", "republican") and set(votes.levels[1:]) == {("n", "y")}
    assert votes.of_fields(votes.fields[1:]).n_distinct == 342


def test_arrays_cannot_be_changed_and_hashes_are_those_of_the_content():
    records = Records.from_columns({"f": "ab"})
    with pytest.raises(ValueError, match="read-only"):
        records.values[0, 0] = 1
    others = ({"f": "aa"}, {"g": "ab"}, {"f": "ac"}, {"f": "abb"})
    assert (
        len({records.content_hash, *(Records.from_columns(other).content_hash for other in others)})
        == 5
    )


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        *(
            (
                lambda columns=columns, options=options: Records.from_columns(columns, **options),
                sentence,
            )
            for columns, options, sentence in [
                ({}, {}, "records need at least one field; none came"),
                ({"f": []}, {}, "records need at least one record; none came"),
                (
                    {"f": "ab", "g": "a"},
                    {},
                    "every field must have one value per record (2); 'g' has 1",
                ),
                (
                    {"f": [None, float("nan"), ""]},
                    {},
                    "the field 'f' has no known value, so its levels are unknown; name them with levels=…, or leave "
                    "the field out",
                ),
                (
                    {"f": "abc"},
                    {"levels": {"f": "ab"}},
                    "record 2 (counted from 0): 'c' is no level of 'f'; there are 'a', 'b'",
                ),
                ({"f": "ab"}, {"levels": {"g": "ab"}}, "there is no column 'g'; there are 'f'"),
                (
                    {"f": "ab"},
                    {"levels": {"f": "aba"}},
                    "two levels of the field 'f' have the name 'a'; rename one of them",
                ),
                ({"f": "ab"}, {"fields": ["f", "h"]}, "there is no column 'h'; there are 'f'"),
                ({"f": "ab"}, {"multiplicity": "n"}, "there is no column 'n'; there are 'f'"),
                (
                    {"f": "ab", "n": [1, 0]},
                    {"multiplicity": "n"},
                    "record 1 (counted from 0): 'n' must be a whole number of at least 1, not '0'",
                ),
                (
                    {"f": ["a", ["b"]]},
                    {},
                    "record 1 (counted from 0): 'f' must hold text, numbers or None; it holds ['b']",
                ),
                ({" ": "ab"}, {}, "every field of the records needs a name; one has ' '"),
            ]
        ),
        *(
            (lambda given=given: Records(*given[:2], ["f"], given[2]), sentence)
            for *given, sentence in [
                (
                    np.zeros((0, 1), int),
                    [],
                    [["a"]],
                    "values must be whole numbers, (record, field), with at least one record and one "
                    "field; got the shape (0, 1) of "
                    "type int64",
                ),
                (
                    [[0.5]],
                    [1],
                    [["a"]],
                    "values must be whole numbers, (record, field), with at least one record and one "
                    "field; got the shape (1, 1) of "
                    "type float64",
                ),
                (
                    [[0]],
                    [1],
                    [["a"], ["b"]],
                    "fields, levels and columns of values must agree; they are 1, 2 and 1",
                ),
                ([[0]], [0], [["a"]], "multiplicities must be at least 1; the smallest is 0"),
                ([[0]], [1, 1], [["a"]], "there must be one multiplicity per record (1); 2 came"),
                (
                    [[1]],
                    [1],
                    [["a"]],
                    "the field 'f' has 1 levels, so its values must lie in -1..0; found 1..1",
                ),
                (
                    [[-2]],
                    [1],
                    [["a"]],
                    "the field 'f' has 1 levels, so its values must lie in -1..0; found -2..-2",
                ),
            ]
        ),
    ],
)
def test_wrong_columns_and_arrays_are_refused_with_a_sentence(made, sentence):
    assert refused(made) == sentence
