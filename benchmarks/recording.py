"""What do measuring and storing cost?

Measuring: the perplexity of the test tokens after an iteration (`InMemoryData.score`), and all that is recorded of one
(`loop.measure`: clocks, bound or log joint, topic sizes, training perplexity), beside the step of the same engine, in turns.
Storing: the same run of `cgs` on KOS, K = 10, once in memory and once in a store with every iteration recorded, in turns; wall
and CPU time of the whole `fit`, the making of the store, the copy of the corpus and the last checkpoint included. What of that
a run costs whatever its length, the same pair with one iteration tells; the rest is what storing each iteration adds.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
from corpora import corpus_called
from ours import Ours
from records import markdown
from rounds import take_turns, timed

from workbench.corpus import data_sets, hold_out_tokens
from workbench.runs import loop
from workbench.runs.execution import fit as fitting
from workbench.runs.parts.laying_out import InMemoryData
from workbench.runs.spec import make_spec

NAME = "recording"
TITLE = "Measuring and storing"
ENGINES, PARTS = ("cgs", "svb", "cvb0", "svb-cgs"), ("test perplexity", "record")
TOPICS, WARM_UP = (10, 40, 100, 500), 10
N_ITERATIONS, N_RUNS, STORED_TOPICS = 300, 5, 10
ONCE = "one iteration "
PAIRS = [
    (part, where, n) for part, n in (("", None), (ONCE, 1)) for where in ("in memory", "in a store")
]
"""What is timed of storing: part, where, and the iterations if they are not those of the plan."""


def kos() -> str:
    """KOS, or the bundled corpus where it is missing."""
    return "kos" if data_sets()["kos"].folder() else "docstrings"


def cells(plan):
    """(name, rough seconds, what measures it)."""
    for n_topics in TOPICS[:1] if plan.quick else TOPICS:
        yield f"measuring K={n_topics}", 15 + n_topics / 10, partial(measuring, n_topics, plan)
    yield "storing", 10 if plan.quick else 70, partial(storing, plan)


class Measured:
    """An engine, and what is computed after each of its iterations, as contenders that share a state."""

    def __init__(self, name: str, train, test, n_topics: int):
        self.ours = Ours(name, train, n_topics)
        self.data = InMemoryData(make_spec(train, name, n_topics=n_topics, test=test), train, test)
        self.average = self.data.average_anew()

    def sweep(self, n: int = 1) -> None:
        self.ours.sweep(n)

    def score(self) -> None:
        context = self.ours.context(self.ours.n_sweeps)
        self.average, *_ = self.data.score(self.ours.state, self.average, True, context)

    def record(self) -> None:
        n, state = self.ours.n_sweeps, self.ours.state
        loop.measure(
            self.data,
            loop.Position(n, state, self.average, 0.0, 0.0, 0),
            {},
            {},
            self.ours.context(n),
        )


class Repeated:
    """A function without arguments as a contender."""

    def __init__(self, work):
        self.work = work

    def sweep(self, n: int = 1) -> None:
        for _ in range(n):
            self.work()


def measuring(n_topics: int, plan) -> list[dict]:
    train, test = hold_out_tokens(corpus_called(kos()), 0.1, 0)
    makers = {}
    for name in ENGINES:
        measured = Measured(name, train, test, n_topics)
        makers[f"{name} step"] = (lambda one=measured: one), WARM_UP
        for part, work in zip(PARTS, (measured.score, measured.record), strict=True):
            makers[f"{name} {part}"] = partial(Repeated, work), 3
    rows = take_turns(makers, plan.rounds, plan.seconds)
    about = {"what": "measuring", "corpus": train.name, "n_topics": n_topics}
    return [about | split_name(row) for row in rows]


def split_name(row: dict) -> dict:
    """The engine and what of it is timed, in columns of their own."""
    engine, _, part = row["contender"].partition(" ")
    return row | {"engine": engine, "part": part}


def storing(plan) -> list[dict]:
    train, test = hold_out_tokens(corpus_called(kos()), 0.1, 0)
    n_iterations = 30 if plan.quick else N_ITERATIONS

    def run(n: int, store: Path | None) -> None:
        fitting.fit(
            train,
            "cgs",
            STORED_TOPICS,
            n_iterations=n,
            test=test,
            store=store,
            record_every=1,
            progress=False,
        )

    run(1, None)  # compiles
    rows = []
    for round_ in range(2 if plan.quick else N_RUNS):
        for part, where, n in PAIRS:
            sweeps = n or n_iterations
            with tempfile.TemporaryDirectory() as folder:
                cpu, wall = timed(
                    partial(run, sweeps, Path(folder) if where == "in a store" else None)
                )
            rows.append(
                {
                    "part": f"{part}{where}",
                    "round": round_,
                    "cpu": cpu,
                    "wall": wall,
                    "sweeps": sweeps,
                }
            )
    about = {"what": "storing", "corpus": train.name, "n_topics": STORED_TOPICS, "engine": "cgs"}
    return [about | row for row in rows]


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """(K and engine) milliseconds of a step, and what measuring adds to it as shares; medians, shares within rounds."""
    rows = rows[rows["what"] == "measuring"]
    found = []
    for (n_topics, engine), part in rows.groupby(["n_topics", "engine"], sort=False):
        by_round = part.pivot_table(index="round", columns="part", values="cpu")
        relative = by_round.div(by_round["step"], axis=0).median()
        found.append(
            {
                "n_topics": n_topics,
                "engine": engine,
                "step": by_round["step"].median() * 1e3,
                **{part: relative[part] for part in PARTS},
            }
        )
    return pd.DataFrame(found)


def cost_of_storing(rows: pd.DataFrame, what: str = "wall") -> tuple[float, float]:
    """What a store adds to a run, as shares of it: by each iteration, and once; medians over rounds."""
    rows = rows[(rows["what"] == "storing") & rows["cpu"].notna()]
    by_round = rows.pivot_table(index="round", columns="part", values=what)
    if not {f"{part}{where}" for part, where, _ in PAIRS} <= set(by_round.columns):
        return float("nan"), float("nan")
    added, once = (
        by_round[f"{part}in a store"] - by_round[f"{part}in memory"] for part in ("", ONCE)
    )
    return float(((added - once) / by_round["in memory"]).median()), float(
        (once / by_round["in memory"]).median()
    )


def told(rows: pd.DataFrame) -> str:
    parts = [__doc__.split("\n\n", 1)[1].strip()]
    found = shares(rows)
    if len(found):
        parts.append(f"{rows['corpus'].iloc[0]}, a tenth of the tokens held out; CPU time:")
        table = [
            [
                f"{row['engine']}, K={row['n_topics']}",
                f"{row['step']:.2f}",
                *(f"{row[part]:.1%}" for part in PARTS),
            ]
            for _, row in found.iterrows()
        ]
        parts.append(markdown(["", "ms a step", *PARTS], table))
    stored = rows[rows["what"] == "storing"]
    if len(stored):
        median = stored.groupby("part")[["cpu", "wall"]].median()
        table = []
        for said, what in (("wall", "wall"), ("CPU", "cpu")):
            memory, store = (median.loc[where, what] for where in ("in memory", "in a store"))
            each, once = cost_of_storing(rows, what)
            table.append([said, f"{memory:.2f}", f"{store:.2f}", f"{each:+.1%}", f"{once:+.1%}"])
        parts.append(
            markdown(
                [
                    f"{stored['corpus'].iloc[0]}, K={STORED_TOPICS}, {stored['sweeps'].max():.0f} iterations; seconds",
                    "in memory",
                    "in a store",
                    "added by each iteration",
                    "added once",
                ],
                table,
            )
        )
    return "\n\n".join(parts)
