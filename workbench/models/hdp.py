"""The hierarchical Dirichlet process topic model: as many topics as the documents ask for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from workbench.models.lda import check_topics


@dataclass(frozen=True)
class HDP:
    """Documents mix topics whose number is not given; all share the weights pi of the topics.

    v_k ~ Beta(1, gamma), pi_k = v_k prod_l<k (1 - v_l); theta_d ~ Dirichlet(alpha pi); phi_k ~ Dirichlet(beta tau).
    alpha, beta and tau (sums, not per topic or word) and gamma are options of the engines, fixed or learnt there.

    Parameters
    ----------
    n_topics : int
        The truncation of `cv-hdp`, the number that `g-hdp` begins with.

    Raises
    ------
    ModelError

    Teh, Jordan, Beal & Blei (2006); Teh, Kurihara & Welling (2008), eq. 1-4.
    """

    n_topics: int = 40

    def __post_init__(self):
        object.__setattr__(self, "n_topics", check_topics(self.n_topics))


def topic_numbers(n_k: np.ndarray) -> dict[str, np.ndarray]:
    """How many topics there are, by three definitions, each (…) float64; see `workbench.models.VARIABLES` for each.

    n_k : (…, topic) (expected) tokens of each topic.
    """
    total = n_k.sum(axis=-1, keepdims=True)
    share = np.maximum(n_k, 0) / np.maximum(total, 1e-300)
    return {
        "n_active_topics": np.sum(n_k >= 1 - 1e-9, axis=-1, dtype=float),
        "n_large_topics": np.sum((n_k >= 0.01 * total) & (n_k > 0), axis=-1, dtype=float),
        "effective_topics": np.exp(scipy.special.entr(share).sum(axis=-1)),
    }
