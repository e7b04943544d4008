"""Forecasts of sequences of symbols, as in the paper on stick-breaking, and orders of the symbols on the stick.

Linderman, Johnson & Adams (2015), section 5 and figure 4: linear dynamical systems by stick-breaking (SBM) and logistic-normal
(LNM), a raw one, and a hidden Markov model (HMM) forecast the end of a protein, of stories and of a book. Settings that the
paper does not give are those of the authors' program (specification of stick-breaking, D), except the offset and the
variance of C, which are the same for all methods.
"""

from dataclasses import replace

from workbench.papers.figure import NO_TOPICS, SEQUENCE, Claim, Extent, Figure, Method

PAPER = "Linderman, Johnson & Adams (2015), Dependent multinomial models made easy"
SBM, LNM, HMM, RAW, CLIP = "SBM-LDS", "LNM-LDS", "HMM", "raw LDS", "raw LDS, mean"
SMOOTH, SMALL = "HMM, alpha 0.1", "SBM-LDS, C 0.1"
GAINS = "gains"
"""Name of the drawing in `workbench.views.VIEWS`."""


def _methods(
    alpha0: float, sbm: float, lnm: float, hmm: float, raw: float, particles: int = 100
) -> tuple[Method, ...]:
    """Return the paper's four methods and `raw-lds` with mean forecasts; ``sbm`` … ``raw`` are seconds per sweep and token."""
    return (
        Method(SBM, "sbm-lds", samples=True, visit=sbm),
        Method(LNM, "lnm-lds", options={"sweep_particles": particles}, samples=True, visit=lnm),
        Method(HMM, "hmm", options={"alpha0": alpha0}, samples=True, visit=hmm),
        Method(RAW, "raw-lds", options={"probabilities": "argmax"}, samples=True, visit=raw),
        Method(CLIP, "raw-lds", samples=True, visit=raw),
    )


