"""How long is a sweep, beside that of the peers, on the same work?

Collapsed Gibbs sampling of ours, tomotopy and lda visits every token once; a sweep of scikit-learn and gensim with one inner
step goes once over the pairs for the documents and once for the words, which `svb`, and `vb` with one inner step, do in one
visit. One thread, alpha = beta = 0.1, nothing learnt of the priors; the peers in float64, but for the float32 weights of
tomotopy. lda begins at the topics that `cgs` has after its warm-up; the others warm up by themselves.
"""

from __future__ import annotations

import math
from functools import partial

import pandas as pd
from corpora import corpus_called
from ours import LeftOut, Ours
from peers import PEERS, Lda
from pictures import figure, line, log_axes, looks_of
from records import markdown
from rounds import medians, ratio, take_turns

from workbench.engines import ENGINES, get_engine
from workbench.models import LDA

NAME = "beside_peers"
TITLE = "A sweep beside the peers"
ONE_STEP = {"n_inner": 1, "inner_tolerance": 0.0}
VARIATIONAL = {"svb": {}, "vb": ONE_STEP, "online-vb": ONE_STEP, "cvb0": {}, "cvb": {}}
SAMPLERS = [name for name in ENGINES if get_engine(name).model is LDA and name not in VARIATIONAL]
WARM_UP = {"cgs": 50, "tomotopy": 50, "scikit-learn": 1, "gensim": 1}
USUAL_WARM_UP = 2
"""Sweeps; how long the others take does not depend on where they are."""
PAIRS = (
    ("cgs", "tomotopy"),
    ("cgs", "lda"),
    ("svb", "scikit-learn"),
    ("svb", "gensim"),
    ("vb", "scikit-learn"),
    ("vb", "gensim"),
    ("cgs", "cvb0"),
    ("cgs", "svb-cgs"),
)
"""(of, to): the time of ``to`` in times that of ``of``."""


def cells(plan):
    """(name, rough seconds, what measures it) of every corpus and K."""
    for corpus in plan.corpora:
        for n_topics in plan.topics:
            yield (
                f"{corpus} K={n_topics}",
                guess(corpus, n_topics),
                partial(measure, corpus, n_topics, plan),
            )


def guess(corpus: str, n_topics: int) -> float:
    """A rough idea of seconds, for the time left."""
    return {"reuters395": 6, "kos": 15, "nips": 40, "zipf10m": 150}.get(corpus, 5) * (
        1 + n_topics / 100
    )


def measure(corpus_name: str, n_topics: int, plan) -> list[dict]:
    about = {"corpus": corpus_name, "n_topics": n_topics}
    try:
        corpus = corpus_called(corpus_name)
    except LeftOut as why:
        return [about | {"contender": "all", "left_out": str(why)}]
    about |= {
        size: getattr(corpus, size) for size in ("n_documents", "n_words", "n_pairs", "n_tokens")
    }
    rows = take_turns(makers(corpus, n_topics, plan.quick), plan.rounds, plan.seconds)
    return [about | row for row in rows]


def makers(corpus, n_topics: int, quick: bool) -> dict:
    """What takes part, and how many sweeps warm it up."""
    given = {name: {} for name in SAMPLERS} | VARIATIONAL
    started = {}

    def sampler():
        started["cgs"] = Ours("cgs", corpus, n_topics)
        return started["cgs"]

    made = {
        name: partial(Ours, name, corpus, n_topics, given=options)
        for name, options in given.items()
    }
    made |= {name: partial(peer, corpus, n_topics) for name, peer in PEERS.items()}
    made |= {"cgs": sampler, "lda": lambda: Lda(corpus, n_topics, topics=started["cgs"].topics)}
    return {
        name: (make, min(WARM_UP.get(name, USUAL_WARM_UP), 3 if quick else 50))
        for name, make in made.items()
    }


def ratios(rows: pd.DataFrame, of: str, to: str) -> dict[tuple[str, int], float]:
    """(corpus, K) → times, corpora in the order of the rows."""
    corpora = list(dict.fromkeys(rows["corpus"]))
    cells_done = sorted(
        rows.groupby(["corpus", "n_topics"]),
        key=lambda cell: (corpora.index(cell[0][0]), cell[0][1]),
    )
    return {cell: ratio(part, of, to) for cell, part in cells_done}


