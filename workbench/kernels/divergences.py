"""Jensen-Shannon divergences of all pairs of distributions over words."""

import numpy as np

from workbench.kernels.jit import lean
from workbench.kernels.simd.functions import fast_log, total
from workbench.kernels.simd.vectors import LANES, load, padded, spread

SMALLEST = 1e-300
"""Replaces a probability of 0 in a logarithm."""
TOGETHER = 512
"""Words in a block: all pairs of rows are visited for one block of words before the next, so that it stays in the cache."""


def jensen_shannon(phi: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence (row, row) of each pair of rows of phi (row, word), in nats.

    It is the entropy of the mean of two rows less the mean of their entropies.
    """
    rows = np.zeros((len(phi), padded(phi.shape[1])))
    rows[:, : phi.shape[1]] = phi
    divergences = np.zeros((len(phi), len(phi)))
    _entropies_of_means(rows, divergences)
    entropies = divergences.diagonal()
    return np.maximum(
        divergences + divergences.T - np.diag(entropies) - 0.5 * (entropies[:, None] + entropies),
        0.0,
    )


@lean
def _entropies_of_means(rows, divergences) -> None:
    """Write the entropy of the mean of every pair of rows to the lower triangle of divergences (row, row)."""
    n_words = rows.shape[1]
    for first in range(0, n_words, TOGETHER):
        last = min(first + TOGETHER, n_words)
        for i in range(len(rows)):
            for j in range(i + 1):
                entropy = spread(0.0)
                for w in range(first, last, LANES):
                    mean = 0.5 * (load(rows, i * n_words + w) + load(rows, j * n_words + w))
                    entropy = entropy - mean * fast_log(max(mean, SMALLEST))
                divergences[i, j] += total(entropy)
