"""The live view of a notebook cell, and what stands for it in a terminal; tests/browser/test_lab.py sees it stream."""

import json
import shutil
import sys

import pytest
from bokeh.document import Document

from workbench import watch
from workbench.dashboard.compare.curve import Curve
from workbench.dashboard.notebooks.live_view import LiveView
from workbench.dashboard.notebooks.setup import changes_of
from workbench.runs.execution.fit import fit, resume
from workbench.runs.execution.run import Run
from workbench.runs.spec import SpecError
from workbench.runs.store.layout import StoreError


def test_in_a_terminal_bars_stand_for_the_view_until_the_runs_have_ended(
    new_run, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    paths = [new_run("one"), new_run("two", "cgs")]
    assert (
        watch(paths) is None
        and Run(paths[0]).watch() is None
        and watch(store=tmp_path / "runs") is None
    )
    told = capsys.readouterr().err
    assert "svb seed 0: 100%" in told and "cgs seed 0: 100%" in told and "12/12" in told


def test_what_cannot_be_watched_is_told_in_a_sentence(new_run, tmp_path):
    path = new_run("one")
    twin = tmp_path / "elsewhere" / "one"
    shutil.copytree(path, twin)
    for wrong, error, told in (
        (lambda: watch("onne", tmp_path / "runs"), StoreError, "did you mean 'one'?"),
        (lambda: watch(store=tmp_path / "empty"), SpecError, "holds no run to watch; start one"),
        (lambda: watch([]), SpecError, "at least one run"),
        (lambda: watch([path, twin]), SpecError, "two of these have the same"),
        (
            lambda: watch(path, axis="hours"),
            SpecError,
            "no axis 'hours'; choose one of iterations, steps",
        ),
        (
            lambda: watch(path, measure="loss"),
            SpecError,
            "no measure 'loss'; choose one of headline",
        ),
    ):
        with pytest.raises(error, match=told.replace("?", r"\?")):
            wrong()


def test_a_tick_takes_in_new_rows_of_every_run_and_only_those(new_run):
    paths = [new_run("one", n_iterations=6), new_run("two", "cgs", n_iterations=6)]
    view = LiveView(paths)
    sources = [slot.source for slot in view.curve.slots[:2]]
    assert [len(source.data["iteration"]) for source in sources] == [6, 6]
    data = [source.data for source in sources]
    resume(paths[1], n_iterations=9, progress=False)
    view.tick()
    assert [len(source.data["iteration"]) for source in sources] == [6, 9] and sources[
        0
    ].data is data[0]
    assert [(row["name"], row["progress"]) for row in json.loads(view.table.news)["rows"]] == [
        ("two", "9 / 9")
    ]
    assert view.table.chosen == ["one", "two"]


def test_changes_that_are_sent_to_a_notebook_do_not_count_as_those_of_a_reader():
    curve, document = Curve(), Document()
    document.add_root(curve.figure)
    document.hold()
    curve.figure.x_range.end = 5.0
    assert [change.attr for change in changes_of(document)] == ["end"]
    assert curve.parameter().current() == ""


def test_a_run_without_test_tokens_is_seen_by_its_training_perplexity(new_run, halves, tmp_path):
    fit(halves[0], "svb", 4, n_iterations=3, store=tmp_path / "runs", name="bare", progress=False)
    assert LiveView([tmp_path / "runs" / "bare"]).measure.value == "training"
    assert LiveView([tmp_path / "runs" / "bare", new_run("one")]).measure.value == "headline"


def test_a_run_that_is_removed_meanwhile_leaves_the_others_to_be_seen(new_run):
    paths = [new_run("one"), new_run("two")]
    view = LiveView(paths)
    shutil.rmtree(paths[0])
    view.tick()
    assert [(row["name"], row["state"]) for row in json.loads(view.table.news)["rows"]] == [
        ("one", "unreadable")
    ]
    assert list(view.curve.colours()) == ["two"]
