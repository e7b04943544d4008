"""What of a gap do better priors close?

A tenth of the tokens is held out, by a split of each seed; 100 iterations on one thread, from the default start. "Given" is
alpha = beta = 0.1. The best alpha and beta are those of a grid with the lowest mean perplexity over the other splits, for each
engine its own; the perplexity is that on the split itself. The gap is that to `cgs`, with the given priors of both, or with the
best of each. `svb` and `cvb` are scored by the last state, `svb-cgs` and `cgs` by p(w|d) averaged over the iterations after the
tenth. Means ± standard errors over splits.
"""

from __future__ import annotations

from functools import partial

import pandas as pd
from corpora import corpus_called
from records import markdown

import workbench as wb
from workbench.measures.gap import best_priors

NAME = "priors"
TITLE = "What better priors close"
CASES = (("docstrings", 10), ("reuters395", 10), ("kos", 10))
"""Corpus and number of topics."""
ENGINES = {"svb": {}, "cvb": {}, "svb-cgs": {"r": 1}, "cgs": {}}
ALPHAS, BETAS = (0.05, 0.1, 0.3, 1.0), (0.03, 0.1, 0.3, 0.6)
GIVEN = (0.1, 0.1)


def cells(plan):
    """(name, rough seconds, what measures it) of each corpus, number of topics and seed."""
    for name, n_topics in (("docstrings", 4),) if plan.quick else CASES:
        for seed in range(max(plan.seeds, 2)):
            work = partial(measure, name, n_topics, seed, 12 if plan.quick else 100)
            yield f"{name} K={n_topics} seed {seed}", 8 * n_topics, work


def measure(name: str, n_topics: int, seed: int, n_iterations: int) -> list[dict]:
    """A row for each engine, alpha and beta."""
    train, test, _ = wb.prepare(corpus_called(name), 0.1, seed)
    rows = []
    for engine, options in ENGINES.items():
        for alpha in ALPHAS:
            for beta in BETAS:
                about = dict(alpha=alpha, beta=beta, options=options, n_iterations=n_iterations)
                about |= dict(test=test, seed=seed, n_threads=1, progress=False, record_every=10)
                last = wb.fit(train, engine, n_topics, **about).isel(iteration=-1)
                about = dict(corpus=name, topics=n_topics, seed=seed, contender=engine)
                numbers = dict(
                    perplexity=float(last["test_perplexity"]), cpu=float(last["cpu_time"])
                )
                rows.append(about | dict(alpha=alpha, beta=beta) | numbers)
    return rows


def chosen(rows: pd.DataFrame) -> pd.DataFrame:
    """The perplexity of each case, engine and split at the given priors and at the best ones of the other splits."""
    found = []
    for (*case, engine), own in rows.groupby(["corpus", "topics", "contender"], sort=False):
        table = own.pivot_table("perplexity", "seed", ["alpha", "beta"])
        for seed in table.index:
            best = best_priors(table.T.to_dict(), seed)
            at = table.loc[seed]
            found.append((*case, engine, seed, at[GIVEN], at[best], best))
    return pd.DataFrame(
        found, columns=["corpus", "topics", "engine", "seed", "given", "best", "priors"]
    )


def told(rows: pd.DataFrame) -> str:
    """A table with the gaps of each corpus and number of topics at the given priors and at the best."""
    table = []
    for (corpus, n_topics), case in chosen(rows).groupby(["corpus", "topics"], sort=False):
        of_split = case.pivot(index="seed", columns="engine", values=["given", "best"])
        for engine in ENGINES:
            own, gaps = case[case["engine"] == engine], []
            for priors in ("given", "best"):
                difference = of_split[priors][engine] - of_split[priors]["cgs"]
                gaps.append(f"{difference.mean():.0f} ± {difference.sem():.0f}")
            priors = " or ".join(
                f"{alpha:g}, {beta:g}" for alpha, beta in dict.fromkeys(own["priors"])
            )
            means = [f"{own[which].mean():.0f}" for which in ("given", "best")]
            gaps = ["–", "–"] if engine == "cgs" else gaps
            table.append([f"{corpus}, {n_topics}", engine, *means, priors, *gaps])
    header = ["corpus, K", "", "given", "best", "best alpha, beta", "gap, given", "gap, best"]
    return "\n\n".join([__doc__.split("\n\n", 1)[1].strip(), markdown(header, table)])
