"""What an engine is, the arrays and bytes of its state, and a cache of what is derived from a corpus.

An engine is a handful of functions over data, a model, options and a state.

A state holds exactly what the next step needs; a checkpoint is a state. `step` may reuse the arrays of
the state that it was given. Randomness comes in as an argument, the context; an engine keeps none.

The protocols below give the parameters of these functions, which are passed by position.

The arrays of a state are declared before they are made, so that the bytes of a run are known before it begins.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from workbench.corpus import Corpus
from workbench.kernels.simd.vectors import aligned_zeros, padded
from workbench.kernels.uniforms import draw_key, key_from
from workbench.models.model import Model

if TYPE_CHECKING:
    from workbench.records.records import Records


DOUBLE = 8
"""Bytes of a number of a float64 array."""


class Memory(NamedTuple):
    """Forecast of the bytes that an engine takes in a run, the corpus and the common part apart."""

    state: int = 0  # of the arrays of a state, held from step to step and written to checkpoints
    indices: int = 0  # of what is derived from the corpus and held beside the state
    step: int = 0  # at the most, besides, during a step
    # at the most, besides, while a state is watched, predicts, or gives its counts
    look: int = 0


class Array(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    dtype: type = np.float64


def zeros(arrays: dict[str, Array]) -> dict[str, np.ndarray]:
    """Return the arrays by name, filled with zeros."""
    return {name: aligned_zeros(*array) for name, array in arrays.items()}


def stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the arrays of several chains along a new first dimension; that of a single chain is not copied."""
    first, *others = arrays
    return np.stack(arrays) if others else first[None]


def size(arrays: dict[str, Array]) -> int:
    """Return the bytes of the arrays."""
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in arrays.values())


def topic_counts(
    name: str, corpus, n_topics: int, dtype=np.float64, of_topics=None
) -> dict[str, Array]:
    """Return arrays for counts: ``<name>_dk`` (document, topic), ``<name>_wk`` (word, topic), ``<name>_k`` (topic,), padded."""
    lanes = padded(n_topics)
    return {
        f"{name}_dk": Array((corpus.n_documents, lanes), dtype),
        f"{name}_wk": Array((corpus.n_words, lanes), dtype),
        f"{name}_k": Array((lanes,), of_topics or dtype),
    }


def partition_bytes(corpus, n_parts: int, n_pairs: int) -> int:
    """Return the bytes of a `partition.Partition`; one part of all pairs shares the arrays of the corpus, and takes 0."""
    if n_parts == 1 and n_pairs == corpus.n_pairs:
        return 0
    return (
        n_pairs * (4 + 4 + 8 + (8 if n_parts > 1 else 0)) + n_parts * (corpus.n_documents + 1) * 8
    )


def word_major_bytes(corpus) -> int:
    """Return the bytes of `Corpus.by_word`, the pairs in word-major order."""
    return corpus.n_pairs * (8 + 4) + (corpus.n_words + 1) * 8


VARIATIONAL, HYBRID, SAMPLER = "variational", "hybrid", "sampler"
"""Kinds of engines: expectations are updated (of EM too); some tokens are averaged and others sampled; all are sampled."""
BASELINE, IMPORTED, NOT_INSTALLED = "baseline", "imported", "not installed"
"""Three more: a prediction in one step, to compare with; another program, whose models are imported as they are; what stands
for the engine of a run where its module is not installed."""
Data: TypeAlias = "Corpus | Records"
State: TypeAlias = Any
"""A NamedTuple of arrays and numbers, the engine's own."""
Options: TypeAlias = Any
"""A dataclass of options, the engine's own."""
Learnt: TypeAlias = Any
"""What unseen documents are folded in with, the engine's own."""


@dataclass(frozen=True)
class NoOptions:
    """Options of an engine that has none."""


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
    # of a part of a corpus: is any token of the whole corpus sampled?
    samples: bool | None = None
    # (name, make) -> what is derived from the documents, made once for a part
    derived: Callable = lambda name, make: make()
    # (name, make) -> what all parts need until they meet again, made once
    once: Callable = lambda name, make: make()

    @property
    def in_part(self) -> bool:
        """Is the corpus one part of several?"""
        return bool(self.before)

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


class Samples(Protocol):
    """Whether any token of the data is sampled."""

    def __call__(self, data: Data, options: Options, /) -> bool: ...


class Init(Protocol):
    """The first state: at random, or from the counts of another run."""

    def __call__(
        self,
        data: Data,
        model: Model,
        options: Options,
        context: StepContext,
        warm_start: WarmStart | None = None,
        /,
    ) -> State: ...


