"""A sharded corpus is the corpus that was written: its pairs, its hash, its texts; whole, or refused in one sentence."""

import errno
import hashlib
import os
import pickle

import numpy as np
import pytest
from data_files import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from sharded_corpora import drawn, full

from workbench.corpus import (
    Corpus,
    CorpusError,
    ShardedCorpus,
    keep_top_words,
    load_corpus,
)
from workbench.corpus.shards import shard_writer as writing
from workbench.corpus.shards.shard_writer import MANIFEST
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import CORPORA, get_corpus

FIELDS = ("titles", "authors", "labels", "times", "sequence")


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    """Shards of five pairs."""
    monkeypatch.setattr(writing, "SHARD_PAIRS", 5)


@pytest.fixture
def sharded(tmp_path):
    """A corpus of counts alone in the folder `it`."""
    return ShardedCorpus.write(drawn(), tmp_path / "it")


def same(corpus, other) -> None:
    """Both have the same content, array by array."""
    for part in ("indptr", "words", "counts"):
        mine, its = getattr(corpus, part), getattr(other, part)
        assert np.array_equal(mine, its) and mine.dtype == its.dtype
    for field in ("vocabulary", *FIELDS):
        mine, its = getattr(corpus, field), getattr(other, field)
        assert (mine is None) == (its is None) and (mine is None or tuple(mine) == tuple(its)), (
            field
        )
    assert corpus.input_names == other.input_names
    assert corpus.inputs is None or np.array_equal(corpus.inputs, other.inputs)


def plain_hash(corpus) -> str:
    """sha256 of all arrays and of all fields as Python writes them: what names every stored corpus."""
    digest = hashlib.sha256()
    for array, kind in ((corpus.indptr, "<i8"), (corpus.words, "<i4"), (corpus.counts, "<i4")):
        digest.update(array.astype(kind).tobytes() + b"|")
    for field in (corpus.vocabulary, corpus.titles, corpus.authors, corpus.labels, corpus.times):
        digest.update(repr(field).encode() + b"|")
    if corpus.inputs is not None:
        digest.update(
            f"inputs {corpus.input_names!r}|".encode() + corpus.inputs.astype("<f8").tobytes()
        )
    if corpus.sequence is not None:
        digest.update(f"|sequence {corpus.sequence!r}".encode())
    return digest.hexdigest()


@pytest.mark.parametrize("block", [1, 3, 1 << 14])
@pytest.mark.parametrize("n_documents", [1, 2, 4, 40])
def test_the_content_hash_is_that_of_everything_written_out(
    monkeypatch, tmp_path, block, n_documents
):
    monkeypatch.setattr("workbench.corpus.corpus.BLOCK", block)
    corpora = drawn(n_documents), full(40).of_documents(np.arange(n_documents))
    for at, corpus in enumerate(corpora):
        sharded = ShardedCorpus.write(corpus, tmp_path / str(at))
        assert corpus.content_hash == sharded.computed_hash() == plain_hash(corpus)


@pytest.mark.parametrize("corpus", [drawn(), full()], ids=["counts", "everything"])
def test_a_sharded_corpus_has_the_content_and_the_hash_of_the_corpus(tmp_path, corpus):
    sharded = ShardedCorpus.write(corpus, tmp_path / "it")
    assert (
        sharded.n_parts > 3
        and sharded.content_hash == sharded.computed_hash() == corpus.content_hash
    )
    same(sharded.in_memory(), corpus)
    sizes = ("name", "n_documents", "n_words", "n_pairs", "n_tokens", "n_items", "item")
    assert all(getattr(sharded, size) == getattr(corpus, size) for size in sizes)
    assert np.array_equal(sharded.document_tokens, corpus.document_tokens)
    assert np.array_equal(
        sharded.word_tokens, np.bincount(corpus.words, corpus.counts, corpus.n_words)
    )
    assert sharded.same_rows(corpus) and corpus.same_rows(sharded) and sharded.same_rows(sharded)
    assert not sharded.same_rows(drawn(41)) and not drawn(41).same_rows(sharded)
    assert pickle.loads(pickle.dumps(sharded)).content_hash == corpus.content_hash


