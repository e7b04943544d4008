"""The split of a hybrid: which pairs of a corpus are sampled and which are averaged; blocks of averaged pairs.

Welling, Teh & Kappen (2008) sample the pairs that count at most r (`split_by_count`); any set of pairs is as valid a split.

`Blocks` is the order in which `parallel_vb` visits the averaged pairs: blocks of documents, in a block word after word. A run
is the pairs of one word in one block. The rows of a word are read once for a run and those of a block's documents stay in a
cache, so blocks are as large as that allows, and a few for several threads. What `parallel_vb` counts has the same bits
however the blocks are cut, but not what is added up over places: the cuts depend on the corpus and the number of topics alone.
"""

import math
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple
from weakref import ref

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import DOUBLE, StepContext, cached_by_corpus
from workbench.engines.lda.partition import Partition, partition_marked, partition_of
from workbench.kernels import threads as slices
from workbench.kernels.lda.selection import select_places, sum_of
from workbench.kernels.lda.standard_vb import GROUP

BLOCK_BYTES, BLOCK_DOCUMENTS = 2**23, 4096
"""Approximate maximum of a block: bytes of its documents' weights and counts, and number of documents."""
FEWEST, FEW_DOCUMENTS = 4, 512
"""Smallest number of blocks, if each has at least FEW_DOCUMENTS documents and the work of a slice."""
STEPS, STEP_SHARE = 16, 0.5
"""Smallest number of steps with several threads, unless steps become smaller than STEP_SHARE of a slice."""
SPARE = GROUP - 1
"""Unused places after a block: the last group of pairs that is read at once may end after it."""


class Blocks(NamedTuple):
    ranges: list[tuple[int, int]]  # range of documents of each block
    # (block, step + 1) int64: first run of each step, and the end; words ascend
    cuts: np.ndarray
    # (run,) int32: its word; the last run of each block is unused places, in no step
    run_words: np.ndarray
    run_begins: np.ndarray  # (run + 1,) int64: its first place
    pair_documents: np.ndarray  # (place,) int32
    pair_counts: np.ndarray  # (place,) int32; 0 at unused places

    @property
    def n_steps(self) -> int:
        """Number of steps in which a sweep goes through each block of documents."""
        return self.cuts.shape[1] - 1

    @property
    def visited(self) -> tuple:
        """Arguments of `parallel_vb.visit_runs`: word and start of each run (pairs of a word), documents and counts."""
        return self.run_words, self.run_begins, self.pair_documents, self.pair_counts

    def pairs_at(self, places: np.ndarray) -> tuple:
        """Return documents, words and counts of the document-word pairs at the given places of the blocks."""
        runs = np.searchsorted(self.run_begins, places, side="right") - 1
        return self.pair_documents[places], self.run_words[runs], self.pair_counts[places]


def blocks_of(corpus: Corpus, lanes: int, n_threads: int) -> Blocks:
    """Return the pairs of a corpus in blocks of documents, sorted by word; `lanes` is the padded number of topics."""
    bounds = block_bounds(corpus, lanes)
    last_words = cut_words(corpus, steps_of(corpus, bounds, lanes, n_threads))
    n_places = corpus.n_pairs + SPARE * len(bounds)
    documents, counts = np.empty(n_places, np.int32), np.zeros(n_places, np.int32)
    cuts, words, run_begins, begin, n_runs = [], [], [], 0, 0
    for first, last in bounds:
        pairs = pairs_in_order(corpus, first, last)
        sorted_words, end = corpus.words[pairs], begin + len(pairs)
        documents[begin:end], counts[begin:end] = corpus.documents[pairs], corpus.counts[pairs]
        documents[end : end + SPARE] = first
        starts = np.flatnonzero(np.diff(sorted_words, prepend=-1))
        cuts.append(n_runs + np.searchsorted(sorted_words[starts], last_words))
        words += [sorted_words[starts], [0]]
        run_begins += [begin + starts, [end]]
        begin, n_runs = end + SPARE, n_runs + len(starts) + 1
    run_begins.append([begin])
    runs = np.concatenate(words).astype(np.int32), np.concatenate(run_begins).astype(np.int64)
    return Blocks(bounds, np.array(cuts), *runs, documents, counts)