class Step(Protocol):
    """One iteration: the next state, and numbers by name, of which ``updates`` counts the updates."""

    def __call__(
        self, data: Data, model: Model, options: Options, state: State, context: StepContext, /
    ) -> tuple[State, dict[str, float]]: ...


class Watch(Protocol):
    """What is looked at and not timed: the scalars, and what the model records of an iteration."""

    def __call__(
        self, data: Data, model: Model, options: Options, state: State, /
    ) -> dict[str, float | np.ndarray]: ...


class Counts(Protocol):
    """The arrays that a snapshot keeps, by name."""

    def __call__(
        self, data: Data, model: Model, options: Options, state: State, /
    ) -> dict[str, np.ndarray]: ...


class Predict(Protocol):
    """p(w|d) (pair,) of held-out pairs, given the state.

    ``context`` is None where no randomness is needed.
    """

    def __call__(
        self,
        data: Data,
        model: Model,
        options: Options,
        state: State,
        pairs: Data,
        context: StepContext | None = None,
        /,
    ) -> np.ndarray: ...


class PredictRows(Protocol):
    """p(w|d) (row, word) of whole rows, by their numbers (row,)."""

    def __call__(
        self,
        data: Data,
        model: Model,
        options: Options,
        state: State,
        rows: np.ndarray,
        context: StepContext | None,
        /,
    ) -> np.ndarray: ...


class FoldIn(Protocol):
    """theta (document, topic) of unseen documents."""

    def __call__(
        self, learnt: Learnt, options: Options, documents: Corpus, context: StepContext, /
    ) -> np.ndarray: ...


class Learn(Protocol):
    """What `FoldIn` takes, from the arrays of the last snapshot and an `lda.fold_in.LearntTopics`."""

    def __call__(self, model: Model, last: Mapping[str, np.ndarray], topics: Any, /) -> Learnt: ...


class Unseen(Protocol):
    """p(w|d) (pair,) of pairs of unseen documents, given their theta."""

    def __call__(self, learnt: Learnt, theta: np.ndarray, pairs: Corpus, /) -> np.ndarray: ...


class Forecast(Protocol):
    """The bytes that the engine takes in a run."""

    def __call__(self, data: Data, model: Model, options: Options, /) -> Memory: ...


class Engine(NamedTuple):
    """One published method of inference, ready to be run by the loop."""

    name: str
    title: str
    kind: str  # VARIATIONAL, HYBRID, SAMPLER, BASELINE or IMPORTED
    source: str  # paper, equation
    model: type[Model]
    # dataclass of options; widgets, flags and checks come from its fields
    options: type
    state: type  # NamedTuple of arrays and floats
    # the scalars of `watch` and `step`, names of models.variables
    watches: tuple[str, ...]
    samples: Samples
    init: Init
    step: Step
    watch: Watch
    counts: Counts
    predict: Predict
    fold_in: FoldIn
    learnt: Learn = lambda model, last, topics: topics
    unseen: Unseen | None = None  # None: sum_k theta_dk phi_kw
    keeps: tuple[str, ...] = ()  # what `counts` gives beside the variables of the model
    fixed: tuple[str, ...] = ()  # options of the model that it leaves at their defaults
    when: str = ""  # when to use it, rather than which other: one sentence
    # "#rrggbb", "-", "--", "-.", ":" or "-..", and a marker of matplotlib, of all pictures of its
    # runs; "": one of a palette, by its name
    colour: str = ""
    line: str = ""
    marker: str = ""
    order: int = 100  # its place in tables and figures; equal ones in the order of registration
    grows: bool = False  # may it come to have more topics than it began with?
    # do n_kw sum to the tokens of the corpus? Not where batches stand for it
    whole_counts: bool = True
    # why more than one thread would have nothing to do, and what would change that
    idle: Callable[[Options], str | None] = lambda options: None
    # a model as it is inferred here (rows made estimates), or a ModelError
    suits: Callable[[Any], Model] = lambda model: model
    # raises OptionError where options do not go with the data
    check_options: Callable[[Options, Data], None] = lambda options, data: None
    predict_rows: PredictRows | None = None
    memory: Forecast = lambda data, model, options: Memory()

    @property
    def in_parts(self) -> bool:
        """Does it work on a corpus in several parts? See `workbench.engines.parts`."""
        return hasattr(self.step, "phases")


def cached_by_corpus(function: Callable) -> Callable:
    """Return the function with its results cached: by corpus, and by its other, hashable arguments."""
    results: WeakKeyDictionary = WeakKeyDictionary()

    @wraps(function)
    def cached(corpus, *arguments):
        of_corpus = results.setdefault(corpus, {})
        if arguments not in of_corpus:
            of_corpus[arguments] = function(corpus, *arguments)
        return of_corpus[arguments]

    return cached
