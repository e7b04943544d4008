"""The figures of the papers that can be made again: one table of what is run, and of what the paper says of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from workbench.papers.generic import GENERIC_FIGURES, GenericFigure
from workbench.papers.hdp import HDP_FIGURES, HdpFigure
from workbench.papers.records import START, Claim

HYBRID = "Welling, Teh & Kappen (2008), Hybrid variational/Gibbs collapsed inference in topic models"
STUDY = "Collin & Martin, A collapsed variational Bayesian inference algorithm for latent Dirichlet allocation (a study)"
PAPERS_ENGINES = ("svb", "cvb", "svb-cgs", "cvb-cgs", "cgs")
ENGINES = (*PAPERS_ENGINES, "vb", "cvb0", "cvb0-cgs")
CURVES, FINALS = "perplexity-by-iterations", "ordering"
"""What is drawn: names of `workbench.views.VIEWS`."""

@dataclass(frozen=True)
class Extent:
    """How much of it is run; ``n_documents`` drawn at random, None for all."""

    n_seeds: int
    n_iterations: int = 300
    n_documents: int | None = None


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper as settings of runs. Seed s decides both the split and the start of run s."""

    name: str
    what: str
    shows: str
    corpus: str          # a name of the catalog
    n_topics: int
    full: Extent         # as published
    quick: Extent        # less than two minutes on two cores
    claims: tuple[Claim, ...]
    top_words: int | None = None
    singletons: str = "keep"
    paper: str = HYBRID
    papers_engines: tuple[str, ...] = PAPERS_ENGINES
    engines: tuple[str, ...] = ENGINES
    options: dict = field(default_factory=lambda: {"r": 1})
    alpha: float = 0.1
    beta: float = 0.1
    holdout: float = 0.1
    burn_in: int = 10
    n_documents: int = 0  # of the corpus, as its tokens, for an estimate of the cost
    n_tokens: int = 0
    visit: float = 1e-8  # seconds of an iteration for each token and topic, mean over the engines, as measured
    note: str = ""       # in what our data differ from the paper's

    def n_runs(self, extent: Extent) -> int:
        """Each engine with each seed."""
        return len(self.engines) * extent.n_seeds

    def cost(self, extent: Extent) -> float:
        """About how many seconds the runs take on two cores."""
        share = 1.0 if extent.n_documents is None else extent.n_documents / self.n_documents
        one = share * self.n_tokens * self.n_topics * extent.n_iterations * self.visit
        return extent.n_seeds * len(self.engines) * (one + START) / 2


