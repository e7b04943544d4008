"""Inputs and sequences of documents are read from CSV and JSON lines, kept in npz, and go through every preparation."""

import json
import warnings

import numpy as np
import pytest

from workbench.corpus import (
    Corpus,
    CorpusError,
    drop_singletons,
    drop_stop_words,
    frequent_words,
    hold_out_documents,
    hold_out_tokens,
    keep_documents,
    keep_top_words,
    prepare,
    read_corpus,
    split_halves,
    write_corpus,
)

ASKED = {"inputs": "year, lat", "sequence": "state", "position": "month"}
YEARS, LATITUDES, PLACES = [1999, 2000, 2001], [1.5, -2, 3], (("ca", 3), ("ny", 1), ("ca", 1))
TEXTS = (
    "text,year,lat,state,month\nant bee,1999,1.5,ca,3\nbee,2000,-2,ny,1\nant,2001.0,3e0,ca,1.0\n"
)
COUNTS = (
    "document,word,count,year,lat,state,month\na,ant,1,1999,1.5,ca,3\na,bee,2,1999,1.5,ca,3\nb,bee,1,2000,-2,ny,1\n"
    "c,ant,1,2001,3,ca,1\n"
)
ENTRIES = [
    {"year": year, "lat": lat, "state": state, "month": month}
    for year, lat, (state, month) in zip(YEARS, LATITUDES, PLACES, strict=True)
]


def put(folder, name, content):
    path = folder / name
    path.write_text(content)
    return path


def lines(*entries):
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", TEXTS),
        ("a.csv", COUNTS),
        ("a.jsonl", lines(*({"text": "ant bee", **entry} for entry in ENTRIES))),
        ("a.jsonl", lines(*({"counts": {"ant": 1, "bee": 2}, **entry} for entry in ENTRIES))),
        ("a.jsonl", lines(*({"tokens": ["ant", "bee"], **entry} for entry in ENTRIES))),
        (
            "a.jsonl",
            lines(*({"text": "ant bee", **entry, "year": str(entry["year"])} for entry in ENTRIES)),
        ),
    ],
)
def test_every_table_gives_the_same_inputs_and_sequence(tmp_path, name, content):
    corpus = read_corpus(put(tmp_path, name, content), **ASKED)
    assert corpus.input_names == ("year", "lat")
    assert corpus.inputs.tolist() == np.transpose([YEARS, LATITUDES]).tolist()
    assert corpus.sequence == PLACES
    bare = read_corpus(tmp_path / name)
    assert bare.inputs is None and bare.sequence is None


def test_without_positions_the_order_of_the_file_is_the_order_of_the_sequence(tmp_path):
    corpus = read_corpus(put(tmp_path, "a.csv", TEXTS), sequence="state")
    assert corpus.sequence == (("ca", 0), ("ny", 0), ("ca", 1)) and corpus.inputs is None


def known(corpus):
    return corpus.input_names, corpus.inputs.tolist(), corpus.sequence


