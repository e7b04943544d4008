"""How much CPU time until held-out words are predicted so well?

KOS, K = 10, a tenth of the tokens held out. After every iteration of every contender its theta and phi (posterior means) give
p(w|d) = sum_k theta_dk phi_wk of the test pairs, by one function for all: `perplexity` of the state, and for samplers `online`,
that of p(w|d) averaged over the sweeps after the tenth. Neither that nor reading the corpus in counts as time. scikit-learn and
gensim as they come (up to 100 and 50 inner steps) but for batch mode, the priors and one thread; their theta for the test is a
further E-step, which is not counted.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pandas as pd
from corpora import corpus_called
from ours import LeftOut, Ours
from peers import PEERS
from pictures import figure, line, looks_of, plain
from records import markdown

from workbench.corpus import data_sets, hold_out_tokens
from workbench.engines.lda.fold_in import mixture_probability
from workbench.runs.scoring import perplexity

NAME = "time_to_perplexity"
TITLE = "CPU seconds to a held-out perplexity"
N_TOPICS, BURN_IN, N_TURNS = 10, 10, 20
RESTARTED = {"restart_documents": True, "init": "noise"}
OURS = {
    "svb": ("svb", {"init": "dirichlet"}, 100),
    "svb smooth": ("svb", {"init": "smooth"}, 100),
    "vb": ("vb", {"init": "dirichlet"}, 60),
    "vb smooth": ("vb", {"init": "smooth"}, 100),
    "vb restarted 2": ("vb", RESTARTED | {"n_inner": 2}, 60),
    "vb restarted 5": ("vb", RESTARTED | {"n_inner": 5}, 60),
    "vb restarted 20": ("vb", RESTARTED | {"n_inner": 20}, 40),
    "cvb": ("cvb", {"init": "dirichlet"}, 60),
    "cvb smooth": ("cvb", {"init": "smooth"}, 100),
    "cvb0": ("cvb0", {"init": "noise"}, 100),
    "cgs": ("cgs", {}, 300),
    "svb-cgs": ("svb-cgs", {}, 300),
    "cvb-cgs": ("cvb-cgs", {}, 300),
    "cvb0-cgs": ("cvb0-cgs", {}, 300),
}
"""Label → engine, options, iterations. "restarted n": documents begin anew in every iteration, with at most n inner steps."""
PEER_ITERATIONS = {"tomotopy": 300, "lda": 300, "scikit-learn": 30, "gensim": 30}
VB_FAMILY = tuple(label for label, (engine, _, _) in OURS.items() if engine in ("vb", "svb"))
MARK = 20
"""Iterations of scikit-learn whose perplexity the target is about."""
EACH_UNTIL, THEN_EVERY = 50, 5
"""Iterations of which each has a row, and how many a row stands for after that."""
LEVELS = (2000, 1900, 1850, 1800, 1750, 1700, 1650)


def cells(plan):
    """(name, rough seconds, what measures it) of every seed."""
    for seed in range(plan.seeds):
        yield f"seed {seed}", 10 if plan.quick else 90, partial(measure, seed, plan)


def measure(seed: int, plan) -> list[dict]:
    """A row for each contender and iteration."""
    name = "kos" if data_sets()["kos"].folder() else "docstrings"
    train, test = hold_out_tokens(corpus_called(name), 0.1, seed)
    rows, runs = [], {}
    shorter = 20 if plan.quick else 1
    for label, (make, n_iterations) in makers(train, seed).items():
        try:
            runs[label] = Progress(make(), test, max(2, n_iterations // shorter))
        except LeftOut as why:
            rows.append({"contender": label, "left_out": str(why)})
    compile_first(seed)
    for context in range(1, N_TURNS + 1):
        for label, run in runs.items():
            rows += [{"contender": label} | row for row in run.until(context / N_TURNS)]
    return [{"corpus": name, "seed": seed} | row for row in rows]


def makers(train, seed: int) -> dict:
    """Label → what makes it, and its iterations."""
    ours = {
        label: (partial(Ours, engine, train, N_TOPICS, seed, given=given), n)
        for label, (engine, given, n) in OURS.items()
    }
    as_they_come = {label: {} for label in PEERS} | {
        label: {"inner": "usual"} for label in ("scikit-learn", "gensim")
    }
    return ours | {
        label: (partial(peer, train, N_TOPICS, seed, **as_they_come[label]), PEER_ITERATIONS[label])
        for label, peer in PEERS.items()
    }


def compile_first(seed: int) -> None:
    """One sweep of each engine over the bundled corpus, so that no clock counts the compiler."""
    small = corpus_called("docstrings")
    for engine, given, _ in OURS.values():
        Ours(engine, small, N_TOPICS, seed, given=given).sweep(2)


class Progress:
    """A contender on its way: how far, after how much CPU time, how well."""

    def __init__(self, contender, test, n_iterations: int):
        self.contender, self.test, self.n_iterations = contender, test, n_iterations
        self.iteration, self.cpu, self.sum = 0, 0.0, np.zeros(test.n_pairs)

    def until(self, share: float) -> list[dict]:
        """Goes on to a share of its iterations; a row for each."""
        rows = []
        while self.iteration < round(share * self.n_iterations):
            began = time.process_time()
            self.contender.sweep()
            self.cpu += time.process_time() - began
            self.iteration += 1
            scores = self.scores()
            if self.iteration <= EACH_UNTIL or self.iteration % THEN_EVERY == 0:
                rows.append({"iteration": self.iteration, "cpu": self.cpu} | scores)
        return rows

    def scores(self) -> dict[str, float]:
        probability = mixture_probability(*self.contender.theta_phi(), self.test)
        alone = perplexity(self.test, probability)
        if not self.contender.samples or self.iteration <= BURN_IN:
            return {"perplexity": alone, "online": alone}
        self.sum += probability
        return {
            "perplexity": alone,
            "online": perplexity(self.test, self.sum / (self.iteration - BURN_IN)),
        }


def seconds_to(rows: pd.DataFrame, level: float) -> float:
    """CPU seconds of one contender and seed when its online perplexity first is at most that; NaN if it never was."""
    there = rows[rows["online"] <= level]
    return float(there["cpu"].min()) if len(there) else float("nan")


def to_the_mark(rows: pd.DataFrame) -> pd.DataFrame:
    """(seed, contender) times faster than scikit-learn at the perplexity that it has after 20 iterations."""
    rows, found = rows.dropna(subset=["cpu"]), {}
    for seed, part in rows[rows["corpus"] == "kos"].groupby("seed"):
        there = part[(part["contender"] == "scikit-learn") & (part["iteration"] == MARK)]
        if not len(there):
            continue
        mark = there.iloc[0]
        found[seed] = {
            label: mark["cpu"] / seconds_to(own, mark["online"])
            for label, own in part.groupby("contender", sort=False)
        } | {"scikit-learn": 1.0, "perplexity": mark["online"], "seconds": mark["cpu"]}
    return pd.DataFrame.from_dict(found, orient="index")


def told(rows: pd.DataFrame) -> str:
    done = rows.dropna(subset=["cpu"])
    header = ["", *map(str, LEVELS), "last", "iterations"]
    table = []
    by_label = dict(list(done.groupby("contender")))
    for label in (label for label in (*OURS, *PEERS) if label in by_label):
        part = by_label[label]
        seconds = [
            pd.Series([seconds_to(one, level) for _, one in part.groupby("seed")])
            for level in LEVELS
        ]
        shown = [f"{found.median():.3g}" if found.notna().all() else "–" for found in seconds]
        last = part.groupby("seed")["online"].last()
        table.append([label, *shown, f"{last.mean():.0f}", int(part["iteration"].max())])
    n_seeds = done["seed"].nunique()
    parts = [
        __doc__.split("\n\n", 1)[1].strip(),
        f"Corpus {done['corpus'].iloc[0]}; medians over {n_seeds} seed{'s' if n_seeds > 1 else ''}, each with a split of its "
        'own; – where not all came there; "last" is the mean after the last iteration. "restarted n": documents begin anew '
        "in every iteration, as scikit-learn's do, topics from `init=noise`, with at most n inner steps.",
        markdown(header, table),
    ]
    against = to_the_mark(rows)
    if len(against):
        median = against.median()
        parts += [
            f"scikit-learn after {MARK} iterations: perplexity {median['perplexity']:.0f} after {median['seconds']:.1f} CPU s. "
            "Times faster to the same perplexity:",
            markdown(
                ["", "times faster"],
                [
                    [label, f"{value:.0f}" if value == value else "–"]
                    for label, value in median.drop(["perplexity", "seconds"]).items()
                    if label != "scikit-learn"
                ],
            ),
        ]
    return "\n\n".join(parts)


def draw(rows: pd.DataFrame, folder) -> list[str]:
    """Perplexity against CPU seconds of the first seed: variational engines beside samplers, with their peers."""
    rows = rows.dropna(subset=["cpu"])
    rows = rows[rows["seed"] == rows["seed"].min()]
    families = (
        ("svb", "vb", "vb restarted 5", "cvb", "cvb0", "scikit-learn", "gensim"),
        ("cgs", "svb-cgs", "cvb-cgs", "cvb0-cgs", "tomotopy", "lda"),
    )
    names = [name for family in families for name in family]
    shown = looks_of(names)
    shown["vb restarted 5"] = shown["vb"]._replace(line="-")
    with figure(folder / f"{NAME}.svg", 2, 1, 3.0) as panels:
        for axes, family in zip(panels.flat, families, strict=True):
            for name in family:
                part = rows[rows["contender"] == name]
                line(axes, part["cpu"], part["online"], name, shown[name], marked=[-1])
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: plain(value))
            axes.set_xlabel("CPU seconds of inference")
        low, high = rows["online"].min(), rows["online"].quantile(0.9)
        for axes in panels.flat:
            axes.set_ylim(low - 0.05 * (high - low), high + 0.15 * (high - low))
        panels[0, 0].set_ylabel("held-out perplexity")
    return [f"{NAME}.svg"]
