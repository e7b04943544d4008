"""One run whose corpus, in shards, is worked on by the workers of a Dask cluster.

The parts of `workbench.runs.parts` are dealt out to the workers and stay there, each with the rows of its documents; this
process has what all share, the loop and the store. Sums over parts are taken in the same tree as in one process, on the
workers, so that the bits are the same for any number of them. A worker that is lost takes its rows with it: the run then goes
on from its last checkpoint (`PartsLost`), with its parts dealt out anew.
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

from workbench.engines.engine import DOUBLE, State, WarmStart, never_interrupted
from workbench.engines.parts import from_subtrees, subtrees
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
    free_memory,
    in_turn,
    is_returned,
    make_part,
    owned,
    workers_there,
)
from workbench.runs.parts.crew import PartsLost
from workbench.runs.parts.part import Call, Met, Place, Returned, Setting, opened, with_state

if TYPE_CHECKING:
    from distributed import Client, Future

COPIES = 4
"""Of the counts by word on a worker, at the most: as they were, as they become, a sum, and one on its way."""
LOOK_EVERY = 0.2
"""Seconds between two looks at the workers, and two calls of ``interrupt``, while results are waited for."""


class OnWorkers:
    """A crew whose parts are on the workers of a client; see `workbench.runs.parts.crew.Here` for its methods.

    Raises
    ------
    ClusterError
        A worker with another version or other kernels, that cannot read the corpus, or has too little memory.
    """

    def __init__(self, client: Client, setting: Setting, places: list[Place]):
        self._client, self._key, self._setting = client, f"{client.id}/{uuid.uuid4().hex}", setting
        await_worker(client)
        client.run(forget_others, client.run_on_scheduler(clients_there), on_error="ignore")
        addresses = sorted(check_workers(client))
        n_parts = len(places)
        self._homes = [addresses[number * len(addresses) // n_parts] for number in range(n_parts)]
        self._workers = sorted(set(self._homes))
        self._subtrees = [*self._dealt_out(client.nthreads())]
        self._sent: tuple[tuple, Future] | None = None
        without_start = setting._replace(spec=replace(setting.spec, warm_start=None), scratch=None)
        self._check_room(places)
        self._wait(
            [
                self._submit(number, make_part, self._key, without_start, number, place)
                for number, place in enumerate(places)
            ],
            never_interrupted,
        )

    # ------------------------------------------------------------------ a crew's methods

    def collect(self, method: str, *arguments) -> list:
        """Return the results of a method of every part, in order."""
        return self._wait(
            [self._call(number, method, *arguments) for number in range(len(self._homes))],
            never_interrupted,
        )

    def each_in_turn(self, method: str, *arguments) -> Iterator:
        """Yield the results of `collect`, one at a time."""
        return (self.alone(number, method, *arguments) for number in range(len(self._homes)))

    def alone(self, number: int, method: str, *arguments):
        """Return the result of a method of one part."""
        return self._wait([self._call(number, method, *arguments)], never_interrupted)[0]

    def in_turn(self, call: Call, shared: dict, interrupt: Callable) -> Met | Returned:
        """Work on a phase, each part with the shared arrays that the one before has left."""
        left, sums = self._there(shared), []
        for number, home in enumerate(self._homes):
            result = self._submit(number, in_turn, self._key, number, call, left)
            if number == 0 and (returned := self._returned(result, home, interrupt)):
                return returned
            left, met = (self._at(home, itemgetter(which), result) for which in (0, 1))
            sums.append((0, met))
        left, met = self._wait([left, from_subtrees(sums, self._add)], interrupt)
        return owned(Met(left, met.sums))

    def side_by_side(
        self,
        call: Call,
        shared: dict | None,
        interrupt: Callable,
        warm_start: WarmStart | None = None,
    ) -> Met | Returned:
        """Work on a phase, each part from the same shared arrays; what they changed is added up."""
        there = None if shared is None else self._there(shared)
        results = [
            (level, self._at(home, change_some, self._key, numbers, call, there, warm_start))
            for home, level, numbers in self._subtrees
        ]
        if returned := self._returned(results[0][1], self._homes[0], interrupt):
            return returned
        (met,) = self._wait([from_subtrees(results, self._add)], interrupt)
        self._sent = None  # what was sent is changed in place when the changes are taken
        return owned(met)

    def _returned(self, result: Future, home: str, interrupt: Callable) -> Returned | None:
        """Return what the first part returned without a meeting, if it did; its state shares what was sent."""
        (returned,) = self._wait([self._at(home, is_returned, result)], interrupt)
        return self._wait([result], interrupt)[0] if returned else None

    def finish(self, shared: dict, sums: dict):
        """Return what a phase returns after the meeting."""
        result = self._submit(0, finish, self._key, self._there(shared), sums)
        (value,) = self._wait([result], never_interrupted)

        def whole(state: State):
            unchanged = {
                name: value for name, value in shared.items() if getattr(state, name) is None
            }
            return state._replace(**unchanged)

        return with_state(value, self._setting.spec.parts()[0].state, whole)

    def cpu_seconds_elsewhere(self) -> float:
        """Return the CPU seconds that the workers with parts have spent."""
        with self._seeing_losses(KeyError):
            spent = self._client.run(time.process_time, workers=self._workers, on_error="ignore")
        return sum(spent.values())

    def close(self) -> None:
        """Let the workers forget the parts."""
        self._sent = None
        with contextlib.suppress(OSError):  # where the scheduler is gone
            if self._client.status == "running":
                self._client.run(forget, self._key, on_error="ignore")

    # ------------------------------------------------------------------ Dask

    def _dealt_out(self, threads: dict[str, int]) -> Iterator[tuple[str, int, range]]:
        """Yield the subtrees of the parts whose sum one task takes: (worker, level, numbers), some for each thread."""
        for home in self._workers:
            first, n = self._homes.index(home), self._homes.count(home)
            tasks = min(threads[home], n)
            for task in range(tasks):
                for level, numbers in subtrees(
                    first + task * n // tasks, first + (task + 1) * n // tasks
                ):
                    yield home, level, numbers

    def _call(self, number: int, method: str, *arguments) -> Future:
        """Return a task that calls a method of a part; what all share, a dict, is sent to the workers once."""
        arguments = [
            self._there(argument) if isinstance(argument, dict) else argument
            for argument in arguments
        ]
        return self._submit(number, call, self._key, number, method, *arguments)

    def _submit(self, number: int, function: Callable, *arguments) -> Future:
        """Return a task on the worker that has a part."""
        return self._at(self._homes[number], function, *arguments)

    def _add(self, a: Future, b: Future) -> Future:
        """Return the sum of two parts, made on a worker that has one of them."""
        return self._at(self._workers, added_up, a, b)

    def _at(self, workers: str | list[str], function: Callable, *arguments) -> Future:
        """Return a task on one of these workers and no other."""
        return self._client.submit(
            function, *arguments, workers=workers, allow_other_workers=False, pure=False, retries=0
        )

    def _there(self, shared: dict) -> Future:
        """Return what all share, on the workers; the same arrays, which nobody has changed in place, are sent once."""
        values = tuple(shared.values())
        if self._sent is None or any(
            a is not b for a, b in zip(self._sent[0], values, strict=True)
        ):
            with self._seeing_losses(KeyError):
                (future,) = self._client.scatter(
                    [shared], workers=self._workers, broadcast=True, hash=False
                )
            self._sent = values, future
        return self._sent[1]

    def _wait(self, futures: list[Future], interrupt: Callable) -> list:
        """Return the results of tasks; raise PartsLost where a worker with parts is gone, or the error of a task."""
        from distributed import wait

        with self._seeing_losses(), self._client.as_current():
            while not self._within(lambda: wait(futures, timeout=LOOK_EVERY)):
                interrupt()
            gathered = asyncio.run_coroutine_threadsafe(
                self._client.gather(futures, asynchronous=True), self._client.loop.asyncio_loop
            )
            # one transfer, however long it takes: asked for anew at each look, one that takes longer would never arrive
            try:
                while not self._within(lambda: gathered.result(LOOK_EVERY)):
                    pass
                return gathered.result()
            finally:
                gathered.cancel()

    def _within(self, act: Callable) -> bool:
        """Return whether it has been done without a TimeoutError; if not, look at the workers."""
        try:
            act()
        except TimeoutError:
            self._look()
            return False
        return True

    @contextlib.contextmanager
    def _seeing_losses(self, *also: type) -> Iterator[None]:
        """Raise PartsLost instead of what Dask raises where a worker with parts, or its results, are gone.

        also : what a request to workers raises besides; a task may raise it for reasons of its own
        """
        try:
            yield
        except (NoLongerThere, *losses(), *also) as error:
            self._look()
            raise PartsLost(
                f"a worker was lost with its results ({type(error).__name__})"
            ) from error

    def _look(self) -> None:
        """Raise PartsLost where a worker that has parts is gone, and ClusterError where the scheduler is."""
        # not `scheduler_info`: its answer is taken from a cache, which a timer may empty of workers meanwhile
        try:
            there = (
                self._client.run_on_scheduler(workers_there)
                if self._client.status == "running"
                else None
            )
        except (OSError, RuntimeError):  # the connection was lost meanwhile
            there = None
        if there is None:
            raise ClusterError(
                "the scheduler is gone; start one again, and then continue with: workbench resume --scheduler"
            )
        if lost := sorted(set(self._workers) - set(there)):
            raise PartsLost(f"worker {lost[0]} was lost")

    def _check_room(self, places: list[Place]) -> None:
        """Refuse workers that have too little memory for their parts and for the counts of words."""
        spec, free = self._setting.spec, ask_workers(self._client, free_memory)
        for home in self._workers:
            places_of_home = [
                place for number, place in enumerate(places) if self._homes[number] == home
            ]
            needed = bytes_of(self._setting, places_of_home)
            if needed > free[home]:
                raise ClusterError(
                    f"worker {home} would need about {format_size(needed)} of memory for its part of {spec.name}, and "
                    f"{format_size(free[home])} are free there; start more workers, or take fewer topics"
                )


def bytes_of(setting: Setting, places: list[Place]) -> int:
    """Return the bytes of parts in a process that holds them: documents, rows, and counts of words, in several copies."""
    engine, model, options = setting.spec.parts()
    train = opened(setting.train)
    of_words = train.n_words * padded(model.n_topics) * DOUBLE
    total = COPIES * of_words
    for place in places:
        corpus = train.rows(place.first, place.last)
        memory = engine.memory(corpus, model, options)
        total += corpus.memory_bytes + memory.state + memory.indices - of_words
    return total
