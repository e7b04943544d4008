"""Collapsed Gibbs sampling of LDA and of the hybrids: draws the topic of each token from its full conditional.

    p(z_i = k | z_-i, w)  ~  (alpha_k + n_dk) (beta + n_wk) / (W beta + n_k)        spec A6, A8

with token i removed from the counts. The counts are integers; in hybrids, constant expected counts (`mean_*`, else None) are
added, and their variances (`var_*`, else None) multiply the conditional by

    exp{ - V_dk / 2 (alpha_k + n_dk)^2 - V_wk / 2 (beta + n_wk)^2 + V_k / 2 (W beta + n_k)^2 }    spec A.8

A token's uniform depends only on its canonical number, so a Gibbs sampler is identical, bit for bit, to a hybrid in which every
pair is sampled.

A row of topics is processed in blocks of sixteen lanes. Running sums go down the lanes, block by block; a draw selects a lane
(in the order of `functions.STAIR`) and then a block. So with up to four topics it is the smallest k whose running sum exceeds u
times the total, and otherwise the same in another order of the topics. Sums are float64: the probability of a topic is accurate
to 1e-15 of the total, a topic of weight 0 (such as padding) is never drawn, and a topic of any other weight can be drawn.

The document's factor of each topic, `share` = (alpha_k + n_dk) / (W beta + n_k), is kept through the document: a token changes
two of its entries. The value of an entry with one more token, `raised`, is computed in advance, and a drawn token is added only
after the next one has been removed, so that no token waits for a division.
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.simd.functions import STAIR, fast_exp, lane_counts, stairs
from workbench.kernels.simd.vectors import (
    LANES,
    LINE,
    at_most_256_bits,
    bump,
    doubles,
    fetch,
    lane,
    load,
    put,
    spread,
    store,
)
from workbench.kernels.uniforms import uniform

SMALLEST_EXPONENT, LARGEST_EXPONENT = -300.0, 300.0
"""Limits of the exponent of second-order factors, so that some topic always has a weight within the range of doubles."""
SMALLEST_SQUARE = 1e-300
"""Replaces the square of 0 of a padding topic as a divisor."""
AHEAD, FAR_AHEAD = 4, 8
"""How many pairs ahead the counts of a word are prefetched into the cache; and where they lie in several lines."""
LARGEST_UNIFORM = 1.0 - 2.0**-53
"""The largest uniform: a positive number times this is less than the number."""
COLUMN_AT, COLUMN_BEFORE = STAIR.astype(np.uint64), np.append(LANES, STAIR[:-1]).astype(np.uint64)
"""The lane at each place in the order `STAIR`, and the index in `ends` of the lane before it, or of the 0."""
ENDS = LANES + 1
"""Length of the scratch `ends`: the running sum at the end of each lane in the order `STAIR`, and a 0, which must be set."""


@inlined
def draw_from(sums, cumulative: np.ndarray, ends, u):
    """Return a topic drawn by the uniform u, given the running sums of the topics' weights within each SIMD lane.

    cumulative (topic padded,) : the running sums; sums : their last block; ends (`ENDS`,) : scratch
    """
    steps, top = stairs(sums)
    store(ends, 0, steps)
    targets = u * top
    position = np.uint64(lane(lane_counts(steps <= targets), 0))
    column = np.int64(COLUMN_AT[position])
    target = lane(targets, 0) - ends[COLUMN_BEFORE[position]]
    end = len(cumulative) - LANES + column
    target, n_below = min(target, cumulative[np.uint64(end)] * LARGEST_UNIFORM), 0
    for i in range(column, end, LANES):
        n_below += cumulative[np.uint64(i)] <= target
    return np.uint32(n_below * LANES + column)


@inlined
def count_token(k, change, n_dk: np.ndarray, n_wk: np.ndarray, n_k: np.ndarray) -> None:
    """Add change to the counts of topic k; n_dk and n_wk are the rows of the token's document and word."""
    n_dk[k] += change
    n_wk[k] += change
    n_k[k] += change


