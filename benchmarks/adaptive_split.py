"""Which pairs should a hybrid sample, where it may make only so many updates?

A tenth of the tokens is held out, by a split of each seed; alpha = beta = 0.1. The hybrids sample the pairs that count at most
r (N ≤ r), those that averaging harms most (gap, chosen every 5 iterations), or pairs at random, chosen once or every 5
iterations: all with as many updates a sweep as N ≤ r makes. The rest is averaged as in `svb`, `cvb` or `cvb0`. Counts × m:
every count of the corpus m times, before anything is held out.

"Perplexity" is the last one, of p(w|d) averaged over the sweeps after the tenth for what samples. "Beside N ≤ r" is the
difference from the hybrid N ≤ r that averages in the same way, and "of the way" which part of that hybrid's distance to `cgs`
is gone. "In equal time" is the difference from N ≤ r with `svb` when its last iteration has ended, in CPU seconds of inference
on one thread; where a contender had made all its iterations before, its last. Means ± standard errors over seeds, in pairs.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from corpora import corpus_called
from ours import LeftOut
from records import markdown

import workbench as wb

NAME = "adaptive_split"
TITLE = "A split that adapts"
N_ITERATIONS = 100
BY_COUNTS, GAP, FIXED, REDRAWN = "N ≤ r", "gap", "random, once", "random, redrawn"
AVERAGES = ("svb", "cvb", "cvb0")
SPLITS = {
    GAP: {"split": "gap"},
    FIXED: {"split": "random", "refresh": 0},
    REDRAWN: {"split": "random"},
}
CASES = (
    ("docstrings", 1, 10),
    ("docstrings", 1, 40),
    ("kos", 1, 10),
    ("nips", 1, 40),
    ("kos", 4, 10),
    ("kos", 1, 40),
    ("nips", 1, 10),
    ("kos", 10, 10),
    ("kos", 4, 40),
    ("kos", 10, 40),
)
"""Corpus, counts ×, number of topics."""
FAR = 2.0
"""Perplexity by which a hybrid must stay behind `cgs` for parts of the way to be told."""


def contenders(r: int) -> dict[str, tuple[str, dict]]:
    """Label → engine and options; the one that sets the time comes first."""
    found = {}
    for average in AVERAGES:
        found[f"{BY_COUNTS}, {average}"] = f"{average}-cgs", {"r": r}
        found |= {
            f"{split}, {average}": ("adaptive-cgs", {"average": average, "budget_r": r} | given)
            for split, given in SPLITS.items()
        }
    return found | {"cvb0": ("cvb0", {}), "cgs": ("cgs", {})}


def cells(plan):
    """(name, rough seconds, what measures it) of each corpus, number of topics and seed."""
    cases, guess, n_iterations = (
        ((("docstrings", 1, 4),), 5, 12) if plan.quick else (CASES, 60, N_ITERATIONS)
    )
    for case in cases:
        for seed in range(plan.seeds):
            yield (
                "{} ×{} K={}".format(*case) + f" seed {seed}",
                guess,
                partial(measure, *case, seed, n_iterations),
            )


def measure(
    name: str,
    repeat: int,
    n_topics: int,
    seed: int,
    n_iterations: int,
    contenders=contenders,
    **settings,
) -> list[dict]:
    """A row for each contender; ``contenders``: of a count r, the first sets the time; ``settings`` of `wb.fit`."""
    about = {"corpus": name, "repeat": repeat, "topics": n_topics, "seed": seed}
    try:
        train, test, _ = wb.prepare(corpus_called(name), 0.1, seed, repeat=repeat)
    except LeftOut as why:
        return [about | {"contender": label, "left_out": str(why)} for label in contenders(2)]
    rows, seconds = [], None
    for label, (engine, options) in contenders(max(2, repeat)).items():
        run = wb.fit(
            train,
            engine,
            n_topics=n_topics,
            alpha=0.1,
            beta=0.1,
            n_iterations=n_iterations,
            test=test,
            seed=seed,
            options=options,
            n_threads=1,
            progress=False,
            **settings,
        )
        if run.sizes["iteration"] < n_iterations:
            raise SystemExit(
                f"{label} was stopped after {run.sizes['iteration']} iterations; nothing of this cell is kept"
            )
        cpu, perplexity = run["cpu_time"].values, run["test_perplexity"].values
        seconds = cpu[-1] if seconds is None else seconds
        rows.append(
            about
            | {
                "contender": label,
                "updates": run["updates"].values[-1] / n_iterations / train.n_tokens,
                "perplexity": perplexity[-1],
                "cpu": cpu[-1],
                "in_time": np.interp(seconds, cpu, perplexity),
            }
        )
    return rows


def told(rows: pd.DataFrame) -> str:
    """A table of each corpus and number of topics."""
    done = rows.dropna(subset=["cpu"])
    parts = [__doc__.split("\n\n", 1)[1].strip()]
    header = [
        "",
        "updates / N",
        "perplexity",
        f"beside {BY_COUNTS}",
        "of the way to cgs",
        "CPU s",
        "in equal time",
    ]
    for (corpus, repeat, n_topics), case in done.groupby(
        ["corpus", "repeat", "topics"], sort=False
    ):
        by_label = {
            label: own.set_index("seed") for label, own in case.groupby("contender", sort=False)
        }
        times = "" if repeat == 1 else f", counts × {repeat}"
        parts.append(
            f"**{corpus}{times}, K = {n_topics}**, r = {max(2, repeat)}, seeds: {case['seed'].nunique()}"
        )
        parts.append(markdown(header, [table_row(label, by_label) for label in by_label]))
    return "\n\n".join(parts)


def table_row(label: str, by_label: dict[str, pd.DataFrame]) -> list[str]:
    """What is told of one contender."""
    own, cgs = by_label[label], by_label["cgs"]["perplexity"]
    beside = by_label.get(f"{BY_COUNTS}, {label.rpartition(', ')[2]}")
    difference, way = "", ""
    if beside is not None and beside is not own:
        paired = own["perplexity"] - beside["perplexity"]
        difference, distance = error_of(paired), (beside["perplexity"] - cgs).mean()
        way = f"{-paired.mean() / distance:.0%}" if distance > FAR else "–"
    in_time = own["in_time"] - by_label[f"{BY_COUNTS}, svb"]["in_time"]
    return [
        label,
        f"{own['updates'].mean():.2f}",
        f"{own['perplexity'].mean():.1f}",
        difference,
        way,
        f"{own['cpu'].mean():.3g}",
        error_of(in_time) if in_time.any() else "",
    ]


def error_of(differences: pd.Series) -> str:
    """Mean ± standard error of those that are there; of a single one itself."""
    differences = differences.dropna()
    if len(differences) == 1:
        return f"{differences.mean():+.1f}"
    return f"{differences.mean():+.1f} ± {differences.std() / np.sqrt(len(differences)):.1f}"
