"""Corpora from what Python holds documents in, and back."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from data_files import refused
from toys import simulated

import workbench as wb
from workbench.corpus import Corpus

TEXTS = ["green ideas sleep", "furiously green ideas", ""]
TOKENS = [["b", "a", "b"], [], ["The", "a"]]
TABLE = pd.DataFrame(
    {
        "body": TEXTS,
        "key": ["x", "y", "z"],
        "when": ["2020-01-02", "2021-12-31 10:00", "1999-05-05"],
        "year": [3, 1, 2],
        "kind": ["p", "q", "p"],
    }
)
COUNTS = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])
PAIRS = [[(0, 2), (2, 1.0)], [], [(1, 3)]]
WORDS = ("red", "green", "blue")


def same(one: Corpus, other: Corpus) -> bool:
    return one.content_hash == other.content_hash


def test_texts_are_counted_as_from_texts_does():
    wanted = Corpus.from_texts(TEXTS)
    for given in (TEXTS, tuple(TEXTS), iter(TEXTS), pd.Series(TEXTS), np.array(TEXTS)):
        assert same(wb.corpus_of(given), wanted)
    titled = wb.corpus_of(pd.Series(TEXTS, index=["one", "two", "three"]))
    assert titled.titles == ("one", "two", "three") and titled.vocabulary == wanted.vocabulary


def test_tokens_are_taken_as_they_are():
    found = wb.corpus_of(TOKENS)
    assert (
        found.vocabulary == ("The", "a", "b")
        and found.n_documents == 3
        and found.document_tokens.tolist() == [3, 0, 2]
    )
    assert same(wb.corpus_of([tuple(row) for row in TOKENS]), found)


@pytest.mark.parametrize(
    "given",
    [
        COUNTS,
        COUNTS.astype(float),
        scipy.sparse.csr_matrix(COUNTS),
        scipy.sparse.csr_array(COUNTS),
        scipy.sparse.coo_array(COUNTS),
        scipy.sparse.csc_array(COUNTS),
        PAIRS,
    ],
    ids=lambda given: type(given).__name__,
)
@pytest.mark.parametrize(
    "vocabulary",
    [
        WORDS,
        np.array(WORDS),
        dict(enumerate(WORDS)),
        {word: at for at, word in enumerate(WORDS)},
        None,
    ],
    ids=lambda given: type(given).__name__,
)
def test_counts_have_the_words_of_the_vocabulary(given, vocabulary):
    found = wb.corpus_of(given, vocabulary=vocabulary)
    words = ("w0", "w1", "w2") if vocabulary is None else WORDS
    assert same(found, Corpus.from_pairs([0, 0, 2], [0, 2, 1], [2, 1, 3], words, 3))
    np.testing.assert_array_equal(found.to_scipy().toarray(), COUNTS)


def test_a_dictionary_of_gensim_is_a_vocabulary():
    class Dictionary(dict):
        token2id = {"red": 0, "green": 1, "blue": 2}  # noqa: RUF012

    assert wb.corpus_of(PAIRS, vocabulary=Dictionary()).vocabulary == WORDS


def test_columns_of_a_table_are_text_titles_times_and_labels():
    found = wb.corpus_of(TABLE, text="body", id="key", time="when", label="kind")
    assert (found.titles, found.times, found.labels) == (
        ("x", "y", "z"),
        ("2020-01-02", "2021-12-31T10:00:00", "1999-05-05"),
        ("p", "q", "p"),
    )
    assert same(wb.corpus_of(TABLE[["body"]]), Corpus.from_texts(TEXTS))
    assert wb.corpus_of(TABLE.rename(columns={"body": "text"}), time="year").times == (3, 1, 2)
    assert wb.corpus_of(
        TABLE.assign(when=pd.to_datetime(TABLE["when"], format="mixed")), text="body", time="when"
    ).times == ("2020-01-02", "2021-12-31T10:00:00", "1999-05-05")
    back = found.to_dataframe()
    assert back["title"].tolist() == ["x", "y", "z"] and back["time"].tolist() == list(found.times)
    assert back["n_tokens"].tolist() == [3, 3, 0] and "label" in back


@pytest.mark.parametrize(
    ("given", "about", "said"),
    [
        (3, {}, "documents are a Corpus, .*; got 3; one text is written"),
        ("one text", {}, "got 'one text'; one text is written"),
        ({"a": 1}, {}, "got a dict"),
        ([1, 2], {}, r"document 0 \(counted from 0\) is 1"),
        ([], {}, "at least one document"),
        (["one", None], {}, r"text 1 \(counted from 0\) is None"),
        (TEXTS, {"text": "body"}, "text= names a column of a DataFrame"),
        (TABLE, {}, "which column has the texts.* 'body', 'key', 'when', 'kind'"),
        (TABLE, {"text": "bodies"}, "no column 'bodies' for text=; did you mean 'body'"),
        (
            TABLE,
            {"text": "body", "time": "key"},
            r"row 0 .counted from 0.: 'key' must be a date, as 2024-07-31, or a whole number, as 2024; it is 'x'",
        ),
        (TABLE, {"text": "body", "vocabulary": WORDS}, "leave vocabulary= out"),
        (TEXTS, {"vocabulary": WORDS}, "vocabulary= out"),
        ([["a"], [("b", 2)]], {}, "of .word id, count. pairs, and nothing else"),
        ([[1, 2]], {}, "nothing else; got 1"),
        (COUNTS * 0.5, {}, "whole numbers"),
        (COUNTS, {"vocabulary": WORDS[:2]}, "must have 3 words; it has 2"),
        (COUNTS, {"vocabulary": "red"}, "a vocabulary is a list of words here"),
        (COUNTS, {"vocabulary": {0: "red", 2: "blue"}}, "no word for the id 1"),
        (PAIRS, {"vocabulary": ("a",)}, r"word ids must lie in 0\.\.0"),
        (COUNTS * 0, {}, "at least one token"),
        ([[], []], {}, "at least one token"),
        (-COUNTS, {}, "must not be negative"),
        (simulated(), {"id": "x"}, "id= names a column"),
        (simulated(), {"vocabulary": WORDS}, "leave vocabulary= out"),
        (TEXTS, {"ngram": 2}, "no option 'ngram' of raw text; did you mean 'ngrams'"),
        (
            TOKENS,
            {"ngrams": 2},
            "ngrams= is for raw text, and a list of tokens or of counts is counted as it is; leave it out",
        ),
        (
            pd.Series(TOKENS),
            {"ngrams": 2},
            "ngrams= is for raw text, and a list of tokens is counted",
        ),
        (COUNTS, {"stop_words": None}, "stop_words= is for raw text, and a matrix of counts"),
        (simulated(), {"keep_text": False}, "keep_text= is for raw text, and a Corpus"),
    ],
    ids=lambda given: None,
)
def test_corpus_of_refuses_what_holds_no_documents(given, about, said):
    assert re.search(said, refused(wb.corpus_of, given, **about))


def test_missing_texts_of_pandas_are_empty_documents_and_named():
    wanted = Corpus.from_texts(["red ant", "", "", "", "", "bee"])
    holes = ["red ant", None, np.nan, pd.NA, float("nan"), "bee"]
    said = "4 of 6 texts are missing and are empty documents: 'document 1', 'document 2', 'document 3' and 1 more"
    with pytest.warns(UserWarning, match=said):
        assert same(wb.corpus_of(pd.Series(holes, dtype=object)), wanted)
    table = pd.DataFrame(
        {
            "text": holes,
            "key": ["a", "b", "c", "d", "e", "f"],
            "kind": ["x", None, "y", "y", "y", "y"],
        }
    )
    with pytest.warns(UserWarning, match="empty documents: 'b', 'c', 'd' and 1 more"):
        found = wb.corpus_of(table, id="key", label="kind")
    assert found.indptr.tolist() == wanted.indptr.tolist() and found.labels == (
        "x",
        "",
        "y",
        "y",
        "y",
        "y",
    )
    assert found.table.texts == ("red ant", "", "", "", "", "bee")
    with pytest.warns(
        UserWarning, match="^1 of 2 texts is missing and is an empty document: 'document 0'$"
    ):
        wb.corpus_of(pd.Series([None, "bee"]))


def test_lists_of_tokens_of_pandas_are_taken_as_they_are():
    wanted = wb.corpus_of(TOKENS)
    assert same(wb.corpus_of(pd.Series(TOKENS)), wanted)
    titled = Corpus.from_tokens(TOKENS, titles=list("abc"))
    assert same(wb.corpus_of(pd.Series(TOKENS, index=list("abc"))), titled)
    table = pd.DataFrame({"words": TOKENS, "n": [1, 2, 3]})
    for found in (
        wb.corpus_of(table),
        wb.corpus_of(table.assign(words=table["words"].map(np.array)), text="words"),
    ):
        assert (
            same(found, wanted)
            and found.table.texts is None
            and found.table.metadata == {"n": (1, 2, 3)}
        )
    assert (
        wb.corpus_of(table, keep_text=False).table is None
        and wb.corpus_of(table[["words"]]).table is None
    )
    with pytest.warns(UserWarning, match="1 of 3 texts is missing"):
        assert same(wb.corpus_of(pd.Series([TOKENS[0], None, TOKENS[2]])), wanted)


@pytest.mark.parametrize(
    "given", [TEXTS, pd.Series(TEXTS), TABLE[["body"]]], ids=lambda given: type(given).__name__
)
def test_words_of_texts_are_counted_as_asked_for(given):
    for options in (
        {"stop_words": ["green"], "ngrams": 2},
        {"tokenizer": str.split, "keep_text": False},
        {"max_words": 2},
    ):
        found, wanted = wb.corpus_of(given, **options), Corpus.from_texts(TEXTS, **options)
        assert same(found, wanted) and (found.table is None) == (wanted.table is None)


def test_a_corpus_is_itself_and_a_notebook_shows_it():
    corpus = simulated()
    assert wb.corpus_of(corpus) is corpus
    shown = wb.corpus_of([["<b>", "a"], ["a"]], name="<i>")._repr_html_()
    assert (
        "&lt;i&gt;" in shown
        and "a &lt;b&gt;" in shown
        and "<b>" not in shown
        and "document 0 · document 1<" in shown
    )
    assert "document 2 …" in corpus._repr_html_()
