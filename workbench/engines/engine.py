"""What an engine is: a handful of functions over a corpus, a model, options and a state.

A state holds exactly what the next step needs; a checkpoint is a state. `step` may reuse the arrays of
the state that it was given. Randomness comes in as an argument, the context; an engine keeps none.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.engines.in_parts import InParts
from workbench.engines.memory import Memory
from workbench.kernels.uniforms import draw_key, key_from


def never_interrupted() -> None:
    """The callback of a step that is never interrupted."""


class StepContext(NamedTuple):
    """What one step gets from the loop: its randomness, its threads, and a callback to call between slices.

    `interrupt` returns soon, waits while the run is paused, and raises when the run is to stop at once.
    """

    seed: int
    step: int  # 0 for init, then the iteration
    n_threads: int = 1
    interrupt: Callable[[], None] = never_interrupted
    # of a part of a corpus: (stream, how many uniforms belong to what is before it)
    before: tuple[tuple[int, int], ...] = ()
    # of some of the documents that are folded in: how many are before them,
    first_document: int = 0
    first_token: int = 0  # and how many tokens these have
    # (document,) int64: what stands for each of them in its uniforms; None: its place
    numbers: np.ndarray | None = None

    def key(self, stream: int, chain: int = 0) -> np.uint64:
        """The key of a stream of uniforms in this step; see `workbench.kernels.uniforms`."""
        key = np.uint64(draw_key(self.seed, stream, chain, self.step))
        return key_from(key, dict(self.before).get(stream, 0)) if self.before else key


class WarmStart(NamedTuple):
    """Counts of another run to start from; the words must be the same, the documents need not."""

    n_kw: np.ndarray  # (topic, word) float64
    # (document, topic) float64; None: other documents, so nothing is known of them
    n_dk: np.ndarray | None
    # (token,) int32 of a sampler on the same corpus, -1: its topic was dropped; or unknown
    topics: np.ndarray | None = None

    @property
    def rows(self) -> tuple:
        """n_dk (or None), n_wk, n_k as the kernels take them."""
        return self.n_dk, np.ascontiguousarray(self.n_kw.T), self.n_kw.sum(axis=1)


class Engine(NamedTuple):
    """One published method of inference, ready to be run by the loop."""

    name: str
    title: str
    source: str  # paper, equation
    model: type  # dataclass of hyperparameters
    # dataclass of options; widgets, flags and checks come from its fields
    options: type
    state: type  # NamedTuple of arrays and floats
    # the scalars of `watch` and `step`, names of models.variables
    watches: tuple[str, ...]
    samples: Callable  # (corpus, options) -> bool: is any token sampled?
    # (corpus, model, options, context, warm_start: WarmStart | None = None) -> state
    init: Callable
    # (corpus, model, options, state, context) -> (state, {"updates": int, …})
    step: Callable
    # (corpus, model, options, state) -> the scalars, and what the model records
    watch: Callable
    # (corpus, model, options, state) -> what a snapshot keeps, by name
    counts: Callable
    # (corpus, model, options, state, pairs: Corpus, context=None) -> p(w|d) (pair,)
    predict: Callable
    # (learnt, options, documents: Corpus, context) -> theta (document, topic)
    fold_in: Callable
    # (model, last snapshot, `lda.fold_in.LearntTopics`) -> what it takes
    learnt: Callable = lambda model, last, topics: topics
    # (learnt, theta, pairs) -> p(w|d) (pair,); None: sum_k theta_dk phi_kw
    unseen: Callable | None = None
    keeps: tuple[str, ...] = ()  # what `counts` gives beside the variables of the model
    fixed: tuple[str, ...] = ()  # options of the model that it leaves at their defaults
    when: str = ""  # when to use it, rather than which other: one sentence
    grows: bool = False  # may it come to have more topics than it began with?
    # do n_kw sum to the tokens of the corpus? Not where batches stand for it
    whole_counts: bool = True
    # why more than one thread would have nothing to do, and what would change that
    idle: Callable = lambda options: None
    # a model as it is inferred here (rows made estimates), or a ModelError
    suits: Callable = lambda model: model
    # raises OptionError where options do not go with the data
    check_options: Callable = lambda options, data: None
    # (corpus, model, options, state, rows, context) -> p(w|d) (row, word)
    predict_rows: Callable | None = None
    # forecast of the bytes of a run; zeros where none is declared
    memory: Callable = lambda corpus, model, options: Memory()
    # how it works on a corpus that is kept in parts; None: it does not
    in_parts: InParts | None = None
    # is it another program, whose models are imported as they are?
    imported: bool = False
