"""The order of a sweep: by blocks of the corpus, for several threads, or with tokens drawn word after word.

The result depends on the number of blocks, not on the number of threads.

Documents are cut into P ranges and words into P sets of about equal numbers of tokens; a block is the pairs of a range with
the words of a set. A sweep has P phases. In phase s the blocks (range i, set i + s mod P) are worked off side by side: no
two of them share a row of n_dk or of n_wk, so these counts are exact. The sizes n_k are shared by all: each block has a
copy of its own, and what the blocks changed is added up, in order, when the phase ends.

Yan, Xu & Qi (2009), sec. 3.1; the delay in n_k is what makes the AD-LDA of Newman, Asuncion, Smyth & Welling (2009)
approximate, there for n_wk too. With P = 1 there is one block and no copy: the exact chain, in canonical order. A draw belongs
to its token, so for each P the answer is one, however many threads there are.

Tokens are drawn document after document, or word after word. Every order of the same conditionals leaves the posterior as it
is, so this is a matter of time alone. A draw in document order looks at every topic, one in word order at those that the
document holds: with many topics, once documents hold few of them, the latter is cheaper. The choice is a function of the
state, never of the machine, so that a resumed run repeats it.
"""

import heapq
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.data.arrays import sealed
from workbench.engines.engine import State, StepContext, cached_by_corpus, word_major_bytes
from workbench.kernels.lda.selection import select_pairs
from workbench.kernels.lda.sparse_gibbs import (
    draw_words,
    entries_fit,
    make_lists,
    mean_held,
    starts_of_lists,
    write_back,
)
from workbench.kernels.lda.word_prior import take_prior_out, with_prior
from workbench.kernels.simd.vectors import aligned_zeros, pad_topics
from workbench.kernels.threads import each_slice, each_task, slice_bounds
from workbench.kernels.uniforms import GIBBS
from workbench.models.options import option

MOST_PARTS = 64
"""Largest number of blocks side by side."""


class Columns(NamedTuple):
    """The document-word pairs of one set of words, as a sparse matrix by document, in canonical order."""

    # (document + 1,) int64: the pairs of document d are indptr[d]:indptr[d + 1]
    indptr: np.ndarray
    words: np.ndarray  # (pair,) int32
    counts: np.ndarray  # (pair,) int32
    tokens_before: np.ndarray  # (pair,) int64: index of the first token of each pair
    pairs: np.ndarray | slice  # (pair,) int64: index of each pair among all pairs of the partition


class Partition(NamedTuple):
    """A cut of document-word pairs into P x P blocks, by P ranges of documents and P sets of words."""

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


def idle_alone(subject: str) -> str:
    """Return a text on why extra threads are of no use without the option partition."""
    return f"{subject} one after another; with the option partition=4 blocks go side by side, approximately"


@cached_by_corpus
def partition_of(corpus: Corpus, n_parts: int) -> Partition:
    """Return the P x P blocks of all document-word pairs of a corpus; a single block shares the corpus's arrays."""
    if n_parts == 1:
        block = Columns(
            corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, slice(None)
        )
        return Partition([(0, corpus.n_documents)], [block])
    return partition_pairs(corpus, n_parts, np.arange(corpus.n_pairs))


