"""The split of a hybrid: which pairs of a corpus are sampled, token by token, and which are averaged.

Welling, Teh & Kappen (2008) sample the pairs that count at most r (`split_by_count`); any set of pairs is as valid a split.
"""

from functools import cached_property
from typing import NamedTuple
from weakref import ref

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import cached_by_corpus
from workbench.engines.lda.blocks import Blocks, blocks_of, pairs_of_places, without
from workbench.engines.lda.partition import Partition, partition_marked, partition_of
from workbench.kernels.lda.selection import sum_of

EVERY_COUNT = np.int64(2**62)
"""The threshold under which every pair lies."""


class Split:
    """A set of sampled pairs of a corpus, with cached arrays that are derived from it.

    Parameters
    ----------
    corpus : Corpus
    sampled : array, (pair,) bool
        Made read-only, as the arrays of a corpus are: for others kernels would be compiled once more.
    """

    def __init__(self, corpus: Corpus, sampled: np.ndarray):
        sampled.flags.writeable = False
        self.sampled, self._corpus, self._partitions = sampled, ref(corpus), {}
        self.n_sampled = int(np.count_nonzero(sampled))
        self.n_averaged = len(sampled) - self.n_sampled

    @cached_property
    def n_tokens(self) -> int:
        """Number of sampled tokens."""
        return int(sum_of(self.sampled, self._corpus().counts))

    @cached_property
    def rows(self) -> np.ndarray:
        """Return the number of averaged pairs before each pair, (pair,) int64: the responsibility row of an averaged pair."""
        return np.cumsum(~self.sampled) - ~self.sampled

    @property
    def averaged(self) -> Corpus:
        """Return the averaged pairs as a corpus; the corpus itself if no pair is sampled."""
        return self._some_averaged if self.n_sampled else self._corpus()

    @cached_property
    def _some_averaged(self) -> Corpus:
        corpus, averaged = self._corpus(), ~self.sampled
        indptr = np.concatenate([[0], np.cumsum(averaged)])[corpus.indptr]
        return corpus.with_pairs(indptr, corpus.words[averaged], corpus.counts[averaged])

    def partition(self, n_parts: int, sampled: bool) -> Partition:
        """Return the partition into P x P blocks of the sampled pairs, or of the averaged ones."""
        if (self.n_sampled if sampled else self.n_averaged) == len(self.sampled):
            return partition_of(self._corpus(), n_parts)
        if (n_parts, sampled) not in self._partitions:
            self._partitions[n_parts, sampled] = partition_marked(
                self._corpus(), n_parts, self.sampled, sampled
            )
        return self._partitions[n_parts, sampled]

    def blocks(self, lanes: int, n_threads: int) -> Blocks:
        """Return the averaged pairs in blocks, for rows of `lanes` padded topics."""
        return blocks_of(self.averaged, lanes, n_threads)


class Several(NamedTuple):
    """The pairs with several tokens, in blocks."""

    blocks: Blocks
    pairs: np.ndarray  # (place,) int64: the pair at each place; -1 where it is spare


class SplitOfSeveral(Split):
    """A split that samples all pairs with one token; the blocks of the other pairs are reused by the next split."""

    def blocks(self, lanes: int, n_threads: int) -> Blocks:
        """Return the averaged pairs in blocks: pairs with several tokens, without the sampled ones."""
        return without(*several_tokens(self._corpus(), lanes, n_threads), self.sampled)


@cached_by_corpus
def several_tokens(corpus: Corpus, lanes: int, n_threads: int) -> Several:
    """Return the pairs of a corpus with several tokens, in blocks for rows of `lanes` padded topics."""
    split = split_by_count(corpus, 1)
    blocks = split.blocks(lanes, n_threads)
    pairs = np.append(np.flatnonzero(~split.sampled), -1)
    return Several(blocks, pairs[pairs_of_places(split.averaged, blocks)])


@cached_by_corpus
def split_by_count(corpus: Corpus, threshold: int) -> Split:
    """Return the split that samples the pairs with a count of at most the threshold."""
    return Split(corpus, corpus.counts <= threshold)


def none_sampled(corpus: Corpus) -> Split:
    """Return the split of variational engines: no pair is sampled."""
    return split_by_count(corpus, 0)


def all_sampled(corpus: Corpus) -> Split:
    """Return the split of Gibbs samplers: every pair is sampled."""
    return split_by_count(corpus, EVERY_COUNT)
