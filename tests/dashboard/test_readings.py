"""What the store says, read once for all sessions."""

import shutil

import numpy as np

from workbench.dashboard.shared import run_monitor as readings
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Readings
from workbench.measures import learnt_by, moves, topic_counts
from workbench.runs.execution.fit import resume
from workbench.runs.execution.run import open_run


def test_a_listing_has_every_run_newest_first_with_the_numbers_of_its_dataset(new_run, tmp_path):
    new_run("first")
    second = new_run("second", "cgs")
    listing = Readings(tmp_path / "runs").look()
    assert [reading.name for reading in listing.readings] == ["second", "first"]
    reading, dataset = listing.readings[0], open_run(second)
    worked_out = {"steps": 4 * dataset["iteration"]} | dict(topic_counts(dataset))
    for at, name in enumerate(COLUMNS):
        wanted = worked_out[name] if name in worked_out else dataset[name] if name in dataset else np.full(12, np.nan)
        np.testing.assert_array_equal(reading.numbers[:, at], wanted)
    assert (reading.state, reading.learns, reading.moves) == ("finished", (), ()) and not len(reading.alphas)


def test_bounds_are_for_each_training_token_and_of_the_collapsed_model_where_there_is_one(new_run, tmp_path):
    runs = {name: open_run(new_run(name, name)) for name in ("svb", "cvb", "cv-hdp")}
    at = COLUMNS.index("bound_per_token")
    for reading in Readings(tmp_path / "runs").look().readings:
        run = runs[reading.name]
        bound = run["collapsed_bound" if reading.name == "cvb" else "bound"] / float(run["n_dk"][-1].sum())
        np.testing.assert_allclose(reading.numbers[:, at], bound, rtol=1e-6)  # counts are kept as float32


def test_what_a_run_learns_and_the_moves_that_it_tries_are_followed(new_run, tmp_path):
    options = {"learn_alpha": "maximised", "learn_beta": "maximised", "learn_after": 2}
    paths = {
        "lda": new_run("lda", "cvb0", n_iterations=6, options=options),
        "hdp": new_run("hdp", "cv-hdp", n_iterations=6, options={"moves_every": 2, "moves_after": 1}),
        "more": new_run("more", "g-hdp", n_iterations=6),
    }
    store = Readings(tmp_path / "runs")
    store.look()
    for name, path in paths.items():
        resume(path, n_iterations=11, progress=False)
        reading = next(reading for reading in store.look().readings if reading.name == name)
        run = open_run(path)
        np.testing.assert_array_equal(reading.alphas, run["alpha"][-1])
        assert reading.learns == tuple(learnt_by(run)) != ()
        assert reading.moves == tuple(moves(run)) and bool(reading.moves) == (name == "hdp")
        kept = run["iteration"].values[run["move_accepted"].values == 1] if name == "hdp" else []
        assert reading.marks[:, 0].tolist() == list(kept)
        total = run["alpha"].sum("topic") if name == "lda" else run["alpha_total"]
        np.testing.assert_allclose(reading.numbers[:, COLUMNS.index("alpha_total")], total, rtol=1e-15)
        steps = run["steps"] if name != "lda" else 4 * run["iteration"]
        np.testing.assert_array_equal(reading.numbers[:, COLUMNS.index("steps")], steps)


def test_only_new_rows_are_read_and_what_did_not_change_is_the_same_object(new_run, tmp_path):
    path, store = new_run("growing"), Readings(tmp_path / "runs")
    before = store.look()
    assert store.look() is before
    resume(path, n_iterations=20, progress=False)
    follower = next(iter(store._followers.values()))
    asked, rows = [], follower._reader.rows
    follower._reader.rows = lambda after: asked.append(after) or rows(after)
    after = store.look()
    assert asked == [12]
    assert after.version == before.version + 1
    assert after.readings[0].numbers[:, 0].tolist() == list(range(1, 21))
    assert after.readings[0].status["n_iterations"] == 20


def test_a_run_that_cannot_be_read_is_listed_with_its_reason_beside_the_others(new_run, tmp_path):
    broken, _ = new_run("broken"), new_run("whole")
    (broken / "data.zarr" / "committed" / "zarr.json").write_text("no json")
    store = Readings(tmp_path / "runs")
    listing = store.look()
    assert {reading.name: reading.state for reading in listing.readings} == {"broken": "unreadable", "whole": "finished"}
    assert next(reading for reading in listing.readings if reading.name == "broken").status["message"]
    assert store.look().version == listing.version


def test_a_removed_run_leaves_the_listing_and_one_of_the_same_name_is_read_anew(new_run, tmp_path):
    path, store = new_run("again"), Readings(tmp_path / "runs")
    store.look()
    shutil.rmtree(path)
    assert store.look().readings == ()
    new_run("again", n_iterations=3)
    assert len(store.look().readings[0].numbers) == 3


def test_no_store_is_no_run(tmp_path):
    assert Readings(tmp_path / "nowhere").look().readings == ()


def test_a_long_run_is_thinned_and_its_last_row_is_kept(new_run, tmp_path, monkeypatch):
    monkeypatch.setattr(readings, "MOST_POINTS", 5)
    new_run("long")
    reading = Readings(tmp_path / "runs").look().readings[0]
    assert reading.numbers[:, 0].tolist() == [1, 4, 7, 10]
    assert reading.latest[0] == 12


def test_the_thread_that_looks_ends_when_nobody_asks(new_run, tmp_path, monkeypatch):
    monkeypatch.setattr(readings, "PATIENCE", 0.1)
    monkeypatch.setattr(readings, "LOOK_EVERY", 0.05)
    new_run("seen")
    store = Readings(tmp_path / "runs")
    assert len(store.latest(patience=10).readings) == 1
    thread = store._thread
    thread.join(10)
    assert not thread.is_alive()
    assert len(store.latest(patience=10).readings) == 1  # and begins again
    store._thread.join(10)


def test_looks_that_take_long_come_less_often_but_within_seconds():
    assert readings.pause_after(0.001) == readings.LOOK_EVERY
    assert readings.pause_after(0.1) == 0.1 / readings.LOOK_SHARE
    assert readings.pause_after(60.0) == readings.LOOK_WITHIN
