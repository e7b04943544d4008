"""A prior of words that has a number for each topic and word, for kernels that take one number for all.

A Dirichlet prior is counts that nobody has seen: (beta_wk + n_wk) / (sum_w beta_wk + n_k) is what a kernel computes from the
prior 0 and counts that contain the prior.
"""

import numpy as np

from workbench.kernels.simd.vectors import aligned_empty, padded


def padded_prior(table: np.ndarray) -> np.ndarray:
    """Return a prior (topic, word) as (word, topic), padded with ones, which keep the sizes of padding topics positive."""
    n_topics, n_words = table.shape
    prior = aligned_empty((n_words, padded(n_topics)), np.float64)
    prior[:, :n_topics], prior[:, n_topics:] = table.T, 1.0
    return prior


def with_prior(beta, n_wk, n_k) -> tuple:
    """Return n_wk, n_k and a number for beta: unchanged if beta is a number, else counts that contain it, and the number 0.

    beta (word, topic), n_wk (word, topic) and n_k (topic,), padded alike or, the counts, not at all
    """
    if np.ndim(beta) == 0:
        return n_wk, n_k, beta
    width = np.shape(n_k)[-1] if np.ndim(n_k) else beta.shape[1]
    contained = aligned_empty((len(beta), width), np.float64)
    return np.add(beta[:, :width], n_wk, out=contained), beta.sum(axis=0)[:width] + n_k, 0.0


def take_prior_out(beta, contained_wk, contained_k, n_wk, n_k) -> None:
    """Write to n_wk and n_k the counts without the prior that `with_prior` has added to them, if it has, rounded if whole."""
    if np.ndim(beta):
        for contained, prior, counts in (
            (contained_wk, beta, n_wk),
            (contained_k, beta.sum(axis=0), n_k),
        ):
            contained -= prior
            counts[...] = contained if counts.dtype.kind == "f" else np.rint(contained)
