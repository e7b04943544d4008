"""The experiment of the paper on generic topic models as a figure: its runs, the paper's table, its claims.

Heinrich & Goesele (2009), section 4 and figure 2: LDA, the author-topic model (ATM) and four-level pachinko allocation (PAM) by
Gibbs sampling, by variational Bayes with estimated topics (VB_ML) and by variational Bayes (VB), in two sizes each.
"""

from dataclasses import replace
from typing import NamedTuple

from workbench.models.networks.network import Network
from workbench.papers.figure import Claim, Extent, Figure, Method

GIBBS, VB_ML, VB = "Gibbs", "VB_ML", "VB"
LDA, ATM, PAM = "LDA", "ATM", "PAM"
MODELS = {LDA: "lda", ATM: "author-topic", PAM: "pachinko"}
"""Name in the paper → name in `workbench.models.networks.shipped`."""
PACHINKO = {25: (5, 10), 100: (25, 25)}
"""Topics of other models → super-topics and topics of the corresponding PAM."""
MORE, FEWER = "more topics", "fewer topics"
"""Names of the larger and the smaller size in claims."""
TABLE = "table"
LEARNING = {"learn_after": 20, "learn_every": 5}
VARIATIONAL = LEARNING | {"n_inner": 20, "init": "noise"}
"""Documents are fitted within each iteration, as in the paper, where one takes as long as forty Gibbs sweeps."""
METHODS = (
    Method(GIBBS, "network-gibbs", options=LEARNING, samples=True, visit=4e-9),
    Method(VB_ML, "network-vb-ml", options=VARIATIONAL, visit=8e-9),
    Method(VB, "network-vb", options=VARIATIONAL, visit=8e-9),
)


class Published(NamedTuple):
    """The numbers that the paper's table has for one model, size and method."""

    hours: float  # until convergence
    seconds: float  # per iteration
    iterations: float  # until convergence
    perplexity: float


PUBLISHED = {
    (LDA, 25, GIBBS): Published(0.39, 4.01, 350, 1787.7),
    (LDA, 100, GIBBS): Published(1.92, 16.11, 430, 1613.9),
    (LDA, 25, VB_ML): Published(0.83, 157.3, 19, 1918.5),
    (LDA, 100, VB_ML): Published(3.75, 643.3, 21, 1677.6),
    (LDA, 25, VB): Published(0.91, 164.2, 20, 1906.0),
    (LDA, 100, VB): Published(4.29, 671.0, 23, 1660.2),
    (ATM, 25, GIBBS): Published(0.73, 6.89, 380, 1860.4),
    (ATM, 100, GIBBS): Published(3.66, 29.95, 440, 1630.6),
    (ATM, 25, VB_ML): Published(1.62, 254.3, 23, 1935.2),
    (ATM, 100, VB_ML): Published(7.59, 1139.2, 24, 1704.0),
    (ATM, 25, VB): Published(1.79, 257.8, 25, 1922.8),
    (ATM, 100, VB): Published(8.1, 1166.9, 25, 1701.9),
    (PAM, 25, GIBBS): Published(0.5, 5.44, 330, 2053.8),
    (PAM, 100, GIBBS): Published(5.61, 53.15, 380, 1909.2),
    (PAM, 25, VB_ML): Published(1.25, 205.1, 22, 2103.0),
    (PAM, 100, VB_ML): Published(14.86, 2058.2, 26, 1980.5),
    (PAM, 25, VB): Published(1.27, 207.9, 22, 2115.1),
    (PAM, 100, VB): Published(16.06, 2065.1, 28, 1972.6),
}
"""(model, topics, method) → numbers in the paper; the topics of PAM by `PACHINKO`."""


def network_for(model: str, n_topics: int) -> Network:
    """Return a model of the paper as a network of a given size, with learnt priors: scalars, or for PAM some vectors."""
    if model == PAM:
        n_super, n_topics = pachinko_sizes(n_topics)
        network = Network.of(MODELS[PAM], n_topics, {"super": n_super})
    else:
        network = Network.of(MODELS[model], n_topics)
    levels = tuple(
        replace(level, learn="scalar")
        if level.kind == "dirichlet" and level.learn == "none"
        else level
        for level in network.levels
    )
    return replace(network, levels=levels)


def pachinko_sizes(n_topics: int) -> tuple[int, int]:
    """Return (super-topics, topics) of pachinko allocation: the paper's sizes, or proportional to its smaller ones."""
    return PACHINKO.get(n_topics, (max(1, n_topics // 5), max(1, 2 * n_topics // 5)))


def format_size(model: str, n_topics: int) -> str:
    """Return the size of a model as written in the paper."""
    return "({}, {})".format(*pachinko_sizes(n_topics)) if model == PAM else str(n_topics)


def _weight(model: str, n_topics: int, samples: bool) -> int:
    """Return the relative cost of a token: the number of topics, for samplers times authors (ATM) or super-topics (PAM)."""
    if model == PAM:
        n_super, n_topics = pachinko_sizes(n_topics)
        return n_super * n_topics if samples else n_topics
    return 2 * n_topics if model == ATM and samples else n_topics


CLAIMS = (
    *(
        Claim(
            "the VB algorithms are consistently weaker than Gibbs sampling", "lower", GIBBS, other
        )
        for other in (VB, VB_ML)
    ),
    Claim("full VB tends to be slightly better than VB_ML", "lower", VB, VB_ML),
    Claim("and the two are nearly on a level", "level", VB, VB_ML),
    Claim("more topics predict better", "lower", MORE, FEWER),
    Claim("LDA predicts better than ATM", "lower", LDA, ATM),
    Claim("ATM predicts better than PAM", "lower", ATM, PAM),
    *(
        Claim(
            "VB needs fewer iterations than Gibbs sampling (theirs 19 to 28 and 330 to 440)",
            "sooner",
            method,
            GIBBS,
        )
        for method in (VB, VB_ML)
    ),
    *(
        Claim(
            "VB takes more than twice as long as Gibbs sampling to converge", "twice", method, GIBBS
        )
        for method in (VB, VB_ML)
    ),
)
GENERIC_FIGURES = (
    Figure(
        "generic-fig2",
        "LDA, author-topic model and pachinko allocation by Gibbs sampling and variational Bayes",
        "Heinrich & Goesele (2009), Variational Bayes for generic topic models",
        TABLE,
        ("nips",),
        METHODS,
        Extent(1, (25, 100), sweeps=(100, 500)),
        Extent(1, (10, 20), sweeps=(40, 100), n_documents=200),
        CLAIMS,
        models=tuple(MODELS),
        weight=_weight,
        split=None,
        n_records=100,
        published=PUBLISHED,
        where=", figure 2",
        note="The paper describes neither its first priors (here 0.1, learnt from iteration 20 on, every fifth) nor when it "
        "took a run to have converged.",
        about="In grey and on the right: the paper's numbers. A run has converged when exp(-x) stays within 1 % of its end, x "
        "the bound per token of VB and VB_ML, the log joint of the state per token of Gibbs. Times are CPU times of one "
        "thread, without measuring and storing. ≥: only in the last tenth of the run, so perhaps later in a longer one.\n"
        "foldin_same, the paper's protocol: theta of unseen documents is fitted to the very tokens that are scored, which is "
        "optimistic. Completion: it is fitted to one half of each document, and the other half is scored. In both a document "
        f"of {ATM} is by an author of its own, unknown to the run; by authors: those that the run knows have what they had. "
        "Words that no training document has are left out.",
        paired="by model, size, method and seed as far as they are not compared",
    ),
)
