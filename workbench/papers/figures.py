"""The table of reproducible figures of the papers: their runs, and the papers' claims."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from workbench.errors import nearest_or_all
from workbench.papers.correlated_topics import CORRELATED_FIGURES, TOPICS
from workbench.papers.dynamical_systems import SEQUENCE_FIGURES
from workbench.papers.figure import EACH, Drawing, Extent, Figure, Method, claims
from workbench.papers.gaussian_processes import GAUSSIAN_FIGURES, MAPS
from workbench.papers.generic import GENERIC_FIGURES
from workbench.papers.hdp import HDP_FIGURES

HYBRID = (
    "Welling, Teh & Kappen (2008), Hybrid variational/Gibbs collapsed inference in topic models"
)
STUDY = "Collin & Martin, A collapsed variational Bayesian inference algorithm for latent Dirichlet allocation (a study)"
PAPERS_ENGINES = ("svb", "cvb", "svb-cgs", "cvb-cgs", "cgs")
ENGINES = (*PAPERS_ENGINES, "vb", "cvb0", "cvb0-cgs")
CURVES, FINALS = "perplexity-by-iterations", "ordering"
"""Drawings: names of `workbench.views.VIEWS`."""


def _engines(visit: float) -> tuple[Method, ...]:
    """Return one `Method` for each of `ENGINES`, with ``visit`` mean seconds per iteration, token and topic."""
    threshold = {name: {"r": 1} if name.endswith("-cgs") else {} for name in ENGINES}
    start = {name: {} if name == "cgs" else {"init": "dirichlet"} for name in ENGINES}
    return tuple(
        Method(name, name, options=threshold[name] | start[name], alpha=EACH, visit=visit)
        for name in ENGINES
    )


SOONER = (
    *claims(
        "sooner", "variational algorithms converge faster than CGS", ("svb", "cgs"), ("cvb", "cgs")
    ),
    *claims(
        "sooner",
        "variational algorithms converge faster than their hybrids",
        ("svb", "svb-cgs"),
        ("cvb", "cvb-cgs"),
    ),
    *claims("lower", "but to points that are not as good", ("cgs", "svb"), ("cgs", "cvb")),
    *claims("level", "CVB/CGS lies on top of CGS", ("cvb-cgs", "cgs")),
)
BETTER = (
    *claims("lower", "collapsed is better than standard", ("cvb", "svb"), ("cvb-cgs", "svb-cgs")),
    *claims(
        "lower",
        "a hybrid is better than its variational parent",
        ("svb-cgs", "svb"),
        ("cvb-cgs", "cvb"),
    ),
    *claims("level", "CVB/CGS is on a par with CGS", ("cvb-cgs", "cgs")),
)
AVERAGED = claims(
    "same",
    "without singletons a hybrid differs from its parent only by averaging",
    ("svb-cgs", "svb"),
    ("cvb-cgs", "cvb"),
)
STUDIED = (
    *claims("sooner", "CVB converges faster than CGS", ("cvb", "cgs")),
    *claims("lower", "on held-out words CVB is better than VB", ("cvb", "vb")),
    *claims("lower", "and CGS is the best in the end", ("cgs", "cvb")),
)
KOS = Figure(
    "hybrid-fig3",
    "KOS, perplexity against iterations",
    HYBRID,
    CURVES,
    ("kos",),
    _engines(1.25e-8),
    Extent(20, (10,), 300),
    Extent(3, (10,), 60),
    SOONER,
    of_paper=PAPERS_ENGINES,
    note="The paper counts 6909 words and 360,664 pairs; the published file has 6906 and 353,160, and as many tokens.",
    about="Held-out perplexity: the state's for engines that do not sample, the running average after burn-in for those that "
    "do.",
    held_out="% of the tokens of the corpus, drawn anew for each seed",
    paired="by seed",
    documents="{n:,} of {whole:,} documents",
    each="each engine",
)
KOS_FINALS = replace(
    KOS, name="hybrid-fig4", what="KOS, final perplexities", shows=FINALS, claims=BETTER
)
KOS_14 = replace(KOS_FINALS, full=replace(KOS.full, n_seeds=14))
KOS_12 = replace(KOS_FINALS, full=replace(KOS.full, n_seeds=12), claims=AVERAGED)
NIPS = replace(
    KOS,
    name="hybrid-fig5",
    what="NIPS, perplexity against iterations",
    corpora=("nips",),
    methods=_engines(5.5e-9),
    full=Extent(17, (40,), 300),
    quick=Extent(3, (40,), 60, n_documents=120),
    note="The paper counts 12,419 words and 2,166,029 tokens; ours is the edition with 13,649 and 2,301,375.",
)
NIPS_FINALS = replace(
    NIPS, name="hybrid-fig6", what="NIPS, final perplexities", shows=FINALS, claims=BETTER
)
NIPS_4 = replace(NIPS_FINALS, full=replace(NIPS.full, n_seeds=4))
STUDY_KOS = replace(
    KOS,
    name="cvb-fig3",
    what="1000 documents of KOS, held-out perplexity against iterations",
    claims=STUDIED,
    paper=STUDY,
    full=Extent(10, (8,), 300, n_documents=1000),
    quick=Extent(3, (8,), 60, n_documents=1000),
    of_paper=("vb", "cvb", "cgs"),
    note="The study describes neither its documents nor runs: ours are drawn at random. It counts 6909 words, the file 6906.",
)
SMOOTH = "-smooth"
"""Suffix of the name of a figure whose variational methods begin from the default start."""


def from_good_start(figure: Figure) -> Figure:
    """Return the figure with variational methods that begin from the default start instead of the paper's start."""
    return replace(
        figure,
        name=figure.name + SMOOTH,
        what=f"{figure.what}, from a good start",
        methods=tuple(
            replace(method, options={k: v for k, v in method.options.items() if k != "init"})
            for method in figure.methods
        ),
        published={},
        inferred_topics={},
        specified_numbers={},
        note=f"Not in the paper: variational methods begin with a warm-up; the paper's start is that of {figure.name}.",
    )


