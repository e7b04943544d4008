"""Held-out cells and records: how many, of what, and the same for ever."""

import numpy as np
import pytest
from data_files import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.records import (
    DataError,
    Records,
    hold_out_cells,
    hold_out_records,
    hold_out_whole_records,
    prepare_records,
)

VALUES = st.sampled_from(["", "a", "b", "c"])
TABLES = st.integers(1, 4).flatmap(
    lambda n_fields: st.lists(
        st.lists(VALUES, min_size=n_fields, max_size=n_fields), min_size=1, max_size=12
    )
)


def records_of(rows):
    """Records of rows of letters; every field has the levels a, b and c."""
    columns = {f"f{at}": values for at, values in enumerate(zip(*rows, strict=True))}
    return Records.from_columns(columns, levels=dict.fromkeys(columns, "abc"))


def expanded(records):
    """(record, field) values, equal records as often as they came."""
    return np.repeat(records.values, records.multiplicities, axis=0)


def in_order(values):
    return values[np.lexsort(values.T[::-1])].tolist()


@settings(max_examples=100, deadline=None)
@given(TABLES, st.sampled_from([0.1, 0.25, 0.5, 0.75]), st.integers(0, 2**40))
def test_held_out_cells_and_those_that_are_left_are_the_records(rows, fraction, seed):
    records = records_of(rows)
    try:
        train, test = hold_out_cells(records, fraction, seed)
    except DataError:
        assert round(fraction * records.n_items) in (0, records.n_items)
        return
    assert (
        test.n_items == round(fraction * records.n_items)
        and train.n_items + test.n_items == records.n_items
    )
    assert np.array_equal(train.multiplicities, test.multiplicities) and train.n_records == len(
        rows
    )
    assert np.all((train.values < 0) | (test.values < 0))
    assert in_order(np.maximum(expanded(train), expanded(test))) == in_order(expanded(records))
    both = np.hstack([train.values, test.values])
    assert len(np.unique(both, axis=0)) == len(both)  # what is equal in both is merged
    for part in (train, test):
        assert (part.fields, part.levels, part.name) == (
            records.fields,
            records.levels,
            records.name,
        )


@settings(max_examples=100, deadline=None)
@given(TABLES, st.sampled_from([0.2, 0.5, 0.75]), st.integers(0, 2**40))
def test_each_record_is_for_training_or_unseen_as_a_whole(rows, fraction, seed):
    records = records_of(rows)
    try:
        train, unseen = hold_out_records(records, fraction, seed)
    except DataError as error:
        assert round(fraction * len(rows)) in (0, len(rows)) or "no known cell" in str(error)
        return
    assert unseen.n_records == round(
        fraction * len(rows)
    ) and train.n_records + unseen.n_records == len(rows)
    assert in_order(np.vstack([expanded(train), expanded(unseen)])) == in_order(expanded(records))


@settings(max_examples=100, deadline=None)
@given(TABLES, st.sampled_from([0.2, 0.5, 0.75]), st.integers(0, 2**40))
def test_whole_records_held_out_are_rows_of_training_without_cells(rows, fraction, seed):
    records = records_of(rows)
    try:
        apart, unseen = hold_out_records(records, fraction, seed)
    except DataError as error:
        assert refused(hold_out_whole_records, records, fraction, seed) == str(error)
        return
    train, test = hold_out_whole_records(records, fraction, seed)
    assert train.same_rows(test) and np.array_equal(train.multiplicities, test.multiplicities)
    held_out = np.arange(train.n_distinct) >= apart.n_distinct
    assert np.all(train.values[held_out] < 0) and np.all(test.values[~held_out] < 0)
    assert np.all(train.multiplicities[held_out] == 1)  # a probability for each copy
    assert train.values[~held_out].tolist() == apart.values.tolist()
    assert train.multiplicities[~held_out].tolist() == apart.multiplicities.tolist()
    assert in_order(test.values[held_out]) == in_order(expanded(unseen))


