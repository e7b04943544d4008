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
"""Bytes of one float64 number."""


class Memory(NamedTuple):
    """Forecast of the memory in bytes that an engine needs beyond the corpus and what every run needs."""

    state: int = 0  # of the arrays of a state, held from step to step and written to checkpoints
    indices: int = 0  # of arrays derived from the corpus and kept with the state
    step: int = 0  # additional maximum during a step
    # additional maximum during `watch`, `predict` and `counts`
    look: int = 0


class Array(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    dtype: type = np.float64


def zeros(arrays: dict[str, Array]) -> dict[str, np.ndarray]:
    """Return name → array of zeros, with the given shapes and types."""
    return {name: aligned_zeros(*array) for name, array in arrays.items()}


def stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Stack the arrays of several chains along a new first dimension; the array of a single chain is not copied."""
    first, *others = arrays
    return np.stack(arrays) if others else first[None]


def size(arrays: dict[str, Array]) -> int:
    """Return the total size of the arrays in bytes."""
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in arrays.values())


def topic_counts(
    name: str, corpus, n_topics: int, dtype=np.float64, of_topics=None
) -> dict[str, Array]:
    """Return shapes and types of ``<name>_dk`` (document, topic), ``_wk`` (word, topic) and ``_k`` (topic,), padded."""
    lanes = padded(n_topics)
    return {
        f"{name}_dk": Array((corpus.n_documents, lanes), dtype),
        f"{name}_wk": Array((corpus.n_words, lanes), dtype),
        f"{name}_k": Array((lanes,), of_topics or dtype),
    }


def partition_bytes(corpus, n_parts: int, n_pairs: int) -> int:
    """Return the bytes of a `partition.Partition`; 0 for one part with all pairs, which shares the corpus's arrays."""
    if n_parts == 1 and n_pairs == corpus.n_pairs:
        return 0
    return (
        n_pairs * (4 + 4 + 8 + (8 if n_parts > 1 else 0)) + n_parts * (corpus.n_documents + 1) * 8
    )


def word_major_bytes(corpus) -> int:
    """Return the size of `Corpus.by_word`, the pairs in word-major order, in bytes."""
    return corpus.n_pairs * (8 + 4) + (corpus.n_words + 1) * 8


VARIATIONAL, HYBRID, SAMPLER = "variational", "hybrid", "sampler"
"""Kinds of engines: updates of expectations (EM too); some tokens averaged and others sampled; all tokens sampled."""
BASELINE, IMPORTED, NOT_INSTALLED = "baseline", "imported", "not installed"
"""Further kinds: a baseline that predicts in one step; another program whose models are imported unchanged; the placeholder
of an engine whose module is not installed."""
Data: TypeAlias = "Corpus | Records"
State: TypeAlias = Any
"""A NamedTuple of arrays and numbers; each engine defines its own."""
Options: TypeAlias = Any
"""A dataclass of options; each engine defines its own."""
Learnt: TypeAlias = Any
"""The learnt parameters with which theta of unseen documents is inferred; each engine defines its own."""


@dataclass(frozen=True)
class NoOptions:
    """Options of an engine that has none."""


def never_interrupted() -> None:
    """Do nothing: the default `interrupt` callback, for steps that are never interrupted."""


class StepContext(NamedTuple):
    """Arguments of a step besides data and state: seed, step number, threads, and a callback for interruptions.

    `interrupt` returns soon, waits while the run is paused, and raises when the run is to stop at once.
    """

    seed: int
    step: int  # 0 for init, then the iteration
    n_threads: int = 1
    interrupt: Callable[[], None] = never_interrupted
    # for a part of a corpus: (stream, number of uniforms used by the parts before it)
    before: tuple[tuple[int, int], ...] = ()
    # for a slice of the unseen documents: the number of documents before it
    first_document: int = 0
    first_token: int = 0  # the number of tokens before it
    # (document,) int64: numbers that select each document's uniforms; None: its index
    numbers: np.ndarray | None = None
    # for a part of a corpus: is any token of the whole corpus sampled?
    samples: bool | None = None
    # (name, make) -> make(), computed once per part of the corpus and then cached
    derived: Callable = lambda name, make: make()
    # (name, make) -> make(), computed once for all parts until their next meeting
    once: Callable = lambda name, make: make()

    @property
    def in_part(self) -> bool:
        """Whether the corpus is one part of several."""
        return bool(self.before)

    def key(self, stream: int, chain: int = 0) -> np.uint64:
        """Return the key of a stream of uniforms in this step; see `workbench.kernels.uniforms`."""
        key = np.uint64(draw_key(self.seed, stream, chain, self.step))
        return key_from(key, dict(self.before).get(stream, 0)) if self.before else key


class WarmStart(NamedTuple):
    """Counts of a fitted run that initialise another run with the same vocabulary, on the same or other documents."""

    n_kw: np.ndarray  # (topic, word) float64
    # (document, topic) float64; None if the other run had other documents
    n_dk: np.ndarray | None
    # (token,) int32 topics of a sampler on the same corpus, -1 for dropped topics; None if unknown
    topics: np.ndarray | None = None

    @property
    def rows(self) -> tuple:
        """n_dk (or None), n_wk (word, topic) and n_k (topic,), as the kernels need them."""
        return self.n_dk, np.ascontiguousarray(self.n_kw.T), self.n_kw.sum(axis=1)


class Samples(Protocol):
    """Signature of `Engine.samples`, which returns whether any token of the data is sampled."""

    def __call__(self, data: Data, options: Options, /) -> bool: ...


class Init(Protocol):
    """Signature of `Engine.init`, which returns the initial state: random, or from another run's counts."""

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
    """Signature of `Engine.step`: make one iteration; return the next state, and scalars such as the number of ``updates``."""

    def __call__(
        self, data: Data, model: Model, options: Options, state: State, context: StepContext, /
    ) -> tuple[State, dict[str, float]]: ...


class Watch(Protocol):
    """Signature of `Engine.watch`, which returns the diagnostics to record after an iteration; it is not timed."""

    def __call__(
        self, data: Data, model: Model, options: Options, state: State, /
    ) -> dict[str, float | np.ndarray]: ...


class Counts(Protocol):
    """Signature of `Engine.counts`, which returns the arrays of a snapshot by name."""

    def __call__(
        self, data: Data, model: Model, options: Options, state: State, /
    ) -> dict[str, np.ndarray]: ...


class Predict(Protocol):
    """Signature of `Engine.predict`, which returns p(w|d) (pair,) of held-out document-word pairs given the state.

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
    """Signature of `Engine.predict_rows`, which returns p(w|d) (row, word) of the documents with given indices."""

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
    """Signature of `Engine.fold_in`, which returns theta (document, topic) of unseen documents."""

    def __call__(
        self, learnt: Learnt, options: Options, documents: Corpus, context: StepContext, /
    ) -> np.ndarray: ...


class Learn(Protocol):
    """Signature of `Engine.learnt`, which extracts from the last snapshot the parameters that `fold_in` needs."""

    def __call__(self, model: Model, last: Mapping[str, np.ndarray], topics: Any, /) -> Learnt: ...


class Unseen(Protocol):
    """Signature of `Engine.unseen`, which returns p(w|d) (pair,) of the pairs of unseen documents, given theta."""

    def __call__(self, learnt: Learnt, theta: np.ndarray, pairs: Corpus, /) -> np.ndarray: ...


class Forecast(Protocol):
    """Signature of `Engine.memory`, which returns a forecast of the engine's memory in bytes."""

    def __call__(self, data: Data, model: Model, options: Options, /) -> Memory: ...


class Engine(NamedTuple):
    """A method of inference: its name, source and style in figures, and the functions that a run calls."""

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
    keeps: tuple[str, ...] = ()  # arrays of `counts` in addition to the model's variables
    fixed: tuple[str, ...] = ()  # options of the model that must keep their defaults here
    when: str = ""  # one sentence: when to use it rather than another engine
    # "#rrggbb", "-", "--", "-.", ":" or "-..", and a marker of matplotlib, of all pictures of its
    # runs; "": one of a palette, by its name
    colour: str = ""
    line: str = ""
    marker: str = ""
    order: int = 100  # position in tables and figures; ties keep the order of registration
    grows: bool = False  # can the number of topics grow beyond the initial one?
    # does n_kw sum to the tokens of the corpus? Not if batches represent the corpus
    whole_counts: bool = True
    # the reason why more than one thread is of no use, and what would change that
    idle: Callable[[Options], str | None] = lambda options: None
    # returns the model as this engine infers it (e.g. rows as point estimates), or raises ModelError
    suits: Callable[[Any], Model] = lambda model: model
    # raises OptionError for options that do not suit the data
    check_options: Callable[[Options, Data], None] = lambda options, data: None
    predict_rows: PredictRows | None = None
    memory: Forecast = lambda data, model, options: Memory()

    @property
    def in_parts(self) -> bool:
        """Whether the engine can work on a corpus in several parts; see `workbench.engines.parts`."""
        return hasattr(self.step, "phases")


def cached_by_corpus(function: Callable) -> Callable:
    """Decorate a function of a corpus: cache its result for each corpus and each value of the other arguments."""
    results: WeakKeyDictionary = WeakKeyDictionary()

    @wraps(function)
    def cached(corpus, *arguments):
        of_corpus = results.setdefault(corpus, {})
        if arguments not in of_corpus:
            of_corpus[arguments] = function(corpus, *arguments)
        return of_corpus[arguments]

    return cached
