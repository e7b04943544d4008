"""Gibbs sampling of logistic-normal topics: draws the topics of tokens, and the components psi of documents in turn.

    theta_d = softmax(psi_d),  psi_d ~ N(mu, Sigma),  Lambda = Sigma^-1                                           spec B.3
    zeta_k  =  log sum_{j != k} exp(psi_dj)
    omega   ~  PG(N_d, psi_dk - zeta_k)                           N_d tokens; drawn anew for every component
    psi_dk  ~  N(h / P, 1 / P),  P = Lambda_kk + omega,
               h = Lambda_kk mu_k - sum_{j != k} Lambda_kj (psi_dj - mu_j) + n_dk - N_d / 2 + omega zeta_k

Chen, Zhu, Wang, Zheng & Zhang (2013), sec. 3, with exact Polya-gamma numbers. omega belongs to the conditional of one
component given the others, so that components cannot be drawn jointly.

A pass over the components keeps the sum of exp(psi_j) over those before k, already drawn, and over those after k: nothing is
subtracted from a sum, so that no digit is lost. Every document has a stream of its own.

Elliptical slice sampling needs no Polya-gamma numbers. The loadings C of a linear system are drawn row by row, one for each
word::

    psi_t = C z_t + d,   x_t ~ Mult(N_t, softmax(psi_t)),   rows c_k ~ N(0, variance I)                          spec D.4

A row and a draw nu from its prior span an ellipse, on which a point within a slice of the likelihood is drawn::

    l(c) = c' sum_t x_tk z_t - sum_t N_t log( sum_{j != k} e^psi_tj + e^{c'z_t + d_k} )

Murray, Adams & MacKay (2010). The sums of exponentials over the words before and after a word are kept, so that the time of a
point is proportional to the number of documents, and nothing is subtracted from a sum. Sixteen documents are computed at a
time.

For Gaussian processes psi_k, with rows x_m ~ Mult(N_m, softmax(psi_m)), a column f = psi_k - mu_k and a draw nu from its prior
span an ellipse in the same way::

    log y = l(f) - Exp(1);   a ~ U(0, 2 pi), bracket (a - 2 pi, a);   f' = f cos a + nu sin a, until l(f') > log y,
    the bracket shrunk towards 0 by each angle that fails;    l = sum_m x_mk psi_mk - N_m log sum_j e^psi_mj

Spec C.4. The log-sum-exp of the columns before and after a column are kept, so that the time of a point is proportional to the
number of rows; nothing is subtracted from a sum.
"""

import math

import numpy as np

from workbench.kernels.jit import aside, inlined, kernel
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.simd.functions import SMALLEST, fast_exp, fast_log, total
from workbench.kernels.simd.vectors import LANES, load, padded, spread, store
from workbench.kernels.stick_breaking.correlated_topics import (
    count_drawn_topics,
    draw_topics_given,
)
from workbench.kernels.uniforms import (
    EXPECTED_THETA,
    absorb,
    draw_key,
    exponential,
    next_uniform,
    normal,
    stream_of,
)

SMALLEST_SUM, LARGEST_SUM = 1e-280, 1e280
"""Range in which a sum of exponentials is accurate; outside it is recomputed relative to its largest term."""


@aside
def softmax(psi, theta: np.ndarray) -> None:
    """Write exp(psi_k) / sum_j exp(psi_j) to theta (component,)."""
    top, normaliser = -math.inf, 0.0
    for k in range(len(psi)):
        top = max(top, psi[k])
    for k in range(len(psi)):
        theta[k] = math.exp(psi[k] - top)
        normaliser += theta[k]
    for k in range(len(psi)):
        theta[k] /= normaliser


@aside
def log_sum_of_others(psi, k):
    """Return log sum_{j != k} exp(psi_j), computed relative to the largest term."""
    top, other_sum = -math.inf, 0.0
    for j in range(len(psi)):
        if j != k:
            top = max(top, psi[j])
    for j in range(len(psi)):
        if j != k:
            other_sum += math.exp(psi[j] - top)
    return top + math.log(other_sum)


@inlined
def conditional(n_here, n_tokens, omega, zeta, diagonal, mean, pull):
    """Return h and the precision P of psi_k's conditional distribution N(h / P, 1 / P), given omega and the other psi_j.

    diagonal : Lambda_kk; pull : sum_{j != k} Lambda_kj (psi_j - mu_j)
    """
    return diagonal * mean - pull + n_here - 0.5 * n_tokens + omega * zeta, diagonal + omega