SOONER = (
    Claim("variational algorithms converge faster than CGS", "sooner", "svb", "cgs"),
    Claim("variational algorithms converge faster than CGS", "sooner", "cvb", "cgs"),
    Claim("variational algorithms converge faster than their hybrids", "sooner", "svb", "svb-cgs"),
    Claim("variational algorithms converge faster than their hybrids", "sooner", "cvb", "cvb-cgs"),
    Claim("but to points that are not as good", "lower", "cgs", "svb"),
    Claim("but to points that are not as good", "lower", "cgs", "cvb"),
    Claim("CVB/CGS lies on top of CGS", "level", "cvb-cgs", "cgs"),
)
BETTER = (
    Claim("collapsed is better than standard", "lower", "cvb", "svb"),
    Claim("collapsed is better than standard", "lower", "cvb-cgs", "svb-cgs"),
    Claim("a hybrid is better than its variational parent", "lower", "svb-cgs", "svb"),
    Claim("a hybrid is better than its variational parent", "lower", "cvb-cgs", "cvb"),
    Claim("CVB/CGS is on a par with CGS", "level", "cvb-cgs", "cgs"),
)
AVERAGED = (
    Claim("without singletons a hybrid differs from its parent only by averaging", "same", "svb-cgs", "svb"),
    Claim("without singletons a hybrid differs from its parent only by averaging", "same", "cvb-cgs", "cvb"),
)
STUDIED = (
    Claim("CVB converges faster than CGS", "sooner", "cvb", "cgs"),
    Claim("on held-out words CVB is better than VB", "lower", "cvb", "vb"),
    Claim("and CGS is the best in the end", "lower", "cgs", "cvb"),
)
KOS = PaperFigure(
    "hybrid-fig3", "KOS, perplexity against iterations", CURVES, "kos", 10, Extent(20), Extent(3, 60), SOONER,
    n_documents=3_430, n_tokens=467_714, visit=1.25e-8,
    note="The paper counts 6909 words and 360,664 pairs; the published file has 6906 and 353,160, and as many tokens.",
)
NIPS = PaperFigure(
    "hybrid-fig5", "NIPS, perplexity against iterations", CURVES, "nips", 40, Extent(17), Extent(3, 60, 120), SOONER,
    n_documents=1_740, n_tokens=2_301_375, visit=5.5e-9,
    note="The paper counts 12,419 words and 2,166,029 tokens; ours is the edition with 13,649 and 2,301,375.",
)
STUDY_KOS = replace(
    KOS, name="cvb-fig3", what="1000 documents of KOS, held-out perplexity against iterations", n_topics=8, claims=STUDIED,
    full=Extent(10, 300, 1000), quick=Extent(3, 60, 1000), paper=STUDY, papers_engines=("vb", "cvb", "cgs"),
    note="The study tells neither its documents nor its runs: ours are drawn at random. It counts 6909 words, the file 6906.",
)
FIGURES = {
    figure.name: figure
    for figure in (
        KOS,
        replace(KOS, name="hybrid-fig4", what="KOS, final perplexities", shows=FINALS, claims=BETTER),
        NIPS,
        replace(NIPS, name="hybrid-fig6", what="NIPS, final perplexities", shows=FINALS, claims=BETTER),
        replace(
            KOS, name="hybrid-fig7", what="KOS, the 3000 most frequent words", shows=FINALS, claims=BETTER, full=Extent(14),
            top_words=3000,
        ),
        replace(
            KOS, name="hybrid-fig7-4000", what="KOS, the 4000 most frequent words (of the text)", shows=FINALS, claims=BETTER,
            full=Extent(14), top_words=4000,
        ),
        replace(
            NIPS, name="hybrid-fig8", what="NIPS, the 6000 most frequent words", shows=FINALS, claims=BETTER, full=Extent(4),
            top_words=6000,
        ),
        replace(
            NIPS, name="hybrid-fig8-4000", what="NIPS, the 4000 most frequent words (of the text)", shows=FINALS,
            claims=BETTER, full=Extent(4), top_words=4000,
        ),
        replace(
            NIPS, name="hybrid-fig8-8000", what="NIPS, the 8000 most frequent words (of the text)", shows=FINALS,
            claims=BETTER, full=Extent(4), top_words=8000,
        ),
        replace(
            KOS, name="hybrid-fig9", what="KOS, singletons out of the training set", shows=FINALS, claims=AVERAGED,
            singletons="train",
        ),
        replace(
            KOS, name="hybrid-fig10", what="KOS, singletons out of training and test set", shows=FINALS, claims=AVERAGED,
            full=Extent(12), singletons="both-own",
            note="The paper does not say which test tokens are singletons: here those that the test set has once.",
        ),
        replace(
            KOS, name="hybrid-fig10-full", what="the same, by the rule full", shows=FINALS, claims=AVERAGED,
            full=Extent(12), singletons="both-full",
            note="The paper does not say which test tokens are singletons: here those of a word that the document has once.",
        ),
        STUDY_KOS,
        replace(
            STUDY_KOS, name="cvb-fig4", what="395 Reuters stories, held-out perplexity against iterations", corpus="reuters395",
            n_topics=10, full=Extent(10), quick=Extent(3, 60), n_documents=395, n_tokens=84_010,
            note="The study does not tell how many runs there were.",
        ),
        *HDP_FIGURES,
        *GENERIC_FIGURES,
    )
}


def get_figure(name: str) -> PaperFigure | HdpFigure | GenericFigure:
    """The record of a figure.

    Raises
    ------
    ReportError
        An unknown name; the nearest is named.
    """
    if name not in FIGURES:
        from workbench.report.files import ReportError

        near = get_close_matches(str(name), FIGURES, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(FIGURES)}"
        raise ReportError(f"no figure '{name}' to reproduce; {hint}")
    return FIGURES[name]
