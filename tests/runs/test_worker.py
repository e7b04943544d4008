import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from clusters import until

import workbench as wb
from workbench.runs.execution import worker
from workbench.runs.execution.compare import DEFAULT_ENGINES, work_through
from workbench.runs.loop import Stopped
from workbench.runs.spec import make_spec
from workbench.runs.store.writer import create_run

pytestmark = pytest.mark.slow


@pytest.fixture
def long_run(train, test, store):
    """A run in its own process that would last for minutes."""
    run = wb.start(train, "cgs", n_topics=3, test=test, n_iterations=500_000, store=store)
    until(lambda: run.status()["iteration"] > 0 and run.state == "running")
    yield run
    run.stop()
    run.wait(20)


def test_a_run_in_the_background_is_paused_resumed_and_stopped(long_run, train, test):
    assert long_run.status()["time_left"] > 0
    long_run.pause()
    until(lambda: long_run.state == "paused")
    n_rows = long_run.dataset().sizes["iteration"]
    assert long_run.dataset().snapshot_iteration[-1] == n_rows == long_run.status()["iteration"]
    time.sleep(0.5)
    assert long_run.dataset().sizes["iteration"] == n_rows
    long_run.resume()
    until(lambda: long_run.status()["iteration"] > n_rows)
    long_run.stop()
    assert long_run.wait(20) == "stopped"
    stopped = long_run.dataset()
    n = stopped.sizes["iteration"]
    whole = wb.fit(train, "cgs", n_topics=3, test=test, n_iterations=n, progress=False)
    np.testing.assert_array_equal(stopped.test_perplexity, whole.test_perplexity)


def test_a_stopped_run_goes_on_in_the_background_and_ends(train, test, store):
    run = wb.start(train, "svb", n_topics=3, test=test, n_iterations=20, store=store)
    assert run.wait(60) == "finished"
    run.resume(n_iterations=40)
    assert run.wait(60) == "finished" and run.dataset().sizes["iteration"] == 40


def test_a_worker_that_fails_says_why(train, test, store):
    run = wb.Run(create_run(store, make_spec(train, "cgs", n_iterations=5), train, None))
    for corpus in (store / ".corpora").iterdir():
        corpus.unlink()
    run.resume()
    assert run.wait(60) == "failed"
    assert "the corpus of this run is not in the store" in run.status()["message"]


def test_no_more_workers_are_at_work_than_there_are_slots(train, store, monkeypatch):
    monkeypatch.setattr(worker, "SLOTS", 1)
    run = wb.Run(create_run(store, make_spec(train, "cgs", n_iterations=5), train, None))
    with worker.worker_slot(run.path):
        code = (
            "import sys; from pathlib import Path; from workbench.runs.execution import worker; worker.SLOTS = 1; "
            "sys.argv[1:] = [sys.argv[1]]; sys.exit(worker.main())"
        )
        with subprocess.Popen([sys.executable, "-c", code, str(run.path)]) as waiting:
            until(lambda: run.state == "waiting")
            time.sleep(1)
            assert run.state == "waiting"
            run.stop()
            assert waiting.wait(20) == 0 and run.state == "stopped"


def test_the_slots_of_another_machine_are_others(train, store, monkeypatch):
    monkeypatch.setattr(worker, "SLOTS", 1)
    run = wb.Run(create_run(store, make_spec(train, "cgs", n_iterations=5), train, None))
    with worker.worker_slot(run.path):
        run.stop()
        with pytest.raises(Stopped), worker.worker_slot(run.path):  # none is free here
            pass
        monkeypatch.setattr(worker, "machine", lambda: "another")
        with worker.worker_slot(run.path):
            assert sorted(path.name for path in (store / ".slots").iterdir())[0] == "another-0.lock"


@pytest.mark.parametrize(
    ("command", "n_at_work", "n_runs", "sentences"),
    [
        ("fit docstrings", 1, 1, ["stopped after iteration", "resume with: workbench resume"]),
        ("compare docstrings --jobs 2", 2, len(DEFAULT_ENGINES), ["interrupted"]),
    ],
)
def test_ctrl_c_stops_all_runs_of_a_command_cleanly(command, n_at_work, n_runs, sentences, store):
    command = [*command.split(), "-n", "100000", "--store", str(store)]
    with subprocess.Popen(
        [sys.executable, "-m", "workbench", *command], stderr=subprocess.PIPE, text=True
    ) as process:
        until(
            lambda: sum(run.status()["iteration"] > 3 for run in wb.open_runs(store)) == n_at_work
        )
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and all(sentence in told for sentence in sentences)
    runs = wb.open_runs(store)
    assert [run.state for run in runs] == ["stopped"] * n_runs
    for run in runs[:n_at_work]:
        assert run.dataset().snapshot_iteration[-1] == run.status()["iteration"]


def test_a_ctrl_c_that_comes_in_a_destructor_is_not_lost(train, store):
    class Dying:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)

    looks = []

    def look(at_work):
        looks.append(at_work)
        assert len(looks) < 300
        if len(looks) == 1:
            Dying()

    spec = make_spec(train, "cgs", n_topics=3, n_iterations=500_000)
    run = wb.Run(create_run(store, spec, train, None))
    with pytest.raises(KeyboardInterrupt):
        work_through([run], 1, look)
    assert run.state == "stopped"


def test_a_stop_that_comes_while_the_worker_starts_is_obeyed(train, store):
    run = wb.start(train, "cgs", n_topics=3, n_iterations=500_000, store=store)
    run.stop()  # its process still imports
    assert run.wait(30) == "stopped" and run.status()["iteration"] < 1000
