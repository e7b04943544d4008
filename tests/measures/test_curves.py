"""Mean curves against values worked out by hand."""

import numpy as np
import pytest
from comparisons import made_up

from workbench.measures import MeasureError, mean_curves


def test_runs_of_a_label_are_averaged_where_all_have_records():
    runs = [
        made_up("cgs", [10, 8, 6], elapsed=[1, 2, 3], seed=0),
        made_up("cgs", [14, 10], elapsed=[3, 4], seed=1),
    ]
    (curve,) = mean_curves(runs, "test_perplexity", "elapsed")
    assert curve.label == curve.group == "cgs" and curve.n_runs == 2
    assert curve.x.tolist() == [2, 3]
    assert curve.y.tolist() == [12, 9]
    assert curve.error.tolist() == [2, 1]  # half the distance of two values


def test_mean_curves_have_no_error_for_one_run():
    (curve,) = mean_curves(made_up("cgs", [3, 2]), "test_perplexity")
    assert np.isnan(curve.error).all() and curve.x.tolist() == [1, 2]


def test_mean_curves_are_separate_for_runs_without_a_common_iteration():
    odd, even = (
        made_up("cgs", [4, 3, 2, 1]).isel(iteration=[0, 2]),
        made_up("cgs", [4, 3, 2, 1], seed=1).isel(iteration=[1, 3]),
    )
    curves = mean_curves([odd, even], "test_perplexity")
    assert [curve.label for curve in curves] == ["cgs, seed 0", "cgs, seed 1"]
    assert {curve.group for curve in curves} == {"cgs"}


def test_mean_curves_leave_out_runs_without_the_measure():
    assert mean_curves(made_up("cgs", [3, 2]), "bound") == []


def test_mean_curves_refuse_an_unknown_axis():
    with pytest.raises(
        MeasureError, match="no axis 'weeks'; there are iteration, updates, elapsed, cpu_time"
    ):
        mean_curves(made_up("cgs", [3]), "test_perplexity", "weeks")
