"""What an engine is: a handful of functions over a corpus, a model, options and a state.

A state holds exactly what the next step needs; a checkpoint is a state. `step` may reuse the arrays of
the state that it was given. Randomness comes in as an argument, the turn; an engine keeps none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from workbench.engines.memory import Memory
from workbench.kernels.uniforms import draw_key
from workbench.models.options import OptionError, checked_option, option_fields


def never_interrupted() -> None:
    """The pulse of somebody who never interrupts."""


class StepContext(NamedTuple):
    """What the loop hands to one step: its randomness, its threads, and a pulse to give between slices.

    The pulse returns soon, waits while the run is paused, and raises when the run is to stop at once.
    """

    seed: int
    step: int                                # 0 for init, then the iteration
    n_threads: int = 1
    interrupt: Callable[[], None] = never_interrupted

    def key(self, stream: int, chain: int = 0) -> np.uint64:
        """The key of a stream of uniforms in this turn; see `workbench.kernels.uniforms`."""
        return np.uint64(draw_key(self.seed, stream, chain, self.step))


class WarmStart(NamedTuple):
    """Counts of another run to start from; the words must be the same, the documents need not."""

    n_kw: np.ndarray                  # (topic, word) float64
    n_dk: np.ndarray | None           # (document, topic) float64; None: other documents, so nothing is known of them
    topics: np.ndarray | None = None  # (token,) int32 of a sampler on the same corpus, -1: its topic was dropped; or unknown

    @property
    def rows(self) -> tuple:
        """n_dk (or None), n_wk, n_k as the kernels take them."""
        return self.n_dk, np.ascontiguousarray(self.n_kw.T), self.n_kw.sum(axis=1)


class Engine(NamedTuple):
    """One published method of inference, ready to be run by the loop."""

    name: str
    title: str
    source: str                              # paper, equation
    model: type                              # dataclass of hyperparameters
    options: type                            # dataclass of options; widgets, flags and checks come from its fields
    state: type                              # NamedTuple of arrays and floats
    watches: tuple[str, ...]                 # the scalars of `watch` and `step`, names of models.variables
    samples: Callable                        # (corpus, options) -> bool: is any token sampled?
    init: Callable                           # (corpus, model, options, turn, start: Start | None = None) -> state
    step: Callable                           # (corpus, model, options, state, turn) -> (state, {"updates": int, …})
    watch: Callable                          # (corpus, model, options, state) -> the scalars, and what the model records
    counts: Callable                         # (corpus, model, options, state) -> what a snapshot keeps, by name
    predict: Callable                        # (corpus, model, options, state, pairs: Corpus) -> p(w|d) (pair,)
    fold_in: Callable                        # (priors, n_kw, documents: Corpus, turn) -> theta (document, topic); of networks
                                             # (runs.afterwards.network_learnt.Learnt, options, documents, turn)
    learn: Callable | None = None            # (corpus, model, options, state, turn) -> the model with new hyperparameters
    keeps: tuple[str, ...] = ()              # what `counts` gives beside the variables of the model
    fixed: tuple[str, ...] = ()              # options of the model that it leaves at their defaults
    grows: bool = False                      # may it come to have more topics than it began with?
    idle: Callable = lambda options: None    # why more than one thread would have nothing to do, and what would change that
    suits: Callable = lambda model: model    # a model as it is inferred here (rows made estimates), or a ModelError
    memory: Callable = lambda corpus, model, options: Memory()  # of a run, told by sizes; unless it tells, nothing is known


@dataclass(frozen=True)
class NoOptions:
    """Of an engine that has nothing to choose."""


def options_of(engine: Engine) -> dict:
    """Name → dataclass field of all that can be chosen for a run of the engine: beliefs of its model, then its own options."""
    beliefs = {name: f for name, f in option_fields(engine.model).items() if name not in engine.fixed}
    return beliefs | option_fields(engine.options)


def split_options(engine: Engine, given: dict) -> tuple[dict, object]:
    """Beliefs of the model (name → value) and the options of the engine, from one plain dict; defaults filled in.

    Raises
    ------
    OptionError
        For a name that neither has (the nearest is named) or a value out of range.
    """
    known, values = options_of(engine), {}
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, 1, 0.4)
            hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(known) or 'none'}"
            raise OptionError(f"{engine.name} has no option '{name}'; {hint}")
        values[name] = checked_option(engine.name, known[name], value)
    own = {f.name for f in fields(engine.options)}
    beliefs = {name: values.get(name, f.default) for name, f in known.items() if name not in own}
    if beliefs:
        engine.model(**beliefs)  # raises where some of them contradict others
    return beliefs, engine.options(**{name: value for name, value in values.items() if name in own})


def make_options(engine: Engine, given: dict):
    """The options of an engine from a plain dict, defaults filled in; see `split_options`."""
    return split_options(engine, given)[1]


def takes(engine: Engine, name: str, value) -> bool:
    """Does the engine, or its model, have the option, and may it have this value?"""
    about = options_of(engine).get(name)
    try:
        return about is not None and checked_option(engine.name, about, value) is not None
    except OptionError:
        return False
