"""Finding documents by words, phrases and columns; a row for each document."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.corpus.document_table import DocumentTable
from workbench.measures import MeasureError, documents_table, find_documents

TEXTS = ["The red Ant sees bees", "A green bee, a red rose", "", "green ants: bees & rose 12:30"]
COLUMNS = {"text": TEXTS, "kind": ("Insect", "both", None, "Insect"), "a size": (1, 12, 2, 3)}
CORPUS = replace(
    wb.Corpus.from_texts(TEXTS, titles=["first", "second", "third", "rose garden"]),
    labels=("x", "y", "x", ""),
)
TABLE = DocumentTable(COLUMNS, "text")


@pytest.fixture(scope="module")
def run():
    return wb.fit(CORPUS, "cvb0", 2, n_iterations=3, progress=False)


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("red", [0, 1]),
        ("RED", [0, 1]),
        ("red ant", [0]),
        ('"red ant"', [0]),
        ('"ant red"', []),
        ("ant", [0, 3]),
        ("rose", [1, 3]),
        ("kind:insect", [0, 3]),
        ("kind:insect rose", [3]),
        ('kind:"insect"', [0, 3]),
        ('"a size":12', [1]),
        ("label:x", [0, 2]),
        ('"12:30"', [3]),
        ("second", [1]),
        ("zebra", []),
        ('"see"', [0]),
        ('"', []),
        ("none", []),
        ("&", [3]),
        ('"roseboth"', []),
        ('"rose both"', []),
    ],
)
def test_find_documents_matches_every_term(run, query, result):
    assert find_documents(run, query, TABLE, CORPUS).tolist() == result


@pytest.mark.parametrize(
    ("query", "result"),
    [("red", [0, 1]), ("ant", [0]), ("ANT", [0]), ("garden", [3]), ("label:y", [1])],
)
def test_find_documents_uses_word_types_without_texts(run, query, result):
    assert find_documents(run, query, None, CORPUS).tolist() == result
    assert (
        find_documents(run, query, DocumentTable({"kind": COLUMNS["kind"]}), CORPUS).tolist()
        == result
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "type a word, a phrase in quotes, or column:value"),
        ("  ", "type a word"),
        (
            "kin:insect",
            "documents have no column 'kin'; did you mean 'kind'.*; put a text with a colon in quotes",
        ),
        ("http://x", "no column 'http'"),
        ("12:30", "no column '12'"),
    ],
)
def test_find_documents_refuses_wrong_queries(run, query, message):
    with pytest.raises(MeasureError, match=message):
        find_documents(run, query, TABLE, CORPUS)


def test_documents_table_has_a_row_per_document_with_its_largest_topic(run):
    result = documents_table(run, TABLE)
    n_dk = run["n_dk"].isel(snapshot=-1).values
    assert list(result) == [
        "document",
        "title",
        "label",
        "topic",
        "share",
        "n_tokens",
        "kind",
        "a size",
    ]
    for at in (0, 1, 3):
        assert (
            result["topic"][at] == n_dk[at].argmax()
            and result["share"][at] == run["theta"].values[at].max()
        )
    assert (
        result["topic"].isna().tolist()
        == result["share"].isna().tolist()
        == [False, False, True, False]
    )
    assert result["n_tokens"].tolist() == CORPUS.document_tokens.tolist() and result[
        "a size"
    ].tolist() == [1, 12, 2, 3]


def test_documents_table_has_topic_labels_and_renames_columns_of_taken_names(run):
    labelled = run.assign(topic_label=("topic", np.array(["one", ""], object)))
    result = documents_table(labelled, DocumentTable({"title": ("a", "b", "c", "d")}))
    assert list(result)[-1] == "title of the table" and result["title of the table"].tolist() == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert result["topic_label"].tolist() == [
        "" if topic else "one" for topic in result["topic"].fillna(1)
    ]
    assert "kind" not in documents_table(run)
