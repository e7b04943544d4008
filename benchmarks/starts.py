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
from records import markdown

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.options import takes

NAME = "starts"
TITLE = "What a start costs"
N_ITERATIONS, BEFORE = 200, 100
CASES = (
    ("docstrings", 10),
    ("kos", 10),
    ("reuters395", 10),
    ("docstrings", 40),
    ("kos", 40),
    ("nips", 10),
    ("kos", 100),
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


def cells(plan):
    """(name, rough seconds, what measures it) of each corpus, number of topics and seed."""
    for name, n_topics in (("docstrings", 4),) if plan.quick else CASES:
        n_iterations = 12 if plan.quick else N_ITERATIONS
        for seed in range(plan.seeds):
            yield (
                f"{name} K={n_topics} seed {seed}",
                8 * n_topics,
                partial(measure, name, n_topics, seed, n_iterations),
            )


def measure(name: str, n_topics: int, seed: int, n_iterations: int) -> list[dict]:
    """A row for each engine and start."""
    train, test, _ = wb.prepare(corpus_called(name), 0.1, seed)
    fit = partial(wb.fit, train, test=test, seed=seed, n_threads=1, progress=False, record_every=10)
    rows = []
    for engine, start in contenders():
        priors = {} if engine in ("cv-hdp", "network-vb") else {"alpha": 0.1, "beta": 0.1}
        model = {"model": "lda"} if engine == "network-vb" else {}
        before, seconds = None, 0.0
        if start == FROM_CVB0:
            before = fit("cvb0", n_topics, n_iterations=BEFORE, **priors)
            seconds = float(before["cpu_time"][-1])
        given = INITS.get(start, {}) | ({"r": 1} if engine == "svb-cgs" else {})
        chosen = dict(options=given, start=before, n_iterations=n_iterations)
        run = fit(engine, n_topics, **priors, **model, **chosen).isel(iteration=-1)
        rows.append(
            {
                "corpus": name,
                "topics": n_topics,
                "seed": seed,
                "contender": f"{engine} {start}".strip(),
                "perplexity": float(run["test_perplexity_state"]),
                "averaged": float(run["test_perplexity"]),
                "bound": float(run["bound"]) / 1e3 if "bound" in run else float("nan"),
                "cpu": float(run["cpu_time"]) + seconds,
            }
        )
    return rows


def told(rows: pd.DataFrame) -> str:
    """A table of each corpus and number of topics."""
    parts = [__doc__.split("\n\n", 1)[1].strip()]
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
