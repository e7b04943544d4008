"""The base class of models: all that a run asks of a model, with the answers of one that has nothing special."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import InputError
from workbench.models.estimate import Estimate
from workbench.models.priors import Priors
from workbench.models.scores import Scores
from workbench.models.variables import Variable


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
