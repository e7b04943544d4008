"""The definition of an engine and of its state, a cache of results by corpus, and steps over a corpus in several parts.

An engine is a model with an inference algorithm: a handful of functions over data, the model, options and a state.

A state holds exactly what the next step needs; a checkpoint is a state. `step` may reuse the arrays of
the state that it was given. Randomness comes in as an argument, the context; an engine keeps none.

The fields of `Engine` give the parameters of these functions, which are passed by position.

The arrays of a state are declared before they are made, so that the bytes of a run are known before it begins.

On a corpus in several parts, each a range of documents, `init`, `step` and `watch` are written as generators with one `yield`.
They work on the documents that they are given, and then yield a `Meeting`: their state, and what adds up over all documents.
What comes back are the state, with the arrays by word and by topic as all parts together have made them, and the sums. The rest
is done once, for the first part. Over a corpus in one part the generator gets back what it yielded, so nothing is copied or
added. A step may have several such phases. Until they meet, the parts are worked on::

    in turn        the arrays by word and topic go from part to part, in order: the chain of the whole corpus
    side by side   every part begins from the same arrays; what each changes is added up, two and two, in a fixed tree

They go in turn where the engine leaves threads idle, since each token or pair waits for the one before. Rows of documents,
which a state marks as `Rows`, stay with their part. Bits depend on the corpus and its parts, never on who works on which part.
"""

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, get_type_hints
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
    """Forecast of the memory of an engine in bytes, without the corpus and without the memory that every run needs."""

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
    """Return the bytes of the document-word pairs in blocks (a `Partition`); 0 for one block of all, which copies none."""
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


SMOOTH = "smooth"
"""The start with a warm-up, a value of the option `init`."""


def warm_up_of(options: Options) -> int:
    """Return the number of warm-up iterations with these options; 0 if there is no warm-up."""
    return getattr(options, "warm_up", 0) if getattr(options, "init", "") == SMOOTH else 0


def start_sweeps_of(options: Options) -> int:
    """Return how many sweeps over the tokens an engine makes before the first iteration; 0 if it has no such option."""
    return getattr(options, "start_sweeps", 0)


def never_interrupted() -> None:
    """Do nothing: the default `interrupt` callback, for steps that are never interrupted."""


