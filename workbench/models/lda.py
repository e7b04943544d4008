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
from workbench.models.word_priors import WordPrior, checked_prior, word_prior_of

MOST_TOPICS = 65_535


@dataclass(frozen=True)
class LDA(TopicModel):
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
            fix(self, "alpha", checked_prior("alpha", self.alpha))
        else:
            fix(self, "alpha", tuple(checked_prior("alpha", value) for value in self.alpha))
            if len(self.alpha) != self.n_topics:
                requirement = f" must be one number or one per topic ({self.n_topics}); got {len(self.alpha)} numbers"
                raise ModelError(Named("alpha"), requirement, value=self.alpha)
        fix(self, "beta", word_prior_of(self.beta, self.n_topics))

    @property
    def alphas(self) -> np.ndarray:
        """Prior of each topic in a document, (topic,)."""
        return np.full(self.n_topics, self.alpha, float)

    def for_data(self, data: Corpus) -> Self:
        """Return the model with the numbers of its seed words.

        Raises
        ------
        ModelError
            For a seed word that the corpus lacks or that beta forbids, or a beta for another number of words.
        """
        n_words = self._words_of_beta
        if n_words not in (None, data.n_words):
            raise ModelError(
                f"beta must have a number for each of the {data.n_words:,} words of the corpus; got numbers for {n_words:,}"
            )
        return self._with_words(data.vocabulary)

    @property
    def has_table(self) -> bool:
        """Whether some words have another prior than others."""
        return bool(self.seed_words) or isinstance(self.beta, WordPrior)

    @property
    def _words_of_beta(self) -> int | None:
        """The number of words that beta has numbers for; None if it is one for all."""
        return self.beta.shape[-1] if isinstance(self.beta, WordPrior) else None

    def _with_words(self, vocabulary: Sequence[str]) -> Self:
        if not self.seed_words:
            return self
        cells = cells_of_seeds(self.seed_words, self.n_topics, vocabulary)
        if isinstance(self.beta, WordPrior):
            given = np.broadcast_to(self.beta.values, (self.n_topics, len(vocabulary)))
            for k, w in cells:
                if given[k, w] == 0.0:
                    raise ModelError(
                        Named("seed_words"),
                        f" has '{vocabulary[w]}' for topic {k}, where beta is 0; leave one of them out",
                    )
        return replace(self, seeded=(len(vocabulary), cells))

    def with_coords(self, coords: Mapping) -> Self:
        """Return the model with what the coordinates of a Dataset have: numbers of beta, words, and priors of edited topics."""
        changes: dict = {}
        if "word_prior" in coords:
            changes["beta"] = WordPrior.of(np.ascontiguousarray(coords["word_prior"].values))
        if "prior" in coords:
            alphas = tuple(coords["prior"].values.tolist())
            changes |= {"n_topics": len(alphas), "alpha": alphas}
        if self.seed_words:
            words = coords["word"].values.tolist()
            cells = cells_of_seeds(self.seed_words, self.n_topics, words)
            if "prior" in coords:
                numbers = coords["topic"].values.tolist()
                cells = tuple((numbers.index(k), w) for k, w in cells if k in numbers)
            changes["seeded"] = len(words), cells
        return replace(self, **changes)

    def coords(self, data: Corpus) -> dict[str, tuple]:
        """Return the coordinates of a run's Dataset, with the names that seed words give to topics as their labels."""
        names = names_of_topics(self.seed_words, self.n_topics)
        labels = {"topic_label": (names, "label of the topic", "topic")} if any(names) else {}
        if isinstance(self.beta, WordPrior):
            dims = ("topic", "word")[-len(self.beta.shape) :]
            labels["word_prior"] = self.beta.values, "prior of the word in the topic, beta", *dims
        return super().coords(data) | labels

    def live_value(self, name: str) -> float:
        """Return the value of a setting that can be turned during a run, the mean of several; NaN for a beta that cannot."""
        given = name == "beta" and isinstance(self.beta, WordPrior)
        return math.nan if given else super().live_value(name)

    def turned(self, **settings: float) -> Self:
        """Return the model with other values of alpha or beta; raise ModelError for a beta of several numbers."""
        if "beta" in settings and isinstance(self.beta, WordPrior):
            raise ModelError(
                f"beta of this run is {self.beta} and is not turned; fit another run with one number"
            )
        return super().turned(**settings)

    def check_start(self, n_kw: np.ndarray, topics: np.ndarray | None) -> None:
        """Raise ModelError if counts n_kw (topic, word) of another run, or topics of its tokens, suit no zeros in beta."""
        if not isinstance(self.beta, WordPrior) or (zeros := self.beta.values == 0.0).sum() == 0:
            return
        if n_kw[zeros].any() or (topics is not None and (topics < 0).any()):
            raise ModelError(
                "the run to start from has tokens in topics where beta is 0 for their words, or in topics beyond ",
                Named("n_topics"),
                "; leave start out, or take a beta above 0 there",
            )

    def check_options(self, options: object) -> None:
        """Raise ModelError if beta is to be learnt although words have priors of their own, or zeros are in a mode."""
        if isinstance(self.beta, WordPrior):
            if getattr(options, "learn_beta", "fixed") != "fixed":
                raise ModelError(
                    Named("learn_beta", options.learn_beta),
                    f" learns one number for all words, and beta is {self.beta}; leave one of them out",
                )
            if getattr(options, "topics", "full") == "point" and not self.beta.values.all():
                raise ModelError(
                    Named("topics", "point"),
                    " adds 1 to beta, so that a word with beta 0 would be possible; take ",
                    Named("topics", "full"),
                )
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

        Where words have priors of their own ``beta`` is a table (topic, word).
        """
        alphas = np.asarray(last["alpha"]) if "alpha" in last else self.alphas
        beta = float(last["beta"]) if "beta" in last else self.beta
        if isinstance(beta, WordPrior):
            beta = np.broadcast_to(beta.values, (self.n_topics, beta.shape[-1]))
        if not self.seed_words:
            return Priors(alphas, beta)
        if self.seeded is None:
            raise ModelError(
                Named("seed_words"), " need the words of a corpus: call for_data(corpus) first"
            )
        n_words, cells = self.seeded
        table = np.empty((self.n_topics, n_words))
        table[:] = beta
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
        return tiny_bag(most, n_words=self.seeded[0] if self.seeded else self._words_of_beta)

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
