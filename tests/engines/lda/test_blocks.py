"""The order in which pairs are visited: every pair once, in the block of its document, word after word."""

import numpy as np
import pytest
from toys import CORPORA, simulated

from workbench.corpus import Corpus
from workbench.engines.lda import split
from workbench.engines.lda.split import SPARE, blocks_of
from workbench.kernels import threads as slices


@pytest.mark.parametrize("most", [1, 7, 2048])
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("corpus", [simulated(60, 50, 40), *CORPORA.values()], ids=repr)
def test_every_pair_has_a_place_in_the_block_of_its_document(corpus, n_threads, most, monkeypatch):
    monkeypatch.setattr(split, "BLOCK_DOCUMENTS", most)
    monkeypatch.setattr(slices, "SLICE_WORK", 64)
    found = blocks_of(corpus, 16, n_threads)
    assert [d for first, last in found.ranges for d in range(first, last)] == list(
        range(corpus.n_documents)
    )
    assert len(found.pair_counts) == corpus.n_pairs + SPARE * len(found.ranges)
    seen = []
    for (first, last), cuts in zip(found.ranges, found.cuts, strict=True):
        words = found.run_words[cuts[0] : cuts[-1]]
        assert np.all(np.diff(words) > 0) and np.all(np.diff(cuts) >= 0)
        for run in range(cuts[0], cuts[-1]):
            run_documents = found.pair_documents[found.run_begins[run] : found.run_begins[run + 1]]
            assert (
                np.all(np.diff(run_documents) > 0)
                and first <= run_documents[0]
                and run_documents[-1] < last
            )
            seen += zip(
                *found.pairs_at(np.arange(found.run_begins[run], found.run_begins[run + 1])),
                strict=True,
            )
        spare = slice(found.run_begins[cuts[-1]], found.run_begins[cuts[-1] + 1])
        # one of its own
        assert not found.pair_counts[spare].any() and np.all(found.pair_documents[spare] == first)
    assert sorted(seen) == sorted(zip(corpus.documents, corpus.words, corpus.counts, strict=True))


def test_wide_rows_and_many_documents_make_more_blocks_and_threads_more_steps(monkeypatch):
    corpus = simulated(400, 300, 30)
    assert len(blocks_of(corpus, 16, 1).ranges) == 1
    # 400 rows of 32 KiB
    assert len(blocks_of(corpus, 2048, 1).ranges) == len(blocks_of(corpus, 2048, 3).ranges) == 2
    assert blocks_of(corpus, 2048, 3).n_steps > blocks_of(corpus, 2048, 1).n_steps
    monkeypatch.setattr(split, "FEW_DOCUMENTS", 130)
    assert len(blocks_of(corpus, 2048, 1).ranges) == 3


def test_a_small_corpus_is_one_block_for_any_number_of_threads():
    found = blocks_of(simulated(), 16, 8)
    assert len(found.ranges) == 1 and found.cuts.shape == (1, 2)


def test_a_few_long_documents_among_many_short_ones_spoil_neither_blocks_nor_steps(monkeypatch):
    """By pairs alone all short documents would be one block, by documents alone all long ones."""
    lengths = np.where(np.arange(600) % 200 == 199, 300, 1)
    words = np.concatenate([np.arange(n) for n in lengths])
    corpus = Corpus.from_pairs(np.repeat(np.arange(600), lengths), words, np.ones(len(words), int))
    monkeypatch.setattr(split, "BLOCK_DOCUMENTS", 60)
    monkeypatch.setattr(slices, "SLICE_WORK", 16 * 100)
    found = blocks_of(corpus, 16, 1)
    n_pairs = [corpus.indptr[last] - corpus.indptr[first] for first, last in found.ranges]
    assert max(last - first for first, last in found.ranges) <= 2 * 60
    assert max(n_pairs) <= 2 * corpus.n_pairs / 10 + 300
    assert found.n_steps == -(-max(n_pairs) // 100)
