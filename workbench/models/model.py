"""The base classes of models, with defaults for everything that a run needs of a model.

Its priors turn counts into probabilities. Its estimates are arrays that are computed row by row when they are read. Its scores
of held-out data are recorded with the perplexities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import InputError
from workbench.models.variables import Variable


class Estimate:
    """A lazy array whose rows are computed from the same rows of other arrays, as theta from n_dk.

    Parameters
    ----------
    compute : function of rows of each of the arrays that returns these rows, (row, …) float64
    *arrays : (row, …)
        Counts, possibly on disk; they are read by slices or ascending row numbers.
    """

    def __init__(self, compute: Callable[..., np.ndarray], *arrays):
        self._compute, self.arrays = compute, arrays

    def rows(self, index: slice | np.ndarray) -> np.ndarray:
        """Return some rows (row, …) as float64, bitwise equal to those of the whole array."""
        return self._compute(*(np.asarray(values[index]) for values in self.arrays))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.rows(slice(None)).astype(dtype or np.float64, copy=False)


class Priors(NamedTuple):
    """Dirichlet priors of theta and phi: pseudo-counts that are added to counts before normalisation."""

    alphas: np.ndarray  # (topic,) prior of each topic in a document
    # prior of each word in a topic: one number, (word,), or (topic, word)
    beta: float | np.ndarray
    # prior of all topics together that have no counts (HDP)
    rest: float = 0.0
    # False: theta has no Dirichlet prior; alphas are the mean of theta over documents
    of_shares: bool = True

    @property
    def n_topics(self) -> int:
        """Number of topics in ``alphas``."""
        return len(self.alphas)

    def with_rest(self, n_kw: np.ndarray) -> tuple[Priors, np.ndarray]:
        """Return priors and counts n_kw with a further topic of prior mass ``rest`` and no tokens; unchanged if it is 0."""
        if not self.rest:
            return self, n_kw
        return Priors(np.append(self.alphas, self.rest), self.beta), np.vstack(
            [n_kw, np.zeros(n_kw.shape[1])]
        )

    def theta(self, n_dk: np.ndarray) -> np.ndarray:
        """Return the posterior mean of theta (document, topic); rows of an HDP lack the share of unused topics."""
        means = n_dk + self.alphas
        means /= means.sum(axis=1, keepdims=True) + self.rest
        return means

    def means(self, last) -> dict[str, Estimate]:
        """Return ``theta`` and ``phi``, posterior means given the counts ``n_dk`` and ``n_kw`` of a snapshot."""
        return {
            "theta": Estimate(self.theta, last["n_dk"]),
            "phi": Estimate(Priors.phi_of, last["n_kw"], self.beta)
            if np.ndim(self.beta) == 2
            else Estimate(self.phi, last["n_kw"]),
        }

    def phi(self, n_kw: np.ndarray) -> np.ndarray:
        """Return the posterior means of phi (topic, word)."""
        return self.phi_of(n_kw, self.beta)

    @staticmethod
    def phi_of(n_kw: np.ndarray, beta: float | np.ndarray) -> np.ndarray:
        """Return the posterior means of phi (topic, word), given the prior of the words in these topics."""
        means = n_kw + beta
        means /= means.sum(axis=1, keepdims=True)
        return means

    @property
    def word_prior(self) -> float | np.ndarray:
        """The prior of words as kernels of LDA take it: ``beta``, or, if that is a table, (word, topic) padded."""
        if np.ndim(self.beta) < 2:
            return self.beta
        from workbench.kernels.lda.word_prior import (
            padded_prior,  # numba; a completion must be quick
        )

        return padded_prior(self.beta)


class ModelError(InputError):
    """Raised for invalid hyperparameters, or an invalid description of a model."""


@dataclass(frozen=True)
class Model:
    """A probability model of data: subclasses are families of models, and fields are hyperparameters.

    A subclass is a frozen dataclass. It defines `recorded`, and overrides the other members where
    the defaults here do not fit.
    """

    data: ClassVar[type] = Corpus
    """Type of the data, `Corpus` or another."""
    course: ClassVar[bool] = True
    """Whether runs have iterations with recorded times and states; False for imported models."""
    takes: ClassVar[tuple[str, ...]] = ()
    """Names of the general settings of a run that the model uses, such as ``n_topics``."""
    live: ClassVar[tuple[str, ...]] = ()
    """Names in ``takes`` of the settings that can be turned while a run runs; for options see `option`."""
    scores: ClassVar[tuple[Scores, ...]] = ()
    """Scores of held-out data in addition to perplexities."""
    nonparametric: ClassVar[bool] = False
    """Whether the number of topics is inferred."""
    warm_starts: ClassVar[bool] = False
    """Whether a run can start from the counts of another run."""
    is_network: ClassVar[bool] = False
    """Whether the model is a network of mixture levels, which has several sizes."""
    whole_rows: ClassVar[bool] = False
    """Whether a test set must consist of whole rows, which have no counts in training."""

    @classmethod
    def of(cls, **settings) -> Self:
        """Return the model from the settings of a run."""
        return cls(**settings)

    def settings(self) -> dict:
        """Return the settings for a run's spec, without the options."""
        return {name: getattr(self, name) for name in self.takes}

    def live_value(self, name: str) -> float:
        """Return the value of a setting that can be turned during a run; of a prior with several values, the mean."""
        return float(np.mean(getattr(self, name)))

    def turned(self, **settings: float) -> Self:
        """Return the model with other values of some live settings."""
        return replace(self, **settings)

    @property
    def reads_columns(self) -> bool:
        """Whether the model reads the columns of the documents' table, which are then a part of what identifies a run."""
        return False

    @property
    def network_name(self) -> str:
        """Name of a network; empty for other models, which the engine's name identifies."""
        return ""

    @property
    def size_label(self) -> tuple[str, int] | None:
        """Symbol and value of the model's size in names of runs, such as ("K", 10); None if it has none."""
        return None

    def for_data(self, data: Any) -> Self:
        """Return the model with everything filled in that depends on the data; raise ModelError for unsuitable data."""
        return self

    def with_coords(self, coords: Mapping) -> Self:
        """Return the model with labels (e.g. authors) from the coordinates of a stored run."""
        return self

    def dims(self, data: Any = None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``data`` only of dimensions set by the model."""
        if data is None:
            return {}
        return {"word": data.n_words, "document": data.n_documents, "token": data.n_tokens}

    @property
    def document_dims(self) -> set[str]:
        """Names of the dimensions whose entries are single documents."""
        return {"document"}

    def coords(self, data: Any) -> dict[str, tuple]:
        """Return the coordinates of a run's Dataset: name → (labels, meaning[, dimension, if not the name])."""
        return bag_coords(data)

    def recorded(self, options: object) -> tuple[Variable, ...]:
        """Return the variables that a run records by iteration or snapshot, and those that `estimates` computes."""
        raise NotImplementedError

    def estimates(self, last: Mapping, data: Any) -> dict[str, Estimate | np.ndarray]:
        """Return name → estimate, such as theta and phi, computed from the arrays of the last snapshot."""
        return {}

    def hyperparameters(self, options: object) -> dict[str, str]:
        """Return name → "fixed", "maximised", "sampled" … for each hyperparameter."""
        return {}

    def how_learnt(self, name: str, options: object) -> str:
        """Return "fixed", "maximised", "sampled" … for a live setting."""
        return self.hyperparameters(options).get(name, "fixed")

    def describe(self) -> list[tuple[str, str]]:
        """Return (label, text) pairs for captions, in addition to the fields."""
        return []

    def check_options(self, options: object) -> None:
        """Raise ModelError for options of an engine that contradict the model."""

    def check_start(self, n_kw: np.ndarray, topics: np.ndarray | None) -> None:
        """Raise ModelError if the model cannot begin with counts n_kw (topic, word), or topics (token,), of another run."""

    def cautions(self, data) -> list[str]:
        """Return sentences on what the data tell too little about; they are printed before the run."""
        return []

    def tiny(self, most: int = 9):
        """Return a data set of two rows for compiling kernels; a ``most`` of 2 or more is its largest count."""
        return tiny_bag(most)


class TopicModel(Model):
    """A model with ``n_topics`` topics, which are distributions over words."""

    n_topics: int

    @property
    def size_label(self) -> tuple[str, int]:
        """Symbol and value of the model's size in names of runs."""
        return "K", self.n_topics

    def dims(self, data: Any = None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``data`` only of dimensions set by the model."""
        return super().dims(data) | {"topic": self.n_topics}

    def priors(self, last: Mapping) -> Priors:
        """Return the Dirichlet priors at a snapshot: learnt values if recorded, else the given ones."""
        raise NotImplementedError

    def estimates(self, last: Mapping, data: Any) -> dict[str, Estimate | np.ndarray]:
        """Return ``theta`` (document, topic) and ``phi`` (topic, word), posterior means given the counts of a snapshot."""
        return self.priors(last).means(last)


def bag_coords(corpus: Corpus) -> dict[str, tuple]:
    """Return the coordinates for words and documents of a corpus: name → (values, meaning[, dims]).

    For documents also labels and times ("" if missing), inputs, and positions in a sequence, if
    the corpus has them.
    """
    coords = {"word": (corpus.vocabulary, "word type"), "document": (corpus.titles, "document")}
    for name, values in (("label", corpus.labels), ("time", corpus.times)):
        if values is not None:
            values = ["" if value is None else value for value in values]
            coords[f"document_{name}"] = values, f"{name} of the document", "document"
    if corpus.inputs is not None:
        coords["inputs"] = corpus.inputs, "inputs of each document", "document", "input"
        coords["input"] = corpus.input_names, "name of the input"
    if corpus.sequence is not None:
        names, positions = zip(*corpus.sequence, strict=True)
        coords["sequence"] = names, "sequence that the document is of", "document"
        coords["position"] = np.array(positions), "its position there", "document"
    return coords


def tiny_bag(most: int = 9, **about) -> Corpus:
    """Return a corpus of two documents over two words, with counts 1, ``most`` (1 if that is 0) and 2."""
    return Corpus.from_pairs([0, 0, 1], [0, 1, 1], [1, most or 1, 2], **about)


class Predicted(NamedTuple):
    """Predictive probabilities of held-out data, averaged over iterations after burn-in.

    The first four are means over iterations after burn-in, as ``test_perplexity`` scores them; during burn-in, and if nothing
    is sampled, they are those of the state.
    """

    probability: np.ndarray  # (test pair,)
    # (group,) log probability of all held-out items of each group of the test set together
    log_of_groups: np.ndarray
    # (group,) the same for items whose word occurs in training; None: not needed
    log_of_seen: np.ndarray | None
    # (row with test pairs, word) distributions; None: the engine has no `predict_rows`
    words: np.ndarray | None
    state_probability: np.ndarray  # (test pair,) of the current state
    state_words: np.ndarray | None  # (row, word) of the current state


class Scores(NamedTuple):
    """A group of scores of held-out data that one function computes."""

    variables: tuple[Variable, ...]  # recorded at each iteration
    # (train, test, Predicted) -> name → score
    compute: Callable
    # whether it needs ``log_of_seen``, which exists only for corpora
    of_seen: bool = False


LOG_LIKELIHOOD = Variable(
    "test_log_likelihood",
    ("iteration",),
    "nats",
    "mean log probability of a held-out item: minus the log of the held-out perplexity",
    better="higher",
)
"""The score of models whose perplexity is reported in nats."""


def seen_in_training(train: Corpus, test: Corpus) -> np.ndarray:
    """Return whether the word of each held-out document-word pair occurs in training, (test pair,) bool."""
    return np.bincount(train.words, train.counts, train.n_words)[test.words] > 0
