"""A corpus cut so that several threads can sample it, with an answer that depends on the cut alone.

Documents are cut into P ranges and words into P sets of about equal numbers of tokens; a block is the pairs of a range with
the words of a set. A sweep has P phases. In phase s the blocks (range i, set i + s mod P) are worked off side by side: no
two of them share a row of n_dk or of n_wk, so these counts are exact. The sizes n_k are shared by all: each block has a
copy of its own, and what the blocks changed is added up, in order, when the phase ends.

Yan, Xu & Qi (2009), sec. 3.1; the delay in n_k is what makes the AD-LDA of Newman, Asuncion, Smyth & Welling (2009)
approximate, there for n_wk too. With P = 1 there is one block and no copy: the exact chain, in canonical order. A draw belongs
to its token, so for each P the answer is one, however many threads there are.
"""

import heapq
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.data.arrays import sealed
from workbench.engines.cached import cached_by_corpus
from workbench.engines.engine import StepContext
from workbench.kernels.lda.selection import select_pairs
from workbench.kernels.simd.lanes import aligned_zeros
from workbench.kernels.threads import each_slice, each_task, slice_bounds
from workbench.models.options import option

MOST_PARTS = 64
"""Blocks beyond this many at once no machine has threads for, and each would be small."""


class Columns(NamedTuple):
    """The pairs of one set of words of a partition, in canonical order, as a sparse matrix by document."""

    # (document + 1,) int64: the pairs of document d are indptr[d]:indptr[d + 1]
    indptr: np.ndarray
    words: np.ndarray  # (pair,) int32
    counts: np.ndarray  # (pair,) int32
    tokens_before: np.ndarray  # (pair,) int64: canonical number of the first token of each pair
    pairs: np.ndarray | slice  # (pair,) int64: where the pairs stand among all of the partition


class Partition(NamedTuple):
    """P ranges of documents and the columns of P sets of words."""

    ranges: list[tuple[int, int]]
    columns: list[Columns]


def partition_option():
    return option(
        1,
        "number of blocks updated in parallel. 1 is exact; more is faster but uses slightly stale topic sizes. The result "
        "does not depend on --threads.",
        low=1,
        high=MOST_PARTS,
        whole=True,
        late=True,
    )


def idle_alone(what: str) -> str:
    """Return the reason why extra threads are of no use without a partition."""
    return f"{what} one after another; with the option partition=4 blocks go side by side, approximately"


@cached_by_corpus
def partition_of(corpus: Corpus, n_parts: int) -> Partition:
    """Return the partition into P x P blocks of all pairs of a corpus. One block has the corpus's own arrays."""
    if n_parts == 1:
        whole = Columns(
            corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, slice(None)
        )
        return Partition([(0, corpus.n_documents)], [whole])
    return partition_pairs(corpus, n_parts, np.arange(corpus.n_pairs))


def partition_marked(corpus: Corpus, n_parts: int, mark: np.ndarray, wanted: bool) -> Partition:
    """Return the partition into P x P blocks of the pairs whose mark equals ``wanted``; mark (pair,) bool."""
    if n_parts > 1:
        return partition_pairs(corpus, n_parts, np.flatnonzero(mark == wanted))
    n_pairs = int(np.count_nonzero(mark == wanted))
    indptr = np.empty(corpus.n_documents + 1, np.int64)
    arrays = tuple(np.empty(n_pairs + 1, dtype) for dtype in (np.int32, np.int32, np.int64))
    select_pairs(
        mark,
        wanted,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        indptr,
        *arrays,
    )
    columns = Columns(*map(sealed, (indptr, *(array[:n_pairs] for array in arrays))), slice(None))
    return Partition([(0, corpus.n_documents)], [columns])


