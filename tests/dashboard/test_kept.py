"""What was read of runs at rest is kept beside them, and never outlives what it was made of."""

import json
import os
import shutil

import numpy as np
import pytest

from workbench.dashboard.shared import reading_cache as kept
from workbench.dashboard.shared import run_monitor as readings
from workbench.dashboard.shared.reading_cache import FILE
from workbench.dashboard.shared.run_monitor import Readings
from workbench.runs.execution.fit import resume
from workbench.runs.execution.run import Run
from workbench.runs.store.ending import set_end
from workbench.runs.store.notes import annotate
from workbench.runs.store.reader import RunReader
from workbench.runs.store.status import read_json, replace_json


@pytest.fixture
def opened(monkeypatch):
    """The names of the runs whose arrays were opened, in order."""
    names, real = [], RunReader
    monkeypatch.setattr(readings, "RunReader", lambda path: names.append(path.name) or real(path))
    return names


def alike(one, other) -> bool:
    """Are two readings equal in everything but the time of the heartbeat?"""
    return all(
        np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b for a, b in zip(one, other, strict=True)
    )


def look(store, name=None):
    """What a new server reads of the run (the only one) of a store."""
    found = Readings(store).look().readings
    return next(reading for reading in found if name in (None, reading.name))


def test_a_new_server_takes_a_run_at_rest_from_what_was_kept_and_says_the_same(new_run, tmp_path, opened):
    for name, engine, options in (
        ("lda", "cvb0", {"learn_alpha": "maximised"}), ("hdp", "cv-hdp", {"moves_every": 2, "moves_after": 1}),
        ("plain", "cgs", {}),
    ):
        path = new_run(name, engine, n_iterations=8, options=options)
        first = look(tmp_path / "runs", name)
        assert opened.count(name) == 1 and (path / FILE).exists()
        again = look(tmp_path / "runs", name)
        assert opened.count(name) == 1
        assert alike(first, again) and len(again.numbers) == 8
        assert bool(again.moves) == bool(len(again.marks)) == (name == "hdp") and bool(len(again.alphas)) == (name != "plain")


def test_a_run_that_went_on_is_read_anew_by_the_next_server_and_onwards_by_this_one(new_run, tmp_path, opened):
    path, store = new_run("growing"), Readings(tmp_path / "runs")
    store.look()
    resume(path, n_iterations=20, progress=False)
    assert look(tmp_path / "runs").latest[0] == 20  # another server, which found what was kept at 12
    assert store.look().readings[0].numbers[:, 0].tolist() == list(range(1, 21))
    resume(path, n_iterations=23, progress=False)
    assert look(tmp_path / "runs").numbers[:, 0].tolist() == list(range(1, 24))


def test_a_server_that_began_from_what_was_kept_reads_on_from_there(new_run, tmp_path, opened):
    path = new_run("growing")
    look(tmp_path / "runs")
    store = Readings(tmp_path / "runs")
    store.look()
    assert opened == ["growing"]
    resume(path, n_iterations=20, progress=False)
    assert store.look().readings[0].numbers[:, 0].tolist() == list(range(1, 21))
    assert opened == ["growing", "growing"]


def test_a_run_whose_end_was_moved_is_stopped_and_lasts_as_long_as_is_asked(new_run, tmp_path):
    path = new_run("ended")
    assert look(tmp_path / "runs").state == "finished"
    set_end(path, 40)
    reading = look(tmp_path / "runs")
    assert (reading.state, reading.status["n_iterations"], reading.spec.n_iterations) == ("stopped", 40, 40)
    assert reading.latest[0] == 12


def test_another_run_in_the_place_of_one_is_read_whatever_was_kept(new_run, tmp_path):
    path = new_run("one", seed=1)
    before = look(tmp_path / "runs")
    shutil.copy(path / FILE, tmp_path / FILE)
    Run(path).remove()
    new_run("one", seed=2)
    shutil.copy(tmp_path / FILE, path / FILE)
    after = look(tmp_path / "runs")
    assert after.spec.seed == 2 and not np.array_equal(after.numbers, before.numbers)
    again = look(tmp_path / "runs")
    assert np.array_equal(again.numbers, after.numbers, equal_nan=True)


