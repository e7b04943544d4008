"""Logistic-normal topics: the topics of a document are the softmax of a Gaussian, so that topics may go together or apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import softmax

from workbench.corpus import Corpus
from workbench.kernels.stick_breaking.logistic_normal import expected_theta
from workbench.models.estimate import Estimate
from workbench.models.stick_breaking.correlated_topics import (
    GaussianTopics,
    NormalInverseWishart,
    prior_option,
)
from workbench.models.variables import VARIABLES, Variable


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
