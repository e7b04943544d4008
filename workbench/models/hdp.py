"""The hierarchical Dirichlet process topic model, whose number of topics is inferred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import scipy

from workbench.errors import Named
from workbench.models.lda import check_topics
from workbench.models.model import Priors, TopicModel
from workbench.models.options import OptionError, option
from workbench.models.variables import VARIABLES, Variable
from workbench.models.word_priors import LARGEST_PRIOR

TINY = 1e-8
"""Smallest allowed concentration, shape or rate."""
POSITIVE = {"low": TINY, "high": LARGEST_PRIOR, "live": True}
"""The range of concentrations, shapes and rates, which can be turned while a run runs."""


@dataclass(frozen=True)
class HDP(TopicModel):
    """The hierarchical Dirichlet process: documents mix topics, whose number is inferred; pi are the shared topic weights.

    v_k ~ Beta(1, gamma), pi_k = v_k prod_l<k (1 - v_l); theta_d ~ Dirichlet(alpha pi); phi_k ~ Dirichlet(beta tau);
    if they are learnt, alpha ~ Gamma(a_alpha, b_alpha), beta ~ Gamma(a_beta, b_beta), gamma ~ Gamma(a_gamma, b_gamma), each
    by shape and rate, and tau ~ Dirichlet(a_tau, …, a_tau). alpha and beta are totals, over topics and over words.

    Parameters
    ----------
    n_topics : int
        Starting point of inference, not part of the model: the truncation of `cv-hdp`, the initial number of `g-hdp`.
    alpha_total, beta_total, top_concentration : float
        alpha, beta and gamma, if they are fixed.
    learn_alpha, learn_gamma, learn_beta, learn_tau : bool
    a_alpha, …, a_tau : float

    Raises
    ------
    ModelError, OptionError
        OptionError for a value that would have no effect.

    Teh, Jordan, Beal & Blei (2006); Teh, Kurihara & Welling (2008), eq. 1-4.
    """

    nonparametric = True
    warm_starts = True
    takes = ("n_topics",)

    n_topics: int = 40
    alpha_total: float = option(
        1.0,
        "concentration of the topics of a document, if it is not learnt",
        **POSITIVE,
        label="Total alpha",
    )
    beta_total: float = option(
        100.0,
        "concentration of the words of a topic, if it is not learnt",
        **POSITIVE,
        label="Total beta",
    )
    top_concentration: float = option(
        1.0,
        "concentration of the topic weights (gamma), if it is not learnt",
        **POSITIVE,
        label="gamma",
    )
    learn_alpha: bool = option(True, "learn alpha_total")
    learn_gamma: bool = option(True, "learn top_concentration")
    a_alpha: float = option(
        4.0, "shape of the prior of alpha_total", **POSITIVE, label="alpha: shape"
    )
    b_alpha: float = option(
        4.0, "rate of the prior of alpha_total", **POSITIVE, label="alpha: rate"
    )
    a_gamma: float = option(
        7.5, "shape of the prior of top_concentration", **POSITIVE, label="gamma: shape"
    )
    b_gamma: float = option(
        7.5, "rate of the prior of top_concentration", **POSITIVE, label="gamma: rate"
    )
    learn_beta: bool = option(False, "learn beta_total")
    learn_tau: bool = option(False, "learn tau, the base distribution over words; 1/W otherwise")
    a_beta: float = option(4.0, "shape of the prior of beta_total", **POSITIVE, label="beta: shape")
    b_beta: float = option(4.0, "rate of the prior of beta_total", **POSITIVE, label="beta: rate")
    a_tau: float = option(
        0.0, "Dirichlet prior of each word in tau; 0 = 40/W", low=0, label="tau: prior"
    )

    def __post_init__(self):
        object.__setattr__(self, "n_topics", check_topics(self.n_topics))
        changed_fields = {f.name for f in fields(self) if getattr(self, f.name) != f.default}
        for of, value, prior, _ in LEARNT:
            switch = f"learn_{of}"
            if getattr(self, switch):
                idle, because = (
                    changed_fields & {value},
                    (f"{of} is learnt; give ", Named(switch, False)),
                )
            else:
                idle, because = (
                    changed_fields & set(prior),
                    (f"{of} is not learnt; give ", Named(switch, True)),
                )
            for name in idle:
                raise OptionError(
                    Named(name), " would be without effect: ", *because, " with it, or leave it out"
                )

    @classmethod
    def of(cls, n_topics: int = 10) -> HDP:
        """Return the model from the settings of a run; the concentrations are options."""
        return cls(n_topics)

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, the prior of each topic, and tau if it is learnt."""
        names = ("n_k", "alpha", "n_kw", "n_dk", *(("tau",) if self.learn_tau else ()))
        return tuple(VARIABLES[name] for name in names)

    def priors(self, last: Mapping) -> Priors:
        """Return the Dirichlet priors at a snapshot: alpha pi_k by topic, the rest for unused topics, and beta tau."""
        alphas, n_words = np.asarray(last["alpha"]), np.shape(last["n_kw"])[-1]
        tau = np.asarray(last["tau"]) if "tau" in last else 1.0 / n_words
        return Priors(
            alphas,
            float(last["beta_total"]) * tau,
            max(float(last["alpha_total"] - alphas.sum()), 0.0),
        )

    def hyperparameters(self, options) -> dict[str, str]:
        """Return name → "learnt" or "fixed" for each concentration."""
        return {
            value: "learnt" if getattr(self, f"learn_{of}") else "fixed"
            for of, value, *_ in LEARNT
            if value
        }

    def describe(self) -> list[tuple[str, str]]:
        """Return (label, text) pairs for captions: the priors."""
        rows = []
        for of, value, prior, caption in LEARNT:
            if getattr(self, f"learn_{of}"):
                shape_and_rate = ", ".join(f"{getattr(self, name):g}" for name in prior)
                rows.append(
                    (caption, f"learnt, prior Gamma({shape_and_rate})" if value else "learnt")
                )
            elif value:
                rows.append((caption, f"{getattr(self, value):g}, fixed"))
        return rows


LEARNT = (
    ("alpha", "alpha_total", ("a_alpha", "b_alpha"), "alpha (HDP, sum over topics)"),
    ("beta", "beta_total", ("a_beta", "b_beta"), "beta (HDP, sum over words)"),
    ("gamma", "top_concentration", ("a_gamma", "b_gamma"), "gamma (HDP)"),
    ("tau", "", ("a_tau",), "tau (HDP)"),
)
"""Learnable parameters: letter, field with its fixed value, fields of its prior if learnt, caption."""


def topic_numbers(n_k: np.ndarray) -> dict[str, np.ndarray]:
    """Return name → number of topics (…) by each of three definitions, which `VARIABLES` explains.

    n_k : (…, topic) (expected) tokens of each topic.
    """
    total = n_k.sum(axis=-1, keepdims=True)
    share = np.maximum(n_k, 0) / np.maximum(total, 1e-300)
    return {
        "n_active_topics": np.sum(n_k >= 1 - 1e-9, axis=-1, dtype=float),
        "n_large_topics": np.sum((n_k >= 0.01 * total) & (n_k > 0), axis=-1, dtype=float),
        "effective_topics": np.exp(scipy.special.entr(share).sum(axis=-1)),
    }
