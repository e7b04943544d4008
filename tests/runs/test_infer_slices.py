"""Unseen documents inferred some at a time: the bits of all at once, whatever the corpus is kept in."""

import csv

import numpy as np
import pytest
from short_runs import run_of, short_settings

import workbench as wb
from workbench.corpus import ShardedCorpus
from workbench.corpus.shards import shard_writer as writing
from workbench.data.available_memory import AvailableMemory
from workbench.engines import ENGINES, get_engine
from workbench.errors import DataError
from workbench.runs.afterwards import infer
from workbench.runs.spec import SpecError


def strangers(corpus: wb.Corpus) -> wb.Corpus:
    """The documents twice, with words in another order, the first of which no run knows."""
    vocabulary = ("stranger", *corpus.vocabulary[:0:-1])
    documents = [*range(corpus.n_documents)] * 2
    doubled = corpus.of_documents(documents)
    return doubled.with_pairs(
        doubled.indptr,
        doubled.words,
        doubled.counts,
        vocabulary=vocabulary,
        authors=tuple(names if d % 3 else ("nobody",) for d, names in enumerate(doubled.authors)),
        titles=tuple(f"{d}, “{title}”" for d, title in enumerate(doubled.titles)),
        labels=tuple("x" if d % 2 else "" for d in documents),
    )


@pytest.fixture
def small(monkeypatch):
    """Slices of at most 12 pairs."""
    monkeypatch.setattr(infer, "PAIRS", 12)


@pytest.fixture
def in_shards(monkeypatch, tmp_path):
    """Writes a corpus in shards of 40 pairs."""
    monkeypatch.setattr(writing, "SHARD_PAIRS", 40)

    def write(corpus) -> ShardedCorpus:
        found = ShardedCorpus.write(corpus, tmp_path / "shards")
        assert found.n_parts > 3
        return found

    return write


@pytest.mark.parametrize("name", [name for name in ENGINES if get_engine(name).fold_in])
def test_documents_have_the_same_theta_in_slices_of_shards(name, in_shards, monkeypatch):
    run, corpus = run_of(name), strangers(short_settings(name)[0])
    whole = wb.infer(run, corpus, seed=3)
    monkeypatch.setattr(infer, "PAIRS", 12)
    for documents in (corpus, in_shards(corpus)):
        found = wb.infer(run, documents, seed=3, progress=False)
        assert set(found.variables) == set(whole.variables)
        for each in whole.variables:
            np.testing.assert_array_equal(found[each], whole[each], err_msg=each)
        # sums
        assert found.attrs["perplexity_foldin_same"] == pytest.approx(
            whole.attrs["perplexity_foldin_same"], rel=1e-12
        )
        assert found.attrs["out_of_vocabulary"] == whole.attrs["out_of_vocabulary"] > 0


@pytest.fixture(scope="module")
def learnt():
    return run_of("cgs")


@pytest.fixture(scope="module")
def documents():
    return strangers(short_settings("cgs")[0])


def test_slices_hold_few_pairs_and_few_numbers_and_all_documents(learnt, documents, monkeypatch):
    monkeypatch.setattr(infer, "PAIRS", 30)
    topics = infer.topics_of(learnt, None)
    bounds = infer.Inference(topics, documents, 0, 1).bounds
    sizes = np.diff(documents.indptr[bounds])
    assert bounds[0] == 0 and bounds[-1] == documents.n_documents
    assert all(
        n <= 30 or last == first + 1
        for n, first, last in zip(sizes, bounds[:-1], bounds[1:], strict=True)
    )
    assert max(sizes) > 15
    monkeypatch.setattr(infer, "NUMBERS", 2 * topics.n_topics)
    assert max(np.diff(infer.Inference(topics, documents, 0, 1).bounds)) == 2
    monkeypatch.setattr(infer, "NUMBERS", 1)
    assert infer.Inference(topics, documents, 0, 1).bounds == [*range(documents.n_documents + 1)]


