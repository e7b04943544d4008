"""The experiments of the paper on CV-HDP as a table: which algorithms, on what, how long, and what is said of them.

Teh, Kurihara & Welling (2008), section 4. Every algorithm has beta = 100 in total; half of its iterations are burn-in
where it samples. The paper's alpha of LDA can be read as 0.1 for all topics together or as 0.1 for each: both are run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.papers.records import START, Claim

PAPER = "Teh, Kurihara & Welling (2008), Collapsed variational inference for HDP"
BETA_TOTAL = 100.0
ALL, EACH = "0.1 in all", "0.1 each"
"""The two readings of the alpha of LDA."""
STEPS = 12_000
"""Topics of each iteration, summed over the iterations: where the axes of the paper end."""


class Size(NamedTuple):
    """Of a corpus of the catalog, for an estimate of the cost."""

    n_documents: int
    n_tokens: int


CORPORA = {
    "kos": Size(3_430, 467_714), "reuters_top": Size(8_417, 563_571), "news5": Size(4_700, 510_142),
    "kos500": Size(500, 66_321),
}
"""The corpora of the catalog that stand for the paper's, and the one of the specification."""


@dataclass(frozen=True)
class Algorithm:
    """One line of a figure: an engine with its settings, and how it looks."""

    label: str
    engine: str
    colour: str
    line: str = "-"
    marker: str = "o"
    options: dict = field(default_factory=dict)
    alpha: str = ""                   # of LDA: ALL or EACH
    n_topics: int | None = None       # where an algorithm finds their number: how many it begins with
    typical: int = 0                  # topics that it has on average, by which half of its steps are burn-in
    samples: bool = False
    start: str = ""                   # label of the algorithm whose last state it begins from


