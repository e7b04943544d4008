"""A prior of words that has a number for each topic and word, for kernels that take one number for all.

A Dirichlet prior is counts that nobody has seen: (beta_wk + n_wk) / (sum_w beta_wk + n_k) is what a kernel computes from the
prior 0 and counts that contain the prior.
"""

import numpy as np

from workbench.kernels.jit import lean
from workbench.kernels.simd.vectors import aligned_empty, padded


def padded_prior(table: np.ndarray) -> np.ndarray:
    """Return a prior (topic, word) as (word, topic), padded with ones, which keep the sizes of padding topics positive."""
    n_topics, n_words = table.shape
    prior = aligned_empty((n_words, padded(n_topics)), np.float64)
    prior[:, :n_topics], prior[:, n_topics:] = table.T, 1.0
    return prior


def with_prior(beta, n_wk, n_k) -> tuple:
    """Return n_wk, n_k and a number for beta: unchanged if beta is a number, else counts that contain it, and the number 0.

    beta (word, topic), n_wk (word, topic) and n_k (topic,), padded alike or, the counts, not at all; None for no counts
    """
    if np.ndim(beta) == 0:
        return n_wk, n_k, beta
    sizes = beta.sum(axis=0)
    if n_wk is None:
        return beta, sizes, 0.0
    contained = aligned_empty(n_wk.shape, np.float64)
    width = len(n_k)
    return np.add(beta[:, :width], n_wk, out=contained), sizes[:width] + n_k, 0.0


def with_means(mean_wk: np.ndarray | None, n_wk: np.ndarray) -> np.ndarray:
    """Return sampled and expected counts together, (word, topic) float64, in new memory; n_wk itself if mean_wk is None."""
    if mean_wk is None:
        return n_wk
    return np.add(mean_wk, n_wk, out=aligned_empty(mean_wk.shape, np.float64))


@lean
def whole_differences(contained_wk, added_wk, n_wk) -> None:
    """Write contained_wk - added_wk (word, topic), which are whole but for rounding, to n_wk, int32."""
    for w in range(n_wk.shape[0]):
        for k in range(n_wk.shape[1]):
            n_wk[w, k] = np.int32(np.rint(contained_wk[w, k] - added_wk[w, k]))


def take_prior_out(beta, contained_wk, contained_k, n_wk, n_k) -> None:
    """Write to n_wk and n_k the counts without the prior that `with_prior` has added to them, if it has, and at least 0.

    Whole counts are rounded.
    """
    if np.ndim(beta) == 0:
        return
    for contained, prior, counts in (
        (contained_wk, beta, n_wk),
        (contained_k, beta.sum(axis=0), n_k),
    ):
        contained -= prior
        if counts.dtype.kind == "f":
            np.maximum(contained, 0.0, out=counts)
        else:
            counts[...] = np.rint(contained)