def test_a_shard_is_the_corpus_of_its_documents(tmp_path):
    corpus = full()
    sharded = ShardedCorpus.write(corpus, tmp_path / "it")
    for at in range(sharded.n_parts):
        first, last = sharded.bounds[at : at + 2]
        shard = sharded.shard(at)
        same(shard, corpus.of_documents(np.arange(first, last)))
        assert not shard.words.flags.writeable and sharded.first_pairs[at] == corpus.indptr[first]
        assert sharded.first_tokens[at] == corpus.tokens_before[corpus.indptr[first]]
        assert shard.content_hash == corpus.of_documents(np.arange(first, last)).content_hash
        full_shard = shard.n_pairs >= writing.SHARD_PAIRS
        assert (full_shard or at == sharded.n_parts - 1) and (
            last - first == 1 or shard.indptr[-2] < writing.SHARD_PAIRS
        )
    assert sharded.bounds[-1] == corpus.n_documents and sharded.first_tokens[-1] == corpus.n_tokens


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A corpus in a folder of several shards."""
    return ShardedCorpus.write(full(), tmp_path_factory.mktemp("shards") / "it")


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_rows_are_the_corpus_of_these_documents(written, data):
    corpus, sharded = full(), written
    first = data.draw(st.integers(0, 39))
    last = data.draw(st.integers(first + 1, 40))
    same(sharded.rows(first, last), corpus.of_documents(np.arange(first, last)))


@pytest.mark.parametrize("n_pairs", [1, 3, 100])
def test_blocks_are_all_pairs_in_order(tmp_path, n_pairs):
    corpus = drawn()
    sharded, found, n = ShardedCorpus.write(corpus, tmp_path / "it"), [], 0
    for first, indptr, words, counts in sharded.blocks(n_pairs):
        assert (
            first == n
            and len(words) == len(counts) == indptr[-1]
            and (len(words) <= n_pairs or len(indptr) == 2)
        )
        n += len(indptr) - 1
        found.append((words, counts))
    assert n == 40 and np.array_equal(np.concatenate([words for words, _ in found]), corpus.words)
    assert np.array_equal(np.concatenate([counts for _, counts in found]), corpus.counts)


def test_parts_that_follow_each_other_make_the_same_folder_whatever_the_parts(tmp_path):
    corpus = full()
    whole = ShardedCorpus.write(corpus, tmp_path / "whole")
    parts = ShardedCorpus.write((whole.rows(d, d + 4) for d in range(0, 40, 4)), tmp_path / "parts")
    files = {file.name: file.read_bytes() for file in whole.folder.iterdir()}
    assert files == {file.name: file.read_bytes() for file in parts.folder.iterdir()}
    assert ShardedCorpus.write(whole, tmp_path / "again", name="again").name == "again"


def test_titles_that_only_count_take_no_space(sharded, tmp_path):
    assert not list(sharded.folder.glob("titles*")) and sharded.titles[3] == "document 3"
    assert sharded.rows(5, 9).titles[0] == "document 5"
    first = drawn(8)
    later = Corpus.from_pairs([0], [1], [1], first.vocabulary, titles=["named"])
    assert tuple(ShardedCorpus.write([first, later], tmp_path / "both").titles) == (
        *first.titles,
        "named",
    )


def test_parts_that_do_not_belong_together_are_refused_and_leave_nothing(tmp_path):
    for parts, sentence in [
        ([drawn(), drawn(n_words=8)], "all parts of a sharded corpus must have one vocabulary"),
        (
            [full(), drawn()],
            "must have titles, authors, labels, times, sequence, latitude, year; a part came with titles",
        ),
        ([], "needs at least one part; none came"),
        ([drawn(2, labels=[1j, 2])], "'drawn' cannot be stored"),
    ]:
        assert sentence in refused(ShardedCorpus.write, parts, tmp_path / "it")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_there_is_refused_and_stays(sharded, tmp_path):
    assert "it is there already; choose another place, or delete it" in refused(
        ShardedCorpus.write, full(), tmp_path / "it"
    )
    sharded.check()
    assert sharded.content_hash == drawn().content_hash


def test_every_file_that_is_missing_cut_or_changed_is_refused_in_one_sentence(tmp_path):
    sharded = ShardedCorpus.write(full(), tmp_path / "it")
    for file in sorted(sharded.folder.iterdir()):
        content = file.read_bytes()
        changed = bytearray(content)
        changed[-1] ^= 1
        for wrong in (None, content[:-1], bytes(changed)):
            file.unlink(missing_ok=True)
            if wrong is not None:
                file.write_bytes(wrong)
            with pytest.raises(CorpusError) as refused:
                ShardedCorpus.open(sharded.folder).check()
            said = str(refused.value)
            assert "\n" not in said and file.name in said
            assert said.endswith("convert the corpus again") or (
                file.name == MANIFEST and wrong is None
            )
        file.write_bytes(content)
    ShardedCorpus.open(sharded.folder).check()


def test_a_manifest_that_says_something_else_than_was_written_is_refused(tmp_path):
    path = ShardedCorpus.write(drawn(), tmp_path / "it").folder / MANIFEST
    path.write_text(path.read_text().replace('"name": "drawn"', '"name": "other"'))
    assert "corpus.json does not have the checksum it was written with; convert" in refused(
        ShardedCorpus.open, tmp_path / "it"
    )


def test_a_shard_that_goes_later_is_refused_in_one_sentence(sharded):
    (sharded.folder / "shard-00001.words.npy").unlink()
    sharded.shard(0)
    assert "it is damaged: shard-00001.words.npy is missing; convert the corpus again" in refused(
        sharded.shard, 1
    )


def test_another_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "VERSION", 2)
    assert "has version 2 of the format and 1 was wanted" in refused(
        ShardedCorpus.write, drawn(), tmp_path / "it"
    )


@pytest.mark.parametrize("at", [0, 3, 20])
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, at):
    from campaigns.file_operations import full_after, operations

    with (
        operations(full_after(at)),
        pytest.raises(CorpusError, match="cannot write .*it: No space left on device"),
    ):
        ShardedCorpus.write(full(), tmp_path / "it")
    assert not list(tmp_path.iterdir())


def test_a_corpus_by_path_is_found(sharded):
    assert isinstance(load_corpus(sharded.folder), ShardedCorpus)
    assert "it is a sharded corpus, already counted; leave out stop_words" in refused(
        load_corpus, sharded.folder, stop_words=None
    )


def test_a_store_keeps_it_by_its_hash_without_a_copy(tmp_path):
    sharded = ShardedCorpus.write(full(), tmp_path / "it")
    kept = sharded.save(tmp_path / "store" / CORPORA)
    found = get_corpus(tmp_path / "store", sharded.content_hash)
    assert kept.name == found.content_hash == full().content_hash and found.folder == kept
    assert (kept / MANIFEST).stat().st_ino == (sharded.folder / MANIFEST).stat().st_ino
    assert sharded.save(tmp_path / "store" / CORPORA) == kept
    found.check()


def test_a_store_keeps_a_copy_where_there_are_no_links(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", no_links)
    ShardedCorpus.open(
        ShardedCorpus.write(full(), tmp_path / "it").save(tmp_path / "store")
    ).check()


def test_one_of_another_hash_than_its_name_is_refused(tmp_path):
    ShardedCorpus.write(drawn(), tmp_path / CORPORA / ("0" * 64))
    with pytest.raises(
        SpecError, match="does not hold the content its name says; delete it and fit the run again"
    ):
        get_corpus(tmp_path, "0" * 64)


@pytest.mark.parametrize(
    ("part", "at", "value"),
    [("words", 0, -1), ("words", 0, 9), ("counts", 0, 0), ("indptr", 1, 99)],
)
def test_numbers_that_no_corpus_has_are_refused_where_a_shard_is_read(tmp_path, part, at, value):
    ShardedCorpus.write(drawn(), tmp_path / "it")
    file = tmp_path / "it" / f"shard-00001.{part}.npy"
    numbers = np.load(file)
    numbers[at] = value
    np.save(file, numbers)
    damaged = ShardedCorpus.open(tmp_path / "it")  # every file has its size
    damaged.shard(0)
    first = int(damaged.bounds[1])
    for read in (
        lambda: damaged.shard(1),
        lambda: damaged.rows(first, first + 2),
        lambda: list(damaged.blocks()),
    ):
        with pytest.raises(CorpusError, match="it is damaged: .*; convert the corpus again"):
            read()


def test_shards_and_rows_that_there_are_not_are_refused(sharded):
    for ask in (lambda: sharded.shard(-1), lambda: sharded.shard(sharded.n_parts)):
        assert f"'drawn' has the shards 0..{sharded.n_parts - 1}; got" in refused(ask)
    for first, last in ((-1, 3), (3, 3), (39, 41)):
        assert "rows must lie in 0..40 and be one at least; got" in refused(
            sharded.rows, first, last
        )


def test_what_memory_does_not_hold_is_not_taken_into_it(sharded, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "1K")
    with pytest.raises(
        CorpusError,
        match="'drawn' as a whole would take about 5 kB of memory and .*; read it shard by shard",
    ):
        sharded.in_memory()


def test_what_only_a_corpus_in_memory_has_is_refused_in_one_sentence(sharded):
    assert "'drawn' is kept in shards, and its words are no array; take shard(i), rows" in refused(
        keep_top_words, sharded, 3
    )
    for ask, why in (
        ("by_word", "needs all documents at once"),
        ("to_scipy", "makes one thing of all documents"),
    ):
        assert f"'drawn' is kept in shards, and {ask} {why}; take" in refused(getattr, sharded, ask)
    assert not hasattr(sharded, "nonsense")
