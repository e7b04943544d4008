"""What the store says, read once for all sessions."""

import shutil
import threading
import time

import numpy as np

from workbench.dashboard.shared import run_monitor
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Listing, RunMonitor
from workbench.measures import learnt_by, moves, topic_counts
from workbench.runs.execution.fit import resume
from workbench.runs.execution.run import open_run
from workbench.runs.store import places
from workbench.runs.store.notes import annotate
from workbench.runs.store.reader import RunReader
from workbench.runs.store.status import set_end
from workbench.runs.store.turning import ask, take


def test_a_listing_has_every_run_newest_first_with_the_numbers_of_its_dataset(new_run, tmp_path):
    new_run("first")
    second = new_run("second", "cgs")
    listing = RunMonitor(tmp_path / "runs").look()
    assert [reading.name for reading in listing.readings] == ["second", "first"]
    reading, dataset = listing.readings[0], open_run(second)
    worked_out = {"steps": 4 * dataset["iteration"]} | dict(topic_counts(dataset))
    for at, name in enumerate(COLUMNS):
        wanted = (
            worked_out[name]
            if name in worked_out
            else dataset[name]
            if name in dataset
            else np.full(12, np.nan)
        )
        np.testing.assert_array_equal(reading.numbers[:, at], wanted)
    assert (reading.state, reading.learns, reading.moves) == ("finished", (), ())


def test_bounds_are_for_each_training_token_and_of_the_collapsed_model_where_there_is_one(
    new_run, tmp_path
):
    runs = {name: open_run(new_run(name, name)) for name in ("svb", "cvb", "cv-hdp")}
    at = COLUMNS.index("bound_per_token")
    for reading in RunMonitor(tmp_path / "runs").look().readings:
        run = runs[reading.name]
        bound = run["collapsed_bound" if reading.name == "cvb" else "bound"] / float(
            run["n_dk"][-1].sum()
        )
        # counts are kept as float32
        np.testing.assert_allclose(reading.numbers[:, at], bound, rtol=1e-6)


def test_what_a_run_learns_and_the_moves_that_it_tries_are_followed(new_run, tmp_path):
    options = {"learn_alpha": "maximised", "learn_beta": "maximised", "learn_after": 2}
    paths = {
        "lda": new_run("lda", "cvb0", n_iterations=6, options=options),
        "hdp": new_run(
            "hdp", "cv-hdp", n_iterations=6, options={"moves_every": 2, "moves_after": 1}
        ),
        "more": new_run("more", "g-hdp", n_iterations=6),
    }
    store = RunMonitor(tmp_path / "runs")
    store.look()
    for name, path in paths.items():
        resume(path, n_iterations=11, progress=False)
        reading = next(reading for reading in store.look().readings if reading.name == name)
        run = open_run(path)
        assert reading.learns == tuple(learnt_by(run)) != ()
        assert reading.moves == tuple(moves(run)) and bool(reading.moves) == (name == "hdp")
        total = run["alpha"].sum("topic") if name == "lda" else run["alpha_total"]
        np.testing.assert_allclose(
            reading.numbers[:, COLUMNS.index("alpha_total")], total, rtol=1e-15
        )
        steps = run["steps"] if name != "lda" else 4 * run["iteration"]
        np.testing.assert_array_equal(reading.numbers[:, COLUMNS.index("steps")], steps)


def test_only_new_rows_are_read_and_what_did_not_change_is_the_same_object(
    new_run, tmp_path, monkeypatch
):
    path, store = new_run("growing"), RunMonitor(tmp_path / "runs")
    before = store.look()
    assert store.look() is before
    resume(path, n_iterations=20, progress=False)
    asked, rows = [], RunReader.rows
    monkeypatch.setattr(
        RunReader, "rows", lambda self, after: asked.append(after) or rows(self, after)
    )
    after = store.look()
    assert asked == [12]
    assert after.version == before.version + 1
    assert after.readings[0].numbers[:, 0].tolist() == list(range(1, 21))
    assert after.readings[0].status["n_iterations"] == 20


def test_a_run_that_cannot_be_read_is_listed_with_its_reason_beside_the_others(new_run, tmp_path):
    broken, _ = new_run("broken"), new_run("whole")
    (broken / "data.zarr" / "committed" / "zarr.json").write_text("no json")
    store = RunMonitor(tmp_path / "runs")
    listing = store.look()
    assert {reading.name: reading.state for reading in listing.readings} == {
        "broken": "unreadable",
        "whole": "finished",
    }
    assert next(reading for reading in listing.readings if reading.name == "broken").status[
        "message"
    ]
    assert store.look().version == listing.version


def test_a_removed_run_leaves_the_listing_and_one_of_the_same_name_is_read_anew(new_run, tmp_path):
    path, store = new_run("again"), RunMonitor(tmp_path / "runs")
    store.look()
    shutil.rmtree(path)
    assert store.look().readings == ()
    new_run("again", n_iterations=3)
    assert len(store.look().readings[0].numbers) == 3


def test_a_run_that_is_removed_while_the_store_is_read_is_left_out(new_run, tmp_path, monkeypatch):
    new_run("stays")
    gone, whole = new_run("goes"), places.is_run

    def late(path):
        found = whole(path)
        if path == gone:
            shutil.rmtree(path, ignore_errors=True)
        return found

    monkeypatch.setattr(places, "is_run", late)
    assert [path.name for path in places.run_paths(tmp_path / "runs")] == ["stays"]


