"""Rows of probabilities drawn from their Dirichlet posteriors given counts."""

import math

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.variates import log_of_gamma, stream_of


@kernel
def draw_dirichlets(counts, prior, key):
    """(row, column) rows drawn from Dirichlet(prior + counts of the row); counts (row, at least column), prior (column,).

    Each row has a stream of its own, so that a row is what it is whatever other rows there are.
    """
    n_rows, n_columns = len(counts), len(prior)
    drawn = np.empty((n_rows, n_columns))
    for row in range(n_rows):
        stream, largest, total = stream_of(key, row), -np.inf, 0.0
        for k in range(n_columns):
            stream, drawn[row, k] = log_of_gamma(stream, prior[k] + counts[row, k])
            largest = max(largest, drawn[row, k])
        for k in range(n_columns):
            drawn[row, k] = math.exp(drawn[row, k] - largest)
            total += drawn[row, k]
        drawn[row] /= total
    return drawn


@kernel
def draw_log_dirichlets(counts, prior, key):
    """(row, column) the logarithms of rows drawn from Dirichlet(prior + counts of the row), finite however small they are.

    As `draw_dirichlets`, from the same numbers; prior : a number, of every column.
    """
    n_rows, n_columns = counts.shape
    drawn = np.empty((n_rows, n_columns))
    for row in range(n_rows):
        stream, largest, total = stream_of(key, row), -np.inf, 0.0
        for k in range(n_columns):
            stream, drawn[row, k] = log_of_gamma(stream, prior + counts[row, k])
            largest = max(largest, drawn[row, k])
        for k in range(n_columns):
            total += math.exp(drawn[row, k] - largest)
        drawn[row] -= largest + math.log(total)
    return drawn