@inlined
def total_count(mean, i, n):
    """Return n + mean[i], the sum of a sampled and an expected count, or n where mean is None."""
    return n if mean is None else mean[i] + n


@inlined
def total_counts(mean, i, n):
    return n if mean is None else load(mean, i) + n


@kernel
def inverse_sizes(n_k: np.ndarray, mean_k: np.ndarray, words_beta: float, added):
    """Return 1 / (W beta + n_k + mean_k + added) (topic,); without expected counts mean_k is left out."""
    inverse = np.empty(len(n_k))
    for k in range(len(n_k)):
        inverse[k] = 1.0 / (words_beta + total_count(mean_k, k, n_k[k] + added))
    return inverse


@kernel
def draw_pair(
    first_token,
    n_copies,
    key: np.uint64,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    alpha,
    beta,
    words_beta: float,
    inverse,
    cumulative: np.ndarray,
    ends,
):
    """Draw the topics of all tokens of a document-word pair in turn; return how many changed topic.

    n_dk, n_wk, mean_dk, mean_wk : the rows of its document and word. inverse : 1 / (W beta + n_k), updated in place.
    cumulative (topic,) and ends are scratch, see `draw_from`.
    """
    n_moved = 0
    for token in range(first_token, first_token + n_copies):
        old = topics[token]
        count_token(old, -1, n_dk, n_wk, n_k)
        inverse[old] = 1.0 / (words_beta + total_count(mean_k, old, n_k[old]))
        sums = spread(0.0)
        for i in range(0, len(n_k), LANES):
            a = load(alpha, i) + total_counts(mean_dk, i, doubles(load(n_dk, i)))
            sums += a * load(inverse, i) * (beta + total_counts(mean_wk, i, doubles(load(n_wk, i))))
            store(cumulative, i, sums)
        new = draw_from(sums, cumulative, ends, uniform(key, token))
        topics[token] = new
        count_token(new, 1, n_dk, n_wk, n_k)
        inverse[new] = 1.0 / (words_beta + total_count(mean_k, new, n_k[new]))
        n_moved += new != old
    return n_moved


@inlined
def second_order_of(a, inverse, var_dk: np.ndarray | None, var_k: np.ndarray | None):
    """Return twice the second-order terms of a topic's log weight that do not depend on the word.

    They are V_k / (W beta + n_k)^2 - V_dk / (alpha_k + n_dk)^2; a = alpha_k + n_dk, inverse = 1 / (W beta + n_k).
    """
    return var_k * (inverse * inverse) - var_dk / max(a * a, SMALLEST_SQUARE)


@inlined
def add_token(
    k,
    row,
    n_wk: np.ndarray,
    counts_d,
    n_k: np.ndarray,
    mean_here,
    mean_k: np.ndarray,
    var_here,
    var_k: np.ndarray | None,
    alpha,
    words_beta: float,
    inverse_k,
    next_inverse_k,
    share,
    next_share,
    second_order,
) -> None:
    """Add a token in topic k to the counts, and update the weights that `draw_topics` derives from the counts."""
    counts_d[k] += 1
    n_k[k] += 1
    bump(n_wk, row + k, np.int32(1))
    put(share, k, next_share[k])
    inverse_k[k] = next_inverse_k[k]
    if var_k is not None:
        put(
            second_order,
            k,
            second_order_of(
                alpha[k] + total_count(mean_here, k, counts_d[k]),
                inverse_k[k],
                var_here[k],
                var_k[k],
            ),
        )
    next_inverse_k[k] = 1.0 / (words_beta + total_count(mean_k, k, n_k[k] + 1))
    next_share[k] = (alpha[k] + total_count(mean_here, k, counts_d[k] + 1)) * next_inverse_k[k]


