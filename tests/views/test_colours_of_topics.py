"""Colours and descriptions that people gave topics, in figures, on the map and in reports."""

import pytest
from comparisons import tiny_run
from matplotlib.colors import to_hex

from workbench.report.drawing import _figure
from workbench.report.tables import topic_tables
from workbench.runs.store.edition import with_edition
from workbench.views.elements import topic_colour, topic_colours
from workbench.views.every import draw_view

COLOUR, ABOUT = "#123456", "on <tests>"


@pytest.fixture(scope="module")
def run():
    return with_edition(tiny_run("cgs"), [f"colour 1 {COLOUR}", f"describe 1 '{ABOUT}'"])


def test_topic_colours_are_those_given_by_people_else_those_of_numbers(run):
    assert [*map(topic_colours(run), range(3))] == [topic_colour(0), COLOUR, topic_colour(2)]
    assert topic_colours(tiny_run("cgs"))(1) == topic_colour(1)


def test_sizes_of_topics_are_drawn_in_their_colours(run):
    (picture,) = draw_view("topic-sizes", [run], 1, kind="stacked")
    axes = _figure(picture.panels, 1, picture.legend, picture.height).axes[0]
    drawn = {to_hex(colour) for area in axes.collections for colour in area.get_facecolor()}
    assert COLOUR in drawn and topic_colour(1) not in drawn and topic_colour(0) in drawn


def test_descriptions_are_on_the_map_and_in_reports(run):
    (picture,) = draw_view("topic-map", [run])
    names = [
        str(value)
        for element in picture.panels[0]
        for dimension in element.vdims
        for value in element.dimension_values(dimension)
    ]
    assert any(name.startswith("1 · ") and name.endswith(f": {ABOUT}") for name in names)
    (table,) = topic_tables({"cgs": run})
    assert {topic["number"]: topic["description"] for topic in table["topics"]}[1] == ABOUT
