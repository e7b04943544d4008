"""Last values against the number of topics, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up

from workbench.measures import (
    MeasureError,
    against_topics,
    labels_of,
    runs_by_curve,
    spec_of,
    summary,
    topics_by_size,
)


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


def test_against_topics_refuses_an_unknown_measure():
    with pytest.raises(
        MeasureError,
        match="measure must be one of log_likelihood, bound_per_token, ",
    ):
        against_topics([run("cgs", 10)], "phi")


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