@inlined
def fetch_row(row, lanes, n_wk: np.ndarray, mean_k: np.ndarray, var_wk: np.ndarray | None) -> None:
    """Prefetch a word's counts and their variances, from flat index `row` on, into the processor's cache."""
    for i in range(row, row + lanes, LANES):
        fetch(n_wk, i)
        if mean_k is not None:
            fetch(n_wk, i + LINE)
        if var_wk is not None:
            fetch(var_wk, i)
            fetch(var_wk, i + LINE)


@kernel
def draw_topics(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    mean_dk: np.ndarray,
    mean_k: np.ndarray,
    var_dk: np.ndarray | None,
    var_wk: np.ndarray | None,
    var_k: np.ndarray | None,
    alpha,
    beta,
    n_topics: int,
    key: np.uint64,
):
    """Draw the topics of all tokens of the given document-word pairs of documents first..last, in canonical order.

    topics (token,) uint16; n_dk (document, topic), n_wk (word, topic) int32 and n_k (topic,) int64 are padded and changed in
    place; returns how many tokens changed topic. In a hybrid n_wk is float64 and includes the expected counts, so that only
    one row is read per word.
    """
    at_most_256_bits()
    words_beta, lanes = n_wk.shape[0] * beta, len(n_k)
    # arguments, since for the literals 0 and 1 it would be compiled twice
    inverse_k = inverse_sizes(n_k, mean_k, words_beta, np.int64(0))
    next_inverse_k = inverse_sizes(n_k, mean_k, words_beta, np.int64(1))
    share, next_share, second_order, cumulative = (
        np.empty(lanes),
        np.empty(lanes),
        np.empty(lanes),
        np.empty(lanes),
    )
    ends = np.zeros(ENDS)
    n_moved = 0
    for d in range(first, last):
        for i in range(0, lanes, LANES):
            n = doubles(load(n_dk, d * lanes + i))
            a = load(alpha, i) + total_counts(mean_dk, d * lanes + i, n)
            store(share, i, a * load(inverse_k, i))
            store(
                next_share,
                i,
                (load(alpha, i) + total_counts(mean_dk, d * lanes + i, n + 1.0))
                * load(next_inverse_k, i),
            )
            if var_k is not None:
                store(
                    second_order,
                    i,
                    second_order_of(
                        a, load(inverse_k, i), load(var_dk, d * lanes + i), load(var_k, i)
                    ),
                )
        counts_d = n_dk[d]
        mean_here = None if mean_dk is None else mean_dk[d]
        var_here = None if var_dk is None else var_dk[d]
        new, row_before, waits = np.uint32(0), np.int64(0), False
        for pair in range(indptr[d], indptr[d + 1]):
            if pair + AHEAD < len(words):
                fetch_row(words[pair + AHEAD] * lanes, lanes, n_wk, mean_k, var_wk)
            row = words[pair] * lanes
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                old = topics[np.uint64(token)]
                counts_d[old] -= 1
                n_k[old] -= 1
                bump(n_wk, row + old, np.int32(-1))
                next_share[old], next_inverse_k[old] = share[old], inverse_k[old]
                inverse_k[old] = 1.0 / (words_beta + total_count(mean_k, old, n_k[old]))
                a = alpha[old] + total_count(mean_here, old, counts_d[old])
                put(share, old, a * inverse_k[old])
                if var_k is not None:
                    put(
                        second_order,
                        old,
                        second_order_of(a, inverse_k[old], var_here[old], var_k[old]),
                    )
                if waits:
                    add_token(
                        new,
                        row_before,
                        n_wk,
                        counts_d,
                        n_k,
                        mean_here,
                        mean_k,
                        var_here,
                        var_k,
                        alpha,
                        words_beta,
                        inverse_k,
                        next_inverse_k,
                        share,
                        next_share,
                        second_order,
                    )
                sums = spread(0.0)
                for i in range(0, lanes, LANES):
                    b = beta + doubles(load(n_wk, row + i))
                    weights = load(share, i) * b
                    if var_k is not None:
                        exponents = 0.5 * (load(second_order, i) - load(var_wk, row + i) / (b * b))
                        weights *= fast_exp(
                            min(max(exponents, SMALLEST_EXPONENT), LARGEST_EXPONENT)
                        )
                    sums += weights
                    store(cumulative, i, sums)
                new, row_before, waits = (
                    draw_from(sums, cumulative, ends, uniform(key, token)),
                    row,
                    True,
                )
                topics[np.uint64(token)] = new
                n_moved += new != old
        if waits:
            add_token(
                new,
                row_before,
                n_wk,
                counts_d,
                n_k,
                mean_here,
                mean_k,
                var_here,
                var_k,
                alpha,
                words_beta,
                inverse_k,
                next_inverse_k,
                share,
                next_share,
                second_order,
            )
    return n_moved


