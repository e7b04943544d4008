"""What is written is read back: in every format, whole or not at all, the same bytes every time."""

import gzip
import os
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from data_files import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import CORPORA, corpus_of

from workbench.corpus import Corpus, CorpusError, load_corpus, read_corpus, write_corpus
from workbench.corpus.formats.readers import FORMATS
from workbench.corpus.formats.writers import WRITTEN
from workbench.data.saving import put_files

NAMES = {
    "uci": "docword.toy.txt",
    "lda-c": "toy.dat",
    "mtx": "toy.mtx",
    "mallet": "toy.mallet",
    "csv": "toy.csv",
    "jsonl": "toy.jsonl",
    "npz": "toy.npz",
}
AS_IT_STANDS = {"stop_words": None, "token_pattern": r"\S+"}  # of MALLET's texts
PLAIN = st.text("abcxyz", min_size=1, max_size=3)
ODD = ["new york", 'say "so"', "a,b", "naïve", "\ufeffa", "line\nbreak", "a\rb", "\r", " x", "\0"]
ANY = st.one_of(PLAIN, st.text(max_size=4), st.sampled_from(ODD))


@st.composite
def tiny_corpora(draw, strings=ANY):
    """Up to 4 documents of up to 5 words, some empty, some words in none, with odd names."""
    n_documents, n_words = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    cells = st.lists(
        st.integers(0, 3), min_size=n_documents * n_words, max_size=n_documents * n_words
    ).filter(any)
    documents, words = np.indices((n_documents, n_words)).reshape(2, -1)
    per_document = st.lists(strings, min_size=n_documents, max_size=n_documents)
    return Corpus.from_pairs(
        documents,
        words,
        draw(cells),
        draw(st.lists(strings, min_size=n_words, max_size=n_words, unique=True)),
        n_documents,
        titles=draw(per_document),
        labels=draw(st.one_of(st.none(), per_document)),
        name="toy",
    )


