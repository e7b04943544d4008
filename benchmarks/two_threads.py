"""What do two threads cost, and what do they gain?

CPU time counts every thread; wall time gains only where the other core is idle, so read it beside the load. The engines that
visit tokens or pairs in order have work for a second thread only in a partition of documents and words (`partition`), whose
chain depends on the partition and not on the number of threads. "apart" is what the machine takes of it: CPU time that a sweep
on one thread takes more while another one, of a state of its own, goes on beside it.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pandas as pd
from corpora import corpus_called
from ours import LeftOut, Ours
from peers import PEERS
from records import markdown
from rounds import ratio, take_turns

from workbench.corpus import data_sets
from workbench.engines import get_engine
from workbench.engines.options import takes

NAME = "two_threads"
TITLE = "Two threads"
ENGINES = ("vb", "svb", "cvb", "cvb0", "cgs", "svb-cgs", "cvb-cgs", "cvb0-cgs")
PARTITION, WARM_UP = 4, 10
SHAPES = (("kos", 10), ("kos", 100), ("nips", 40))


def cells(plan):
    """(name, rough seconds, what measures it) of every corpus and K."""
    for corpus, n_topics in SHAPES[:1] if plan.quick else SHAPES:
        known = corpus if data_sets()[corpus].folder() else "docstrings"
        yield f"{known} K={n_topics}", n_topics / 2 + 15, partial(measure, known, n_topics, plan)


def options_of(name: str) -> dict:
    """A partition, for an engine that has one."""
    return {"partition": PARTITION} if takes(get_engine(name), "partition", PARTITION) else {}


class Apart:
    """Two of the same that have nothing to do with each other, swept at once."""

    def __init__(self, make):
        self.pair, self.pool = (make(), make()), ThreadPoolExecutor(2)

    def sweep(self, n: int = 1) -> None:
        list(self.pool.map(lambda one: one.sweep(n), self.pair))


def measure(corpus_name: str, n_topics: int, plan) -> list[dict]:
    try:
        corpus = corpus_called(corpus_name)
    except LeftOut as why:
        return [
            {"corpus": corpus_name, "n_topics": n_topics, "contender": "all", "left_out": str(why)}
        ]
    makers = {}
    for name in ENGINES:
        given = options_of(name)
        label = " ".join([name, *(f"{option}={value}" for option, value in given.items())])
        for n_threads in (1, 2):
            make = partial(Ours, name, corpus, n_topics, n_threads=n_threads, given=given)
            makers[f"{label}, {n_threads}"] = (make, 2 if plan.quick else WARM_UP)
        one = makers[f"{label}, 1"][0]
        makers[f"{label}, apart"] = (partial(Apart, one), 2 if plan.quick else WARM_UP)
    for n_threads in (1, 2):
        makers[f"tomotopy, {n_threads}"] = (
            partial(PEERS["tomotopy"], corpus, n_topics, n_threads=n_threads),
            WARM_UP,
        )
    rows = take_turns(makers, plan.rounds, plan.seconds)
    return [
        {"corpus": corpus_name, "n_topics": n_topics, "n_tokens": corpus.n_tokens} | row
        for row in rows
    ]


def extra(rows: pd.DataFrame, contender: str) -> float:
    """CPU time of two threads more than that of one, as a share."""
    return ratio(rows, f"{contender}, 1", f"{contender}, 2") - 1


def apart(rows: pd.DataFrame, contender: str) -> float:
    """CPU time of a sweep beside another one more than that of one alone, as a share; NaN where it was not measured."""
    return ratio(rows, f"{contender}, 1", f"{contender}, apart") / 2 - 1


def contenders(rows: pd.DataFrame) -> list[str]:
    """The names without the numbers of threads."""
    return list(dict.fromkeys(name.rpartition(",")[0] for name in rows["contender"]))


def share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.1%}"


def told(rows: pd.DataFrame) -> str:
    parts = [__doc__.split("\n\n", 1)[1].strip()]
    for (corpus, n_topics), part in rows.dropna(subset=["cpu"]).groupby(
        ["corpus", "n_topics"], sort=False
    ):
        found = part.groupby("contender")[["cpu", "wall"]].median() * 1e3
        table = []
        for name in contenders(part):
            one, two = found.loc[f"{name}, 1"], found.loc[f"{name}, 2"]
            gain = ratio(part, f"{name}, 2", f"{name}, 1", "wall")
            seconds = [f"{of[clock]:.2f}" for clock in ("cpu", "wall") for of in (one, two)]
            shares = [share(of(part, name)) for of in (extra, apart)]
            table.append([name, *seconds[:2], *shares, *seconds[2:], f"{gain:.2f}"])
        parts.append(
            markdown(
                [
                    f"{corpus}, K={n_topics}; ms a sweep",
                    "CPU, 1",
                    "CPU, 2",
                    "extra",
                    "apart",
                    "wall, 1",
                    "wall, 2",
                    "times faster",
                ],
                table,
            )
        )
    return "\n\n".join(parts)
