"""Documents of a stream, counted over a fixed vocabulary and put together in batches; those of files as they come."""

import os
from itertools import count, islice

import numpy as np
import pytest
from data_files import refused

import workbench as wb
from workbench.corpus import Corpus, ShardedCorpus
from workbench.corpus.shards import shard_writer
from workbench.corpus.streams import Counted, Vocabulary, as_arrays, in_batches
from workbench.corpus.texts.words import analyser

WORDS = ("ant", "bee", "cat", "dog")


@pytest.fixture
def vocabulary():
    return Vocabulary(WORDS, analyser(), ids=["dog", "zebra", "ant"])


def pairs(counted):
    return dict(
        zip(counted.words.tolist(), counted.counts.tolist(), strict=True)
    ), counted.n_unknown


@pytest.mark.parametrize(
    "document, expected",
    [
        ("The dog, an ANT and the dog; zebra!", ({0: 1, 3: 2}, 1)),  # stop words are no words
        (["dog", "ant", "dog", "Zebra"], ({0: 1, 3: 2}, 1)),
        (("cat",), ({2: 1}, 0)),
        ({"dog": 2, "ant": 1, "zebra": 5, "bee": 0}, ({0: 1, 3: 2}, 5)),
        ([(0, 2), (1, 5), (2, 1)], ({0: 1, 3: 2}, 5)),  # by the ids of `ids`
        (np.array(["bee", "bee"]), ({1: 2}, 0)),
        ([(0, 1), (0, 1.0)], ({3: 2}, 0)),
        ("", ({}, 0)),
        ([], ({}, 0)),
        ({}, ({}, 0)),
        ("zebra", ({}, 1)),
    ],
    ids=str,
)
def test_a_document_is_counted_over_the_known_words(vocabulary, document, expected):
    (counted,) = vocabulary.count([document])
    assert pairs(counted) == expected
    assert counted.words.dtype == counted.counts.dtype == np.int32 and np.all(
        np.diff(counted.words) > 0
    )


def test_documents_are_taken_one_by_one(vocabulary):
    """From a generator that never ends no document is asked for before it is wanted."""
    asked = count()
    stream = vocabulary.count("ant" for _ in asked)
    assert len(list(islice(stream, 3))) == 3 and next(asked) <= 4


def test_a_corpus_with_other_words_is_counted_as_its_documents_are(vocabulary):
    corpus = Corpus.from_tokens([["dog", "zebra", "dog"], [], ["emu"], ["ant", "cat"]])
    assert [pairs(each) for each in vocabulary.count_corpus(corpus)] == [
        ({3: 2}, 1),
        ({}, 0),
        ({}, 1),
        ({0: 1, 2: 1}, 0),
    ]


def test_words_that_are_spelt_alike_are_the_first_of_them():
    (counted,) = Vocabulary(["ant", "bee", "ant"], str.split).count(["ant ant"])
    assert pairs(counted) == ({0: 2}, 0)


@pytest.mark.parametrize(
    "document, said",
    [
        (
            None,
            "document 1 (counted from 0): a document of a stream is a text, a list of tokens, a mapping of words to "
            "counts, or, "
            "with a vocabulary, a list of (word id, count) pairs; got None",
        ),
        (b"ant", "got b'ant'"),
        (3.5, "got 3.5"),
        (["ant", None], "got ['ant', None]"),
        (["ant", (0, 1)], "got ['ant', (0, 1)]"),
        ({1: 2}, "document 1 (counted from 0): the words of a mapping are strings; got 1"),
        ({"ant": -1}, "counts must be whole numbers from 0 to 2147483647; got [-1]"),
        ({"ant": 1.5}, "counts must be whole numbers from 0"),
        ({"ant": "2"}, "counts must be whole numbers from 0"),
        ({"ant": float("nan")}, "counts must be whole numbers from 0"),
        ({"ant": 2**31}, "counts must be whole numbers from 0"),
        ([(3, 1)], "word ids must be whole numbers in 0..2; got [3]"),
        ([(-1, 1)], "word ids must be whole numbers in 0..2"),
        ([(0.5, 1)], "word ids must be whole numbers in 0..2"),
        ([(0, 2**31 - 1), (0, 1)], "a count may not exceed 2147483647; the largest is 2147483648"),
    ],
    ids=str,
)
def test_what_is_no_document_is_refused_in_a_sentence_with_its_number(vocabulary, document, said):
    assert said in refused(lambda: list(vocabulary.count(["ant", document])))


def test_counts_by_id_without_a_vocabulary_are_refused():
    assert "counts by word id need the words of the ids; give them with vocabulary=" in refused(
        lambda: list(Vocabulary(WORDS, str.split).count([[(0, 1)]]))
    )


@pytest.mark.parametrize(
    "n, sizes",
    [
        (0, []),
        (1, [1]),
        (3, [3]),
        (4, [4]),
        (5, [3, 2]),
        (7, [4, 3]),
        (8, [4, 4]),
        (9, [4, 3, 2]),
        (12, [4, 4, 4]),
        (17, [4] * 3 + [3, 2]),
    ],
)
def test_batches_have_one_size_and_the_last_two_halve_what_is_left(n, sizes):
    documents = [Counted(np.array([i], np.int32), np.array([1], np.int32), 0) for i in range(n)]
    batches = list(in_batches(documents, 4))
    assert [len(batch) for batch in batches] == sizes
    assert [int(each.words[0]) for batch in batches for each in batch] == list(range(n))


def test_a_batch_comes_as_soon_as_another_one_is_behind_it():
    asked = count()
    next(in_batches((Counted(np.array([0]), np.array([1]), 0) for _ in asked), 4))
    assert next(asked) <= 9


