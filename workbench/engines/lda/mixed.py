"""Hybrid of variational Bayes and Gibbs sampling in which chance decides, in every iteration, which pairs are averaged.

Welling, Teh & Kappen (2008), sec. 8, leave open whether the chain of a hybrid has one equilibrium. With a fixed split it can
have several (docs/where_the_chain_goes.md). Here a pair of n > 1 tokens is averaged with a probability c < 1, drawn anew in
every iteration t, by itself; a token that is alone in its pair is always sampled::

    favour = constant    c = chance 2^(-t / halved_every)
    favour = counts      c (1 - 1 / n)
    favour = gap         c exp(-g)             g: what averaging the pair adds to Jensen's gap, nats (`kernels.lda.resplit`)

The steps are those of `adaptive`. All pairs are sampled at once with a probability q >= (1 - chance)^pairs, and a sweep of
`cgs` follows, so the chain has one law, which it reaches at a geometric rate; its total variation from the posterior is at
most (1 - q) / (1 - q (1 - e)), with e the overlap of the sweeps from any two assignments. With ``halved_every`` finite its
law tends to the posterior. The proofs are in docs/where_the_chain_goes.md.
"""

from typing import ClassVar

import numpy as np

from workbench.engines.engine import Engine
from workbench.engines.lda import adaptive, cvb, hybrid
from workbench.engines.lda.hyperparameters import learning
from workbench.engines.lda.partition import partition_option
from workbench.errors import Named
from workbench.models.options import OptionError, option


@learning
class Options:
    average: str = adaptive.average_option()
    chance: float = option(
        0.5,
        "probability, below 1, that a pair with several tokens is averaged in an iteration",
        low=0,
        high=1,
        label="Chance to average",
        live=True,
    )
    favour: str = option(
        "constant",
        "pairs that are averaged more often: constant = none; counts = large counts; gap = a small averaging error",
        choices=("constant", "counts", "gap"),
        label="Averaged pairs",
    )
    halved_every: float = option(
        np.inf,
        "iterations in which the chance halves; inf = it stays",
        low=1,
        infinite=True,
        label="Chance halves every",
    )
    n_chains: int = hybrid.n_chains_option()
    partition: int = partition_option()
    precision: str = cvb.precision_option()

    split: ClassVar[str] = "chance"
    budget: ClassVar[float] = 0.0
    r: ClassVar[float] = np.inf  # all pairs are sampled at the start
    refresh: ClassVar[int] = 1
    rarer: ClassVar[float] = 1.0
    init: ClassVar[str] = "dirichlet"
    schedule: ClassVar[str] = "parallel"
    phases: ClassVar[str] = "two_phase"

    def __post_init__(self):
        getattr(super(), "__post_init__", lambda: None)()
        if self.chance == 1:
            raise OptionError(
                Named("chance"),
                " must be below 1, or the chain may have several laws; got 1; "
                "svb-cgs averages the same pairs in every iteration",
            )

    @property
    def needs_gap(self) -> bool:
        """Whether the choice of the split depends on the averaging error of each pair."""
        return self.favour == "gap"

    def chances(self, step: int, counts: np.ndarray, gap: np.ndarray | None) -> np.ndarray | float:
        """Return the probability that each pair is averaged in an iteration: (place,), or one for all.

        counts (place,) : tokens of the pair
        gap (place,) : its averaging error, nats for each update that sampling takes more; needed with ``favour=gap``
        """
        chance = self.chance * 2.0 ** (-step / self.halved_every)
        if self.favour == "counts":
            return chance * (1.0 - 1.0 / np.maximum(counts, 1))
        return chance * np.exp(-gap * np.maximum(counts - 1, 0)) if self.needs_gap else chance


NAME = "mixed-cgs"


def engine(name: str = NAME) -> Engine:
    return adaptive.engine()._replace(
        name=name,
        colour="#b5508c",
        marker="X",
        title="Hybrid whose averaged pairs change by chance",
        options=Options,
        when="For a hybrid that has one law whatever its start, and tends to the posterior where the chance falls; each "
        "iteration chooses a split, which takes as long as three sweeps of svb.",
    )
