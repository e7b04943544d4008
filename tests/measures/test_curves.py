"""Quantities and curves by iteration and by number of topics, worked out by hand; moves and hyperparameters as recorded."""

import math
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, tiny_run

from workbench.measures import (
    TOPIC_NUMBERS,
    MeasureError,
    against_topics,
    bound_of,
    describe_moves,
    final,
    hyperparameters,
    labels_of,
    learnt_by,
    mean_curves,
    moves,
    n_tokens,
    quantity,
    runs_by_curve,
    spec_of,
    summary,
    time_to,
    topic_counts,
    topics_by_size,
)
from workbench.measures.curves import smoothed
from workbench.models import topic_numbers


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


# ---------------------------------------------------------------------- what follows from what a run recorded


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


# ---------------------------------------------------------------------- last values against the number of topics


def run(engine, n_topics, last=-3.0, seed=0, start=None, alpha=0.1, **changes):
    """A run of so many topics whose held-out tokens have this mean log p at its last iteration."""
    model = {"n_topics": n_topics} | ({} if "hdp" in engine else {"alpha": alpha, "beta": 0.1})
    made = made_up(engine, np.exp([-last + 1, -last]), seed=seed, model=model, **changes)
    spec = spec_of(made)
    if start is not None:
        parent = spec_of(start)
        taken = {
            "name": start.attrs["name"],
            "hash": parent.hash,
            "iteration": 2,
            "counts": f"{parent.hash}{n_topics}",
        }
        spec = replace(spec, start=taken)
    return made.assign_attrs(
        name=f"{engine}-{n_topics}-{seed}-{spec.hash[:6]}", spec=spec.to_json()
    )


def test_seeds_are_averaged_at_each_number_of_topics_in_rising_order():
    (curve,) = against_topics(
        [
            run("cgs", 20, -2),
            run("cgs", 10, -3),
            run("cgs", 10, -5, seed=1),
            run("cgs", 20, -2, seed=1),
        ]
    )
    assert (curve.label, curve.n_runs) == ("cgs", 2)
    assert curve.x.tolist() == [10, 20]
    np.testing.assert_allclose(curve.y, [-4, -2], rtol=1e-14)  # a logarithm of an exponential
    np.testing.assert_allclose(curve.error, [1, 0], atol=1e-14)  # half the distance of two values


def test_against_topics_has_no_error_for_one_run_and_one_curve_per_engine():
    lda, hdp = against_topics([run("cgs", 10), run("cv-hdp", 40, -2.5)])
    assert np.isnan(lda.error).all() and np.isnan(hdp.error).all()
    assert (lda.label, lda.x.tolist()) == ("cgs", [10]) and (hdp.label, hdp.x.tolist()) == (
        "cv-hdp",
        [40],
    )


def test_against_topics_places_hdp_samplers_at_their_mean_number_of_topics_after_burn_in():
    runs = [
        run("g-hdp", 1, seed=seed, burn_in=1).assign(n_active_topics=("iteration", [100.0, result]))
        for seed, result in enumerate([7.0, 9.0])
    ]
    (curve,) = against_topics(runs)
    assert curve.label == "g-hdp, 1 at the start" and curve.x.tolist() == [8] and curve.n_runs == 2
    begun = runs[0].assign_attrs(spec=replace(spec_of(runs[0]), burn_in=10).to_json())
    assert against_topics([begun])[0].x.tolist() == [7]  # the last one, while burn-in lasts
    other = against_topics([*runs, run("g-hdp", 100, burn_in=1)])
    assert [one.label for one in other] == ["g-hdp, 1 at the start", "g-hdp, 100 at the start"]


def test_labels_leave_out_settings_that_follow_from_the_number_of_topics():
    (curve,) = against_topics([run("cgs", n, alpha=50 / n) for n in (10, 20)])
    assert curve.label == "cgs" and len(curve.x) == 2
    curves = against_topics([run("cgs", n, alpha=alpha) for n in (10, 20) for alpha in (0.1, 1.0)])
    assert [curve.label for curve in curves] == ["cgs, alpha=0.1", "cgs, alpha=1"]


