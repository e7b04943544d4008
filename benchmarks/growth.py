"""How does a sweep grow with the corpus, the vocabulary and the number of topics?

Documents and words are drawn (`synthetic.zipf`): first ever more documents over 10,000 words at K = 40, then 4000 documents
over ever more words at K = 40; K grows on KOS. Samplers make 20 sweeps before the first that counts.
"""

from __future__ import annotations

from functools import partial

import pandas as pd
from corpora import corpus_called
from ours import Ours
from peers import PEERS
from pictures import figure, line, log_axes, looks_of, plain
from records import markdown
from rounds import take_turns

from workbench.corpus import data_sets, synthetic

NAME = "growth"
TITLE = "Growth"
N_TOPICS = 40
DOCUMENTS, WORDS, TOPICS = (
    (500, 2000, 8000, 32_000),
    (1000, 10_000, 100_000),
    (8, 16, 32, 64, 128, 256, 512),
)
CONTENDERS, WARM_UP, N_ROUNDS = ("cgs", "svb", "cvb0", "svb-cgs"), 20, 3
WHAT = {"N": "tokens N", "W": "words W", "K": "topics K"}


def cells(plan):
    """(name, rough seconds, what measures it) of every size."""
    shorter = slice(None, 2) if plan.quick else slice(None)
    for n_documents in DOCUMENTS[shorter]:
        yield f"N {n_documents}", n_documents / 400, partial(measure, "N", n_documents, plan)
    for n_words in WORDS[shorter]:
        yield f"W {n_words}", 12, partial(measure, "W", n_words, plan)
    for n_topics in TOPICS[shorter]:
        yield f"K {n_topics}", 4 + n_topics / 8, partial(measure, "K", n_topics, plan)


def measure(what: str, size: int, plan) -> list[dict]:
    corpus = {
        "N": lambda: synthetic.zipf(n_documents=size, n_words=10_000)[0],
        "W": lambda: synthetic.zipf(n_documents=4000, n_words=size)[0],
        "K": lambda: corpus_called("kos" if data_sets()["kos"].folder() else "docstrings"),
    }[what]()
    n_topics = size if what == "K" else N_TOPICS
    makers = {
        name: (partial(Ours, name, corpus, n_topics), 3 if plan.quick else WARM_UP)
        for name in CONTENDERS
    }
    makers["tomotopy"] = (partial(PEERS["tomotopy"], corpus, n_topics), 3)
    rows = take_turns(makers, min(N_ROUNDS, plan.rounds), plan.seconds)
    about = {
        "grows": what,
        "size": corpus.n_tokens if what == "N" else size,
        "n_tokens": corpus.n_tokens,
    }
    return [about | row for row in rows]


def per_token(rows: pd.DataFrame) -> pd.DataFrame:
    """(size, contender) median CPU nanoseconds per token."""
    scaled = rows.assign(ns=rows["cpu"] / rows["n_tokens"] * 1e9)
    table = scaled.pivot_table(index="size", columns="contender", values="ns", aggfunc="median")
    return table[[name for name in (*CONTENDERS, "tomotopy") if name in table]]


def told(rows: pd.DataFrame) -> str:
    parts = [__doc__.split("\n\n", 1)[1].strip(), "CPU nanoseconds per token and sweep, medians:"]
    for what, part in rows.dropna(subset=["cpu"]).groupby("grows", sort=False):
        table = per_token(part)
        lines = [
            [plain(size), *(f"{value:.1f}" for value in values)]
            for size, *values in table.itertuples()
        ]
        parts.append(markdown([WHAT[what], *table.columns], lines))
    return "\n\n".join(parts)


def draw(rows: pd.DataFrame, folder) -> list[str]:
    """Nanoseconds per token against N, W and K."""
    rows = rows.dropna(subset=["cpu"])
    shown = looks_of((*CONTENDERS, "tomotopy"))
    kinds = [what for what in WHAT if (rows["grows"] == what).any()]
    with figure(folder / f"{NAME}.svg", len(kinds)) as panels:
        for axes, what in zip(panels.flat, kinds, strict=True):
            table = per_token(rows[rows["grows"] == what])
            for name in shown:
                if name in table:
                    line(axes, table.index, table[name], name, shown[name])
            log_axes(
                axes, list(table.index), WHAT[what], "" if what != kinds[0] else "CPU ns per token"
            )
    return [f"{NAME}.svg"]
