"""Elliptical slice sampling of logistic-normal processes: rows x_m ~ Mult(N_m, softmax(psi_m)), each psi_k a Gaussian process.

A column f = psi_k - mu_k and a draw nu of its prior span an ellipse; a point of it is taken within a slice of the likelihood::

    log y = l(f) - Exp(1);   a ~ U(0, 2 pi), bracket (a - 2 pi, a);   f' = f cos a + nu sin a, until l(f') > log y,
    the bracket shrunk towards 0 by each angle that fails;    l = sum_m x_mk psi_mk - N_m log sum_j e^psi_mj

Murray, Adams & MacKay (2010); spec C.4. The log-sum-exp of the columns before and after a column are kept, so that it costs
as much as there are rows; nothing is subtracted from a sum.
"""

import math

import numpy as np

from workbench.kernels.jit import aside, kernel
from workbench.kernels.variates import exponential, next_uniform, stream_of

SMALLEST_BRACKET = 1e-12
"""Radians at which a bracket has shrunk to the point where it began, but for rounding."""


@aside
def log_add(a, b):
    """log(e^a + e^b); minus infinity stands for nothing."""
    low, high = min(a, b), max(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


@aside
def _log_likelihood(rows, counts, n, column, others):
    """sum_m x_mk psi_mk - N_m log sum_j e^psi_mj over the rows with counts."""
    total = 0.0
    for i in range(len(rows)):
        m = rows[i]
        total += counts[m] * column[m] - n[m] * log_add(others[i], column[m])
    return total


@kernel
def draw_columns(rows, counts, n, mean, prior, psi, key):
    """Draws the columns of psi (word, row) in turn, in place; returns how many points were tried, n_words at the least.

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
