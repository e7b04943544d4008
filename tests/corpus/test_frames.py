"""Tables of Parquet and Excel files are read as CSV is."""

import numpy as np
import pandas as pd
import pytest
from data_files import refused

import workbench as wb
from workbench.errors import DataError

TABLE = pd.DataFrame(
    {
        "text": ["red ants", None, "green bees"],
        "day": pd.to_datetime(["2020-01-31", None, "2021-02-01"]),
        "n": [1, 2, 3],
        "share": [0.5, np.nan, 2.0],
        "title": ["one", "two", "three"],
    }
)
COUNTS = pd.DataFrame(
    {"document": ["one", "one", "two"], "word": ["ant", "bee", "bee"], "count": [2, 1, 3]}
)
WRITE = {
    "a.parquet": pd.DataFrame.to_parquet,
    "a.pq": pd.DataFrame.to_parquet,
    "a.xlsx": pd.DataFrame.to_excel,
}


@pytest.fixture(params=WRITE)
def path(request, tmp_path):
    return tmp_path / request.param


def write(table, path, name=None):
    WRITE[path.name](table, path, index=False)
    return path if name is None else path.rename(path.with_name(name))


@pytest.mark.parametrize("name", [None, "table"])
def test_texts_times_and_columns_are_read(path, name):
    corpus = wb.load_corpus(write(TABLE, path, name), time="day")
    assert corpus.table.columns == {
        "text": ("red ants", "", "green bees"),
        "day": ("2020-01-31", "", "2021-02-01"),
        "n": ("1", "2", "3"),
        "share": ("0.5", "", "2"),
        "title": ("one", "two", "three"),
    }
    assert corpus.times == ("2020-01-31", None, "2021-02-01") and corpus.titles == (
        "one",
        "two",
        "three",
    )
    assert corpus.document_tokens.tolist() == [2, 0, 2] and corpus.table.text == "text"


def test_counts_are_read(path):
    corpus = wb.load_corpus(write(COUNTS, path))
    assert corpus.to_scipy().toarray().tolist() == [[2, 1], [0, 3]] and corpus.vocabulary == (
        "ant",
        "bee",
    )


def test_a_wrong_file_is_a_sentence(path):
    write(TABLE, path)
    assert "line 1: no column 'body' for the text; there are 'text', 'day'" in refused(
        wb.load_corpus, path, text="body"
    )
    assert "line 3: 'share' must be a finite number, not ''" in refused(
        wb.load_corpus, path, inputs="share"
    )
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(
        DataError, match=r"is damaged, or not an? (Parquet|Excel) file \(\w+\); fetch it again"
    ):
        wb.load_corpus(path)
    assert "is read only; write one of lda-c" in refused(
        wb.write_corpus, wb.Corpus.from_texts(["red"]), path
    )


def test_a_package_that_is_not_there_is_named(path, monkeypatch):
    write(TABLE, path)
    monkeypatch.setattr("workbench.corpus.formats.frames.find_spec", lambda name: None)
    with pytest.raises(
        DataError,
        match=r"needs the package (pyarrow|openpyxl); `pip install (pyarrow|openpyxl)`, or save",
    ):
        wb.load_corpus(path)
