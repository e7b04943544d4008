"""Collapsed Gibbs sampling of LDA in which each document has a response that depends on the shares of its topics.

Given omega_dj, the log likelihood of a response is quadratic in m_j = eta_j' n_d / N_d, for each stick j that it has::

    L(m) = sum_j ( kappa_dj m_j - omega_dj m_j^2 / 2 )
    class c     omega_dj ~ PG(1, m_j),  kappa_dj = 1/2 for j = c, -1/2 for j < c          Polson, Scott & Windle (2013)
    number y    omega = 1 / sigma^2,    kappa = y / sigma^2

So that a token with topic l, e_jk = eta_jk / N_d, is drawn from::

    p(z_i = k | rest)  ~  (alpha_k + n_dk) (beta + n_wk) / (W beta + n_k) exp( b_k + G_lk )
    b_k = sum_j ( (kappa_dj - omega_dj m_j) e_jk - omega_dj e_jk^2 / 2 ),  G_lk = sum_j omega_dj e_jl e_jk

where m_j has all tokens of the document; a move from l to k subtracts G_k - G_l from b. A row of G is computed when a token
first needs it, so that the work for a token does not depend on the number of sticks. omega_d is drawn before the tokens of its
document, and what eta needs of it is summed after them: it is kept nowhere.
"""

import numpy as np

from workbench.kernels.gaussian import draw_gaussian
from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.lda.gibbs import (
    AHEAD,
    ENDS,
    SMALLEST_EXPONENT,
    add_token,
    draw_from,
    inverse_sizes,
    total_count,
)
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.simd.functions import fast_exp, total
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
from workbench.kernels.uniforms import gamma, stream_of, uniform

NO_TOPIC = -1e300
"""Exponent of a padding topic, below that of every topic."""
STEEP = 100.0
"""Bound on G up to which exp(b_k + G_lk) is exp(b_k) exp(G_lk), of which a document needs few."""


@inlined
def fit_of(weights, n_dk: np.ndarray, j, d, n_tokens):
    """Return m_dj = eta_j' n_d / N_d."""
    lanes, sums = n_dk.shape[1], spread(0.0)
    for i in range(0, lanes, LANES):
        sums += load(weights, j * lanes + i) * doubles(load(n_dk, d * lanes + i))
    return total(sums) / n_tokens


@inlined
def know_row(row, moments, rises, is_known, omega, weights, n_sticks, n_tokens) -> None:
    """Compute G_lk (moments) and exp(G_lk) (rises) of topic l = row, unless they are known."""
    if is_known[row]:
        return
    is_known[row], lanes = True, moments.shape[1]
    for i in range(0, lanes, LANES):
        sums = spread(0.0)
        for j in range(n_sticks):
            factor = omega[j] * weights[j, row] / (n_tokens * n_tokens)
            sums += factor * load(weights, j * lanes + i)
        store(moments, row * lanes + i, sums)
        store(rises, row * lanes + i, fast_exp(min(max(sums, -STEEP), STEEP)))


