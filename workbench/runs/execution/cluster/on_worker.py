"""Functions that `fitting.WorkerParts` calls on the workers of a Dask cluster, for the parts of a run that they have."""

import numpy as np

from workbench.engines.engine import State, WarmStart, never_interrupted
from workbench.errors import DataError
from workbench.runs.execution.cluster.connecting import ClusterError
from workbench.runs.parts.crew import add_contributions, changes, once_in, private_copy
from workbench.runs.parts.part import (
    Call,
    Contribution,
    Part,
    Returned,
    Setting,
    ShardRange,
    with_state,
)

PARTS: dict[tuple[str, int], Part] = {}
"""The parts on this worker, by (key of the run, number of the part); the key is ``CLIENT/…``, with the id of the client."""
CALLS: dict[str, tuple[Call, dict]] = {}
"""By key of a run: its present call, and the values that are computed once for all its parts on this worker."""


def make_part(key: str, setting: Setting, number: int, shard_range: ShardRange) -> None:
    """Create one part (shard) of a run on this worker, in the dict `PARTS`; raise ClusterError if it cannot be read."""
    try:
        PARTS[key, number] = Part(setting, shard_range, number)
    except DataError as error:
        raise ClusterError(
            f"a worker cannot read the corpus ({error}); keep it where all machines see it"
        ) from error


def forget(key: str) -> None:
    """Delete all parts of a run from this worker."""
    CALLS.pop(key, None)
    for part_key in [part_key for part_key in PARTS if part_key[0] == key]:
        del PARTS[part_key]


def clients_there(dask_scheduler) -> list[str]:
    """Return the ids of the clients of a scheduler; called on the scheduler."""
    return [*dask_scheduler.clients]


def workers_there(dask_scheduler) -> list[str]:
    """Return the addresses of the workers of a scheduler; called on the scheduler."""
    return [*dask_scheduler.workers]


def forget_others(clients: list[str]) -> None:
    """Delete the parts of all runs from this worker, except those of the given clients."""
    for key in {key for key, _ in [*PARTS]}:
        if key.split("/")[0] not in clients:
            forget(key)


def part_of(key: str, number: int) -> Part:
    """Return one part of a run on this worker; raise `NoLongerThere` if a restart of the worker lost it."""
    try:
        return PARTS[key, number]
    except KeyError:
        raise NoLongerThere(f"part {number} of {key}") from None


class NoLongerThere(Exception):
    """Raised if a part is missing on the worker that had it."""


def call(key: str, number: int, method: str, *arguments):
    """Call a method of a part and return the result."""
    return getattr(part_of(key, number), method)(*arguments)


def change_some(
    key: str, numbers: range, call: Call, shared: dict | None, warm_start: WarmStart | None
) -> Contribution | Returned:
    """Compute one phase of a step on some parts; return the sum of the changes that they make to the shared arrays."""
    parts = [part_of(key, number) for number in numbers]
    values = CALLS.get(key)
    if values is None or values[0] != call:  # concurrent threads may each create it once
        values = CALLS[key] = call, {}
    return changes(parts, call, shared, never_interrupted, warm_start, values[1])


def in_turn(
    key: str, number: int, call: Call, shared: dict
) -> tuple[dict, Contribution] | Returned:
    """Compute one phase of a step on one part; return the shared arrays with the part's changes, and the part's sums."""
    part = part_of(key, number)
    context = part.context(call.step, never_interrupted, once_in({}))
    contribution = part.work(
        call, {name: private_copy(value) for name, value in shared.items()}, context, None
    )
    return (
        contribution
        if isinstance(contribution, Returned)
        else (contribution.shared, Contribution({}, contribution.sums))
    )


def finish(key: str, shared: dict, sums: dict):
    """Complete a phase of a step from the shared arrays and the sums over all parts; return the phase's result.

    Shared arrays that are unchanged are None in its state.
    """
    part = part_of(key, 0)

    def drop_unchanged(state: State):
        unchanged = (name for name in shared if np.array_equal(getattr(state, name), shared[name]))
        return state._replace(**dict.fromkeys(unchanged))

    value = part.finish({name: private_copy(array) for name, array in shared.items()}, sums)
    return with_state(value, part.engine.state, drop_unchanged)


def added_up(a: Contribution, b: Contribution) -> Contribution:
    """Return the sum, in new arrays, of what two groups of parts contribute to a phase of a step."""
    return add_contributions(writable_copy(a), b)


def writable_copy(contribution: Contribution) -> Contribution:
    """Return a copy of some parts' contribution to a phase, writable, since arrays from the network are read-only."""
    return Contribution(
        *({name: private_copy(value) for name, value in arrays.items()} for arrays in contribution)
    )
