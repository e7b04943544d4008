"""The experiments of the paper on CV-HDP as figures: methods, data, lengths and claims.

Teh, Kurihara & Welling (2008), section 4. Every algorithm has beta = 100 in total; half of its iterations are burn-in
if it samples. The paper's alpha of LDA can be read as 0.1 for all topics together or as 0.1 for each: both are run.
"""

from dataclasses import replace

from workbench.papers.figure import ALL, EACH, Claim, Extent, Figure, Method

PAPER = "Teh, Kurihara & Welling (2008), Collapsed variational inference for HDP"
LOG_P, BOUND = "log_likelihood", "bound_per_token"
"""Drawn quantities of `workbench.measures`."""
STEPS = 12_000
"""End of the axes in the paper."""
POINTS = 60
"""Points of a curve against steps, where seeds are averaged."""
BLUE, ORANGE, GREEN, BLACK, PURPLE, YELLOW = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#000000",
    "#CC79A7",
    "#E69F00",
)
LIGHT_BLUE = "#56B4E9"
NOISE = {"init": "noise"}
V_LDA = Method("V-LDA", "svb", ORANGE, marker="o", options=NOISE, alpha=EACH, visit=1e-8)
CV_LDA = Method("CV-LDA", "cvb", BLUE, marker="s", options=NOISE, alpha=EACH, visit=3.5e-8)
CV_HDP = Method("CV-HDP", "cv-hdp", GREEN, marker="^", options=NOISE, visit=4e-8)
G_LDA = Method("G-LDA", "cgs", BLACK, marker="D", alpha=EACH, samples=True, visit=4e-9)
G_HDP_1 = Method(
    "G-HDP_1", "g-hdp", PURPLE, marker="v", n_topics=1, typical=30, samples=True, visit=4e-9
)
G_HDP_100 = replace(
    G_HDP_1, label="G-HDP_100", colour=YELLOW, marker="P", n_topics=100, typical=150
)
LEARNING = replace(
    CV_HDP,
    label="CV-HDP, beta and tau learnt",
    colour=LIGHT_BLUE,
    marker="X",
    options=NOISE | {"learn_beta": True, "learn_tau": True},
)


def _with_alpha(method: Method, alpha: str, line: str = "-") -> Method:
    """Return the method with another ``alpha``, which is appended to the label."""
    return replace(method, label=f"{method.label}, {alpha}", alpha=alpha, line=line)


FIVE = (
    *(_with_alpha(method, ALL, "--") for method in (V_LDA, CV_LDA)),
    *(_with_alpha(method, EACH) for method in (V_LDA, CV_LDA)),
    CV_HDP,
    _with_alpha(G_LDA, ALL, "--"),
    _with_alpha(G_LDA, EACH),
    G_HDP_1,
    G_HDP_100,
)
INITIALISED = tuple(
    replace(method, label=f"{method.label}, {how}", start=start, line=line)
    for method in (
        _with_alpha(V_LDA, ALL),
        _with_alpha(CV_LDA, ALL),
        replace(_with_alpha(CV_LDA, EACH), colour=LIGHT_BLUE),
        CV_HDP,
    )
    for how, start, line in (("at random", "", "--"), ("from Gibbs", G_HDP_100.label, "-"))
)


def _claims(kind: str, says: str, first: str, second: str) -> tuple[Claim, ...]:
    """Return a claim twice: with alphas of the non-HDP methods that sum to 0.1, and with each alpha 0.1."""
    return tuple(
        Claim(
            says.format(alpha),
            kind,
            *(name if "HDP" in name else f"{name}, {alpha}" for name in (first, second)),
        )
        for alpha in (ALL, EACH)
    )


