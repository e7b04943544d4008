"""Views of correlations of topics: the matrix, its frames and hover texts, and the arcs."""

import re

import numpy as np
import pytest
import xarray as xr

from workbench.report.drawing import draw, inline
from workbench.views.correlations import cell_texts, correlations_graph, correlations_view

NAMES = {0: "0 · house & law", 1: "1 · court", 2: "2 · year"}


@pytest.fixture
def found():
    """Topics 0 and 2 go together (0.4), 0 and 1 avoid each other (-0.3), 1 and 2 hardly (-0.05)."""
    values = np.array([[1.0, -0.3, 0.4], [-0.3, 1.0, -0.05], [0.4, -0.05, 1.0]])
    return xr.Dataset(
        {"correlation": (("topic", "other_topic"), values)},
        {"topic": [0, 1, 2], "other_topic": [0, 1, 2]},
    )


def parts(panel, kind):
    return [one for one in panel.values() if type(one).__name__ == kind]


def framed(panel) -> set[tuple[int, int]]:
    """The cells (column, row) that have a frame, from the top left."""
    boxes = parts(panel, "Rectangles")[0].data
    return {
        (round((x0 + x1) / 2), -round((y0 + y1) / 2)) for x0, y0, x1, y1 in boxes.to_numpy()[:, :4]
    }


def order_of(found) -> list[int]:
    """The topics down the axis, as the texts of the cells name them."""
    names = {topic: str(topic) for topic in found["topic"].values.tolist()}
    return [int(text.split("\n")[0]) for text in cell_texts(found, names)[:: len(names)]][::-1]


def test_correlations_view_frames_the_strongest_or_the_selected_pairs(
    found,
):
    place = {topic: at for at, topic in enumerate(order_of(found))}

    def cells(*pairs):
        return {(place[a], place[b]) for pair in pairs for a, b in (pair, pair[::-1])}

    assert framed(correlations_view(found)) == cells((0, 2), (0, 1))
    assert framed(correlations_view(found, marked=[(1, 2)])) == cells((1, 2))


def test_cell_texts_have_both_topics_and_their_correlation(found):
    """Each cell of the SVG against the number at its place, read off its colour's sign and its own text."""
    svg = draw([correlations_view(found, NAMES)], 2, ("svg",), False, 2.0)["svg"].decode()
    page = inline(svg, "one", "title", {"QuadMesh": [cell_texts(found, NAMES)]})
    cells = re.findall(r'style="fill: (\w+|#\w+)"><title>(.*?)</title>', page, flags=re.DOTALL)
    assert len(cells) == 9 and "house &amp; law" in page
    numbers = found["correlation"].values
    for fill, text in cells:
        first, second, value = text.split("\n")
        one, other = int(first[0]), int(second[0])
        assert value == f"correlation {numbers[one, other]:+.2f}"
        if one == other:
            assert fill == "none"
        else:
            red, _, blue = (int(fill[at : at + 2], 16) for at in (1, 3, 5))
            assert (red > blue) == (numbers[one, other] > 0), text


def test_correlations_graph_connects_topics_above_the_threshold(found):
    def arcs(above):
        return {
            tuple(sorted(-round(y) for y in (arc.data["y"].iloc[0], arc.data["y"].iloc[-1])))
            for arc in parts(correlations_graph(found, NAMES, above=above), "Curve")
        }

    place = {topic: at for at, topic in enumerate(order_of(found))}
    together, difference = (tuple(sorted((place[0], place[other]))) for other in (2, 1))
    assert arcs(0.1) == {together, difference} and arcs(0.35) == {together} and len(arcs(0.01)) == 3
    alone = correlations_graph(found, above=0.9)
    assert not parts(alone, "Curve") and parts(alone, "Labels")
