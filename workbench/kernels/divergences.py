"""Jensen-Shannon divergences of all pairs of distributions, sixteen words at a time."""

import numpy as np

from workbench.kernels.jit import lean
from workbench.kernels.simd.functions import fast_log, total
from workbench.kernels.simd.vectors import LANES, load, padded, spread

SMALLEST = 1e-300
"""In the place of a probability 0, whose term of an entropy is 0."""
TOGETHER = 512
"""Words of all rows that are gone through for every pair before the next: a hundred rows of them stay in the cache."""


def jensen_shannon(phi: np.ndarray) -> np.ndarray:
    """Return (row, row) divergences of the rows of (row, word), nats.

    Each is the entropy of their mean less the mean of their entropies.
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
    """Compute the entropy of the mean of each row with each one before it, and of each alone.

    They go into the lower triangle of zeros.
    """
    n_words = rows.shape[1]
    for first in range(0, n_words, TOGETHER):
        last = min(first + TOGETHER, n_words)
        for one in range(len(rows)):
            for other in range(one + 1):
                entropy = spread(0.0)
                for w in range(first, last, LANES):
                    mean = 0.5 * (load(rows, one * n_words + w) + load(rows, other * n_words + w))
                    entropy = entropy - mean * fast_log(max(mean, SMALLEST))
                divergences[one, other] += total(entropy)
