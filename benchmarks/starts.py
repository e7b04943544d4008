"""What does the start of a variational engine cost it?

A tenth of the tokens is held out, by a split of each seed; alpha = beta = 0.1, 200 iterations on one thread. `init` is the
start: `smooth` begins with 50 iterations of warm-up, or with 100, which are among the 200 and in its CPU seconds; "from cvb0"
begins from the counts of 100 iterations of `cvb0` from noise, whose CPU seconds are added.

"Perplexity" is that of the last state, "averaged" that of p(w|d) averaged over the iterations after the tenth, for what
samples. The bound is in thousands of nats: comparable between starts of one engine, and not between engines. Means ± standard
errors over seeds.
"""

from __future__ import annotations

from functools import partial

import pandas as pd
from corpora import corpus_called
from pictures import figure
from records import markdown

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.options import takes
from workbench.measures.gap import PARTS as EVERY_PART
from workbench.views.elements import COLOURS

NAME = "starts"
TITLE = "What a start costs"
N_ITERATIONS, BEFORE = 200, 100
PARTS = [part for part in EVERY_PART if part != "priors"]
CASES = (
    ("docstrings", 10),
    ("kos", 10),
    ("reuters395", 10),
    ("docstrings", 40),
    ("kos", 40),
    ("nips", 10),
    ("kos", 100),
    ("reuters395", 40),
    ("nips", 40),
)
"""Corpus and number of topics."""
ENGINES = ("svb", "vb", "cvb", "cvb0", "cv-hdp", "network-vb")
INITS = {
    "dirichlet": {"init": "dirichlet"},
    "noise": {"init": "noise"},
    "smooth": {"init": "smooth"},
    "smooth, 100": {"init": "smooth", "warm_up": 100},
}
FROM_CVB0 = "from cvb0"
ABOUT_GAPS = """**What of the gap is the start.** Points of perplexity above the average of `cgs`: the state above that of the
engine's run with the highest bound from any of these starts on the same split (start), that state above the state of `cgs`
(approximation), and the state of `cgs` above its average (averaging). A hybrid, `svb-cgs` with r = 1, 2 or 5, is averaged
itself. `cv-hdp` has priors of its own, and `cvb+alpha` is `cvb` that learns an alpha for each topic. Means ± standard errors
over splits."""


def contenders() -> list[tuple[str, str]]:
    """(engine, start) of each run."""
    variational = [
        (engine, init)
        for engine in ENGINES
        for init, given in INITS.items()
        if takes(get_engine(engine), "init", given["init"])
    ]
    return [
        *variational,
        ("svb", FROM_CVB0),
        ("svb-cgs", "dirichlet"),
        ("svb-cgs", "smooth"),
        ("cgs", ""),
    ]


FURTHER = [("svb-cgs", "smooth r=2"), ("svb-cgs", "smooth r=5"), ("cvb+alpha", "smooth")]


def cells(plan):
    """(name, rough seconds, what measures it) of each corpus, number of topics and seed."""
    for name, n_topics in (("docstrings", 4),) if plan.quick else CASES:
        n_iterations = 12 if plan.quick else N_ITERATIONS
        for seed in range(plan.seeds):
            cell = f"{name} K={n_topics} seed {seed}"
            work = partial(measure, name, n_topics, seed, n_iterations)
            yield f"{cell}, further", n_topics, partial(work, FURTHER)
            yield cell, 8 * n_topics, partial(work, contenders())


def measure(
    name: str, n_topics: int, seed: int, n_iterations: int, wanted: list[tuple[str, str]]
) -> list[dict]:
    """A row for each engine and start."""
    train, test, _ = wb.prepare(corpus_called(name), 0.1, seed)
    fit = partial(wb.fit, train, test=test, seed=seed, n_threads=1, progress=False, record_every=10)
    rows = []
    for contender, start in wanted:
        engine, _, learnt = contender.partition("+")
        init, _, r = start.partition(" r=")
        priors = {} if engine in ("cv-hdp", "network-vb") else {"alpha": 0.1, "beta": 0.1}
        model = {"model": "lda"} if engine == "network-vb" else {}
        before, seconds = None, 0.0
        if start == FROM_CVB0:
            before = fit("cvb0", n_topics, n_iterations=BEFORE, **priors)
            seconds = float(before["cpu_time"][-1])
        given = INITS.get(init, {}) | ({"r": float(r or 1)} if engine == "svb-cgs" else {})
        given |= {"learn_alpha": "maximised", "alpha_form": "asymmetric"} if learnt else {}
        chosen = dict(options=given, start=before, n_iterations=n_iterations)
        run = fit(engine, n_topics, **priors, **model, **chosen).isel(iteration=-1)
        rows.append(
            {
                "corpus": name,
                "topics": n_topics,
                "seed": seed,
                "contender": f"{contender} {start}".strip(),
                "perplexity": float(run["test_perplexity_state"]),
                "averaged": float(run["test_perplexity"]),
                "bound": float(run["bound"]) / 1e3 if "bound" in run else float("nan"),
                "cpu": float(run["cpu_time"]) + seconds,
            }
        )
    return rows


