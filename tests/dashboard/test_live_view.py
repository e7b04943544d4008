"""The live view of a notebook cell, and what stands for it in a terminal; tests/browser/test_lab.py sees it stream."""

import json
import shutil
import sys

import pytest
from bokeh.document import Document
from panel.io.document import unlocked

from workbench import watch
from workbench.dashboard.notebooks.live_view import LiveView, awaited
from workbench.dashboard.shared.run_monitor import Follower
from workbench.dashboard.shared.shell import text
from workbench.runs.execution.fit import fit, resume
from workbench.runs.execution.run import Run
from workbench.runs.spec import SpecError
from workbench.runs.store.layout import StoreError

UNTOLD = {"n_iterations": 12, "time_left": None, "message": ""}


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


def test_before_their_first_iteration_runs_say_what_they_wait_for(new_run, reading_of, monkeypatch):
    states = {"a": "running", "b": "waiting", "c": "running", "d": "paused"}
    waiting = [reading_of(name, 0, state) for name, state in states.items()]
    told = awaited([*waiting, reading_of("e", 3), reading_of("f", 0, "stopped")])
    assert told.split(". ") == [
        "No iteration yet of a, c: the corpus is read, and kernels are compiled unless the cache has them",
        "No iteration yet of b: its worker is starting, or queued behind others",
        "No iteration yet of d: paused before the first.",
    ]
    view = LiveView([new_run("one")])
    assert not view.awaited.visible
    look = Follower.look
    with monkeypatch.context() as patched:
        status = {"state": "running", "iteration": 0} | UNTOLD
        patched.setattr(Follower, "look", lambda self: look(self)._replace(status=status))
        view.tick()
    assert view.awaited.visible and "No iteration yet of one: the corpus" in view.awaited.object
    view.tick()
    assert not view.awaited.visible and not view.awaited.object


def test_a_swatch_takes_its_curve_away_and_brings_it_back(new_run):
    view = LiveView([new_run("one")])
    view.draw("one")
    assert view.curve.colours() == {} == view.table.colours
    view.draw("one")
    assert list(view.curve.colours()) == ["one"] == list(view.table.colours)


def test_a_sentence_that_changes_sends_its_text_alone():
    sentence, document = text("<p>before</p>"), Document()
    model = sentence.get_root(document)
    document.add_root(model)
    model.stylesheets = model.stylesheets[-1:]  # as a notebook does, to ask no other host
    sent = []
    document.on_change(lambda event: sent.append((event.attr, event.new)))
    with unlocked():
        sentence.object = "<p>after</p>"
    assert sent == [("text", "&lt;p&gt;after&lt;/p&gt;")]