def written_and_read(corpus, name, **options):
    """(corpus as read back, sentences about what was lost)."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        path = write_corpus(corpus, Path(folder) / name)[-1]
        return read_corpus(path, **options), " ".join(str(warning.message) for warning in told)


def assert_same_counts(found, corpus):
    for field in ("indptr", "words", "counts"):
        assert np.array_equal(getattr(found, field), getattr(corpus, field)), field
    assert found.vocabulary == corpus.vocabulary


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("format", [format for format in NAMES if format != "mallet"])
@settings(max_examples=30, deadline=None)
@given(corpus=tiny_corpora())
def test_what_is_written_is_read_or_one_sentence_says_why_not(format, packing, corpus):
    try:
        found, lost = written_and_read(corpus, NAMES[format] + packing)
    except CorpusError as error:
        assert " cannot hold " in str(error) and "\n" not in str(error)
        assert format not in ("csv", "jsonl")
        return
    assert_same_counts(found, corpus)
    assert found.titles == corpus.titles or "titles" in lost
    assert found.labels == corpus.labels or "labels" in lost
    if format in ("csv", "jsonl", "npz"):
        assert found.content_hash == corpus.content_hash and not lost


@settings(max_examples=30, deadline=None)
@given(corpus=tiny_corpora(PLAIN))
def test_words_of_letters_need_no_excuse(corpus):
    for format, name in NAMES.items():
        if format != "mallet":
            found, lost = written_and_read(corpus, name)
            assert found.content_hash == corpus.content_hash and not lost, format


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(corpus=tiny_corpora(st.one_of(PLAIN, st.sampled_from(["new york", ",", "naïve", "c++"]))))
def test_mallet_has_the_words_that_occur_in_alphabetical_order(corpus):
    try:
        found, lost = written_and_read(corpus, "toy.mallet", **AS_IT_STANDS)
    except CorpusError as error:
        assert "MALLET takes blanks and commas as ends of words and cannot hold" in str(error)
        return
    used = sorted({corpus.vocabulary[word] for word in corpus.words})
    assert found.vocabulary == tuple(used)
    assert tokens(found) == tokens(corpus)
    assert (
        found.vocabulary == corpus.vocabulary
        or "words that occur nowhere" in lost
        or "the order of the words" in lost
    )
    assert found.titles == corpus.titles or "blanks and commas in titles" in lost
    assert found.labels == corpus.labels or "blanks and commas in labels" in lost


def tokens(corpus) -> list[dict]:
    """Word → count of each document."""
    return [
        {
            corpus.vocabulary[corpus.words[pair]]: int(corpus.counts[pair])
            for pair in range(*corpus.indptr[d : d + 2])
        }
        for d in range(corpus.n_documents)
    ]


@pytest.mark.parametrize("format", [format for format in NAMES if format != "mallet"])
@pytest.mark.parametrize("toy", CORPORA)
def test_toys_come_back_with_empty_documents_and_unused_words(format, toy):
    found, lost = written_and_read(CORPORA[toy], NAMES[format])
    assert found.content_hash == CORPORA[toy].content_hash and not lost
    assert found.name == "toy"


@pytest.mark.slow
def test_the_bundled_corpus_comes_back_with_titles_and_labels():
    corpus = load_corpus()
    for name in ("docword.d.txt.gz", "d.csv.gz", "d.npz"):
        found, lost = written_and_read(corpus, name)
        assert found.content_hash == corpus.content_hash and not lost


def test_an_archive_holds_all_fields_and_other_formats_say_that_they_do_not():
    corpus = replace(
        CORPORA["toy_a"],
        authors=(("ann", "bob"), ()),
        times=(1987, 2003.5),
        labels=("x", ""),
        inputs={"year": [1999, 2000], "lat": [1.5, -2]},
        sequence=(("ca", 3), ("ny", 1)),
    )
    found, lost = written_and_read(corpus, "toy.npz")
    assert found.content_hash == corpus.content_hash and not lost
    assert found.input_names == ("year", "lat") and found.sequence == corpus.sequence
    for format, name in NAMES.items():
        options = AS_IT_STANDS if format == "mallet" else {}
        lost = written_and_read(corpus, name, **options)[1]
        assert format == "npz" or "has no place for authors, times, inputs, sequence" in lost
    odd = replace(corpus, times=(np.datetime64("1987"), np.datetime64("2003")))
    assert "times (they are neither text nor numbers)" in written_and_read(odd, "toy.npz")[1]


def test_the_files_written_are_told_and_what_is_lost_is_warned_of(tmp_path):
    corpus = replace(CORPORA["toy_a"], titles=("one", "two\nlines"), authors=(("ann",), ("bob",)))
    with pytest.warns(UserWarning) as told:
        written = write_corpus(corpus, tmp_path / "new" / "docword.toy.txt")
    assert [path.name for path in written] == ["vocab.toy.txt", "docword.toy.txt"]
    assert sorted(os.listdir(tmp_path / "new")) == ["docword.toy.txt", "vocab.toy.txt"]
    assert str(told[0].message) == (
        f"{tmp_path}/new/docword.toy.txt has no place for authors, titles (document 1 has 'two\\nlines', which is not one line "
        "of text); npz holds everything"
    )
    assert told[0].filename == __file__


def test_without_its_vocabulary_only_numbers_are_written(tmp_path):
    corpus = replace(corpus_of([(0, 1, 2), (1, 0, 1)], n_words=3), vocabulary=("bee", "ant", "cat"))
    for format, name in NAMES.items():
        (path,) = write_corpus(corpus, tmp_path / format / name, vocabulary=False)
    assert read_corpus(tmp_path / "npz" / "toy.npz").vocabulary == ("w0", "w1", "w2")
    assert path.name == "toy.npz"
    for format in ("csv", "jsonl"):
        assert read_corpus(tmp_path / format / NAMES[format]).vocabulary == ("ant", "bee")


@pytest.mark.parametrize("name", [*NAMES.values(), "toy.csv.gz", "toy.dat.gz"])
def test_the_same_corpus_gives_the_same_bytes(tmp_path, name, monkeypatch):
    corpus = replace(CORPORA["toy_a"], titles=("one", "two"))
    first = {path.name: path.read_bytes() for path in write_corpus(corpus, tmp_path / "a" / name)}
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert first == {
        path.name: path.read_bytes() for path in write_corpus(corpus, tmp_path / "b" / name)
    }


def test_titles_that_are_the_same_are_told_apart_in_a_table(tmp_path):
    corpus = replace(CORPORA["toy_a"], titles=("x", "x"))
    path = write_corpus(corpus, tmp_path / "a.tsv")[0]
    assert path.read_text().split("\n")[:2] == ["document\tword\tcount\ttitle", "0\tw0\t3\tx"]
    assert read_corpus(path).content_hash == corpus.content_hash


def test_a_table_begins_with_the_whole_vocabulary_and_has_a_row_for_an_empty_document(tmp_path):
    corpus = replace(
        corpus_of([(0, 1, 2)], n_documents=2, n_words=2),
        titles=("full", "empty"),
        vocabulary=("cat", 'say "so"'),
    )
    path = write_corpus(corpus, tmp_path / "a.csv")[0]
    assert path.read_text() == 'document,word,count\nfull,cat,0\nfull,"say ""so""",2\nempty,cat,0\n'


