"""Workers that take a further run when theirs has ended."""

import contextlib
import json
import math
import os
import socket
import threading
import time

import pytest
from clusters import until
from toys import simulated

import workbench as wb
from workbench.runs.execution import spare
from workbench.runs.store.lock import Lock, is_held


@pytest.fixture(autouse=True)
def own_spares(monkeypatch, tmp_path):
    """Spares of this test alone, in a folder whose path fits into the address of a socket."""
    monkeypatch.setenv(spare.KEY, f"test{os.getpid()}")
    folder = spare._folder()
    yield folder
    for address in folder.glob("*"):
        address.unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):  # the last spare takes it away
        folder.rmdir()


def waiting(monkeypatch, linger=30.0):
    """Begin to wait as a spare in a thread; return the thread, and the list that gets what it is given."""
    monkeypatch.setattr(spare, "LINGER", linger)
    monkeypatch.setattr(spare, "LARGEST", math.inf)  # this process may have grown in other tests
    given, begun = [], threading.Thread(target=lambda: given.append(spare.next_run()))
    begun.start()
    while begun.is_alive() and not [*spare._folder().glob(f"*{spare.FREE}")]:
        time.sleep(0.001)
    return begun, given


def test_a_spare_gets_the_run_and_its_lock(monkeypatch, tmp_path):
    thread, given = waiting(monkeypatch)
    with Lock(tmp_path / "lock") as lock:
        assert spare.hand_over(tmp_path / "ä run", lock)
    thread.join()
    (path, fd), held = given[0], is_held(tmp_path / "lock")
    os.close(fd)
    assert path == tmp_path / "ä run" and held and not is_held(tmp_path / "lock")
    assert not [*spare._folder().glob(f"*{spare.FREE}")]


def test_without_a_spare_or_with_one_that_was_killed_nothing_is_handed_over(tmp_path):
    with Lock(tmp_path / "lock") as lock:
        assert not spare.hand_over(tmp_path, lock)
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(str(spare._folder() / f"1{spare.FREE}"))
        assert not spare.hand_over(tmp_path, lock) and not [*spare._folder().glob(f"*{spare.FREE}")]
        assert lock.is_there()


def test_a_spare_ends_when_no_run_came(monkeypatch):
    thread, given = waiting(monkeypatch, linger=0.05)
    thread.join()
    assert given == [None] and not [*spare._folder().glob(f"*{spare.FREE}")]


def test_a_large_process_and_a_folder_that_others_can_enter_are_no_spares(monkeypatch, own_spares):
    own_spares.chmod(0o755)
    assert spare._folder() is None and spare.next_run() is None
    own_spares.chmod(0o700)
    monkeypatch.setattr(spare, "LARGEST", 0)
    assert spare.next_run() is None


@pytest.mark.slow
def test_the_next_run_is_computed_by_the_same_process_and_writes_its_own_log(tmp_path):
    pids, runs = [], []
    for seed in (0, 1):
        runs.append(
            wb.start(simulated(), "cgs", n_topics=2, n_iterations=5, seed=seed, store=tmp_path)
        )
        assert runs[-1].wait(60) == "finished"
        pids.append(json.loads((runs[-1].path / "status.json").read_text())["pid"])
        until(lambda: [*spare._folder().glob(f"*{spare.FREE}")])
    assert pids[0] == pids[1] != os.getpid()
    assert (runs[1].path / "worker.log").exists()
