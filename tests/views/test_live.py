"""Every picture is drawn once, and shown by both back ends."""

from itertools import chain

import numpy as np
import pytest
from bokeh.core.validation import check_integrity
from bokeh.models import Title
from comparisons import tiny_comparison, tiny_run
from short_runs import run_of

import workbench as wb
from workbench.engines import ENGINES, get_engine
from workbench.measures import MeasureError
from workbench.report.drawing import draw
from workbench.views import Picture, pictures
from workbench.views.elements import element, panel

hv = pytest.importorskip("holoviews")
pn = pytest.importorskip("panel")
live = pytest.importorskip("workbench.views.live")


SEEN: set[tuple] = set()
"""Model and name of the pictures that an engine before has had drawn, and names of those that were written to files, which
takes most of the time and is the same code for all models."""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_picture_of_a_run_is_drawn_by_both_back_ends(engine):
    run = run_of(engine)
    by_name = {one.name.replace(engine, ""): one for one in pictures([run])}
    of_model = {(get_engine(engine).model, name): one for name, one in by_name.items()}
    assert by_name
    drawn = [one for name, one in of_model.items() if name not in SEEN]
    to_files = [one for name, one in by_name.items() if (name,) not in SEEN]
    SEEN.update(of_model, ((name,) for name in by_name))
    before = [draw(one.panels, 2, ("svg",), one.legend, one.height) for one in to_files]
    for one in drawn:
        made = live.figures_of(one)
        assert len(made) == len(one.panels)
        assert not check_integrity(set().union(*(each.references() for each in made))).error
    assert before == [draw(one.panels, 2, ("svg",), one.legend, one.height) for one in to_files]


def test_a_live_picture_has_the_look_of_the_one_in_files():
    (picture,) = [
        one for one in pictures(tiny_comparison()) if one.name == "perplexity-by-iterations"
    ]
    state, average = live.figures_of(picture)
    curves = [each for each in picture.panels[0] if type(each) is hv.Curve]
    options = [hv.Store.lookup_options("matplotlib", each, "style").kwargs for each in curves]
    glyphs = [each.glyph for each in state.renderers if type(each.glyph).__name__ == "Line"]
    assert [each.line_color for each in glyphs] == [each["color"] for each in options]
    dashes = {"-": [], "--": [6], ":": [2, 4]}
    assert [each.line_dash for each in glyphs] == [dashes[each["linestyle"]] for each in options]
    assert state.xaxis[0].axis_label == "iteration" and len(state.legend[0].items) == 3


def test_long_names_of_rows_and_of_their_axis_leave_room_on_a_narrow_page():
    name, axis = (
        "svb-cgs r=3 warm merge 1 2, K=9, alpha=1",
        "difference from " + "the reference " * 3,
    )
    marks = element("Scatter", ([1.0, 2.0], [0.0, -1.0]), axis, "place")
    picture = Picture("rows", "Rows", "", [panel([marks], yticks=[(0, name), (-1, "cgs")])])
    (drawn,) = live.figures_of(picture)
    names = set(drawn.yaxis[0].major_label_overrides.values())
    assert names == {"svb-cgs r=3 warm merge 1\n2, K=9, alpha=1", "cgs"}
    assert len(drawn.xaxis[0].axis_label.splitlines()) == 2


@pytest.mark.slow
def test_a_picture_of_several_runs_has_a_legend_on_the_page_if_it_has_one_in_files():
    for picture in pictures(tiny_comparison()):
        named = [
            picture.legend and any(part.label for part in each if type(part) is hv.Curve)
            for each in picture.panels
        ]
        drawn = [any(each.items for each in one.legend) for one in live.figures_of(picture)]
        assert drawn == named, picture.name


def test_cells_of_a_mesh_keep_their_places_beside_their_hover_texts():
    values = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    mesh = element("QuadMesh", ([0, 1, 2], [0, -1], values), ["x", "y"], vdims="z")
    texts = [f"{value:g}" for value in values[::-1].ravel()]
    picture = Picture("mesh", "Mesh", "", [panel([mesh])], hover={"QuadMesh": [texts]})
    (drawn,) = live.figures_of(picture)
    cells = drawn.renderers[0].data_source.data
    found = {
        (left + 0.5, bottom + 0.5): (z, told)
        for left, bottom, z, told in zip(
            cells["left"], cells["bottom"], cells["z"], cells["told"], strict=True
        )
    }
    assert found == {
        (x, -y): (values[y, x], f"{values[y, x]:g}") for y in range(2) for x in range(3)
    }


def test_circles_of_the_map_have_areas_in_proportion_to_sizes():
    (picture,) = [one for one in pictures([tiny_run("cgs")]) if one.name.startswith("topic-map")]
    drawn, _ = live.figures_of(picture)
    (circles,) = live.with_topics(drawn)
    area = next(circles.data[name] for name in circles.data if "size" in name) ** 2
    assert area / circles.data["share"] == pytest.approx(area[0] / circles.data["share"][0])


def test_a_tap_says_the_topic_and_a_chosen_topic_is_marked():
    (picture,) = [one for one in pictures([tiny_run("cgs")]) if one.name.startswith("topic-map")]
    card = live.PictureCard()
    card.draw(picture)
    (source,) = chain(*(live.with_topics(pane.object) for pane in card.figure))
    card.chosen = 1
    assert source.data[live.TOPIC][source.selected.indices[0]] == 1
    source.selected.indices = [0]
    assert card.chosen == source.data[live.TOPIC][0]
    source.selected.indices = []
    assert card.chosen == live.NONE


def test_a_view_in_a_notebook_is_drawn_anew_when_a_control_is_set():
    run = run_of("bn-gibbs")
    shown = wb.views.show(run, "distributions")
    (before,), (menu,) = shown.select(pn.pane.Bokeh), shown.select(pn.widgets.Select)
    menu.value = menu.options[-1]
    (after,) = shown.select(pn.pane.Bokeh)
    assert after.object.select_one(Title).text != before.object.select_one(Title).text
    with pytest.raises(MeasureError, match="view must be one of"):
        wb.views.show(run, "maps")
    with pytest.raises(MeasureError, match="nothing to draw"):
        wb.views.show(run, "topic-map")


def test_a_name_with_markup_is_shown_as_text_among_choices():
    # the browser takes the entries of a MultiChoice for HTML
    from workbench.views.live import PictureCard
    from workbench.views.picture import Choice

    choice = Choice("topics", "Topics", (("3 · <b>sport & more</b>", 3),), "all")
    widget = PictureCard().offer([choice])["topics"]
    assert widget.options == {"3 · &lt;b&gt;sport &amp; more&lt;/b&gt;": 3}
