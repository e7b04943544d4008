"""What the workers of a Dask cluster do with the groups of a run that they have; called by `fitting.OnWorkers`."""

from __future__ import annotations

from threading import Lock

import numpy as np

from workbench.data.available_memory import available_memory
from workbench.engines.engine import WarmStart, never_interrupted
from workbench.errors import DataError
from workbench.runs.execution.cluster.connecting import ClusterError
from workbench.runs.parts.crew import begun, counted
from workbench.runs.parts.group import PREPARED, Group, Place, Setting, add_shared, opened, pass_of

GROUPS: dict[tuple[str, int], Group] = {}
"""The groups that this worker has, by run and number; a run is named ``CLIENT/…`` after the client that has it."""
WORDS: dict[str, tuple[tuple[int, int], dict]] = {}
"""The worker's copy of the counts by word in a pass of the kind ROUNDS, by run; and which step and pass it is of."""
ONE_COPY = Lock()


def free_memory() -> int:
    """Bytes that are free here; called on every worker."""
    return available_memory().n_bytes


def make_group(key: str, setting: Setting, number: int, places: list[Place]) -> None:
    """Makes a group, and keeps it."""
    try:
        GROUPS[key, number] = Group(setting, number, places)
        opened(setting.train)
    except DataError as error:
        raise ClusterError(
            f"a worker cannot read the corpus ({error}); keep it where all machines see it"
        ) from error


def forget(key: str) -> None:
    """Lets go of all groups of a run."""
    WORDS.pop(key, None)
    PREPARED.clear()
    for known in [known for known in GROUPS if known[0] == key]:
        del GROUPS[known]


def clients_there(dask_scheduler) -> list[str]:
    """The clients of a scheduler; called on the scheduler."""
    return [*dask_scheduler.clients]


def workers_there(dask_scheduler) -> list[str]:
    """Addresses of the workers of a scheduler; called on the scheduler."""
    return [*dask_scheduler.workers]


def forget_others(clients: list[str]) -> None:
    """Lets go of what clients that are gone have left."""
    for key in {key for key, _ in [*GROUPS]}:
        if key.split("/")[0] not in clients:
            forget(key)


def group_of(key: str, number: int) -> Group:
    """A group of a run; `NoLongerThere` where the worker was started anew."""
    try:
        return GROUPS[key, number]
    except KeyError:
        raise NoLongerThere(f"group {number} of {key}") from None


class NoLongerThere(Exception):
    """A group is not on the worker that had it."""


def call(key: str, number: int, method: str, *arguments):
    """The result of a method of a group."""
    return getattr(group_of(key, number), method)(*arguments)


def begin_some(key: str, numbers: range, warm_start: WarmStart | None) -> dict:
    """What groups of a subtree begin with, added up."""
    return begun([group_of(key, number) for number in numbers], warm_start, never_interrupted)


def count_some(key: str, numbers: range, at: int, step: int, shared: dict) -> tuple[dict, dict]:
    """What groups of a subtree count in a pass of the kind ADDED, added up, and numbers to be told."""
    return counted(
        [group_of(key, number) for number in numbers], at, step, shared, never_interrupted
    )


def block(
    key: str,
    number: int,
    at: int,
    step: int,
    shared: dict,
    sizes: dict,
    words: list[str],
    rows: dict | None,
    of: int,
) -> tuple[dict, tuple[dict, dict]]:
    """A block of a pass of the kind ROUNDS.

    ``rows``: counts of the words of the set as another block has left them; None in the first round. Returns these counts as
    the block leaves them, and then its counts by topic and the numbers to be told.
    """
    group = group_of(key, number)
    own = {name: counts.copy() for name, counts in sizes.items()}
    with ONE_COPY:
        if key not in WORDS or WORDS[key][0] != (step, at):
            WORDS[key] = (step, at), {name: shared[name].copy() for name in words}
        copies = WORDS[key][1]
    ours = group.sets == of
    for name, counts in (rows or {}).items():
        copies[name][..., ours, :] = counts
    told = group.block(at, step, shared | copies | own, of)
    return {name: copies[name][..., ours, :] for name in words}, (own, told)


def in_order(
    key: str, number: int, at: int, step: int, shared: dict, changed: dict | None
) -> tuple[dict, dict]:
    """A group's turn in a pass of the kind IN_ORDER; what the pass changes, and numbers to be told."""
    group = group_of(key, number)
    before = changed or {name: shared[name] for name in pass_of(group.setting, at, step).changes}
    own = {name: counts.copy() for name, counts in before.items()}
    told = group.in_order(at, step, shared | own)
    return own, told


def added_up(a: dict, b: dict) -> dict:
    """`workbench.runs.parts.group.add_shared` that leaves both as they are, since others may hold them too."""
    return add_shared(owned(a), b)


def owned(shared: dict) -> dict:
    """The same with arrays that may be written to: those that came over the network may not."""
    return {
        name: np.array(value) if isinstance(value, np.ndarray) else value
        for name, value in shared.items()
    }
