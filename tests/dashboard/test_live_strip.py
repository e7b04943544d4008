"""Sliders that turn settings of the drawn runs: which there are, and what letting one go does."""

import numpy as np
import pytest
from toys import simulated

from workbench.dashboard.compare import live_strip
from workbench.dashboard.compare.curve import Curve
from workbench.dashboard.compare.live_strip import LiveStrip, sliders_of, turn
from workbench.runs.execution.run import Run
from workbench.runs.interventions import Intervention
from workbench.runs.spec import RunSpec, make_spec
from workbench.runs.store.turning import ask
from workbench.runs.store.writer import create_run


def spec_of(engine: str, interventions=(), **options) -> RunSpec:
    model = {"n_topics": 10} if "hdp" in engine else {"n_topics": 10, "alpha": 0.1, "beta": 0.25}
    return RunSpec(
        "kos", "train", None, engine, model, options, name=engine, interventions=interventions
    )


@pytest.fixture
def run_of(reading_of):
    def make(engine, state="running", interventions=(), **options):
        reading = reading_of(engine, state=state, label=engine)
        return reading._replace(spec=spec_of(engine, interventions, **options))

    return make


def names(fields) -> list[str]:
    return [slider.label for slider in fields.objects]


def test_the_sliders_are_the_settings_that_some_run_at_work_can_turn(run_of):
    strip = LiveStrip(print)
    strip.show([run_of("cgs", "finished"), run_of("svb-cgs", "stopped", r=2.0)])
    assert not strip.view.visible
    strip.show(
        [run_of("cgs"), run_of("svb-cgs", r=2.0), run_of("cv-hdp"), run_of("svb", "finished")]
    )
    assert strip.view.visible and names(strip._first_sliders) == ["r", "alpha", "beta"]
    assert "r of svb-cgs; alpha, beta of cgs, svb-cgs" in strip._hint.object
    assert [slider.value for slider in strip._first_sliders.objects] == [2.0, 0.1, 0.25]
    assert 0.25 in strip._first_sliders.objects[2].options.values()
    assert "alpha: shape" in names(strip._further_sliders) and not strip._further_column.visible
    strip._fold.unfold()
    assert strip._further_column.visible


def test_what_a_run_learns_has_no_slider():
    assert "alpha" not in sliders_of(spec_of("cgs", learn_alpha="sampled").to_json())
    assert "alpha_total" not in sliders_of(spec_of("cv-hdp").to_json())
    assert "alpha_total" in sliders_of(spec_of("cv-hdp", learn_alpha=False).to_json())


def test_a_server_to_look_at_has_no_sliders(run_of, ruled):
    ruled(read_only=True)
    strip = LiveStrip(print)
    strip.show([run_of("cgs")])
    assert not strip.view.visible


def test_letting_a_slider_go_turns_the_setting_in_the_runs_that_have_it(run_of, monkeypatch):
    asked, shown = [], []
    monkeypatch.setattr(live_strip, "turn", lambda *given: asked.append(given) or ([], []))
    strip, runs = LiveStrip(shown.append), [run_of("cgs"), run_of("svb-cgs")]
    strip.show(runs)
    strip._first_sliders.objects[0].value = 5.0  # on its way
    assert not asked
    strip._first_sliders.objects[0].value_throttled = 5.0
    assert asked == [([runs[1].path], {"r": 5.0}, "a page")] and shown == [[]]


def test_turn_asks_each_run_and_returns_what_refused(store):
    small = simulated()
    paths = [
        create_run(store, make_spec(small, engine, 2), small, None) for engine in ("cgs", "svb-cgs")
    ]
    _, refused = turn(paths, {"r": 3}, "me")
    assert len(refused) == 1 and "cgs has no setting 'r'" in str(refused[0])
    assert [len(Run(path).interventions) for path in paths] == [0, 1]
    assert Run(paths[1]).interventions["who"].tolist() == ["me"]
    ask(paths[1], {"alpha": 0.5})
    assert Run(paths[1]).interventions["setting"].tolist() == ["r", "alpha"]


def test_the_curve_marks_where_settings_were_turned(run_of):
    made = Intervention(3, {"alpha": 0.5, "beta": 0.01}), Intervention(99, {"alpha": 1.0})
    curve, reading = Curve(), run_of("cgs", interventions=made)
    numbers = reading.numbers.copy()
    numbers[:, 0] = [1, 2, 4, 5, 6]  # iteration 3 was not recorded
    curve.assign(["cgs", "svb"])
    curve.show({"cgs": reading._replace(numbers=numbers), "svb": run_of("svb")})
    data = curve._turns.data_source.data
    assert np.array_equal(data["iteration"], [4]) and data["said"] == ["alpha = 0.5, beta = 0.01"]
    assert data["colour"] == [curve.colours()["cgs"]]
    last = reading.latest.copy()
    last[0] = 99  # the last row of a thinned curve is no point of it
    curve.show({"cgs": reading._replace(numbers=numbers, latest=last), "svb": run_of("svb")})
    assert np.array_equal(curve._turns.data_source.data["iteration"], [4, 99])


def test_sliders_that_stay_are_not_set_again(run_of, monkeypatch):
    strip = LiveStrip(lambda started: None)
    strip.show([run_of("cgs")])
    set_again = []
    strip._first_sliders.param.watch(set_again.append, "objects", onlychanged=False)
    strip.show([run_of("cgs", interventions=(Intervention(3, {"alpha": 0.5}),))])
    assert set_again == [] and strip._sliders["alpha"].value == 0.5
    strip.show([run_of("svb-cgs")])
    assert len(set_again) == 1


def test_a_branch_and_undo_are_started_for_the_runs_they_make_sense_for(run_of, monkeypatch):
    acted = []
    monkeypatch.setattr(
        live_strip,
        "branches",
        lambda paths, act: acted.append([p.name for p in paths]) or (paths, []),
    )
    shown = []
    strip = LiveStrip(shown.append)
    turned = run_of("svb-cgs", interventions=(Intervention(3, {"r": 2.0}),))
    strip.show([run_of("cgs")])
    assert strip.undo.disabled
    strip.show([run_of("cgs"), turned])
    strip.undo.clicks += 1
    assert acted == [["svb-cgs"]] and shown == [[turned.path]]
    strip.in_branch.value = strip.in_branch.options
    strip._first_sliders.objects[1].value_throttled = 1.0
    assert acted[1:] == [["cgs", "svb-cgs"]]
