"""Figures of runs with long labels, as those that learn their priors or begin from others have."""

from itertools import pairwise

import numpy as np
import pytest

from workbench.measures import Curve
from workbench.report.drawing import _figure
from workbench.views.elements import looks, overlay

LABELS = [f"cv-hdp learn_beta=True learn_tau=True moves_every={n}, K=12" for n in range(1, 14)]


def panel(labels, title=""):
    """Rising lines, one a label."""
    x = np.arange(3.0)
    curves = [
        Curve(label, label, x, x + at, np.full(3, np.nan), 1) for at, label in enumerate(labels)
    ]
    return overlay(curves, "test_perplexity", "iteration", looks(labels), title)


def boxes(figure):
    """(panel, 4) left, bottom, right, top of panels and of the legend in inches, once laid out."""
    figure.draw_without_rendering()
    parts = [axes.get_window_extent() for axes in figure.axes] + [
        legend.get_window_extent() for legend in figure.legends
    ]
    return np.array([box.extents for box in parts]) / figure.dpi


def test_a_legend_of_many_lines_leaves_the_panels_their_height():
    few, many = (
        boxes(_figure([panel(LABELS[:1])] * 2, 2, True, None)),
        boxes(_figure([panel(LABELS)] * 2, 2, True, None)),
    )
    # two lines are what every figure has room for: panels give way to them, as they did, and to nothing more
    heights = many[:2, 3] - many[:2, 1]
    assert (heights > 0.7 * (few[0, 3] - few[0, 1])).all()
    assert many[2, 1] >= many[:2, 3].max()  # the legend stands above the panels, not on them


@pytest.mark.parametrize(
    ("name", "largest", "message", "tick"),
    [
        ("log joint (nats)", -2.2e6, "log joint (10⁶ nats)", "−2"),
        ("updates", 3e5, "updates (10³)", "200"),
        ("perplexity", 90_000.0, "perplexity", "80000"),
        ("bound (of all) (nats)", 4e9, "bound (of all) (10⁹ nats)", "2"),
    ],
)
def test_large_numbers_stand_in_thousands_that_the_name_of_the_axis_says(
    name, largest, message, tick
):
    curve = Curve("svb", "svb", np.arange(3.0), np.linspace(0, largest, 3), np.full(3, np.nan), 1)
    drawn = overlay([curve], "test_perplexity", "iteration", looks(["svb"])).opts(
        ylabel=name, clone=True, backend="matplotlib"
    )
    figure = _figure([drawn], 2, True, None)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert axes.get_ylabel() == message and axes.yaxis.get_offset_text().get_text() == ""
    assert (
        tick in [label.get_text() for label in axes.get_yticklabels()]
        and axes.get_xlabel() == "iteration"
    )


def test_names_that_are_wider_than_the_page_stand_in_several_lines():
    wide, name = panel(LABELS[:2]), "topics with a hundredth of the tokens or more"
    figure = _figure([wide.opts(ylabel=name, clone=True, backend="matplotlib")], 1, True, 2.1)
    (axes,), (legend,) = figure.axes, figure.legends
    figure.draw_without_rendering()
    assert [" ".join(text.get_text().split()) for text in legend.get_texts()] == LABELS[:2]
    assert " ".join(axes.get_ylabel().split()) == name
    for part in (legend, axes.yaxis.label):
        left, low, right, high = part.get_window_extent().extents / figure.dpi
        assert (
            left >= 0
            and right <= figure.get_figwidth()
            and low >= 0
            and high <= figure.get_figheight()
        )


def test_long_titles_of_panels_stand_in_several_lines_and_do_not_touch():
    figure = _figure([panel(["a"], label) for label in LABELS[:6]], 2, True, None)
    panels = boxes(figure)[:6]
    assert (panels[:, 3] - panels[:, 1] > 1.0).all()
    spans = [axes.title.get_window_extent().extents for axes in figure.axes]
    assert all(
        left[2] < right[0] for row in (spans[:3], spans[3:]) for left, right in pairwise(row)
    )
    assert " ".join(figure.axes[0].get_title().split()) == LABELS[0]
