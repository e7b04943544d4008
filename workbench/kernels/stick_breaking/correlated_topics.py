"""Gibbs sampling of correlated topics with stick-breaking: topics of tokens, and the sticks of documents.

    p(z_i = t | z_-i, w)  ~  theta_dt (n_wt + beta) / (n_t + W beta),  theta_d = pi(psi_d)                        spec B.2
    omega_dt ~ PG(N_dt, psi_dt),  N_dt = sum_{s>=t} n_ds
    psi_d ~ N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 mu + kappa(n_d)                         spec B.1

with token i removed from the counts. Given psi, a token's conditional has no count of its document. Every token, every
stick and every document has a stream of its own, so that documents may be drawn in any order and on any number of threads.
"""

import numpy as np

from workbench.kernels.gaussian import draw_gaussian
from workbench.kernels.jit import kernel
from workbench.kernels.lda.gibbs import AHEAD, ENDS, draw_from
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.simd.lanes import LANES
from workbench.kernels.simd.vectors import at_most_256_bits, bump, doubles, fetch, load, put, spread, store
from workbench.kernels.stick_breaking.sticks import break_stick
from workbench.kernels.uniforms import absorb, uniform
from workbench.kernels.variates import stream_of


@kernel
def draw_topics(
    first, last, indptr, words, counts, tokens_before, topics, n_dk, n_wk, n_k, sticks, beta, key,
):
    """Draws, in canonical order, the topic of every token of documents first..last given their sticks (document, topic - 1).

    topics (token,) uint16; n_dk (document, topic), n_wk (word, topic) int32 and n_k (topic,) int64 are padded and changed in
    place; returns how many tokens changed topic.
    """
    at_most_256_bits()
    words_beta, lanes = n_wk.shape[0] * beta, len(n_k)
    same, more = np.empty(lanes), np.empty(lanes)  # 1 / (n_t + W beta), now and with one token more
    for k in range(lanes):
        same[k], more[k] = 1.0 / (words_beta + n_k[k]), 1.0 / (words_beta + (n_k[k] + 1))
    theta, share, cumulative, ends = np.zeros(lanes), np.zeros(lanes), np.empty(lanes), np.zeros(ENDS)
    n_moved = 0
    for d in range(first, last):
        break_stick(sticks[d], theta)
        for i in range(0, lanes, LANES):
            store(share, i, load(theta, i) * load(same, i))
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
                put(share, old, theta[old] * same[old])
                if waits:  # the token before is added now, so that none waits for a division
                    n_dk[d, new] += 1
                    n_k[new] += 1
                    bump(n_wk, row_before + new, np.int32(1))
                    same[new] = more[new]
                    more[new] = 1.0 / (words_beta + (n_k[new] + 1))
                    put(share, new, theta[new] * same[new])
                sums = spread(0.0)
                for i in range(0, lanes, LANES):
                    sums += load(share, i) * (beta + doubles(load(n_wk, row + i)))
                    store(cumulative, i, sums)
                new, row_before, waits = draw_from(sums, cumulative, ends, uniform(key, token)), row, True
                topics[np.uint64(token)] = new
                n_moved += new != old
        if waits:
            n_dk[d, new] += 1
            n_k[new] += 1
            bump(n_wk, row_before + new, np.int32(1))
            same[new] = more[new]
            more[new] = 1.0 / (words_beta + (n_k[new] + 1))
    return n_moved


@kernel
def draw_sticks(first, last, n_dk, precision, weighted_mean, sticks, omega_key, stick_key):
    """Draws the sticks (document, topic - 1) of documents first..last given the topics of their tokens.

    precision : Sigma^-1 (stick, stick); weighted_mean : Sigma^-1 mu (stick,).
    """
    n_sticks = len(weighted_mean)
    matrix = np.empty((n_sticks, n_sticks))
    for d in range(first, last):
        h = sticks[d]
        remaining = np.int64(n_dk[d, n_sticks])
        matrix[:] = precision
        for t in range(n_sticks - 1, -1, -1):
            here = np.int64(n_dk[d, t])
            remaining += here
            _, omega = polya_gamma(stream_of(omega_key, d * n_sticks + t), remaining, h[t])
            matrix[t, t] += omega
            h[t] = weighted_mean[t] + (here - 0.5 * remaining)
        draw_gaussian(stream_of(stick_key, d), matrix, h)


@kernel
def sampled_theta(
    first, last, indptr, words, counts, tokens_before, phi, precision, mean, weighted_mean, burn_in, n_kept, key, theta,
):
    """theta of documents first..last, the mean over `n_kept` Gibbs sweeps after `burn_in`; phi (word, topic) stays as it is.

    The sticks of a document begin at their mean. Its streams belong to its number and the sweep's.
    """
    n_topics = phi.shape[1]
    n_sticks = n_topics - 1
    n_here, here, cumulative = np.zeros((1, n_topics), np.int32), np.empty(n_topics), np.empty(n_topics)
    sticks = np.empty((1, n_sticks))
    for d in range(first, last):
        sticks[0] = mean
        theta[d] = 0.0
        for sweep in range(burn_in + n_kept):
            sweep_key = absorb(absorb(key, sweep), d)
            break_stick(sticks[0], here)
            n_here[:] = 0
            for pair in range(indptr[d], indptr[d + 1]):
                total = 0.0
                for k in range(n_topics):
                    total += here[k] * phi[words[pair], k]
                    cumulative[k] = total
                for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                    target, new = uniform(sweep_key, token - tokens_before[indptr[d]]) * total, 0
                    while new < n_sticks and cumulative[new] <= target:
                        new += 1
                    n_here[0, new] += 1
            draw_sticks(0, 1, n_here, precision, weighted_mean, sticks, absorb(sweep_key, 1), absorb(sweep_key, 2))
            if sweep >= burn_in:
                break_stick(sticks[0], here)
                for k in range(n_topics):
                    theta[d, k] += here[k] / n_kept
