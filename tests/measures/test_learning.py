"""Moves and hyperparameters as runs recorded them."""

import numpy as np
from comparisons import made_up, tiny_run

from workbench.measures import describe_moves, hyperparameters, learnt_by, moves, spec_of


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