def test_a_warm_sweep_is_one_curve_with_its_cold_first_run():
    first = run("cvb", 10, -4)
    second = run("cvb", 20, -3, start=first)
    third = run("cvb", 40, -2, start=second)
    (curve,) = against_topics([first, second, third])
    assert curve.label == "cvb warm" and curve.x.tolist() == [10, 20, 40]
    np.testing.assert_allclose(curve.y, [-4, -3, -2], rtol=1e-14)
    lines = runs_by_curve([first, run("cvb", 20, -3.5), second, third])
    assert {label: len(runs) for label, runs in lines.items()} == {"cvb": 2, "cvb warm": 3}


def test_a_warm_start_from_another_engine_is_not_part_of_its_curve():
    parent = run("cgs", 10)
    lines = runs_by_curve(
        [parent, run("cvb", 20, start=parent), run("svb", 10, start=run("vb", 10))]
    )
    assert list(lines) == ["cgs", "cvb warm, from cgs", "svb warm"]


def test_labels_of_warm_hdp_samplers_name_their_initial_number_of_topics():
    parent = run("cv-hdp", 10)
    lines = runs_by_curve([parent, run("g-hdp", 12, start=parent)])
    assert list(lines) == ["cv-hdp", "g-hdp warm, 12 at the start, from cv-hdp"]


def test_against_topics_divides_bounds_by_tokens_and_leaves_out_runs_without_a_bound():
    bound = run("svb", 10).assign(bound=("iteration", [-40.0, -20.0]))  # 4 tokens
    both = run("cvb", 10).assign(
        bound=("iteration", [-40.0, -20.0]), collapsed_bound=("iteration", [-40.0, -16.0])
    )
    curves = against_topics([run("cgs", 10), bound, both], "bound_per_token")
    assert {curve.label: curve.y.tolist() for curve in curves} == {"svb": [-5], "cvb": [-4]}


# ---------------------------------------------------------------------- runs of the HDP beside runs of LDA

WIDER = {"n_topics": 2, "alpha": 0.5, "beta": 0.1}


def test_labels_ignore_priors_that_one_of_the_models_lacks():
    assert labels_of([made_up("cgs", [1]), made_up("cv-hdp", [1]), made_up("g-hdp", [1])]) == [
        "cgs",
        "cv-hdp",
        "g-hdp",
    ]
    runs = [made_up("cgs", [1]), made_up("cgs", [1], model=WIDER), made_up("cv-hdp", [1])]
    assert labels_of(runs) == ["cgs, alpha=0.1", "cgs, alpha=0.5", "cv-hdp"]


def test_an_hdp_is_compared_with_lda_of_the_same_number_of_topics():
    more = {"n_topics": 3, "alpha": 0.1, "beta": 0.1}
    runs = [made_up("cgs", [5], model=more), made_up("cgs", [4]), made_up("cv-hdp", [3])]
    table = summary(runs)
    assert table["reference"].values.tolist() == ["cgs, K=2"] * 3  # the best of cgs
    assert table["difference"].values.tolist() == [1, 0, -1]
    assert summary([made_up("svb", [4]), made_up("cv-hdp", [5])])["reference"].values.tolist() == [
        "svb",
        "svb",
    ]


def test_used_topics_of_an_hdp_are_those_with_a_token():
    n_kw = np.array([[0.0, 0.0], [1.0, 0.0], [200.0, 99.0], [0.3, 0.2]])
    counts = {
        "n_kw": (("snapshot", "topic", "word"), n_kw[None]),
        "n_k": (("iteration", "topic"), n_kw.sum(axis=1)[None]),
    }
    counts["phi"] = (("topic", "word"), n_kw)  # only has to be there
    labels = {
        "snapshot_iteration": ("snapshot", [1]),
        "word": ["a", "b"],
        "iteration": [1],
        "topic": range(4),
    }
    for engine, shown in (("g-hdp", [2, 1]), ("cgs", [2, 1, 3, 0])):
        assert topics_by_size(xr.Dataset(counts, labels, made_up(engine, [1]).attrs)) == shown


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: mean_curves(made_up("cgs", [3]), "test_perplexity", "weeks"),
            MeasureError,
            "axis must be one of iteration, updates, elapsed, cpu_time",
        ),
        (
            lambda: against_topics([run("cgs", 10)], "phi"),
            MeasureError,
            "measure must be one of log_likelihood, bound_per_token, ",
        ),
        *(
            (lambda weight=weight: smoothed(np.ones(3), weight), ValueError, "from 0 to below 1")
            for weight in (1.0, -0.1, np.nan)
        ),
    ],
)
def test_curves_refuse_unknown_names_and_weights(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