@inlined
def weigh(base, moments, row, factors, tops) -> None:
    """Fill factors (topic padded,) with exp(b_k + G_lk), l = row, divided by the largest; tops (lane,) is scratch."""
    top = spread(NO_TOPIC)
    for i in range(0, len(base), LANES):
        exponents = load(base, i) + load(moments, row * len(base) + i)
        store(factors, i, exponents)
        top = max(top, exponents)
    store(tops, 0, top)
    largest = tops[0]
    for i in range(1, LANES):
        largest = max(largest, tops[i])
    for i in range(0, len(base), LANES):
        store(factors, i, fast_exp(max(load(factors, i) - largest, SMALLEST_EXPONENT)))


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
    mean_k: np.ndarray,
    alpha,
    beta,
    n_topics: int,
    key: np.uint64,
    values,
    sticks,
    precision,
    weights,
    weights_key: np.uint64,
    scatter,
    projected,
):
    """Draw the topics of all tokens of documents first..last, in canonical order; return how many changed topic.

    values (document,) : number of the class, or the number; sticks (document,) : number of its sticks, 0 without a response;
    precision : 1 / sigma^2 of numbers, 0 of classes; weights (stick, topic padded) : eta. Added up are the upper triangle of
    scatter (stick, topic, topic), sum_d omega_dj zbar_d zbar_d', and projected (stick, topic), sum_d kappa_dj zbar_d.
    With seed words n_wk is float64 and includes their prior, of which mean_k (topic,) has the sums; else mean_k is None.
    Without responses the draws are those of `kernels.lda.gibbs.draw_topics`, bit for bit.
    """
    at_most_256_bits()
    words_beta, lanes = n_wk.shape[0] * beta, len(n_k)
    inverse_k = inverse_sizes(n_k, mean_k, words_beta, np.int64(0))
    next_inverse_k = inverse_sizes(n_k, mean_k, words_beta, np.int64(1))
    share, next_share, cumulative = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    base, factors, tops = np.empty(lanes), np.empty(lanes), np.empty(LANES)
    # with a last row for no topic: G = 0
    moments, rises = np.zeros((lanes + 1, lanes)), np.ones((lanes + 1, lanes))
    omega, kappa, squares = np.empty(len(weights)), np.empty(len(weights)), np.zeros(len(weights))
    for j in range(len(weights)):
        for k in range(n_topics):
            squares[j] = max(squares[j], weights[j, k] * weights[j, k])
    is_known, held = np.empty(lanes, np.bool_), np.empty(lanes, np.int64)
    ends, n_moved = np.zeros(ENDS), 0
    for d in range(first, last):
        counts_d, n_sticks = n_dk[d], sticks[d]
        for i in range(0, lanes, LANES):
            n = doubles(load(n_dk, d * lanes + i))
            store(share, i, (load(alpha, i) + n) * load(inverse_k, i))
            store(next_share, i, (load(alpha, i) + (n + 1.0)) * load(next_inverse_k, i))
        n_tokens = np.float64(tokens_before[indptr[d + 1]] - tokens_before[indptr[d]])
        if n_sticks > 0:
            base[:n_topics], base[n_topics:], is_known[:] = 0.0, NO_TOPIC, False
        reach = 0.0
        for j in range(n_sticks):
            fit = fit_of(weights, n_dk, j, d, n_tokens)
            if precision > 0.0:
                omega[j], kappa[j] = precision, precision * values[d]
            else:
                stream = stream_of(weights_key, d * len(weights) + j)
                stream, omega[j] = polya_gamma(stream, np.int64(1), fit)
                kappa[j] = 0.5 if np.float64(j) == values[d] else -0.5
            slope, half = (
                (kappa[j] - omega[j] * fit) / n_tokens,
                0.5 * omega[j] / (n_tokens * n_tokens),
            )
            reach += 2.0 * half * squares[j]
            for i in range(0, lanes, LANES):
                eta = load(weights, j * lanes + i)
                store(base, i, load(base, i) + (slope - half * eta) * eta)
        is_steep, is_stale = reach > STEEP, True
        new, row_before, waits = np.uint32(0), np.int64(0), False
        for pair in range(indptr[d], indptr[d + 1]):
            if pair + AHEAD < len(words):
                for i in range(0, lanes, LANES):
                    fetch(n_wk, words[pair + AHEAD] * lanes + i)
            row = np.int64(words[pair]) * lanes
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                old = np.uint64(topics[np.uint64(token)])
                counts_d[old] -= 1
                n_k[old] -= 1
                bump(n_wk, row + old, np.int32(-1))
                next_share[old], next_inverse_k[old] = share[old], inverse_k[old]
                inverse_k[old] = 1.0 / (words_beta + total_count(mean_k, old, n_k[old]))
                put(share, old, (alpha[old] + counts_d[old]) * inverse_k[old])
                if waits:
                    add_token(
                        new,
                        row_before,
                        n_wk,
                        counts_d,
                        n_k,
                        None,
                        mean_k,
                        None,
                        None,
                        alpha,
                        words_beta,
                        inverse_k,
                        next_inverse_k,
                        share,
                        next_share,
                        share,
                    )
                sums = spread(0.0)
                if n_sticks > 0:
                    line = np.int64(old)
                    know_row(line, moments, rises, is_known, omega, weights, n_sticks, n_tokens)
                    if is_steep or is_stale:
                        weigh(base, moments, line if is_steep else lanes, factors, tops)
                    line, is_stale = (lanes if is_steep else line) * lanes, False
                    for i in range(0, lanes, LANES):
                        weights_of_block = load(share, i) * (beta + doubles(load(n_wk, row + i)))
                        sums += weights_of_block * (load(factors, i) * load(rises, line + i))
                        store(cumulative, i, sums)
                else:
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
                if n_sticks > 0 and new != old:
                    line, is_stale = np.int64(new), True
                    know_row(line, moments, rises, is_known, omega, weights, n_sticks, n_tokens)
                    for i in range(0, lanes, LANES):
                        change = load(moments, line * lanes + i) - load(
                            moments, np.int64(old) * lanes + i
                        )
                        store(base, i, load(base, i) - change)
        if waits:
            add_token(
                new,
                row_before,
                n_wk,
                counts_d,
                n_k,
                None,
                mean_k,
                None,
                None,
                alpha,
                words_beta,
                inverse_k,
                next_inverse_k,
                share,
                next_share,
                share,
            )
        n_held = 0
        for k in range(n_topics if n_sticks > 0 else 0):
            held[n_held] = k
            n_held += counts_d[k] > 0
        for j in range(n_sticks):
            for a in range(n_held):
                share_a = counts_d[held[a]] / n_tokens
                projected[j, held[a]] += kappa[j] * share_a
                for b in range(a, n_held):
                    scatter[j, held[a], held[b]] += (
                        omega[j] * share_a * (counts_d[held[b]] / n_tokens)
                    )
    return n_moved


@kernel
def draw_weights(scatter, projected, prior_precision, key: np.uint64, weights) -> None:
    """Draw each eta_j ~ N(J^-1 h, J^-1), J = sum_d omega_dj zbar_d zbar_d' + I / tau^2, h = sum_d kappa_dj zbar_d."""
    n_topics = projected.shape[1]
    for j in range(len(projected)):
        matrix, h = scatter[j].copy(), projected[j].copy()
        for k in range(n_topics):
            matrix[k, k] += prior_precision
        draw_gaussian(stream_of(key, j), matrix, h)
        for k in range(n_topics):
            weights[j, k] = h[k]


@kernel
def draw_variance(shape, rate, key: np.uint64):
    """Return a draw of sigma^2 ~ inverse gamma(shape, rate)."""
    _, draw = gamma(stream_of(key, np.int64(0)), shape)
    return rate / draw


@lean
def fit_responses(n_dk: np.ndarray, document_tokens, sticks, weights, fits) -> None:
    """Fill fits (document, stick) with m_dj = eta_j' n_d / N_d, 0 for sticks that a document has not."""
    for d in range(len(n_dk)):
        for j in range(len(weights)):
            fits[d, j] = 0.0
            if j < sticks[d]:
                fits[d, j] = fit_of(weights, n_dk, j, d, np.float64(document_tokens[d]))
