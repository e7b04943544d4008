"""Counting words of raw text."""

import re

import pytest

from workbench.corpus import Corpus, CorpusError

FRUIT = ["Apple banana apple", "banana cherry", "Cherry, cherry and apple!"]


def counts(corpus):
    """Per document, word → count."""
    return [
        {corpus.vocabulary[w]: int(c) for w, c in zip(corpus.words[a:b], corpus.counts[a:b], strict=True)}
        for a, b in zip(corpus.indptr[:-1], corpus.indptr[1:], strict=True)
    ]


def test_words_are_counted_in_lower_case_without_stop_words():
    corpus = Corpus.from_texts(FRUIT)
    assert corpus.vocabulary == ("apple", "banana", "cherry")
    assert counts(corpus) == [{"apple": 2, "banana": 1}, {"banana": 1, "cherry": 1}, {"apple": 1, "cherry": 2}]
    assert corpus.titles == ("document 0", "document 1", "document 2")


def test_empty_documents_keep_their_rows():
    corpus = Corpus.from_texts(["", "apple", "the and of", "12 345"])
    assert corpus.n_documents == 4
    assert corpus.document_tokens.tolist() == [0, 1, 0, 0]


def test_one_document_is_a_corpus():
    assert Corpus.from_texts(["apple"]).n_tokens == 1


def test_contractions_leave_no_stumps():
    assert Corpus.from_texts(["we don't know; they've said it isn't apple, we'll eat apples"]).vocabulary == (
        "apple",
        "apples",
        "eat",
        "know",
        "said",
    )


def test_words_of_any_alphabet_count_and_numbers_do_not():
    assert Corpus.from_texts(["Äpfel яблоко りんご 42 x_1"]).vocabulary == ("äpfel", "яблоко", "りんご")


def test_stop_words_may_be_given_or_left_alone():
    assert Corpus.from_texts(FRUIT, stop_words=["apple"]).vocabulary == ("and", "banana", "cherry")
    assert "and" in Corpus.from_texts(FRUIT, stop_words=None).vocabulary


def test_stop_words_are_cut_by_the_same_pattern_as_the_text():
    assert Corpus.from_texts(["e-mail apple"], stop_words=["E-Mail"], token_pattern=r"[a-z]+").vocabulary == ("apple",)


def test_rare_and_frequent_words_are_pruned():
    texts = ["apple banana", "apple cherry", "apple cherry"]
    assert Corpus.from_texts(texts, min_documents=2).vocabulary == ("apple", "cherry")
    assert Corpus.from_texts(texts, max_share=0.7).vocabulary == ("banana", "cherry")
    assert Corpus.from_texts(texts, max_share=0.7).n_documents == 3


def test_the_most_frequent_words_stay_and_ties_go_by_alphabet():
    assert Corpus.from_texts(["pear pear fig fig apple date"], max_words=3).vocabulary == ("apple", "fig", "pear")


def test_labels_and_name_are_kept():
    corpus = Corpus.from_texts(FRUIT, labels=["x", "y", "z"], name="fruit")
    assert (corpus.labels, corpus.name) == (("x", "y", "z"), "fruit")


@pytest.mark.parametrize(
    ("texts", "options", "sentence"),
    [
        ("apple", {}, "texts must be a list of strings, one per document; a single string came"),
        ([], {}, "a corpus needs at least one document; no text came"),
        (
            ["apple", None],
            {},
            "every text must be a string; text 1 (counted from 0) is None; leave its row out, or put '' there "
            "to keep an empty document",
        ),
        (
            ["apple", float("nan")],
            {},
            "every text must be a string; text 1 (counted from 0) is nan; leave its row out, or put '' there "
            "to keep an empty document",
        ),
        (
            ["", "the"],
            {},
            r"no word left in 2 text(s) after stop words and token_pattern='[^\\W\\d_]{2,}'; "
            "give longer texts, stop_words=None or another pattern",
        ),
        (
            ["apple", "banana"],
            {"min_documents": 2},
            "none of 2 words is in at least 2 and at most 100% of 2 documents; lower min_documents or raise max_share",
        ),
        (FRUIT, {"min_documents": 0}, "min_documents must be a whole number of at least 1; got 0"),
        (FRUIT, {"max_share": 1.5}, "max_share must be a share of the documents, above 0 and at most 1; got 1.5"),
        (FRUIT, {"max_words": 0}, "max_words must be a whole number of at least 1, or None for all; got 0"),
        (FRUIT, {"stop_words": "german"}, "stop_words must be 'english', a list of words or None; got 'german'"),
        (FRUIT, {"stop_words": 3}, "stop_words must be 'english', a list of words or None; got 3"),
        (FRUIT, {"max_share": None}, "max_share must be a share of the documents, above 0 and at most 1; got None"),
        (FRUIT, {"titles": ["one"]}, "titles must have one entry per document (3); it has 1"),
        (
            FRUIT,
            {"token_pattern": "(a)(b)"},
            "token_pattern may have one group, the word; '(a)(b)' has 2; write (?:…) for the others",
        ),
    ],
)
def test_wrong_texts_are_refused_with_a_sentence(texts, options, sentence):
    with pytest.raises(CorpusError) as refused:
        Corpus.from_texts(texts, **options)
    assert str(refused.value) == sentence


def test_a_pattern_that_is_no_pattern_is_refused():
    with pytest.raises(CorpusError, match=re.escape("token_pattern must be a regular expression; '[' is not")):
        Corpus.from_texts(FRUIT, token_pattern="[")