@aside
def draw_document(stream: np.uint64, n_here, precision: np.ndarray, mean, psi, off, later_sums):
    """Draw the components psi (component,) of one document in turn, given its topic counts n_here; return the stream.

    precision (component, component padded) : Sigma^-1; off (component padded,) and later_sums (component,) are scratch;
    the padding of precision and off is 0. A single component, and those of a document without tokens, are drawn from the prior.
    """
    n, lanes = len(psi), len(off)
    n_tokens, top, later_sum, earlier_sum = np.int64(0), -math.inf, 0.0, 0.0
    for k in range(n):
        n_tokens += n_here[k] if n > 1 else 0
        top = max(top, psi[k])
        off[k] = psi[k] - mean[k]
    for k in range(n - 1, -1, -1):
        later_sums[k] = later_sum
        later_sum += math.exp(psi[k] - top)
    for k in range(n):
        tokens, omega, zeta = 0, 0.0, 0.0
        if n_tokens > 0:
            other_sum, tokens = earlier_sum + later_sums[k], n_here[k]
            zeta = (
                top + math.log(other_sum)
                if SMALLEST_SUM < other_sum < LARGEST_SUM
                else log_sum_of_others(psi, k)
            )
            stream, omega = polya_gamma(stream, n_tokens, psi[k] - zeta)
        off[k], sums = 0.0, spread(0.0)
        for i in range(0, lanes, LANES):
            sums += load(precision, k * lanes + i) * load(off, i)
        h, information = conditional(
            tokens, n_tokens, omega, zeta, precision[k, k], mean[k], total(sums)
        )
        stream, z = normal(stream)
        psi[k] = h / information + z / math.sqrt(information)
        off[k] = psi[k] - mean[k]
        earlier_sum += math.exp(psi[k] - top)
    return stream


def padded_rows(matrix: np.ndarray) -> np.ndarray:
    """Return a square matrix with each row padded by zeros to a multiple of sixteen."""
    rows = np.zeros((len(matrix), padded(len(matrix))))
    rows[:, : len(matrix)] = matrix
    return rows


@kernel
def draw_components(
    first: int, last: int, n_dk: np.ndarray, precision: np.ndarray, mean, psi, key: np.uint64
) -> None:
    """Draw the components psi (document, component) of documents first..last given the topics of their tokens.

    precision : Sigma^-1 (component, component), padded by `padded_rows`; mean : mu (component,).
    """
    off, later_sums = np.zeros(precision.shape[1]), np.empty(len(mean))
    for d in range(first, last):
        draw_document(stream_of(key, d), n_dk[d], precision, mean, psi[d], off, later_sums)


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
    psi,
    beta,
    key: np.uint64,
):
    """Draw the topics of all tokens of documents first..last, given psi (document, component)."""
    theta = np.zeros((last - first, len(n_k)))
    for d in range(first, last):
        softmax(psi[d], theta[d - first, : psi.shape[1]])
    return draw_topics_given(
        first, last, indptr, words, counts, tokens_before, topics, n_dk, n_wk, n_k, theta, beta, key
    )


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
    burn_in: int,
    n_kept: int,
    key: np.uint64,
    theta: np.ndarray,
    first_number: int = 0,
) -> None:
    """Compute theta (document, topic) of documents first..last by Gibbs sampling, given phi (word, topic).

    theta is the mean over `n_kept` sweeps after `burn_in` sweeps. The components of a document start at their mean. The streams
    of document d depend on first_number + d and the number of the sweep.
    """
    n_topics = phi.shape[1]
    n_here, theta_d, cumulative = (
        np.zeros(n_topics, np.int32),
        np.empty(n_topics),
        np.empty(n_topics),
    )
    psi, off, later_sums = np.empty(n_topics), np.zeros(precision.shape[1]), np.empty(n_topics)
    for d in range(first, last):
        psi[:] = mean
        theta[d] = 0.0
        for sweep in range(burn_in + n_kept):
            sweep_key = absorb(absorb(key, sweep), first_number + d)
            softmax(psi, theta_d)
            count_drawn_topics(
                d, indptr, words, counts, tokens_before, theta_d, phi, cumulative, sweep_key, n_here
            )
            draw_document(
                stream_of(absorb(sweep_key, 1), 0), n_here, precision, mean, psi, off, later_sums
            )
            if sweep >= burn_in:
                softmax(psi, theta_d)
                for k in range(n_topics):
                    theta[d, k] += theta_d[k] / n_kept


N_POINTS = 50
"""Number of standard normal points; each is used with its mirror image."""


@kernel
def _fixed_points(n, key: np.uint64):
    """Return normal points (point, component), scaled so that with their mirror images each component has variance 1."""
    points = np.empty((N_POINTS, n))
    for i in range(N_POINTS):
        stream = stream_of(key, i)
        for k in range(n):
            stream, points[i, k] = normal(stream)
    for k in range(n):
        square = 0.0
        for i in range(N_POINTS):
            square += points[i, k] ** 2 / N_POINTS
        points[:, k] /= math.sqrt(square)
    return points


