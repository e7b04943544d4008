"""Gibbs sampling of topics that change over the years: topics of tokens, and the sticks of phi, which are random walks.

    p(z_i = k | z_-i, w)  ~  (n_dk + alpha_k) phi_{year, k, w}                                              spec B.7 (b)
    omega_tvk ~ PG(N_tvk, psi_tvk),  N_tvk = sum_{u >= v} n_tuk                              words in the order of the stick
    psi_.vk | omega  a random walk with potentials J_t = omega_tvk, h_t = n_tvk - N_tvk / 2

Given phi, documents are independent, and given the topics, sticks are: each token, each Polya-gamma number and each walk has a
stream of its own. A word of a year is one row, with the number year * n_words + position of the word on the stick.
"""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.lda.gibbs import AHEAD, ENDS, draw_from
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.simd.vectors import LANES, at_most_256_bits, fetch, load, put, spread, store
from workbench.kernels.state_space import draw_walk
from workbench.kernels.uniforms import stream_of, uniform

SMALLEST = 1e-300
"""phi is at least this, so that a token whose word has no probability in any topic can be drawn."""


@kernel
def draw_topics(
    first: int,
    last: int,
    indptr: np.ndarray,
    rows,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    topics: np.ndarray,
    n_dk: np.ndarray,
    alpha,
    phi: np.ndarray,
    key: np.uint64,
):
    """Draw the topic of every token of documents first..last, in canonical order, given phi (row, topic).

    rows (pair,) : the row of phi for each pair's word and year; topics (token,) uint16 and n_dk (document, topic) int32 are
    changed in place. alpha (topic,), phi and n_dk are padded. Returns how many tokens changed topic.
    """
    at_most_256_bits()
    lanes = len(alpha)
    share, cumulative, ends = np.zeros(lanes), np.empty(lanes), np.zeros(ENDS)
    n_moved = 0
    for d in range(first, last):
        for k in range(lanes):
            share[k] = alpha[k] + n_dk[d, k]
        for pair in range(indptr[d], indptr[d + 1]):
            if pair + AHEAD < len(rows):
                for i in range(0, lanes, LANES):
                    fetch(phi, rows[pair + AHEAD] * lanes + i)
            row = rows[pair] * lanes
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                old = topics[np.uint64(token)]
                put(share, old, share[old] - 1.0)
                sums = spread(0.0)
                for i in range(0, lanes, LANES):
                    sums += load(share, i) * load(phi, row + i)
                    store(cumulative, i, sums)
                new = draw_from(sums, cumulative, ends, uniform(key, token))
                put(share, new, share[new] + 1.0)
                topics[np.uint64(token)] = new
                n_moved += new != old
        for k in range(lanes):
            n_dk[d, k] = np.int32(round(share[k] - alpha[k]))
    return n_moved


@kernel
def count_rows(
    rows, counts: np.ndarray, tokens_before: np.ndarray, topics: np.ndarray, n_rk
) -> None:
    """Add every token to n_rk (row, topic), in the row of its document-word pair and the column of its topic."""
    for pair in range(len(rows)):
        for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
            n_rk[rows[pair], topics[token]] += 1


@kernel
def draw_walks(
    first: int,
    last: int,
    n_rk,
    later,
    mean,
    variance,
    step,
    sticks: np.ndarray,
    weight_key: np.uint64,
    walk_key: np.uint64,
):
    """Draw the random walks of sticks first..last of every topic; return the sum of the squared steps.

    n_rk (year * word, topic) int32, padded : tokens; later (year, topic) int64 : tokens of word `last` and all later words
    mean, variance (stick,) : of the first year; step : variance of a step; sticks (year, stick, topic) : changed in place
    """
    n_years, n_sticks, n_topics = sticks.shape
    n_words = n_sticks + 1
    remaining, squares = later.copy(), 0.0
    precision, h, walk = np.empty(n_years), np.empty(n_years), np.empty(n_years)
    for v in range(last - 1, first - 1, -1):
        for k in range(n_topics):
            walk_number = v * n_topics + k
            for t in range(n_years):
                n_v = n_rk[t * n_words + v, k]
                remaining[t, k] += n_v
                n, precision[t] = remaining[t, k], 0.0
                if n > 0:
                    _, precision[t] = polya_gamma(
                        stream_of(weight_key, walk_number * n_years + t), n, sticks[t, v, k]
                    )
                h[t] = n_v - 0.5 * n
            _, squared_steps = draw_walk(
                stream_of(walk_key, walk_number), precision, h, mean[v], variance[v], step, walk
            )
            squares += squared_steps
            for t in range(n_years):
                sticks[t, v, k] = walk[t]
    return squares


@kernel
def break_sticks(first: int, last: int, sticks: np.ndarray, phi: np.ndarray) -> None:
    """Write phi (year * word, topic) of years first..last, computed from sticks (year, stick, topic).

    The rest of the stick is computed as a product, not as a difference, so that the last words are accurate.
    """
    n_sticks, n_topics = sticks.shape[1:]
    rest = np.empty(n_topics)
    for t in range(first, last):
        row = t * (n_sticks + 1)
        rest[:] = 1.0
        for v in range(n_sticks):
            for k in range(n_topics):
                stick = sticks[t, v, k]
                small = math.exp(-abs(stick))
                larger = 1.0 / (1.0 + small)
                smaller = small * larger
                share, rest_share = (larger, smaller) if stick > 0.0 else (smaller, larger)
                phi[row + v, k] = max(rest[k] * share, SMALLEST)
                rest[k] *= rest_share
        for k in range(n_topics):
            phi[row + n_sticks, k] = max(rest[k], SMALLEST)
