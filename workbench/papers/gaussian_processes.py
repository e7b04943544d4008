"""Figures of names by state and year, as in the paper on stick-breaking: hits of four methods, also by seconds, and maps.

Linderman, Johnson & Adams (2015), section 4 and figure 3: static, raw, logistic-normal (LNM) and stick-breaking multinomial
(SBM) Gaussian processes predict the years 2012 and 2013 from 50 births of each state and year before. Settings that the paper
does not give are those of the authors' program (specification of stick-breaking, C).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.papers.figure import (
    DRAW,
    HITS,
    NO_TOPICS,
    Claim,
    Drawing,
    Extent,
    Figure,
    Method,
    claims,
)

PAPER = "Linderman, Johnson & Adams (2015), Dependent multinomial models made easy"
STATIC, RAW, LNM, SBM = "static", "raw GP", "LNM", "SBM"
SBM_DENSE, LNM_DENSE = "SBM, dense", "LNM, dense"
CONDITIONAL = "SBM, conditional"
COURSES = "courses"
"""Name of the drawing: hits and log likelihood against seconds."""


class TableRow(NamedTuple):
    """A method's hits (correct names among the ten most and ten least frequent) in a year, as in table 3 of the paper."""

    top: float
    top_deviation: float
    bottom: float
    bottom_deviation: float


PUBLISHED = {
    (STATIC, 2012): TableRow(4.2, 1.3, 0.7, 1.2),
    (STATIC, 2013): TableRow(4.2, 1.4, 0.8, 1.0),
    (RAW, 2012): TableRow(4.9, 1.1, 0.7, 0.9),
    (RAW, 2013): TableRow(5.0, 1.0, 0.8, 0.9),
    (LNM, 2012): TableRow(6.7, 1.4, 4.8, 1.7),
    (LNM, 2013): TableRow(6.8, 1.4, 4.6, 1.7),
    (SBM, 2012): TableRow(7.3, 1.0, 4.0, 1.8),
    (SBM, 2013): TableRow(7.0, 1.0, 3.9, 1.4),
}
BY_TOTAL = {"order": "vocabulary"}
"""The order of the names on the stick: that of the data set, by their totals over all states and years, as in the program."""
METHODS = (
    Method(STATIC, "static", visit=1e-8),
    Method(RAW, "raw-gp", options=BY_TOTAL, visit=4e-6),
    Method(LNM, "lnm-gp", samples=True, visit=1.2e-7),
    Method(SBM, "sbm-gp", options=BY_TOTAL, samples=True, visit=1.8e-6),
)


NAIVE = [(method, naive) for method in (SBM, LNM) for naive in (RAW, STATIC)]
CLAIMS = (
    *claims(
        "top",
        "the multinomial models are vastly superior to the naive approaches, of the 10 most frequent names",
        *NAIVE,
    ),
    *claims("bottom", "and of the 10 least frequent ones", *NAIVE),
    Claim(
        "the multinomial models are comparable, within half a name of the 10 most frequent",
        "top level",
        SBM,
        LNM,
    ),
    Claim("and of the 10 least frequent", "bottom level", SBM, LNM),
    Claim(
        "the stick-breaking model is ahead at the top (the paper's 7.3 and 6.7)", "top", SBM, LNM
    ),
    Claim(
        "the logistic-normal model is ahead at the bottom (the paper's 4.8 and 4.0)",
        "bottom",
        LNM,
        SBM,
    ),
)
TABLE_3 = Figure(
    "gp-table3",
    "names of 2012 and 2013 predicted from 50 births of each state and year",
    PAPER,
    HITS,
    ("names",),
    METHODS,
    Extent(5, NO_TOPICS, lengths={STATIC: 1, RAW: 1, LNM: 200, SBM: 20}),
    Extent(3, NO_TOPICS, lengths={STATIC: 1, RAW: 1, LNM: 100, SBM: 12}),
    CLAIMS,
    weight=lambda *_: 1.0,
    burn_in=None,
    n_records=100,
    split={},
    published=PUBLISHED,
    of_seed=DRAW,
    where=", figure 3, table",
    about="Of the 10 most and of the 10 least frequent names of a state, how many are predicted; mean over the states, in "
    "brackets the standard deviation over them, both averaged over the draws. In grey the paper's. Ties are broken at random; "
    "in 2012 15 of 44 states have ten names or more that nobody got. Log likelihood: nats for each birth that came.",
    note="The paper has 48 states: full counts of CA, IL, NY and TX are not among our files. Its 20 sweeps of SBM and 200 of "
    "LNM, of which the second half counts, are no convergence: gp-fig3-time continues.",
    paired="by the births drawn",
    each="each method",
)
TIMES = replace(
    TABLE_3,
    name="gp-fig3-time",
    what="hits and log likelihood of predicted names against seconds",
    shows=COURSES,
    methods=(
        METHODS[2],
        METHODS[3],
        Method(
            CONDITIONAL,
            "sbm-gp",
            options=BY_TOTAL | {"predict": "conditional"},
            samples=True,
            visit=1.6e-6,
        ),
        Method(LNM_DENSE, "lnm-gp", options={"rank": "dense"}, samples=True, visit=1e-6),
        Method(SBM_DENSE, "sbm-gp", options=BY_TOTAL | {"rank": "dense"}, samples=True, visit=3e-5),
    ),
    full=Extent(
        3,
        NO_TOPICS,
        lengths={LNM: 2000, SBM: 100, CONDITIONAL: 100, LNM_DENSE: 1000, SBM_DENSE: 20},
    ),
    quick=Extent(
        3, NO_TOPICS, lengths={LNM: 200, SBM: 12, CONDITIONAL: 12}, without=(LNM_DENSE, SBM_DENSE)
    ),
    claims=(
        *claims(
            "twice",
            "the stick-breaking model is considerably faster: the other takes more than twice as long to come to "
            "its log likelihood",
            (LNM, SBM),
            (LNM_DENSE, SBM_DENSE),
        ),
        *claims(
            "sooner",
            "its sampler is more efficient, sweep by sweep",
            (SBM, LNM),
            (SBM_DENSE, LNM_DENSE),
        ),
        Claim(
            "collapsed predictions are more efficient, sweep by sweep", "sooner", SBM, CONDITIONAL
        ),
        Claim("in the end both are as good (not in the paper)", "level", SBM, LNM),
    ),
    burn_in=2,
    of_paper=(LNM, SBM, LNM_DENSE, SBM_DENSE),
    where=", figure 3, bottom right",
    about="Of the running average from the third sweep on, of the state before; seconds of inference without "
    "predicting and measuring, CPU seconds in the table below. A run has come to its log likelihood when exp(-x) stays within "
    "1 % of its end. Dense: the covariance of all rows; else its eigenvectors of eigenvalues above 1e-8 of the largest.",
    note="The paper does not tell its machine or what its programs keep: LNM draws from one Cholesky factor, made once, while "
    "SBM factors a matrix for each name and sweep.",
)
GAUSSIAN_FIGURES = (TABLE_3, TIMES)


