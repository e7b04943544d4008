"""Elliptical slice sampling of logistic-normal models: loadings of a linear system, and processes of words.

The loadings of a linear system are drawn one row of C, of one word, after the other::

    psi_t = C z_t + d,   x_t ~ Mult(N_t, softmax(psi_t)),   rows c_k ~ N(0, variance I)                          spec D.4

A row and a draw nu of its prior span an ellipse, of which a point within a slice of the likelihood is taken::

    l(c) = c' sum_t x_tk z_t - sum_t N_t log( sum_{j != k} e^psi_tj + e^{c'z_t + d_k} )

Murray, Adams & MacKay (2010). The sums of exponentials over the words before and after a word are kept, so that a point costs
as much as there are documents, and nothing is subtracted from a sum. Sixteen documents are computed at a time.

Of Gaussian processes psi_k, with rows x_m ~ Mult(N_m, softmax(psi_m)), a column f = psi_k - mu_k and a draw nu of its prior
span an ellipse likewise::

    log y = l(f) - Exp(1);   a ~ U(0, 2 pi), bracket (a - 2 pi, a);   f' = f cos a + nu sin a, until l(f') > log y,
    the bracket shrunk towards 0 by each angle that fails;    l = sum_m x_mk psi_mk - N_m log sum_j e^psi_mj

Spec C.4. The log-sum-exp of the columns before and after a column are kept, so that it costs
as much as there are rows; nothing is subtracted from a sum.
"""

import math

import numpy as np

from workbench.kernels.jit import aside, inlined, kernel
from workbench.kernels.simd.functions import SMALLEST, fast_exp, fast_log, total
from workbench.kernels.simd.vectors import LANES, load, spread, store
from workbench.kernels.uniforms import exponential, next_uniform, normal, stream_of

SMALLEST_BRACKET = 1e-12
"""Radians at which a bracket has shrunk to the point where it began, but for rounding."""
LARGEST_EXPONENT = 600.0
"""exp of no more is added up: psi that rises so far above the largest of its document has no other word beside it."""


@inlined
def _exp(x):
    """Return exp(x), of no more than the largest exponent."""
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
    """Fill top (document,) with the largest psi of each document; states (state_dim, document padded)."""
    psi = np.empty(len(top))
    top[:] = -math.inf
    for k in range(len(offset)):
        _products(loadings[k], offset[k], states, psi)
        for index in range(0, len(top), LANES):
            store(top, index, max(load(top, index), load(psi, index)))


@kernel
def sums_after(loadings: np.ndarray, offset, states, top, after) -> None:
    """Fill after (word + 1, document) with the sum of exp(psi - top) over the words from each on."""
    psi, n = np.empty(len(top)), len(top)
    after[len(offset)] = 0.0
    for k in range(len(offset) - 1, -1, -1):
        _products(loadings[k], offset[k], states, psi)
        for index in range(0, n, LANES):
            exponentials = _exp(load(psi, index) - load(top, index))
            store(after, k * n + index, load(after, (k + 1) * n + index) + exponentials)


