"""Settings by cost and distance, and the maps of where hybrids overtake: what the HoloViews elements hold."""

import numpy as np
import pytest
from measures.test_frontier import chains, pair, run, settings

from workbench.measures import frontier, overtaking
from workbench.report.drawing import draw
from workbench.views import VIEWS, draw_view, frontier_view, jitter_view, overtaking_view, pictures
from workbench.views.frontier import FAINT, frontier_picture, names_of_settings, sides_of_names

hv = pytest.importorskip("holoviews")


def table():
    return frontier([*settings(), run("svb", [7, 6, 6, 6], burn_in=0), *chains()])


def parts(overlay, kind) -> list:
    return [part for part in overlay if isinstance(part, kind)]


def style(part) -> dict:
    return part.opts.get("style", backend="matplotlib").kwargs


def test_a_setting_of_one_run_has_no_error_and_the_band_is_that_of_the_reference():
    overlay = frontier_view(table(), "cpu_time")
    assert (len(parts(overlay, hv.Scatter)), len(parts(overlay, hv.Segments))) == (3, 2)
    (band,) = parts(overlay, hv.HSpan)
    assert band.data[1] == pytest.approx(table().attrs["reference_se"])


def test_frontier_view_connects_efficient_settings_and_fades_dominated_ones():
    overlay = frontier_view(table(), "cpu_time")
    (line,) = parts(overlay, hv.Curve)
    assert line.array().ravel().tolist() == pytest.approx([8, 0.5, 16, 0.35])
    assert {part.label: style(part)["alpha"] for part in parts(overlay, hv.Scatter)} == {
        "svb-cgs r=2 n_chains=3": 1,
        "cgs": 1,
        "svb": FAINT,
    }
    assert {
        row[2].strip() for part in parts(overlay, hv.Labels) for row in part.data.values.tolist()
    } == {"r=2, S=3", "cgs", "svb"}


def test_names_of_settings_have_r_chains_and_split_of_a_hybrid():
    engines = [
        ("svb-cgs", {"r": "inf"}),
        ("svb-cgs", {"r": 0, "n_chains": 5}),
        ("adaptive-cgs", {"split": "random"}),
        ("cvb-cgs", {}),
    ]
    result = frontier(
        [run(engine, [6, 5], options=options) for engine, options in engines], chains()
    )
    assert names_of_settings(result) == [
        "svb-cgs, r=∞",
        "svb-cgs, r=0, S=5",
        "random, r=2",
        "cvb-cgs, r=1",
    ]


def test_sides_of_names_do_not_overlap_and_prefer_efficient_settings():
    x, y, names = (
        np.array([0.1, 0.1, 0.1, 0.8]),
        np.array([0.5, 0.5, 0.51, 0.5]),
        ["r=1", "r=2", "r=5", "cgs"],
    )
    assert sides_of_names(x, y, names, np.array([False, True, False, False])) == [-1, 1, 0, 1]


def test_numbers_far_apart_have_a_logarithmic_axis_and_bars_end_above_its_floor():
    own = table()
    own["distance"] = ("label", [0.4, 0.04, 0.3])
    own["distance_se"] = ("label", [0.1, 0.05, np.nan])
    overlay = frontier_view(own)
    assert overlay.opts.get("plot", backend="matplotlib").kwargs["logy"]
    lows = [part.array()[0].tolist()[1] for part in parts(overlay, hv.Segments)]
    assert lows == pytest.approx([0.3, 0.02])
    (band,) = parts(overlay, hv.HSpan)
    # half the smallest distance, which is less than half the error
    assert band.data[0] == pytest.approx(0.02)
    own.attrs["reference_se"] = 0.01
    assert parts(frontier_view(own), hv.HSpan)[0].data == pytest.approx((0.005, 0.01))
    own.attrs["reference_se"] = 0.0001
    assert not parts(frontier_view(own), hv.HSpan)  # it would be far below all distances


def test_jitter_view_has_the_same_costs_as_frontier_view():
    marks = {
        part.label: part.array()[0].tolist()
        for part in parts(jitter_view(table(), "updates"), hv.Scatter)
    }
    own = table().sel(label="cgs")
    assert marks["cgs"] == pytest.approx([float(own["updates"]), float(own["jitter"])])
    assert np.isfinite(marks["cgs"][1])


def test_draw_frontier_needs_long_chains_and_its_table_has_every_setting():
    runs = [*settings(), *chains()]
    picture, other = draw_view("frontier", runs)
    assert [picture.name, other.name] == ["frontier-by-updates", "frontier-by-cpu-time"]
    assert len(picture.panels) == 2 and {row[0] for row in picture.rows} == {
        "cgs",
        "svb-cgs r=2 n_chains=3",
    }
    assert "over 4 chains" in picture.caption and "frontier-by-updates" in [
        one.name for one in pictures(runs)
    ]
    assert draw_view("frontier", settings()) == []


def test_draw_frontier_has_a_picture_per_model():
    more = {"n_topics": 4, "alpha": 0.1, "beta": 0.1}
    runs = [*settings(), *chains(), run("svb-cgs", [6, 5.5], model=more), *chains(model=more)]
    assert (
        len(result := draw_view("frontier", runs)) == 4 and len({one.name for one in result}) == 4
    )


def test_a_map_has_a_cell_for_each_number_of_topics_and_regime():
    runs = [*pair(repeat=5), *pair(k=4), *pair()]
    overlay = overtaking_view(overtaking(runs), "svb-cgs r=1")
    texts = parts(overlay, hv.Labels)[0].data.values.tolist()
    assert [(x, y) for x, y, _ in texts] == [(0, 0), (1, 0), (0, -1)] and {
        text for *_, text in texts
    } == {"2"}
    # log2
    assert parts(overlay, hv.QuadMesh)[0].dimension_values(2, flat=False)[0].tolist()[
        0
    ] == pytest.approx(1)
    rows = [actual for _, actual in overlay.opts.get("plot", backend="matplotlib").kwargs["yticks"]]
    assert rows == ["unchanged\ncounts", "every count\n5 times"]
    (picture,) = (one for one in pictures(runs) if one.name.startswith("overtaking"))
    assert len(picture.rows) == 3 and draw_view("overtaking", pair()) == []


def test_the_pictures_are_drawn_without_a_warning():
    (view,) = (view for view in VIEWS if view.name == "frontier")
    picture = frontier_picture(table(), view)
    assert (
        draw(picture.panels, 2, ("svg",), picture.legend, picture.height)["svg"].count(b"<svg") == 1
    )