@pytest.mark.parametrize(
    ("name", "options", "vocabulary", "sentence"),
    [
        ("toy.txt", {}, "a b c",
         f"the name 'toy.txt' says no format; say which with format=…, one of {', '.join(WRITTEN)}"),
        ("toy.csv", {"format": "xlsx"}, "a b c",
         f"format must be one of {', '.join(FORMATS)}; got 'xlsx'"),
        ("toy", {"format": "folder"}, "a b c",
         f"a folder of .txt files is read only; write one of {', '.join(WRITTEN)}"),
        ("toy.npz", {}, "a b a",
         "the vocabulary has 'a' twice, as words 0 and 2 counted from 0; two words may not have one name, change one of them"),
        ("toy.mallet", {}, "a b,c ,d",
         "toy.mallet: MALLET takes blanks and commas as ends of words and cannot hold ',d'; write npz, csv or jsonl instead"),
        ("toy.dat", {}, "a b \ufeffc",
         "toy.vocab.txt has one word a line and cannot hold '\\ufeffc'; write npz, csv or jsonl instead"),
        ("toy.csv", {}, "a b c\ud800",
         "toy.csv cannot hold the character '\\ud800', which is no text; take it out of the corpus"),
        ("toy.npz", {}, "a b c\0",
         "toy.npz cannot hold 'c\\x00' in its vocabulary, whose last character is a null; take it out"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused_and_nothing_is_left_behind(
    tmp_path, name, options, vocabulary, sentence
):
    corpus = replace(CORPORA["toy_a"], vocabulary=vocabulary.split(" "))
    assert (
        refused(write_corpus, corpus, tmp_path / name, **options).replace(f"{tmp_path}/", "")
        == sentence
    )
    assert not os.listdir(tmp_path)


def test_files_appear_whole_or_not_at_all(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "old").write_bytes(b"old")
    assert "b is a folder; give the name of a file" in refused(
        put_files, {tmp_path / "a": b"1", tmp_path / "b": b"2"}
    )
    with pytest.raises(
        CorpusError,
        match="cannot write .*old/c: (Not a directory|File exists); choose another place",
    ):
        put_files({tmp_path / "a": b"1", tmp_path / "old" / "c": b"2"})
    assert (
        sorted(os.listdir(tmp_path)) == ["b", "old"] and (tmp_path / "old").read_bytes() == b"old"
    )
    put_files({tmp_path / "old": b"new", tmp_path / "new.gz": b"packed"})
    assert (tmp_path / "old").read_bytes() == b"new" and gzip.decompress(
        (tmp_path / "new.gz").read_bytes()
    ) == b"packed"
