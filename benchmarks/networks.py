"""Networks of mixture levels: pachinko beside tomotopy, and LDA as a network beside the engine that knows nothing else.

Sampling alone, nothing learnt of the priors, alpha = beta = 0.1, on one thread; tomotopy's four-level and hierarchical
pachinko (PAModel, HPAModel: our hierarchical pachinko 2) with its weights in float32, ours in float64.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from corpora import corpus_called
from ours import LeftOut, Ours
from peers import ALPHA, BETA, wanted
from records import markdown
from rounds import ratio, take_turns

from workbench.corpus import data_sets
from workbench.engines.engine import StepContext
from workbench.engines.networks import gibbs as network_gibbs
from workbench.engines.options import make_options
from workbench.models.networks.network import Network

NAME = "networks"
TITLE = "Networks of mixture levels"
WARM_UP = 5
CORPORA, SIZES, TOPICS = ("kos", "nips"), ((5, 10), (25, 25)), (10, 40, 100)
BESIDE = {"pachinko": "PAModel", "hpam2": "HPAModel"}


class AsNetwork:
    """`network-gibbs` with one of the shipped networks, from a random start."""

    samples = True

    def __init__(self, name: str, corpus, n_topics: int, sizes: dict | None = None, seed: int = 0):
        self.corpus, self.engine, self.n_sweeps, self.seed = corpus, network_gibbs.engine(), 0, seed
        network = Network.of(name, n_topics=n_topics, sizes=sizes or {}, alpha=ALPHA, beta=BETA)
        self.network = replace(
            network, levels=tuple(replace(level, learn="none") for level in network.levels)
        )
        self.options = make_options(self.engine, {})
        self.state = self.engine.init(corpus, self.network, self.options, StepContext(seed, 0))

    def sweep(self, n_sweeps: int = 1) -> None:
        for _ in range(n_sweeps):
            self.n_sweeps += 1
            context = StepContext(self.seed, self.n_sweeps)
            self.state, _ = self.engine.step(
                self.corpus, self.network, self.options, self.state, context
            )


class Tomotopy:
    """PAModel or HPAModel with so many super-topics and topics."""

    def __init__(self, name: str, corpus, n_super: int, n_topics: int, seed: int = 0):
        tomotopy = wanted("tomotopy")
        self.model = getattr(tomotopy, name)(
            k1=n_super, k2=n_topics, alpha=ALPHA, subalpha=ALPHA, eta=BETA, seed=seed + 1
        )
        self.model.optim_interval = 0
        names = np.array([str(w) for w in range(corpus.n_words)], dtype=object)
        for d in np.flatnonzero(np.diff(corpus.indptr)):
            pairs = slice(corpus.indptr[d], corpus.indptr[d + 1])
            self.model.add_doc(np.repeat(names[corpus.words[pairs]], corpus.counts[pairs]).tolist())

    def sweep(self, n_sweeps: int = 1) -> None:
        self.model.train(n_sweeps, workers=1)


def cells(plan):
    """(name, rough seconds, what measures it) of every corpus and size."""
    for corpus in CORPORA[:1] if plan.quick else CORPORA:
        known = corpus if data_sets()[corpus].folder() else "docstrings"
        for n_topics in TOPICS[:1] if plan.quick else TOPICS:
            yield (
                f"{known} K={n_topics}",
                n_topics / 10 + 20,
                partial(measure_lda, known, n_topics, plan),
            )
        for n_super, n_topics in SIZES[:1] if plan.quick else SIZES:
            size = f"{n_super},{n_topics}"
            yield (
                f"{known} ({size})",
                n_super * n_topics / 10 + 40,
                partial(measure_pachinko, known, n_super, n_topics, plan),
            )


def measure_lda(corpus_name: str, n_topics: int, plan) -> list[dict]:
    """`cgs` and LDA as a network, which goes through the same states."""
    return _measured(
        corpus_name,
        f"K={n_topics}",
        plan,
        lambda corpus: {
            "cgs": partial(Ours, "cgs", corpus, n_topics, given={"scan": "documents"}),
            "lda as a network": partial(AsNetwork, "lda", corpus, n_topics),
        },
    )


def measure_pachinko(corpus_name: str, n_super: int, n_topics: int, plan) -> list[dict]:
    """Both kinds of pachinko, ours and theirs."""

    def makers(corpus):
        found = {}
        for ours, theirs in BESIDE.items():
            found[ours] = partial(AsNetwork, ours, corpus, n_topics, {"super": n_super})
            found[theirs] = partial(Tomotopy, theirs, corpus, n_super, n_topics)
        return found

    return _measured(corpus_name, f"({n_super}, {n_topics})", plan, makers)


def _measured(corpus_name: str, size: str, plan, makers) -> list[dict]:
    about = {"corpus": corpus_name, "size": size}
    try:
        corpus = corpus_called(corpus_name)
    except LeftOut as why:
        return [about | {"contender": "all", "left_out": str(why)}]
    warm_up = 2 if plan.quick else WARM_UP
    rows = take_turns(
        {name: (make, warm_up) for name, make in makers(corpus).items()}, plan.rounds, plan.seconds
    )
    return [about | {"n_tokens": corpus.n_tokens} | row for row in rows]


def told(rows: pd.DataFrame) -> str:
    """Nanoseconds of CPU per token, median over the rounds, and ratios over the rounds."""
    table = []
    for (corpus, size), part in rows.dropna(subset=["cpu"]).groupby(["corpus", "size"], sort=False):
        took = (
            part.groupby("contender", sort=False)["cpu"].median() / part["n_tokens"].iloc[0] * 1e9
        ).to_dict()
        for ours, theirs in {"lda as a network": "cgs", **BESIDE}.items():
            if ours in took:
                theirs_took = f"{took[theirs]:.0f}" if theirs in took else "not installed"
                times = f"{ratio(part, ours, theirs):.2f}" if theirs in took else "–"
                table.append([corpus, size, ours, f"{took[ours]:.0f}", theirs, theirs_took, times])
    return markdown(
        ["corpus", "size", "ours", "ns per token", "beside", "ns per token", "times as fast as it"],
        table,
    )
