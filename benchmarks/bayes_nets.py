"""Latent classes beside StepMix and pgmpy, hidden Markov models beside hmmlearn: time of an iteration of each engine.

Latent classes of the ability items (distinct records with their multiplicities; pgmpy: complete ones, as it takes no other),
hidden Markov models of the words of a text, letter by letter, and of one long sequence of letters; published networks with a
fifth of their inner nodes hidden, which no peer takes. One thread, medians over rounds in turns. StepMix and hmmlearn begin
anew in every turn; their start is part of it.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
from peers import wanted
from records import markdown
from rounds import ratio, take_turns

from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import split_options
from workbench.records import DataError, Records
from workbench.runs.loading import load_records

NAME = "bayes_nets"
TITLE = "Bayesian networks with hidden nodes"
OURS = [name for name in ENGINES if name.startswith("bn-")]
WARM_UP, N_SYMBOLS = 3, 13_333
"""Symbols of the one long sequence."""
BESIDE = {"StepMix": "bn-em", "pgmpy": "bn-em", "hmmlearn EM": "bn-em", "hmmlearn VB": "bn-vb"}


class Ours:
    """An engine with its state, from a random start."""

    def __init__(self, name: str, records: Records, model: str | None = None, **given):
        self.records, self.engine, self.n_sweeps = records, get_engine(name), 0
        beliefs, self.options = split_options(self.engine, given)
        self.model = (
            self.engine.model.of(model) if model else self.engine.model(**beliefs)
        ).for_data(records)
        self.state = self.engine.init(records, self.model, self.options, StepContext(0, 0))

    def sweep(self, n_sweeps: int = 1) -> None:
        for _ in range(n_sweeps):
            self.n_sweeps += 1
            context = StepContext(0, self.n_sweeps)
            self.state, _ = self.engine.step(
                self.records, self.model, self.options, self.state, context
            )


class StepMix:
    """Its latent classes of binary fields with missing cells."""

    def __init__(self, records: Records, n_states: int):
        module = wanted("stepmix.stepmix")
        self.make = partial(
            module.StepMix,
            n_states,
            measurement="binary_nan",
            abs_tol=0.0,
            rel_tol=0.0,
            progress_bar=0,
            random_state=0,
        )
        self.table = np.where(records.values < 0, np.nan, records.values)
        self.weights = records.multiplicities.astype(float)

    def sweep(self, n_sweeps: int = 1) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that so few iterations did not converge
            self.make(max_iter=n_sweeps).fit(self.table, sample_weight=self.weights)


class Pgmpy:
    """Its expectation maximisation of a naive Bayes network with a hidden class, of complete records."""

    def __init__(self, records: Records, n_states: int):
        networks, self.estimators = wanted("pgmpy.models"), wanted("pgmpy.estimators")
        complete = np.all(records.values >= 0, axis=1)
        self.table = pd.DataFrame(
            np.repeat(records.values[complete], records.multiplicities[complete], axis=0), dtype=str
        )
        self.table.columns = list(records.fields)
        self.net = networks.DiscreteBayesianNetwork(
            [("class", field) for field in records.fields], latents={"class"}
        )
        self.n_states = n_states

    def sweep(self, n_sweeps: int = 1) -> None:
        estimator = self.estimators.ExpectationMaximization(self.net, self.table)
        estimator.get_parameters(
            {"class": self.n_states},
            max_iter=n_sweeps,
            atol=0.0,
            n_jobs=1,
            show_progress=False,
            seed=0,
        )


class Hmmlearn:
    """Its categorical hidden Markov model of sequences, every record as often as it comes."""

    def __init__(self, module: str, name: str, records: Records, n_states: int):
        self.model = partial(
            getattr(wanted(module), name), n_components=n_states, tol=-np.inf, random_state=0
        )
        rows = np.repeat(symbols_of(records), records.multiplicities, axis=0)
        self.lengths, self.symbols = np.sum(rows >= 0, axis=1), rows[rows >= 0][:, None]

    def sweep(self, n_sweeps: int = 1) -> None:
        self.model(n_iter=n_sweeps).fit(self.symbols, self.lengths)


def symbols_of(records: Records) -> np.ndarray:
    """(record, field) the number of each symbol among those of all fields; -1 behind the end."""
    names = sorted({name for levels in records.levels for name in levels})
    found = np.full(records.values.shape, -1)
    for at, levels in enumerate(records.levels):
        numbers = np.array([*map(names.index, levels), -1])
        found[:, at] = numbers[records.values[:, at]]
    return found


def one_sequence(words: Records) -> Records:
    """The letters of the words, those of equal ones once, one after another, cut off."""
    symbols, names = symbols_of(words), sorted({name for levels in words.levels for name in levels})
    row = np.resize(symbols[symbols >= 0], N_SYMBOLS)[None]
    return Records(
        row, [1], [str(t) for t in range(N_SYMBOLS)], [names] * N_SYMBOLS, "one sequence"
    )


def cells(plan):
    """(name, rough seconds, what measures it) of each corpus."""
    yield "ability K=6", 20, partial(measure, "ability", 6, plan, ability)
    yield "words K=8", 120, partial(measure, "words", 8, plan, sequences)
    if not plan.quick:
        yield "one sequence K=8", 60, partial(measure, "one sequence", 8, plan, sequences)
        for name in ("alarm", "hepar2"):
            yield name, 20, partial(measure, name, 0, plan, published)


def ability(records: Records, n_states: int) -> dict:
    """Contenders on latent classes."""
    ours = {name: (partial(Ours, name, records, n_states=n_states), WARM_UP) for name in OURS}
    return ours | {
        "StepMix": (partial(StepMix, records, n_states), 1),
        "pgmpy": (partial(Pgmpy, records, 4), 1),
    }


def sequences(records: Records, n_states: int) -> dict:
    """Contenders on hidden Markov models."""
    ours = {
        name: (partial(Ours, name, records, network="hmm", n_states=n_states), WARM_UP)
        for name in OURS
    }
    theirs = {
        "hmmlearn EM": ("hmmlearn.hmm", "CategoricalHMM"),
        "hmmlearn VB": ("hmmlearn.vhmm", "VariationalCategoricalHMM"),
    }
    return ours | {
        name: (partial(Hmmlearn, *kind, records, n_states), 1) for name, kind in theirs.items()
    }


def published(records: Records, n_states: int) -> dict:
    """Our engines on the published network of the records."""
    return {name: (partial(Ours, name, records, model=records.name), WARM_UP) for name in OURS}


def measure(name: str, n_states: int, plan, makers) -> list[dict]:
    """The rows of one corpus."""
    about = {"corpus": name, "n_states": n_states}
    try:
        records = (
            one_sequence(load_records("words")) if name == "one sequence" else load_records(name)
        )
    except DataError as why:
        return [about | {"contender": "all", "left_out": str(why)}]
    rows = take_turns(makers(records, n_states), plan.rounds, plan.seconds)
    return [about | {"n_distinct": records.n_distinct} | row for row in rows]


def told(rows: pd.DataFrame) -> str:
    """Milliseconds of CPU of an iteration, median over the rounds, distinct records that ours visit in a second, and how many
    times as fast ours is as each peer."""
    table = []
    for (corpus, n_states), part in rows.dropna(subset=["cpu"]).groupby(
        ["corpus", "n_states"], sort=False
    ):
        took = part.groupby("contender", sort=False)["cpu"].median() * 1e3
        for name, milliseconds in took.items():
            times = (
                [f"{ratio(part, BESIDE[name], name):.3g}"]
                if name in BESIDE and BESIDE[name] in took
                else ["–"]
            )
            visited = (
                f"{part['n_distinct'].iloc[0] / milliseconds * 1e3:,.0f}" if name in OURS else "–"
            )
            table.append([corpus, n_states or "–", name, f"{milliseconds:.3g}", visited, *times])
    return markdown(
        [
            "data",
            "hidden states",
            "method",
            "ms an iteration",
            "distinct records a second",
            "times as slow as ours",
        ],
        table,
    )
