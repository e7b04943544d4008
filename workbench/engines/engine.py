"""What an engine is: a handful of functions over a corpus, a model, options and a state.

A state holds exactly what the next step needs; a checkpoint is a state. `step` may reuse the arrays of
the state that it was given. Randomness comes in as an argument, the turn; an engine keeps none.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from workbench.engines.memory import Memory
from workbench.kernels.uniforms import draw_key


class OptionError(ValueError):
    """What an option wanted, what came, and what to do, in one sentence."""


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
    watch: Callable                          # (corpus, model, options, state) -> {"n_k": (topic,), scalar …}
    counts: Callable                         # (corpus, model, options, state) -> {"n_kw": …, "n_dk": …}
    predict: Callable                        # (corpus, model, options, state, pairs: Corpus) -> p(w|d) (pair,)
    fold_in: Callable                        # (priors, n_kw, documents: Corpus, turn) -> theta (document, topic); of networks
                                             # (runs.afterwards.network_learnt.Learnt, options, documents, turn)
    vectors: tuple[str, ...] = ()            # what `watch` gives of each topic beside n_k, whatever the options
    keeps: Callable = lambda options: ("n_kw", "n_dk")  # names of what `counts` gives
    grows: bool = False                      # may it come to have more topics than it began with?
    idle: Callable = lambda options: None    # why more than one thread would have nothing to do, and what would change that
    suits: Callable = lambda model: model    # a model as it is inferred here (rows made estimates), or a ModelError
    memory: Callable = lambda corpus, model, options: Memory()  # of a run, told by sizes; unless it tells, nothing is known


@dataclass(frozen=True)
class NoOptions:
    """Of an engine that has nothing to choose."""


def option(
    default, meaning: str, choices: tuple = (), low: float | None = None, whole: bool = False, infinite: bool = False,
    late: bool = False, high: float | None = None,
):
    """A dataclass field that knows what it means and which values it takes.

    With ``choices`` it takes one of these; with a default of True or False it takes both; otherwise a
    number, at least ``low``, at most ``high``, ``whole`` or not, and "inf" too when ``infinite``. An option that
    came ``late``, after runs without it were kept, has no part in the hash of a spec while it has its default, so
    that those runs keep their names.
    """
    choices = (False, True) if isinstance(default, bool) else choices
    about = {"meaning": meaning, "choices": choices, "low": low, "high": high, "whole": whole, "infinite": infinite}
    return field(default=default, metadata=about | {"late": late})


def make_options(engine: Engine, given: dict):
    """The options of an engine from a plain dict, defaults filled in.

    Raises
    ------
    OptionError
        For a name that the engine does not have (the nearest is named) or a value out of range.
    """
    known = {f.name: f for f in fields(engine.options)}
    values = {}
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, 1, 0.4)
            hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(known) or 'none'}"
            raise OptionError(f"{engine.name} has no option '{name}'; {hint}")
        values[name] = _checked(engine.name, known[name], value)
    return engine.options(**values)


def takes(engine: Engine, name: str, value) -> bool:
    """Does the engine have the option, and may it have this value?"""
    about = {f.name: f for f in fields(engine.options)}.get(name)
    try:
        return about is not None and _checked(engine.name, about, value) is not None
    except OptionError:
        return False


def _checked(engine: str, about, value):
    """The value of one option in its own type."""
    choices, low, high = (about.metadata[name] for name in ("choices", "low", "high"))
    where = f"option '{about.name}' of {engine}"
    if choices:
        for choice in choices:
            if value is choice or (isinstance(value, str) and value.lower() == str(choice).lower()):
                return choice
        raise OptionError(f"{where} must be one of {', '.join(map(str, choices))}; got {value!r}")
    wanted = "a whole number" if about.metadata["whole"] else "a number"
    wanted += f" from {low:g} to {high:g}" if high is not None else f" of at least {low:g}" if low is not None else ""
    wanted += " or inf" if about.metadata["infinite"] else ""
    try:
        number = float(value) if isinstance(value, (str, numbers.Real)) and not isinstance(value, bool) else math.nan
    except ValueError:
        number = math.nan
    if (
        math.isnan(number)
        or (low is not None and number < low)
        or (high is not None and number > high)
        or (math.isinf(number) and not about.metadata["infinite"])
        or (about.metadata["whole"] and math.isfinite(number) and number != int(number))
    ):
        raise OptionError(f"{where} must be {wanted}; got {value!r}")
    return int(number) if about.metadata["whole"] and math.isfinite(number) else number
