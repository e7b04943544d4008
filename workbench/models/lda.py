"""Latent Dirichlet allocation: what is believed about a corpus."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.synthetic import draw_lda
from workbench.models.priors import Priors

MOST_TOPICS = 65_535
SMALLEST_PRIOR = 1e-8


class ModelError(ValueError):
    """What a model wanted, what came, and what to do, in one sentence."""


@dataclass(frozen=True)
class LDA:
    """Documents mix topics, topics mix words.

    Each topic is a distribution over words, phi_k ~ Dirichlet(beta, …, beta); each document is a
    distribution over topics, theta_d ~ Dirichlet(alpha_1, …, alpha_K); each token draws a topic
    z ~ theta_d and then a word w ~ phi_z.

    Parameters
    ----------
    n_topics : int
    alpha : float or one per topic, default 0.1
        Dirichlet prior per topic (not its total).
    beta : float, default 0.1
        Dirichlet prior per word type (not its total).

    Raises
    ------
    ModelError

    Blei, Ng & Jordan (2003); Griffiths & Steyvers (2004) for the prior on topics.
    """

    n_topics: int = 10
    alpha: float | tuple[float, ...] = 0.1
    beta: float = 0.1

    def __post_init__(self):
        fix = object.__setattr__
        fix(self, "n_topics", check_topics(self.n_topics))
        if np.ndim(self.alpha) == 0:
            fix(self, "alpha", _prior("alpha", self.alpha))
        else:
            fix(self, "alpha", tuple(_prior("alpha", value) for value in self.alpha))
            if len(self.alpha) != self.n_topics:
                raise ModelError(f"alpha must be one number or one per topic ({self.n_topics}); got {len(self.alpha)} numbers")
        fix(self, "beta", _prior("beta", self.beta))

    @property
    def priors(self) -> Priors:
        """What turns counts into probabilities."""
        return Priors(self.alphas, self.beta)

    @property
    def alphas(self) -> np.ndarray:
        """(topic,) the prior of each topic."""
        return np.full(self.n_topics, self.alpha, float)

    def simulate(self, n_documents: int, n_words: int, tokens_per_document: int, seed: int = 0) -> tuple[Corpus, dict]:
        """A corpus drawn from the model and the truth behind it.

        Returns
        -------
        corpus : Corpus
            Documents of exactly ``tokens_per_document`` tokens.
        truth : dict
            ``theta`` (document, topic) and ``phi`` (topic, word); ``n_dk`` and ``n_kw``, the counts of the
            tokens' true topics.
        """
        return draw_lda(self.alphas, self.beta, n_documents, n_words, tokens_per_document, seed)


def check_topics(n_topics) -> int:
    """The number of topics as an int within its range, or a sentence."""
    if isinstance(n_topics, bool) or not _is_whole(n_topics) or not 1 <= n_topics <= MOST_TOPICS:
        raise ModelError(f"topics must be a whole number from 1 to {MOST_TOPICS}; got {n_topics!r}")
    return int(n_topics)


def _is_whole(value) -> bool:
    return isinstance(value, numbers.Real) and math.isfinite(value) and value == int(value)


def _prior(name: str, value) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value) or value < SMALLEST_PRIOR:
        raise ModelError(f"{name} must be a number greater than 0 (at least {SMALLEST_PRIOR:g}); got {value!r}")
    return float(value)
