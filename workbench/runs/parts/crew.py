"""The crew that computes on the parts of a run in this process, one part after the other.

A crew computes phases of functions of the engine, and calls methods of `workbench.runs.parts.part.Part` by name.
`workbench.runs.execution.cluster.fitting` has a crew whose parts are in other processes, with the same methods and the same
bits, since sums are computed in the same tree.
"""

from collections.abc import Callable, Iterator
from itertools import chain, zip_longest
from threading import Lock

import numpy as np

from workbench.engines.engine import WarmStart, add_sums, in_tree
from workbench.kernels.simd.vectors import aligned_copy
from workbench.runs.parts.part import Call, Contribution, Part, Returned, Setting, ShardRange

ONE_AT_A_TIME = Lock()


class PartsLost(Exception):
    """Raised if a process with parts of a run is gone; the run can continue from its last checkpoint."""


class LocalParts:
    """All parts (shards) of a run's data in this process, which computes them one after the other."""

    def __init__(self, setting: Setting, shard_ranges: list[ShardRange]):
        self._parts = [
            Part(setting, shard_range, number) for number, shard_range in enumerate(shard_ranges)
        ]

    def collect(self, method: str, *arguments) -> list:
        """Call a method of every `Part` of the data; return the list of results in the order of the parts."""
        return [*self.each_in_turn(method, *arguments)]

    def each_in_turn(self, method: str, *arguments) -> Iterator:
        """Call a method of every part; yield one result at a time, in the order of the parts."""
        return (getattr(part, method)(*arguments) for part in reading_ahead(self._parts))

    def alone(self, number: int, method: str, *arguments):
        """Call a method of one part and return the result."""
        return getattr(self._parts[number], method)(*arguments)

    def in_turn(self, call: Call, shared: dict, interrupt: Callable) -> Contribution | Returned:
        """Compute one phase of a step on the parts in turn, each from the shared arrays as the part before left them."""
        once = once_in({})

        def work(part: Part) -> Contribution | Returned:
            nonlocal shared
            contribution = part.work(call, shared, part.context(call.step, interrupt, once), None)
            if isinstance(contribution, Returned):
                return contribution
            shared = contribution.shared
            return Contribution(
                {}, {name: private_copy(value) for name, value in contribution.sums.items()}
            )

        total = sum_over(self._parts, work)  # afterwards all parts have been computed
        return total if isinstance(total, Returned) else Contribution(shared, total.sums)

    def side_by_side(
        self,
        call: Call,
        shared: dict | None,
        interrupt: Callable,
        warm_start: WarmStart | None = None,
    ) -> Contribution | Returned:
        """Compute one phase of a step on all parts, from the same shared arrays; return the sum of the parts' changes."""
        return changes(self._parts, call, shared, interrupt, warm_start, {})

    def finish(self, shared: dict, sums: dict):
        """Complete a phase of a step from the shared arrays and the sums over all parts; return the phase's result."""
        return self._parts[0].finish(shared, sums)

    def cpu_seconds_elsewhere(self) -> float:
        """Return 0, the CPU seconds used by other processes."""
        return 0.0

    def close(self) -> None:
        """Do nothing, since parts in this process need no clean-up."""


def reading_ahead(parts: list[Part]) -> Iterator[Part]:
    """Yield the parts in order; while one is computed, the system already reads the next one's files."""
    for part, following in zip_longest(parts, parts[1:]):
        if following is not None:
            following.read_ahead()
        yield part


def changes(
    parts: list[Part],
    call: Call,
    shared: dict | None,
    interrupt: Callable,
    warm_start: WarmStart | None,
    computed_values: dict,
) -> Contribution | Returned:
    """Compute one phase of a step on some parts, each from the same shared arrays; return their total changes and sums.

    shared : None in the first phase of `init`, whose shared arrays are those of the first part
    computed_values : values that are computed once for all parts of the call in this process, by name
    """
    once = once_in(computed_values)
    scratch = (
        None if shared is None else {name: private_copy(value) for name, value in shared.items()}
    )

    def work(part: Part) -> Contribution | Returned:
        for name, value in (shared or {}).items():
            if isinstance(value, np.ndarray):
                scratch[name][...] = value
        contribution = part.work(
            call, scratch, part.context(call.step, interrupt, once), warm_start
        )
        if isinstance(contribution, Returned):
            return contribution
        shared_changes = contribution.shared if part.number == 0 else {}
        if shared is not None:
            names = [name for name in shared if name not in contribution.sums]
            shared_changes = {name: contribution.shared[name] - shared[name] for name in names}
        return Contribution(
            shared_changes, {name: private_copy(value) for name, value in contribution.sums.items()}
        )

    return sum_over(parts, work)


def sum_over(
    parts: list[Part], work: Callable[[Part], Contribution | Returned]
) -> Contribution | Returned:
    """Return the sum of ``work(part)`` over the parts; if the first part completes the phase alone, its result."""
    results = map(work, reading_ahead(parts))
    first = next(results)
    return (
        first
        if isinstance(first, Returned)
        else in_tree(chain([first], results), add_contributions)
    )


def add_contributions(a: Contribution, b: Contribution) -> Contribution:
    """Return the sum of what two groups of parts contribute to a phase, computed in place in the arrays of ``a``."""
    return Contribution(add_sums(a.shared, b.shared), add_sums(a.sums, b.sums))


def merged(shared: dict | None, contribution: Contribution) -> dict:
    """Return the shared arrays with the parts' changes added; counts that rounding made negative become 0."""
    if shared is None:
        return contribution.shared
    shared = dict(shared)
    for name, change in contribution.shared.items():
        value = shared[name]
        if not isinstance(value, np.ndarray):
            shared[name] = value + change
        elif change.any():
            is_count = value.min() >= 0
            value += change
            if is_count:
                np.maximum(value, 0, out=value)
    return shared


def private_copy(value):
    """Return a copy of an array, or the Python number of a numpy scalar; return other values unchanged."""
    if isinstance(value, np.ndarray):
        return aligned_copy(value) if value.ndim else value.copy()
    return np.asarray(value).item() if hasattr(value, "__array__") else value


def once_in(values: dict) -> Callable:
    """Return a function (name, make) that returns values[name], after computing it as make() if it is missing.

    So a value is computed once for all parts in this process that start from the same shared arrays.
    """

    def once(name: str, make: Callable):
        with ONE_AT_A_TIME:
            if name not in values:
                values[name] = make()
            return values[name]

    return once