def partition_marked(corpus: Corpus, n_parts: int, mark: np.ndarray, value: bool) -> Partition:
    """Return the P x P blocks of the document-word pairs whose ``mark`` (pair,) equals ``value``."""
    if n_parts > 1:
        return partition_pairs(corpus, n_parts, np.flatnonzero(mark == value))
    n_pairs = int(np.count_nonzero(mark == value))
    indptr = np.empty(corpus.n_documents + 1, np.int64)
    arrays = tuple(np.empty(n_pairs + 1, dtype) for dtype in (np.int32, np.int32, np.int64))
    select_pairs(
        mark,
        value,
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
    """Return the P x P blocks of the document-word pairs with the given ascending indices.

    Ranges and sets have about equal numbers of tokens of the whole corpus.
    """
    ranges = ranges_of(corpus.tokens_before[corpus.indptr], n_parts)
    sets = sets_of_words(corpus, n_parts)
    return Partition(ranges, [columns_of(corpus, pairs, sets, part) for part in range(n_parts)])


def ranges_of(tokens_before: np.ndarray, n_parts: int) -> list[tuple[int, int]]:
    """Return P ranges of documents with about equal numbers of tokens, from cumulative ``tokens_before`` (document + 1,)."""
    middles = (tokens_before[:-1] + tokens_before[1:]) / 2
    ends = np.searchsorted(
        middles, np.arange(1, n_parts) * (int(tokens_before[-1]) / n_parts)
    ).tolist()
    return list(pairwise([0, *ends, len(middles)]))


@cached_by_corpus
def sets_of_words(corpus: Corpus, n_parts: int) -> np.ndarray:
    """Assign the words of a corpus to P sets with about equal numbers of tokens; return each word's set (word,)."""
    return share_out(np.bincount(corpus.words, corpus.counts, corpus.n_words), n_parts)


def share_out(tokens, n_parts: int) -> np.ndarray:
    """Assign each word, the most frequent first, to the set with the fewest tokens so far; return the sets (word,)."""
    sets, lightest = np.empty(len(tokens), np.int32), [(0.0, part) for part in range(n_parts)]
    for word in np.argsort(-tokens, kind="stable").tolist():
        n_tokens, sets[word] = lightest[0]
        heapq.heapreplace(lightest, (n_tokens + tokens[word], int(sets[word])))
    return sets


def columns_of(corpus: Corpus, pairs: np.ndarray, sets: np.ndarray, number: int) -> Columns:
    """Return the document-word pairs whose word is in set ``number``; ``sets`` (word,) has each word's set."""
    positions = np.flatnonzero(sets[corpus.words[pairs]] == number)
    set_pairs = pairs[positions]
    arrays = (
        np.searchsorted(set_pairs, corpus.indptr),
        corpus.words[set_pairs],
        corpus.counts[set_pairs],
        corpus.tokens_before[set_pairs],
    )
    # as those of a corpus are: for others kernels would be compiled once more
    return Columns(*map(sealed, arrays), positions)


def each_block(partition: Partition, sizes: tuple, work: Callable, context: StepContext) -> list:
    """Run ``work(first, last, part, sizes)`` on every block, P blocks at a time in parallel; return the results.

    ``part`` is the set of words. ``sizes`` are arrays by topic that all blocks change: each block gets its own copy, and the
    changes of all blocks are added to the given arrays.
    """
    n_parts, results = len(partition.columns), []
    if n_parts == 1:
        bounds = slice_bounds(partition.columns[0].indptr, len(sizes[0]))
        return each_slice(lambda *rows: work(*rows, 0, sizes), bounds, 1, context.interrupt)
    copies = [aligned_zeros((n_parts, *array.shape), array.dtype) for array in sizes]
    for phase in range(n_parts):
        for topic_sizes, copies_of_blocks in zip(sizes, copies, strict=True):
            copies_of_blocks[...] = topic_sizes
        blocks = [
            _block(
                partition,
                i,
                (i + phase) % n_parts,
                [copies_of_blocks[i] for copies_of_blocks in copies],
                work,
            )
            for i in range(n_parts)
        ]
        results += each_task(blocks, context.n_threads, context.interrupt)
        for topic_sizes, copies_of_blocks in zip(sizes, copies, strict=True):
            merge_copies(topic_sizes, copies_of_blocks)
    return [result for block_results in results for result in block_results]


def _block(partition, i, part: int, sizes: list[np.ndarray], work) -> Callable:
    """Return the task that visits block (i, ``part``): the documents of range i, and the words of set ``part``."""
    bounds = slice_bounds(partition.columns[part].indptr, len(sizes[0]), *partition.ranges[i])
    return lambda interrupt: each_slice(
        lambda first, last: work(first, last, part, sizes), bounds, 1, interrupt
    )


def merge_copies(topic_sizes, copies) -> None:
    """Add what each part changed in its copy of the topic sizes to the shared ones, in place; negative sums become 0."""
    old_sizes = topic_sizes.copy()
    for copy in copies:
        topic_sizes += copy - old_sizes
    np.maximum(topic_sizes, 0, out=topic_sizes)


DOCUMENTS, WORDS = 0, 1
"""The recorded number of each sweep order."""
SPARED, COST = 220, 1.5
"""A sweep by words is cheaper if a draw skips at least SPARED topics that the document lacks; a topic of the document
costs COST times as much in a list as in a row. Measured; see docs/decisions/kernels.md."""


def scan_option():
    return option(
        "auto",
        "order in which tokens are visited: documents, words, or auto = words where documents have few of many topics",
        choices=("auto", "documents", "words"),
        late=True,
        label="Order of tokens",
    )


def by_words(corpus: Corpus, state: State, scan: str) -> bool:
    """Return whether a chain's next sweep goes word by word, which is faster if each document has few of many topics."""
    n_topics = len(state.alpha)
    n_spared = n_topics - SPARED
    if (
        scan == "documents"
        or (scan == "auto" and n_spared <= 0)
        or not entries_fit(corpus.document_tokens, n_topics)
    ):
        return False
    return scan == "words" or COST * mean_held(state.n_dk, corpus.document_tokens) < n_spared


def sweep_words(corpus: Corpus, state: State, context: StepContext, chain: int = 0) -> int:
    """Make one Gibbs sweep over all tokens, word by word; return how many tokens changed topic."""
    n_topics, alpha = len(state.alpha), pad_topics(state.alpha)
    lists = make_lists(state.n_dk, corpus.document_tokens, n_topics)
    key, word_order = context.key(GIBBS, chain), corpus.by_word
    n_wk, n_k, beta = with_prior(state.beta, state.n_wk, state.n_k)

    n_moved = sum(
        each_slice(
            draw_words,
            slice_bounds(word_order.indptr, len(alpha)),
            1,
            context.interrupt,
            word_order.indptr,
            word_order.documents,
            *corpus.tokens_by_word,
            state.topics,
            n_wk,
            n_k,
            *lists,
            alpha,
            beta,
            n_topics,
            key,
        )
    )
    take_prior_out(state.beta, n_wk, n_k, state.n_wk, state.n_k)
    write_back(state.n_dk, *lists)
    return n_moved


def word_order_bytes(corpus: Corpus, n_topics: int, scan: str) -> tuple[int, int]:
    """Return the bytes of the word-major corpus and of a sweep's lists of topics; (0, 0) if no sweep is by words."""
    if scan == "documents" or (scan == "auto" and n_topics <= SPARED):
        return 0, 0
    entries = int(starts_of_lists(corpus.document_tokens, n_topics)[-1])
    return word_major_bytes(corpus) + corpus.n_pairs * (8 + 4), entries * np.dtype(
        np.int32
    ).itemsize
