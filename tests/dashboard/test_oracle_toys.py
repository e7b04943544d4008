"""The toys of the Oracle page: what a table of counts is as text, as a corpus, and what is wrong with one."""

import pytest

from workbench.dashboard.oracle.answers import exact_of, exact_shown
from workbench.dashboard.oracle.counts import Counts
from workbench.dashboard.oracle.toys import (
    MOST_COLUMNS,
    MOST_ROWS,
    TOYS,
    cells_of,
    corpus_of,
    name_of,
    written,
)
from workbench.errors import InputError


def test_a_table_is_one_text_and_comes_back_from_it():
    assert cells_of("5,1,0;0,1,5") == [["5", "1", "0"], ["0", "1", "5"]]
    assert written(cells_of("5,1,0;0,1,5")) == "5,1,0;0,1,5"
    assert cells_of("1;2,3") == [["1", "0"], ["2", "3"]]  # rows are as long as the longest
    assert cells_of("") == [[""]]
    assert written([["1,2", "3;4"]]) == "1 2,3 4"
    large = cells_of(";".join(["1," * 100] * 100))
    assert (len(large), len(large[0])) == (MOST_ROWS, MOST_COLUMNS)


def test_a_table_is_a_corpus_with_its_empty_documents_and_unused_words():
    corpus = corpus_of("2,0,1;0,0,0")
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (2, 3, 3)
    assert corpus.vocabulary == ("word 1", "word 2", "word 3") and corpus.titles == (
        "document 1",
        "document 2",
    )


@pytest.mark.parametrize("name", TOYS)
def test_every_toy_that_is_offered_can_be_enumerated(name):
    toy = TOYS[name]
    assert name_of(toy) == name and name_of(toy._replace(beta="0.2")) == ""
    found = exact_of(toy)
    assert found.attrs["n_states"] <= 2**16
    assert f"{float(found['log_evidence']):.6f}".replace("-", "−") in exact_shown(found).said


@pytest.mark.parametrize(
    "counts, sentence",
    [
        ("0,0;0,0", "the table has no token"),
        ("1,x", "word 2 in document 1 must be a whole number of at least 0; got 'x'"),
        ("1,2;3,", "word 2 in document 2 must be a whole number of at least 0; the cell is empty"),
        ("", "the cell is empty"),
        ("-1", "got '-1'"),
        ("1.5", "got '1.5'"),
        ("1e3", "got '1e3'"),
        ("nan", "got 'nan'"),
        ("60,5", "at most 64 tokens; these are 65"),
        ("9999999999999", "got '999999999999'"),
    ],
)
def test_what_is_no_table_of_counts_is_one_sentence(counts, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        corpus_of(counts)
    assert raised.value.field == "counts"


def test_what_is_typed_changes_one_cell_and_buttons_the_size():
    told = []
    table = Counts("5,1;0,1", told.append)
    for said in (
        {"row": 1, "column": 0, "text": "7"},
        {"size": [3, 2]},
        {"size": [1, 3]},
        {"size": [99, 0]},
        {"row": 0, "column": 1, "text": "a,b;c"},
    ):
        table._handle_msg(said)
    assert told[:3] == ["5,1;7,1", "5,1;0,1;0,0", "5,1,0"]
    assert len(cells_of(told[3])) == MOST_ROWS and len(cells_of(told[3])[0]) == 1
    assert told[4] == "5,a b c;0,1"
    table.show("1,2,3")
    assert table.cells == [["1", "2", "3"]]


@pytest.mark.parametrize(
    "said",
    [
        None,
        3,
        "row",
        {},
        {"row": 9, "column": 0, "text": "1"},
        {"row": -1, "column": 0, "text": "1"},
        {"size": [1]},
        {"size": "ab"},
        {"row": 0},
    ],
)
def test_messages_that_are_not_the_pages_change_nothing(said):
    told = []
    Counts("5,1;0,1", told.append)._handle_msg(said)
    assert told == []
