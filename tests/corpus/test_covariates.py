"""Inputs and sequences of documents are read from CSV and JSON lines, and go through every preparation."""

import json

import numpy as np
import pytest
from data_files import put, refusal

from workbench.cli import main
from workbench.corpus import (
    Corpus,
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
WIDE = (
    "title,year,lat,Ann,Bob\nOH 1995,1995,40.5,3,0\nOH 1996,1996,40.5,0,0\nUT 1995,1995,39.5,1,12\n"
)
ENTRIES = [
    {"year": year, "lat": lat, "state": state, "month": month}
    for year, lat, (state, month) in zip(YEARS, LATITUDES, PLACES, strict=True)
]


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
            "text,year\nant,1\nbee,n/a\ncow,2\ndog,\n",
            {"inputs": "year"},
            "a.csv, line 3: 'year' must be a finite number, not 'n/a'; 2 of 4 are none: line 3 'n/a', line 5 ''; "
            "fill them in or leave these documents out",
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
        (
            "x.fa",
            ">a\nAC\n>a\nC\n",
            {},
            "x.fa, line 3: every record needs a name of its own; got 'a'",
        ),
        (
            "x.fa",
            ">a\nA1\n",
            {},
            "x.fa, line 2: '1' is no symbol; letters, * and - are; take it out",
        ),
        ("x.fa", ">a\n>b\nA\n", {}, "x.fa: the record 'a' has no symbol; leave it out"),
        ("x.fa", "AC\n>b\nA\n", {}, "x.fa, line 1: a record begins with a line >name; got 'AC'"),
        (
            "births.csv",
            WIDE.replace(",12", ",many"),
            {"inputs": "year,lat"},
            "births.csv, line 1: no column 'text' for the text; there are 'title', 'year', 'lat', 'Ann', 'Bob'; say which "
            "with text=…",
        ),
    ],
)
def test_wrong_columns_are_refused_with_file_and_line(tmp_path, name, content, asked, sentence):
    assert refusal(put(tmp_path, name, content), **asked) == sentence


# ---------------------------------------------------------------------- a stranger's files

LONG = "document,year,lat,word,count\nOH 1995,1995,40.5,Ann,3\nOH 1996,1996,40.5,Ann,0\nUT 1995,1995,39.5,Ann,1\n"
LONG += "UT 1995,1995,39.5,Bob,12\n"


@pytest.mark.parametrize("content", [WIDE, LONG], ids=["wide", "long"])
def test_a_table_of_counts_is_read_with_its_inputs(tmp_path, content):
    corpus = read_corpus(put(tmp_path, "births.csv", content), inputs="year,lat")
    assert corpus.titles == ("OH 1995", "OH 1996", "UT 1995") and corpus.vocabulary == (
        "Ann",
        "Bob",
    )
    assert corpus.document_tokens.tolist() == [3, 0, 13] and corpus.counts.tolist() == [3, 1, 12]
    assert corpus.input("year").tolist() == [1995, 1996, 1995] and corpus.input("lat").tolist() == [
        40.5,
        40.5,
        39.5,
    ]


def test_columns_of_a_long_table_are_named_and_several_make_a_document(tmp_path):
    """Two documents whose names run together alike, "a b" "c" and "a" "b c", stay two."""
    content = "state,year,name,births,text\na b,c,Ann,3,x\na,b c,Bob,1,x\na b,c,Bob,2,x\n"
    path = put(tmp_path, "births.csv", content)
    corpus = read_corpus(path, document="state, year", word="name", count="births")
    assert corpus.titles == ("a b c", "a b c") and corpus.vocabulary == ("Ann", "Bob")
    assert corpus.documents.tolist() == [0, 0, 1] and corpus.counts.tolist() == [3, 2, 1]
    sentence = refusal(path, document="sex", word="name", count="births")
    assert (
        "line 1: no column 'sex' for documents, words and counts; there are 'state', " in sentence
    )
    sentence = refusal(put(tmp_path, "two.fa", ">one\nAC\n"), word="symbol")
    assert "are those of a table; leave document, word and count out" in sentence


def test_records_of_fasta_are_sequences_of_symbols(tmp_path):
    path = put(tmp_path, "two.fa", ">one first\nacG\nT\n\n>two\nTT*\n")
    corpus = read_corpus(path)
    assert corpus.vocabulary == ("*", "A", "C", "G", "T") and corpus.words.tolist() == [
        1,
        2,
        3,
        4,
        4,
        4,
        0,
    ]
    assert corpus.sequence[3:5] == (("one", 3), ("two", 0)) and np.all(corpus.document_tokens == 1)
    assert "two.fa: the word '*' is not in the vocabulary" in refusal(path, vocabulary=list("ACGT"))


def test_a_text_is_one_sequence_of_its_words(tmp_path):
    path = put(tmp_path, "rhyme.txt", "The cat sat. The dog sat, the cat ran.\n")
    corpus = read_corpus(path, format="words")
    assert [corpus.vocabulary[w] for w in corpus.words] == [
        "cat",
        "sat",
        "dog",
        "sat",
        "cat",
        "ran",
    ]
    assert corpus.sequence == tuple(("rhyme", at) for at in range(6))
    few = read_corpus(path, format="words", max_words=2, stop_words=None)
    assert [few.vocabulary[w] for w in few.words] == ["the", "cat", "the", "the", "cat"]
    assert "leave out min_documents" in refusal(path, format="words", min_documents=2)


def test_rows_of_a_strangers_table_are_held_out_on_the_command_line(tmp_path, capsys):
    (tmp_path / "births.csv").write_text(WIDE)
    fit = ["fit", str(tmp_path / "births.csv"), "--read", "inputs=year,lat", "-q"]
    status = main([*fit, "--holdout-rows", "title=UT"])
    assert (
        status == 2
        and "has no input and no field 'title' to hold out rows by" in capsys.readouterr().err
    )
    assert (
        main(
            [
                *fit,
                "--holdout-rows",
                "lat=39.5",
                "-n",
                "2",
                "-k",
                "2",
                "--store",
                str(tmp_path / "runs"),
            ]
        )
        == 0
    )