OTHERS = (LNM, HMM, RAW)
FASTER = Claim(
    "it is orders of magnitude faster than LNM-LDS by particles, which takes more than a hundred times as long",
    "hundred",
    LNM,
    SBM,
)
DNA = Figure(
    "lds-fig4-dna",
    "the last 10 of 682 protein symbols",
    PAPER,
    GAINS,
    ("dna",),
    _methods(1.0, 4e-7, 1e-6, 1e-7, 4e-7),
    Extent(19, NO_TOPICS, lengths={SBM: 1000, LNM: 200, HMM: 1000, RAW: 200, CLIP: 200}),
    Extent(9, NO_TOPICS, lengths={SBM: 300, LNM: 50, HMM: 300, RAW: 50}, without=(CLIP,)),
    (
        *(
            Claim("the HMM achieves the highest predictive likelihood", "gain", HMM, other)
            for other in (SBM, LNM, RAW)
        ),
        *(
            Claim("SBM-LDS edges out the other linear dynamical systems", "gain", SBM, other)
            for other in (LNM, RAW)
        ),
        *(
            Claim("both predict better than training frequencies", "over added", method, "")
            for method in (HMM, SBM)
        ),
        FASTER,
    ),
    weight=lambda *_: 1.0,
    split={},
    burn_in=None,
    n_records=100,
    of_paper=(SBM, *OTHERS),
    where=", figure 4",
    of_seed=SEQUENCE,
    paired="by sequence",
    each="each method, on as many sequences",
    about="Gain in nats for each held-out symbol over training frequencies, joint: of the probability of the whole end of a "
    "sequence, mean over the second half of the sweeps, given all before. Clipped: over frequencies that give unseen symbols "
    "1e-8, the paper's base; added: over those with 0.1 added to each count; seen: of symbols that training has alone.",
    note="The paper has one stretch of chromosome 22; ours are of chromosome 17, each with a model of its own, because 10 "
    "symbols decide nothing. Window 8 is a tandem repeat of 16 symbols. C has the variance 1 in all systems.",
)
TEXT_CLAIMS = (
    *(Claim("SBM-LDS outperforms the other methods", "gain", SBM, other) for other in OTHERS),
    Claim(
        "over training frequencies with unseen words at 1e-8, the paper's base, it gains",
        "over clipped",
        SBM,
        "",
    ),
    Claim(
        "it gains over frequencies with 0.1 added to each count (not in the paper)",
        "over added",
        SBM,
        "",
    ),
    Claim("and of words that were seen in training (not in the paper)", "over seen", SBM, ""),
    Claim("of these it gains more than the HMM (not in the paper)", "seen", SBM, HMM),
    FASTER,
)
STARTS = (
    "Intervals are over starts of the samplers: what other texts would have given they do not tell."
)
REUTERS = replace(
    DNA,
    name="lds-fig4-reuters",
    what="the last 10 words of each of 20 stories",
    corpora=("reuters_sequences",),
    methods=(
        *_methods(10.0, 2e-5, 6e-5, 2e-6, 1e-5),
        Method(SMOOTH, "hmm", options={"alpha0": 0.1}, samples=True, visit=2e-6),
    ),
    full=Extent(
        10, NO_TOPICS, lengths={SBM: 500, LNM: 200, HMM: 300, RAW: 100, CLIP: 100, SMOOTH: 300}
    ),
    quick=Extent(
        3, NO_TOPICS, lengths={SBM: 300, LNM: 40, HMM: 300, RAW: 40, SMOOTH: 300}, without=(CLIP,)
    ),
    claims=TEXT_CLAIMS,
    of_seed="",
    paired="by seed",
    each="each method",
    note="Instead of 20 articles of Associated Press, whose running text is not available. The systems are one for all "
    f"stories, as in the authors' program. {STARTS}",
)
ALICE = replace(
    REUTERS,
    name="lds-fig4-alice",
    what="the last 100 of 4,000 words of Alice's Adventures in Wonderland",
    corpora=("alice",),
    methods=(
        *_methods(10.0, 2e-5, 1e-4, 2e-6, 1e-4, particles=20),
        Method(SMOOTH, "hmm", options={"alpha0": 0.1}, samples=True, visit=2e-6),
        Method(SMALL, "sbm-lds", options={"sigma_c2": 0.1}, samples=True, visit=2e-5),
    ),
    full=Extent(
        3,
        NO_TOPICS,
        lengths={SBM: 500, LNM: 200, HMM: 300, RAW: 50, CLIP: 50, SMOOTH: 300, SMALL: 500},
    ),
    quick=Extent(
        3,
        NO_TOPICS,
        lengths={SBM: 100, LNM: 10, HMM: 150, RAW: 5, SMOOTH: 150, SMALL: 100},
        without=(CLIP,),
    ),
    claims=(
        *TEXT_CLAIMS,
        Claim(
            "with a variance of 0.1 of C it gains over those with 0.1 added (not in the paper)",
            "over added",
            SMALL,
            "",
        ),
    ),
    note="10 of the 100 held-out words are unseen in training: what is gained over the clipped base and not over the other, "
    f"0.79 nats, is the smoothing of unseen words. Particles of a sweep of LNM: 20. {STARTS}",
)
SIZE, ORDERS = "most frequent first", tuple(f"random order {seed}" for seed in range(4))
ORDER = replace(
    REUTERS,
    name="lds-order",
    what="the words of the stories in several orders on the stick",
    methods=(
        Method(SIZE, "sbm-lds", samples=True, visit=2e-5),
        *(
            Method(
                label,
                "sbm-lds",
                options={"order": "random", "order_seed": seed},
                samples=True,
                visit=2e-5,
            )
            for seed, label in enumerate(ORDERS)
        ),
    ),
    full=Extent(5, NO_TOPICS, 500),
    quick=Extent(3, NO_TOPICS, 200),
    claims=(
        *(
            Claim("the order does not impair what can be represented", "level", order, SIZE)
            for order in ORDERS
        ),
        *(
            Claim("nor of words that were seen in training", "seen level", order, SIZE)
            for order in ORDERS
        ),
    ),
    of_paper=(),
    where=", section 2.3",
    each="each order",
    note=f"The paper says so and measures nothing. Level: held-out perplexity within one percent, gains within "
    f"0.01 nats. With the most frequent first, words that are unseen in training are all at the end of the stick. {STARTS}",
)
SEQUENCE_FIGURES = (DNA, REUTERS, ALICE, ORDER)
