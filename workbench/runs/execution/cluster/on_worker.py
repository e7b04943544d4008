"""What the workers of a Dask cluster do with the parts of a run that they have; called by `fitting.OnWorkers`."""

import numpy as np

from workbench.data.available_memory import available_memory
from workbench.engines.engine import State, WarmStart, never_interrupted
from workbench.errors import DataError
from workbench.runs.execution.cluster.connecting import ClusterError
from workbench.runs.parts.crew import add_met, changes, once_in, private_copy
from workbench.runs.parts.part import Call, Met, Part, Place, Returned, Setting, with_state

PARTS: dict[tuple[str, int], Part] = {}
"""The parts that this worker has, by run and number; a run is named ``CLIENT/…`` after the client that has it."""
KEPT: dict[str, tuple[Call, dict]] = {}
"""What was made once for all parts of a run in this worker's present call."""


def free_memory() -> int:
    """Return the number of bytes that are free here; called on every worker."""
    return available_memory().n_bytes


def make_part(key: str, setting: Setting, number: int, place: Place) -> None:
    """Make a part, and keep it."""
    try:
        PARTS[key, number] = Part(setting, place, number)
    except DataError as error:
        raise ClusterError(
            f"a worker cannot read the corpus ({error}); keep it where all machines see it"
        ) from error


def forget(key: str) -> None:
    """Let go of all parts of a run."""
    KEPT.pop(key, None)
    for known in [known for known in PARTS if known[0] == key]:
        del PARTS[known]


def clients_there(dask_scheduler) -> list[str]:
    """Return the clients of a scheduler; called on the scheduler."""
    return [*dask_scheduler.clients]


def workers_there(dask_scheduler) -> list[str]:
    """Return the addresses of the workers of a scheduler; called on the scheduler."""
    return [*dask_scheduler.workers]


def forget_others(clients: list[str]) -> None:
    """Let go of what clients that are gone have left."""
    for key in {key for key, _ in [*PARTS]}:
        if key.split("/")[0] not in clients:
            forget(key)


def part_of(key: str, number: int) -> Part:
    """Return a part of a run; raise `NoLongerThere` where the worker was started anew."""
    try:
        return PARTS[key, number]
    except KeyError:
        raise NoLongerThere(f"part {number} of {key}") from None


class NoLongerThere(Exception):
    """A part is not on the worker that had it."""


def call(key: str, number: int, method: str, *arguments):
    """Return the result of a method of a part."""
    return getattr(part_of(key, number), method)(*arguments)


def change_some(
    key: str, numbers: range, call: Call, shared: dict | None, warm_start: WarmStart | None
) -> Met | Returned:
    """Return the changes of the parts of a subtree to what all share; see `workbench.runs.parts.crew.changes`."""
    parts = [part_of(key, number) for number in numbers]
    known = KEPT.get(key)
    if (
        known is None or known[0] != call
    ):  # threads that are here together make it once at most each
        known = KEPT[key] = call, {}
    return changes(parts, call, shared, never_interrupted, warm_start, known[1])


def in_turn(key: str, number: int, call: Call, shared: dict) -> tuple[dict, Met] | Returned:
    """Compute a phase on a part; return what all share afterwards, and its sums."""
    part = part_of(key, number)
    context = part.context(call.step, never_interrupted, once_in({}))
    met = part.work(
        call, {name: private_copy(value) for name, value in shared.items()}, context, None
    )
    return met if isinstance(met, Returned) else (met.shared, Met({}, met.sums))


def finish(key: str, shared: dict, sums: dict):
    """Return what a phase returns after the meeting; of its state None for what is still shared as it came."""
    part = part_of(key, 0)

    def without(state: State):
        unchanged = (name for name in shared if np.array_equal(getattr(state, name), shared[name]))
        return state._replace(**dict.fromkeys(unchanged))

    value = part.finish({name: private_copy(array) for name, array in shared.items()}, sums)
    return with_state(value, part.engine.state, without)


def is_returned(result: Met | Returned) -> bool:
    """Return whether a part has returned, without a meeting."""
    return isinstance(result, Returned)


def added_up(a: Met, b: Met) -> Met:
    """Return `workbench.runs.parts.crew.add_met` of copies, since others may hold both too."""
    return add_met(owned(a), b)


def owned(met: Met) -> Met:
    """Return the same with arrays that may be written to: those that came over the network may not."""
    return Met(*({name: private_copy(value) for name, value in arrays.items()} for arrays in met))