class StepContext(NamedTuple):
    """The context of a step: seed, step number, threads, a callback for interruptions, and the place of a part in its corpus.

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
    warm: bool = False  # whether the run began from the counts of another run
    # for `retune`: the settings that were turned -> their values before
    changed: Mapping = MappingProxyType({})
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


def kept(data: Data, model: Model, options: Options, state: State, context: StepContext) -> tuple:
    """Return the state unchanged: the default `retune`, for engines whose states hold no settings that a run can change."""
    return state, {}


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


class Engine(NamedTuple):
    """A model with an inference algorithm: its name, its paper, its style in figures, and the functions that a run calls."""

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
    # is any token of the data sampled?
    samples: Callable[[Data, Options], bool]
    # (data, model, options, context, warm_start=None) -> the initial state: random, or from another run's counts
    init: Callable[..., State]
    # one iteration: the next state and scalars, of which ``updates`` counts the updates
    step: Callable[[Data, Model, Options, State, StepContext], tuple[State, dict[str, float]]]
    # the recorded diagnostics of an iteration; its time is not measured
    watch: Callable[[Data, Model, Options, State], dict[str, float | np.ndarray]]
    # the arrays of a snapshot by name
    counts: Callable[[Data, Model, Options, State], dict[str, np.ndarray]]
    # (data, model, options, state, pairs, context=None) -> p(w|d) (pair,) of held-out pairs; the context is None where no
    # randomness is needed
    predict: Callable[..., np.ndarray]
    # theta (document, topic) of unseen documents
    fold_in: Callable[[Learnt, Options, Corpus, StepContext], np.ndarray] | None
    # (data, model, options, state, context) -> (state, {}): the state for the model and options in which the settings
    # ``context.changed`` were turned, before the step of the context
    retune: Callable[[Data, Model, Options, State, StepContext], tuple[State, dict]] = kept
    # (model, arrays of the last snapshot by name, topics) -> what `fold_in` needs
    learnt: Callable[[Model, Mapping[str, np.ndarray], Any], Learnt] = lambda model, last, topics: (
        topics
    )
    # (learnt, theta, pairs) -> p(w|d) (pair,) of pairs of unseen documents; None: sum_k theta_dk phi_kw
    unseen: Callable[[Learnt, np.ndarray, Corpus], np.ndarray] | None = None
    keeps: tuple[str, ...] = ()  # arrays of `counts` in addition to the model's variables
    # options of the model that keep their defaults here; a spec of an earlier version may name them, without an effect
    fixed: tuple[str, ...] = ()
    when: str = ""  # one sentence: when to use it rather than another engine
    # "#rrggbb", "-", "--", "-.", ":" or "-..", and o, s, ^, D, v, P, X, * or p, of all pictures of its
    # runs; others, and "": one of a palette, by its name
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
    # p(w|d) (row, word) of the rows with given indices
    predict_rows: (
        Callable[[Data, Model, Options, State, np.ndarray, StepContext | None], np.ndarray] | None
    ) = None
    # a forecast of the engine's memory in bytes
    memory: Callable[[Data, Model, Options], Memory] = lambda data, model, options: Memory()

    @property
    def in_parts(self) -> bool:
        """Whether the engine can work on a corpus in several parts: its step is made of phases."""
        return hasattr(self.step, "phases")


def cached_by_corpus(function: Callable) -> Callable:
    """Decorate a function of a corpus: cache its result for each corpus and each value of the other arguments."""
    results: WeakKeyDictionary = WeakKeyDictionary()

    @wraps(function)
    def cached(corpus, *arguments):
        corpus_results = results.setdefault(corpus, {})
        if arguments not in corpus_results:
            corpus_results[arguments] = function(corpus, *arguments)
        return corpus_results[arguments]

    return cached


Rows = Annotated[np.ndarray, "rows of documents, pairs or tokens"]
"""The type of a field of a state whose rows belong to documents, their pairs or their tokens."""


class Meeting(NamedTuple):
    """A state and sums over documents that a part of the corpus yields, to be combined with those of the other parts."""

    state: NamedTuple
    # name -> number or array, added over the parts by +; a field of the state with this name gets the sum in all parts
    sums: Mapping = MappingProxyType({})


class Phase(NamedTuple):
    """A phase of a step: ``work`` yields one `Meeting` per part of the corpus, or none if the phase has nothing to do."""

    # (corpus, model, options, state, context) -> generator that returns the state and the diagnostics of a step
    work: Callable[..., Generator]
    # (options) -> can the parts be processed in parallel although the engine uses one thread?
    side_by_side: Callable = lambda options: False


class Largest(float):
    """A number whose values in the parts of a corpus are combined by the maximum instead of the sum."""

    def __add__(self, other: float) -> "Largest":
        return Largest(max(self, other))


def over_parts(work: Callable[..., Generator]) -> Callable:
    """Convert a generator function of one phase to an ordinary function for a corpus in one part."""

    @wraps(work)
    def function(*arguments, **keywords):
        return alone(work(*arguments, **keywords))

    function.phases = (Phase(work),)
    return function


def start_of(first: Callable[..., Generator], *phases: Phase) -> Callable:
    """Return an `init` that makes the initial state of a corpus in one part by ``first`` and then the given phases."""

    def init(corpus, model, options, context, warm_start=None) -> NamedTuple:
        state = alone(first(corpus, model, options, context, warm_start))
        for phase in phases:
            state, _ = alone(phase.work(corpus, model, options, state, context))
        return state

    init.phases = (Phase(first), *phases)
    return init


def step_of(*phases: Phase) -> Callable:
    """Return a `step` that runs the given phases one after another on a corpus in one part."""

    def step(corpus, model, options, state: NamedTuple, context) -> tuple[NamedTuple, dict]:
        diagnostics: dict = {}
        for phase in phases:
            state, phase_diagnostics = alone(phase.work(corpus, model, options, state, context))
            diagnostics = sum_diagnostics(diagnostics, phase_diagnostics)
        return state, diagnostics

    step.phases = phases
    return step


def sum_diagnostics(diagnostics: dict, later_diagnostics: dict) -> dict:
    """Merge the diagnostics of two phases of a step, adding their numbers of updates."""
    return (
        diagnostics
        | later_diagnostics
        | {"updates": diagnostics.get("updates", 0) + later_diagnostics.get("updates", 0)}
    )


def alone(work: Generator):
    """Run a phase on a corpus in one part, where nothing is to be combined, and return its result."""
    try:
        meeting = next(work)
        work.send((meeting.state, meeting.sums))
    except StopIteration as end:
        return end.value
    raise TypeError("a phase of an engine has one meeting, and this one yielded twice")


def arrays_of(state: NamedTuple, *names: str) -> dict:
    """Return the named fields of a state as a dict, to be added up over the parts of a corpus."""
    return {name: getattr(state, name) for name in names}


def row_fields(state: type) -> tuple[str, ...]:
    """Return the names of the fields of a state whose type is `Rows` (arrays with a row per document, pair or token)."""
    kinds = get_type_hints(state, include_extras=True)
    return tuple(name for name, kind in kinds.items() if kind == Rows)


def add_sums(total: dict, other: dict) -> dict:
    """Add the sums by name of one part to ``total`` in place; return ``total``."""
    for name, value in other.items():
        if isinstance(value, np.ndarray):
            total[name] += value
        else:
            total[name] = total[name] + value
    return total


def in_tree(items: Iterable, add: Callable):
    """Return the sum of all items (at least one), by pairwise summation: neighbours, then sums of neighbours, etc.

    An item is added as soon as it is yielded, so at most one sum per level of the tree is in memory.
    """
    return from_subtrees(((0, item) for item in items), add)


def from_subtrees(sums_of_items: Iterable[tuple[int, object]], add: Callable):
    """Return the same total as `in_tree`, from the (level, sum) of complete subtrees in the order of `subtrees`."""
    sums: list[tuple[int, object]] = []
    for level, item in sums_of_items:
        while sums and sums[-1][0] == level:
            item, level = add(sums.pop()[1], item), level + 1
        sums.append((level, item))
    _, total = sums.pop()
    while sums:
        total = add(sums.pop()[1], total)
    return total


def subtrees(first: int, last: int) -> Iterator[tuple[int, range]]:
    """Split the items range(first, last) into complete subtrees of `in_tree`; yield (level, range) of each."""
    while first < last:
        level = (last - first).bit_length() - 1
        while first % 2**level:
            level -= 1
        yield level, range(first, first + 2**level)
        first += 2**level
