"""What each rule leaves out of texts is noted where it is asked for."""

from workbench.corpus import Corpus
from workbench.corpus.texts.counting import noting_dropped

TEXTS = ["the red ant ox red", "the red bee ox", "red cow the the"]
"""6 words and 13 tokens, of which 4 are "the" and 4 "red"."""


def test_words_and_tokens_that_each_rule_leaves_out_are_told_one_after_the_other():
    with noting_dropped() as noted:
        corpus = Corpus.from_texts(
            TEXTS, stop_words=["the", "not there"], min_letters=3, max_share=0.9
        )
    assert noted == {
        "found": [6, 13],
        "stop_words": [1, 4],
        "min_letters": [1, 2],
        "min_documents": [0, 0],
        "max_share": [1, 4],
        "max_words": [0, 0],
    }
    assert list(noted)[1:] == [
        "stop_words",
        "min_letters",
        "min_documents",
        "max_share",
        "max_words",
    ]
    words, tokens = (
        noted["found"][at] - sum(each[at] for name, each in noted.items() if name != "found")
        for at in (0, 1)
    )
    assert (words, tokens) == (corpus.n_words, corpus.n_tokens) == (3, 3)


def test_a_word_that_two_rules_leave_out_is_told_of_once():
    with noting_dropped() as noted:
        Corpus.from_texts(
            [*TEXTS, "dog"], stop_words=None, min_documents=2, max_words=1, max_share=0.5
        )
    assert (
        noted["min_documents"] == [4, 4]
        and noted["max_share"] == [2, 8]
        and noted["max_words"] == [0, 0]
    )
    with noting_dropped() as noted:
        Corpus.from_texts(TEXTS, stop_words=None, max_words=2)
    assert noted["max_words"] == [4, 5]


def test_nothing_is_noted_where_nobody_asks():
    with noting_dropped() as noted:
        pass
    Corpus.from_texts(TEXTS)
    assert noted == {}
