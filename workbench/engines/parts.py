"""How an engine works on a corpus in several parts, each a range of its documents: by what its functions yield.

`init`, `step` and `watch` are written as generators with one `yield`. They work on the documents that they are given, and then
yield a `Meeting`: their state, and what adds up over all documents. What comes back are the state, with the arrays by word and
by topic as all parts together have made them, and the sums. The rest is done once, for the first part. Over a corpus in one
part what is yielded comes back as it is, so that nothing is copied or added. A step may have several such phases. Until they
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
    """What one part brings to the meeting of all parts."""

    state: NamedTuple
    # name -> what is added up by +; what has the name of a field of the state takes its place in all parts
    sums: Mapping = MappingProxyType({})


class Phase(NamedTuple):
    """A part of a step that ends with a meeting; it may return at once, without one, when nothing is due."""

    # (corpus, model, options, state, context) -> generator that returns the state and the diagnostics of a step
    work: Callable[..., Generator]
    # (options) -> are the parts worked on side by side, though the engine leaves threads idle?
    side_by_side: Callable = lambda options: False


class Largest(float):
    """A number of which the largest of all parts counts."""

    def __add__(self, other: float) -> "Largest":
        return Largest(max(self, other))


def over_parts(work: Callable[..., Generator]) -> Callable:
    """Return a generator function of an engine, of one phase, as a function over a corpus in one part."""

    @wraps(work)
    def function(*arguments, **named):
        return alone(work(*arguments, **named))

    function.phases = (Phase(work),)
    return function


def start_of(first: Callable[..., Generator], *phases: Phase) -> Callable:
    """Return the `init` of an engine whose first state goes through phases as a step does."""

    def init(corpus, model, options, context, warm_start=None) -> NamedTuple:
        state = alone(first(corpus, model, options, context, warm_start))
        for phase in phases:
            state, _ = alone(phase.work(corpus, model, options, state, context))
        return state

    init.phases = (Phase(first), *phases)
    return init


def step_of(*phases: Phase) -> Callable:
    """Return the `step` of an engine that has several phases, as a function over a corpus in one part."""

    def step(corpus, model, options, state: NamedTuple, context) -> tuple[NamedTuple, dict]:
        diagnostics: dict = {}
        for phase in phases:
            state, more = alone(phase.work(corpus, model, options, state, context))
            diagnostics = sum_diagnostics(diagnostics, more)
        return state, diagnostics

    step.phases = phases
    return step


def sum_diagnostics(diagnostics: dict, more: dict) -> dict:
    """Return what two phases of a step tell: updates add up."""
    return diagnostics | more | {"updates": diagnostics.get("updates", 0) + more.get("updates", 0)}


def alone(work: Generator):
    """Return what a generator returns when it is the only part: what it yields comes back as it is."""
    try:
        meeting = next(work)
        work.send((meeting.state, meeting.sums))
    except StopIteration as end:
        return end.value
    raise TypeError("a phase of an engine has one meeting, and this one yielded twice")


def arrays_of(state: NamedTuple, *names: str) -> dict:
    """Return fields of a state by name, as sums of a meeting."""
    return {name: getattr(state, name) for name in names}


def row_fields(state: type) -> tuple[str, ...]:
    """Return the names of the fields of a state that are `Rows`."""
    kinds = get_type_hints(state, include_extras=True)
    return tuple(name for name, kind in kinds.items() if kind == Rows)


def add_sums(total: dict, other: dict) -> dict:
    """Return the sums of two parts, in the arrays of the first."""
    for name, value in other.items():
        if isinstance(value, np.ndarray):
            total[name] += value
        else:
            total[name] = total[name] + value
    return total


def in_tree(items: Iterable, add: Callable):
    """Return the sum of all items: neighbours first, then their sums, and so on; at least one item.

    An item is added as soon as it comes, so that no more than one sum for each level of the tree is held.
    """
    return from_subtrees(((0, item) for item in items), add)


def from_subtrees(sums_of_items: Iterable[tuple[int, object]], add: Callable):
    """Return `in_tree` given the sums of `subtrees`, in order, each with its level."""
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
    """Yield the items from ``first`` to before ``last`` as ranges that are whole subtrees of `in_tree`, with their levels."""
    while first < last:
        level = (last - first).bit_length() - 1
        while first % 2**level:
            level -= 1
        yield level, range(first, first + 2**level)
        first += 2**level
