"""Who works on the parts of a run: this process, one part after the other.

A crew works on phases of functions of the engine, and calls methods of `workbench.runs.parts.part.Part` by name.
`workbench.runs.execution.cluster.fitting` has one whose parts are in other processes, with the same methods and, as sums are
taken in the same tree, the same bits.
"""

from collections.abc import Callable, Iterator
from itertools import chain, zip_longest
from threading import Lock

import numpy as np

from workbench.engines.engine import WarmStart
from workbench.engines.parts import add_sums, in_tree
from workbench.kernels.simd.vectors import aligned_copy
from workbench.runs.parts.part import Call, Met, Part, Place, Returned, Setting

ONE_AT_A_TIME = Lock()


class PartsLost(Exception):
    """A process that held parts of a run has ended; the run continues from its last checkpoint."""


class Here:
    """The parts in this process."""

    def __init__(self, setting: Setting, places: list[Place]):
        self._parts = [Part(setting, place, number) for number, place in enumerate(places)]

    def collect(self, method: str, *arguments) -> list:
        """Return the results of a method of every part, in order."""
        return [*self.each_in_turn(method, *arguments)]

    def each_in_turn(self, method: str, *arguments) -> Iterator:
        """Yield the results of `collect`, one at a time."""
        return (getattr(part, method)(*arguments) for part in reading_ahead(self._parts))

    def alone(self, number: int, method: str, *arguments):
        """Return the result of a method of one part."""
        return getattr(self._parts[number], method)(*arguments)

    def in_turn(self, call: Call, shared: dict, interrupt: Callable) -> Met | Returned:
        """Work on a phase, each part with the shared arrays that the one before has left."""
        once = once_in({})

        def work(part: Part) -> Met | Returned:
            nonlocal shared
            met = part.work(call, shared, part.context(call.step, interrupt, once), None)
            if isinstance(met, Returned):
                return met
            shared = met.shared
            return Met({}, {name: private_copy(value) for name, value in met.sums.items()})

        results = map(work, reading_ahead(self._parts))
        first = next(results)
        if isinstance(first, Returned):
            return first
        total = in_tree(chain([first], results), add_met)  # after it all parts have had their turn
        return Met(shared, total.sums)

    def side_by_side(
        self,
        call: Call,
        shared: dict | None,
        interrupt: Callable,
        warm_start: WarmStart | None = None,
    ) -> Met | Returned:
        """Work on a phase, each part from the same shared arrays; what they changed is added up."""
        return changes(self._parts, call, shared, interrupt, warm_start, {})

    def finish(self, shared: dict, sums: dict):
        """Return what a phase returns after the meeting."""
        return self._parts[0].finish(shared, sums)

    def cpu_seconds_elsewhere(self) -> float:
        """Return CPU seconds that other processes have spent: none."""
        return 0.0

    def close(self) -> None:
        """Do nothing: what the parts hold goes with them."""


def reading_ahead(parts: list[Part]) -> Iterator[Part]:
    """Yield the parts in order; the files of the next are read while one is worked on."""
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
    values: dict,
) -> Met | Returned:
    """Return the sum, in the tree, of what parts change of the same shared arrays; of a start what the first has.

    kept : what was made once for all parts of the call in this process
    """
    once = once_in(values)
    scratch = (
        None if shared is None else {name: private_copy(value) for name, value in shared.items()}
    )

    def work(part: Part) -> Met | Returned:
        for name, value in (shared or {}).items():
            if isinstance(value, np.ndarray):
                scratch[name][...] = value
        met = part.work(call, scratch, part.context(call.step, interrupt, once), warm_start)
        if isinstance(met, Returned):
            return met
        left = met.shared if part.number == 0 else {}
        if shared is not None:
            names = [name for name in shared if name not in met.sums]
            left = {name: met.shared[name] - shared[name] for name in names}
        return Met(left, {name: private_copy(value) for name, value in met.sums.items()})

    results = map(work, reading_ahead(parts))
    first = next(results)
    return first if isinstance(first, Returned) else in_tree(chain([first], results), add_met)


def add_met(a: Met, b: Met) -> Met:
    """Return the sum of what two parts bring to a meeting, in the arrays of the first."""
    return Met(add_sums(a.shared, b.shared), add_sums(a.sums, b.sums))


def merged(shared: dict | None, met: Met) -> dict:
    """Return what all parts share after they have worked side by side; counts do not fall below 0 by rounding."""
    if shared is None:
        return met.shared
    shared = dict(shared)
    for name, change in met.shared.items():
        value = shared[name]
        if not isinstance(value, np.ndarray):
            shared[name] = value + change
        elif change.any():
            counts = value.min() >= 0
            value += change
            if counts:
                np.maximum(value, 0, out=value)
    return shared


def private_copy(value):
    """Return a copy of an array that nothing else changes; of what becomes a number that number."""
    if isinstance(value, np.ndarray):
        return aligned_copy(value) if value.ndim else value.copy()
    return np.asarray(value).item() if hasattr(value, "__array__") else value


def once_in(values: dict) -> Callable:
    """Return (name, make) -> what is made once for all parts that work from the same shared arrays in this process."""

    def once(name: str, make: Callable):
        with ONE_AT_A_TIME:
            if name not in values:
                values[name] = make()
            return values[name]

    return once
