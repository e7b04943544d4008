"""The Dirichlet priors behind counts, fixed or learnt: all that turns counts into probabilities."""

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
        """Topics that have a prior of their own."""
        return len(self.alphas)

    def with_rest(self, n_kw: np.ndarray) -> tuple[Priors, np.ndarray]:
        """The same with the rest as one more topic, one without a token: priors and counts (topic, word)."""
        if not self.rest:
            return self, n_kw
        return Priors(np.append(self.alphas, self.rest), self.beta), np.vstack(
            [n_kw, np.zeros(n_kw.shape[1])]
        )

    def theta(self, n_dk: np.ndarray) -> np.ndarray:
        """(document, topic) posterior means; they sum to 1 with the share of the rest."""
        raised = n_dk + self.alphas
        raised /= raised.sum(axis=1, keepdims=True) + self.rest
        return raised

    def means(self, last) -> dict[str, Estimate]:
        """``theta`` and ``phi`` given the counts ``n_dk`` and ``n_kw`` of a snapshot."""
        return {
            "theta": Estimate(self.theta, last["n_dk"]),
            "phi": Estimate(self.phi, last["n_kw"]),
        }

    def phi(self, n_kw: np.ndarray) -> np.ndarray:
        """(topic, word) posterior means."""
        raised = n_kw + self.beta
        raised /= raised.sum(axis=1, keepdims=True)
        return raised