def test_a_share_is_of_cells_or_of_records(votes):
    for per, split, recorded in (
        ("corpus", hold_out_cells, "cell"),
        ("cell", hold_out_cells, "cell"),
        ("record", hold_out_whole_records, "record"),
    ):
        *parts, about = prepare_records(votes, 0.2, 3, per=per)
        assert about == {"fraction": 0.2, "seed": 3, "per": recorded}
        wanted = split(votes, 0.2, 3)
        assert [part.content_hash for part in parts] == [part.content_hash for part in wanted]
    assert prepare_records(votes, 0, per="record") == (votes, None, None)


def test_every_known_cell_is_equally_likely_to_be_held_out():
    """Three equal records of two cells, and one of one: two of seven are drawn."""
    records, n_draws = records_of([["a", "b"]] * 3 + [["c", ""]]), 2000
    held_out = np.zeros(3)
    for seed in range(n_draws):
        _, test = hold_out_cells(records, 2 / 7, seed)
        cells = test.cells
        of_c = test.values[cells] == 2
        held_out += [
            test.weights[of_c].sum(),
            *(test.weights[~of_c & (cells.fields == field)].sum() for field in (0, 1)),
        ]
    error = np.sqrt(n_draws * 2 / 7 * 5 / 7)
    assert np.all(
        np.abs(held_out - n_draws * 2 / 7 * np.array([1, 3, 3])) < 4 * np.array([1, 3, 3]) * error
    )


def test_a_seed_names_the_same_split_for_ever(votes):
    """The numbers were printed once; they may never change, or stored runs lose their test sets."""
    hashes = [
        part.content_hash[:12]
        for split in (hold_out_cells, hold_out_records)
        for part in split(votes, 0.1, seed=0)
    ]
    assert hashes == ["2f6a2e92a071", "3c4584a26e9f", "41b04735377b", "bf1702410f29"]


def test_no_fraction_is_a_test_set_without_known_cells():
    records = records_of(["ab", "ab"])
    train, test = hold_out_cells(records, 0)
    assert train.content_hash == records.content_hash and (test.n_records, test.n_items) == (2, 0)


@pytest.mark.parametrize(
    ("split", "sentence"),
    [
        *(
            (lambda records, given=given: prepare_records(records, **given), sentence)
            for given, sentence in (
                ({"per": "half"}, "per must be cell or record for records; got 'half'"),
                ({"per": "document"}, "per must be cell or record for records; got 'document'"),
                (
                    {"singletons": "train"},
                    "records have no words or documents, so singletons would be without effect; leave it out",
                ),
                (
                    {"rows": "last 2"},
                    "records have no words or documents, so rows would be without effect; leave it out",
                ),
            )
        ),
        (
            lambda records: hold_out_cells(records, 1),
            "fraction must be a number of at least 0 and below 1; got 1",
        ),
        (
            lambda records: hold_out_cells(records, 0.5, -1),
            "seed must be a whole number of at least 0; got -1",
        ),
        (
            lambda records: hold_out_cells(records, 0.1),
            "fraction 0.1 of 4 known cells of 'records' is 0; at least one to hold out and one to train on were wanted; ask "
            "for another fraction",
        ),
        (
            lambda records: hold_out_records(records, 0.9),
            "fraction 0.9 of 3 records of 'records' is 3; at least one to hold out and one to train on were wanted; ask "
            "for another fraction",
        ),
        (
            lambda records: hold_out_records(records, 0),
            "fraction 0 of 3 records of 'records' is 0; at least one to hold out and one to train on were wanted; ask "
            "for another fraction",
        ),
        (
            lambda records: hold_out_records(records_of([["a"], [""]]), 0.5, 0),
            "all 1 training record(s) have no known cell; ask for another fraction or seed",
        ),
    ],
)
def test_records_that_cannot_be_split_are_refused_with_a_sentence(split, sentence):
    assert (
        refused(split, records_of(["ab", "a ", "b "])).replace("held-out", "training") == sentence
    )