def pairs_in_order(corpus: Corpus, first: int, last: int) -> np.ndarray:
    """Return the indices (pair,) of the document-word pairs of documents first..last, sorted by word."""
    begin, end = corpus.indptr[first], corpus.indptr[last]
    return begin + np.argsort(corpus.words[begin:end], kind="stable")


def pairs_of_places(corpus: Corpus, blocks: Blocks) -> np.ndarray:
    """Return, for each place of the blocks, the index of its document-word pair in the corpus (place,); -1 at unused places."""
    unused_places = np.full(SPARE, -1)
    return np.concatenate(
        [
            part
            for bounds in blocks.ranges
            for part in (pairs_in_order(corpus, *bounds), unused_places)
        ]
    )


def without(blocks: Blocks, pairs: np.ndarray, left_out: np.ndarray) -> Blocks:
    """Return a copy of the blocks without the pairs marked in ``left_out``; words may be left without pairs in a block.

    pairs (place,): see `pairs_of_places`; left_out (pair,) bool
    """
    new_begins, documents = np.empty_like(blocks.run_begins), np.empty_like(blocks.pair_documents)
    counts = np.empty_like(blocks.pair_counts)
    n_places = select_places(
        blocks.run_begins,
        blocks.pair_documents,
        blocks.pair_counts,
        pairs,
        left_out,
        new_begins,
        documents,
        counts,
    )
    return blocks._replace(
        run_begins=new_begins, pair_documents=documents[:n_places], pair_counts=counts[:n_places]
    )