def test_arrays_are_those_of_a_corpus():
    corpus = Corpus.from_tokens([["dog", "ant", "dog"], ["cat"], ["ant", "bee"]])
    arrays = as_arrays(list(Vocabulary(corpus.vocabulary, str.split).count_corpus(corpus)))
    for found, expected in zip(arrays, (corpus.indptr, corpus.words, corpus.counts), strict=True):
        assert np.array_equal(found, expected) and found.dtype == expected.dtype


# ---------------------------------------------------------------------- documents of files

COUNTS = ("docword.six.txt", "six.dat", "six.mtx", "six.csv", "six.jsonl", "six.npz")


@pytest.fixture(scope="module")
def six():
    """Six documents over four words, of which the second, the fifth and the last are empty."""
    rows = [(0, 0, 3), (0, 1, 2), (2, 2, 2), (2, 3, 5), (3, 0, 1)]
    return Corpus.from_pairs(*zip(*rows, strict=True), ["ant", "bee", "cat", "dog"], 6, name="six")


def same(documents, corpus):
    """Are the documents, counted over the vocabulary of the corpus, those of the corpus?"""
    found = as_arrays(list(Vocabulary(corpus.vocabulary, analyser()).count(documents)))
    return all(map(np.array_equal, found, (corpus.indptr, corpus.words, corpus.counts)))


@pytest.mark.parametrize("name", COUNTS)
def test_counts_come_as_they_are_read_empty_documents_too(six, tmp_path, name):
    wb.write_corpus(six, tmp_path / name)
    documents = wb.FileDocuments(tmp_path / name)
    assert same(documents, six) and same(documents, six) and documents.count() == 6
    assert not documents.has_texts and documents.of_text == {} and documents.name == "six"


@pytest.mark.parametrize("name", COUNTS[:3])
def test_words_of_ids_are_known_before_the_documents(six, tmp_path, name):
    wb.write_corpus(six, tmp_path / name)
    assert wb.FileDocuments(tmp_path / name).vocabulary == six.vocabulary
    for file in tmp_path.glob("*vocab*"):
        file.unlink()
    unnamed = wb.FileDocuments(tmp_path / name)
    assert unnamed.vocabulary is None and next(iter(unnamed)) == {"w0": 3, "w1": 2}


def test_texts_come_as_they_are_of_several_files(tmp_path):
    """A table, JSON lines, MALLET, a folder, and Excel, which is read at once."""
    texts = ["an ant and a bee", "", "two cats"]
    (tmp_path / "a.csv").write_text("text\n" + "".join(f'"{text}"\n' for text in texts))
    (tmp_path / "b.jsonl").write_text("".join(f'{{"text": "{text}"}}\n' for text in texts))
    (tmp_path / "c.mallet").write_text("one X an ant\ntwo X a bee\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "1.txt").write_text("a dog")
    documents = wb.FileDocuments(
        *(tmp_path / name for name in ("a.csv", "b.jsonl", "c.mallet", "d")), stop_words=None
    )
    assert list(documents) == [*texts, *texts, "an ant", "a bee", "a dog"] == list(documents)
    assert (
        documents.count() == 9
        and documents.has_texts
        and documents.vocabulary is None
        and documents.name == "a"
    )
    assert documents.of_text == {"stop_words": None}


def test_a_corpus_in_shards_comes_shard_by_shard(six, tmp_path, monkeypatch):
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 2)
    shards = ShardedCorpus.write(six, tmp_path / "shards")
    assert shards.n_parts > 1
    for source in (tmp_path / "shards", shards, six):
        documents = wb.FileDocuments(source)
        assert (
            same(documents, six)
            and documents.count() == 6
            and documents.vocabulary == tuple(six.vocabulary)
        )
        assert documents.corpus.content_hash == six.content_hash
    assert (
        wb.FileDocuments(six, shards).corpus is None and wb.FileDocuments(six, shards).count() == 12
    )


def test_rows_in_several_blocks_are_one_document(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.data.opening.BLOCK", 64)
    rows = "".join(f"1 {word} 1\n" for word in range(1, 21)) + "3 1 1\n"
    (tmp_path / "docword.long.txt").write_text(f"4\n20\n21\n{rows}")
    documents = wb.FileDocuments(tmp_path / "docword.long.txt")
    assert [len(document) for document in documents] == [20, 0, 1, 0]


REFUSED = {
    "rows apart": (
        "apart.csv",
        {},
        "rows of a document do not follow each other, or documents are not in the order of their",
    ),
    "ids that fall": ("docword.back.txt", {}, "docword.back.txt FOLDER --shards"),
    "nowhere": ("nowhere.csv", {}, "no data set and no file"),
    "words of counts": (
        "docword.back.txt",
        {"stop_words": None},
        "is a bag of words, already counted; leave out stop_words",
    ),
    "kept texts": (
        "apart.csv",
        {"keep_text": True},
        "texts of a stream are not kept; leave keep_text out",
    ),
    "an option": ("apart.csv", {"txt": "body"}, "a reader option for raw text must be one of"),
    "a pipe": ("pipe", {}, "is a pipe, which can be read only once"),
    "another word": ("one.csv", {"vocabulary": ["bee"]}, "the word 'ant' is not in the vocabulary"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_stream_is_one_sentence(tmp_path, monkeypatch, case):
    (tmp_path / "apart.csv").write_text("document,word,count\na,ant,1\nb,ant,1\na,bee,1\n")
    (tmp_path / "one.csv").write_text("document,word,count\na,ant,1\n")
    (tmp_path / "docword.back.txt").write_text("2\n1\n2\n2 1 1\n1 1 1\n")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    name, options, said = REFUSED[case]
    assert said in refused(lambda: list(wb.FileDocuments(name, **options)))
