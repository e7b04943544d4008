"""Records are read from CSV and Parquet, with file and line for whatever is wrong."""

import sys

import numpy as np
import pandas as pd
import pytest
from data_files import put, refused

from workbench.records import DataError, Records, read_records

TABLE = "colour,size\nred,2\nblue,10\n,10\nred,2\n"
RECORDS = Records.from_columns({"colour": ["red", "blue", "", "red"], "size": [2, 10, 10, 2]})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", TABLE),
        ("a.csv", "\ufeff" + TABLE),
        ("a.csv", TABLE.replace("\n", "\r\n")),
        ("a.csv", TABLE.replace(",", ";")),
        ("a.tsv", TABLE.replace(",", "\t")),
        ("a.csv.gz", TABLE),
        ("a.csv", TABLE.replace("red", '"red"')),
        ("a.csv", TABLE.replace("2\n", "2 \n") + "\n\n"),
    ],
)
def test_every_table_gives_the_same_records(tmp_path, name, content):
    records = read_records(put(tmp_path, name, content))
    assert records.content_hash == RECORDS.content_hash and records.name == "a"


def test_fields_levels_marks_and_multiplicities_are_what_is_asked_for(tmp_path):
    path = put(tmp_path, "a.csv", "a,b,n\nx,NA,2\ny,1,3\nx,?,1\n")
    records = read_records(
        path,
        fields=["b", "a"],
        levels={"b": ["1", "2"]},
        missing=("NA", "?"),
        multiplicity="n",
        name="asked",
    )
    assert (records.fields, records.levels, records.name) == (
        ("b", "a"),
        (("1", "2"), ("x", "y")),
        "asked",
    )
    assert records.values.tolist() == [[-1, 0], [0, 1]] and records.multiplicities.tolist() == [
        3,
        3,
    ]


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (
            "a,b\nx,y\nz\n",
            {},
            "a.csv, line 3: 2 columns were wanted and 1 came; put double quotes around a text that contains ','",
        ),
        (
            "a,b,a\nx,y,z\n",
            {},
            "a.csv: two fields of the header have the name 'a'; rename one of them",
        ),
        ("a,,b\nx,y,z\n", {}, "a.csv: every field of the header needs a name; one has ''"),
        (
            b"a,b\nx,\xff\n",
            {},
            "a.csv, line 2: byte 0xff is not UTF-8; save the file with the encoding UTF-8",
        ),
        ("a,b\n", {}, "a.csv: records need at least one record; none came"),
        ("", {}, "a.csv is empty; a file with data was wanted"),
        (
            'a,b\nx,"y\n',
            {},
            "a.csv, line 2: not a CSV row (unexpected end of data); check the quotes",
        ),
        (
            "a,b\nx,\n,\n",
            {},
            "a.csv: the field 'b' has no known value, so its levels are unknown; name them with levels=…, or "
            "leave the field out",
        ),
        (
            "a,b\nx,y\nq,y\n",
            {"levels": {"a": "xz"}},
            "a.csv, line 3: 'q' is no level of 'a'; there are 'x', 'z'",
        ),
        ("a,b\nx,y\n", {"fields": ["c"]}, "a.csv: there is no column 'c'; there are 'a', 'b'"),
        (
            "a,b\nx,1\ny,1.5\n",
            {"multiplicity": "b"},
            "a.csv, line 3: 'b' must be a whole number of at least 1, not '1.5'",
        ),
    ],
)
def test_wrong_files_are_refused_with_file_and_line(tmp_path, content, options, sentence):
    assert (
        refused(read_records, put(tmp_path, "a.csv", content), **options).replace(
            f"{tmp_path}/", ""
        )
        == sentence
    )


def test_parquet_wants_pyarrow_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "a.parquet is a Parquet file, which needs the package pyarrow; `pip install" in refused(
        read_records, tmp_path / "a.parquet"
    )


def test_parquet_gives_the_same_records(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"colour": ["red", "blue", None, "red"], "size": [2, 10, 10, 2]}).to_parquet(
        tmp_path / "a.parquet"
    )
    assert read_records(tmp_path / "a.parquet").content_hash == RECORDS.content_hash
    with pytest.raises(
        DataError, match=r"b.parquet is a damaged Parquet file \(\w+\); fetch it again"
    ):
        read_records(put(tmp_path, "b.parquet", b"PAR1"))
    with pytest.raises(DataError, match="there is no file .*c.parquet; check the path"):
        read_records(tmp_path / "c.parquet")


def test_options_as_texts_are_split_at_commas(tmp_path):
    path = put(tmp_path, "a.csv", "a,b,n\nx,NA,2\n,1,3\nx,?,1\n")
    records = read_records(path, fields="b, a", missing="NA,?", multiplicity="n")
    assert (records.fields, records.levels) == (("b", "a"), (("1",), ("x",)))
    assert records.values.tolist() == [[-1, 0], [0, -1]] and records.multiplicities.tolist() == [
        3,
        3,
    ]
    with pytest.raises(
        DataError,
        match="records are read with fields, levels, missing, multiplicity and name, not with text",
    ):
        read_records(path, text="a", stop="english")


def test_the_whole_table_of_a_frame_and_of_its_file_agree(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({f"f{at}": random.choice(["a", "b", ""], 200) for at in range(3)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert read_records(tmp_path / "a.csv").content_hash == Records.from_pandas(frame).content_hash