def block_bounds(corpus: Corpus, lanes: int) -> list[tuple[int, int]]:
    """Return the ranges of documents of the blocks, which balance numbers of documents and of pairs."""
    n_documents, row_bytes = corpus.n_documents, 2 * lanes * DOUBLE
    fewest = min(FEWEST, n_documents // FEW_DOCUMENTS, corpus.n_pairs * lanes // slices.SLICE_WORK)
    n_blocks = max(
        fewest, -(-n_documents * row_bytes // BLOCK_BYTES), -(-n_documents // BLOCK_DOCUMENTS)
    )
    share = corpus.indptr / max(corpus.n_pairs, 1) + np.arange(n_documents + 1) / n_documents
    cuts = np.searchsorted(share, np.linspace(0, share[-1], n_blocks + 1)[1:-1])
    return list(pairwise(np.unique([0, *cuts, n_documents]).tolist()))


def steps_of(corpus: Corpus, bounds, lanes: int, n_threads: int) -> int:
    """Return the number of steps in which a block is visited, chosen so that a step takes at most some milliseconds."""
    n_slices = (
        max(corpus.indptr[last] - corpus.indptr[first] for first, last in bounds)
        * lanes
        / slices.SLICE_WORK
    )
    least = min(STEPS, math.ceil(n_slices / STEP_SHARE)) if n_threads > 1 and len(bounds) > 1 else 1
    return max(math.ceil(n_slices), least)


def cut_words(corpus: Corpus, n_steps: int) -> np.ndarray:
    """Cut the vocabulary into steps with similar numbers of pairs; return first words and the end (step + 1,)."""
    pairs_before = np.concatenate(
        [[0], np.cumsum(np.bincount(corpus.words, minlength=corpus.n_words))]
    )
    ideal = np.linspace(0, corpus.n_pairs, n_steps + 1)[1:-1]
    return np.concatenate([[0], np.searchsorted(pairs_before, ideal), [corpus.n_words]])


EVERY_COUNT = np.int64(2**62)
"""A threshold that no count of a pair reaches."""


class Split:
    """The document-word pairs of a corpus that a hybrid samples, with cached arrays that are derived from them.

    Parameters
    ----------
    corpus : Corpus
    sampled : array, (pair,) bool
        Made read-only like the arrays of a corpus; kernels would be compiled again for writable ones.
    """

    def __init__(self, corpus: Corpus, sampled: np.ndarray):
        sampled.flags.writeable = False
        self.sampled, self._corpus, self._partitions = sampled, ref(corpus), {}
        self.n_sampled = int(np.count_nonzero(sampled))
        self.n_averaged = len(sampled) - self.n_sampled

    def samples_any(self, context: StepContext) -> bool:
        """Return whether any token of the whole corpus is sampled, also where the split covers only a part of it."""
        return self.n_sampled > 0 if context.samples is None else context.samples

    @cached_property
    def n_tokens(self) -> int:
        """Number of sampled tokens."""
        return int(sum_of(self.sampled, self._corpus().counts))

    @cached_property
    def rows(self) -> np.ndarray:
        """Row (pair,) int64, among the stored responsibilities, of each pair that is not sampled."""
        return np.cumsum(~self.sampled) - ~self.sampled

    @property
    def averaged(self) -> Corpus:
        """The document-word pairs that are not sampled, as a Corpus; the whole corpus itself if no pair is sampled."""
        return self._some_averaged if self.n_sampled else self._corpus()

    @cached_property
    def _some_averaged(self) -> Corpus:
        corpus, averaged = self._corpus(), ~self.sampled
        indptr = np.concatenate([[0], np.cumsum(averaged)])[corpus.indptr]
        return corpus.with_pairs(indptr, corpus.words[averaged], corpus.counts[averaged])

    def partition(self, n_parts: int, sampled: bool) -> Partition:
        """Return the P x P blocks of the sampled document-word pairs, or of the other pairs if ``sampled`` is False."""
        if (self.n_sampled if sampled else self.n_averaged) == len(self.sampled):
            return partition_of(self._corpus(), n_parts)
        if (n_parts, sampled) not in self._partitions:
            self._partitions[n_parts, sampled] = partition_marked(
                self._corpus(), n_parts, self.sampled, sampled
            )
        return self._partitions[n_parts, sampled]

    def blocks(self, lanes: int, n_threads: int) -> Blocks:
        """Return the document-word pairs that are not sampled, in blocks; `lanes` is the padded number of topics."""
        return blocks_of(self.averaged, lanes, n_threads)


class RepeatedPairs(NamedTuple):
    """The document-word pairs with more than one token, in blocks."""

    blocks: Blocks
    pairs: np.ndarray  # (place,) int64: the pair at each place; -1 at unused places


class SplitOfRepeated(Split):
    """A split that samples all pairs with one token, so that blocks of the other pairs can be cached and reused."""

    def blocks(self, lanes: int, n_threads: int) -> Blocks:
        """Return the pairs that are not sampled, in blocks: the cached blocks of `RepeatedPairs` without the sampled pairs."""
        return without(*find_repeated_pairs(self._corpus(), lanes, n_threads), self.sampled)


@cached_by_corpus
def find_repeated_pairs(corpus: Corpus, lanes: int, n_threads: int) -> RepeatedPairs:
    """Return the document-word pairs with more than one token in blocks; `lanes` is the padded number of topics."""
    split = split_by_count(corpus, 1)
    blocks = split.blocks(lanes, n_threads)
    pairs = np.append(np.flatnonzero(~split.sampled), -1)
    return RepeatedPairs(blocks, pairs[pairs_of_places(split.averaged, blocks)])


@cached_by_corpus
def split_by_count(corpus: Corpus, threshold: int) -> Split:
    """Return the split that samples the document-word pairs with at most ``threshold`` tokens."""
    return Split(corpus, corpus.counts <= threshold)


def none_sampled(corpus: Corpus) -> Split:
    """Return the split of variational engines: no pair is sampled."""
    return split_by_count(corpus, 0)


def all_sampled(corpus: Corpus) -> Split:
    """Return the split of Gibbs samplers: every (document, word) pair is sampled."""
    return split_by_count(corpus, EVERY_COUNT)
