"""The base class of models: all that a run asks of a model, with the answers of one that has nothing special.

Its priors turn counts into probabilities. Its estimates are arrays that are computed row by row when they are read. Its scores
of held-out data are recorded with the perplexities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import InputError
from workbench.models.variables import Variable


class Estimate:
    """An array whose rows are computed from the same rows of others, as theta from n_dk; `numpy.asarray` gives all.

    Parameters
    ----------
    compute : (row, …) float64 of the same rows of each of the arrays
    *arrays : (row, …)
        Counts, which may lie on a disk: read by slices or numbers of rows, ascending.
    """

    def __init__(self, compute: Callable[..., np.ndarray], *arrays):
        self._compute, self.arrays = compute, arrays

    def rows(self, wanted: slice | np.ndarray) -> np.ndarray:
        """Return these rows alone (row, …) float64, with the bits that they have among all rows."""
        return self._compute(*(np.asarray(values[wanted]) for values in self.arrays))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.rows(slice(None)).astype(dtype or np.float64, copy=False)


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


class ModelError(InputError):
    """Hyperparameters that a model cannot have, or a description of none."""


@dataclass(frozen=True)
class Model:
    """Assumptions about data: a subclass is a family, and its fields are the hyperparameters.

    A subclass is a frozen dataclass. It defines `recorded`, and of the other members those in
    which it differs from the defaults here.
    """

    data: ClassVar[type] = Corpus
    """The data type."""
    course: ClassVar[bool] = True
    """Whether a run goes through iterations here, so that its times and intermediate states are known."""
    takes: ClassVar[tuple[str, ...]] = ()
    """The general settings of a run that the model has, as ``n_topics``."""
    scores: ClassVar[tuple[Scores, ...]] = ()
    """Scores of held-out data, beside the perplexities."""
    nonparametric: ClassVar[bool] = False
    """Whether the number of topics is inferred."""
    warm_starts: ClassVar[bool] = False
    """Whether a run can start from the counts of another run."""
    is_network: ClassVar[bool] = False
    """Whether it is a network of mixture levels, whose sizes are several numbers."""
    whole_rows: ClassVar[bool] = False
    """Whether a test set must consist of whole rows, none of which has counts in training."""

    @classmethod
    def of(cls, **settings) -> Self:
        """Return the model with these settings of a run."""
        return cls(**settings)

    def settings(self) -> dict:
        """Return what the spec of a run stores of the model, beside its options."""
        return {name: getattr(self, name) for name in self.takes}

    @property
    def network_name(self) -> str:
        """The name of a network; empty where the name of an engine says which model it is."""
        return ""

    @property
    def size_label(self) -> tuple[str, int] | None:
        """Symbol and value of the size in the name of a run, as ("K", 10); None without one."""
        return None

    def for_data(self, data) -> Self:
        """Return the model with what only the data tell; raise ModelError where they do not fit."""
        return self

    def with_coords(self, coords) -> Self:
        """Return the model with the labels in the coordinates of a stored run."""
        return self

    def dims(self, data=None) -> dict[str, int]:
        """Return the length of each dimension, those of the data too where data are given."""
        if data is None:
            return {}
        return {"word": data.n_words, "document": data.n_documents, "token": data.n_tokens}

    @property
    def document_dims(self) -> set[str]:
        """The dimensions of what is known of a document, and nothing of other documents."""
        return {"document"}

    def coords(self, data) -> dict[str, tuple]:
        """Return name → (labels, meaning, dimensions unless it is the name), as of documents and words."""
        return bag_coords(data)

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the arrays of each iteration and snapshot, and those that `estimates` computes."""
        raise NotImplementedError

    def estimates(self, last: Mapping, data) -> dict[str, Estimate | np.ndarray]:
        """Return what is estimated from the arrays of the last snapshot, by name."""
        return {}

    def hyperparameters(self, options) -> dict[str, str]:
        """Return how each hyperparameter is treated: name → "fixed", "maximised", "sampled" …."""
        return {}

    def describe(self) -> list[tuple[str, str]]:
        """Return (label, text) pairs for captions, beside the fields."""
        return []

    def tiny(self, most: int = 9):
        """Return two rows of data to compile kernels with; ``most`` is the largest count."""
        return tiny_bag(most)


class TopicModel(Model):
    """A model with ``n_topics`` topics, which are distributions over words."""

    n_topics: int

    @property
    def size_label(self) -> tuple[str, int]:
        """Symbol and value of the size in the name of a run."""
        return "K", self.n_topics

    def dims(self, data=None) -> dict[str, int]:
        """Return the length of each dimension, those of the corpus too where it is given."""
        return super().dims(data) | {"topic": self.n_topics}

    def priors(self, last: Mapping) -> Priors:
        """Return the priors behind the counts of a snapshot: as learnt by then, or as given."""
        raise NotImplementedError

    def estimates(self, last: Mapping, data) -> dict[str, Estimate | np.ndarray]:
        """Return ``theta`` (document, topic) and ``phi`` (topic, word), posterior means given counts."""
        return self.priors(last).means(last)


def bag_coords(corpus: Corpus) -> dict[str, tuple]:
    """Return the labels of the words and documents of a corpus, each with its meaning.

    Of documents also labels and times ("" where there is none), inputs, and positions in a
    sequence, as far as they are known.
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
    """Return a corpus of two documents over two words; ``most`` is the largest count."""
    return Corpus.from_pairs([0, 0, 1], [0, 1, 1], [1, most or 1, 2], **about)


class Predicted(NamedTuple):
    """Probabilities of held-out data.

    The first three are those that ``test_perplexity`` scores: of the state until burn-in is over and where nothing is
    sampled, else their mean over the iterations since.
    """

    probability: np.ndarray  # (test pair,)
    # (group,) log probability of all held-out items of each group of the test set together
    log_of_groups: np.ndarray
    # (group,) the same of items whose word has a training item; None: nothing asks for it
    log_of_seen: np.ndarray | None
    # (row with test pairs, word) distributions; None: the engine has no `predict_rows`
    words: np.ndarray | None
    state_probability: np.ndarray  # (test pair,) of the state alone
    state_words: np.ndarray | None  # (row, word) of the state alone


class Scores(NamedTuple):
    """Some scores that are computed together."""

    variables: tuple[Variable, ...]  # numbers of each iteration, with ``better``
    # (train, test, Predicted) -> the number of each of them, by name
    compute: Callable
    # is it computed from ``log_of_seen``, which corpora have alone?
    of_seen: bool = False


LOG_LIKELIHOOD = Variable(
    "test_log_likelihood",
    ("iteration",),
    "nats",
    "mean log probability of a held-out item: minus the log of the held-out perplexity",
    better="higher",
)
"""The score of families whose perplexities are reported in nats."""


def seen_in_training(train: Corpus, test: Corpus) -> np.ndarray:
    """Return whether the word of each test pair has a training item (test pair,)."""
    return np.bincount(train.words, train.counts, train.n_words)[test.words] > 0
