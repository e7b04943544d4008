"""Engines on a corpus in several parts, each a range of documents: their functions yield sums to be combined.

`init`, `step` and `watch` are written as generators with one `yield`. They work on the documents that they are given, and then
yield a `Meeting`: their state, and what adds up over all documents. What comes back are the state, with the arrays by word and
by topic as all parts together have made them, and the sums. The rest is done once, for the first part. Over a corpus in one
part the generator gets back what it yielded, so nothing is copied or added. A step may have several such phases. Until they
meet, the parts are worked on::

    in turn        the arrays by word and topic go from part to part, in order: the chain of the whole corpus
    side by side   every part begins from the same arrays; what each changes is added up, two and two, in a fixed tree

They go in turn where the engine leaves threads idle, since each token or pair waits for the one before. Rows of documents,
which a state marks as `Rows`, stay with their part. Bits depend on the corpus and its parts, never on who works on which part.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Annotated, NamedTuple, get_type_hints

import numpy as np

Rows = Annotated[np.ndarray, "rows of documents, pairs or tokens"]
"""The type of a field of a state whose rows belong to documents, their pairs or their tokens."""


class Meeting(NamedTuple):
    """What a part of the corpus yields to be combined with the other parts: a state, and sums over documents."""

    state: NamedTuple
    # name -> number or array, added over the parts by +; a field of the state with this name gets the sum in all parts
    sums: Mapping = MappingProxyType({})


class Phase(NamedTuple):
    """A phase of a step, which ends with a `Meeting` of all parts of the corpus, or without one if it does nothing."""

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
    def function(*arguments, **named):
        return alone(work(*arguments, **named))

    function.phases = (Phase(work),)
    return function


def start_of(first: Callable[..., Generator], *phases: Phase) -> Callable:
    """Return the `init` of an engine that makes its initial state in several phases."""

    def init(corpus, model, options, context, warm_start=None) -> NamedTuple:
        state = alone(first(corpus, model, options, context, warm_start))
        for phase in phases:
            state, _ = alone(phase.work(corpus, model, options, state, context))
        return state

    init.phases = (Phase(first), *phases)
    return init


def step_of(*phases: Phase) -> Callable:
    """Return the `step` of an engine from its phases; the function itself is for a corpus in one part."""

    def step(corpus, model, options, state: NamedTuple, context) -> tuple[NamedTuple, dict]:
        diagnostics: dict = {}
        for phase in phases:
            state, more = alone(phase.work(corpus, model, options, state, context))
            diagnostics = sum_diagnostics(diagnostics, more)
        return state, diagnostics

    step.phases = phases
    return step


def sum_diagnostics(diagnostics: dict, more: dict) -> dict:
    """Merge the diagnostics of two phases of a step, adding their numbers of updates."""
    return diagnostics | more | {"updates": diagnostics.get("updates", 0) + more.get("updates", 0)}


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
    """Return the names of the fields of a state that are `Rows`."""
    kinds = get_type_hints(state, include_extras=True)
    return tuple(name for name, kind in kinds.items() if kind == Rows)


def add_sums(total: dict, other: dict) -> dict:
    """Add the sums of one part to those of another, in place, and return them."""
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
    """Return the sum of `in_tree` given the (level, sum) of each subtree that `subtrees` yields, in order."""
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
