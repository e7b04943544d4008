"""Compute one run over a corpus in shards on the workers of a Dask cluster.

The parts of the corpus (`workbench.runs.parts`) are distributed to the workers and stay there, each with its document arrays;
this process has the shared arrays, the loop and the store. Sums over parts are computed on the workers, in the same tree as in
one process, so that the bits are the same for any number of workers. If a worker is lost, so are its document arrays: the run
then continues from its last checkpoint (`PartsLost`), with its parts distributed again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

from workbench.data.available_memory import available_memory
from workbench.engines.engine import (
    DOUBLE,
    State,
    WarmStart,
    from_subtrees,
    never_interrupted,
    subtrees,
)
from workbench.kernels.simd.vectors import padded
from workbench.numbers import format_size
from workbench.runs.execution.cluster.connecting import (
    ClusterError,
    ask_workers,
    await_worker,
    check_workers,
    losses,
)
from workbench.runs.execution.cluster.on_worker import (
    NoLongerThere,
    added_up,
    call,
    change_some,
    clients_there,
    finish,
    forget,
    forget_others,
    in_turn,
    make_part,
    workers_there,
    writable_copy,
)
from workbench.runs.parts.crew import PartsLost
from workbench.runs.parts.part import (
    Call,
    Contribution,
    Returned,
    Setting,
    ShardRange,
    opened,
    with_state,
)

if TYPE_CHECKING:
    from distributed import Client, Future

COPIES = 4
"""Largest number of copies of the counts by word on a worker: the old, the new, a sum, and one in transfer."""
LOOK_EVERY = 0.2
"""Seconds between two checks of the workers, and two calls of ``interrupt``, while waiting for results."""


class WorkerParts:
    """All parts (shards) of a run's data, on workers of a cluster; methods as `workbench.runs.parts.crew.LocalParts`.

    Raises
    ------
    ClusterError
        A worker has another version or other kernels, cannot read the corpus, or has too little memory.
    """

    def __init__(self, client: Client, setting: Setting, shard_ranges: list[ShardRange]):
        self._client, self._key, self._setting = client, f"{client.id}/{uuid.uuid4().hex}", setting
        await_worker(client)
        client.run(forget_others, client.run_on_scheduler(clients_there), on_error="ignore")
        addresses = sorted(check_workers(client))
        n_parts = len(shard_ranges)
        self._part_workers = [
            addresses[number * len(addresses) // n_parts] for number in range(n_parts)
        ]
        self._workers = sorted(set(self._part_workers))
        self._subtrees = [*self._sum_tasks(client.nthreads())]
        self._last_sent: tuple[tuple, Future] | None = None
        without_start = setting._replace(spec=replace(setting.spec, warm_start=None), scratch=None)
        self._check_room(shard_ranges)
        self._wait(
            [
                self._submit(number, make_part, self._key, without_start, number, shard_range)
                for number, shard_range in enumerate(shard_ranges)
            ],
            never_interrupted,
        )

    # ------------------------------------------------------------------ a crew's methods

    def collect(self, method: str, *arguments) -> list:
        """Call a method of every `Part` of the data; return the list of results in the order of the parts."""
        return self._wait(
            [self._call(number, method, *arguments) for number in range(len(self._part_workers))],
            never_interrupted,
        )

    def each_in_turn(self, method: str, *arguments) -> Iterator:
        """Call a method of every part; yield one result at a time, in the order of the parts."""
        return (self.alone(number, method, *arguments) for number in range(len(self._part_workers)))

    def alone(self, number: int, method: str, *arguments):
        """Call a method of one part and return the result."""
        return self._wait([self._call(number, method, *arguments)], never_interrupted)[0]

    def in_turn(self, call: Call, shared: dict, interrupt: Callable) -> Contribution | Returned:
        """Compute one phase of a step on the parts in turn, each from the shared arrays as the part before left them."""
        shared_arrays, sums = self._scatter(shared), []
        for number, home in enumerate(self._part_workers):
            result = self._submit(number, in_turn, self._key, number, call, shared_arrays)
            if number == 0 and (returned := self._early_result(result, home, interrupt)):
                return returned
            shared_arrays, contribution = (
                self._submit_to(home, itemgetter(which), result) for which in (0, 1)
            )
            sums.append((0, contribution))
        shared_arrays, contribution = self._wait(
            [shared_arrays, from_subtrees(sums, self._add)], interrupt
        )
        return writable_copy(Contribution(shared_arrays, contribution.sums))

    def side_by_side(
        self,
        call: Call,
        shared: dict | None,
        interrupt: Callable,
        warm_start: WarmStart | None = None,
    ) -> Contribution | Returned:
        """Compute one phase of a step on all parts in parallel, from the same shared arrays; return the summed changes."""
        shared_arrays = None if shared is None else self._scatter(shared)
        results = [
            (
                level,
                self._submit_to(
                    home, change_some, self._key, numbers, call, shared_arrays, warm_start
                ),
            )
            for home, level, numbers in self._subtrees
        ]
        if returned := self._early_result(results[0][1], self._part_workers[0], interrupt):
            return returned
        (contribution,) = self._wait([from_subtrees(results, self._add)], interrupt)
        self._last_sent = None  # the arrays that were sent will be changed in place
        return writable_copy(contribution)

    def _early_result(self, result: Future, home: str, interrupt: Callable) -> Returned | None:
        """Return a phase's result, wrapped in `Returned`, if the first part completed it alone; None if sums are needed."""
        (is_early,) = self._wait([self._submit_to(home, isinstance, result, Returned)], interrupt)
        return self._wait([result], interrupt)[0] if is_early else None

    def finish(self, shared: dict, sums: dict):
        """Complete a phase of a step from the shared arrays and the sums over all parts; return the phase's result."""
        result = self._submit(0, finish, self._key, self._scatter(shared), sums)
        (value,) = self._wait([result], never_interrupted)

        def restore(state: State):
            unchanged = {
                name: value for name, value in shared.items() if getattr(state, name) is None
            }
            return state._replace(**unchanged)

        return with_state(value, self._setting.spec.parts()[0].state, restore)

    def cpu_seconds_elsewhere(self) -> float:
        """Return the CPU seconds that the workers with parts have used so far."""
        with self._seeing_losses(KeyError):
            seconds = self._client.run(time.process_time, workers=self._workers, on_error="ignore")
        return sum(seconds.values())

    def close(self) -> None:
        """Delete the parts on the workers."""
        self._last_sent = None
        with contextlib.suppress(OSError):  # where the scheduler is gone
            if self._client.status == "running":
                self._client.run(forget, self._key, on_error="ignore")

    # ------------------------------------------------------------------ Dask

    def _sum_tasks(self, threads: dict[str, int]) -> Iterator[tuple[str, int, range]]:
        """Yield (worker, level, part numbers) of each task that sums over parts: a subtree of the binary tree of all sums.

        threads : number of threads of each worker, by address
        """
        for worker in self._workers:
            first, n = self._part_workers.index(worker), self._part_workers.count(worker)
            tasks = min(threads[worker], n)
            for task in range(tasks):
                for level, numbers in subtrees(
                    first + task * n // tasks, first + (task + 1) * n // tasks
                ):
                    yield worker, level, numbers

    def _call(self, number: int, method: str, *arguments) -> Future:
        """Submit a task that calls a method of a part; return the task's future."""
        arguments = [
            self._scatter(argument) if isinstance(argument, dict) else argument
            for argument in arguments
        ]
        return self._submit(number, call, self._key, number, method, *arguments)

    def _submit(self, number: int, function: Callable, *arguments) -> Future:
        """Submit a task to the worker that has the part ``number``."""
        return self._submit_to(self._part_workers[number], function, *arguments)

    def _add(self, a: Future, b: Future) -> Future:
        """Submit a task that adds the results of two tasks, to any worker with parts."""
        return self._submit_to(self._workers, added_up, a, b)

    def _submit_to(self, workers: str | list[str], function: Callable, *arguments) -> Future:
        """Submit a task to one of the given workers."""
        return self._client.submit(
            function, *arguments, workers=workers, allow_other_workers=False, pure=False, retries=0
        )

    def _scatter(self, shared: dict) -> Future:
        """Send the shared arrays to the workers, unless the same arrays were sent last; return the future of the arrays."""
        values = tuple(shared.values())
        if self._last_sent is None or any(
            a is not b for a, b in zip(self._last_sent[0], values, strict=True)
        ):
            with self._seeing_losses(KeyError):
                # to one worker, from which the others fetch: a broadcast never ends if a worker is lost in it
                (future,) = self._client.scatter([shared], workers=self._workers, hash=False)
            self._last_sent = values, future
        return self._last_sent[1]

    def _wait(self, futures: list[Future], interrupt: Callable) -> list:
        """Wait for tasks and return the results; raise a task's error, or PartsLost if a worker with parts is gone."""
        from distributed import wait

        with self._seeing_losses(), self._client.as_current():
            while not self._try_once(lambda: wait(futures, timeout=LOOK_EVERY)):
                interrupt()
            gathered = asyncio.run_coroutine_threadsafe(
                self._client.gather(futures, asynchronous=True), self._client.loop.asyncio_loop
            )
            # one transfer for any time: if it were requested again at each check, a long one would never complete
            try:
                while not self._try_once(lambda: gathered.result(LOOK_EVERY)):
                    pass
                return gathered.result()
            finally:
                gathered.cancel()

    def _try_once(self, act: Callable) -> bool:
        """Call ``act`` and return True; on a TimeoutError check that the workers are alive, and return False."""
        try:
            act()
        except TimeoutError:
            self._check_alive()
            return False
        return True

    @contextlib.contextmanager
    def _seeing_losses(self, *further_types: type) -> Iterator[None]:
        """Within the block, turn Dask's exceptions for a lost worker or result into PartsLost.

        further_types : further exception types that mean a loss here; in a task they could have other reasons
        """
        try:
            yield
        except (NoLongerThere, *losses(), *further_types) as error:
            self._check_alive()
            raise PartsLost(
                f"a worker was lost with its results ({type(error).__name__})"
            ) from error

    def _check_alive(self) -> None:
        """Raise PartsLost if a worker with parts is gone, and ClusterError if the scheduler is gone."""
        # not `scheduler_info`: it answers from a cache, from which a timer may have removed workers
        try:
            addresses = (
                self._client.run_on_scheduler(workers_there)
                if self._client.status == "running"
                else None
            )
        except (OSError, RuntimeError):  # the connection was lost meanwhile
            addresses = None
        if addresses is None:
            raise ClusterError(
                "the scheduler is gone; start one again, and then continue with: workbench resume --scheduler"
            )
        if lost_workers := sorted(set(self._workers) - set(addresses)):
            raise PartsLost(f"worker {lost_workers[0]} was lost")

    def _check_room(self, shard_ranges: list[ShardRange]) -> None:
        """Raise ClusterError if a worker has too little memory for the parts assigned to it."""
        spec, free = self._setting.spec, ask_workers(self._client, available_memory)
        for worker in self._workers:
            shards = [
                shard_range
                for number, shard_range in enumerate(shard_ranges)
                if self._part_workers[number] == worker
            ]
            n_bytes = bytes_of(self._setting, shards)
            if n_bytes > free[worker].n_bytes:
                raise ClusterError(
                    f"worker {worker} would need about {format_size(n_bytes)} of memory for its part of {spec.name}, and "
                    f"{format_size(free[worker].n_bytes)} are free there; start more workers, or take fewer topics"
                )


def bytes_of(setting: Setting, shard_ranges: list[ShardRange]) -> int:
    """Predict the memory (bytes) of a worker with these shard ranges: documents, their arrays, copies of counts by word."""
    engine, model, options = setting.spec.parts()
    train = opened(setting.train)
    word_bytes = train.n_words * padded(model.n_topics) * DOUBLE
    total = COPIES * word_bytes
    for shard_range in shard_ranges:
        corpus = train.rows(shard_range.first, shard_range.last)
        memory = engine.memory(corpus, model, options)
        total += corpus.memory_bytes + memory.state + memory.indices - word_bytes
    return total
