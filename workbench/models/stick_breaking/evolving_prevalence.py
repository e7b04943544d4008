"""Prevalence over time: how common each topic is follows a linear system from year to year; the topics do not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.times import years_of
from workbench.kernels.stick_breaking.sticks import dirichlet_moments, probabilities
from workbench.models.options import option
from workbench.models.stick_breaking.correlated_topics import OrderedTopics
from workbench.models.stick_breaking.dynamic_topics import (
    PREVALENCE,
    TopicsOverYears,
    by_year,
    shares_of,
)
from workbench.models.stick_breaking.orders import order_option
from workbench.models.variables import VARIABLES, Variable

N_DRAWS = 2000
"""Pairs of draws behind the expected prevalence of a year: an error of about 0.003 in a share."""


class SystemPrior(NamedTuple):
    """Q ~ IW(nu, scale), [A b] | Q ~ matrix normal of this mean, row covariance Q and column precision."""

    mean: np.ndarray  # (stick, stick + 1)
    precision: np.ndarray  # (stick + 1, stick + 1)
    nu: float
    scale: np.ndarray  # (stick, stick)


@dataclass(frozen=True)
class EvolvingPrevalence(OrderedTopics, TopicsOverYears):
    """Documents mix topics in proportions that are correlated and change from year to year; topics mix words.

    psi_1 ~ N(m, S), the moments of theta ~ Dirichlet(1); psi_t ~ N(A psi_{t-1} + b, Q), one stick for each topic but the last;
    a document of year t has sticks psi_d ~ N(psi_t, Sigma) of its own, or those of its year; theta_d = pi(psi_d) by
    stick-breaking; phi_k ~ Dirichlet(beta, …, beta); each token draws z ~ theta_d and w ~ phi_z.

    A, b and Q are matrix-normal-inverse-Wishart: a priori a random walk (A = I, b = 0) of steps that have the variance
    ``step_variance``, with the weight of one year. Sigma is inverse Wishart with the variances S. Both with T + 1 degrees of
    freedom, the fewest whole ones of finite mean. The years are the ``times`` of the corpus, as in `DynamicTopics`.

    Parameters
    ----------
    n_topics : int
    beta : float, default 0.1
        Dirichlet prior per word type (not its total).
    documents : "own" or "shared"
        Whether a document has sticks of its own, or those of its year.
    step_variance : float, default 0.1
        Prior mean of Q, on its diagonal.
    order : "size", "random", or a permutation of the T topics as text
        Which topic comes first on the stick; see `CorrelatedTopics`.
    order_seed : int
        Of the random order.

    Raises
    ------
    ModelError

    Linderman, Johnson & Adams (2015), sec. 3 and 5.
    """

    documents: str = option(
        "own", "sticks per document (own), or one set per year (shared)", choices=("own", "shared")
    )
    step_variance: float = option(
        0.1, "prior mean of the variance of a stick's step from year to year", low=1e-9, high=1e6
    )
    order: str = order_option()
    order_seed: int = option(0, "seed of the random order of the stick", low=0, whole=True)

    @property
    def first_year(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean (stick,) and covariance (stick, stick) of the sticks of the first year."""
        mean, variance = dirichlet_moments(np.ones(self.n_topics))
        return mean, np.diag(variance)

    @property
    def system_prior(self) -> SystemPrior:
        """Prior of A, b and Q."""
        n = self.n_topics - 1
        return SystemPrior(np.eye(n, n + 1), np.eye(n + 1), n + 2.0, self.step_variance * np.eye(n))

    @property
    def documents_prior(self) -> tuple[float, np.ndarray]:
        """Inverse Wishart prior (nu, scale) of Sigma."""
        return self.n_topics + 1.0, self.first_year[1]

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, the sticks of documents and years, and the parameters of both."""
        square = ("snapshot", "stick", "other_stick")
        return (
            *(VARIABLES[name] for name in ("n_k", "n_kw", "n_dk")),
            Variable(
                "psi",
                ("snapshot", "document", "stick"),
                "",
                "sticks of each document: psi of theta = pi(psi), as drawn",
            ),
            Variable(
                "psi_by_time",
                ("snapshot", "time", "stick"),
                "",
                "sticks of each year (psi_t), as drawn",
            ),
            Variable(
                "psi_within",
                square,
                "",
                "covariance of the sticks of documents around their year's (Sigma), as drawn",
            ),
            Variable("system", square, "", "what a year's sticks are multiplied by (A), as drawn"),
            Variable(
                "system_offset", ("snapshot", "stick"), "", "what is added to them (b), as drawn"
            ),
            Variable(
                "system_noise",
                square,
                "",
                "covariance of what comes to them at random (Q), as drawn",
            ),
            PREVALENCE,
            Variable(
                "expected_prevalence",
                ("time", "topic"),
                "",
                "mean of theta in a year, given its sticks and Sigma",
            ),
        )

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, np.ndarray]:
        """Return ``theta`` and the years' proportions from the last sticks, ``phi`` given the counts, and the years' shares."""
        return {
            "theta": probabilities(np.asarray(last["psi"])),
            "phi": self.priors(last).phi(np.asarray(last["n_kw"])),
            "prevalence": shares_of(by_year(np.asarray(last["n_dk"], float), years_of(corpus))),
            "expected_prevalence": self.expected_prevalence(
                np.asarray(last["psi_by_time"]), np.asarray(last["psi_within"])
            ),
        }

    def expected_prevalence(self, states: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        """Return (year, topic) the expected theta of each year's documents, given the year's sticks."""
        if self.documents == "shared":
            return probabilities(states)
        drawn = (
            np.random.default_rng(0).normal(size=(N_DRAWS, states.shape[1]))
            @ np.linalg.cholesky(covariance).T
        )
        drawn = np.concatenate([drawn, -drawn])
        return np.stack([probabilities(of_year + drawn).mean(axis=0) for of_year in states])