class Allowed(NamedTuple):
    """The topics that each document may have: those of its set, as blocks of sixteen entries, some of which only fill up.

    The entries of a set are its topics one after another, or windows of sixteen topics that follow each other: counts that lie
    side by side are read at once.
    """

    set_of: np.ndarray  # (document,) int64
    ptr: np.ndarray  # (set + 1,) int64: the entries of each set
    topics: np.ndarray  # (entry,) int64
    alpha: np.ndarray  # (entry,) float64: prior of the topic; 0 of an entry that only fills up
    is_alone: np.ndarray  # (set,) bool: whether the set has a single topic
    by_windows: np.ndarray  # (set,) bool: whether the entries are windows
    line_ptr: np.ndarray  # (set + 1,) int64
    # (…,) int64: the topics of each set from which on lines of the cache are fetched
    lines: np.ndarray


@kernel
def draw_allowed(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    sampled: np.ndarray,
    allowed,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    beta,
    words_beta: float,
    key: np.uint64,
):
    """Draw topics as `draw_topics` does, of each document among those that it may have.

    n_dk (document, …), n_wk (word, topic) and n_k (topic,), integers or float64, are changed in place. All topics of a
    document with one allowed topic stay. The arrays of a document have an entry for each of its topics. Counts that lie apart
    are copied while the pair before is drawn, so that they are loaded as a block.
    """
    at_most_256_bits()
    lanes = len(n_k)
    inverse_k = inverse_sizes(n_k, None, words_beta, np.int64(0))
    next_inverse_k = inverse_sizes(n_k, None, words_beta, np.int64(1))
    most = np.max(np.diff(allowed.ptr))
    share, next_share, all_cumulative = np.empty(most), np.empty(most), np.empty(most)
    ends, place, n_moved = np.zeros(ENDS), np.zeros(lanes, np.int32), 0
    cells = n_wk.reshape(-1)
    gathered = np.zeros(2 * most, n_wk.dtype)
    for d in range(first, last):
        s = allowed.set_of[d]
        if allowed.is_alone[s]:
            continue
        here = allowed.topics[allowed.ptr[s] : allowed.ptr[s + 1]]
        alpha = allowed.alpha[allowed.ptr[s] : allowed.ptr[s + 1]]
        lines = allowed.lines[allowed.line_ptr[s] : allowed.line_ptr[s + 1]]
        cumulative, counts_d, by_windows = (
            all_cumulative[: len(here)],
            n_dk[d],
            allowed.by_windows[s],
        )
        n_gathered = 0
        for j in range(len(here)):
            k, share[j] = here[j], 0.0
            if alpha[j] > 0.0:
                n_gathered += not by_windows
                a, place[k] = alpha[j] + counts_d[k], j
                share[j], next_share[j] = a * inverse_k[k], (a + 1.0) * next_inverse_k[k]
        new, row_before, waits = np.uint32(0), np.int64(0), False
        for pair in range(indptr[d], indptr[d + 1]):
            at = most * (pair & 1)  # this pair's half of `gathered`
            if n_gathered and pair == indptr[d]:
                gather(cells, words[pair] * lanes, here, n_gathered, gathered, at)
            if n_gathered and pair + 1 < indptr[d + 1] and sampled[pair + 1]:
                gather(cells, words[pair + 1] * lanes, here, n_gathered, gathered, most - at)
            if pair + FAR_AHEAD < len(words):
                for j in range(len(lines)):
                    fetch(cells, words[pair + FAR_AHEAD] * lanes + lines[j])
            if not sampled[pair]:
                continue
            row = np.int64(words[pair]) * lanes
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                k = np.uint64(topics[np.uint64(token)])
                old = np.uint64(place[k])
                counts_d[k] -= 1
                n_k[k] -= 1
                count_word(cells, row + k, np.int32(-1), by_windows)
                if not by_windows:
                    bump(gathered, at + old, np.int32(-1))
                next_share[old], next_inverse_k[k] = share[old], inverse_k[k]
                inverse_k[k] = 1.0 / (words_beta + n_k[k])
                put(share, old, (alpha[old] + counts_d[k]) * inverse_k[k])
                if waits:
                    if not by_windows and row == row_before:
                        bump(gathered, at + new, np.int32(1))
                    add_allowed(
                        new,
                        np.uint64(here[new]),
                        row_before,
                        cells,
                        counts_d,
                        n_k,
                        alpha,
                        words_beta,
                        inverse_k,
                        next_inverse_k,
                        share,
                        next_share,
                        by_windows,
                    )
                sums = spread(0.0)
                if by_windows:
                    for j in range(0, len(here), LANES):
                        n = doubles(load(cells, row + here[j]))
                        sums += load(share, j) * (beta + n)
                        store(cumulative, j, sums)
                else:
                    for j in range(0, len(here), LANES):
                        sums += load(share, j) * (beta + doubles(load(gathered, at + j)))
                        store(cumulative, j, sums)
                new = np.uint64(draw_from(sums, cumulative, ends, uniform(key, token)))
                row_before, waits = row, True
                topics[np.uint64(token)] = here[new]
                n_moved += new != old
        if waits:
            add_allowed(
                new,
                np.uint64(here[new]),
                row_before,
                cells,
                counts_d,
                n_k,
                alpha,
                words_beta,
                inverse_k,
                next_inverse_k,
                share,
                next_share,
                by_windows,
            )
    return n_moved


