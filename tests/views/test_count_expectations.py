"""One count: what the HoloViews elements hold, and that they are drawn."""

import numpy as np
import pytest

from workbench.measures.count_expectations import (
    APPROXIMATIONS,
    FUNCTIONS,
    count_expectations,
    error_map,
)
from workbench.report.drawing import draw, inline_svg
from workbench.views.count_expectations import (
    FORMULAS,
    LARGEST,
    NAMES,
    SMALLEST,
    distribution_view,
    error_map_view,
    errors_view,
    microscope_picture,
)

hv = pytest.importorskip("holoviews")

FOUND = count_expectations([0.9, 0.9, 0.5, 1e-9, 1e-9, 1e-9, 1e-9], 0.1)


def of_kind(overlay, kind):
    (result,) = (part for part in overlay if isinstance(part, kind))
    return result


def test_every_function_and_approximation_has_a_name():
    assert set(NAMES) == set(APPROXIMATIONS) and set(FORMULAS) == set(FUNCTIONS)


def test_lines_are_the_exact_distribution_and_marks_the_normal_one():
    overlay = distribution_view(FOUND)
    lines, marks = of_kind(overlay, hv.Segments).array(), of_kind(overlay, hv.Points).array()
    n = lines[:, 0].astype(int)
    assert n.tolist() == [0, 1, 2, 3, 4, 5]  # six and seven have less than 1e-5 of both
    np.testing.assert_array_equal(lines[:, 3], FOUND["probability"].values[n])
    np.testing.assert_array_equal(marks[:, 1], FOUND["gaussian"].values[n])


def test_errors_view_has_a_row_per_approximation_with_its_absolute_error():
    marks = of_kind(errors_view(FOUND, "digamma"), hv.Points).array()
    expected = abs(FOUND["error"].sel(function="digamma").values[1:])
    np.testing.assert_allclose(marks[:, 0], np.maximum(expected, SMALLEST))
    assert marks[:, 1].tolist() == [0, -1, -2, -3]
    certain = of_kind(errors_view(count_expectations([1.0], 0.1), "log"), hv.Points).array()
    assert (certain[:, 0] == SMALLEST).all()


def test_the_map_has_the_logarithms_of_the_errors_and_a_mark_within_it():
    errors = error_map("log", "second", 6, np.geomspace(0.1, 6, 5), np.geomspace(0.01, 10, 4))
    overlay = error_map_view(errors, 3.0, 1e-8)
    mesh, mark = of_kind(overlay, hv.QuadMesh), of_kind(overlay, hv.Points)
    size = mesh.dimension_values("size", flat=False)
    np.testing.assert_allclose(size, np.log10(np.clip(abs(errors.values), SMALLEST, LARGEST)))
    assert mark.array().tolist() == [[3.0, 0.01]]
    assert not any(isinstance(part, hv.Points) for part in error_map_view(errors))


@pytest.mark.parametrize(
    "q",
    [[0.5], [1.0, 1.0], [0.0], [0.3] * 40],
    ids=["one token", "certain", "none", "forty tokens"],
)
def test_microscope_picture_has_the_error_in_the_hover_text_of_each_cell(q):
    result = count_expectations(q, 0.1)
    picture = microscope_picture(result, "exp_digamma")
    assert len(picture.panels) == 1 + len(APPROXIMATIONS) and f"{len(q)} tokens" in picture.caption
    svg = draw(picture.panels, 2, ("svg",), picture.legend, picture.height)["svg"].decode()
    shown = inline_svg(svg, picture.name, picture.title, picture.hover)
    name, prior, mean, error = picture.rows[-1]
    assert (
        name == "improved"
        and f"<title>prior {prior:.2g}, mean {mean:.2g}: error {error:+.3g}</title>" in shown
    )
    assert shown.count("<title>") == len(picture.rows) and "mathdefault" not in svg