@kernel
def _add_softmax(psi, variance, points, theta: np.ndarray) -> None:
    n = psi.shape[1]
    psi_point, theta_point = np.empty(n), np.empty(n)
    for d in range(len(psi)):
        for i in range(2 * N_POINTS):
            sign = 1.0 if i < N_POINTS else -1.0
            for k in range(n):
                psi_point[k] = (
                    psi[d, k] + sign * math.sqrt(variance[d, k]) * points[i % N_POINTS, k]
                )
            softmax(psi_point, theta_point)
            for k in range(n):
                theta[d, k] += theta_point[k] / (2 * N_POINTS)


def expected_theta(psi, variance) -> np.ndarray:
    """Return E softmax(x) (document, component) for independent x_k ~ N(psi_k, variance_k), as a mean over 100 points.

    The points are the same for all documents and calls: 50 standard normal points and their mirror images, scaled so that
    their variance is 1.
    """
    psi, theta = np.ascontiguousarray(psi, dtype=float), np.zeros(np.shape(psi))
    points = _fixed_points(psi.shape[1], np.uint64(draw_key(0, EXPECTED_THETA, 0, 0)))
    _add_softmax(psi, np.ascontiguousarray(variance, dtype=float), points, theta)
    return theta


SMALLEST_BRACKET = 1e-12
"""Width of a bracket, in radians, at which slice sampling stops and keeps the old point."""
LARGEST_EXPONENT = 600.0
"""Limit of psi - top in a sum of exponentials; at such a psi the other words of the document have no weight."""


@inlined
def _exp(x):
    """Return exp(min(x, LARGEST_EXPONENT))."""
    return fast_exp(min(x, LARGEST_EXPONENT))


@aside
def _products(row, constant, states, products) -> None:
    """Fill products (document,) with row'z_t + constant; states (state_dim, document)."""
    n = states.shape[1]
    for index in range(0, n, LANES):
        sums = spread(constant)
        for j in range(len(row)):
            sums += load(states, j * n + index) * row[j]
        store(products, index, sums)


@kernel
def largest_psi(loadings: np.ndarray, offset, states, top) -> None:
    """Fill top (document,) with the largest psi = C z + d of each document; states (state_dim, document padded)."""
    psi = np.empty(len(top))
    top[:] = -math.inf
    for k in range(len(offset)):
        _products(loadings[k], offset[k], states, psi)
        for index in range(0, len(top), LANES):
            store(top, index, max(load(top, index), load(psi, index)))


@kernel
def sums_after(loadings: np.ndarray, offset, states, top, later_sums) -> None:
    """Fill later_sums (word + 1, document): later_sums[k] is the sum of exp(psi - top) over word k and all later words."""
    psi, n = np.empty(len(top)), len(top)
    later_sums[len(offset)] = 0.0
    for k in range(len(offset) - 1, -1, -1):
        _products(loadings[k], offset[k], states, psi)
        for index in range(0, n, LANES):
            exponentials = _exp(load(psi, index) - load(top, index))
            store(later_sums, k * n + index, load(later_sums, (k + 1) * n + index) + exponentials)


@aside
def _log_sums(
    current_psi,
    other_psi,
    constant,
    cosine,
    sine,
    top,
    earlier_sums,
    later_sums,
    first_after,
    n_tokens,
):
    """Return sum_t N_t log(sum_w exp(psi - top)), where one word has psi = current_psi cosine + other_psi sine + constant.

    earlier_sums, later_sums[first_after:] : the sums over the words before and after that word
    """
    sums = spread(0.0)
    for index in range(0, len(top), LANES):
        psi = (
            load(current_psi, index) * cosine
            + load(other_psi, index) * sine
            + (constant - load(top, index))
        )
        other_sums = load(earlier_sums, index) + load(later_sums, first_after + index)
        sums += load(n_tokens, index) * fast_log(max(other_sums + _exp(psi), SMALLEST))
    return total(sums)


