"""The columns of a file and their first values, without reading all of it."""

import gzip
import json
import re

import pandas as pd
import pytest
from data_files import put, refused

from workbench.corpus.formats import header
from workbench.corpus.formats.header import MOST_LETTERS, MOST_ROWS, START, columns_in
from workbench.data import rows

NEWS = 'id,date,body\n1,2024-07-31,"red, ""ants"""\n2,,bees\n'


def test_columns_of_a_table_are_given_with_their_first_values(tmp_path):
    wanted = {"id": ["1", "2"], "date": ["2024-07-31", ""], "body": ['red, "ants"', "bees"]}
    for name, content in (
        ("a.csv", NEWS),
        ("a.tsv", NEWS.replace(", ", "; ").replace(",", "\t").replace("; ", ", ")),
        ("a.csv.gz", NEWS),
        ("wide.csv", NEWS.encode("utf-16")),
        ("head.csv", NEWS.replace("id", " id ", 1)),
    ):
        assert columns_in(put(tmp_path, name, content)) == wanted, name
    assert columns_in(put(tmp_path, "only.csv", "id,text\n")) == {"id": [], "text": []}
    assert columns_in(
        put(tmp_path, "latin.csv", "id,text\n1,café\n".encode("cp1252")), encoding="cp1252"
    )["text"] == ["café"]
    # as the reader takes it
    assert columns_in(put(tmp_path, "two.csv", "a,a\n1,2\n")) == {"a": ["1"]}


def test_fields_of_json_lines_are_those_of_the_first_objects(tmp_path):
    lines = [{"id": 1, "text": "red"}, {"text": "blue", "when": None, "about": {"x": 1}}]
    path = put(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines)) + "\nno object")
    assert columns_in(path) == {
        "id": ["1", ""],
        "text": ["red", "blue"],
        "when": ["", ""],
        "about": ["", '{"x": 1}'],
    }


def test_columns_of_parquet_and_excel_are_given(tmp_path):
    frame = pd.DataFrame(
        {"text": ["red", None], "day": pd.to_datetime(["2024-07-31", "2024-08-01"])}
    )
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.iloc[:0].to_parquet(tmp_path / "none.parquet")
    for name in ("a.parquet", "a.xlsx"):
        assert columns_in(tmp_path / name) == {
            "text": ["red", ""],
            "day": ["2024-07-31", "2024-08-01"],
        }, name
    assert columns_in(tmp_path / "none.parquet") == {"text": [], "day": []}


def test_of_a_large_file_the_beginning_is_read_up_to_a_whole_row(tmp_path, monkeypatch):
    row = '"one\ntwo ""three"" %s",x\n' % ("four\n" * 200)
    content = "text,label\n" + row * (2 * START // len(row))
    seen = []
    monkeypatch.setattr(
        header,
        "columns_of",
        lambda path, content: seen.append(len(content)) or rows.columns_of(path, content),
    )
    for name in ("a.csv", "a.csv.gz"):
        found = columns_in(put(tmp_path, name, content))
        assert (
            len(found["text"]) == MOST_ROWS
            and found["label"][0] == "x"
            and len(found["text"][0]) == MOST_LETTERS
        )
    assert max(seen) <= START
    lines = json.dumps({"text": "é" * 1000}, ensure_ascii=False) + "\n"
    assert len(columns_in(put(tmp_path, "a.jsonl", lines * 2000))["text"]) == MOST_ROWS


def test_a_format_without_columns_has_none(tmp_path):
    (tmp_path / "texts").mkdir()
    put(tmp_path / "texts", "1.txt", "red")
    for path in (tmp_path / "texts", put(tmp_path, "docword.a.txt", "1\n1\n1\n1 1 1\n")):
        assert columns_in(path) == {}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", 'text\n"red\n', "check the quotes"),
        ("a.jsonl", b"\xff\n", "is not UTF-8"),
        ("a.parquet", b"PAR1 and no more", "is damaged"),
        ("a.xlsx", b"PK\x03\x04xl/", "is damaged"),
        ("a.csv", gzip.compress(b"text\nred\n", mtime=0)[:14] + b"\xff" * 40, "gzip|compressed"),
        ("a.what", b"\0\1", "not recognised"),
    ],
)
def test_a_file_that_has_none_is_refused_in_one_sentence(tmp_path, name, content, said):
    path = put(tmp_path, name, content)
    sentence = refused(columns_in, path)
    assert str(path) in sentence and re.search(said, sentence)