def partition_pairs(corpus: Corpus, n_parts: int, pairs: np.ndarray) -> Partition:
    """Return the partition into P x P blocks of some pairs of a corpus, in order.

    Ranges and sets have about equal numbers of tokens of the whole corpus.
    """
    ranges = ranges_of(corpus.tokens_before[corpus.indptr], n_parts)
    sets = sets_of_words(corpus, n_parts)
    return Partition(ranges, [column_of(corpus, pairs, sets, part) for part in range(n_parts)])


def ranges_of(tokens_before: np.ndarray, n_parts: int) -> list[tuple[int, int]]:
    """Return P ranges of documents with about equal numbers of tokens; tokens_before (document + 1,), of the whole corpus."""
    middles = (tokens_before[:-1] + tokens_before[1:]) / 2
    ends = np.searchsorted(
        middles, np.arange(1, n_parts) * (int(tokens_before[-1]) / n_parts)
    ).tolist()
    return list(pairwise([0, *ends, len(middles)]))


def column_of(corpus: Corpus, pairs: np.ndarray, sets: np.ndarray, of: int) -> Columns:
    """Return those of some pairs of a corpus whose word is in one set; sets (word,)."""
    return _columns(corpus, pairs, np.flatnonzero(sets[corpus.words[pairs]] == of))


@cached_by_corpus
def sets_of_words(corpus: Corpus, n_parts: int) -> np.ndarray:
    """Return (word,) the set of each word of a corpus."""
    return shared_out(np.bincount(corpus.words, corpus.counts, corpus.n_words), n_parts)


def shared_out(tokens, n_parts: int) -> np.ndarray:
    """Assign words to sets, (word,): the most frequent first, each to the set that has the fewest tokens so far."""
    sets, lightest = np.empty(len(tokens), np.int32), [(0.0, part) for part in range(n_parts)]
    for word in np.argsort(-tokens, kind="stable").tolist():
        n_tokens, sets[word] = lightest[0]
        heapq.heapreplace(lightest, (n_tokens + tokens[word], int(sets[word])))
    return sets


def _columns(corpus: Corpus, pairs, places) -> Columns:
    own = pairs[places]
    arrays = (
        np.searchsorted(own, corpus.indptr),
        corpus.words[own],
        corpus.counts[own],
        corpus.tokens_before[own],
    )
    # as those of a corpus are: for others kernels would be compiled once more
    return Columns(*map(sealed, arrays), places)


def each_block(partition: Partition, sizes: tuple, work: Callable, context: StepContext) -> list:
    """Return the results of ``work(first, last, part, sizes)`` for every block: documents first..last with the words of a part.

    ``sizes`` are the arrays by topic that the work changes and that blocks share; each is given its block's, and they hold
    the sum of all changes when this returns.
    """
    n_parts, results = len(partition.columns), []
    if n_parts == 1:
        bounds = slice_bounds(partition.columns[0].indptr, len(sizes[0]))
        return each_slice(lambda *rows: work(*rows, 0, sizes), bounds, 1, context.interrupt)
    copies = [aligned_zeros((n_parts, *each.shape), each.dtype) for each in sizes]
    for phase in range(n_parts):
        for shared, own in zip(sizes, copies, strict=True):
            own[...] = shared
        blocks = [
            _block(partition, i, (i + phase) % n_parts, [own[i] for own in copies], work)
            for i in range(n_parts)
        ]
        results += each_task(blocks, context.n_threads, context.interrupt)
        for shared, own in zip(sizes, copies, strict=True):
            add_changes(shared, own)
    return [result for of_block in results for result in of_block]


def _block(partition, i, part, sizes, work) -> Callable:
    """Return the task that visits the documents of range i with the words of a part."""
    bounds = slice_bounds(partition.columns[part].indptr, len(sizes[0]), *partition.ranges[i])
    return lambda interrupt: each_slice(
        lambda first, last: work(first, last, part, sizes), bounds, 1, interrupt
    )


def add_changes(shared, copies) -> None:
    """Add the change of each copy to the shared sizes, in order; negative values from rounding become zero."""
    before = shared.copy()
    for own in copies:
        shared += own - before
    np.maximum(shared, 0, out=shared)
