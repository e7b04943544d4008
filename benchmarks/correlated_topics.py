"""Correlated topics beside tomotopy's CTModel, topics over years beside its DTModel, and Polya-gamma draws beside `polyagamma`.

Associated Press cut to 1,000 words, one thread, medians over rounds in turns. "seconds to" is the CPU time until held-out words
are predicted as well by the state as CTModel's state does after 60 iterations, a tenth of the tokens held out; ours begin
with 30 sweeps of `cgs`, which count. Draws are of PG(b, c) as a sweep of `sb-ctm` at T = 50 asks for them, and of PG(1, c)
with the same c.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from corpora import corpus_called
from ours import LeftOut, Ours
from peers import BETA, Tomotopy, wanted
from records import markdown
from rounds import ratio, take_turns
from time_to_perplexity import Progress

from workbench.corpus import hold_out_tokens
from workbench.corpus.experiments import keep_top_words
from workbench.kernels.polya_gamma import polya_gammas
from workbench.kernels.stick_breaking.sticks import remaining

NAME = "correlated_topics"
TITLE = "Correlated topics, and topics over years"
CORPUS, SIZES, WARM_UP = "ap1000", (50, 100), 5
ENGINES = ("cgs", "sb-ctm", "ln-ctm", "ctm-em", "sb-ctm-vb")
MARK, N_ITERATIONS, MOST_DRAWS = 60, 120, 100_000
"""Iterations of CTModel whose held-out perplexity is the mark; those of ours at the most; draws that are timed at once."""


class CTModel(Tomotopy):
    """tomotopy's correlated topic model, with its own settings but for eta."""

    def _model(self, tomotopy, n_topics, seed):
        return tomotopy.CTModel(k=n_topics, eta=BETA, seed=seed)


class DTModel(Tomotopy):
    """tomotopy's dynamic topic model: a sweep of topics and a step of gradient descent."""

    def _model(self, tomotopy, n_topics, seed):
        return tomotopy.DTModel(k=n_topics, t=self.n_years, seed=seed)

    def __init__(self, corpus, n_topics: int, **settings):
        self.years = np.array(corpus.times).astype(int)
        self.n_years = int(np.ptp(self.years)) + 1
        super().__init__(corpus, n_topics, **settings)

    def _about(self, corpus, document):
        return {"timepoint": int(self.years[document] - self.years.min())}


class Draws:
    """So many draws at a time, by a function of shapes b, tilts c and a number that makes them others."""

    def __init__(self, draw, b, c):
        self.draw, self.b, self.c, self.n_sweeps = draw, b, c, 0

    def sweep(self, n: int = 1) -> None:
        for _ in range(n):
            self.n_sweeps += 1
            self.draw(self.b, self.c, self.n_sweeps)


def cells(plan):
    """(name, rough seconds, what measures it) of every part."""
    for n_topics in SIZES[:1] if plan.quick else SIZES:
        yield f"{CORPUS} T={n_topics}", n_topics, partial(measure_sweeps, n_topics, plan)
    yield "draws", 20, partial(measure_draws, plan)
    yield "years", 60, partial(measure_years, plan)
    for n_topics in SIZES[:1] if plan.quick else SIZES:
        yield f"seconds to, T={n_topics}", 2 * n_topics, partial(measure_progress, n_topics, plan)


def measure_sweeps(n_topics: int, plan) -> list[dict]:
    """A row for each contender and round: a sweep, or an iteration over all documents."""

    def makers(corpus):
        found = {name: partial(Ours, name, corpus, n_topics) for name in ENGINES}
        found["sb-ctm, 2 threads"] = partial(Ours, "sb-ctm", corpus, n_topics, n_threads=2)
        return found | {"CTModel": partial(CTModel, corpus, n_topics)}

    return _in_turns(CORPUS, f"T={n_topics}", plan, makers)


def measure_years(plan) -> list[dict]:
    """Papers of NIPS, 2,000 words, 13 years, 20 topics."""

    def makers(corpus):
        corpus = keep_top_words(corpus, 2000)
        return {
            name: partial(Ours, name, corpus, 20) for name in ("cgs", "sb-dtm", "sb-ctm-lds")
        } | {"DTModel": partial(DTModel, corpus, 20)}

    return _in_turns("nips17", "years, T=20", plan, makers)


