"""Settings of runs, their learnt hyperparameters, and the splits and merges of topics that they tried."""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.measures.selection import spec_of
from workbench.models.word_priors import WordPrior
from workbench.runs.spec import RunSpec

KINDS = {1: "split", 2: "merge"}


class Hyperparameter(NamedTuple):
    """A hyperparameter of a run: its last value, and whether it is fixed or how it is learnt."""

    # alpha and beta of LDA; alpha_total, beta_total, top_concentration of the HDP
    name: str
    method: str  # "fixed", "maximised", "sampled" or "posterior"
    # at the last iteration: one number, (topic,) of an alpha for each topic, or (word,) or (topic, word) of a beta
    values: np.ndarray


def hyperparameters(run: xr.Dataset) -> list[Hyperparameter]:
    """Return all hyperparameters of a run, learnt or fixed, with their last values."""
    _, model, options = spec_of(run).parts()
    priors = []
    for name, method in model.hyperparameters(options).items():
        values = (
            run[name].values[-1] if name in run and run.sizes["iteration"] else getattr(model, name)
        )
        if isinstance(values, WordPrior):  # not known before the first snapshot
            values = run.get("word_prior", math.nan)
        values = np.atleast_1d(np.asarray(values, float))
        method = (
            ("sampled" if "log_joint" in run else "posterior") if method == "learnt" else method
        )
        priors.append(Hyperparameter(name, method, values[:1] if np.ptp(values) == 0 else values))
    return priors


def learnt_by(run: xr.Dataset) -> list[str]:
    """Return the names of the hyperparameters that a run learns."""
    return [
        prior.name
        for prior in hyperparameters(run)
        if prior.method != "fixed" and prior.name in run
    ]


class Move(NamedTuple):
    """A split or merge of topics that was proposed after an iteration."""

    iteration: int
    kind: str  # "split" or "merge"
    giver: int  # the topic that is split, or merged into the other
    taker: int  # the topic that receives the tokens
    gain: float  # nats: bound with the move minus bound without it
    accepted: bool  # whether it was kept

    @property
    def text(self) -> str:
        """Return the move as text: ``split 3 → 17, +12.4 nats, kept``."""
        return f"{self.kind} {self.giver} → {self.taker}, {self.gain_text} nats, {self.outcome}"

    @property
    def gain_text(self) -> str:
        """Return the gain in the bound as text: ``+12.4``, with two digits below one nat."""
        return format(self.gain, "+,.1f" if abs(self.gain) >= 1 else "+.2g").replace("-", "−")

    @property
    def outcome(self) -> str:
        return "kept" if self.accepted else "undone"


def moves(run: xr.Dataset) -> list[Move]:
    """Return the splits and merges that a run tried, in order; [] for engines without such moves."""
    if "move" not in run:
        return []
    attempts = run.isel(iteration=np.flatnonzero(run["move"].values > 0))
    names = ("iteration", "move", "move_from", "move_to", "move_gain", "move_accepted")
    return [
        Move(int(iteration), KINDS[kind], int(giver), int(taker), gain, bool(accepted))
        for iteration, kind, giver, taker, gain, accepted in zip(
            *(attempts[name].values.tolist() for name in names), strict=True
        )
    ]


def describe_moves(attempts: list[Move]) -> str:
    """Describe how many moves were tried and kept: ``12 tried, 5 kept (4 splits, 1 merge)``."""
    accepted_kinds = [move.kind for move in attempts if move.accepted]
    parts = [
        f"{n} {kind}{'s' * (n != 1)}"
        for kind in KINDS.values()
        if (n := accepted_kinds.count(kind))
    ]
    return f"{len(attempts)} tried, {len(accepted_kinds)} kept" + (
        f" ({', '.join(parts)})" if parts else ""
    )


REPEATED = ("seed", "split")
"""Settings in which replicates (repetitions of a run) differ."""
COMMON_SETTINGS = ("engine", "corpus", "K", "seed", "split", "alpha", "beta", "iterations")
"""Names of settings that are not options of an engine; split is the seed of the held-out split."""


def settings_of(spec: RunSpec) -> dict[str, float | str]:
    """Return name → value of a run's settings: corpus, K, priors … (see COMMON_SETTINGS), and all options of the engine."""
    options = options_of(get_engine(spec.engine)) if spec.engine in ENGINES else {}
    model, values = (
        spec.model,
        {name: spec.options.get(name, field.default) for name, field in options.items()},
    )
    general = {
        "engine": spec.engine,
        "corpus": spec.corpus,
        "K": model.get("n_topics"),
        "seed": spec.seed,
        "split": (spec.split or {}).get("seed"),
        "alpha": model.get("alpha"),
        "beta": model.get("beta"),
        "iterations": spec.length,
    }
    return {name: _plain(value) for name, value in (values | general).items() if value is not None}


def differing(settings: Iterable[dict]) -> list[str]:
    """Return the names of settings in which the runs differ: those of all engines (COMMON_SETTINGS), then engine options."""
    values_of: dict[str, set] = {}
    for run_settings in settings:
        for name, value in run_settings.items():
            values_of.setdefault(name, set()).add(value)
    differing_names = [name for name, values in values_of.items() if len(values) > 1]
    return sorted(
        differing_names,
        key=lambda name: (
            COMMON_SETTINGS.index(name) if name in COMMON_SETTINGS else len(COMMON_SETTINGS)
        ),
    )


@lru_cache
def every_setting() -> frozenset[str]:
    """Return the names of all settings that runs of any engine can have."""
    return frozenset(COMMON_SETTINGS).union(*(options_of(get_engine(engine)) for engine in ENGINES))


def _plain(value: object) -> float | str:
    """Return a finite number, as an int if it is whole; any other value as text, such as "inf"."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return int(value) if value == int(value) else value
