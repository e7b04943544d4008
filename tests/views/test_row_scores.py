"""Gains over training frequencies, and hits against seconds, as pictures of runs that have such scores."""

import pytest
from comparisons import made_up

from workbench.measures import mean_curves
from workbench.views import draw_view, pictures
from workbench.views.comparison import GAINS, score_courses

hv = pytest.importorskip("holoviews")


def scored(seed=0, top=5.0):
    """A made-up run of three iterations with gains and hits."""
    run = made_up("cgs", [9, 8, 7], seed=seed, elapsed=[1.0, 2.0, 4.0])
    about = {"long_name": "a score", "units": "nats", "better": "higher"}
    names = {
        **dict.fromkeys(GAINS, 0.1 + seed),
        "test_top_hits": top,
        "test_bottom_hits": 1.0,
        "test_log_likelihood": -4.0,
    }
    return run.assign(
        {name: ("iteration", [0.0, 0.0, value], about) for name, value in names.items()}
    )


def test_runs_with_gains_have_a_panel_for_each_base_with_a_line_at_0():
    (gains,) = draw_view("gains", [scored(), scored(seed=1)])
    assert len(gains.panels) == 3 and len(gains.rows) == 2 * 3
    for line, *_ in gains.panels:
        assert isinstance(line, hv.Path) and line.dimension_values(0)[:2].tolist() == [0.0, 0.0]
        assert line.kdims[0].unit == "nats"


def test_hits_are_drawn_against_seconds_under_labels_that_are_given():
    runs = [scored(), scored(seed=1, top=7.0)]
    panels = score_courses(runs, labels=["SBM", "SBM"])
    assert len(panels) == 3
    (curve,) = [each for each in panels[0] if type(each) is hv.Curve]
    assert curve.label == "SBM" and curve.dimension_values(0).tolist() == [1.0, 2.0, 4.0]
    assert curve.dimension_values(1).tolist() == [0.0, 0.0, 6.0]
    difference = mean_curves(runs, "test_top_hits", "elapsed", ["SBM", "LNM"])
    assert [(each.label, each.y[-1]) for each in difference] == [("SBM", 5.0), ("LNM", 7.0)]


def test_runs_without_gains_and_hits_have_neither_picture():
    assert not {"gains", "hits"} & {one.name for one in pictures([made_up("cgs", [9, 8])])}