def gaps(rows: pd.DataFrame) -> pd.DataFrame:
    """The parts of each run's perplexity above the average of cgs, by corpus, number of topics, engine, start and seed.

    "start" is the state minus that of the engine's run with the highest bound from any start, "approximation" that state
    minus the state of cgs, "averaging" the state of cgs minus its average. Of `TOTALS` the total alone.
    """
    engines, _, starts = rows["contender"].str.partition(" ").T.values
    rows = rows.assign(**{"engine": engines, "from": starts})
    parts = []
    for _, case in rows.groupby(["corpus", "topics", "seed"], sort=False):
        (cgs,) = case[case["engine"] == "cgs"].itertuples()
        for engine, own in case.groupby("engine", sort=False):
            if engine in TOTALS:
                parts.append(own.assign(total=own["averaged"] - cgs.averaged))
            elif engine in COMPARED:
                best = own.loc[own["bound"].idxmax(), "perplexity"]
                of_best = best - cgs.perplexity, cgs.perplexity - cgs.averaged
                numbers = dict(zip(PARTS, (own["perplexity"] - best, *of_best), strict=True))
                parts.append(own.assign(**numbers, total=own["perplexity"] - cgs.averaged))
    return pd.concat(parts)


COMPARED = ("svb", "vb", "cvb", "cvb0")
"""Engines of LDA with the priors of cgs, and a bound."""
TOTALS = ("svb-cgs", "cv-hdp", "cvb+alpha")
"""Engines without a bound that ranks their optima, or with other priors."""


def told_gaps(rows: pd.DataFrame) -> str:
    """A table of the parts of the gaps."""
    table = []
    for (corpus, n_topics, engine, start), own in gaps(rows).groupby(
        ["corpus", "topics", "engine", "from"], sort=False
    ):
        shown = start.startswith("smooth r=") or (engine, start) == ("cvb0", "noise")
        if shown or start in ("dirichlet", "smooth", FROM_CVB0):
            means, errors = own[[*PARTS, "total"]].mean(), own[[*PARTS, "total"]].sem()
            numbers = [
                "–" if pd.isna(means[part]) else f"{means[part]:.0f} ± {errors[part]:.0f}"
                for part in (*PARTS, "total")
            ]
            table.append([f"{corpus}, {n_topics}", f"{engine} {start}", *numbers])
    return markdown(["corpus, K", "", *PARTS, "total"], table)


def draw(rows: pd.DataFrame, folder) -> list[str]:
    """The parts of the gaps from the papers' start and from the default, a panel for each corpus and number of topics."""
    wanted = [f"{engine} {start}" for engine in COMPARED[:3] for start in ("dirichlet", "smooth")]
    parts = gaps(rows)
    parts["label"] = parts["engine"] + " " + parts["from"]
    means = parts.groupby(["corpus", "topics", "label"])[list(PARTS)].mean()
    cases = list(dict.fromkeys(zip(rows["corpus"], rows["topics"], strict=True)))
    with figure(folder / f"{NAME}.svg", 4, -(-len(cases) // 4), 1.8) as panels:
        for axes in panels.flat[len(cases) :]:
            axes.set_visible(False)
        for axes, case in zip(panels.flat, cases, strict=False):
            own = means.loc[case].loc[wanted[::-1]]
            ends = {True: 0.0, False: 0.0}
            for part, colour in zip(PARTS, COLOURS, strict=False):
                upper, lower = own[part].clip(lower=0), own[part].clip(upper=0)
                for up, values in ((True, upper), (False, lower)):
                    axes.barh(own.index, values, left=ends[up], color=colour, label=part)
                    ends[up] = ends[up] + values
            axes.axvline(0, color="black", linewidth=0.8)
            axes.set_title(f"{case[0]}, K = {case[1]}")
            axes.set_xlabel("perplexity above cgs")
    return [f"{NAME}.svg"]


def told(rows: pd.DataFrame) -> str:
    """The parts of the gaps, and a table of each corpus and number of topics."""
    parts = [__doc__.split("\n\n", 1)[1].strip(), ABOUT_GAPS, told_gaps(rows)]
    header = ["", "perplexity", "averaged", "bound, 1000 nats", "CPU s"]
    for (corpus, n_topics), case in rows.groupby(["corpus", "topics"], sort=False):
        parts.append(f"**{corpus}, K = {n_topics}**, seeds: {case['seed'].nunique()}")
        table = []
        for label, own in case.groupby("contender", sort=False):
            errors = own[["perplexity", "averaged", "bound"]].sem().fillna(0.0)
            means = own[["perplexity", "averaged", "bound", "cpu"]].mean()
            averaged = label.startswith(("cgs", "svb-cgs"))
            table.append(
                [
                    label,
                    f"{means['perplexity']:.0f} ± {errors['perplexity']:.0f}",
                    f"{means['averaged']:.0f} ± {errors['averaged']:.0f}" if averaged else "–",
                    "–"
                    if pd.isna(means["bound"])
                    else f"{means['bound']:.1f} ± {errors['bound']:.1f}",
                    f"{means['cpu']:.2f}",
                ]
            )
        parts.append(markdown(header, table))
    return "\n\n".join(parts)
