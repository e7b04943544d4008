"""What follows from what a run recorded, against values worked out by hand."""

import math

import numpy as np
from comparisons import made_up, tiny_run

from workbench.measures import (
    TOPIC_NUMBERS,
    bound_of,
    final,
    mean_curves,
    n_tokens,
    quantity,
    time_to,
    topic_counts,
    topics_by_size,
)
from workbench.models import topic_numbers


def with_sizes(engine, sizes, **changes):
    """A run whose topics have these sizes, a row an iteration."""
    run, sizes = made_up(engine, [2.0] * len(sizes), **changes), np.array(sizes, float)
    topics = np.arange(sizes.shape[1])
    return (
        run.drop_vars(["n_k", "topic"])
        .assign(n_k=(("iteration", "topic"), sizes))
        .assign_coords(topic=topics)
    )


def test_numbers_of_topics_follow_their_definitions():
    run = with_sizes("cgs", [[50, 49, 1, 0], [25, 25, 25, 25], [199, 0.5, 0.5, 0], [0, 0, 0, 0]])
    result = topic_counts(run)
    assert result["n_active_topics"].values.tolist() == [3, 4, 1, 0]
    assert result["n_large_topics"].values.tolist() == [3, 4, 1, 0]
    entropy = -(0.5 * math.log(0.5) + 0.49 * math.log(0.49) + 0.01 * math.log(0.01))
    small = -(0.995 * math.log(0.995) + 0.005 * math.log(0.0025))
    np.testing.assert_allclose(
        result["effective_topics"].values, [math.exp(entropy), 4, math.exp(small), 1], rtol=1e-12
    )
    for row, sizes in enumerate(run["n_k"].values):
        assert {name: result[name].values[row] for name in TOPIC_NUMBERS} == topic_numbers(sizes)


def test_numbers_of_topics_are_those_that_an_hdp_records():
    for engine in ("cv-hdp", "g-hdp"):
        run = tiny_run(engine)
        for name, values in topic_counts(run).items():
            np.testing.assert_allclose(values.values, run[name].values, rtol=1e-12)
            assert values.attrs["long_name"] == run[name].attrs["long_name"]


def test_steps_are_recorded_or_iterations_times_topics():
    assert quantity(made_up("cgs", [3, 2, 1]), "steps").values.tolist() == [2, 4, 6]
    moved = made_up("cv-hdp", [3, 2, 1]).assign(steps=("iteration", [2, 14, 16]))
    assert quantity(moved, "steps").values.tolist() == [2, 14, 16]
    (curve,) = mean_curves(moved, "test_perplexity", "steps")
    assert curve.x.tolist() == [2, 14, 16]
    assert time_to([moved], 2.5, "steps").values.tolist() == [14]


def test_the_log_likelihood_is_minus_the_logarithm_of_the_perplexity():
    np.testing.assert_allclose(
        quantity(made_up("cgs", [math.e, 1]), "log_likelihood").values, [-1, 0], atol=1e-15
    )
    assert quantity(made_up("cgs", [1]).drop_vars("test_perplexity"), "log_likelihood") is None


def test_the_bound_of_a_token_is_the_collapsed_one_where_there_are_two():
    run = made_up("cvb", [3, 2])
    assert bound_of(run) is None and quantity(run, "bound_per_token") is None
    run = run.assign(bound=("iteration", [-8.0, -4.0]))
    assert (bound_of(run), n_tokens(run)) == ("bound", 4)
    assert quantity(run, "bound_per_token").values.tolist() == [-2, -1]
    run = run.assign(collapsed_bound=("iteration", [-6.0, -2.0]))
    assert bound_of(run) == "collapsed_bound"
    assert quantity(run, "bound_per_token").values.tolist() == [-1.5, -0.5]


def test_final_numbers_count_topics_with_a_token_of_every_engine():
    runs = [made_up("cgs", [3]), with_sizes("g-hdp", [[4, 4, 4], [3, 0, 9]])]
    assert final(runs)["n_active_topics"].values.tolist() == [2, 2]


def test_topics_of_an_hdp_without_a_token_are_not_among_those_by_size():
    for engine, kept in (("cgs", 4), ("g-hdp", 3)):
        run = tiny_run(engine).isel(topic=range(4)).copy(deep=True)
        run["n_kw"][-1, 2] = 0
        sizes = run["n_kw"].isel(snapshot=-1).sum("word").values
        shown = topics_by_size(run)
        assert len(shown) == kept and (2 in shown) == (engine == "cgs")
        assert sizes[shown].tolist() == sorted(sizes[shown], reverse=True)
