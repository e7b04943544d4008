"""Gibbs sampling of the topics of tokens where the theta of their document is known, whatever it is made of.

    p(z_i = t | z_-i, w)  ~  theta_dt (n_wt + beta) / (n_t + W beta)        phi integrated out, spec B.2
    p(z_i = t | w)        ~  theta_dt phi_wt                                phi given

with token i removed from the counts. Given theta, a token's conditional has no count of its document.

Where phi is drawn too, documents are independent of each other::

    phi_t ~ Dirichlet(beta + n_t)
    p(z_i = t | phi, psi, w)  ~  theta_dt phi_tw,  theta_d = pi(psi_d)                                    spec B.1

Every token has a number of its own: documents may be drawn on any number of threads.
"""

import numpy as np

from workbench.kernels.jit import aside, kernel, lean
from workbench.kernels.lda.gibbs import AHEAD, ENDS, draw_from
from workbench.kernels.simd.reductions import count
from workbench.kernels.simd.vectors import (
    LANES,
    at_most_256_bits,
    bump,
    doubles,
    fetch,
    load,
    put,
    spread,
    store,
)
from workbench.kernels.stick_breaking.sticks import break_stick
from workbench.kernels.uniforms import uniform


@kernel
def draw_topics_given(
    first,
    last,
    indptr,
    words,
    counts,
    tokens_before,
    topics,
    n_dk,
    n_wk,
    n_k,
    theta,
    beta,
    key,
):
    """Draws, in canonical order, the topic of every token of documents first..last given their theta (document, topic), padded.

    theta holds the rows of these documents alone. topics (token,) uint16; n_dk (document, topic), n_wk (word, topic) int32 and
    n_k (topic,) int64 are padded and changed in place; returns how many tokens changed topic.
    """
    at_most_256_bits()
    words_beta, lanes = n_wk.shape[0] * beta, len(n_k)
    same, more = np.empty(lanes), np.empty(lanes)  # 1 / (n_t + W beta), now and with one token more
    for k in range(lanes):
        same[k], more[k] = 1.0 / (words_beta + n_k[k]), 1.0 / (words_beta + (n_k[k] + 1))
    share, cumulative, ends = np.zeros(lanes), np.empty(lanes), np.zeros(ENDS)
    n_moved = 0
    for d in range(first, last):
        here = (d - first) * lanes
        for i in range(0, lanes, LANES):
            store(share, i, load(theta, here + i) * load(same, i))
        new, row_before, waits = np.uint32(0), np.int64(0), False
        for pair in range(indptr[d], indptr[d + 1]):
            if pair + AHEAD < len(words):
                for i in range(0, lanes, LANES):
                    fetch(n_wk, words[pair + AHEAD] * lanes + i)
            row = words[pair] * lanes
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                old = topics[np.uint64(token)]
                n_dk[d, old] -= 1
                n_k[old] -= 1
                bump(n_wk, row + old, np.int32(-1))
                more[old] = same[old]
                same[old] = 1.0 / (words_beta + n_k[old])
                put(share, old, theta[d - first, old] * same[old])
                if waits:  # the token before is added now, so that none waits for a division
                    n_dk[d, new] += 1
                    n_k[new] += 1
                    bump(n_wk, row_before + new, np.int32(1))
                    same[new] = more[new]
                    more[new] = 1.0 / (words_beta + (n_k[new] + 1))
                    put(share, new, theta[d - first, new] * same[new])
                sums = spread(0.0)
                for i in range(0, lanes, LANES):
                    sums += load(share, i) * (beta + doubles(load(n_wk, row + i)))
                    store(cumulative, i, sums)
                new, row_before, waits = (
                    draw_from(sums, cumulative, ends, uniform(key, token)),
                    row,
                    True,
                )
                topics[np.uint64(token)] = new
                n_moved += new != old
        if waits:
            n_dk[d, new] += 1
            n_k[new] += 1
            bump(n_wk, row_before + new, np.int32(1))
            same[new] = more[new]
            more[new] = 1.0 / (words_beta + (n_k[new] + 1))
    return n_moved


@aside
def count_drawn_topics(
    d, indptr, words, counts, tokens_before, theta, phi, cumulative, key, n_here
):
    """Writes to n_here (topic,) how many tokens of a document draw each topic, given theta (topic,) and phi (word, topic)."""
    n_topics = len(theta)
    n_here[:] = 0
    for pair in range(indptr[d], indptr[d + 1]):
        total = 0.0
        for k in range(n_topics):
            total += theta[k] * phi[words[pair], k]
            cumulative[k] = total
        for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
            target, new = uniform(key, token - tokens_before[indptr[d]]) * total, 0
            while new < n_topics - 1 and cumulative[new] <= target:
                new += 1
            n_here[new] += 1


@kernel
def draw_topics_given_phi(
    first, last, indptr, words, counts, tokens_before, topics, n_dk, sticks, phi, key
):
    """Draws the topic of every token of documents first..last given phi (word, topic), padded, and sticks (document, stick).

    topics (token,) uint16 and n_dk (document, topic) int32, padded, are changed in place, counts of words are not; returns how
    many tokens changed topic. A token whose probabilities are all below the smallest number stays where it is.
    """
    at_most_256_bits()
    lanes, n_moved = n_dk.shape[1], 0
    theta, cumulative, ends = np.zeros(lanes), np.empty(lanes), np.zeros(ENDS)
    for d in range(first, last):
        break_stick(sticks[d], theta)
        for pair in range(indptr[d], indptr[d + 1]):
            row, sums = words[pair] * lanes, spread(0.0)
            for i in range(0, lanes, LANES):
                sums += load(theta, i) * load(phi, row + i)
                store(cumulative, i, sums)
            if count(sums > 0.0) == 0:
                continue
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                old = topics[np.uint64(token)]
                new = draw_from(sums, cumulative, ends, uniform(key, token))
                n_dk[d, old] -= 1
                n_dk[d, new] += 1
                topics[np.uint64(token)] = new
                n_moved += new != old
    return n_moved


@lean
def count_words_again(first, last, word_indptr, first_tokens, counts, topics, n_wk):
    """Counts n_wk (word, topic) int32, padded, of words first..last anew; pairs in word-major order, as `Corpus` has them."""
    for w in range(first, last):
        n_wk[w] = 0
        for i in range(word_indptr[w], word_indptr[w + 1]):
            for token in range(first_tokens[i], first_tokens[i] + counts[i]):
                n_wk[w, topics[token]] += 1