# ---- Figure 3, top

YEARS, N_NAMES = (1970.0, 1990.0, 2010.0), 2
NEGLIGIBLE = 0.1
"""Limit of the ratio of standard deviation to probability, for one of the ten most frequent names of a row."""
AS_WELL = 0.01
"""Limit of the difference in nats per birth of two equally good predictions."""


def draw_name_maps(quick: bool):
    """Draw maps of the name probabilities that `sbm-gp` infers from full counts, beside the observed shares."""
    from workbench.corpus import load_corpus, prepare
    from workbench.runs.execution.fit import fit
    from workbench.views.every import draw_view
    from workbench.views.picture import Picture
    from workbench.views.rows_with_inputs import words_of

    train, test, split = prepare(load_corpus("names:births=all"))
    n = 4 if quick else 40
    common = {"test": test, "split": split, "progress": False}
    run, raw = (
        fit(
            train,
            engine,
            n_iterations=n_iterations,
            burn_in=n_iterations // 2,
            snapshot_every=n_iterations,
            options=options,
            **common,
        )
        for engine, n_iterations, options in (
            ("sbm-gp", n, BY_TOTAL | {"average_after": n // 2}),
            ("raw-gp", 1, BY_TOTAL),
        )
    )
    corpora = {train.content_hash: train, test.content_hash: test}
    maps = [
        [draw_view("word-map", [run], corpora=corpora, word=name, time=year)[0] for year in YEARS]
        for name in words_of(run)[:N_NAMES]
    ]
    probability, deviation = run["probability"].values, run["probability_deviation"].values
    states = np.flatnonzero(train.document_tokens)
    common_names = np.argsort(-probability[states], axis=1)[:, :10]
    relative = float(
        np.median(np.take_along_axis(deviation[states] / probability[states], common_names, axis=1))
    )
    likely = [float(fitted_run["test_log_likelihood"].values[-1]) for fitted_run in (run, raw)]
    first = maps[0][0]
    # a row has one of each year
    panels = [
        fitted_run.panels[panel]
        for pictures_of_name in maps
        for panel in range(len(first.panels))
        for fitted_run in pictures_of_name
    ]
    return Picture(
        MAPS.name,
        MAPS.title,
        "",
        panels,
        first.header,
        [
            row
            for pictures_of_name in maps
            for fitted_run in pictures_of_name
            for row in fitted_run.rows
        ],
        False,
        1.6,
    ), [
        (
            "with thousands of names per state and year the posterior uncertainty is negligible, less than a tenth of the "
            "probability of a frequent name",
            relative < NEGLIGIBLE,
            f"{relative:.3f} of it, median over rows and names",
        ),
        (
            "and a Gaussian process of the transformed shares works well, as well as within 0.01 nats for each birth",
            likely[1] > likely[0] - AS_WELL,
            f"SBM {likely[0]:.3f}, raw GP {likely[1]:.3f}",
        ),
    ]


MAPS = Drawing(
    "gp-fig3-maps",
    "probabilities of names over space and time, from full counts",
    PAPER,
    draw_name_maps,
    ", figure 3, top",
    "Above the shares of the births that were counted, below the probabilities inferred, of the names whose probability "
    "ranges widest, in three years. Outlines of states: U.S. Census Bureau, TIGER/Line Shapefiles.",
    "The paper does not tell in words which names it has; it has 48 states, ours are 44, without full counts of CA, IL, NY "
    "and TX. What is negligible, and what is as well, is ours, set before it was computed.",
    "4 sweeps, not 40",
)
