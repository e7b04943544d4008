"""Latent Dirichlet allocation in which alpha of a document depends on its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.formulas import Design
from workbench.errors import Named
from workbench.models.lda import LDA
from workbench.models.model import Estimate, ModelError, Priors
from workbench.models.options import option
from workbench.models.prevalence import ByColumns, prevalence_option
from workbench.models.variables import Variable


@dataclass(frozen=True)
class DirichletRegression(ByColumns, LDA):
    """LDA with theta_d ~ Dirichlet(alpha_d1, …, alpha_dK), alpha_dk = exp(Gamma_k x_d), x_d the terms of a formula.

    By standard terms, with mean 0 and standard deviation 1, Gamma_k1 ~ N(log alpha_k, s^2) of the intercept, and
    Gamma_kj ~ N(0, s^2) of the other terms. Without a formula the model is LDA.

    Parameters
    ----------
    n_topics, alpha, beta, seed_words, seed_weight
        As in `LDA`; with a formula alpha is the prior median of alpha_dk in a document with average terms.
    prevalence : str
        Formula as in R, such as ``~ party * bs(year, df=3)``, of the columns of the documents: label, time, year, inputs, and
        the columns of the corpus's table. Columns of texts are factors.
    effect_scale : float, default 1
        s.
    design : Design, optional
        The terms of the formula in each document, which `for_data` fills in.

    Raises
    ------
    ModelError

    Mimno & McCallum (2008), *Topic models conditioned on arbitrary features with Dirichlet-multinomial regression*.
    """

    prevalence: str = prevalence_option("the prior alpha")
    effect_scale: float = option(
        1.0,
        "standard deviation of the normal prior of the change of log alpha by one standard deviation of a term",
        low=1e-2,
        high=10.0,
        label="Scale of effects",
    )
    design: Design | None = field(default=None, repr=False, compare=False)

    def for_data(self, data: Corpus) -> Self:
        """Return the model with the numbers of its seed words, and the terms of its formula in each document.

        Raises ModelError for seed words or a beta that the corpus does not suit, or a formula that it does not.
        """
        return super().for_data(data).with_terms(data)

    def check_options(self, options: object) -> None:
        """Raise ModelError if alpha is to be learnt both as one for all documents and by a formula."""
        super().check_options(options)
        if self.prevalence and options.learn_alpha != "fixed":
            raise ModelError(
                Named("learn_alpha", options.learn_alpha),
                " learns one alpha for all documents, and ",
                Named("prevalence"),
                " has one for each; leave one of them out",
            )

    @property
    def prior_means(self) -> np.ndarray:
        """Prior means of Gamma (topic, term), by standard terms."""
        means = np.zeros((self.n_topics, len(self.design.terms)))
        means[:, 0] = np.log(self.alphas)
        return means

    @staticmethod
    def alphas_at(gamma: np.ndarray, terms: np.ndarray) -> np.ndarray:
        """Return alpha (document, topic) of documents with terms x (document, term), given Gamma (topic, term)."""
        return np.exp(np.einsum("dp,kp->dk", terms, gamma))

    def shares_at(self, last: Mapping, terms: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """Return E[theta] (document, topic) of documents with terms x (document, term)."""
        return _shares(0.0, self.alphas_at(np.asarray(last["gamma"]), terms))

    def _alphas_of(self, last: Mapping) -> np.ndarray:
        """Return alpha (document, topic) of the training documents."""
        return self.alphas_at(np.asarray(last["gamma"]), self.design.values)

    def priors(self, last: Mapping) -> Priors:
        """Return the Dirichlet priors at a snapshot; with a formula the mean of E[theta] over documents as alphas."""
        priors = super().priors(last)
        if self.design is None or "gamma" not in last:
            return priors
        shares = _shares(0.0, self._alphas_of(last)).mean(axis=0)
        return priors._replace(alphas=shares, of_shares=False)

    def estimates(self, last: Mapping, data: Corpus) -> dict[str, Estimate | np.ndarray]:
        """Return ``theta`` and ``phi``, posterior means given the counts of a snapshot."""
        estimates = super().estimates(last, data)
        if self.design is None:
            return estimates
        return estimates | {"theta": Estimate(_shares, last["n_dk"], self._alphas_of(last))}

    def recorded(self, options: object) -> tuple[Variable, ...]:
        """Return the variables that a run records: those of LDA, and Gamma."""
        gamma = Variable(
            "gamma",
            ("snapshot", "topic", "term"),
            "",
            "change of log alpha of a topic by one unit of a term of the formula of prevalence: Gamma as drawn",
        )
        return (*super().recorded(options), *[gamma][: self.reads_columns])


def _shares(n_dk: np.ndarray | float, alphas: np.ndarray) -> np.ndarray:
    """Return the posterior means of theta (document, topic) given counts and priors of each document."""
    means = n_dk + alphas
    return means / means.sum(axis=1, keepdims=True)