def measure_draws(plan) -> list[dict]:
    """Ours beside the draws of `polyagamma`, its default and its exact method."""

    def makers(corpus):
        ours = Ours("sb-ctm", corpus, 50)
        ours.sweep(20)
        b = remaining(ours.state.n_dk[:, :50]).ravel()
        b, c = b[b > 0][:MOST_DRAWS], ours.state.sticks.ravel()[b > 0][:MOST_DRAWS]
        found = {}
        for label, shapes in {"PG(b, c)": b, "PG(1, c)": np.ones_like(b)}.items():
            found[f"{label}: ours"] = partial(
                Draws, lambda b, c, n: polya_gammas(b, c, np.uint64(n)), shapes, c
            )
            for method in (None, "devroye"):
                name = f"{label}: polyagamma, {method or 'default'}"
                found[name] = partial(Draws, partial(_theirs, method=method), shapes, c)
        return found

    rows = _in_turns(CORPUS, "draws", plan, makers)
    return [row | {"n_draws": MOST_DRAWS} for row in rows]


def _theirs(b, c, seed, method):
    return wanted("polyagamma").random_polyagamma(b, c, method=method, random_state=seed)


def _in_turns(corpus_name: str, size: str, plan, makers) -> list[dict]:
    about = {"corpus": corpus_name, "size": size}
    try:
        contenders = makers(corpus_called(corpus_name))
    except LeftOut as why:
        return [about | {"contender": "all", "left_out": str(why)}]
    warm_up = 2 if plan.quick else WARM_UP
    rows = take_turns(
        {name: (make, warm_up) for name, make in contenders.items()}, plan.rounds, plan.seconds
    )
    return [about | row for row in rows]


def measure_progress(n_topics: int, plan) -> list[dict]:
    """A row for each iteration of CTModel and `sb-ctm`: CPU seconds so far, held-out perplexity of the state."""
    about = {"corpus": CORPUS, "size": f"seconds to, T={n_topics}"}
    try:
        train, test = hold_out_tokens(corpus_called(CORPUS), 0.1, 0)
        Ours("sb-ctm", train, n_topics).sweep()  # compiled before any clock counts
        runs = {
            "CTModel": Progress(CTModel(train, n_topics), test, MARK),
            "sb-ctm": Progress(Ours("sb-ctm", train, n_topics), test, N_ITERATIONS),
        }
    except LeftOut as why:
        return [about | {"contender": "all", "left_out": str(why)}]
    runs["sb-ctm"].cpu = runs["sb-ctm"].contender.cpu
    rows = []
    for part in range(1, 21):
        for label, progress in runs.items():
            rows += [about | {"contender": label} | row for row in progress.until(part / 20)]
    return rows


def sooner(rows: pd.DataFrame) -> tuple[float, float]:
    """How many times sooner `sb-ctm` predicts as well as CTModel in the end, and that perplexity; NaN if never."""
    theirs, ours = (rows[rows["contender"] == name] for name in ("CTModel", "sb-ctm"))
    mark = theirs.iloc[-1]
    there = ours[ours["perplexity"] <= mark["perplexity"]]
    times = mark["cpu"] / there["cpu"].min() if len(there) else float("nan")
    return float(times), float(mark["perplexity"])


def told(rows: pd.DataFrame) -> str:
    """Milliseconds of CPU per sweep and nanoseconds per draw, medians, and ratios over the rounds."""
    rows, table, parts = rows.dropna(subset=["cpu"]), [], [__doc__.split("\n\n", 1)[1].strip()]
    for size, part in rows[rows["iteration"].isna()].groupby("size", sort=False):
        each, unit = (part["n_draws"].iloc[0], "ns") if size == "draws" else (1.0, "ms")
        took = (
            part.groupby("contender", sort=False)["cpu"].median()
            * {"ns": 1e9, "ms": 1e3}[unit]
            / each
        )
        for name, value in took.items():
            beside = _beside(size, name)
            times = ratio(part, name, beside) if beside in took.index else float("nan")
            table.append(
                [
                    size,
                    name,
                    f"{value:.3g} {unit}",
                    f"{times:.3g} × {beside}" if times == times else "–",
                ]
            )
    parts.append(markdown(["", "", "CPU time", "as fast as"], table))
    for size, part in rows[rows["iteration"].notna()].groupby("size", sort=False):
        times, mark = sooner(part)
        found = f"{times:.3g} times sooner" if times == times else "not reached"
        parts.append(
            f"{size.capitalize()}, perplexity {mark:.0f} of CTModel after {MARK} iterations: `sb-ctm` {found}."
        )
    return "\n\n".join(parts)


def _beside(size: str, name: str) -> str:
    """Whom a contender is compared with."""
    if size == "draws":
        kind, _, whose = name.partition(": ")
        return f"{kind}: polyagamma, default" if whose == "ours" else f"{kind}: ours"
    if name in ("CTModel", "DTModel"):
        return "cgs"
    return "DTModel" if size.startswith("years") else "CTModel"
