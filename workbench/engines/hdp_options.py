"""What can be chosen of a hierarchical Dirichlet process, whichever engine infers it.

alpha ~ Gamma(a_alpha, b_alpha), beta ~ Gamma(a_beta, b_beta), gamma ~ Gamma(a_gamma, b_gamma), each by shape and
rate, and tau ~ Dirichlet(a_tau, …, a_tau) where they are learnt; numbers where they are not (Teh, Kurihara &
Welling, 2008, eq. 4). alpha and beta are totals, over topics and over words.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from workbench.engines.engine import OptionError, option

TINY = 1e-8
"""The smallest concentration, shape or rate that is taken."""


@dataclass(frozen=True)
class HdpOptions:
    """Hyperparameters of the HDP: which are learnt, their priors, and their values where they are fixed."""

    alpha_total: float = option(1.0, "concentration of the topics of a document, where it is fixed", low=TINY)
    beta_total: float = option(100.0, "concentration of the words of a topic, where it is fixed", low=TINY)
    top_concentration: float = option(1.0, "concentration of the weights of the topics (gamma), where it is fixed", low=TINY)
    learn_alpha: bool = option(True, "learn alpha_total")
    learn_gamma: bool = option(True, "learn top_concentration")
    a_alpha: float = option(4.0, "shape of the prior of alpha_total", low=TINY)
    b_alpha: float = option(4.0, "rate of the prior of alpha_total", low=TINY)
    a_gamma: float = option(7.5, "shape of the prior of top_concentration", low=TINY)
    b_gamma: float = option(7.5, "rate of the prior of top_concentration", low=TINY)

    def __post_init__(self):
        switches = {"alpha_total": "learn_alpha", "beta_total": "learn_beta", "top_concentration": "learn_gamma"}
        for value, switch in switches.items():
            if getattr(self, switch, False) and getattr(self, value) != default_of(self, value):
                raise OptionError(f"{value} is for a value that stays; give {switch}=False with it, or leave it out")


def default_of(options, name: str):
    """The default of an option."""
    return next(f.default for f in fields(options) if f.name == name)
