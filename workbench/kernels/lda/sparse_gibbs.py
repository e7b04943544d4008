"""Collapsed Gibbs sampling for many topics, whose time per token is proportional to the number of topics in the document.

    p(z_i = k | z_-i, w)  ~  n_dk q_k + alpha_k q_k,        q_k = (beta + n_wk) / (W beta + n_k)        spec A6

with token i removed from the counts. Tokens are visited in the order of words. The first term is summed over the topics of the
document, a short list; the second over all topics, in blocks of sixteen, whose sums are kept for the word and updated when a
token changes topic. The conditional and the uniform of a token are those of `gibbs.draw_topics`; as the order of tokens
differs, it is another chain with the same stationary distribution.

An entry of a list is an int32: the topic in its low bits, the count above. An entry whose count is 0 is free,
whatever its topic. A document has as many entries as it has tokens or as there are topics, whichever is fewer. Lists are made
from n_dk before a sweep and written back after it, so that they are no part of the state of a chain.

Yuan et al. (2015), "LightLDA", and Yu et al. (2015), "A scalable asynchronous distributed algorithm for topic
modeling", visit tokens word by word for the same reason; there are no stale counts and no proposals here.
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import inlined, kernel
from workbench.kernels.lda.gibbs import inverse_sizes
from workbench.kernels.simd.functions import count, first_lane, running, total
from workbench.kernels.simd.vectors import (
    LANES,
    aligned_zeros,
    choose,
    doubles,
    fetch,
    lane,
    load,
    put,
    spread,
    store,
    take,
)
from workbench.kernels.uniforms import uniform

AHEAD = 6
"""How many pairs ahead the list of a document is prefetched into the cache."""


class Lists(NamedTuple):
    """For each document, a list of the topics of its tokens and their counts."""

    entries: np.ndarray  # (entry,) int32: count << bits | topic
    # (document + 1,) int64: the entries of document d are starts[d]:starts[d + 1], whole blocks
    starts: np.ndarray
    ends: np.ndarray  # (document,) int64: the entries from here on were never used, whole blocks
    bits: int  # number of bits of a topic in an entry


def bits_of(n_topics: int) -> int:
    """Return how many low bits of a list entry, an integer that packs a count and a topic, hold the topic."""
    return int(n_topics - 1).bit_length()


def entries_fit(document_tokens, n_topics: int) -> bool:
    """Return whether a list entry can hold a count as large as the longest document."""
    return int(document_tokens.max()) < 2 ** (31 - bits_of(n_topics))


def starts_of_lists(document_tokens, n_topics: int) -> np.ndarray:
    """Return where each document's list entries begin, and the end, (document + 1,) int64."""
    blocks = -(-np.minimum(document_tokens, n_topics) // LANES)
    return LANES * np.concatenate([[0], np.cumsum(blocks)])


def make_lists(n_dk: np.ndarray, document_tokens, n_topics: int) -> Lists:
    """Return the lists of topics and counts of all documents, from n_dk (document, topic)."""
    starts = starts_of_lists(document_tokens, n_topics)
    lists = Lists(
        aligned_zeros((starts[-1],), np.int32),
        starts,
        np.empty(len(n_dk), np.int64),
        bits_of(n_topics),
    )
    fill_lists(n_dk, *lists)
    return lists


@kernel
def fill_lists(n_dk: np.ndarray, entries, starts: np.ndarray, ends, bits) -> None:
    """Fill the lists with the nonzero counts of n_dk (document, topic), in the order of topics."""
    lanes = n_dk.shape[1]
    for d in range(len(n_dk)):
        end = starts[d]
        for index in range(0, lanes, LANES):
            if count(load(n_dk, d * lanes + index) > 0):
                for k in range(index, index + LANES):
                    if n_dk[d, k]:
                        entries[end] = (n_dk[d, k] << bits) | k
                        end += 1
        ends[d] = starts[d] + (end - starts[d] + LANES - 1) // LANES * LANES


@kernel
def write_back(n_dk: np.ndarray, entries, starts: np.ndarray, ends, bits) -> None:
    """Write the counts of the lists into n_dk (document, topic)."""
    for d in range(len(n_dk)):
        for k in range(n_dk.shape[1]):
            n_dk[d, k] = 0
        for e in range(starts[d], ends[d]):
            if entries[e] >> bits:
                n_dk[d, entries[e] & ((1 << bits) - 1)] = entries[e] >> bits


@kernel
def mean_held(n_dk: np.ndarray, document_tokens):
    """Return how many topics the document of a token has, averaged over all tokens, given n_dk (document, topic)."""
    lanes, n_total, n_tokens = n_dk.shape[1], 0, 0
    for d in range(len(n_dk)):
        n_tokens += document_tokens[d]
        n_positive = 0
        for index in range(d * lanes, (d + 1) * lanes, LANES):
            n_positive += count(load(n_dk, index) > 0)
        n_total += n_positive * document_tokens[d]
    return n_total / max(n_tokens, 1)


@inlined
def mend(
    w,
    k,
    change,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    inverse,
    q,
    sums,
    alpha,
    beta,
    words_beta: float,
) -> None:
    """Add `change` to counts of word w in topic k; update q_k and the sum of alpha q over the block of topics with k."""
    n_wk[w, k] += change
    n_k[k] += change
    inverse[k] = 1.0 / (words_beta + n_k[k])
    put(q, k, (beta + n_wk[w, k]) * inverse[k])
    block = k // LANES
    put(sums, block, total(load(alpha, LANES * block) * load(q, LANES * block)))


@inlined
def topic_everywhere(target, q, sums, alpha, n_topics: int):
    """Return the first topic at which the running sum of weights alpha_k q_k over all topics exceeds `target`."""
    index = 0
    running_sums = running(load(sums, index))
    while lane(running_sums, 15) <= target and index + LANES < len(sums):
        target -= lane(running_sums, 15)
        index += LANES
        running_sums = running(load(sums, index))
    i = count(running_sums <= target)
    first = LANES * (index + i)
    if first >= n_topics:  # only by rounding, as below
        return n_topics - 1
    if i:
        target -= lane(running_sums, i - 1)
    return min(first + count(running(load(alpha, first) * load(q, first)) <= target), n_topics - 1)


@inlined
def entry_below(target, block_sums, sums_before, entries, start, end, one):
    """Return the index of the first entry of a document's list at which the running sum of weights exceeds `target`.

    The sum goes over the entries of lane 0, then over those of lane 1, and so on. block_sums : the sums up to each lane.
    """
    i = min(count(block_sums <= target), LANES - 1)
    if i:
        target -= lane(block_sums, i - 1)
    entry = start + i
    while entry + LANES < end and sums_before[entry - start] <= target:
        entry += LANES
    if entries[entry] < one:  # only by rounding
        entry = start
        while entries[entry] < one:
            entry += 1
    return entry


@inlined
def add_entry(d, k, entries, starts: np.ndarray, ends, topic_of, one, ones, zeros) -> None:
    """Add a token in topic k to the list of document d, in the topic's entry or in a free one."""
    free = ends[d]
    for index in range(starts[d], ends[d], LANES):
        block = load(entries, index)
        is_same = ((block & topic_of) == k) & (block >= one)
        if count(is_same):
            store(entries, index, block + choose(is_same, ones, zeros))
            return
        i = first_lane(block < one)
        if i < LANES:
            free = min(free, index + i)
    if free == ends[d]:
        ends[d] += LANES
    entries[free] = one | k


@kernel
def draw_words(
    first: int,
    last: int,
    indptr: np.ndarray,
    documents: np.ndarray,
    first_tokens,
    counts: np.ndarray,
    topics: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    entries,
    starts: np.ndarray,
    ends,
    bits,
    alpha,
    beta,
    n_topics: int,
    key: np.uint64,
):
    """Draw the topics of all tokens of words first..last, document after document; return how many changed topic.

    documents, first_tokens, counts (pair,) in word-major order; topics (token,) uint16 in canonical order; n_wk (word,
    topic) int32 and n_k (topic,) int64, padded, and the lists are changed in place.
    """
    lanes, words_beta = len(n_k), len(n_wk) * beta
    topic_of, one, shift = np.int32((1 << bits) - 1), np.int32(1 << bits), np.int32(bits)
    ones, zeros = spread(one), spread(np.int32(0))
    q, inverse, sums_before = (
        np.empty(lanes),
        inverse_sizes(n_k, None, words_beta, 0),
        np.empty(lanes),
    )
    sums = np.zeros((lanes // LANES + LANES - 1) // LANES * LANES)
    n_moved = 0
    for w in range(first, last):
        for index in range(0, lanes, LANES):
            row = (beta + doubles(load(n_wk, w * lanes + index))) * load(inverse, index)
            store(q, index, row)
            sums[index // LANES] = total(load(alpha, index) * row)
        for pair in range(indptr[w], indptr[w + 1]):
            if pair + AHEAD < indptr[w + 1]:
                next_start = starts[documents[pair + AHEAD]]
                for line in range(3):
                    fetch(entries, next_start + line * LANES)
                fetch(topics, first_tokens[pair + AHEAD])
            d = documents[pair]
            start = starts[d]
            for token in range(first_tokens[pair], first_tokens[pair] + counts[pair]):
                old = np.int64(topics[token])
                mend(w, old, -1, n_wk, n_k, inverse, q, sums, alpha, beta, words_beta)
                block_sums = spread(np.float64(0.0))
                for index in range(start, ends[d], LANES):
                    block = load(entries, index)
                    of = block & topic_of
                    block -= choose((of == np.int32(old)) & (block >= one), ones, zeros)
                    store(entries, index, block)
                    block_sums += doubles(block >> shift) * take(q, of)
                    store(sums_before, index - start, block_sums)
                block_sums = running(block_sums)
                document_weight, everywhere = lane(block_sums, 15), load(sums, 0)
                for index in range(LANES, len(sums), LANES):
                    everywhere += load(sums, index)
                target = uniform(key, token) * (document_weight + total(everywhere))
                if target < document_weight:
                    entry = entry_below(
                        target, block_sums, sums_before, entries, start, ends[d], one
                    )
                    new = np.int64(entries[entry] & topic_of)
                    entries[entry] += one
                else:
                    new = topic_everywhere(target - document_weight, q, sums, alpha, n_topics)
                    add_entry(d, np.int32(new), entries, starts, ends, topic_of, one, ones, zeros)
                topics[token] = new
                mend(w, new, 1, n_wk, n_k, inverse, q, sums, alpha, beta, words_beta)
                n_moved += new != old
    return n_moved
