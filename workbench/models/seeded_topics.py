"""Models whose words may have a prior of their own in each topic: seed words, a vector or a table of beta, zeros."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import Named
from workbench.models.model import ModelError, Priors, TopicModel, tiny_bag
from workbench.models.seed_words import (
    WEIGHT,
    cells_of_seeds,
    names_of_topics,
    seeds_text,
)
from workbench.models.word_priors import WordPrior, word_prior_of


class SeededTopics(TopicModel):
    """A topic model with ``beta`` as one number, (word,) or (topic, word), and ``seed_words``, which add to it.

    A subclass has the fields ``beta``, and where it takes seed words ``seed_words``, ``seed_weight`` and ``seeded``: the number
    of words and the (topic, word) of each seed word, once the corpus is known.
    """

    takes_zeros: ClassVar[bool] = True
    """Whether beta may be 0: the topic cannot have the word."""
    beta: float | WordPrior = 0.1
    seed_words: ClassVar[str]
    seed_weight: ClassVar[float]
    seeded: ClassVar[tuple[int, tuple[tuple[int, int], ...]] | None]

    def _check_beta(self) -> None:
        """Convert ``seed_words`` and ``beta`` to the types of the fields, in place; raise ModelError if they are invalid."""
        fix = object.__setattr__
        fix(self, "seed_words", seeds_text(self.seed_words))
        if not self.seed_words and self.seed_weight != WEIGHT:
            raise ModelError(
                Named("seed_weight"),
                " would be without effect: set ",
                Named("seed_words"),
                ", or leave it out",
            )
        fix(self, "beta", word_prior_of(self.beta, self.n_topics))

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
        model = super().for_data(data)._with_words(data.vocabulary)
        if not self.takes_zeros and np.any(model.word_priors(model.beta) == 0.0):
            raise ModelError(
                "beta must be above 0 for every topic and word in this model; got 0; take an engine of LDA for words that a "
                "topic cannot have"
            )
        return model

    @property
    def seeds(self) -> dict:
        """The fields of the seed words, for another model of the same topics."""
        return {name: getattr(self, name) for name in ("seed_words", "seed_weight", "seeded")}

    @property
    def exchangeable(self) -> bool:
        """Whether all topics have the same prior of words."""
        return not self.seed_words and np.size(getattr(self.beta, "shape", ())) < 2

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
        """Return the model with what the coordinates of a Dataset have: numbers of beta, and the words of the seeds."""
        return replace(super().with_coords(coords), **self._stored(coords))

    def _stored(self, coords: Mapping) -> dict:
        """Return field → value of what the coordinates of a Dataset have."""
        fields: dict = {}
        if "word_prior" in coords:
            fields["beta"] = WordPrior.of(np.ascontiguousarray(coords["word_prior"].values))
        if self.seed_words:
            words = coords["word"].values.tolist()
            fields["seeded"] = len(words), cells_of_seeds(self.seed_words, self.n_topics, words)
        return fields

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

    def word_priors(self, beta: float | WordPrior) -> float | np.ndarray:
        """Return the prior of words for a value of ``beta``: a number, or (topic, word) with that of the seed words."""
        if isinstance(beta, WordPrior):
            beta = np.broadcast_to(beta.values, (self.n_topics, beta.shape[-1]))
        if not self.seed_words:
            return beta
        if self.seeded is None:
            raise ModelError(
                Named("seed_words"), " need the words of a corpus: call for_data(corpus) first"
            )
        n_words, cells = self.seeded
        table = np.empty((self.n_topics, n_words))
        table[:] = beta
        for cell in cells:
            table[cell] += self.seed_weight
        return table

    @property
    def word_prior(self) -> float | np.ndarray:
        """Prior of words as the kernels take it; see `Priors.word_prior`."""
        return Priors(np.zeros(self.n_topics), self.word_priors(self.beta)).word_prior

    def tiny(self, most: int = 9) -> Corpus:
        """Return two documents for compiling kernels, over as many words as the corpus that `for_data` was given, or two."""
        return tiny_bag(most, n_words=self.seeded[0] if self.seeded else self._words_of_beta)
