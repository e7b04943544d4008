"""Final numbers, means, paired differences and times against values worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, tiny_comparison, tiny_run

from workbench.measures import (
    MeasureError,
    data_of,
    differing,
    each_run,
    final,
    in_papers_order,
    labels_of,
    lineage,
    paired_differences,
    perplexity_errors,
    reached_by_all,
    settings_of,
    spec_of,
    summary,
    time_to,
)
from workbench.measures.learning import COMMON_SETTINGS, every_setting

WIDER = {"n_topics": 20, "alpha": 0.1, "beta": 0.1}


def three_seeds():
    """cgs 100, 102, 107; svb 110, 118, 120 on the same splits and seeds."""
    return [
        made_up(engine, [200, last], seed=seed)
        for engine, finals in (("cgs", (100, 102, 107)), ("svb", (110, 118, 120)))
        for seed, last in enumerate(finals)
    ]


def test_the_last_committed_numbers_are_the_final_ones():
    last = final([made_up("cgs", [300, 250, 240], elapsed=[0.5, 1.0, 2.5])])
    assert last["test_perplexity"].values == 240
    assert last["test_perplexity_state"].values == 241
    assert last["elapsed"].values == 2.5 and last["cpu_time"].values == 5.0
    assert last["updates"].values == 300 and last["iteration"].values == 3
    assert last["elapsed"].attrs["units"] == "s"
    assert last["time_per_update"].values == 5e9 / 300  # 5 CPU seconds for 300 updates


def test_means_and_standard_errors_are_those_of_the_textbook():
    table = summary(three_seeds()).sel(label="cgs")
    assert float(table["test_perplexity"]) == 103
    # deviations -3, -1, 4: sum of squares 26, variance 13, standard error sqrt(13 / 3)
    assert float(table["test_perplexity_se"]) == pytest.approx(np.sqrt(13 / 3), abs=1e-12)
    assert int(table["n_runs"]) == 3


def test_differences_are_taken_within_pairs():
    table = paired_differences(three_seeds(), "cgs").sel(label="svb")
    # 10, 16, 13: mean 13, variance 9
    assert float(table["difference"]) == 13
    assert float(table["difference_se"]) == pytest.approx(np.sqrt(3), abs=1e-12)
    assert int(table["n_pairs"]) == 3


def test_a_run_without_its_counterpart_makes_no_pair():
    runs = [
        made_up("cgs", [100], seed=0),
        made_up("svb", [110], seed=0),
        made_up("svb", [500], seed=1),
    ]
    table = paired_differences(runs, "cgs").sel(label="svb")
    assert (float(table["difference"]), int(table["n_pairs"])) == (10, 1)
    splits = [{"fraction": 0.1, "seed": seed, "per": "corpus"} for seed in (0, 1)]
    other_split = [
        made_up("cgs", [100], train="a", split=splits[0]),
        made_up("svb", [110], train="b", split=splits[1]),
    ]
    assert np.isnan(paired_differences(other_split, "cgs")["difference"].sel(label="svb"))


def test_one_seed_has_no_standard_error():
    table = summary([made_up("cgs", [100]), made_up("svb", [110])])
    assert np.isnan(table["test_perplexity_se"]).all() and np.isnan(table["difference_se"]).all()
    assert table["difference"].values.tolist() == [0, 10]


def test_the_default_reference_is_cgs():
    runs = [made_up("svb", [110]), made_up("cgs", [100])]
    assert summary(runs).attrs["reference"] == "cgs"
    assert summary(runs, "svb")["difference"].sel(label="cgs") == -10
    assert summary(runs[:1]).attrs["reference"] == "svb"


def test_without_cgs_the_reference_is_the_best():
    runs = [made_up("svb", [110]), made_up("svb-cgs", [104]), made_up("cvb", [108])]
    table = summary(runs)
    assert table.attrs["reference"] == "svb-cgs r=1"
    assert table["difference"].values.tolist() == [6, 0, 4]
    nothing_held_out = [
        run.drop_vars([name for name in run if "perplexity" in name]) for run in runs
    ]
    assert summary(nothing_held_out).attrs["reference"] == "svb"


def test_all_labels_on_the_same_data_have_one_reference_and_an_engine_by_name_one_of_each_model():
    runs = [
        made_up(engine, [last], train=train, corpus=train, **changes)
        for train, changes, finals in (
            ("kos", {}, (100, 110)),
            ("kos", {"model": WIDER}, (90, 95)),
            ("nips", {}, (700, 720)),
        )
        for engine, last in zip(("cgs", "svb"), finals, strict=True)
    ]
    for table, differences, references in (
        (summary(runs), [10, 20, 0, 5, 0, 20], ["cgs, on kos, K=20"]),
        (summary(runs, "cgs"), [0, 10, 0, 5, 0, 20], ["cgs, on kos, K=2", "cgs, on kos, K=20"]),
    ):
        assert table["difference"].values.tolist() == differences
        assert table["n_pairs"].values.tolist() == [1] * 6
        assert table["reference"].sel(label="svb, on nips, K=2") == "cgs, on nips, K=2"
        assert table.attrs["reference"] == "; ".join([*references, "cgs, on nips, K=2"])


def test_the_reference_is_the_best_of_several_labels_of_cgs_and_other_splits_are_other_data():
    of_20, of_100 = ({"model": WIDER | {"n_topics": k}} for k in (20, 100))
    runs = [
        made_up("cvb0", [90], **of_100),
        made_up("cgs", [100], **of_20),
        made_up("cgs", [95], **of_100),
    ]
    table = summary(runs)
    assert table["reference"].values.tolist() == ["cgs, K=100"] * 3
    assert table["difference"].values.tolist() == [-5, 5, 0]
    for elsewhere in (
        {"train": "other", "corpus": "other"},
        {"test": "half", "split": {"fraction": 0.5, "per": "document", "seed": 0}},
    ):
        more = summary([*runs, made_up("cgs", [50], **elsewhere, **of_20)])
        assert [text[:3] for text in more["reference"].values.tolist()] == ["cgs"] * 4
        assert more["difference"].values.tolist() == [-5, 5, 0, 0]


def test_the_papers_order_is_variational_hybrid_gibbs():
    named = ["cgs", "cvb0-cgs", "cvb-cgs", "svb-cgs", "cvb0", "cvb", "vb", "svb"]
    runs = [
        made_up(engine, [1], train=train, corpus=train)
        for train in ("nips", "kos")
        for engine in named
    ]
    ordered = in_papers_order(runs)
    assert [run.attrs["engine"] for run in ordered] == named[::-1] * 2
    assert data_of(ordered) == ["nips"] * 8 + ["kos"] * 8


def test_time_to_a_perplexity_is_that_of_the_first_record_at_or_below_it():
    run = made_up("cgs", [300, 250, 240, 260], elapsed=[1, 2, 4, 8])
    assert time_to(run, 250).values == 2
    assert time_to(run, 245).values == 4
    assert time_to(run, 250, clock="updates").values == 200
    assert time_to(run, 250, clock="iteration").values == 2
    assert np.isnan(time_to(run, 239).values)


def test_the_perplexity_that_all_reach_is_that_of_the_slowest():
    assert reached_by_all([made_up("cgs", [300, 241.2]), made_up("svb", [900, 300.4, 310])]) == 301
    assert reached_by_all([made_up("cgs", [1612.5])]) == 1620
    assert np.isnan(reached_by_all(tiny_comparison(1, 0.0)))


def test_each_run_splits_a_comparison_into_its_runs():
    parts = each_run(tiny_comparison())
    assert len(parts) == 6
    assert "bound" in parts[0] and "log_joint" not in parts[0]
    assert "log_joint" in parts[2] and "bound" not in parts[2]
    for name in ("test_perplexity", "log_joint", "n_k"):
        np.testing.assert_array_equal(parts[2][name].values, tiny_run("cgs")[name].values)


@pytest.mark.parametrize(
    ("runs", "lengths"),
    [
        (lambda: [made_up("cgs", [3, 2, 1]), made_up("svb", [5])], [3, 1]),
        (lambda: [tiny_run("cgs"), tiny_run("cgs")], [12]),
        (lambda: [tiny_run("cgs", 5), tiny_run("cgs", 12)], [12]),
    ],
)
def test_each_run_keeps_the_longest_of_duplicates_and_the_length_of_each(runs, lengths):
    assert [run.sizes["iteration"] for run in each_run(runs())] == lengths


def test_labels_have_exactly_the_settings_that_differ():
    assert labels_of([made_up("cgs", [1]), made_up("svb", [1], seed=4)]) == ["cgs", "svb"]
    wider = made_up("cgs", [1], model=WIDER)
    assert labels_of([made_up("cgs", [1]), wider]) == ["cgs, K=2", "cgs, K=20"]
    assert labels_of([made_up("cgs", [1]), made_up("cgs", [1], n_threads=2)]) == [
        "cgs, 1 thread",
        "cgs, 2 threads",
    ]
    in_shards = [made_up("cgs", [9]), made_up("cgs", [8], shards=7)]
    assert labels_of(in_shards) == ["cgs", "cgs, in 7 shards"]
    assert summary(in_shards)["n_runs"].values.tolist() == [1, 1], "one seed is not counted twice"
    assert labels_of([made_up("cgs", [1]), made_up("cgs", [1], test=None)]) == [
        "cgs",
        "cgs, held out nothing",
    ]


def test_split_seeds_are_repetitions_but_other_documents_are_not():
    splits = [
        made_up(
            "cgs", [1], train=f"s{seed}", split={"fraction": 0.1, "seed": seed, "per": "corpus"}
        )
        for seed in (0, 1)
    ]
    assert labels_of(splits) == ["cgs", "cgs"]
    assert int(summary(splits)["n_runs"][0]) == 2
    split = {"fraction": 0.1, "seed": 0, "per": "corpus"}
    others = [made_up("cgs", [1], train=train, split=split) for train in ("aaaa", "bbbb")]
    assert labels_of(others) == ["cgs, on made up aaaa", "cgs, on made up bbbb"]


def test_data_of_differs_for_reduced_corpora():
    plain = {"fraction": 0.1, "seed": 0, "per": "corpus"}
    splits = [
        plain,
        plain | {"seed": 1},
        plain | {"top_words": 3000},
        plain | {"singletons": "train"},
    ]
    runs = [made_up("cgs", [1], train=f"t{at}", split=split) for at, split in enumerate(splits)]
    cut, dropped = "3000 most frequent words", "no singletons in training"
    assert data_of(runs) == ["made up", "made up", f"made up, {cut}", f"made up, {dropped}"]
    assert labels_of(runs) == ["cgs", "cgs", f"cgs, {cut}", f"cgs, {dropped}"]
    larger = [
        made_up("cgs", [1], train=name, split=plain | {name: 3}) for name in ("merge", "repeat")
    ]
    assert data_of(larger) == ["made up, every 3 documents joined", "made up, every count 3 times"]
    cut_svb = made_up("svb", [2], train="t2", split=splits[2])
    table = summary([*runs, cut_svb], "cgs")
    assert table["reference"].values.tolist() == [
        "cgs",
        f"cgs, {cut}",
        f"cgs, {dropped}",
        f"cgs, {cut}",
    ]
    assert table["difference"].sel(label=f"svb, {cut}") == 1


def test_runs_started_from_different_runs_have_different_labels():
    starts = [
        {"name": name, "hash": "0" * 64, "iteration": 50, "counts": name}
        for name in ("first", "second")
    ]
    cold, warm, other = (made_up("cgs", [1], start=start) for start in (None, *starts))
    assert labels_of([cold, warm]) == ["cgs", "cgs warm"]
    assert labels_of([warm, other]) == [
        "cgs warm, from first, iteration 50",
        "cgs warm, from second, iteration 50",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: final([]), "no run was given"),
        (lambda: perplexity_errors([]), "no run was given"),
        (lambda: final([3]), "wanted the Dataset of a run, .* got int"),
        (lambda: final(3), "got int"),
        (lambda: final(xr.Dataset()), "the Dataset is not one of a run"),
        (
            lambda: final(made_up("cgs", [1]).isel(iteration=slice(0, 0))),
            "'cgs-0-t0' has no committed iteration yet",
        ),
        (lambda: summary(three_seeds(), "cvb"), "no reference 'cvb'; did you mean 'svb'"),
        (
            lambda: paired_differences(three_seeds(), "cgs", "perplexity"),
            "measure must be one of test_perplexity",
        ),
        (lambda: time_to(three_seeds(), 100, "weeks"), "clock must be one of elapsed"),
        (
            lambda: summary([made_up("cgs", [1]), made_up("cgs", [1], burn_in=20)], "cgs"),
            "is ambiguous; name one of cgs, burn-in=10; cgs, burn-in=20",
        ),
    ],
)
def test_wrong_input_gets_one_sentence(call, message):
    with pytest.raises(MeasureError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------------- the settings of runs


def test_settings_of_has_general_settings_and_every_option_of_the_engine():
    spec = spec_of(tiny_run("svb-cgs", seed=3))
    result = settings_of(spec)
    assert (result["engine"], result["K"], result["seed"], result["r"]) == (
        "svb-cgs",
        spec.model["n_topics"],
        3,
        1,
    )
    assert {*result} <= every_setting() and {"alpha", "beta", "n_chains", "learn_alpha"} <= {
        *result
    }
    assert all(
        isinstance(value, int | float | str) and value is not True for value in result.values()
    )


def test_settings_of_writes_infinity_as_text_and_leaves_out_missing_settings():
    result = settings_of(spec_of(made_up("svb-cgs", [2], options={"r": "inf"})))
    assert result["r"] == "inf" and "r" not in settings_of(spec_of(made_up("svb", [2])))


def test_differing_compares_a_setting_among_the_runs_that_have_it():
    settings = [
        {"r": 1, "seed": 0, "engine": "svb"},
        {"r": 3, "seed": 1, "engine": "svb"},
        {"seed": 1, "engine": "svb"},
    ]
    assert (
        differing(settings) == ["seed", "r"]
        and differing(settings[1:]) == []
        and differing([]) == []
    )
    assert set(COMMON_SETTINGS) <= every_setting()


# ---------------------------------------------------------------------- who began from whom


def begun_from(run, parent_hash: str, name: str = "cgs-0-t0"):
    """A run like the given one, begun from iteration 50 of another."""
    start = {
        "name": name,
        "hash": parent_hash,
        "iteration": 50,
        "counts": "c" * 64,
        "dropped": 0.25,
    }
    return run.assign_attrs(name="begun", spec=replace(spec_of(run), start=start).to_json())


def test_lineage_identifies_parents_by_hash_and_uses_their_present_name():
    parent = made_up("cgs", [1])
    (edge,) = lineage(
        [begun_from(made_up("cvb", [1]), spec_of(parent).hash, "as it was called"), parent]
    )
    assert edge.known and (edge.run, edge.parent, edge.iteration) == ("begun", "cgs-0-t0", 50)
    assert edge.text == "from cgs-0-t0, iteration 50, 25 % of its tokens dropped"


def test_lineage_does_not_take_a_run_with_the_name_of_the_parent_for_it():
    (edge,) = lineage(
        [made_up("cgs", [1], seed=0), begun_from(made_up("cvb", [1]), "abcdef0123456789")]
    )
    assert not edge.known and edge.parent == "cgs-0-t0 (abcdef01)"
    (alone,) = lineage([begun_from(made_up("cvb", [1]), "abcdef0123456789")])
    assert not alone.known and alone.parent == "cgs-0-t0"
