"""Correlated topic models compared, as in the paper on stick-breaking with Polya-gamma augmentation.

Linderman, Johnson & Adams (2015), section 3 and figure 2, middle and right: stick-breaking (SB-CTM) and logistic-normal
(LN-CTM) correlated topics by Gibbs sampling, the latter by variational EM (CTM-EM) too, and LDA by collapsed Gibbs sampling.
Section 2.3 claims, without a measurement, that the order of the sticks does no harm: a figure compares several orders.
"""

from dataclasses import replace

from workbench.papers.figure import EACH, ONE, Claim, Drawing, Extent, Figure, Method

SB, LN, EM, LDA, TUNED = "SB-CTM", "LN-CTM", "CTM-EM", "LDA, alpha 1", "LDA, alpha 0.1"
CLOCKS = "perplexity-by-iterations-and-seconds"
"""Name of the drawing: held-out perplexity against iterations, and against seconds."""
METHODS = (
    Method(SB, "sb-ctm", samples=True, visit=7e-9),
    Method(LN, "ln-ctm", samples=True, visit=7e-9),
    Method(EM, "ctm-em", options={"start_sweeps": 30}, visit=3e-8),
    Method(LDA, "cgs", alpha=ONE, samples=True, visit=1e-9),
    Method(TUNED, "cgs", alpha=EACH, samples=True, visit=1e-9),
)
CLAIMS = (
    *(
        Claim(
            "SB-CTM predicts the other half of documents better than the other methods",
            "lower",
            SB,
            other,
        )
        for other in (LN, EM, LDA)
    ),
    Claim(
        "with a smaller alpha LDA is on a level with it (not in the paper, whose alpha is 1)",
        "level",
        SB,
        TUNED,
    ),
    Claim("EM lies between LN-CTM and SB-CTM", "lower", EM, LN),
    Claim("LDA converges faster", "sooner", LDA, SB),
)
AP = Figure(
    "ctm-fig2-ap",
    "Associated Press, halves of documents held out",
    "Linderman, Johnson & Adams (2015), Dependent multinomial models made easy",
    CLOCKS,
    ("ap1000",),
    METHODS,
    Extent(3, (100,), sweeps=(100, 1500), lengths={LDA: 1000, TUNED: 1000}),
    Extent(2, (20,), sweeps=(20, 60), n_documents=500),
    CLAIMS,
    beta=0.05,
    holdout=0.05,
    split={"per": "half"},
    burn_in=None,
    n_records=100,
    of_paper=(SB, LN, EM, LDA),
    where=", figure 2",
    note="The paper's LN-CTM has 200 sweeps, ours as many as SB-CTM; its priors of the sticks are no distribution, ours are.",
    about="Held-out perplexity: of the running average over the second half of the sweeps for those that sample, of the state "
    "for EM. The paper draws the log likelihood of the sampled state alone.",
    held_out="% of the documents, of which half the tokens are scored, drawn anew for each seed",
    paired="by seed",
    documents="{n:,} of {whole:,} documents",
    each="each method",
)
SIZE, ORDERS = "largest first", tuple(f"random order {seed}" for seed in range(4))
ORDER = Figure(
    "sb-order",
    "Associated Press, the topics in several orders on the stick",
    AP.paper,
    "ordering",
    AP.corpora,
    (
        Method(SIZE, "sb-ctm", samples=True, visit=7e-9),
        *(
            Method(
                label,
                "sb-ctm",
                options={"order": "random", "order_seed": seed},
                samples=True,
                visit=7e-9,
            )
            for seed, label in enumerate(ORDERS)
        ),
    ),
    Extent(5, (50,), 1000),
    Extent(4, (20,), 200, n_documents=1000),
    tuple(
        Claim(
            "the order of the topics does not impair what can be represented", "level", order, SIZE
        )
        for order in ORDERS
    ),
    beta=0.05,
    holdout=0.05,
    split={"per": "half"},
    burn_in=None,
    n_records=100,
    where=", section 2.3",
    note="The paper says so and measures nothing. Runs of one seed begin with the same topics, in other orders.",
    about="Held-out perplexity: of the running average over the second half of the sweeps.",
    held_out=AP.held_out,
    paired="by seed",
    documents=AP.documents,
    each="each order",
)
CORRELATED_FIGURES = (
    ORDER,
    AP,
    replace(
        AP,
        name="ctm-fig2-news",
        what="20 Newsgroups, halves of documents held out",
        corpora=("news1000",),
        beta=0.1,
        holdout=0.1,
        full=Extent(3, (50,), sweeps=(100, 1000)),
        quick=Extent(2, (20,), sweeps=(20, 60), n_documents=1000),
        note="The paper's text holds out 5 % of the documents, its code 10 %: here 10 %.",
    ),
)


CORRELATED_PAIR = "house committee congress law", "bush dukakis president campaign"
ANTICORRELATED_PAIR = "percent year billion rate", "court case attorney judge"
"""The two pairs of topics that the paper highlights; each topic is given by some of its words."""


def draw_topics(quick: bool):
    """Draw the topic correlations of one run of `sb-ctm` on Associated Press, with the paper's two pairs of topics framed."""
    from workbench.corpus import load_corpus
    from workbench.measures.correlations import topic_correlations, topic_of_words
    from workbench.runs.execution.fit import fit
    from workbench.views.every import draw_view

    n_topics, n_iterations = (30, 150) if quick else (100, 600)
    settings = {"beta": 0.05, "n_iterations": n_iterations, "snapshot_every": n_iterations // 10}
    run = fit(load_corpus("ap1000"), "sb-ctm", n_topics, **settings)
    (picture,), correlations = (
        draw_view("topic-correlations", [run], marked=[CORRELATED_PAIR, ANTICORRELATED_PAIR]),
        topic_correlations(run)["correlation"],
    )

    def checked(claim: str, pair: tuple[str, str], sign: int) -> tuple[str, bool, str]:
        """Check that the correlation of a pair of topics has the claimed sign."""
        topics = [topic_of_words(run, words) for words in pair]
        value = float(correlations.sel(topic=topics[0], other_topic=topics[1]))
        words = " and ".join(
            f"({words.replace(' ', ', ')}), topic {topic}"
            for words, topic in zip(pair, topics, strict=True)
        )
        return (claim, topics[0] != topics[1] and sign * value > 0, f"{value:+.3f} between {words}")

    return replace(picture, name=TOPICS.name, title=TOPICS.title), [
        checked("the topics of parliament and of the election go together", CORRELATED_PAIR, 1),
        checked("those of the economy and of the courts avoid each other", ANTICORRELATED_PAIR, -1),
    ]


TOPICS = Drawing(
    "ctm-fig2-topics",
    "Associated Press, correlations of topics",
    AP.paper,
    draw_topics,
    ", figure 2, left",
    "Correlation of the shares of two topics in a document, from the last half of the snapshots of one run; the two pairs "
    "that the paper highlights are framed.",
    "The paper draws the correlations of the sticks, which depend on the order of the topics; its run was started from a fit "
    "by EM.",
    "30 topics and 150 sweeps, not 100 and 600",
)