IN_ORDER = (
    *_claims("likelier", "CV-LDA predicts better than V-LDA (alpha {})", "CV-LDA", "V-LDA"),
    *_claims("likelier", "CV-HDP predicts better than CV-LDA (alpha {})", "CV-HDP", "CV-LDA"),
    *_claims(
        "likelier",
        "CV-HDP predicts a little worse than Gibbs sampling (alpha {})",
        "G-LDA",
        "CV-HDP",
    ),
)
BOUNDS = (
    *_claims("bound", "the bound of CV-LDA is above that of V-LDA (alpha {})", "CV-LDA", "V-LDA"),
    *_claims("bound", "the bound of CV-HDP is above that of CV-LDA (alpha {})", "CV-HDP", "CV-LDA"),
)
PRUNING = (
    Claim("G-HDP_100 predicts better than G-HDP_1", "likelier", "G-HDP_100", "G-HDP_1"),
    *_claims(
        "likelier",
        "G-HDP_100 predicts best, better than G-LDA (alpha {}) too",
        "G-HDP_100",
        "G-LDA",
    ),
)
FASTER = tuple(
    Claim("variational methods converge faster than sampling", "steps", first, f"G-LDA, {alpha}")
    for alpha in (ALL, EACH)
    for first in (f"V-LDA, {alpha}", f"CV-LDA, {alpha}", "CV-HDP")
)
WARM = [method.label for method in INITIALISED if method.start]
FROM_GIBBS = (
    *(
        Claim(
            f"{label.removesuffix(', from Gibbs')} from the Gibbs sampler's last state {what}",
            kind,
            label,
            label.replace("from Gibbs", "at random"),
        )
        for kind, what in (
            ("likelier", "predicts better than at random"),
            ("bound", "has the higher bound"),
        )
        for label in WARM
    ),
    *(
        Claim(f"of those, CV-HDP is the best {what}", kind, "CV-HDP, from Gibbs", label)
        for kind, what in (("likelier", "on test words"), ("bound", "by its bound"))
        for label in WARM[:-1]
    ),
)
NO_GAIN = (
    Claim(
        "learning beta and tau gives CV-HDP nothing on test words",
        "likelier",
        "CV-HDP",
        LEARNING.label,
    ),
    Claim(
        "learning beta and tau gives CV-HDP nothing on test words, nor a higher bound",
        "bound",
        "CV-HDP",
        LEARNING.label,
    ),
)
OUR_DATA = (
    "Reuters and the newsgroups are reconstructions (see data/README.md). The paper does not tell its scheme for the "
    "hyperpriors: here they are Gamma(4, 4) for alpha and Gamma(7.5, 7.5) for gamma."
)
TWO = Figure(
    "cv-hdp-fig2",
    "test log-likelihood and bound of LDA and HDP",
    PAPER,
    (("topics", LOG_P), ("steps", LOG_P), ("topics", BOUND)),
    ("kos", "reuters_top", "news5"),
    FIVE,
    Extent(10, (40, 80, 120), steps=STEPS),
    Extent(1, (20, 40), steps=1_200, n_documents=200),
    (*IN_ORDER, *BOUNDS, *PRUNING, *FASTER),
    split={"per": "document"},
    beta_total=100.0,
    burn_in=None,
    n_records=POINTS,
    inferred_topics={
        ("kos", "G-HDP_1"): (113.2, 11.4),
        ("kos", "G-HDP_100"): (168.3, 3.9),
        ("reuters_top", "G-HDP_1"): (60.4, 6.4),
        ("reuters_top", "G-HDP_100"): (122.2, 5.0),
        ("news5", "G-HDP_1"): (83.5, 5.0),
        ("news5", "G-HDP_100"): (128.1, 6.6),
    },
    note=f"{OUR_DATA} Against steps, the runs with the fewest topics are shown.",
    about="Log p of a test word, in nats: mean over the held-out tokens, of the state with posterior means for variational "
    "engines, of the average over the samples after burn-in for those that sample. The bound is that of the engine's own "
    "family, per training token: exact for V-LDA, its expectations by improved second order for CV-LDA and CV-HDP.",
    held_out="% of each document, rounded down, drawn anew for each seed",
    paired="by corpus, seed and number of topics",
    documents="{n} documents of each corpus",
    each="each algorithm",
)
HDP_FIGURES = (
    TWO,
    replace(
        TWO,
        name="cv-hdp-fig3",
        what="variational methods begun at random and from a Gibbs sampler",
        corpora=("kos",),
        shows=(("steps", BOUND), ("steps", LOG_P)),
        methods=(G_HDP_100, *INITIALISED),
        claims=FROM_GIBBS,
        inferred_topics={},
        full=Extent(10, (130,), steps=STEPS),
        quick=Extent(2, (130,), steps=2_600, n_documents=400),
        note="Topics of the sampler beyond the 130 largest are left out, their tokens begun flat. The steps of the runs from "
        "Gibbs do not count those of the sampler.",
    ),
    replace(
        TWO,
        name="cv-hdp-kos500",
        what="500 documents of KOS, the table of the specification",
        corpora=("kos500",),
        shows=(("steps", LOG_P), ("steps", BOUND)),
        methods=(*FIVE, LEARNING),
        inferred_topics={},
        note="",
        full=Extent(3, (40,), sweeps=(200, 150)),
        quick=Extent(1, (40,), sweeps=(60, 40)),
        claims=(*IN_ORDER, *BOUNDS, *PRUNING, *NO_GAIN),
        specified_numbers={
            f"V-LDA, {ALL}": (-7.838, -8.782, 0.02),
            f"V-LDA, {EACH}": (-7.774, -8.406, 0.02),
            f"CV-LDA, {ALL}": (-7.738, -8.185, 0.02),
            f"CV-LDA, {EACH}": (-7.638, -7.977, 0.02),
            "CV-HDP": (-7.576, -7.964, 0.02),
            f"G-LDA, {ALL}": (-7.485, None, 0.02),
            f"G-LDA, {EACH}": (-7.357, None, 0.02),
            "G-HDP_1": (-7.292, None, 0.05),
            "G-HDP_100": (-7.191, None, 0.05),
            LEARNING.label: (-7.64, -8.30, 0.02),
        },
        paper="the specification of the HDP, section 17, for the algorithms of Teh, Kurihara & Welling (2008)",
    ),
)