OF_PAPERS = {
    figure.name: figure
    for figure in (
        KOS,
        KOS_FINALS,
        NIPS,
        NIPS_FINALS,
        *(
            replace(
                base,
                name=name,
                what=f"{corpus}, the {n} most frequent words{of}",
                split={"top_words": n},
            )
            for base, corpus, name, n, of in (
                (KOS_14, "KOS", "hybrid-fig7", 3000, ""),
                (KOS_14, "KOS", "hybrid-fig7-4000", 4000, " (of the text)"),
                (NIPS_4, "NIPS", "hybrid-fig8", 6000, ""),
                (NIPS_4, "NIPS", "hybrid-fig8-4000", 4000, " (of the text)"),
                (NIPS_4, "NIPS", "hybrid-fig8-8000", 8000, " (of the text)"),
            )
        ),
        replace(
            KOS_FINALS,
            name="hybrid-fig9",
            what="KOS, singletons out of the training set",
            claims=AVERAGED,
            split={"singletons": "train"},
        ),
        *(
            replace(
                KOS_12,
                name=name,
                what=what,
                split={"singletons": rule},
                note=f"The paper does not say which test tokens are singletons: here those {those}.",
            )
            for name, what, rule, those in (
                (
                    "hybrid-fig10",
                    "KOS, singletons out of training and test set",
                    "both-own",
                    "that the test set has once",
                ),
                (
                    "hybrid-fig10-full",
                    "the same, by the rule full",
                    "both-full",
                    "of a word that the document has once",
                ),
            )
        ),
        STUDY_KOS,
        replace(
            STUDY_KOS,
            name="cvb-fig4",
            what="395 Reuters stories, held-out perplexity against iterations",
            corpora=("reuters395",),
            full=Extent(10, (10,), 300),
            quick=Extent(3, (10,), 60),
            note="The study does not tell how many runs there were.",
        ),
        *HDP_FIGURES,
        *GENERIC_FIGURES,
        *CORRELATED_FIGURES,
        *GAUSSIAN_FIGURES,
        *SEQUENCE_FIGURES,
    )
}
STARTED = (
    *("hybrid-fig3", "hybrid-fig4", "hybrid-fig5", "hybrid-fig6"),
    *("cvb-fig3", "cvb-fig4", "generic-fig2", "cv-hdp-fig2"),
)
"""Figures that are also computed from a good start."""
FIGURES = OF_PAPERS | {
    figure.name: figure for figure in (from_good_start(OF_PAPERS[name]) for name in STARTED)
}
"""Name → figure, of the papers' figures and of those from a good start."""


def _of_sticks(name: str) -> Callable:
    """Return a function that imports `workbench.papers.stick_breaking` and draws by the function ``name`` of that module."""
    return lambda quick: getattr(import_module("workbench.papers.stick_breaking"), name)(quick)


STICKS = (
    Drawing(
        "sb-fig1",
        "Gaussians of two sticks, and their densities on the simplex",
        TOPICS.paper,
        _of_sticks("draw_pushed"),
        ", figure 1",
        "Above the density of the sticks ψ, below that of the probabilities π of three categories that they give. "
        "Each panel is shaded by parts of its highest density.",
        "The paper does not say which Gaussians it has: ours have the mean of the uniform Dirichlet's sticks and variance 1.",
    ),
    Drawing(
        "sb-fig5",
        "the sticks of a Dirichlet over nine categories, alpha 1",
        TOPICS.paper,
        _of_sticks("draw_marginals"),
        ", figure 5",
        "Above the density of a stick, below its logarithm; dashed the Gaussian of the same mean and variance, in closed form.",
        "The paper draws all sticks together, without the Gaussians, and does not say how close is close: the tenth is "
        "ours, set before it was computed.",
    ),
    Drawing(
        "sb-fig6",
        "the posterior of two sticks, and four steps of the Gibbs sampler",
        TOPICS.paper,
        _of_sticks("draw_steps"),
        ", figure 6",
        "Shaded the posterior of ψ given counts of three categories, by quadrature; ellipses of 1.5 standard deviations, with "
        "their centres: the Gaussian of ψ given the Polya-gamma numbers of each step.",
        "The paper does not say which counts it has: ours are 2, 5, 3, and the prior is the Gaussian "
        "with the moments of a uniform Dirichlet's sticks. The steps are the first after 20 of one chain of 200.",
    ),
)
DRAWINGS = {drawing.name: drawing for drawing in (*STICKS, TOPICS, MAPS)}


def names() -> list[str]:
    """Return the names of all figures that can be reproduced: those that need runs, then those that need none."""
    return [*FIGURES, *DRAWINGS]


def get_figure(name: str) -> Figure | Drawing:
    """Return the figure with a given name; raise ReportError, with the nearest name, if there is none."""
    if name not in (figures := FIGURES | DRAWINGS):
        from workbench.report.files import ReportError

        raise ReportError(f"no figure '{name}' to reproduce; {nearest_or_all(name, figures)}")
    return figures[name]