def test_npz_holds_them_and_other_formats_say_that_they_do_not(tmp_path):
    corpus = read_corpus(put(tmp_path, "a.csv", TEXTS), **ASKED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_corpus(corpus, tmp_path / "a.npz")
    found = read_corpus(tmp_path / "a.npz")
    assert found.content_hash == corpus.content_hash and known(found) == known(corpus)
    for name in ("b.csv", "b.jsonl", "b.dat", "b.mtx", "docword.b.txt", "b.mallet"):
        with pytest.warns(
            UserWarning, match="has no place for .*inputs, sequence.*; npz holds everything"
        ):
            write_corpus(corpus, tmp_path / name)


def test_every_preparation_and_split_carries_them():
    corpus = Corpus.from_texts(
        ["ant ant bee bee cow", "the bee bee cow cow", "ant ant ant cow"],
        stop_words=None,
        labels="xyx",
        inputs={"year": YEARS, "lat": LATITUDES},
        sequence=PLACES,
    )
    whole = [
        *hold_out_tokens(corpus, 0.3),
        *split_halves(corpus),
        keep_top_words(corpus, 2),
        drop_stop_words(corpus),
        frequent_words(corpus, 3),
        *drop_singletons(*hold_out_tokens(corpus, 0.3)),
        *prepare(corpus, 0.3, top_words=3)[:2],
    ]
    for part in whole:
        assert known(part) == known(corpus)
    rows = np.transpose([YEARS, LATITUDES])
    for part in (
        *hold_out_documents(corpus, 0.4),
        keep_documents(corpus, "x"),
        keep_documents(corpus, "y"),
    ):
        chosen = [YEARS.index(year) for year in part.input("year")]
        assert known(part) == (
            ("year", "lat"),
            rows[chosen].tolist(),
            tuple(PLACES[row] for row in chosen),
        )


@pytest.mark.parametrize(
    ("name", "content", "asked", "sentence"),
    [
        (
            "a.csv",
            "text,year\nant,x1\n",
            {"inputs": "year"},
            "a.csv, line 2: 'year' must be a finite number, not 'x1'",
        ),
        (
            "a.csv",
            "text,year\nant,1\nbee,\n",
            {"inputs": "year"},
            "a.csv, line 3: 'year' must be a finite number, not ''",
        ),
        (
            "a.csv",
            "text,year\nant,nan\n",
            {"inputs": "year"},
            "a.csv, line 2: 'year' must be a finite number, not 'nan'",
        ),
        (
            "a.csv",
            "text,year\nant,1\n",
            {"inputs": ["lat"]},
            "a.csv, line 1: no column 'lat' for the inputs; there are 'text', 'year'; say which with inputs=…",
        ),
        (
            "a.csv",
            "text,s,p\nant,a,1.5\n",
            {"sequence": "s", "position": "p"},
            "a.csv, line 2: 'p' must be a whole number, not '1.5'",
        ),
        (
            "a.csv",
            "text,s\nant, \n",
            {"sequence": "s"},
            "a.csv, line 2: 's' is empty; the name of a sequence was wanted",
        ),
        (
            "a.csv",
            "text,s,p\nant,a,1\nbee,a,1\n",
            {"sequence": "s", "position": "p"},
            "a.csv: the sequence 'a' has the position 1 twice, in documents 0 and 1 (counted from 0); a position may stand "
            "once in a sequence",
        ),
        (
            "a.csv",
            "text,p\nant,1\n",
            {"position": "p"},
            "'p' gives positions and no column gives the sequences; say which with sequence=…",
        ),
        (
            "a.csv",
            "document,word,count,year\na,ant,1,1\na,bee,1,2\n",
            {"inputs": "year"},
            "a.csv, line 3: 'year' of document 'a' is '2' here and '1' on line 2; a document has one",
        ),
        (
            "a.jsonl",
            lines({"text": "ant", "year": True}),
            {"inputs": "year"},
            "a.jsonl, line 1: 'year' must be a finite number, not 'True'",
        ),
        (
            "a.jsonl",
            lines({"text": "ant", "year": 1}, {"text": "bee"}),
            {"inputs": "year"},
            "a.jsonl, line 2: no field 'year' for the inputs; there are 'text'; say which with inputs=…",
        ),
        (
            "docword.a.txt",
            "1\n1\n1\n1 1 1\n",
            {"inputs": "year"},
            "docword.a.txt is a UCI bag of words, and times, inputs and sequences are read from tables and JSON lines; "
            "leave inputs out",
        ),
    ],
)
def test_wrong_columns_are_refused_with_file_and_line(tmp_path, name, content, asked, sentence):
    with pytest.raises(CorpusError) as refused:
        read_corpus(put(tmp_path, name, content), **asked)
    assert str(refused.value).replace(f"{tmp_path}/", "") == sentence
