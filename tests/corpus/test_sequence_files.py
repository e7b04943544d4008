"""A stranger's files: counts in wide and long tables with inputs, FASTA, and running text."""

import numpy as np
import pytest

from workbench.cli import main
from workbench.corpus import CorpusError, read_corpus

WIDE = (
    "title,year,lat,Ann,Bob\nOH 1995,1995,40.5,3,0\nOH 1996,1996,40.5,0,0\nUT 1995,1995,39.5,1,12\n"
)
LONG = "document,year,lat,word,count\nOH 1995,1995,40.5,Ann,3\nOH 1996,1996,40.5,Ann,0\nUT 1995,1995,39.5,Ann,1\n"
LONG += "UT 1995,1995,39.5,Bob,12\n"


@pytest.mark.parametrize("content", [WIDE, LONG], ids=["wide", "long"])
def test_a_table_of_counts_is_read_with_its_inputs(tmp_path, content):
    (tmp_path / "births.csv").write_text(content)
    corpus = read_corpus(tmp_path / "births.csv", inputs="year,lat")
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
    (tmp_path / "births.csv").write_text(
        "state,year,name,births,text\na b,c,Ann,3,x\na,b c,Bob,1,x\na b,c,Bob,2,x\n"
    )
    corpus = read_corpus(
        tmp_path / "births.csv", document="state, year", word="name", count="births"
    )
    assert corpus.titles == ("a b c", "a b c") and corpus.vocabulary == ("Ann", "Bob")
    assert corpus.documents.tolist() == [0, 0, 1] and corpus.counts.tolist() == [3, 2, 1]
    with pytest.raises(
        CorpusError,
        match="line 1: no column 'sex' for documents, words and counts; there are 'state', ",
    ):
        read_corpus(tmp_path / "births.csv", document="sex", word="name", count="births")
    (tmp_path / "two.fa").write_text(">one\nAC\n")
    with pytest.raises(
        CorpusError, match="are those of a table; leave document, word and count out"
    ):
        read_corpus(tmp_path / "two.fa", word="symbol")


def test_a_table_with_a_column_that_holds_no_counts_is_no_table_of_counts(tmp_path):
    (tmp_path / "births.csv").write_text(WIDE.replace(",12", ",many"))
    with pytest.raises(CorpusError, match="no column 'text' for the text"):
        read_corpus(tmp_path / "births.csv", inputs="year,lat")


def test_records_of_fasta_are_sequences_of_symbols(tmp_path):
    (tmp_path / "two.fa").write_text(">one first\nacG\nT\n\n>two\nTT*\n")
    corpus = read_corpus(tmp_path / "two.fa")
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
    with pytest.raises(CorpusError, match=r"two\.fa: the word '\*' is not in the vocabulary"):
        read_corpus(tmp_path / "two.fa", vocabulary=["A", "C", "G", "T"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (">a\nAC\n>a\nC\n", "line 3: every record needs a name of its own; got 'a'"),
        (">a\nA1\n", "line 2: '1' is no symbol"),
        (">a\n>b\nA\n", "the record 'a' has no symbol"),
        ("AC\n>b\nA\n", "line 1: a record begins with a line >name"),
    ],
)
def test_what_is_wrong_with_a_fasta_file_is_said(tmp_path, content, said):
    (tmp_path / "x.fa").write_text(content)
    with pytest.raises(CorpusError, match=said):
        read_corpus(tmp_path / "x.fa")


def test_a_text_is_one_sequence_of_its_words(tmp_path):
    (tmp_path / "rhyme.txt").write_text("The cat sat. The dog sat, the cat ran.\n")
    corpus = read_corpus(tmp_path / "rhyme.txt", format="words")
    assert [corpus.vocabulary[w] for w in corpus.words] == [
        "cat",
        "sat",
        "dog",
        "sat",
        "cat",
        "ran",
    ]
    assert corpus.sequence == tuple(("rhyme", at) for at in range(6))
    few = read_corpus(tmp_path / "rhyme.txt", format="words", max_words=2, stop_words=None)
    assert [few.vocabulary[w] for w in few.words] == ["the", "cat", "the", "the", "cat"]
    with pytest.raises(CorpusError, match="leave out min_documents"):
        read_corpus(tmp_path / "rhyme.txt", format="words", min_documents=2)


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