def test_a_file_has_what_a_dataset_has(learnt, documents, small, in_shards, tmp_path):
    found, path = (
        wb.infer(learnt, documents, seed=1, progress=False),
        tmp_path / "deep" / "theta.csv",
    )
    for given in (documents, in_shards(documents)):
        told = wb.infer_to_file(learnt, given, path, seed=1, progress=False)
        assert told == found.attrs | {"n_documents": documents.n_documents, "path": str(path)}
        with open(path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        assert header == [
            "document",
            "n_tokens",
            "out_of_vocabulary",
            "topic 0",
            "topic 1",
            "topic 2",
            "label",
        ]
        assert [row[0] for row in rows] == list(documents.titles)
        assert [
            [float(value) for value in row[3:-1]] for row in rows
        ] == found.theta.values.tolist()
        assert [int(row[1]) for row in rows] == found.n_tokens.values.tolist()
        assert [float(row[2]) for row in rows] == found.out_of_vocabulary.values.tolist()
        assert [row[-1] for row in rows] == list(documents.labels)
        assert [each.name for each in path.parent.iterdir()] == ["theta.csv"]


class Boom(Exception):
    pass


@pytest.mark.parametrize("error", [Boom, KeyboardInterrupt])
def test_infer_to_file_that_fails_halfway_leaves_the_old_file(
    learnt, documents, small, monkeypatch, tmp_path, error
):
    path, n = tmp_path / "theta.csv", []
    path.write_text("before")

    def fails(*arguments):
        n.append(1)
        if len(n) == 3:
            raise error
        return folded_in(*arguments)

    folded_in = infer.folded_in
    monkeypatch.setattr(infer, "folded_in", fails)
    with pytest.raises(error):
        wb.infer_to_file(learnt, documents, path, progress=False)
    assert len(n) == 3 and path.read_text() == "before" and [*tmp_path.iterdir()] == [path]


def test_few_documents_are_in_memory_at_a_time(learnt, documents, small, monkeypatch, tmp_path):
    there = []

    class Counted(infer.Slice):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            there.append(1)

        def __del__(self):
            there.pop()

    monkeypatch.setattr(infer, "Slice", Counted)
    most, folded_in = [], infer.folded_in
    monkeypatch.setattr(
        infer, "folded_in", lambda *arguments: most.append(len(there)) or folded_in(*arguments)
    )
    wb.infer_to_file(learnt, documents, tmp_path / "theta.csv", progress=False)
    assert len(most) > 5 and max(most) <= 2


def test_progress_is_shown_of_many_documents_alone(learnt, documents, monkeypatch, capsys):
    wb.infer(learnt, documents)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(infer, "PAIRS", 12)
    wb.infer(learnt, documents)
    assert f"/{documents.n_documents}" in capsys.readouterr().err


def test_wrong_input_is_one_sentence(learnt, documents, in_shards, monkeypatch, tmp_path):
    votes, sharded = wb.load_records("votes"), in_shards(documents)
    for call, sentence in (
        (
            lambda: wb.infer_to_file(learnt, votes, tmp_path / "a.csv"),
            "writes theta of documents; use infer for records",
        ),
        (
            lambda: wb.infer(learnt, votes, client="local"),
            "records are inferred by this process; leave client out",
        ),
        (
            lambda: wb.infer_to_file(learnt, documents, tmp_path),
            r"cannot write .*: .*; choose another place",
        ),
        (
            lambda: wb.infer_to_file(learnt, documents, tmp_path / "a.csv", seed=-1),
            "seed must be",
        ),
    ):
        with pytest.raises((SpecError, DataError), match=sentence):
            call()
    monkeypatch.setattr(
        "workbench.data.available_memory.available_memory", lambda: AvailableMemory(10, "there is")
    )
    with pytest.raises(
        DataError,
        match=r"theta of the 24 documents .*; write it to a file \(infer_to_file, --out FILE\)",
    ):
        wb.infer(learnt, sharded)
    assert [path.name for path in tmp_path.iterdir()] == ["shards"]


def test_one_document_with_no_known_word_is_the_prior_in_a_slice_of_its_own(learnt, monkeypatch):
    monkeypatch.setattr(infer, "NUMBERS", 1)
    with pytest.warns(UserWarning, match="so every theta is the prior mean"):
        found = wb.infer(learnt, wb.Corpus.from_texts(["zebra zebra", "giraffe"]), progress=False)
    assert found.theta.shape == (2, 3) and np.isnan(found.attrs["perplexity_foldin_same"])