@inlined
def gather(n_wk: np.ndarray, row, here, n_here, gathered, at) -> None:
    """Copy a word's counts, from flat index `row` on, of a document's first n_here topics to `gathered`, from `at` on."""
    for j in range(n_here):
        gathered[np.uint64(at + j)] = n_wk[np.uint64(row + here[j])]


@inlined
def count_word(n_wk: np.ndarray, cell, change, is_loaded) -> None:
    """Add change to the flat cell of n_wk; is_loaded : whether vectors of n_wk are loaded soon after."""
    if is_loaded:
        bump(n_wk, cell, change)
    else:
        n_wk[np.uint64(cell)] += change


@inlined
def add_allowed(
    j,
    k,
    row,
    n_wk: np.ndarray,
    counts_d,
    n_k: np.ndarray,
    alpha,
    words_beta: float,
    inverse_k,
    next_inverse_k,
    share,
    next_share,
    by_windows,
) -> None:
    """Add a token in topic k, entry j of its document, to the counts, as `add_token` does."""
    counts_d[k] += 1
    n_k[k] += 1
    count_word(n_wk, row + k, np.int32(1), by_windows)
    put(share, j, next_share[j])
    inverse_k[k] = next_inverse_k[k]
    next_inverse_k[k] = 1.0 / (words_beta + n_k[k] + 1)
    next_share[j] = (alpha[j] + counts_d[k] + 1) * next_inverse_k[k]


@lean
def count_topics(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    sampled,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
) -> None:
    """Add every token of the sampled pairs to the counts n_dk, n_wk and n_k of the token's topic."""
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if sampled[pair]:
                for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                    count_token(topics[token], 1, n_dk[d], n_wk[words[pair]], n_k)
