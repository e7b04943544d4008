"""Who lives is asked of the lock: a run whose worker was killed is interrupted at once, whatever clocks and ids say."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import psutil
import pytest
from campaigns.file_operations import operations
from clusters import kill, until
from same_bits import same_bits

import workbench as wb
from workbench.cli import main
from workbench.runs import loop
from workbench.runs.execution import compare, sweep
from workbench.runs.execution.worker import carry_on, launch
from workbench.runs.spec import make_spec
from workbench.runs.store import status
from workbench.runs.store.layout import StoreError
from workbench.runs.store.lock import Lock, LockHeld, is_held
from workbench.runs.store.writer import RunWriter, create_run

WRITING = """
import sys, time
from workbench.runs.store.writer import RunWriter
with RunWriter(sys.argv[1]) as writer:
    writer.beat(sys.argv[2])
    print("in", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def made(train, test, store):
    """A run of a million iterations that nobody has begun."""
    return wb.Run(
        create_run(
            store, make_spec(train, "cgs", n_topics=3, test=test, n_iterations=2**20), train, test
        )
    )


@pytest.fixture
def killed(made):
    """A run whose writer was killed just after a heartbeat; a function of the state that it last had."""

    def killed(state):
        with subprocess.Popen(
            [sys.executable, "-c", WRITING, made.path, state], stdout=subprocess.PIPE, text=True
        ) as writing:
            assert writing.stdout.readline() == "in\n"
            assert made.state == state
            writing.kill()
        return made

    return killed


@pytest.mark.parametrize("asked", ["stop", "pause"])
@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_killed_run_is_not_asked_for_anything_and_goes_on_whatever_it_was_asked(
    killed, state, asked, capsys
):
    run = killed(state)
    assert main([asked, str(run.path)]) == 0
    assert (
        capsys.readouterr().err
        == f"{run.name} is interrupted at iteration 0; there is nothing to {asked}\n"
    )
    getattr(run, asked)()  # from Python, whoever is there
    assert run.state == "interrupted"
    assert main(["resume", str(run.path), "--iterations", "5"]) == 0
    assert run.state == "finished" and run.status()["iteration"] == 5


def test_a_killed_run_goes_on_though_its_last_heartbeat_is_beyond_the_wanted_end(
    killed, monkeypatch
):
    """It had computed more iterations than it had committed."""
    run = killed("running")
    file = run.path / "status.json"
    status.replace_json(file, status.read_json(file) | {"iteration": 9})
    monkeypatch.setattr("workbench.runs.execution.run.launch", carry_on)
    assert run.status()["iteration"] == 9
    run.resume(5)
    assert run.state == "finished" and run.progress().sizes["iteration"] == 5


def test_a_killed_run_is_told_as_such_in_a_store_that_is_read_only(killed, capsys):
    def refuse(operation, do):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), operation.path)

    run = killed("running")
    with operations(refuse):
        assert main(["runs", "--store", str(run.path.parent), "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert (row["name"], row["state"]) == (run.name, "interrupted")
        assert main(["show", str(run.path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["status"]["state"] == "interrupted"
        assert main(["doctor", str(run.path)]) == 0
        capsys.readouterr()
        assert main(["resume", str(run.path)]) == 2
        assert "Read-only file system" in capsys.readouterr().err
    assert run.state == "interrupted"


def test_no_clock_and_no_process_id_makes_a_dead_run_live(killed, monkeypatch):
    run = killed("running")
    said = json.loads((run.path / "status.json").read_text())
    # the id of a process that lives
    status.replace_json(run.path / "status.json", said | {"pid": os.getpid()})
    now = time.time()
    for seconds in (-3600, 0, 3600):
        monkeypatch.setattr(status.time, "time", lambda ahead=seconds: now + ahead)
        assert run.state == "interrupted"


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_no_clock_makes_a_living_run_dead(made, seconds, monkeypatch):
    with RunWriter(made.path) as writer:
        writer.beat("running")
        now = time.time()
        monkeypatch.setattr(status.time, "time", lambda: now + seconds)
        assert made.state == "running"
    assert made.state == "interrupted"


@pytest.mark.slow
def test_a_run_goes_on_at_once_after_its_worker_was_killed_and_has_the_same_bits(
    train, test, store
):
    run = wb.start(train, "cgs", n_topics=3, test=test, n_iterations=2**20, store=store)
    until(lambda: run.status()["iteration"] >= 50)
    kill(run.status()["pid"])
    until(lambda: run.state == "interrupted")  # the kernel takes a moment to end it
    end = len(run.rows()) + 20  # the status is of the last heartbeat, which may be earlier
    run.resume(end)
    assert run.wait(120) == "finished"
    same_bits(
        run.dataset(),
        wb.fit(train, "cgs", n_topics=3, test=test, n_iterations=end, progress=False),
    )


@pytest.mark.slow
def test_a_worker_is_alive_from_the_moment_it_is_started_and_dead_from_that_at_which_it_is_killed(
    made, monkeypatch
):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess,
        "Popen",
        lambda *args, **more: started.append(popen(*args, **more)) or started[-1],
    )
    launch(made.path)
    assert made.state == "waiting"  # it imports still
    with pytest.raises(
        StoreError, match="is being written by another process; stop it there first"
    ):
        launch(made.path)
    started[0].kill()
    started[0].wait()
    assert made.state == "interrupted"


def test_asking_does_not_need_a_store_that_can_be_written(killed, monkeypatch):
    run = killed("running")
    opened, open_file = [], os.open
    monkeypatch.setattr(
        os, "open", lambda path, flags, *more: opened.append(flags) or open_file(path, flags, *more)
    )
    assert is_held(run.path / "lock") is False
    assert opened and not any(flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT) for flags in opened)


def test_where_locks_cannot_be_asked_the_heartbeat_is(killed, monkeypatch):
    run = killed("running")

    def no_locks(*args):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("workbench.runs.store.lock.fcntl.flock", no_locks)
    assert is_held(run.path / "lock") is None
    assert run.state == "running"
    now = time.time()
    monkeypatch.setattr(status.time, "time", lambda: now + 9)
    assert run.state == "interrupted"


@pytest.mark.slow
def test_thousands_who_ask_keep_no_writer_from_starting_and_are_never_taken_for_one(made):
    stop, wrong, asked = threading.Event(), [], [0] * 4

    def ask(at):
        while not stop.is_set():
            asked[at] += 1
            if is_held(made.path / "lock"):  # while nobody but other askers has it
                wrong.append(at)

    def all_ask():
        threads = [threading.Thread(target=ask, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        return threads

    threads = all_ask()
    until(lambda: sum(asked) >= 4000)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong, "who asks was taken for a writer"
    stop.clear()
    threads = all_ask()
    for _ in range(50):
        with RunWriter(made.path):
            pass
    stop.set()
    for thread in threads:
        thread.join()


def test_a_lock_is_of_one_process_and_of_the_child_that_inherits_it(tmp_path):
    with Lock(tmp_path / "lock") as lock:
        with pytest.raises(LockHeld):
            Lock(tmp_path / "lock")
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock.fd,)
        )
    assert is_held(tmp_path / "lock")
    child.kill()
    child.communicate()
    assert is_held(tmp_path / "lock") is False and is_held(tmp_path / "none") is False


def test_a_worker_that_ended_without_a_word_is_shown_with_what_is_known_of_the_reason(
    killed, monkeypatch
):
    run = killed("running")
    killed_before = status.killed_for_memory()
    assert (
        run.status()["message"]
        == "its worker ended without an error message: it was killed, or the machine went down"
    )
    monkeypatch.setattr(status, "killed_for_memory", lambda: (killed_before or 0) + 1)
    said = json.loads((run.path / "status.json").read_text()) | {"oom_kill": killed_before or 0}
    status.replace_json(run.path / "status.json", said)
    assert "perhaps killed for lack of memory" in run.status()["message"]


@pytest.mark.parametrize("gone", ["run", "store"])
def test_a_run_that_is_deleted_while_it_is_computed_ends_with_a_sentence_and_nothing_is_made_again(
    made, store, gone
):
    where = made.path if gone == "run" else store

    def on_iteration(position, scores):
        if position.iteration == 5:
            shutil.rmtree(where)

    with pytest.raises(
        StoreError,
        match=f"run '{made.name}' was deleted while it was computed: .* is gone; fit it again",
    ):
        carry_on(made.path, on_iteration)
    assert not where.exists()


@pytest.mark.slow
def test_a_paused_worker_whose_run_is_deleted_ends(made):
    launch(made.path)
    made.pause()
    until(lambda: made.state == "paused")
    pid = made.status()["pid"]
    shutil.rmtree(made.path)
    # a thread of this process waits for its child, so that no zombie is left
    until(lambda: not psutil.pid_exists(pid))
    assert not made.path.exists()


def test_a_run_made_again_in_the_place_of_a_deleted_one_is_not_written_by_the_old_writer(made):
    with RunWriter(made.path) as writer:
        copy = made.path.with_name("copy")
        shutil.copytree(made.path, copy)
        shutil.rmtree(made.path)
        copy.rename(made.path)
        with pytest.raises(StoreError, match="was deleted while it was computed"):
            writer.beat("running")
        with RunWriter(made.path):
            pass


# ---------------------------------------------------------------------- half a run


@pytest.fixture
def signalled(monkeypatch):
    """Sends a signal to this process before the step after the given iteration of a run, the next one or a later one."""

    def after(iteration, number, n_runs_before=0):
        reached = []

        def advance(spec, data, position, control):
            if position.iteration == iteration:
                reached.append(spec.seed)
                if len(reached) > n_runs_before:
                    signal.raise_signal(number)
            return step(spec, data, position, control)

        step = loop.advance
        monkeypatch.setattr(loop, "advance", advance)

    return after


@pytest.mark.parametrize("iteration", [0, 3])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("in_store", [False, True])
def test_half_a_run_is_raised_and_not_returned(
    train, store, signalled, iteration, number, in_store
):
    signalled(iteration, number)
    with pytest.raises((wb.Interrupted, wb.Terminated)) as stop:
        wb.fit(
            train,
            "svb",
            3,
            n_iterations=8,
            store=store if in_store else None,
            progress=False,
        )
    half = stop.value.result
    assert (half.sizes["iteration"], half.attrs["state"]) == (iteration + 1, "stopped")
    assert "phi" in half and half.attrs["unfinished"] == f"iteration {iteration + 1} of 8"
    ends_as = KeyboardInterrupt if number == signal.SIGINT else SystemExit
    assert isinstance(stop.value, ends_as) and getattr(stop.value, "code", 143) == 143
    assert [run.state for run in wb.open_runs(store)] == ["stopped"] * in_store


def test_a_comparison_in_memory_that_is_stopped_raises_what_it_has(train, signalled):
    signalled(3, signal.SIGTERM)
    with pytest.raises(wb.Terminated) as stop:
        wb.compare(train, ["svb", "cgs"], 3, n_iterations=8, progress=False)
    assert stop.value.result["state"].values.tolist() == ["stopped"]
    assert stop.value.result.sizes["iteration"] == 4


def test_stopped_restarts_raise_the_best_so_far(train, signalled):
    signalled(3, signal.SIGINT, n_runs_before=1)
    with pytest.raises(wb.Interrupted) as stop:
        wb.fit(train, "svb", 3, n_iterations=8, restarts=3, progress=False)
    best, tried = stop.value.result, json.loads(stop.value.result.attrs["restarts"])
    assert [each["seed"] for each in tried] == [0, 1]
    assert float(best["bound"][-1]) == max(each["bound"] for each in tried)


def test_stopped_runs_in_processes_are_raised_as_far_as_they_are(train, store, monkeypatch):
    def stopped(*_, **__):
        raise wb.Interrupted

    monkeypatch.setattr(compare, "run_all", stopped)
    monkeypatch.setattr(sweep, "run_cells", stopped)
    settings = {"n_topics": 3, "n_iterations": 4, "store": store, "progress": False}
    for what in (
        lambda: wb.compare(train, ["svb", "cgs"], **settings),
        lambda: wb.sweep(train, {"r": [0, 1]}, **settings),
    ):
        with pytest.raises(wb.Interrupted) as stop:
            what()
        assert dict(stop.value.result.sizes) == {"run": 2, "iteration": 0, "topic": 3}


def test_a_comparison_has_the_iterations_that_were_asked_for(thirty_documents, store):
    train, settings = thirty_documents[0], {"store": store, "progress": False}
    wb.compare(train, ["svb"], 3, n_iterations=12, **settings)
    both = wb.compare(train, ["svb", "cgs"], 3, n_iterations=5, **settings)
    assert both["iteration"].values.tolist() == [1, 2, 3, 4, 5]
    assert not np.isnan(both["train_perplexity"].values).any()
