"""The result of runs against the settings in which they differ, and over the number of topics."""

import numpy as np
import pytest
from comparisons import made_up

from workbench.report.drawing import draw
from workbench.views import draw_view, pictures
from workbench.views.elements import look_of
from workbench.views.settings_results import against_setting

hv = pytest.importorskip("holoviews")


def hybrids() -> list:
    """Two seeds at each of three r, and a run of another engine."""
    of_hybrid = [
        made_up("svb-cgs", [9, 8 + seed + at], seed=seed, options={"r": r})
        for at, r in enumerate((1, 10, 3))
        for seed in (0, 2)
    ]
    return [*of_hybrid, made_up("svb", [9, 7])]


def test_a_setting_has_a_point_for_each_run_and_means_with_errors_over_seeds_values_by_size():
    panel = against_setting(hybrids(), "r")
    kinds = {type(part).__name__: part for part in panel}
    assert kinds["Curve"].label == "svb-cgs"
    np.testing.assert_allclose(kinds["Curve"].dimension_values(1), [9, 11, 10])  # r=1, 3, 10
    np.testing.assert_allclose(kinds["Segments"].dimension_values(1), [8, 10, 9])
    assert len(kinds["Scatter"]) == 6
    assert (
        kinds["Curve"].opts.get("style", backend="matplotlib").kwargs["color"]
        == look_of("svb-cgs").colour
    )
    assert panel.opts.get("plot", backend="matplotlib").kwargs["xticks"] == [
        (0, "1"),
        (1, "3"),
        (2, "10"),
    ]


def test_draw_settings_needs_runs_of_an_engine_that_differ_and_its_table_has_every_run():
    (picture,) = draw_view("settings", hybrids())
    assert (
        picture.header == ["label", "run", "seed", "r", "test_perplexity"]
        and len(picture.rows) == 7
    )
    assert [row[3] for row in picture.rows] == [1, 1, 10, 10, 3, 3, ""] and len(picture.panels) == 1
    assert "settings" in [one.name for one in pictures(hybrids())]
    unfinished = [run.assign_attrs(unfinished="iteration 2 of 9") for run in hybrids()[:2]]
    (finished,) = draw_view("settings", [*unfinished, *hybrids()[2:]])
    assert len(finished.rows) == 5
    longer = [made_up("svb-cgs", [9, 8, 7], options={"r": r}, seed=2) for r in (1, 3)]
    (panel,) = draw_view("settings", [*hybrids(), *longer])[0].panels
    assert len([curve for curve in panel if type(curve).__name__ == "Curve"]) == 2
    alone = [made_up("svb-cgs", [9, 8]), made_up("svb", [9, 7]), made_up("svb", [9, 6], seed=1)]
    assert draw_view("settings", alone) == []


def run(k, last, seed=0, engine="cgs"):
    return made_up(
        engine,
        np.exp([-last + 1, -last]),
        seed=seed,
        model={"n_topics": k, "alpha": 0.1, "beta": 0.1},
    )


def runs(engine="cgs"):
    return [
        run(k, score - seed / 10, seed, engine)
        for k, score in ((2, -7), (20, -6), (40, -6.5))
        for seed in range(2)
    ]


def test_draw_choose_k_has_a_picture_per_label_with_recommendation_and_table():
    (picture,) = draw_view("choose-k", runs())
    assert (
        picture.name == "choose-k"
        and "K = 20 has the highest held-out log likelihood" in picture.caption
    )
    assert [row[0] for row in picture.rows] == [2, 20, 40]
    both = draw_view("choose-k", [*runs(), *runs("svb"), run(5, -3, engine="vb")])
    assert [one.name for one in both] == ["choose-k-cgs", "choose-k-svb"]
    assert draw_view("choose-k", runs()[:2]) == []  # one K


def test_draw_choose_k_without_held_out_tokens_has_no_recommendation():
    (picture,) = draw_view("choose-k", [each.drop_vars("test_perplexity") for each in runs()])
    assert "recommended" not in picture.caption and len(picture.panels) == 1
    assert "n_active_topics" in str(picture.panels[0])


@pytest.mark.parametrize("columns", [1, 2])
def test_choose_k_view_has_ticks_at_the_tried_k_alone(columns):
    (picture,) = draw_view("choose-k", runs())
    svg = draw(picture.panels, columns, ("svg",), picture.legend, picture.height)["svg"].decode()
    assert [svg.count(f"<!-- {k} -->") for k in (2, 20, 40)] == [len(picture.panels)] * 3
    assert "<!-- 10 -->" not in svg and "mathdefault" not in svg