@dataclass(frozen=True)
class HdpExtent:
    """How much of a figure is run; seed s decides the split and the start of run s."""

    n_seeds: int
    n_topics: tuple[int, ...]
    steps: int = STEPS
    sweeps: tuple[int, int] | None = None  # iterations of variational engines and of samplers, in the place of steps
    n_documents: int | None = None         # drawn at random; None for all

    def as_long_as(self, other: HdpExtent) -> bool:
        """Are its runs those of the other, fewer of them or not?"""
        return (self.steps, self.sweeps, self.n_documents) == (other.steps, other.sweeps, other.n_documents)

    def iterations(self, algorithm: Algorithm, n_topics: int) -> int:
        """So many iterations, at most where the number of topics changes."""
        if self.sweeps:
            return self.sweeps[algorithm.samples]
        return self.steps if algorithm.n_topics else max(1, round(self.steps / n_topics))

    def burn_in(self, algorithm: Algorithm, n_topics: int) -> int:
        """Half of what it takes, as far as that is known beforehand; the other half is averaged."""
        if self.sweeps:
            return self.sweeps[algorithm.samples] // 2
        return max(1, self.steps // (2 * (algorithm.typical or n_topics)))


@dataclass(frozen=True)
class HdpFigure:
    """A figure or table of the paper, or of the specification, as settings of runs."""

    name: str
    what: str
    shows: str                    # "topics", "steps" or "finals"
    corpora: tuple[str, ...]
    algorithms: tuple[Algorithm, ...]
    full: HdpExtent
    quick: HdpExtent
    claims: tuple[Claim, ...]
    found: dict = field(default_factory=dict)     # (corpus, label) → (topics, standard error) that the paper found
    known: dict = field(default_factory=dict)     # label → (log p of a test word, bound per token or None, tolerance)
    paper: str = PAPER
    note: str = ""

    @property
    def corpus(self) -> str:
        """What it is run on."""
        return ", ".join(self.corpora)

    def n_runs(self, extent: HdpExtent) -> int:
        """Each algorithm with each number of topics, unless it finds that by itself, on each corpus with each seed."""
        each = sum(1 if algorithm.n_topics else len(extent.n_topics) for algorithm in self.algorithms)
        return each * len(self.corpora) * extent.n_seeds

    def cost(self, extent: HdpExtent) -> float:
        """About how many seconds the runs take on two cores."""
        seconds = 0.0
        for name in self.corpora:
            size = CORPORA[name]
            tokens = size.n_tokens * min(1.0, (extent.n_documents or size.n_documents) / size.n_documents)
            for algorithm in self.algorithms:
                for n_topics in (algorithm.typical,) if algorithm.n_topics else extent.n_topics:
                    steps = n_topics * extent.sweeps[algorithm.samples] if extent.sweeps else extent.steps
                    seconds += START + VISIT[algorithm.engine] * tokens * steps
        return extent.n_seeds * seconds / 2


VISIT = {"svb": 1e-8, "cvb": 3.5e-8, "cv-hdp": 4e-8, "cgs": 4e-9, "g-hdp": 4e-9}
"""Seconds of an iteration for each token and topic, measuring included."""

BLUE, ORANGE, GREEN, BLACK, PURPLE, YELLOW = "#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00"
NOISE = {"init": "noise"}
V_LDA = Algorithm("V-LDA", "svb", ORANGE, marker="o", options=NOISE, alpha=EACH)
CV_LDA = Algorithm("CV-LDA", "cvb", BLUE, marker="s", options=NOISE, alpha=EACH)
CV_HDP = Algorithm("CV-HDP", "cv-hdp", GREEN, marker="^", options=NOISE)
G_LDA = Algorithm("G-LDA", "cgs", BLACK, marker="D", alpha=EACH, samples=True)
G_HDP_1 = Algorithm("G-HDP_1", "g-hdp", PURPLE, marker="v", n_topics=1, typical=30, samples=True)
G_HDP_100 = Algorithm("G-HDP_100", "g-hdp", YELLOW, marker="P", n_topics=100, typical=150, samples=True)
LEARNING = replace(
    CV_HDP, label="CV-HDP, beta and tau learnt", colour="#56B4E9", marker="X",
    options=NOISE | {"learn_beta": True, "learn_tau": True},
)


def _read(algorithm: Algorithm, alpha: str, line: str = "-") -> Algorithm:
    return replace(algorithm, label=f"{algorithm.label}, {alpha}", alpha=alpha, line=line)


FIVE = (
    *(_read(algorithm, ALL, "--") for algorithm in (V_LDA, CV_LDA)), *(_read(algorithm, EACH) for algorithm in (V_LDA, CV_LDA)),
    CV_HDP, _read(G_LDA, ALL, "--"), _read(G_LDA, EACH), G_HDP_1, G_HDP_100,
)
BEGUN = tuple(
    replace(algorithm, label=f"{algorithm.label}, {how}", start=start, line=line)
    for algorithm in (_read(V_LDA, ALL), _read(CV_LDA, ALL), _read(CV_LDA, EACH), CV_HDP)
    for how, start, line in (("at random", "", "--"), ("from Gibbs", G_HDP_100.label, "-"))
)
BEGUN = tuple(replace(each, colour="#56B4E9") if each.label.startswith(f"CV-LDA, {EACH}") else each for each in BEGUN)

IN_ORDER = (
    *(Claim(f"CV-LDA predicts better than V-LDA (alpha {alpha})", "likelier", f"CV-LDA, {alpha}", f"V-LDA, {alpha}")
      for alpha in (ALL, EACH)),
    *(Claim(f"CV-HDP predicts better than CV-LDA (alpha {alpha})", "likelier", "CV-HDP", f"CV-LDA, {alpha}")
      for alpha in (ALL, EACH)),
    *(Claim(f"CV-HDP predicts a little worse than Gibbs sampling (alpha {alpha})", "likelier", f"G-LDA, {alpha}", "CV-HDP")
      for alpha in (ALL, EACH)),
)
BOUNDS = (
    *(Claim(f"the bound of CV-LDA is above that of V-LDA (alpha {alpha})", "bound", f"CV-LDA, {alpha}", f"V-LDA, {alpha}")
      for alpha in (ALL, EACH)),
    *(Claim(f"the bound of CV-HDP is above that of CV-LDA (alpha {alpha})", "bound", "CV-HDP", f"CV-LDA, {alpha}")
      for alpha in (ALL, EACH)),
)
PRUNING = (
    Claim("G-HDP_100 predicts better than G-HDP_1", "likelier", "G-HDP_100", "G-HDP_1"),
    *(Claim(f"G-HDP_100 predicts best, better than G-LDA (alpha {alpha}) too", "likelier", "G-HDP_100", f"G-LDA, {alpha}")
      for alpha in (ALL, EACH)),
)
FASTER = tuple(
    Claim("variational methods converge faster than sampling", "steps", first, f"G-LDA, {alpha}")
    for alpha in (ALL, EACH) for first in (f"V-LDA, {alpha}", f"CV-LDA, {alpha}", "CV-HDP")
)
FROM_GIBBS = (
    *(Claim(f"{each.label.removesuffix(', from Gibbs')} from the Gibbs sampler's last state predicts better than at random",
            "likelier", each.label, each.label.replace("from Gibbs", "at random")) for each in BEGUN if each.start),
    *(Claim(f"{each.label.removesuffix(', from Gibbs')} from the Gibbs sampler's last state has the higher bound", "bound",
            each.label, each.label.replace("from Gibbs", "at random")) for each in BEGUN if each.start),
    *(Claim(f"of those, CV-HDP is the best {what}", kind, "CV-HDP, from Gibbs", each.label)
      for kind, what in (("likelier", "on test words"), ("bound", "by its bound"))
      for each in BEGUN if each.start and each.engine != "cv-hdp"),
)
NO_GAIN = (
    Claim("learning beta and tau gives CV-HDP nothing on test words", "likelier", "CV-HDP", LEARNING.label),
    Claim("learning beta and tau gives CV-HDP nothing on test words, nor a higher bound", "bound", "CV-HDP", LEARNING.label),
)
OUR_DATA = (
    "Reuters and the newsgroups are reconstructions (see data/README.md). The paper does not tell its scheme for the "
    "hyperpriors: here they are Gamma(4, 4) for alpha and Gamma(7.5, 7.5) for gamma."
)

HDP_FIGURES = (
    HdpFigure(
        "cv-hdp-fig2", "test log-likelihood and bound of LDA and HDP", "topics", ("kos", "reuters_top", "news5"), FIVE,
        HdpExtent(10, (40, 80, 120)), HdpExtent(1, (20, 40), 1_200, n_documents=200), (*IN_ORDER, *BOUNDS, *PRUNING, *FASTER),
        found={
            ("kos", "G-HDP_1"): (113.2, 11.4), ("kos", "G-HDP_100"): (168.3, 3.9),
            ("reuters_top", "G-HDP_1"): (60.4, 6.4), ("reuters_top", "G-HDP_100"): (122.2, 5.0),
            ("news5", "G-HDP_1"): (83.5, 5.0), ("news5", "G-HDP_100"): (128.1, 6.6),
        },
        note=f"{OUR_DATA} Against steps, the runs with the fewest topics are shown.",
    ),
    HdpFigure(
        "cv-hdp-fig3", "variational methods begun at random and from a Gibbs sampler", "steps", ("kos",), (G_HDP_100, *BEGUN),
        HdpExtent(10, (130,)), HdpExtent(2, (130,), 2_600, n_documents=400), FROM_GIBBS,
        note="Topics of the sampler beyond the 130 largest are left out, their tokens begun flat. The steps of the runs from "
        "Gibbs do not count those of the sampler.",
    ),
    HdpFigure(
        "cv-hdp-kos500", "500 documents of KOS, the table of the specification", "finals", ("kos500",), (*FIVE, LEARNING),
        HdpExtent(3, (40,), sweeps=(200, 150)), HdpExtent(1, (40,), sweeps=(60, 40)), (*IN_ORDER, *BOUNDS, *PRUNING, *NO_GAIN),
        known={
            f"V-LDA, {ALL}": (-7.838, -8.782, 0.02), f"V-LDA, {EACH}": (-7.774, -8.406, 0.02),
            f"CV-LDA, {ALL}": (-7.738, -8.185, 0.02), f"CV-LDA, {EACH}": (-7.638, -7.977, 0.02),
            "CV-HDP": (-7.576, -7.964, 0.02), f"G-LDA, {ALL}": (-7.485, None, 0.02), f"G-LDA, {EACH}": (-7.357, None, 0.02),
            "G-HDP_1": (-7.292, None, 0.05), "G-HDP_100": (-7.191, None, 0.05), LEARNING.label: (-7.64, -8.30, 0.02),
        },
        paper="the specification of the HDP, section 17, for the algorithms of Teh, Kurihara & Welling (2008)",
    ),
)