def test_a_renamed_run_keeps_its_numbers_under_its_new_name(new_run, tmp_path):
    path = new_run("old")
    before = look(tmp_path / "runs")
    path.rename(tmp_path / "runs" / "new")
    after = look(tmp_path / "runs")
    assert after.name == "new" and np.array_equal(after.numbers, before.numbers, equal_nan=True)


def test_what_another_version_of_workbench_kept_counts_for_nothing(new_run, tmp_path, opened, monkeypatch):
    new_run("one")
    look(tmp_path / "runs")
    monkeypatch.setattr(kept, "_sources", lambda: "another version")
    look(tmp_path / "runs")
    assert opened == ["one", "one"]


def test_rows_that_are_committed_after_what_was_kept_are_seen_after_a_crash(new_run, tmp_path):
    """A writer that dies between its last commit and its last heartbeat leaves the old heartbeat behind."""
    path = new_run("crashed")
    set_end(path, 20)  # already, so that nothing but the commit tells the two moments apart
    look(tmp_path / "runs")
    heartbeat, kept_then = (path / "status.json").read_bytes(), (path / FILE).read_bytes()
    resume(path, progress=False)
    (path / "status.json").write_bytes(heartbeat)
    (path / FILE).write_bytes(kept_then)
    assert look(tmp_path / "runs").latest[0] == 20


@pytest.mark.parametrize("damage", [lambda data: data[:-8], lambda data: data[:40], lambda data: b"", lambda data: b"[]\n"])
def test_a_damaged_file_is_as_good_as_none(new_run, tmp_path, damage):
    path = new_run("one")
    before = look(tmp_path / "runs")
    (path / FILE).write_bytes(damage((path / FILE).read_bytes()))
    assert alike(look(tmp_path / "runs"), before)
    line = (path / FILE).read_bytes().partition(b"\n")[0]
    assert json.loads(line)["n_rows"] == 12  # and is written anew


def test_nothing_is_kept_of_a_run_that_lives(new_run, tmp_path):
    path = new_run("alive")
    replace_json(path / "status.json", read_json(path / "status.json") | {"state": "running", "time": 4e9})
    assert look(tmp_path / "runs").state == "running"
    assert not (path / FILE).exists()


def test_a_store_that_cannot_be_written_is_read_all_the_same(new_run, tmp_path, monkeypatch):
    path = new_run("one")

    def refuse(*names):
        raise PermissionError("read-only")

    monkeypatch.setattr(os, "replace", refuse)
    assert len(look(tmp_path / "runs").numbers) == 12
    assert not (path / FILE).exists() and not list(path.glob("*.partial")) and not list(path.glob(".*.partial"))


def test_notes_are_read_beside_what_was_kept(new_run, tmp_path, opened):
    path = new_run("one")
    look(tmp_path / "runs")
    annotate(path, "worth a second look", ["paper"])
    assert look(tmp_path / "runs").notes.tags == ("paper",)
    assert opened == ["one"]


def test_many_runs_are_told_of_newest_first_with_how_many_have_been_read(new_run, tmp_path, monkeypatch):
    monkeypatch.setattr(readings, "TOLD_FIRST", 2)
    for name in "abcd":
        new_run(name, n_iterations=2)
    store, told = Readings(tmp_path / "runs"), []
    tell = store._tell
    monkeypatch.setattr(store, "_tell", lambda found: told.append(([one.name for one in found], store.progress)) or tell(found))
    assert not store.looked()
    store.look()
    assert told == [(["d", "c"], None), (["d", "c", "b", "a"], None)] and store.looked()
    monkeypatch.setattr(readings, "TELL_EVERY", -1.0)
    store = Readings(tmp_path / "runs")
    tell, told[:] = store._tell, []
    monkeypatch.setattr(store, "_tell", lambda found: told.append((len(found), store.progress)) or tell(found))
    store.look()
    assert told == [(1, None), (2, None), (3, (3, 4)), (4, (4, 4)), (4, None)]
