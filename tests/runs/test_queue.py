"""Runs that wait in the queue, one process for all."""

import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from clusters import until

from workbench.runs.execution import queue, worker
from workbench.runs.execution.run import Run
from workbench.runs.spec import make_spec
from workbench.runs.store.lock import Lock
from workbench.runs.store.status import (
    FINISHED,
    LOST,
    PAUSED,
    QUEUES,
    RUNNING,
    STOPPED,
    WAITING,
    read_json,
    request,
    set_state,
)
from workbench.runs.store.writer import create_run


@pytest.fixture
def paths(train, test, store):
    """Four runs that nobody has begun."""
    specs = [make_spec(train, "svb", 3, test=test, n_iterations=5, seed=seed) for seed in range(4)]
    return [create_run(store, spec, train, test) for spec in specs]


@pytest.fixture
def locks():
    """By path, the locks that the workers of the test and its queue would have."""
    held = {}
    yield held
    for lock in held.values():
        lock.release()


@pytest.fixture
def launched(monkeypatch, locks):
    """The names of the runs that were launched, which then are at work."""
    names = []

    def launch(path):
        names.append(path.name)
        locks[path] = Lock(path / "lock")
        set_state(path, RUNNING, queue=None)

    monkeypatch.setattr(queue, "launch", launch)
    monkeypatch.setattr(queue, "LOOK_EVERY", 0.01)
    return names


@pytest.fixture
def queued(monkeypatch, locks):
    """Queues runs; returns the command of the process that would work the queue off, whose lock the test has."""
    commands = []

    def popen(command, pass_fds, **_):
        commands.append(command)
        locks["queue"] = Lock.inherited(Path("queue"), os.dup(*pass_fds))
        return SimpleNamespace(wait=int)

    def queued(paths, jobs) -> list[str]:
        queue.enqueue(paths, jobs)
        return commands[0] if commands else []

    monkeypatch.setattr(worker.subprocess, "Popen", popen)
    return queued


def until_state(path, state):
    until(lambda: read_json(path / "status.json").get("state") == state, 10)


def test_a_queue_starts_as_many_runs_as_there_are_places(paths, launched, queued):
    command = queued(paths, 2)
    assert launched == [path.name for path in paths[:2]]
    assert [Run(path).state for path in paths] == [RUNNING, RUNNING, WAITING, WAITING]
    assert command[-5:] == ["2", *map(str, paths)]


def test_no_process_is_started_where_nobody_has_to_wait(paths, launched, queued):
    assert queued(paths, 4) == [] and len(launched) == 4


def test_the_next_begins_when_one_has_ended_or_gone_and_one_that_is_to_stop_leaves_the_queue(
    paths, launched, queued, locks
):
    queued(paths, 1)
    request(paths[1], STOPPED)
    keeper = threading.Thread(target=queue.run_queue, args=(paths[:1], paths[1:], 1), daemon=True)
    keeper.start()
    until_state(paths[1], STOPPED)
    assert launched == [paths[0].name]
    set_state(paths[0], FINISHED)
    until_state(paths[2], RUNNING)
    assert read_json(paths[3] / "status.json")["state"] == WAITING
    locks[paths[2]].release()
    Run(paths[2]).remove()
    keeper.join(20)
    assert launched == [paths[at].name for at in (0, 2, 3)] and not keeper.is_alive()


def test_one_that_is_paused_in_the_queue_lets_the_others_go_first_and_goes_on_when_asked(
    paths, launched, queued
):
    queued(paths[:3], 1)
    request(paths[1], PAUSED)
    keeper = threading.Thread(target=queue.run_queue, args=(paths[:1], paths[1:3], 1), daemon=True)
    keeper.start()
    until_state(paths[1], PAUSED)
    set_state(paths[0], FINISHED)
    until_state(paths[2], RUNNING)
    set_state(paths[2], STOPPED)
    assert Run(paths[1]).state == PAUSED
    Run(paths[1]).resume()
    keeper.join(20)
    assert launched == [paths[at].name for at in (0, 2, 1)]


def test_one_that_is_to_stop_is_not_launched_although_a_place_is_free(paths, launched, queued):
    set_state(paths[0], WAITING)
    request(paths[0], STOPPED)
    queue.run_queue([], paths[:1], 1)
    assert launched == [] and Run(paths[0]).state == STOPPED


@pytest.mark.slow
def test_a_queue_is_worked_off_by_processes(paths):
    queue.enqueue(paths[:3], 1)
    assert [Run(path).wait(300) for path in paths[:3]] == [FINISHED] * 3


def test_waiting_runs_of_a_queue_that_was_killed_are_interrupted(paths, launched, queued, locks):
    queued(paths, 2)
    assert [Run(path).state for path in paths] == [RUNNING, RUNNING, WAITING, WAITING]
    locks["queue"].release()
    assert [Run(path).state for path in paths] == [RUNNING, RUNNING, LOST, LOST]
    queued(paths[2:], 1)
    assert [Run(path).state for path in paths[2:]] == [RUNNING, WAITING]
    assert len(list((paths[0].parent / QUEUES).iterdir())) == 1  # the lock of the other was deleted
