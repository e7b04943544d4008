"""The toys of the Oracle page: what a table of counts is as text, as a corpus, and what is wrong with one."""

import pytest

from workbench.dashboard.oracle.answers import exact_card, exact_of
from workbench.dashboard.oracle.toys import (
    TOYS,
    cells_of,
    corpus_of,
)
from workbench.errors import InputError


def test_rows_are_lines_or_semicolons_and_counts_stand_between_commas_or_blanks():
    for counts in ("5,1,0;0,1,5", "5 1 0\n0  1 5\n", " 5, 1, 0 ; 0 ,1\t5 "):
        assert cells_of(counts) == [["5", "1", "0"], ["0", "1", "5"]]
    assert cells_of("1;2,3") == [["1", "0"], ["2", "3"]]  # rows are as long as the longest
    assert cells_of("1,;2,3") == [["1", ""], ["2", "3"]] and cells_of("") == [[""]]


def test_a_table_is_a_corpus_with_its_empty_documents_and_unused_words():
    corpus = corpus_of("2,0,1;0,0,0")
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (2, 3, 3)
    assert corpus.vocabulary == ("word 1", "word 2", "word 3") and corpus.titles == (
        "document 1",
        "document 2",
    )


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_every_toy_that_is_offered_can_be_enumerated(toy):
    found = exact_of(toy)
    assert found.attrs["n_states"] <= 2**16
    assert f"{float(found['log_evidence']):.6f}".replace("-", "−") in exact_card(found).sentence


@pytest.mark.parametrize(
    "counts, sentence",
    [
        ("0,0;0,0", "the table has no token"),
        ("1,x", "word 2 in document 1 must be a whole number of at least 0; got 'x'"),
        ("1,2;3,", "word 2 in document 2 must be a whole number of at least 0; there is none"),
        ("", "there is none"),
        ("-1", "got '-1'"),
        ("1.5", "got '1.5'"),
        ("1e3", "got '1e3'"),
        ("nan", "got 'nan'"),
        ("1,1,1,1,1,1,1,1,1", "at most 8 documents and 8 words; these are 1 and 9"),
        ("60,5", "at most 64 tokens; these are 65"),
        ("9999999999999", "got '999999999999'"),
    ],
)
def test_what_is_no_table_of_counts_is_one_sentence(counts, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        corpus_of(counts)
    assert raised.value.field == "counts"
