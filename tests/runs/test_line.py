"""Runs that wait for their turn in one process."""

import threading
from types import SimpleNamespace

import pytest

from workbench.runs.execution import queue as line
from workbench.runs.execution.control import PAUSED, RUNNING, STOPPED, ask, read_json
from workbench.runs.execution.run import Run
from workbench.runs.spec import make_spec
from workbench.runs.store.store import FINISHED, WAITING, create_run


@pytest.fixture
def paths(thirty_documents, store):
    """Four runs that nobody has begun."""
    train, test = thirty_documents
    specs = [make_spec(train, "svb", 3, test=test, n_iterations=5, seed=seed) for seed in range(4)]
    return [create_run(store, spec, train, test) for spec in specs]


@pytest.fixture
def launched(monkeypatch):
    """The names of the runs that were launched, which then are at work."""
    names = []

    def launch(path):
        names.append(path.name)
        line._set_state(path, RUNNING)

    monkeypatch.setattr(line, "launch", launch)
    monkeypatch.setattr(line, "LOOK_EVERY", 0.01)
    return names


def lined_up(paths, jobs, monkeypatch) -> list[str]:
    """Lines runs up; the command of the process that would keep the line."""
    commands = []
    monkeypatch.setattr(line.subprocess, "Popen", lambda command, **_: commands.append(command) or SimpleNamespace(wait=int))
    line.line_up(paths, jobs)
    return commands[0] if commands else []


def until_state(path, state):
    for _ in range(1000):
        if read_json(path / "status.json").get("state") == state:
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"{path.name} is never {state}")


def test_so_many_begin_at_once_and_the_others_wait(paths, launched, monkeypatch):
    command = lined_up(paths, 2, monkeypatch)
    assert launched == [path.name for path in paths[:2]]
    assert [Run(path).state for path in paths] == [RUNNING, RUNNING, WAITING, WAITING]
    assert command[-5:] == ["2", *map(str, paths)]


def test_no_process_is_started_where_nobody_has_to_wait(paths, launched, monkeypatch):
    assert lined_up(paths, 4, monkeypatch) == [] and len(launched) == 4


def test_the_next_begins_when_one_has_ended_or_gone_and_one_that_is_to_stop_leaves_the_line(paths, launched, monkeypatch):
    lined_up(paths, 1, monkeypatch)
    ask(paths[1], STOPPED)
    keeper = threading.Thread(target=line.keep_line, args=(paths[:1], paths[1:], 1), daemon=True)
    keeper.start()
    until_state(paths[1], STOPPED)
    assert launched == [paths[0].name]
    line._set_state(paths[0], FINISHED)
    until_state(paths[2], RUNNING)
    assert read_json(paths[3] / "status.json")["state"] == WAITING
    Run(paths[2]).remove()
    keeper.join(20)
    assert launched == [paths[at].name for at in (0, 2, 3)] and not keeper.is_alive()


def test_one_that_is_paused_in_line_lets_the_others_go_first_and_goes_on_when_asked(paths, launched, monkeypatch):
    lined_up(paths[:3], 1, monkeypatch)
    ask(paths[1], PAUSED)
    keeper = threading.Thread(target=line.keep_line, args=(paths[:1], paths[1:3], 1), daemon=True)
    keeper.start()
    until_state(paths[1], PAUSED)
    line._set_state(paths[0], FINISHED)
    until_state(paths[2], RUNNING)
    line._set_state(paths[2], STOPPED)
    assert Run(paths[1]).state == PAUSED
    Run(paths[1]).resume()
    keeper.join(20)
    assert launched == [paths[at].name for at in (0, 2, 1)]


def test_one_that_is_to_stop_is_not_launched_although_a_place_is_free(paths, launched, monkeypatch):
    line._set_state(paths[0], WAITING)
    ask(paths[0], STOPPED)
    line.keep_line([], paths[:1], 1)
    assert launched == [] and Run(paths[0]).state == STOPPED


@pytest.mark.slow
def test_a_line_is_worked_off_by_processes(paths):
    line.line_up(paths[:3], 1)
    assert [Run(path).wait(300) for path in paths[:3]] == [FINISHED] * 3