@aside
def _log_sums(along, across, constant, cosine, sine, top, before, after, first_after, n_tokens):
    """Return sum_t N_t log(sum of exp(psi - top)), where psi of one word is along cos + across sin + constant."""
    sums = spread(0.0)
    for index in range(0, len(top), LANES):
        psi = (
            load(along, index) * cosine + load(across, index) * sine + (constant - load(top, index))
        )
        others = load(before, index) + load(after, first_after + index)
        sums += load(n_tokens, index) * fast_log(max(others + _exp(psi), SMALLEST))
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
    before,
    after,
    key: np.uint64,
):
    """Draw the rows first..last of C (word, state_dim) in place, in turn; returns how many points were tried.

    states (state_dim, document padded), n_tokens (document padded,), 0 in the padding; weighted (word, state_dim) :
    sum_t x_tk z_t; top, after : of `largest_psi` and `sums_after`; before (document,) : the sum of exp(psi - top) of the words
    before `first`, which comes to be that of those before `last`.
    """
    n_dims, n = states.shape
    along, across, nu, tried = np.empty(n), np.empty(n), np.empty(n_dims), 0
    for k in range(first, last):
        stream, along_counts, across_counts = stream_of(key, k), 0.0, 0.0
        for j in range(n_dims):
            stream, z = normal(stream)
            nu[j] = math.sqrt(variance) * z
            along_counts += loadings[k, j] * weighted[k, j]
            across_counts += nu[j] * weighted[k, j]
        _products(loadings[k], 0.0, states, along)
        _products(nu, 0.0, states, across)
        later = (k + 1) * n
        stream, drop = exponential(stream)
        log_y = (
            along_counts
            - drop
            - _log_sums(along, across, offset[k], 1.0, 0.0, top, before, after, later, n_tokens)
        )
        stream, u = next_uniform(stream)
        angle = 2.0 * math.pi * u
        low, high, cosine, sine = angle - 2.0 * math.pi, angle, 1.0, 0.0
        while high - low > SMALLEST_BRACKET:
            cosine, sine, tried = math.cos(angle), math.sin(angle), tried + 1
            log_sums = _log_sums(
                along, across, offset[k], cosine, sine, top, before, after, later, n_tokens
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
                load(along, index) * cosine
                + load(across, index) * sine
                + (offset[k] - load(top, index))
            )
            store(before, index, load(before, index) + _exp(psi))
    return tried


@aside
def log_add(a, b):
    """Return log(e^a + e^b); minus infinity stands for nothing."""
    low, high = min(a, b), max(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


@aside
def _log_likelihood(rows, counts: np.ndarray, n, column, others):
    """Return sum_m x_mk psi_mk - N_m log sum_j e^psi_mj over the rows with counts."""
    total = 0.0
    for i in range(len(rows)):
        m = rows[i]
        total += counts[m] * column[m] - n[m] * log_add(others[i], column[m])
    return total


@kernel
def draw_columns(rows, counts: np.ndarray, n, mean, prior, psi, key: np.uint64):
    """Draw the columns of psi (word, row) in turn, in place; returns how many points were tried, n_words at the least.

    rows : those with counts, (row with counts,); counts : (word, row) float64; n : (row,) float64; mean : (word,);
    prior : (word, row) a draw of each column's process, of mean 0. Rows without counts move with the others.
    """
    n_words, n_rows = psi.shape
    after, before, others = (
        np.empty((n_words, len(rows))),
        np.full(len(rows), -math.inf),
        np.empty(len(rows)),
    )
    proposed, tried = np.empty(n_rows), 0
    for i in range(len(rows)):
        after[n_words - 1, i] = -math.inf
    for k in range(n_words - 1, 0, -1):
        for i in range(len(rows)):
            after[k - 1, i] = log_add(after[k, i], psi[k, rows[i]])
    for k in range(n_words):
        stream = stream_of(key, k)
        for i in range(len(rows)):
            others[i] = log_add(before[i], after[k, i])
        stream, drop = exponential(stream)
        log_y = _log_likelihood(rows, counts[k], n, psi[k], others) - drop
        stream, u = next_uniform(stream)
        angle = 2.0 * math.pi * u
        low, high = angle - 2.0 * math.pi, angle
        while high - low > SMALLEST_BRACKET:
            cosine, sine, tried = math.cos(angle), math.sin(angle), tried + 1
            for m in range(n_rows):
                proposed[m] = mean[k] + (psi[k, m] - mean[k]) * cosine + prior[k, m] * sine
            if _log_likelihood(rows, counts[k], n, proposed, others) > log_y:
                psi[k] = proposed
                break
            if angle < 0.0:
                low = angle
            else:
                high = angle
            stream, u = next_uniform(stream)
            angle = low + u * (high - low)
        for i in range(len(rows)):
            before[i] = log_add(before[i], psi[k, rows[i]])
    return tried