@kernel
def draw_loadings(
    first: int,
    last: int,
    loadings: np.ndarray,
    offset,
    states,
    n_tokens,
    weighted,
    variance,
    top,
    earlier_sums,
    later_sums,
    key: np.uint64,
):
    """Draw rows first..last of C (word, state_dim) by elliptical slice sampling; return the number of proposals.

    states (state_dim, document padded), n_tokens (document padded,), 0 in the padding
    weighted (word, state_dim) : sum_t x_tk z_t; top, later_sums : from `largest_psi` and `sums_after`
    earlier_sums (document,) : the sum of exp(psi - top) of the words before `first`; updated to that of the words before `last`
    """
    n_dims, n = states.shape
    current_psi, other_psi, nu, n_proposals = np.empty(n), np.empty(n), np.empty(n_dims), 0
    for k in range(first, last):
        stream, along_counts, across_counts = stream_of(key, k), 0.0, 0.0
        for j in range(n_dims):
            stream, z = normal(stream)
            nu[j] = math.sqrt(variance) * z
            along_counts += loadings[k, j] * weighted[k, j]
            across_counts += nu[j] * weighted[k, j]
        _products(loadings[k], 0.0, states, current_psi)
        _products(nu, 0.0, states, other_psi)
        later = (k + 1) * n
        stream, drop = exponential(stream)
        log_y = (
            along_counts
            - drop
            - _log_sums(
                current_psi,
                other_psi,
                offset[k],
                1.0,
                0.0,
                top,
                earlier_sums,
                later_sums,
                later,
                n_tokens,
            )
        )
        stream, u = next_uniform(stream)
        angle = 2.0 * math.pi * u
        low, high, cosine, sine = angle - 2.0 * math.pi, angle, 1.0, 0.0
        while high - low > SMALLEST_BRACKET:
            cosine, sine, n_proposals = math.cos(angle), math.sin(angle), n_proposals + 1
            log_sums = _log_sums(
                current_psi,
                other_psi,
                offset[k],
                cosine,
                sine,
                top,
                earlier_sums,
                later_sums,
                later,
                n_tokens,
            )
            if along_counts * cosine + across_counts * sine - log_sums > log_y:
                break
            if angle < 0.0:
                low = angle
            else:
                high = angle
            stream, u = next_uniform(stream)
            angle, cosine, sine = low + u * (high - low), 1.0, 0.0
        for j in range(n_dims):
            loadings[k, j] = loadings[k, j] * cosine + nu[j] * sine
        for index in range(0, n, LANES):
            psi = (
                load(current_psi, index) * cosine
                + load(other_psi, index) * sine
                + (offset[k] - load(top, index))
            )
            store(earlier_sums, index, load(earlier_sums, index) + _exp(psi))
    return n_proposals


@aside
def log_add(a, b):
    """Return log(e^a + e^b); a or b may be minus infinity."""
    low, high = min(a, b), max(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


@aside
def _log_likelihood(rows, counts: np.ndarray, n, column, log_others):
    """Return sum_m x_mk psi_mk - N_m log sum_j e^psi_mj, over the rows m that have counts."""
    total = 0.0
    for i in range(len(rows)):
        m = rows[i]
        total += counts[m] * column[m] - n[m] * log_add(log_others[i], column[m])
    return total


@kernel
def draw_columns(rows, counts: np.ndarray, n, mean, prior, psi, key: np.uint64):
    """Draw each word's psi in psi (word, row), in turn, by elliptical slice sampling; return the number of proposals.

    rows (row with counts,) : indices of the rows with counts; counts (word, row) float64; n (row,) float64 : N_m
    mean (word,); prior (word, row) : a draw nu of each column's process, of mean 0. Rows without counts are drawn too.
    """
    n_words, n_rows = psi.shape
    log_later, log_earlier, log_others = (
        np.empty((n_words, len(rows))),
        np.full(len(rows), -math.inf),
        np.empty(len(rows)),
    )
    proposed, n_proposals = np.empty(n_rows), 0
    for i in range(len(rows)):
        log_later[n_words - 1, i] = -math.inf
    for k in range(n_words - 1, 0, -1):
        for i in range(len(rows)):
            log_later[k - 1, i] = log_add(log_later[k, i], psi[k, rows[i]])
    for k in range(n_words):
        stream = stream_of(key, k)
        for i in range(len(rows)):
            log_others[i] = log_add(log_earlier[i], log_later[k, i])
        stream, drop = exponential(stream)
        log_y = _log_likelihood(rows, counts[k], n, psi[k], log_others) - drop
        stream, u = next_uniform(stream)
        angle = 2.0 * math.pi * u
        low, high = angle - 2.0 * math.pi, angle
        while high - low > SMALLEST_BRACKET:
            cosine, sine, n_proposals = math.cos(angle), math.sin(angle), n_proposals + 1
            for m in range(n_rows):
                proposed[m] = mean[k] + (psi[k, m] - mean[k]) * cosine + prior[k, m] * sine
            if _log_likelihood(rows, counts[k], n, proposed, log_others) > log_y:
                psi[k] = proposed
                break
            if angle < 0.0:
                low = angle
            else:
                high = angle
            stream, u = next_uniform(stream)
            angle = low + u * (high - low)
        for i in range(len(rows)):
            log_earlier[i] = log_add(log_earlier[i], psi[k, rows[i]])
    return n_proposals
