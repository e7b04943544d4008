"""Pictures without pixels: what the HoloViews elements hold."""

import numpy as np
import pytest
from comparisons import made_up, tiny_comparison, tiny_run

from workbench.measures import MeasureError, mean_curves
from workbench.views import objective_curves, objectives_of, perplexity_curves, perplexity_layout, topic_size_curves
from workbench.views.curves import MOST_POINTS
from workbench.views.style import COLOURS, LINES, MARKERS, looks

hv = pytest.importorskip("holoviews")


def lines_of(overlay) -> dict:
    return {element.label: element for element in overlay if isinstance(element, hv.Curve)}


def test_a_line_for_each_label_holds_the_mean_curve():
    lines = lines_of(perplexity_curves(tiny_comparison(), "state"))
    assert list(lines) == ["svb", "cgs", "svb-cgs r=1"]
    for curve in mean_curves(tiny_comparison(), "test_perplexity_state"):
        np.testing.assert_array_equal(lines[curve.label].dimension_values(0), curve.x)
        np.testing.assert_array_equal(lines[curve.label].dimension_values(1), curve.y)


def test_several_seeds_have_a_band_of_one_standard_error():
    (curve,) = mean_curves([made_up("cgs", [10, 8]), made_up("cgs", [14, 10], seed=1)], "test_perplexity")
    overlay = perplexity_curves([made_up("cgs", [10, 8]), made_up("cgs", [14, 10], seed=1)])
    (band,) = [element for element in overlay if isinstance(element, hv.Area)]
    np.testing.assert_array_equal(band.dimension_values(1), curve.y - curve.error)
    np.testing.assert_array_equal(band.dimension_values(2), curve.y + curve.error)
    assert not [element for element in perplexity_curves(made_up("cgs", [3, 2])) if isinstance(element, hv.Area)]


@pytest.mark.parametrize(
    ("against", "label"),
    [("iteration", "iteration"), ("elapsed", "inference time (s)"), ("cpu_time", "CPU time (s)"), ("updates", "site updates")],
)
def test_axes_say_what_they_are_and_in_which_unit(against, label):
    x, y = next(iter(perplexity_curves(tiny_comparison(), against=against))).dimensions()[:2]
    assert x.pprint_label == label and y.pprint_label == "held-out perplexity"


def test_state_and_average_stand_side_by_side():
    state, average = perplexity_layout(tiny_comparison())
    assert next(iter(state)).vdims[0].name == "test_perplexity_state"
    assert next(iter(average)).vdims[0].name == "test_perplexity_average"


def test_without_held_out_tokens_the_picture_is_empty():
    assert len(perplexity_curves(tiny_comparison(1, 0.0))) == 0
    assert len(perplexity_layout(tiny_comparison(1, 0.0))) == 2


def test_bound_log_joint_and_objective_each_have_their_own_picture():
    assert objectives_of(tiny_comparison()) == ["bound", "log_joint", "objective"]
    assert list(lines_of(objective_curves(tiny_comparison(), "bound"))) == ["svb"]
    assert list(lines_of(objective_curves(tiny_comparison(), "log_joint"))) == ["cgs"]
    line = lines_of(objective_curves(tiny_run("cgs"), "log_joint"))["cgs"]
    np.testing.assert_array_equal(line.dimension_values(1), tiny_run("cgs")["log_joint"].values)
    assert line.vdims[0].pprint_label == "log joint (nats)"


def test_topic_sizes_have_a_line_for_each_topic():
    run = tiny_run("cgs")
    lines = lines_of(topic_size_curves(run))
    assert list(lines) == [f"topic {k}" for k in range(4)]
    np.testing.assert_array_equal(lines["topic 2"].dimension_values(1), run["n_k"].values[:, 2])


def test_long_runs_are_thinned_to_their_ends():
    run = made_up("cgs", np.linspace(900, 100, 5000))
    line = lines_of(perplexity_curves(run))["cgs"]
    assert len(line) == MOST_POINTS
    assert line.dimension_values(0)[[0, -1]].tolist() == [1, 5000]


def test_looks_differ_in_colour_line_and_marker_and_repeat_late():
    many = looks([f"label {n}" for n in range(280)])
    assert len(set(map(str, many.values()))) == 280
    first = list(many.values())[: len(LINES)]
    for own in zip(*first, strict=True):
        assert len(set(map(str, own))) == len(first)
    assert len(set(COLOURS)) == 7 and len(set(MARKERS)) == 8


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: perplexity_curves(tiny_comparison(), "best"), "no perplexity 'best'; there are headline"),
        (lambda: perplexity_curves(tiny_comparison(), against="weeks"), "no axis 'weeks'"),
        (lambda: perplexity_curves([]), "no run to look at"),
        (lambda: objective_curves(tiny_comparison(), "evidence"), "no objective 'evidence'"),
    ],
)
def test_wrong_input_gets_one_sentence(ask, told):
    with pytest.raises(MeasureError, match=told):
        ask()
