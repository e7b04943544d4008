"""What can be chosen of a hierarchical Dirichlet process, whichever engine infers it.

alpha ~ Gamma(a_alpha, b_alpha), beta ~ Gamma(a_beta, b_beta), gamma ~ Gamma(a_gamma, b_gamma), each by shape and
rate, and tau ~ Dirichlet(a_tau, …, a_tau) where they are learnt; numbers where they are not (Teh, Kurihara &
Welling, 2008, eq. 4). alpha and beta are totals, over topics and over words.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from workbench.engines.options import OptionError, option

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
        changed = {f.name for f in fields(self) if getattr(self, f.name) != f.default}
        for of, value, prior in LEARNT:
            switch = f"learn_{of}"
            if getattr(self, switch, False):
                idle, because = changed & {value}, f"{of} is learnt; give {switch}=False with it"
            else:
                idle, because = changed & set(prior), f"{of} is not learnt; give {switch}=True with it"
            for name in idle:
                raise OptionError(f"{name} would be without effect: {because}, or leave it out")


LEARNT = (
    ("alpha", "alpha_total", ("a_alpha", "b_alpha")), ("gamma", "top_concentration", ("a_gamma", "b_gamma")),
    ("beta", "beta_total", ("a_beta", "b_beta")), ("tau", "", ("a_tau",)),
)
"""What may be learnt: its name, the option that is its value where it is not, those of its prior where it is."""
