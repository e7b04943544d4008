"""Views of correlations of topics: the matrix, its frames and hover texts, and the arcs."""

import numpy as np
import pytest
import xarray as xr

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
