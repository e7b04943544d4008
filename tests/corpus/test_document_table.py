"""What is kept of documents beside their counts: texts and columns."""

import gzip
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from data_files import put, refused

import workbench as wb
from workbench.corpus import Corpus
from workbench.corpus.document_table import DocumentTable
from workbench.errors import DataError

TEXTS = ("The red ant.", "A green bee!", "")
TABLE = DocumentTable({"text": TEXTS, "kind": ("x", None, "z")}, "text", {"lowercase": True})


def test_a_table_comes_back_from_its_file(tmp_path):
    path = TABLE.save(tmp_path)
    found, before = DocumentTable.load(path), path.stat().st_mtime_ns
    assert (found.columns, found.text, found.counted) == (
        TABLE.columns,
        "text",
        {"lowercase": True},
    )
    assert found.content_hash == TABLE.content_hash and path.name.startswith(TABLE.content_hash)
    assert (
        TABLE.save(tmp_path) == path
        and path.stat().st_mtime_ns == before
        and [*tmp_path.iterdir()] == [path]
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-9],
        lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
        lambda data: b"",
        lambda data: gzip.compress(gzip.decompress(data).replace(b"red", b"bed")),
        lambda data: gzip.compress(b"[]"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage):
    path = TABLE.save(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match=r"is damaged \(\w+\); save it again"):
        DocumentTable.load(path)
    path.unlink()
    assert "there is no file" in refused(DocumentTable.load, path)


def test_values_are_text_numbers_or_none():
    values = [
        np.int64(3),
        2.5,
        float("nan"),
        np.nan,
        float("inf"),
        True,
        date(2020, 1, 2),
        datetime(2020, 1, 2, 3),
        pd.NaT,
        pd.NA,
        pd.Timestamp("2020-01-02"),
        ["a", 1],
        {"b": None},
        None,
        b"c",
    ]
    table = DocumentTable({"x": values})
    assert table.columns["x"] == (
        3,
        2.5,
        None,
        None,
        "inf",
        True,
        "2020-01-02",
        "2020-01-02T03:00:00",
        None,
        None,
        "2020-01-02",
        '["a", 1]',
        '{"b": null}',
        None,
        "b'c'",
    )
    assert len(table.content_hash) == 64 and table.texts is None and table.metadata == table.columns


@pytest.mark.parametrize(
    ("columns", "text", "said"),
    [
        ({"a": (1, 2), "b": (1,)}, None, "must have one length; they have 'a' 2, 'b' 1"),
        ({}, None, "they have none"),
        ({"a": (1,)}, "b", "no column 'b' of texts; there are 'a'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, text, said):
    assert said in refused(DocumentTable, columns, text)


def test_a_column_is_found_by_its_name():
    assert TABLE.column("kind") == ("x", None, "z")
    assert "no column 'kinds'; did you mean 'kind'" in refused(TABLE.column, "kinds")


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        (
            "a.csv",
            "text,kind,n\nThe red ant,x,1\nA bee,,2\n",
            {"text": ("The red ant", "A bee"), "kind": ("x", ""), "n": ("1", "2")},
        ),
        (
            "a.jsonl",
            '{"text": "The red ant", "n": 1}\n{"text": "A bee", "kind": {"of": "b"}}\n',
            {"text": ("The red ant", "A bee"), "n": (1, None), "kind": (None, '{"of": "b"}')},
        ),
        ("a.mallet", "one x The red ant\ntwo y A bee\n", {"text": ("The red ant", "A bee")}),
        (
            "a.jsonl",
            '{"counts": {"ant": 1}, "n": 1}\n{"counts": {"bee": 1}, "n": 2}\n',
            {"n": (1, 2)},
        ),
        (
            "a.csv",
            "document,word,count,n\none,ant,2,7\none,bee,1,7\ntwo,bee,1,8\n",
            {"document": ("one", "two"), "n": ("7", "8")},
        ),
    ],
)
def test_a_file_keeps_its_columns_unless_they_are_not_wanted(tmp_path, name, content, columns):
    path = put(tmp_path, name, content)
    kept, left = (wb.load_corpus(path, keep_text=keep) for keep in (True, False))
    assert kept.table.columns == columns and kept.table.text == (
        "text" if "text" in columns else None
    )
    assert left.table is None and left.content_hash == kept.content_hash


def test_a_data_frame_keeps_its_columns():
    frame = pd.DataFrame(
        {"body": TEXTS, "when": pd.to_datetime(["2020-01-02"] * 3), "n": [1, 2, 3]}
    )
    corpus = wb.corpus_of(frame, text="body")
    assert (
        corpus.table.columns == {"body": TEXTS, "when": ("2020-01-02",) * 3, "n": (1, 2, 3)}
        and corpus.table.text == "body"
    )
    assert corpus.to_dataframe()[["body", "n"]].to_dict("list") == {
        "body": list(TEXTS),
        "n": [1, 2, 3],
    }
    assert (
        wb.corpus_of(list(TEXTS)).table.texts == TEXTS
        and wb.corpus_of([["a"], ["b"]]).table is None
    )


def test_rows_go_with_their_documents():
    corpus = Corpus.from_texts(TEXTS)
    assert corpus.of_documents([1, 0]).table.texts == TEXTS[1::-1]
    train, test = wb.hold_out_tokens(corpus, 0.25)
    assert train.table is corpus.table and train.n_tokens + test.n_tokens == corpus.n_tokens
    assert "a row per document (1); it has 3" in refused(
        Corpus.from_pairs, [0], [0], [1], table=TABLE
    )
