"""Documents of files as they come: those that are read, of every format, each time that they are gone through."""

import os

import numpy as np
import pytest

import workbench as wb
from workbench.corpus import Corpus, ShardedCorpus
from workbench.corpus.shards import shard_writer
from workbench.corpus.streams import Vocabulary, as_arrays
from workbench.corpus.texts.words import analyser

COUNTS = ("docword.six.txt", "six.dat", "six.mtx", "six.csv", "six.jsonl", "six.npz")


@pytest.fixture(scope="module")
def six():
    """Six documents over four words, of which the second, the fifth and the last are empty."""
    rows = [(0, 0, 3), (0, 1, 2), (2, 2, 2), (2, 3, 5), (3, 0, 1)]
    return Corpus.from_pairs(*zip(*rows, strict=True), ["ant", "bee", "cat", "dog"], 6, name="six")


def counted(documents, words):
    """indptr, words and counts of documents over a vocabulary."""
    return as_arrays(list(Vocabulary(words, analyser()).count(documents)))


def same(documents, corpus):
    indptr, words, counts = counted(documents, corpus.vocabulary)
    return (
        np.array_equal(indptr, corpus.indptr)
        and np.array_equal(words, corpus.words)
        and np.array_equal(counts, corpus.counts)
    )


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
    with pytest.raises(wb.CorpusError) as refused:
        list(wb.FileDocuments(name, **options))
    assert said in str(refused.value) and "\n" not in str(refused.value)
