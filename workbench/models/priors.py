"""The Dirichlet priors that turn counts into probabilities, fixed or learnt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.models.estimate import Estimate


class Priors(NamedTuple):
    """Dirichlet priors of theta and phi: numbers that are added to counts before these are normalised."""

    alphas: np.ndarray  # (topic,) prior of each topic in a document
    beta: float | np.ndarray  # prior of each word in a topic: one number, or (word,)
    # prior of all topics that have no place in the counts (HDP), their words as beta
    rest: float = 0.0
    # False: theta has no Dirichlet prior, and alphas are its mean over documents
    of_shares: bool = True

    @property
    def n_topics(self) -> int:
        """The number of topics that have a prior of their own."""
        return len(self.alphas)

    def with_rest(self, n_kw: np.ndarray) -> tuple[Priors, np.ndarray]:
        """Return priors and counts (topic, word) with the rest as one more topic, which has no token."""
        if not self.rest:
            return self, n_kw
        return Priors(np.append(self.alphas, self.rest), self.beta), np.vstack(
            [n_kw, np.zeros(n_kw.shape[1])]
        )

    def theta(self, n_dk: np.ndarray) -> np.ndarray:
        """Return the posterior means (document, topic); with the share of the rest they sum to 1."""
        raised = n_dk + self.alphas
        raised /= raised.sum(axis=1, keepdims=True) + self.rest
        return raised

    def means(self, last) -> dict[str, Estimate]:
        """Return ``theta`` and ``phi`` given the counts ``n_dk`` and ``n_kw`` of a snapshot."""
        return {
            "theta": Estimate(self.theta, last["n_dk"]),
            "phi": Estimate(self.phi, last["n_kw"]),
        }

    def phi(self, n_kw: np.ndarray) -> np.ndarray:
        """Return the posterior means (topic, word)."""
        raised = n_kw + self.beta
        raised /= raised.sum(axis=1, keepdims=True)
        return raised
