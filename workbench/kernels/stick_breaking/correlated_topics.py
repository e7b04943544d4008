"""Gibbs sampling of correlated topics with stick-breaking: draws the topics of tokens, and the sticks of documents and years.

    p(z_i = t | z_-i, w)  ~  theta_dt (n_wt + beta) / (n_t + W beta),  theta_d = pi(psi_d)      `draw_topics_given`
    omega_dt ~ PG(N_dt, psi_dt),  N_dt = sum_{s>=t} n_ds
    psi_d ~ N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 mu + kappa(n_d)                         spec B.1

Every token, every stick and every document has a stream of its own, so that documents may be drawn in any order and on any
number of threads.

Where prevalence follows a linear system over the years, the sticks of documents are normal around those of their year::

    psi_d ~ N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 psi_year(d) + kappa(n_d)           spec B.7 (a)

A year's documents give a potential of its state: J_t = n_t Sigma^-1, h_t = Sigma^-1 sum_d psi_d; or, where all documents of a
year have the sticks of its state, J_t = diag(omega_t), h_t = kappa(sum_d n_d).

Topics are drawn given the theta of their document, however that is computed::

    p(z_i = t | z_-i, w)  ~  theta_dt (n_wt + beta) / (n_t + W beta)        phi integrated out, spec B.2
    p(z_i = t | w)        ~  theta_dt phi_wt                                phi given

with token i removed from the counts. Given theta, a token's conditional has no count of its document.

Where phi is drawn too, documents are independent of each other::

    phi_t ~ Dirichlet(beta + n_t)
    p(z_i = t | phi, psi, w)  ~  theta_dt phi_tw,  theta_d = pi(psi_d)                                    spec B.1

Every token has a uniform of its own, so that documents may be drawn on any number of threads.
"""

import numpy as np

from workbench.kernels.gaussian import draw_gaussian
from workbench.kernels.jit import aside, kernel, lean
from workbench.kernels.lda.gibbs import AHEAD, ENDS, draw_from
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.simd.functions import count
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
from workbench.kernels.uniforms import absorb, stream_of, uniform


@kernel
def draw_topics_given(
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
    theta: np.ndarray,
    beta,
    key: np.uint64,
):
    """Draw the topic of every token of documents first..last, in canonical order, given theta (document, topic), padded.

    theta has the rows of these documents only. topics (token,) uint16; n_dk (document, topic), n_wk (word, topic) int32 and
    n_k (topic,) int64, or both float64 with the prior in them, are padded and changed in place; returns how many tokens
    changed topic.
    """
    at_most_256_bits()
    words_beta, lanes, one = n_wk.shape[0] * beta, len(n_k), n_wk.dtype.type(1)
    inverse_k, next_inverse_k = (
        np.empty(lanes),
        np.empty(lanes),
    )  # 1 / (n_t + W beta), now and with one more token
    for k in range(lanes):
        inverse_k[k], next_inverse_k[k] = (
            1.0 / (words_beta + n_k[k]),
            1.0 / (words_beta + (n_k[k] + 1)),
        )
    share, cumulative, ends = np.zeros(lanes), np.empty(lanes), np.zeros(ENDS)
    n_moved = 0
    for d in range(first, last):
        row_begin = (d - first) * lanes
        for i in range(0, lanes, LANES):
            store(share, i, load(theta, row_begin + i) * load(inverse_k, i))
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
                bump(n_wk, row + old, -one)
                next_inverse_k[old] = inverse_k[old]
                inverse_k[old] = 1.0 / (words_beta + n_k[old])
                put(share, old, theta[d - first, old] * inverse_k[old])
                if waits:  # the previous token is added now, so that no token waits for a division
                    n_dk[d, new] += 1
                    n_k[new] += 1
                    bump(n_wk, row_before + new, one)
                    inverse_k[new] = next_inverse_k[new]
                    next_inverse_k[new] = 1.0 / (words_beta + (n_k[new] + 1))
                    put(share, new, theta[d - first, new] * inverse_k[new])
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
            bump(n_wk, row_before + new, one)
            inverse_k[new] = next_inverse_k[new]
            next_inverse_k[new] = 1.0 / (words_beta + (n_k[new] + 1))
    return n_moved


