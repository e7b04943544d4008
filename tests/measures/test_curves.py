"""Mean curves against values worked out by hand, smoothed curves, and moves and hyperparameters as runs recorded them."""

import numpy as np
import pytest
from comparisons import made_up, tiny_run

from workbench.measures import (
    MeasureError,
    describe_moves,
    hyperparameters,
    learnt_by,
    mean_curves,
    moves,
    spec_of,
)
from workbench.measures.curves import smoothed


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
        MeasureError, match="axis must be one of iteration, updates, elapsed, cpu_time"
    ):
        mean_curves(made_up("cgs", [3]), "test_perplexity", "weeks")


# ---------------------------------------------------------------------- smoothed curves


def twin(values, weight):
    """The loop of TensorBoard: an average that begins at zero, divided by what it weighs so far."""
    result, last, n = [], 0.0, 0
    for value in values:
        if np.isfinite(value):
            last, n = last * weight + (1 - weight) * value, n + 1
            value = last / (1 - weight**n)
        result.append(value)
    return np.array(result)


@pytest.mark.parametrize("weight", [0.01, 0.6, 0.99])
def test_smoothed_equals_the_average_of_tensorboard(weight):
    values = np.random.default_rng(0).normal(2000, 50, 300)
    values[[0, 17, 299]] = np.nan, np.inf, np.nan
    # two orders of adding up
    np.testing.assert_allclose(smoothed(values, weight), twin(values, weight), rtol=1e-9)


def test_smoothed_stays_within_the_values_and_keeps_constants():
    np.testing.assert_allclose(smoothed(np.full(5, 7.0), 0.9), 7.0)
    values = np.array([3.0, 1.0, 2.0])
    assert smoothed(values, 0.5)[0] == 3.0 and smoothed(values, 0.0).tolist() == values.tolist()
    assert len(smoothed(np.empty(0), 0.5)) == 0


@pytest.mark.parametrize("weight", [1.0, -0.1, np.nan])
def test_smoothed_refuses_weights_outside_their_range(weight):
    with pytest.raises(ValueError, match="from 0 to below 1"):
        smoothed(np.ones(3), weight)


# ---------------------------------------------------------------------- moves and hyperparameters as runs recorded them


def moved(n_iterations: int = 6):
    """A run that tried a split, a merge and another split."""
    rows = {
        "move": [0, 1, 0, 2, 0, 1],
        "move_accepted": [0, 1, 0, 0, 0, 1],
        "move_gain": [0, 12.44, 0, -1234.5, 0, 0.26],
        "move_from": [-1, 3, -1, 1, -1, 0],
        "move_to": [-1, 17, -1, 0, -1, 5],
        "bound": [-9, -8, -7, -6, -5, -4],
    }
    run = made_up("cv-hdp", [2.0] * n_iterations)
    return run.assign(
        {name: ("iteration", np.array(values, float)) for name, values in rows.items()}
    )


def test_moves_are_in_order():
    assert [(move.iteration, move.text) for move in moves(moved())] == [
        (2, "split 3 → 17, +12.4 nats, kept"),
        (4, "merge 1 → 0, −1,234.5 nats, undone"),
        (6, "split 0 → 5, +0.26 nats, kept"),
    ]
    assert describe_moves(moves(moved())) == "3 tried, 2 kept (2 splits)"
    assert describe_moves(moves(moved())[1:2]) == "1 tried, 0 kept"
    assert moves(made_up("cgs", [1])) == []


def test_hyperparameters_of_an_hdp_say_how_concentrations_are_learnt():
    result = {each.name: each for each in hyperparameters(tiny_run("cv-hdp"))}
    assert {name: each.method for name, each in result.items()} == {
        "alpha_total": "posterior",
        "beta_total": "fixed",
        "top_concentration": "posterior",
    }
    for name, each in result.items():
        assert each.values.tolist() == [tiny_run("cv-hdp")[name].values[-1]]
    assert learnt_by(tiny_run("cv-hdp")) == ["alpha_total", "top_concentration"]
    assert {each.method for each in hyperparameters(tiny_run("g-hdp"))} == {"sampled", "fixed"}


def test_hyperparameters_of_lda_have_method_and_final_values():
    fixed = made_up("cvb", [2, 1])
    assert [(each.name, each.method, each.values.tolist()) for each in hyperparameters(fixed)] == [
        ("alpha", "fixed", [0.1]),
        ("beta", "fixed", [0.1]),
    ]
    assert learnt_by(fixed) == []
    options = spec_of(fixed).options | {"learn_alpha": "maximised", "learn_beta": "sampled"}
    learning = made_up("cvb", [2, 1], options=options).assign(
        alpha=(("iteration", "topic"), [[0.1, 0.1], [0.3, 0.5]]), beta=("iteration", [0.1, 0.02])
    )
    assert [
        (each.name, each.method, each.values.tolist()) for each in hyperparameters(learning)
    ] == [
        ("alpha", "maximised", [0.3, 0.5]),
        ("beta", "sampled", [0.02]),
    ]
    assert learnt_by(learning) == ["alpha", "beta"]
