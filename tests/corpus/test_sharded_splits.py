"""Tokens held out of a sharded corpus are those held out of the corpus, bit for bit, and blocks change nothing."""

import numpy as np
import pytest
from data_files import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from sharded_corpora import drawn, full

from workbench.corpus import (
    ShardedCorpus,
    hold_out_documents,
    hold_out_tokens,
    prepare,
    split_halves,
)
from workbench.corpus.shards import shard_writer as writing
from workbench.corpus.shards import sharded
from workbench.data import drawing

GIVEN = {"fraction": 0.3, "seed": 4}


def drawn_at_once(lengths, wanted, seed, stream):
    """(token,) bool: the tokens with the smallest keys of each group, of all keys sorted at once."""
    bits = np.random.PCG64(seed)
    keys = (bits.jumped(stream) if stream else bits).random_raw(int(lengths.sum()))
    keys >>= np.uint64((len(lengths) - 1).bit_length())
    chosen, end = np.zeros(len(keys), bool), 0
    for n, n_wanted in zip(lengths, wanted, strict=True):
        chosen[end + np.argsort(keys[end : end + n], kind="stable")[:n_wanted]] = True
        end += n
    return chosen


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=8),
    st.floats(0, 1),
    st.integers(0, 2**40),
    st.integers(0, 2),
)
def test_subsets_are_those_of_all_keys_sorted_whatever_the_blocks(lengths, share, seed, stream):
    lengths = np.array(lengths)
    wanted = np.floor(share * lengths).astype(np.int64)
    expected = drawn_at_once(lengths, wanted, seed, stream)
    assert expected.sum() == wanted.sum()
    for block in (1, 10, 1 << 19):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(drawing, "BLOCK", block)
            found = list(drawing.drawn_blocks(lengths, wanted, seed, stream))
            assert np.array_equal(np.concatenate([np.zeros(0, bool), *found]), expected)
            assert max(map(len, found), default=0) <= max(block, 1)


def test_of_keys_that_are_equal_the_first_are_chosen_whatever_the_blocks(monkeypatch):
    class Repeating:
        def __init__(self, seed):
            self.at = 0

        def advance(self, n):
            self.at = (self.at + n) % 2**128

        def random_raw(self, n):
            self.at += n
            return np.array([3, 1, 1, 2], np.uint64)[
                np.arange(self.at - n, self.at) % 4
            ] << np.uint64(50)

    monkeypatch.setattr(np.random, "PCG64", Repeating)
    monkeypatch.setattr(drawing, "BLOCK", 3)
    found = drawing.draw_subsets(np.array([12]), np.array([8]), 0, 0)
    assert found.tolist() == [
        False,
        True,
        True,
        True,
        False,
        True,
        True,
        True,
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("per", ["corpus", "document"])
@pytest.mark.parametrize("block", [1, 20, 1 << 19])
def test_the_split_of_shards_is_that_of_the_corpus(tmp_path, monkeypatch, per, block):
    monkeypatch.setattr(writing, "SHARD_PAIRS", 9)
    monkeypatch.setattr(drawing, "BLOCK", block)
    monkeypatch.setattr(sharded, "BLOCK", block)
    corpus = full()
    expected = hold_out_tokens(corpus, per=per, **GIVEN)
    found = hold_out_tokens(ShardedCorpus.write(corpus, tmp_path / "it"), per=per, **GIVEN)
    for part, whole in zip(found, expected, strict=True):
        part.check()
        assert part.content_hash == part.computed_hash() == whole.content_hash and part.n_parts > 1
        assert part.in_memory().content_hash == whole.content_hash
        written = ShardedCorpus.write(whole, tmp_path / f"whole {whole.n_pairs}")
        assert part.bounds.tolist() == written.bounds.tolist()
    assert (
        found[0].same_rows(found[1])
        and found[0].folder == tmp_path / f"it.split-0.3-4-{per}" / "train"
    )


def test_a_split_that_is_there_is_opened_and_another_one_refused(tmp_path):
    corpus = ShardedCorpus.write(drawn(), tmp_path / "it")
    first, again = hold_out_tokens(corpus, **GIVEN)[0], hold_out_tokens(corpus, **GIVEN)[0]
    assert (first.folder / "corpus.json").stat().st_ino == (
        again.folder / "corpus.json"
    ).stat().st_ino
    placed = hold_out_tokens(corpus, **GIVEN, folder=tmp_path / "there")
    assert [part.folder for part in placed] == [
        tmp_path / "there" / "train",
        tmp_path / "there" / "test",
    ]
    assert "there is there and is not this split; give another folder, or delete it" in refused(
        hold_out_tokens, corpus, 0.4, folder=tmp_path / "there"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "it",
        "it.split-0.3-4-corpus",
        "there",
    ]


def test_nothing_held_out_is_a_test_corpus_without_pairs(tmp_path):
    train, test = hold_out_tokens(ShardedCorpus.write(drawn(), tmp_path / "it"), 0)
    assert train.content_hash == drawn().content_hash
    assert (
        test.content_hash == hold_out_tokens(drawn(), 0)[1].content_hash
        and test.shard(0).n_tokens == 0
    )


def test_prepare_holds_tokens_out_of_shards(tmp_path):
    corpus = drawn()
    train, test, split = prepare(ShardedCorpus.write(corpus, tmp_path / "it"), 0.3, 4)
    *whole, expected = prepare(corpus, 0.3, 4)
    assert [train.content_hash, test.content_hash] == [
        part.content_hash for part in whole
    ] and split == expected


@pytest.mark.parametrize(
    "other",
    [
        hold_out_documents,
        split_halves,
        lambda corpus: prepare(corpus, top_words=3),
        lambda corpus: prepare(corpus, merge=2),
        lambda corpus: prepare(corpus, repeat=2),
        lambda corpus: prepare(corpus, singletons="train"),
        lambda corpus: prepare(corpus, per="half"),
        lambda corpus: prepare(corpus, rows={"by": "labels", "values": [1987]}),
    ],
)
def test_other_splits_of_shards_are_refused_in_one_sentence(tmp_path, other):
    corpus = ShardedCorpus.write(full(), tmp_path / "it")
    sentence = refused(other, corpus)
    assert "'drawn' is kept in shards" in sentence and "in_memory()" in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["it"]


def test_a_folder_for_a_corpus_in_memory_is_refused(tmp_path):
    assert "'drawn' is in memory; leave folder out" in refused(
        hold_out_tokens, drawn(), folder=tmp_path / "there"
    )


@pytest.mark.parametrize(
    ("fraction", "sentence"),
    [
        (1.0, "must be a number of at least 0 and below 1"),
        (1e-9, "is no token at all; ask for a larger"),
    ],
)
def test_wrong_shares_are_refused_and_leave_nothing(tmp_path, fraction, sentence):
    corpus = ShardedCorpus.write(drawn(), tmp_path / "it")
    assert sentence in refused(hold_out_tokens, corpus, fraction)
    assert [path.name for path in tmp_path.iterdir()] == ["it"]
