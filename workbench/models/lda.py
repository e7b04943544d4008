"""Latent Dirichlet allocation."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.catalog.synthetic import draw_lda
from workbench.errors import Named
from workbench.models.model import ModelError, Priors
from workbench.models.seed_words import seed_weight_option, seed_words_option
from workbench.models.seeded_topics import SeededTopics
from workbench.models.variables import VARIABLES, Variable
from workbench.models.word_priors import WordPrior, checked_prior

MOST_TOPICS = 65_535


@dataclass(frozen=True)
class LDA(SeededTopics):
    """Latent Dirichlet allocation: documents mix topics, topics mix words.

    Each topic is a distribution over words, phi_k ~ Dirichlet(beta_1, …, beta_W); each document is a
    distribution over topics, theta_d ~ Dirichlet(alpha_1, …, alpha_K); each token draws a topic
    z ~ theta_d and then a word w ~ phi_z.

    Parameters
    ----------
    n_topics : int
    alpha : float or one per topic, default 0.1
        Dirichlet prior per topic (not its total).
    beta : float, (word,) or (topic, word), default 0.1
        Dirichlet prior per word type (not its total). A table may have zeros: a topic cannot have such a word.
    seed_words : str or dict, default none
        Words that topics are expected to have, as ``"energy: oil barrel; sport: ball game"`` or a dict from topics to words.
        A name stands for the first topic that is free; a number is that of a topic.
    seed_weight : float, default 100
        Pseudo-counts that are added to beta for a seed word in its topic.

    Raises
    ------
    ModelError

    Blei, Ng & Jordan (2003); Griffiths & Steyvers (2004) for the prior on topics.
    """

    warm_starts = True
    takes = ("n_topics", "alpha", "beta")
    live = ("alpha", "beta")

    n_topics: int = 10
    alpha: float | tuple[float, ...] = 0.1
    beta: float | WordPrior = 0.1
    seed_words: str = seed_words_option()
    seed_weight: float = seed_weight_option()
    # (number of words, (topic, word) of each seed word), once the corpus is known
    seeded: tuple[int, tuple[tuple[int, int], ...]] | None = None

    def __post_init__(self):
        fix = object.__setattr__
        fix(self, "n_topics", check_topics(self.n_topics))
        if np.ndim(self.alpha) == 0:
            fix(self, "alpha", checked_prior("alpha", self.alpha))
        else:
            fix(self, "alpha", tuple(checked_prior("alpha", value) for value in self.alpha))
            if len(self.alpha) != self.n_topics:
                requirement = f" must be one number or one per topic ({self.n_topics}); got {len(self.alpha)} numbers"
                raise ModelError(Named("alpha"), requirement, value=self.alpha)
        self._check_beta()

    @property
    def alphas(self) -> np.ndarray:
        """Prior of each topic in a document, (topic,)."""
        return np.full(self.n_topics, self.alpha, float)

    def with_coords(self, coords: Mapping) -> Self:
        """Return the model with what the coordinates of a Dataset have: numbers of beta, words, and priors of edited topics."""
        fields = self._stored(coords)
        if "prior" in coords:
            alphas = tuple(coords["prior"].values.tolist())
            fields |= {"n_topics": len(alphas), "alpha": alphas}
            if self.seed_words:
                n_words, cells = fields["seeded"]
                numbers = coords["topic"].values.tolist()
                cells = tuple((numbers.index(k), w) for k, w in cells if k in numbers)
                fields["seeded"] = n_words, cells
        return replace(self, **fields)

    def recorded(self, options: object) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, and the priors that are learnt."""
        prior_names = [
            name for name in ("alpha", "beta") if self.hyperparameters(options)[name] != "fixed"
        ]
        return tuple(VARIABLES[name] for name in ("n_k", *prior_names, "n_kw", "n_dk"))

    def priors(self, last: Mapping) -> Priors:
        """Return the Dirichlet priors at a snapshot: learnt values if recorded, else the given ones.

        Where words have priors of their own ``beta`` is a table (topic, word).
        """
        alphas = np.asarray(last["alpha"]) if "alpha" in last else self.alphas
        beta = float(last["beta"]) if "beta" in last else self.beta
        return Priors(alphas, self.word_priors(beta))

    def hyperparameters(self, options: object) -> dict[str, str]:
        """Return name → "fixed", "maximised" or "sampled" for alpha and beta."""
        return {name: getattr(options, f"learn_{name}", "fixed") for name in ("alpha", "beta")}

    def simulate(
        self, n_documents: int, n_words: int, tokens_per_document: int, seed: int = 0
    ) -> tuple[Corpus, dict]:
        """Draw a corpus from the model; return it and the true parameters and counts.

        Returns
        -------
        corpus : Corpus
            Documents of exactly ``tokens_per_document`` tokens.
        truth : dict
            ``theta`` (document, topic) and ``phi`` (topic, word); ``n_dk`` and ``n_kw``, the counts of the
            tokens' true topics.
        """
        return draw_lda(
            self.alphas, self.priors({}).beta, n_documents, n_words, tokens_per_document, seed
        )


def check_topics(n_topics: object) -> int:
    """Return the number of topics as an int; raise ModelError if it is out of range.

    Raises
    ------
    ModelError
    """
    is_number = (
        isinstance(n_topics, numbers.Real)
        and not isinstance(n_topics, bool)
        and abs(n_topics) < math.inf
    )
    if not is_number or n_topics != int(n_topics) or not 1 <= n_topics <= MOST_TOPICS:
        raise ModelError.must_be(
            Named("n_topics", text="topics"), f"a whole number from 1 to {MOST_TOPICS}", n_topics
        )
    return int(n_topics)
