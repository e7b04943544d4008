"""Latent Dirichlet allocation."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.catalog.synthetic import draw_lda
from workbench.errors import Named
from workbench.models.model import ModelError, Priors, TopicModel, tiny_bag
from workbench.models.seed_words import (
    cells_of_seeds,
    names_of_topics,
    seed_weight_option,
    seed_words_option,
    seeds_text,
)
from workbench.models.variables import VARIABLES, Variable

MOST_TOPICS = 65_535
SMALLEST_PRIOR, LARGEST_PRIOR = 1e-8, 1e12


@dataclass(frozen=True)
class LDA(TopicModel):
    """Latent Dirichlet allocation: documents mix topics, topics mix words.

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
    beta: float = 0.1
    seed_words: str = seed_words_option()
    seed_weight: float = seed_weight_option()
    # (number of words, (topic, word) of each seed word), once the corpus is known
    seeded: tuple[int, tuple[tuple[int, int], ...]] | None = None

    def __post_init__(self):
        fix = object.__setattr__
        fix(self, "seed_words", seeds_text(self.seed_words))
        if not self.seed_words and self.seed_weight != LDA.seed_weight:
            raise ModelError(
                Named("seed_weight"),
                " would be without effect: set ",
                Named("seed_words"),
                ", or leave it out",
            )
        fix(self, "n_topics", check_topics(self.n_topics))
        if np.ndim(self.alpha) == 0:
            fix(self, "alpha", _prior("alpha", self.alpha))
        else:
            fix(self, "alpha", tuple(_prior("alpha", value) for value in self.alpha))
            if len(self.alpha) != self.n_topics:
                requirement = f" must be one number or one per topic ({self.n_topics}); got {len(self.alpha)} numbers"
                raise ModelError(Named("alpha"), requirement, value=self.alpha)
        fix(self, "beta", _prior("beta", self.beta))

    @property
    def alphas(self) -> np.ndarray:
        """Prior of each topic in a document, (topic,)."""
        return np.full(self.n_topics, self.alpha, float)

    def for_data(self, data: Corpus) -> Self:
        """Return the model with the numbers of its seed words; raise ModelError for a word that the corpus lacks."""
        return self._with_words(data.vocabulary)

    def _with_words(self, vocabulary: Sequence[str]) -> Self:
        if not self.seed_words:
            return self
        cells = cells_of_seeds(self.seed_words, self.n_topics, vocabulary)
        return replace(self, seeded=(len(vocabulary), cells))

    def with_coords(self, coords: Mapping) -> Self:
        """Return the model with seed words looked up, and with the priors of edited topics, coordinates of a Dataset."""
        model = self._with_words(coords["word"].values.tolist()) if self.seed_words else self
        if "prior" not in coords:
            return model
        alphas, numbers = tuple(coords["prior"].values.tolist()), coords["topic"].values.tolist()
        if model.seeded is not None:
            n_words, cells = model.seeded
            kept = ((numbers.index(k), w) for k, w in cells if k in numbers)
            model = replace(model, seeded=(n_words, tuple(kept)))
        return replace(model, n_topics=len(alphas), alpha=alphas)

    def coords(self, data: Corpus) -> dict[str, tuple]:
        """Return the coordinates of a run's Dataset, with the names that seed words give to topics as their labels."""
        names = names_of_topics(self.seed_words, self.n_topics)
        labels = {"topic_label": (names, "label of the topic", "topic")} if any(names) else {}
        return super().coords(data) | labels

    def check_options(self, options: object) -> None:
        """Raise ModelError if beta is to be learnt beside seed words."""
        if self.seed_words and getattr(options, "learn_beta", "fixed") != "fixed":
            raise ModelError(
                Named("learn_beta", options.learn_beta),
                " learns one number for all words, and ",
                Named("seed_words"),
                " have a prior of their own; leave one of them out",
            )

    def recorded(self, options: object) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, and the priors that are learnt."""
        prior_names = [
            name for name in ("alpha", "beta") if self.hyperparameters(options)[name] != "fixed"
        ]
        return tuple(VARIABLES[name] for name in ("n_k", *prior_names, "n_kw", "n_dk"))

    def priors(self, last: Mapping) -> Priors:
        """Return the Dirichlet priors at a snapshot: learnt values if recorded, else the given ones.

        With seed words ``beta`` is a table (topic, word).
        """
        alphas = np.asarray(last["alpha"]) if "alpha" in last else self.alphas
        beta = float(last["beta"]) if "beta" in last else self.beta
        if not self.seed_words:
            return Priors(alphas, beta)
        if self.seeded is None:
            raise ModelError(
                Named("seed_words"), " need the words of a corpus: call for_data(corpus) first"
            )
        n_words, cells = self.seeded
        table = np.full((self.n_topics, n_words), beta)
        for cell in cells:
            table[cell] += self.seed_weight
        return Priors(alphas, table)

    @property
    def word_prior(self) -> float | np.ndarray:
        """Prior of words as the kernels take it; see `Priors.word_prior`."""
        return self.priors({}).word_prior

    def hyperparameters(self, options: object) -> dict[str, str]:
        """Return name → "fixed", "maximised" or "sampled" for alpha and beta."""
        return {name: getattr(options, f"learn_{name}", "fixed") for name in ("alpha", "beta")}

    def tiny(self, most: int = 9) -> Corpus:
        """Return two documents for compiling kernels, over as many words as the corpus that `for_data` was given, or two."""
        return tiny_bag(most, n_words=self.seeded[0] if self.seeded else None)

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


def _prior(name: str, value) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, numbers.Real)
        or not SMALLEST_PRIOR <= value < math.inf
    ):
        raise ModelError.must_be(
            name, f"a number greater than 0 (at least {SMALLEST_PRIOR:g})", value
        )
    if value > LARGEST_PRIOR:
        raise ModelError.must_be(
            name, f"at most {LARGEST_PRIOR:g}, or counts beside it are lost in rounding", value
        )
    return float(value)
