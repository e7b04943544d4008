"""Correlated topics: theta of a document is stick-breaking or softmax of a Gaussian vector psi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import softmax

from workbench.corpus import Corpus
from workbench.corpus.formulas import Design
from workbench.errors import Named
from workbench.kernels.stick_breaking.logistic_normal import expected_theta
from workbench.kernels.stick_breaking.sticks import dirichlet_moments, probabilities
from workbench.models.lda import check_topics
from workbench.models.model import Estimate, ModelError, Priors, TopicModel
from workbench.models.options import option
from workbench.models.prevalence import ByColumns, prevalence_option
from workbench.models.seed_words import seed_weight_option, seed_words_option
from workbench.models.seeded_topics import SeededTopics
from workbench.models.stick_breaking.orders import Ordered, order_option, permutation
from workbench.models.variables import VARIABLES, Variable
from workbench.models.word_priors import WordPrior, checked_prior

WEIGHT = 0.1
"""kappa_0: weight of the prior of mu, in documents."""


class NormalInverseWishart(NamedTuple):
    """A normal-inverse-Wishart distribution: Sigma ~ IW(nu, scale), mu | Sigma ~ N(mean, Sigma / kappa)."""

    mean: np.ndarray  # (dim,): a dim is a stick or a component
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
    """Return the option ``prior``: the prior of mu and Sigma."""
    return option(
        "proper",
        "prior of the mean and covariance of psi",
        choices=("proper", "paper"),
        label="Prior of psi",
    )


class Regression(NamedTuple):
    """A matrix-normal-inverse-Wishart distribution: Sigma ~ IW(nu, scale), Gamma | Sigma ~ MN(mean, Sigma, precision^-1)."""

    mean: np.ndarray  # (stick, term)
    precision: np.ndarray  # (term, term)
    nu: float
    scale: np.ndarray  # (stick, stick)


@dataclass(frozen=True)
class GaussianTopics(TopicModel):
    """Base class of topic models in which theta is a function of a Gaussian vector psi; phi_t ~ Dirichlet(beta, …, beta)."""

    warm_starts = True
    takes = ("n_topics", "beta")
    live = ("beta",)

    exchangeable: ClassVar[bool] = True
    seeds: ClassVar[dict] = {}

    n_topics: int = 10
    beta: float | WordPrior = 0.1

    def __post_init__(self):
        object.__setattr__(self, "n_topics", check_topics(self.n_topics))
        self._check_beta()

    def _check_beta(self) -> None:
        object.__setattr__(self, "beta", checked_prior("beta", self.beta))

    def word_priors(self, beta: float) -> float | np.ndarray:
        """Return the prior of words for a value of ``beta``; see `SeededTopics`."""
        return beta

    @property
    def word_prior(self) -> float | np.ndarray:
        """Prior of words as the kernels take it."""
        return self.beta

    @staticmethod
    def theta_of(psi: np.ndarray) -> np.ndarray:
        """Return theta (…, topic) from psi, by stick-breaking unless overridden."""
        return probabilities(psi)

    def priors(self, last: Mapping) -> Priors:
        """Return beta as prior of phi and, since theta has no Dirichlet prior, the mean of theta as alphas."""
        alphas = self.theta_of(np.asarray(last["psi"])).mean(axis=0)
        return Priors(alphas, self.word_priors(self.beta), of_shares=False)

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, Estimate | np.ndarray]:
        """Return ``theta`` at the last psi, and the posterior mean of ``phi`` given the last counts."""
        of_words = Priors(np.zeros(self.n_topics), self.word_priors(self.beta), of_shares=False)
        return of_words.means(last) | {"theta": Estimate(self.theta_of, last["psi"])}

    def hyperparameters(self, options) -> dict[str, str]:
        """Return {"beta": "fixed"}; the mean and covariance of psi are not listed."""
        return {"beta": "fixed"}


class OrderedTopics(Ordered, GaussianTopics):
    """Base class of topic models with stick-breaking, where topics have an order and all but the last a stick."""

    def __post_init__(self):
        super().__post_init__()
        if self.order not in ("size", "random"):
            object.__setattr__(self, "order", permutation(self.order))

    def for_data(self, corpus: Corpus) -> Self:
        """Return the model itself; raise ModelError if its order is no permutation of the topics."""
        self.check_order(self.n_topics, "topics")
        return super().for_data(corpus)

    def dims(self, data=None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``data`` only of dimensions set by the model."""
        return super().dims(data) | {"stick": self.n_topics - 1, "other_stick": self.n_topics - 1}


