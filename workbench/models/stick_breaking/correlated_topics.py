"""Correlated topics: those of a document are a Gaussian, broken off a stick or by softmax, so that they may go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from scipy.special import softmax

from workbench.corpus import Corpus
from workbench.errors import Named
from workbench.kernels.stick_breaking.logistic_normal import expected_theta
from workbench.kernels.stick_breaking.sticks import dirichlet_moments, probabilities
from workbench.models.lda import LDA
from workbench.models.model import Estimate, ModelError, Priors, TopicModel
from workbench.models.options import option
from workbench.models.stick_breaking.orders import Ordered, order_option, permutation
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
        """Raise ModelError if the prior is improper and there are too few documents for a proper posterior."""
        needed = len(self.mean) - 1 - self.nu
        if corpus.n_documents <= needed:
            raise ModelError(
                Named("prior", prior),
                f" is no distribution and needs more than {needed:g} documents for {len(self.mean)} "
                f"dimensions; there are {corpus.n_documents}; set ",
                Named("prior", "proper"),
            )


def prior_option():
    """Return the option for the prior of mu and Sigma."""
    return option(
        "proper",
        "prior of the mean and covariance of psi",
        choices=("proper", "paper"),
        label="Prior of psi",
    )


@dataclass(frozen=True)
class GaussianTopics(TopicModel):
    """Topics whose proportions in a document are a function of a Gaussian vector psi; phi_t ~ Dirichlet(beta, …, beta)."""

    warm_starts = True
    takes = ("n_topics", "beta")

    n_topics: int = 10
    beta: float = 0.1

    def __post_init__(self):
        checked = LDA(self.n_topics, beta=self.beta)
        object.__setattr__(self, "n_topics", checked.n_topics)
        object.__setattr__(self, "beta", checked.beta)

    @staticmethod
    def theta_of(psi: np.ndarray) -> np.ndarray:
        """Return the proportions (…, topic) that a psi stands for: by stick-breaking unless overridden."""
        return probabilities(psi)

    def priors(self, last: Mapping) -> Priors:
        """Return beta, and the mean of theta over documents as a pseudo-count: theta has no Dirichlet prior."""
        return Priors(
            self.theta_of(np.asarray(last["psi"])).mean(axis=0), self.beta, of_shares=False
        )

    def phi_of(self, n_kw: np.ndarray) -> np.ndarray:
        """Return the posterior means (topic, word) given counts of topics, which need no prior but beta."""
        return Priors(np.zeros(len(n_kw)), self.beta, of_shares=False).phi(n_kw)

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, Estimate | np.ndarray]:
        """Return ``theta`` of the last psi, and ``phi``, the posterior mean given counts."""
        return {
            "theta": Estimate(self.theta_of, last["psi"]),
            "phi": Estimate(self.phi_of, last["n_kw"]),
        }

    def hyperparameters(self, options) -> dict[str, str]:
        """Return that beta is fixed: the mean and covariance of psi are no numbers of a curve."""
        return {"beta": "fixed"}


class OrderedTopics(Ordered, GaussianTopics):
    """Gaussian topics on a stick, one stick for each topic but the last."""

    def __post_init__(self):
        super().__post_init__()
        if self.order not in ("size", "random"):
            object.__setattr__(self, "order", permutation(self.order))

    def for_data(self, corpus: Corpus) -> Self:
        """Return the model for a corpus; raise ModelError where the order is not one of its topics."""
        self.check_order(self.n_topics, "topics")
        return super().for_data(corpus)

    def dims(self, data=None) -> dict[str, int]:
        """Return the length of each dimension, those of the corpus too where it is given."""
        return super().dims(data) | {"stick": self.n_topics - 1, "other_stick": self.n_topics - 1}


@dataclass(frozen=True)
class CorrelatedTopics(OrderedTopics):
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

    prior: str = prior_option()
    order: str = order_option()
    order_seed: int = option(
        0, "seed of the random order of the stick", low=0, whole=True, label="Seed of the order"
    )

    @property
    def sticks_prior(self) -> NormalInverseWishart:
        """Prior of mu and Sigma."""
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
        """Return the model; raise ModelError if the order does not fit the topics or Sigma's posterior is improper."""
        super().for_data(corpus)
        self.sticks_prior.check_documents(self.prior, corpus)
        return self

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, and the sticks with their mean and covariance."""
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


@dataclass(frozen=True)
class LogisticNormalTopics(GaussianTopics):
    """Documents mix topics in proportions that are correlated; topics mix words.

    mu, Sigma ~ normal-inverse-Wishart; psi_d ~ N(mu, Sigma), one component for each topic; theta_d = softmax(psi_d);
    phi_t ~ Dirichlet(beta, …, beta); each token draws z ~ theta_d and w ~ phi_z. A number added to all components of a document
    changes nothing but their prior: look at theta, not at psi.

    Parameters
    ----------
    n_topics : int
    beta : float, default 0.1
        Dirichlet prior per word type (not its total).
    prior : "proper" or "paper"
        proper: mean 0 with the weight of 0.1 documents, nu = T + 2 and scale I, so that E Sigma = I. paper: mean 0 with the
        weight of 10, nu = T / 10 and scale T / 10 I, which is no distribution; refused while there are too few documents for
        the posterior to be one. Without meaning where mu and Sigma are maximised.

    Raises
    ------
    ModelError

    Blei & Lafferty (2006), sec. 2; Chen, Zhu, Wang, Zheng & Zhang (2013) for the prior.
    """

    prior: str = prior_option()

    theta_of = staticmethod(partial(softmax, axis=-1))

    @property
    def components_prior(self) -> NormalInverseWishart:
        """Prior of mu and Sigma."""
        n = self.n_topics
        if self.prior == "proper":
            return NormalInverseWishart(np.zeros(n), 0.1, n + 2.0, np.eye(n))
        return NormalInverseWishart(np.zeros(n), 10.0, 0.1 * n, 0.1 * n * np.eye(n))

    def for_data(self, corpus: Corpus) -> LogisticNormalTopics:
        """Return the model for a corpus; raise ModelError if the posterior of Sigma is improper."""
        self.components_prior.check_documents(self.prior, corpus)
        return self

    def dims(self, corpus: Corpus | None = None) -> dict[str, int]:
        """Return the length of each dimension, those of the corpus too if it is given."""
        return super().dims(corpus) | {
            "component": self.n_topics,
            "other_component": self.n_topics,
        }

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, and the components with their mean and covariance."""
        return (
            *(VARIABLES[name] for name in ("n_k", "n_kw", "n_dk")),
            Variable(
                "psi",
                ("snapshot", "document", "component"),
                "",
                "components of each document: psi of theta = softmax(psi), as drawn, or the mean of their posterior q",
            ),
            Variable(
                "psi_mean",
                ("snapshot", "component"),
                "",
                "mean of the components over documents (mu)",
            ),
            Variable(
                "psi_covariance",
                ("snapshot", "component", "other_component"),
                "",
                "covariance of the components over documents (Sigma); of components, not of shares",
            ),
        )

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, Estimate]:
        """Return ``theta`` (document, topic) of the last components, or its mean under q; ``phi`` (topic, word) given counts"""
        expected = (
            {"theta": Estimate(expected_theta, last["psi"], last["psi_variance"])}
            if "psi_variance" in last
            else {}
        )
        return super().estimates(last, corpus) | expected
