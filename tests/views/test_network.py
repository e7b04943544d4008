"""The picture of a network, without pixels."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.models.networks.network import Level, Network, Rows, Variable
from workbench.models.networks.shipped import SHIPPED
from workbench.report.drawing import _figure, draw, option
from workbench.views.network import HALF_HEIGHT, HALF_WIDTH, drawing_of, network_view

pytest.importorskip("holoviews")
MODELS = pytest.mark.parametrize(
    "network", [Network.of(name) for name in SHIPPED], ids=list(SHIPPED)
)


def gated() -> Network:
    """A switch that only decides whether topics are visited, one level known, one estimated."""
    return Network(
        "gated",
        (Variable("switch", 2, ("common", "own")), Variable("topic", 3)),
        (
            Level("gate", "switch", (Rows(),), kind="observed", table=((0.5, 0.5),)),
            Level("theta", "topic", (Rows(("document",), (("switch", "own"),)),)),
            Level(
                "phi",
                "word",
                (Rows((), (("switch", "common"),)), Rows(("topic",), (("switch", "own"),))),
                kind="point",
            ),
        ),
    )


def parts(view) -> dict:
    """Element by its label."""
    return {each.label: each for each in view}


@MODELS
def test_network_view_has_an_ellipse_per_level_and_an_arrow_per_dependence(network):
    drawing = drawing_of(network)
    assert list(drawing.positions) == [level.name for level in network.levels]
    actual = sorted(
        (level.name, name)
        for level in network.levels
        for name in {
            *(name for rows in level.rows for name in rows.by),
            *(name for rows in level.rows for name, *_ in rows.when),
        }
    )
    n_words = 2 if network.name == "polylingual" else 1
    result = sorted(
        (ends_at(drawing, arrow), arrow.name.split(" ")[0]) for arrow in drawing.arrows[:-n_words]
    )
    words = [arrow.name for arrow in drawing.arrows[-n_words:]]
    assert result == actual
    assert words == (["word"] if n_words == 1 else ["word of a prefix", "word of another"])


def ends_at(drawing, arrow) -> str:
    """The level whose ellipse the arrow touches with its head."""
    (end,) = [
        name
        for name, (x, y) in drawing.positions.items()
        if np.allclose(arrow.path[-1], (x - HALF_WIDTH, y))
    ]
    return end


@MODELS
def test_an_arrow_leaves_the_level_that_draws_its_variable(network):
    drawing = drawing_of(network)
    drawn_by = {level.draws: drawing.positions[level.name] for level in network.levels}
    for arrow in drawing.arrows:
        name = arrow.name.split(" ")[0]
        if name != "document":
            x, y = drawn_by[name]
            assert np.allclose(arrow.path[0], (x + HALF_WIDTH, y))


def test_an_arrow_is_dotted_where_its_variable_only_decides():
    lines = parts(network_view(gated()))
    arrows = [(each.name, each.chooses) for each in drawing_of(gated()).arrows]
    assert arrows == [
        ("document", True),
        ("switch (2)", False),
        ("topic (3)", True),
        ("switch (2)", False),
        ("word", True),
    ]
    assert (
        option_of(lines["switch (2)"], "linestyle") == ":"
        and option_of(lines["topic (3)"], "linestyle") == "-"
    )


def option_of(element, name: str):
    import holoviews as hv

    return hv.Store.lookup_options("matplotlib", element, "style").kwargs[name]


def test_known_estimated_and_dirichlet_levels_look_different():
    ellipses = parts(network_view(gated()))
    assert len({option_of(ellipses[name], "facecolor") for name in ("gate", "theta", "phi")}) == 3


def test_network_view_has_rows_and_values_below_the_ellipses():
    rows = drawing_of(Network.of("hpam2", n_topics=4, sizes={"super": 2})).rows
    assert rows == {
        "theta0": "1 row a document\nof 3",
        "theta1": "2 rows a document\nof 5",
        "phi": "7 rows\nof words",
    }
    unknown = Network.of("author-topic")
    known = unknown.with_authors([f"author {n}" for n in range(2037)])
    for network, text, name in (
        (unknown, "rows by author\nof 10", "author"),
        (known, "2,037 rows\nof 10", "author (2,037)"),
    ):
        drawing = drawing_of(network)
        assert drawing.rows["theta"] == text
        assert name in [arrow.name for arrow in drawing.arrows]


@MODELS
def test_everything_is_within_the_frame_and_no_names_overlap(network):
    view = network_view(network)
    height = option(view, "fig_inches")[1]
    figure = _figure([view], 2, False, height)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    frame = axes.get_window_extent().extents
    boxes = np.array(
        [text.get_window_extent().extents for text in axes.texts if text.get_text().strip()]
    )
    assert (boxes[:, :2] >= frame[:2] - 1).all() and (boxes[:, 2:] <= frame[2:] + 1).all()
    for at, box in enumerate(boxes):
        shared = np.minimum(boxes[at + 1 :, 2:], box[2:]) - np.maximum(boxes[at + 1 :, :2], box[:2])
        assert not (shared > 0.5).all(axis=1).any()


@MODELS
def test_no_ellipse_covers_another_and_bows_pass_over_what_lies_between(network):
    drawing = drawing_of(network)
    centres = np.array(list(drawing.positions.values()))
    difference = np.abs(centres[:, None] - centres[None]) / (
        2 * np.array([HALF_WIDTH, HALF_HEIGHT])
    )
    assert all((difference[i, j] > 1).any() for i in range(len(centres)) for j in range(i))
    for arrow in drawing.arrows:
        inside = ((arrow.path[1:-1, None] - centres) / (HALF_WIDTH, HALF_HEIGHT)) ** 2
        assert (inside.sum(axis=2) > 1).all(), arrow.name


def test_the_same_network_gives_the_same_bytes():
    network = Network.of("pachinko")
    assert draw([network_view(network)], 2, ("svg",)) == draw([network_view(network)], 2, ("svg",))


def test_a_network_of_a_single_level_is_drawn():
    network = Network("unigrams", (), (Level("phi", "word", (Rows(),)),))
    assert [arrow.name for arrow in drawing_of(network).arrows] == ["word"]
    assert draw([network_view(network, "unigrams")], 1, ("svg",))["svg"].startswith(b"<?xml")


def test_each_leaf_has_an_arrow_of_its_own():
    lda = Network.of("lda")
    levels = lda.levels[0], replace(lda.levels[1], leaves=("de:", "tag:"))
    arrows = drawing_of(replace(lda, levels=levels)).arrows[-3:]
    assert [arrow.name for arrow in arrows] == ["word de:", "word tag:", "word"]
    assert len({arrow.path[-1][1] for arrow in arrows}) == 3
    assert len({tuple(arrow.path[0]) for arrow in arrows}) == 1