@aside
def count_drawn_topics(
    d,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    theta: np.ndarray,
    phi: np.ndarray,
    cumulative: np.ndarray,
    key: np.uint64,
    n_here,
) -> None:
    """Draw a topic for each token of document d given theta (topic,) and phi (word, topic); count them in n_here."""
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
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    topics: np.ndarray,
    n_dk: np.ndarray,
    sticks: np.ndarray,
    phi: np.ndarray,
    key: np.uint64,
):
    """Draw the topic of every token of documents first..last given phi (word, topic), padded, and sticks (document, stick).

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
def count_words_again(
    first: int,
    last: int,
    word_indptr: np.ndarray,
    first_tokens,
    counts: np.ndarray,
    topics: np.ndarray,
    n_wk: np.ndarray,
) -> None:
    """Recompute the counts n_wk (word, topic) int32, padded, of words first..last from the topics of tokens."""
    for w in range(first, last):
        n_wk[w] = 0
        for i in range(word_indptr[w], word_indptr[w + 1]):
            for token in range(first_tokens[i], first_tokens[i] + counts[i]):
                n_wk[w, topics[token]] += 1


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
    sticks: np.ndarray,
    beta,
    key: np.uint64,
):
    """Draw the topics of all tokens of documents first..last, given sticks (document, topic - 1)."""
    theta = np.zeros((last - first, len(n_k)))
    for d in range(first, last):
        break_stick(sticks[d], theta[d - first])
    return draw_topics_given(
        first, last, indptr, words, counts, tokens_before, topics, n_dk, n_wk, n_k, theta, beta, key
    )


@kernel
def draw_sticks(
    first: int,
    last: int,
    n_dk: np.ndarray,
    precision: np.ndarray,
    weighted_mean: np.ndarray,
    sticks: np.ndarray,
    omega_key: np.uint64,
    stick_key: np.uint64,
) -> None:
    """Draw the sticks (document, topic - 1) of documents first..last given the topics of their tokens.

    precision : Sigma^-1 (stick, stick); weighted_mean : Sigma^-1 mu (stick,).
    """
    n_sticks = len(weighted_mean)
    matrix = np.empty((n_sticks, n_sticks))
    for d in range(first, last):
        h = sticks[d]
        remaining = np.int64(n_dk[d, n_sticks])
        matrix[:] = precision
        for t in range(n_sticks - 1, -1, -1):
            n_topic = np.int64(n_dk[d, t])
            remaining += n_topic
            _, omega = polya_gamma(stream_of(omega_key, d * n_sticks + t), remaining, h[t])
            matrix[t, t] += omega
            h[t] = weighted_mean[t] + (n_topic - 0.5 * remaining)
        draw_gaussian(stream_of(stick_key, d), matrix, h)


@kernel
def sampled_theta(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    phi: np.ndarray,
    precision: np.ndarray,
    mean,
    weighted_mean: np.ndarray,
    burn_in: int,
    n_kept: int,
    key: np.uint64,
    theta: np.ndarray,
    first_number: int = 0,
) -> None:
    """Compute theta (document, topic) of documents first..last by Gibbs sampling, given phi (word, topic).

    theta is the mean over `n_kept` sweeps after `burn_in` sweeps. The sticks of a document start at their mean. The streams of
    document d depend on first_number + d and the number of the sweep.
    """
    n_topics = phi.shape[1]
    n_sticks = n_topics - 1
    n_here, theta_d, cumulative = (
        np.zeros((1, n_topics), np.int32),
        np.empty(n_topics),
        np.empty(n_topics),
    )
    sticks = np.empty((1, n_sticks))
    for d in range(first, last):
        sticks[0] = mean
        theta[d] = 0.0
        for sweep in range(burn_in + n_kept):
            sweep_key = absorb(absorb(key, sweep), first_number + d)
            break_stick(sticks[0], theta_d)
            count_drawn_topics(
                d,
                indptr,
                words,
                counts,
                tokens_before,
                theta_d,
                phi,
                cumulative,
                sweep_key,
                n_here[0],
            )
            draw_sticks(
                0,
                1,
                n_here,
                precision,
                weighted_mean,
                sticks,
                absorb(sweep_key, 1),
                absorb(sweep_key, 2),
            )
            if sweep >= burn_in:
                break_stick(sticks[0], theta_d)
                for k in range(n_topics):
                    theta[d, k] += theta_d[k] / n_kept


@kernel
def draw_sticks_of_groups(
    first: int,
    last: int,
    n_dk: np.ndarray,
    precision: np.ndarray,
    weighted,
    group,
    sticks: np.ndarray,
    omega_key: np.uint64,
    stick_key: np.uint64,
) -> None:
    """Draw the sticks (document, stick) of documents first..last given their topics and the mean sticks of groups.

    precision : Sigma^-1; weighted (group, stick) : Sigma^-1 times the mean; group (document,) : the index of a document's
    group, such as a year
    """
    for d in range(first, last):
        draw_sticks(d, d + 1, n_dk, precision, weighted[group[d]], sticks, omega_key, stick_key)


@kernel
def own_potentials(sticks: np.ndarray, year, precision: np.ndarray, n_years: int):
    """Return the Gaussian potentials (J_t, h_t) of the sticks of years, when each document has its own sticks."""
    n_sticks = sticks.shape[1]
    J, h, total = (
        np.zeros((n_years, n_sticks, n_sticks)),
        np.zeros((n_years, n_sticks)),
        np.zeros((n_years, n_sticks)),
    )
    for d in range(len(sticks)):
        total[year[d]] += sticks[d]
        J[year[d]] += precision
    for t in range(n_years):
        for i in range(n_sticks):
            for j in range(n_sticks):
                h[t, i] += precision[i, j] * total[t, j]
    return J, h


@kernel
def shared_potentials(n_tk, states, key: np.uint64):
    """Return the Gaussian potentials (J_t, h_t) of the sticks of years, when a year's documents all have its sticks.

    n_tk (year, topic) int64 : tokens
    """
    n_years, n_sticks = states.shape
    J, h = np.zeros((n_years, n_sticks, n_sticks)), np.zeros((n_years, n_sticks))
    for t in range(n_years):
        remaining = n_tk[t, n_sticks]
        for i in range(n_sticks - 1, -1, -1):
            remaining += n_tk[t, i]
            _, J[t, i, i] = polya_gamma(stream_of(key, t * n_sticks + i), remaining, states[t, i])
            h[t, i] = n_tk[t, i] - 0.5 * remaining
    return J, h