def test_the_thread_that_looks_outlives_a_store_that_cannot_be_read_for_a_moment(
    new_run, tmp_path, monkeypatch
):
    new_run("first")
    monitor, whole, failed = RunMonitor(tmp_path / "runs"), run_monitor.run_paths, threading.Event()
    assert len(monitor.latest(30.0).readings) == 1

    def fails_once(store):
        if not failed.is_set():
            failed.set()
            raise OSError("stale file handle")
        return whole(store)

    monkeypatch.setattr(run_monitor, "run_paths", fails_once)
    monitor.look_soon()
    assert failed.wait(30.0)
    new_run("second")
    for _ in range(300):
        monitor.look_soon()
        if len(monitor.latest().readings) == 2:
            break
        time.sleep(0.1)
    assert len(monitor.latest().readings) == 2


def test_a_long_run_is_thinned_and_its_last_row_is_kept(new_run, tmp_path, monkeypatch):
    monkeypatch.setattr(run_monitor, "MOST_POINTS", 5)
    new_run("long")
    reading = RunMonitor(tmp_path / "runs").look().readings[0]
    assert reading.numbers[:, 0].tolist() == [1, 5, 9]
    assert reading.latest[0] == 12


def test_a_run_that_is_to_be_long_is_thinned_when_it_is(new_run, tmp_path, monkeypatch):
    monkeypatch.setattr(run_monitor, "MOST_POINTS", 15)
    set_end(new_run("begun"), 10_000)
    (reading,) = RunMonitor(tmp_path / "runs").look().readings
    assert reading.numbers[:, 0].tolist() == list(range(1, 13))


def test_what_was_turned_is_seen_though_the_status_stays(new_run, tmp_path, monkeypatch):
    monkeypatch.setattr(run_monitor, "ALIVE", ("stopped",))  # as if it were at work
    path, store = new_run("one"), RunMonitor(tmp_path / "runs")
    set_end(path, 40)
    before = store.look().readings[0]
    ask(path, {"alpha": 0.3})
    take(path, 13)
    (reading,) = store.look().readings
    assert reading.status == before.status and reading.label != before.label
    assert reading.spec.breaks == [(13, "alpha = 0.3"), *before.spec.breaks]


def test_a_look_in_progress_is_not_the_one_that_is_asked_for(tmp_path):
    store = RunMonitor(tmp_path)
    store._n_begun, store._n_looks = 5, 4

    def look():
        for done in (5, 6):
            time.sleep(0.05)
            store._n_looks = done

    thread = threading.Thread(target=look)
    thread.start()
    store.look_now()
    assert store._n_looks == 6
    thread.join()


def test_a_run_whose_end_was_moved_is_stopped_and_lasts_as_long_as_is_asked(new_run, tmp_path):
    path, store = new_run("ended"), RunMonitor(tmp_path / "runs")
    assert store.look().readings[0].state == "finished"
    set_end(path, 40)
    (reading,) = store.look().readings
    assert (reading.state, reading.status["n_iterations"], reading.spec.n_iterations) == (
        "stopped",
        40,
        40,
    )
    assert reading.latest[0] == 12


def test_notes_are_read_when_they_are_written_and_stay_while_a_run_is_thinned_anew(
    new_run, tmp_path, monkeypatch
):
    monkeypatch.setattr(run_monitor, "MOST_POINTS", 15)
    path, store = new_run("one"), RunMonitor(tmp_path / "runs")
    assert len(store.look().readings[0].numbers) == 12
    annotate(path, "worth a second look", ["paper"])
    assert store.look().readings[0].notes.tags == ("paper",)
    resume(path, n_iterations=20, progress=False)
    (reading,) = store.look().readings
    assert reading.notes.tags == ("paper",) and reading.numbers[:, 0].tolist() == list(
        range(1, 21, 2)
    )


def test_many_runs_are_listed_newest_first_with_how_many_have_been_read(
    new_run, tmp_path, monkeypatch
):
    for name in "abcd":
        new_run(name, n_iterations=2)
    listed = []

    def listing(version, readings):
        listed.append(([one.name for one in readings], store.progress))
        return Listing(version, readings)

    monkeypatch.setattr(run_monitor, "LISTED_FIRST", 2)
    store = RunMonitor(tmp_path / "runs")
    monkeypatch.setattr(run_monitor, "Listing", listing)
    assert not store.has_looked()
    store.look()
    assert listed == [(["d", "c"], None), (["d", "c", "b", "a"], None)] and store.has_looked()
    monkeypatch.setattr(run_monitor, "LIST_EVERY", -1.0)
    store, listed[:] = RunMonitor(tmp_path / "runs"), []
    store.look()
    progress = {1: None, 2: None, 3: (3, 4), 4: (4, 4)}
    assert listed == [(list("dcba")[:n], told) for n, told in progress.items()]


def test_the_thread_that_looks_ends_when_nobody_asks(new_run, tmp_path, monkeypatch):
    monkeypatch.setattr(run_monitor, "IDLE_AFTER", 0.1)
    monkeypatch.setattr(run_monitor, "LOOK_EVERY", 0.05)
    new_run("seen")
    store, before = RunMonitor(tmp_path / "runs"), threading.enumerate()
    for _again in range(2):
        assert len(store.latest(patience=10).readings) == 1
        (thread,) = (
            one
            for one in threading.enumerate()
            if one.name == "workbench-run-monitor" and one not in before
        )
        thread.join(10)
        assert not thread.is_alive()
