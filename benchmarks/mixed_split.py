"""How near to collapsed Gibbs sampling is a hybrid whose averaged pairs change by chance?

A tenth of the tokens is held out, by a split of each seed; alpha = beta = 0.1. `mixed-cgs` averages, in each iteration, each
pair with several tokens with a probability: one half; .9 times exp(-g), where averaging it adds g nats to Jensen's gap; .9,
halved every 20 iterations. Beside it the hybrid N ≤ r, r = 2 or the multiple, whose split stays. Counts × m: every count of
the corpus m times, before anything is held out.

"Perplexity" is the last one, of p(w|d) averaged over the second half of the iterations. "Beside cgs" is the difference from
`cgs` in percent, with its 95 % interval over seeds, in pairs. "In equal time" is the same when the last iteration of `cgs`
has ended, in CPU seconds of inference on one thread; where a contender had made all its iterations before, its last.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from adaptive_split import measure
from records import markdown
from scipy.stats import t

NAME = "mixed_split"
TITLE = "A split by chance"
N_ITERATIONS = 60
WAYS = {
    "one half": {"chance": 0.5},
    "by gap": {"chance": 0.9, "favour": "gap"},
    "falling": {"chance": 0.9, "halved_every": 20},
}
CASES = [
    *((corpus, 1, n_topics) for n_topics in (10, 40, 100) for corpus in ("docstrings", "kos")),
    *((corpus, 5, n_topics) for n_topics in (10, 40) for corpus in ("docstrings", "kos")),
    ("docstrings", 10, 10),
    ("nips", 1, 10),
    ("kos", 10, 10),
    ("docstrings", 5, 100),
    ("nips", 1, 40),
    ("kos", 5, 100),
]
"""Corpus, counts ×, number of topics."""


def contenders(r: int) -> dict[str, tuple[str, dict]]:
    """Label → engine and options; the one that sets the time comes first."""
    mixed = {f"{label}, svb": ("mixed-cgs", options) for label, options in WAYS.items()}
    cvb0 = {"one half, cvb0": ("mixed-cgs", WAYS["one half"] | {"average": "cvb0"})}
    return {"cgs": ("cgs", {}), "N ≤ r, svb": ("svb-cgs", {"r": r})} | mixed | cvb0


def cells(plan):
    """(name, rough seconds, what measures it) of each corpus, number of topics and seed."""
    cases, n_iterations = ((("docstrings", 1, 4),), 12) if plan.quick else (CASES, N_ITERATIONS)
    for name, repeat, n_topics in cases:
        guess = repeat * n_topics / 10 * {"docstrings": 2, "kos": 10, "nips": 40}[name]
        for seed in range(max(plan.seeds, 5)):
            work = partial(
                measure,
                name,
                repeat,
                n_topics,
                seed,
                n_iterations,
                contenders,
                burn_in=n_iterations // 2,
            )
            yield f"{name} ×{repeat} K={n_topics} seed {seed}", guess, work


def told(rows: pd.DataFrame) -> str:
    """A table of each corpus, multiple of its counts, and number of topics."""
    done = rows.dropna(subset=["cpu"])
    header = ["", "updates / N", "perplexity", "beside cgs, %", "CPU s", "in equal time, %"]
    parts = [__doc__.split("\n\n", 1)[1].strip()]
    for (corpus, repeat, n_topics), case in done.groupby(
        ["corpus", "repeat", "topics"], sort=False
    ):
        times = "" if repeat == 1 else f", counts × {repeat}"
        n_seeds = case["seed"].nunique()
        parts.append(f"**{corpus}{times}, K = {n_topics}**, seeds: {n_seeds}")
        by_label = {
            label: own.set_index("seed") for label, own in case.groupby("contender", sort=False)
        }
        cgs = by_label["cgs"]["perplexity"]
        parts.append(
            markdown(
                header,
                [
                    [
                        label,
                        f"{own['updates'].mean():.2f}",
                        f"{own['perplexity'].mean():.1f}",
                        "" if label == "cgs" else interval_of(own["perplexity"] / cgs - 1),
                        f"{own['cpu'].mean():.3g}",
                        "" if label == "cgs" else interval_of(own["in_time"] / cgs - 1),
                    ]
                    for label, own in by_label.items()
                ],
            )
        )
    return "\n\n".join(parts)


def interval_of(shares: pd.Series) -> str:
    """Mean and 95 % interval, in percent."""
    shares = 100 * shares.dropna()
    half = t.ppf(0.975, len(shares) - 1) * shares.std() / np.sqrt(len(shares))
    return f"{shares.mean():+.2f} ± {half:.2f}"
