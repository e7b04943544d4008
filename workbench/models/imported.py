"""Models of other programs: their theta and phi, unchanged."""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.corpus import Corpus
from workbench.models.lda import check_topics
from workbench.models.model import Estimate, ModelError, Priors, TopicModel
from workbench.models.variables import VARIABLES, Variable

THETA = Variable(
    "imported_theta",
    ("snapshot", "document", "topic"),
    "",
    "topic proportions of each document, as the other program gives them",
)
PHI = Variable(
    "imported_phi",
    ("snapshot", "topic", "word"),
    "",
    "word probabilities of each topic, as the other program gives them",
)


@dataclass(frozen=True)
class Imported(TopicModel):
    """A model fitted by another program: p(w|d) = sum_k theta_dk phi_kw with the theta and phi of that program.

    Parameters
    ----------
    n_topics : int
    program : str
        Name and version of the program.
    content : str
        `content_hash` of theta and phi, which distinguishes models of one program on one split.
    topic_prior : (topic,), optional
        Dirichlet prior of each topic in a document; None if theta has another prior, or an unknown one.
    word_prior : float, optional
        Dirichlet prior of each word in a topic; None if unknown.
    iterations : int, optional
        Iterations of the other program; None if unknown.

    Raises
    ------
    ModelError
    """

    course = False
    takes = ("model",)

    n_topics: int = 1
    program: str = ""
    content: str = ""
    topic_prior: tuple[float, ...] | None = None
    word_prior: float | None = None
    iterations: int | None = None

    def __post_init__(self):
        object.__setattr__(self, "n_topics", check_topics(self.n_topics))
        priors = self.topic_prior
        if priors is not None and (len(priors) != self.n_topics or not all(map(_is_prior, priors))):
            raise ModelError.must_be(
                "alpha",
                f"one number or one per topic ({self.n_topics}), each greater than 0",
                priors,
            )
        if self.word_prior is not None and not _is_prior(self.word_prior):
            raise ModelError.must_be("beta", "a number greater than 0", self.word_prior)

    @classmethod
    def of(cls, model: Imported | None = None) -> Imported:
        """Return ``model`` unchanged; raise ModelError if it is no imported model."""
        if not isinstance(model, cls):
            raise ModelError(
                "topics of other programs are imported, and never inferred here: workbench.import_run(model, "
                "like=RUN)"
            )
        return model

    def settings(self) -> dict:
        """Return the settings for a run's spec: all fields that are not None."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: theta, phi, and expected counts given them."""
        return *(VARIABLES[name] for name in ("n_k", "n_kw", "n_dk")), THETA, PHI

    def priors(self, last: Mapping) -> Priors:
        """Return the Dirichlet priors of the other program; an unknown alpha is replaced by the mean of theta."""
        is_known = self.topic_prior is not None
        alphas = (
            np.array(self.topic_prior) if is_known else np.asarray(last[THETA.name]).mean(axis=0)
        )
        return Priors(alphas, self.word_prior or 0.0, of_shares=is_known)

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, Estimate]:
        """Return ``theta`` (document, topic) and ``phi`` (topic, word), as they were imported."""
        return {
            "theta": Estimate(np.asarray, last[THETA.name]),
            "phi": Estimate(np.asarray, last[PHI.name]),
        }

    def describe(self) -> list[tuple[str, str]]:
        """Return (label, text) pairs for captions: the program, and its iterations if known."""
        iterations = (
            [("iterations there", f"{self.iterations:,}")] if self.iterations is not None else []
        )
        return [("imported from", self.program), *iterations]


def content_hash(theta: np.ndarray, phi: np.ndarray) -> str:
    """Return the sha256 (hex) of theta (document, topic) and phi (topic, word), float64."""
    digest = hashlib.sha256()
    for values in (theta, phi):
        digest.update(repr(values.shape).encode() + np.ascontiguousarray(values, "<f8").tobytes())
    return digest.hexdigest()


def _is_prior(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < value < math.inf
