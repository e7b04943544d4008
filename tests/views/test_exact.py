"""Pictures of a toy: bars as long as the gaps and distances, cells of the exact posterior, and the tables behind them."""

import holoviews as hv
import numpy as np
import pytest
from toys import toy_a

from workbench.measures import exact
from workbench.measures.exact import against_exact
from workbench.report.drawing import draw
from workbench.views.exact import (
    bounds_picture,
    co_assignment_view,
    distances_view,
    gaps_view,
    posterior_picture,
    token_names,
)


@pytest.fixture(scope="module")
def truth():
    return exact(*toy_a())


@pytest.fixture(scope="module")
def answers(truth):
    return [against_exact(truth, *toy_a(), name, n_starts=2) for name in ("svb", "cgs", "cvb-cgs")]


def bars(overlay) -> list[float]:
    """Lengths of the bars, from the top."""
    return [float(part.data.iloc[0, 2]) for part in overlay if isinstance(part, hv.Rectangles)]


def test_a_bar_is_as_long_as_the_gap_of_its_bound(truth, answers):
    result, evidence = bars(gaps_view(answers)), float(truth["log_evidence"])
    svb, hybrid = answers[0]["bound"], float(answers[2]["bound"].sel(kind="hybrid"))
    expected = [
        *(evidence - float(svb.sel(kind=kind)) for kind in ("jensen", "collapsed", "exact")),
        evidence - hybrid,
    ]
    assert result == pytest.approx(expected) and min(result) > 0


def test_distances_view_has_one_bar_per_engine(answers):
    assert bars(distances_view(answers, "predictive_distance")) == [
        float(each["predictive_distance"]) for each in answers
    ]


def test_the_table_behind_the_bars_has_every_number(answers):
    picture = bounds_picture(answers)
    assert picture.header == [
        "engine",
        "F",
        "collapsed",
        "exact F",
        "B",
        "log_evidence",
        "predictive_distance",
        "co_assignment_distance",
        "n_attractors",
        "n_starts",
    ]
    assert [row[0] for row in picture.rows] == ["svb", "cgs", "cvb-cgs"] and len(
        picture.panels
    ) == 3
    assert np.isnan(picture.rows[1][1:5]).all() and picture.rows[0][-1] == 2
    assert "log evidence is -11.259462 nats" in picture.caption


def test_bounds_picture_of_one_token_has_no_panel_of_co_assignment(answers):
    alone = [each.assign(co_assignment_distance=np.nan) for each in answers]
    picture = bounds_picture(alone)
    assert len(picture.panels) == 2 < len(bounds_picture(answers).panels)
    assert draw(picture.panels, 2, ("svg",), picture.legend, picture.height)["svg"]


def test_cells_of_the_exact_posterior_are_named_by_document_and_word(truth):
    names, picture = token_names(truth), posterior_picture(truth)
    assert names[:4] == [*["document 0, w0"] * 3, "document 0, w1"] and len(picture.rows) == 81
    (mesh,) = (part for part in co_assignment_view(truth) if isinstance(part, hv.QuadMesh))
    cells = mesh.dimension_values("co_assignment", flat=False)
    np.testing.assert_allclose(cells, truth["co_assignment"].values[::-1])
    assert (
        picture.hover["QuadMesh"][0][0]
        == "document 1, w2\ndocument 0, w0\none topic with probability 0.2342"
    )