@dataclass(frozen=True)
class CorrelatedTopics(SeededTopics, ByColumns, OrderedTopics):
    """The correlated topic model with stick-breaking: theta of a document is a function of correlated Gaussian sticks.

    mu, Sigma ~ normal-inverse-Wishart; psi_d ~ N(mu, Sigma), one stick for each topic but the last;
    theta_d = pi(psi_d) by stick-breaking; phi_t ~ Dirichlet(beta, …, beta); each token draws z ~ theta_d and w ~ phi_z.

    With ``prevalence``, psi_d ~ N(Gamma x_d, Sigma), where x_d are the terms of the formula in document d, the first of them
    an intercept. The prior is that of mu for the mean of psi in a document with average terms, and N(0, Sigma / kappa) for the
    change of psi by one standard deviation of each other term, kappa being the weight of the prior of mu. With ``~ 1`` the
    model is the one without a formula.

    Parameters
    ----------
    n_topics : int
    beta : float, (word,) or (topic, word), default 0.1
        Dirichlet prior per word type (not its total), above 0.
    prior : "proper" or "paper"
        proper: the mean and variances of sticks under theta ~ Dirichlet(1), nu = T + 1. paper: those under Dirichlet(2) times
        T / 10, nu = T / 10, an improper prior; an error if there are too few documents for a proper posterior.
    order : "size", "random", or a permutation of the T topics as text
        Order of the topics on the stick: largest first, random, or ranks by size, such as "2,0,1" for the third largest, the
        largest and the second largest, separated by commas, blanks or hyphens. It changes the prior and how fast the sampler
        mixes.
    order_seed : int
        Seed of the random order.
    prevalence : str
        Formula as in R, such as ``~ party * bs(year, df=3)``, of the columns of the documents: label, time, year, inputs, and
        the columns of the corpus's table. Columns of texts are factors.
    design : Design, optional
        The terms of the formula in each document, which `for_data` fills in.
    seed_words, seed_weight
        As in `LDA`. Topics then keep their numbers on the stick, whatever their order by size.

    Raises
    ------
    ModelError

    Linderman, Johnson & Adams (2015), sec. 3; Roberts, Stewart & Airoldi (2016), for covariates of prevalence.
    """

    prior: str = prior_option()
    order: str = order_option()
    order_seed: int = option(
        0, "seed of the random order of the stick", low=0, whole=True, label="Seed of the order"
    )
    prevalence: str = prevalence_option("the mean of psi")
    design: Design | None = field(default=None, repr=False, compare=False)
    seed_words: str = seed_words_option()
    seed_weight: float = seed_weight_option()
    seeded: tuple[int, tuple[tuple[int, int], ...]] | None = None

    takes_zeros = False

    @property
    def psi_prior(self) -> NormalInverseWishart:
        """Prior of mu and Sigma, a normal-inverse-Wishart."""
        n_sticks = self.n_topics - 1
        mean, variance = dirichlet_moments(
            np.full(self.n_topics, 1.0 if self.prior == "proper" else 2.0)
        )
        if self.prior == "proper":
            return NormalInverseWishart(mean, WEIGHT, n_sticks + 2.0, np.diag(variance))
        return NormalInverseWishart(
            mean, WEIGHT, 0.1 * self.n_topics, np.diag(0.1 * self.n_topics * variance)
        )

    @property
    def regression_prior(self) -> Regression:
        """Prior of Gamma, by standard terms (see `Design.standard`), and Sigma: that of mu for the intercept."""
        mean, kappa, nu, scale = self.psi_prior
        n_terms = len(self.design.terms)
        means = np.zeros((len(mean), n_terms))
        means[:, 0] = mean
        return Regression(means, kappa * np.eye(n_terms), nu, scale)

    def for_data(self, corpus: Corpus) -> CorrelatedTopics:
        """Return the model with the terms of its formula in each document.

        Raises ModelError for an invalid order, an improper posterior of Sigma, or a formula that the documents do not suit.
        """
        model = super().for_data(corpus)
        self.psi_prior.check_documents(self.prior, corpus)
        return model.with_terms(corpus)

    def shares_at(self, last: Mapping, terms: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """Return theta (draw, topic) of documents with terms x (draw, term), from standard normal numbers (draw, stick)."""
        noise = normal @ np.linalg.cholesky(np.asarray(last["psi_covariance"])).T
        return self.theta_of(terms @ np.asarray(last["gamma"]).T + noise)

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, sticks, mu and Sigma."""
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
            *[
                Variable(
                    "gamma",
                    ("snapshot", "stick", "term"),
                    "",
                    "change of a stick's mean by one unit of a term of the formula of prevalence: Gamma as drawn, or E[Gamma]",
                )
            ][: self.reads_columns],
        )


@dataclass(frozen=True)
class LogisticNormalTopics(SeededTopics, GaussianTopics):
    """The correlated topic model with softmax: theta of a document is the softmax of correlated Gaussian components.

    mu, Sigma ~ normal-inverse-Wishart; psi_d ~ N(mu, Sigma), one component for each topic; theta_d = softmax(psi_d);
    phi_t ~ Dirichlet(beta, …, beta); each token draws z ~ theta_d and w ~ phi_z. Adding a constant to all components of a
    document does not change theta; interpret theta, not psi.

    Parameters
    ----------
    n_topics : int
    beta : float, (word,) or (topic, word), default 0.1
        Dirichlet prior per word type (not its total), above 0.
    prior : "proper" or "paper"
        proper: mean 0 with the weight of 0.1 documents, nu = T + 2 and scale I, so that E Sigma = I. paper: mean 0 with the
        weight of 10, nu = T / 10 and scale T / 10 I, an improper prior; an error if there are too few documents for a proper
        posterior. Unused if mu and Sigma are maximised.
    seed_words, seed_weight
        As in `LDA`.

    Raises
    ------
    ModelError

    Blei & Lafferty (2006), sec. 2; Chen, Zhu, Wang, Zheng & Zhang (2013) for the prior.
    """

    prior: str = prior_option()
    seed_words: str = seed_words_option()
    seed_weight: float = seed_weight_option()
    seeded: tuple[int, tuple[tuple[int, int], ...]] | None = None

    takes_zeros = False
    theta_of = staticmethod(partial(softmax, axis=-1))

    @property
    def psi_prior(self) -> NormalInverseWishart:
        """Prior of mu and Sigma, a normal-inverse-Wishart."""
        n = self.n_topics
        if self.prior == "proper":
            return NormalInverseWishart(np.zeros(n), 0.1, n + 2.0, np.eye(n))
        return NormalInverseWishart(np.zeros(n), 10.0, 0.1 * n, 0.1 * n * np.eye(n))

    def for_data(self, corpus: Corpus) -> LogisticNormalTopics:
        """Return the model itself; raise ModelError if the posterior of Sigma would be improper."""
        self.psi_prior.check_documents(self.prior, corpus)
        return super().for_data(corpus)

    def dims(self, corpus: Corpus | None = None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``corpus`` only of dimensions set by the model."""
        return super().dims(corpus) | {
            "component": self.n_topics,
            "other_component": self.n_topics,
        }

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, components, mu and Sigma."""
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
        """Return ``theta`` at the last psi, or its mean under q(psi), and the posterior mean of ``phi``."""
        expected = (
            {"theta": Estimate(expected_theta, last["psi"], last["psi_variance"])}
            if "psi_variance" in last
            else {}
        )
        return super().estimates(last, corpus) | expected