def told(rows: pd.DataFrame) -> str:
    """Two kinds of table, nanoseconds per token and ratios, and how they came about."""
    done, topics = rows.dropna(subset=["cpu"]), sorted(rows["n_topics"].unique())
    parts = [
        __doc__.split("\n\n", 1)[1].strip(),
        "CPU nanoseconds per token and sweep, medians of the rounds:",
    ]
    parts += [per_token(part, topics) for _, part in done.groupby("corpus", sort=False)]
    parts.append("How many times the CPU time of the second the first takes:")
    table = []
    for of, to in PAIRS:
        found = ratios(done, of, to)
        for corpus in dict.fromkeys(done["corpus"]):
            table.append(
                [
                    f"{to} / {of}, {corpus}",
                    *(number(found.get((corpus, k)), "{:.2f}") for k in topics),
                ]
            )
    parts.append(markdown(["", *(f"K={k}" for k in topics)], table))
    return "\n\n".join([*parts, rounds_and_warm_up(done), *left_out(rows)])


def number(value: float | None, form: str) -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None or math.isnan(value) else form.format(value)


def per_token(part: pd.DataFrame, topics) -> str:
    """The table of one corpus."""
    first = part.iloc[0]
    found = {k: medians(cell) / first["n_tokens"] * 1e9 for k, cell in part.groupby("n_topics")}
    size = f"{first['n_documents']:,.0f} documents, {first['n_words']:,.0f} words, {first['n_tokens']:,.0f} tokens"
    return markdown(
        [f"{first['corpus']}: {size}", *(f"K={k}" for k in topics)],
        [
            [name, *(number(found[k].get(name) if k in found else None, "{:.1f}") for k in topics)]
            for name in dict.fromkeys(part["contender"])
        ],
    )


def rounds_and_warm_up(done: pd.DataFrame) -> str:
    """How many rounds each took part in, and how many sweeps it had made before."""
    by_cell = done.groupby(["corpus", "n_topics", "contender"], sort=False)
    found = by_cell.agg(rounds=("round", "count"), warm=("warm_up", "max"))
    found = found.groupby("contender", sort=False).agg(["min", "max"]).astype(int)
    told = [
        f"{name} {span(*row['rounds'])} and {span(*row['warm'])}" for name, row in found.iterrows()
    ]
    return f"Rounds that count, and sweeps before them (fewer where a sweep is long): {', '.join(told)}."


def span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"


def left_out(rows: pd.DataFrame) -> list[str]:
    """A sentence about the cells that were not measured, if there are any."""
    missing = rows[rows["left_out"].notna()]
    told = [
        f"{row['contender']} on {row['corpus']} at K={row['n_topics']} ({row['left_out']})"
        for _, row in missing.iterrows()
    ]
    return [f"Left out: {'; '.join(told)}."] if told else []


def draw(rows: pd.DataFrame, folder) -> list[str]:
    """Nanoseconds per token against K: samplers above, variational ones below."""
    rows = rows.dropna(subset=["cpu"])
    families = (
        ("cgs", "svb-cgs", "tomotopy", "lda"),
        ("svb", "vb", "cvb0", "cvb", "scikit-learn", "gensim"),
    )
    corpora, shown = (
        list(dict.fromkeys(rows["corpus"])),
        looks_of([name for family in families for name in family]),
    )
    with figure(folder / f"{NAME}.svg", len(corpora), 2, 2.2) as panels:
        for at, corpus in enumerate(corpora):
            for axes, family in zip(panels[:, at], families, strict=True):
                for name in family:
                    part = rows[(rows["corpus"] == corpus) & (rows["contender"] == name)]
                    per_token = (
                        part.groupby("n_topics")["cpu"].median()
                        / part.groupby("n_topics")["n_tokens"].first()
                        * 1e9
                    )
                    line(axes, per_token.index, per_token, name, shown[name])
                ticks = sorted(rows["n_topics"].unique())
                log_axes(
                    axes,
                    ticks,
                    "topics K",
                    "" if at else "CPU ns per token",
                    corpus if axes is panels[0, at] else "",
                )
    return [f"{NAME}.svg"]
