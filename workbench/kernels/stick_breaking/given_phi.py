"""Gibbs sampling of the topics of tokens given phi, which is drawn too: documents are then independent of each other.

    phi_t ~ Dirichlet(beta + n_t)
    p(z_i = t | phi, psi, w)  ~  theta_dt phi_tw,  theta_d = pi(psi_d)                                    spec B.1

phi is drawn by `kernels.dirichlet`. Every token has a number of its own: documents may be drawn on any number of threads.
"""

import numpy as np

from workbench.kernels.jit import kernel, lean
from workbench.kernels.lda.gibbs import ENDS, draw_from
from workbench.kernels.simd.lanes import LANES
from workbench.kernels.simd.reductions import count
from workbench.kernels.simd.vectors import at_most_256_bits, load, spread, store
from workbench.kernels.stick_breaking.sticks import break_stick
from workbench.kernels.uniforms import uniform


@kernel
def draw_topics_given(
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
