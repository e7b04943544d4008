"""The panels over K: what the HoloViews elements hold."""

import numpy as np
import pytest
from comparisons import made_up

from workbench.report.drawing import draw
from workbench.views import draw_view

hv = pytest.importorskip("holoviews")


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
