"""Who works on the groups of a run in parts: this process, one group after the other or several on threads.

A crew calls methods of `workbench.runs.parts.group.Group` by name. `workbench.runs.execution.cluster.fitting` has one whose
groups are in other processes, with the same methods and, as sums are taken in the same tree, the same bits.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from workbench.engines.engine import WarmStart
from workbench.engines.in_parts import add_told, in_tree
from workbench.engines.lda.partition import add_changes
from workbench.kernels.threads import each_task
from workbench.runs.parts.group import (
    PREPARED,
    Group,
    Place,
    Setting,
    add_shared,
    pass_of,
    reading_ahead,
)


class PartsLost(Exception):
    """A process that held parts of a run has ended; the run goes on from its last checkpoint."""


class Here:
    """The groups in this process."""

    def __init__(self, setting: Setting, places: list[list[Place]]):
        self._groups = [Group(setting, number, of_group) for number, of_group in enumerate(places)]
        self._setting, self._n_threads = setting, setting.spec.n_threads

    def each(self, method: str, *arguments) -> list:
        """The results of a method of every group, in order."""
        return [*self.each_in_turn(method, *arguments)]

    def each_in_turn(self, method: str, *arguments) -> Iterator:
        """`each`, one result at a time."""
        return (getattr(group, method)(*arguments) for group in reading_ahead(self._groups))

    def alone(self, number: int, method: str, *arguments):
        """The result of a method of one group."""
        return getattr(self._groups[number], method)(*arguments)

    def begin(self, warm_start: WarmStart | None, interrupt: Callable) -> dict:
        """`Group.begin` of all groups; returns the sums of what is shared."""
        return begun(self._groups, warm_start, interrupt)

    def added(self, at: int, step: int, shared: dict, interrupt: Callable) -> tuple[dict, dict]:
        """A pass of the kind ADDED over all groups: the sums of what it changes, and numbers to be told."""
        return counted(self._groups, at, step, shared, interrupt)

    def rounds(self, at: int, step: int, shared: dict, interrupt: Callable) -> dict:
        """A pass of the kind ROUNDS over all groups, in place; counts by topic are late within a round."""
        told, n_groups, sizes = [], len(self._groups), pass_of(self._setting, at, step).sizes
        for phase in range(n_groups):
            copies = [{name: shared[name].copy() for name in sizes} for _ in self._groups]
            tasks = [
                partial(group.block, at, step, shared | own, (number + phase) % n_groups)
                for number, (group, own) in enumerate(zip(self._groups, copies, strict=True))
            ]
            told += each_task(
                [lambda interrupt, task=task: task(interrupt) for task in tasks],
                self._n_threads,
                interrupt,
            )
            take_changes(shared, copies, sizes)
        return add_told(told)

    def in_order(self, at: int, step: int, shared: dict, interrupt: Callable) -> dict:
        """A pass of the kind IN_ORDER over all groups, in place."""
        return add_told(
            [group.in_order(at, step, shared, interrupt) for group in reading_ahead(self._groups)]
        )

    def cpu_seconds_elsewhere(self) -> float:
        """CPU seconds that other processes have spent: none."""
        return 0.0

    def close(self) -> None:
        """Lets go of what was prepared; what the groups hold goes with them."""
        PREPARED.clear()


def begun(groups: list[Group], warm_start: WarmStart | None, interrupt: Callable) -> dict:
    """`Group.begin` of groups, one after the other; returns the sums of what is shared."""
    return in_tree((group.begin(warm_start, interrupt) for group in groups), add_shared)


def counted(
    groups: list[Group], at: int, step: int, shared: dict, interrupt: Callable
) -> tuple[dict, dict]:
    """`Group.added` of groups, one after the other: the sums of what it changes, and numbers to be told."""
    told = []

    def results():
        for group in reading_ahead(groups):
            changed, numbers = group.added(at, step, shared, interrupt)
            told.append(numbers)
            yield changed

    return in_tree(results(), add_shared), add_told(told)


def take_changes(shared: dict, copies: list[dict], sizes: tuple[str, ...]) -> None:
    """Adds to the shared counts by topic what each copy of them has gained or lost, in order; one alone takes their place."""
    for name in sizes:
        if len(copies) == 1:
            shared[name][...] = copies[0][name]
        elif shared[name].size:
            add_changes(shared[name], np.stack([own[name] for own in copies]))
