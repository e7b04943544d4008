"""Joined documents and repeated counts: what is added up, what stays, what is held out of it, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from toys import corpus_of_table, dense

from workbench.corpus import CorpusError, hold_out_tokens, prepare, split_in_words
from workbench.corpus.corpus import INT32_MAX
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.experiments import merge_documents, repeat_counts
from workbench.records import Records, prepare_records

TABLE = np.array([[4, 0, 1], [1, 2, 0], [0, 0, 3], [2, 2, 2], [0, 1, 0]])


def corpus_of(counts=TABLE, **about):
    return corpus_of_table(counts, **about)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
def test_joined_documents_have_the_sums_of_the_counts(n):
    joined = merge_documents(corpus_of(), n)
    assert dense(joined).tolist() == [TABLE[at : at + n].sum(0).tolist() for at in range(0, 5, n)]
    assert joined.vocabulary == corpus_of().vocabulary and joined.name == "corpus"


@pytest.mark.parametrize("times", [1, 2, 7])
def test_repeated_counts_are_multiples_in_the_same_places(times):
    repeated = repeat_counts(corpus_of(labels=tuple("abcde")), times)
    assert np.array_equal(dense(repeated), times * TABLE)
    assert repeated.n_pairs == corpus_of().n_pairs and repeated.labels == tuple("abcde")


def test_a_joined_document_keeps_what_all_its_documents_share():
    texts = DocumentTable({"text": tuple("vwxyz"), "id": tuple("12345")}, "text", {"ngrams": 2})
    corpus = corpus_of(
        titles=tuple("abcde"),
        authors=[("Ann", "Bo"), ("Bo", "Cy"), ("Di",), ("Di",), ("Ed",)],
        labels=tuple("ppqqr"),
        times=tuple("11223"),
        table=texts,
    )
    joined = merge_documents(corpus, 2)
    assert joined.titles == ("a + 1 more", "c + 1 more", "e")
    assert joined.authors == (("Ann", "Bo", "Cy"), ("Di",), ("Ed",))
    assert (joined.labels, joined.times) == (tuple("pqr"), tuple("123"))
    assert joined.table.columns == {"text": ("v\n\nw", "x\n\ny", "z")} and joined.table.counted == {
        "ngrams": 2
    }
    mixed = merge_documents(corpus, 3)
    assert (mixed.labels, mixed.times) == (None, None) and mixed.titles == (
        "a + 2 more",
        "d + 1 more",
    )
    assert (
        merge_documents(replace(corpus, table=DocumentTable({"id": tuple("12345")})), 2).table
        is None
    )


def test_words_are_cut_then_documents_joined_then_counts_repeated_then_tokens_held_out():
    train, test, split = prepare(
        corpus_of(), 0.25, 3, top_words=2, merge=2, repeat=np.int64(3), singletons="train"
    )
    whole = repeat_counts(merge_documents(prepare(corpus_of(), 0, top_words=2)[0], 2), 3)
    by_hand = hold_out_tokens(whole, 0.25, 3)
    assert test.content_hash == by_hand[1].content_hash
    assert np.array_equal(dense(train), np.where(dense(by_hand[0]) == 1, 0, dense(by_hand[0])))
    assert split == {
        "fraction": 0.25,
        "seed": 3,
        "per": "corpus",
        "top_words": 2,
        "merge": 2,
        "repeat": 3,
        "singletons": "train",
    }
    assert type(split["repeat"]) is int  # JSON knows no numpy
    assert split_in_words(split) == (
        "25 % of the tokens of the corpus held out, split seed 3; the 2 most frequent words alone; every 2 documents joined; "
        "every count 3 times; no singletons in training"
    )


def test_held_out_tokens_are_of_the_repeated_counts():
    train, test, _ = prepare(corpus_of(), 0.5, repeat=10)
    assert (train.n_tokens, test.n_tokens) == (90, 90) and test.counts.max() > TABLE.max()


def test_without_a_change_the_record_is_the_old_one():
    assert prepare(corpus_of(), 0.25, merge=1, repeat=1)[2] == {
        "fraction": 0.25,
        "seed": 0,
        "per": "corpus",
    }


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"merge": 0}, "merge must be a whole number of at least 1; got 0"),
        ({"merge": "2"}, "merge must be a whole number of at least 1; got '2'"),
        ({"repeat": 1.5}, "repeat must be a whole number of at least 1; got 1.5"),
        ({"repeat": True}, "repeat must be a whole number of at least 1; got True"),
        (
            {"repeat": INT32_MAX // 4 + 1},
            "repeat must be at most 536870911 for 'corpus', which has 18 tokens and counts up to 4; "
            "got 536870912",
        ),
    ],
)
def test_wrong_numbers_are_refused_with_a_sentence(changes, sentence):
    with pytest.raises(CorpusError) as refused:
        prepare(corpus_of(), **changes)
    assert str(refused.value) == sentence and refused.value.field in changes


def test_the_largest_repeat_is_taken():
    assert repeat_counts(corpus_of(), INT32_MAX // 4).counts.max() == 4 * (INT32_MAX // 4)


def test_joined_counts_that_no_array_holds_are_refused():
    with pytest.raises(CorpusError, match=f"a count may not exceed {INT32_MAX}"):
        merge_documents(repeat_counts(corpus_of(np.array([[4], [4]])), INT32_MAX // 4), 2)


@pytest.mark.parametrize(
    ("about", "have"),
    [
        ({"inputs": {"year": [1.0, 2, 3, 4, 5]}}, "have inputs"),
        ({"sequence": [("s", d) for d in range(5)]}, "stand in sequences"),
    ],
)
def test_documents_with_inputs_or_in_sequences_are_not_joined(about, have):
    with pytest.raises(CorpusError) as refused:
        merge_documents(corpus_of(**about), 2)
    assert (
        str(refused.value)
        == f"merge cannot join documents that {have}, as those of 'corpus'; got 2; leave it out"
    )
    assert np.array_equal(dense(repeat_counts(corpus_of(**about), 2)), 2 * TABLE)


@pytest.mark.parametrize("name", ["merge", "repeat"])
def test_records_are_neither_joined_nor_repeated(name):
    records = Records.from_columns({"x": ["a", "a"], "y": ["b", "c"]})
    with pytest.raises(
        CorpusError, match=f"records have no words or documents, so {name} would be without effect"
    ):
        prepare_records(records, **{name: 2})
