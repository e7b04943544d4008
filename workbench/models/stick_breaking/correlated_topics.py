"""Correlated topics: the topics of a document are a Gaussian, broken off a stick, so that topics may go together or apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import Got, Named
from workbench.kernels.stick_breaking.sticks import dirichlet_moments, probabilities
from workbench.models.estimate import Estimate
from workbench.models.lda import LDA, ModelError
from workbench.models.options import OptionError, option
from workbench.models.priors import Priors
from workbench.models.variables import VARIABLES, Variable

WEIGHT = 0.1
"""kappa_0: documents that the prior of the mean counts as."""


class NormalInverseWishart(NamedTuple):
    """Sigma ~ IW(nu, scale), mu | Sigma ~ N(mean, Sigma / kappa)."""

    mean: np.ndarray  # (dim,), of sticks or components
    kappa: float
    nu: float
    scale: np.ndarray  # (dim, dim)

    def check_documents(self, prior: str, corpus: Corpus) -> None:
        """Raises ModelError where it is no distribution, and too few documents are there for the posterior to be one."""
        needed = len(self.mean) - 1 - self.nu
        if corpus.n_documents <= needed:
            raise ModelError(
                Named("prior", prior),
                f" is no distribution and needs more than {needed:g} documents for {len(self.mean)} "
                f"dimensions; there are {corpus.n_documents}; set ",
                Named("prior", "proper"),
            )


def prior_option():
    """The field for the prior of mu and Sigma."""
    return option("proper", "prior of the mean and covariance of psi", choices=("proper", "paper"))


def check_topics(model) -> None:
    """Gives a model its number of topics and its beta in their own types; raises ModelError where `LDA` would."""
    checked = LDA(model.n_topics, beta=model.beta)
    object.__setattr__(model, "n_topics", checked.n_topics)
    object.__setattr__(model, "beta", checked.beta)


def permutation(order, of: str = "topics", named: str = "size, random") -> str:
    """Places 0, 1, …, each once, as text with commas: of a list of numbers, or of a text with commas, blanks or hyphens.

    of, named : what the places are of, and the orders that have a name, for the sentence.

    Raises OptionError.
    """
    text = (
        order
        if isinstance(order, str)
        else ",".join(map(str, order))
        if isinstance(order, (list, tuple))
        else ""
    )
    places = re.split(r"[\s,-]+", text.strip())
    if sorted(places) != sorted(map(str, range(len(places)))):
        raise OptionError(
            Named("order", text="option 'order'"),
            f" must be {named}, or each place 0, 1, … of the {of} once, as 2,0,1",
            Got(order),
            value=order,
        )
    return ",".join(places)


def order_option():
    """The field for the order of the topics on the stick."""
    return option(
        "size",
        "order of the topics on the stick: largest first, at random, or (2,0,1) by their places in order of size",
        choices=("size", "random"),
        otherwise=permutation,
    )


def word_order_option():
    """The field for the order of the words on the stick, of models without topics."""
    return option(
        "size",
        "order of the words on the stick: most frequent first (words that training lacks come last, and get least), as "
        "in the vocabulary, at random, or (2,0,1) by their places in order of size",
        choices=("size", "vocabulary", "random"),
        otherwise=permutation_of_words,
    )


def permutation_of_words(order) -> str:
    """The same as `permutation`, of the words of a corpus."""
    return permutation(order, of="words", named="size, vocabulary, random")


@dataclass(frozen=True)
class CorrelatedTopics:
    """Documents mix topics in proportions that are correlated; topics mix words.

    mu, Sigma ~ normal-inverse-Wishart; psi_d ~ N(mu, Sigma), one stick for each topic but the last;
    theta_d = pi(psi_d) by stick-breaking; phi_t ~ Dirichlet(beta, …, beta); each token draws z ~ theta_d and w ~ phi_z.

    Parameters
    ----------
    n_topics : int
    beta : float, default 0.1
        Dirichlet prior per word type (not its total).
    prior : "proper" or "paper"
        proper: the mean and variances of sticks under theta ~ Dirichlet(1), nu = T + 1. paper: those under Dirichlet(2) times
        T / 10, nu = T / 10, which is no distribution; refused while there are too few documents for the posterior to be one.
    order : "size", "random", or a permutation of the T topics as text
        Which topic comes first on the stick: the largest, one drawn at random, or that of the given place in order of size,
        as "2,0,1" for the third largest, the largest, the second largest; parted by commas, blanks or hyphens. It changes
        the prior and how fast the sampler mixes, so it is part of the run.
    order_seed : int
        Of the random order.

    Raises
    ------
    ModelError

    Linderman, Johnson & Adams (2015), sec. 3.
    """

    data = Corpus
    nonparametric = False
    warm_starts = True
    takes = ("n_topics", "beta")

    n_topics: int = 10
    beta: float = 0.1
    prior: str = prior_option()
    order: str = order_option()
    order_seed: int = option(0, "seed of the random order", low=0, whole=True)

    def __post_init__(self):
        check_topics(self)
        if self.order not in ("size", "random"):
            object.__setattr__(self, "order", permutation(self.order))

    @classmethod
    def of(cls, **given) -> CorrelatedTopics:
        """The model with these settings of a run; prior and order are options."""
        return cls(**given)

    settings, size_label = LDA.settings, LDA.size_label
    with_coords, coords, describe, tiny = LDA.with_coords, LDA.coords, LDA.describe, LDA.tiny
    theta_of = staticmethod(probabilities)

    @property
    def places(self) -> np.ndarray | None:
        """(topic,) of a given order: the place in order of size of the topic that comes first, second, …; None without one."""
        return (
            None if self.order in ("size", "random") else np.array(self.order.split(","), dtype=int)
        )

    def check_order(self) -> None:
        """Raises ModelError for a given order that is not one of so many topics, and for the seed of one that is not random."""
        if self.order_seed and self.order != "random":
            raise ModelError(
                Named("order_seed", self.order_seed),
                " is without effect while ",
                Named("order", self.order),
                "; set ",
                Named("order", "random"),
                ", or leave out ",
                Named("order_seed"),
            )
        if self.places is not None and len(self.places) != self.n_topics:
            raise ModelError(
                Named("order", self.order),
                f" has {len(self.places)} places, and there are {self.n_topics} topics; "
                f"give each of 0 to {self.n_topics - 1} once",
            )

    @property
    def sticks_prior(self) -> NormalInverseWishart:
        """The prior of mu and Sigma."""
        n_sticks = self.n_topics - 1
        mean, variance = dirichlet_moments(
            np.full(self.n_topics, 1.0 if self.prior == "proper" else 2.0)
        )
        if self.prior == "proper":
            return NormalInverseWishart(mean, WEIGHT, n_sticks + 2.0, np.diag(variance))
        return NormalInverseWishart(
            mean, WEIGHT, 0.1 * self.n_topics, np.diag(0.1 * self.n_topics * variance)
        )

    def for_data(self, corpus: Corpus) -> CorrelatedTopics:
        """The model for a corpus: the same, where the order is of its topics and the posterior of Sigma is a distribution."""
        self.check_order()
        self.sticks_prior.check_documents(self.prior, corpus)
        return self

    def dims(self, corpus: Corpus | None = None) -> dict[str, int]:
        """Dim → length, those of the corpus too where it is given."""
        return LDA.dims(self, corpus) | {
            "stick": self.n_topics - 1,
            "other_stick": self.n_topics - 1,
        }

    def recorded(self, options) -> tuple[Variable, ...]:
        """The variables that a run records: counts, and the sticks with their mean and covariance."""
        return (
            *(VARIABLES[name] for name in ("n_k", "n_kw", "n_dk")),
            Variable(
                "psi",
                ("snapshot", "document", "stick"),
                "",
                "sticks of each document: psi of theta = pi(psi), as drawn, or E[psi]",
            ),
            Variable(
                "psi_mean",
                ("snapshot", "stick"),
                "",
                "mean of the sticks over documents: mu as drawn, or E[mu]",
            ),
            Variable(
                "psi_covariance",
                ("snapshot", "stick", "other_stick"),
                "",
                "covariance of the sticks, not the topics, over documents: Sigma as drawn, or the inverse of E[Sigma^-1]",
            ),
        )

    def priors(self, last: Mapping, corpus: Corpus | None = None) -> Priors:
        """beta, and the mean of theta over documents as a pseudo-count of each topic: theta itself has no Dirichlet prior."""
        return Priors(
            self.theta_of(np.asarray(last["psi"])).mean(axis=0), self.beta, of_shares=False
        )

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, Estimate]:
        """``theta`` (document, topic) of the last sticks; ``phi`` (topic, word), the posterior mean given counts."""
        return {
            "theta": Estimate(self.theta_of, last["psi"]),
            "phi": Estimate(self.phi_of, last["n_kw"]),
        }

    def phi_of(self, n_kw: np.ndarray) -> np.ndarray:
        """(topic, word) posterior means given counts of topics, which need no prior but beta."""
        return Priors(np.zeros(len(n_kw)), self.beta, of_shares=False).phi(n_kw)

    def hyperparameters(self, options) -> dict[str, str]:
        """beta is fixed; the mean and covariance of the sticks are no numbers of a curve."""
        return {"beta": "fixed"}
