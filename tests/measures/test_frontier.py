"""Costs, distances and jitters of settings, and where they overtake Gibbs sampling, against plain computations."""

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, tiny_comparison

from workbench.measures import MeasureError, at_equal_cost, frontier, overtaking
from workbench.measures.frontier import efficient
from workbench.runs.spec import RunSpec

HYBRID = {"r": 2, "n_chains": 3}


def run(engine, logs, seed=0, **about) -> xr.Dataset:
    """A run with these logarithms of the perplexity, which no burn-in precedes."""
    return made_up(engine, np.exp(logs), seed=seed, **({"burn_in": 0} | about))


def chains(last=(5.0, 5.1, 5.2, 5.3), n=8, **about) -> list[xr.Dataset]:
    """Long chains of Gibbs sampling that end at these."""
    return [run("cgs", [7.0] * (n - 1) + [end], 100 + at, **about) for at, end in enumerate(last)]


def of_split(seed: int) -> dict:
    """What tells the split with a seed from the others."""
    return {"train": f"t{seed}", "split": {"fraction": 0.1, "seed": seed, "per": "corpus"}}


def settings() -> list[xr.Dataset]:
    """Two seeds of a hybrid and of cgs, half as long as the chains."""
    hybrids = [
        run("svb-cgs", [6, 5.9, 5.8, 5.6 + seed / 10], seed, options=HYBRID) for seed in (0, 1)
    ]
    return [
        *hybrids,
        *(run("cgs", [6.5, 6, 5.7, 5.5], seed, elapsed=[2, 4, 6, 8]) for seed in (0, 1)),
    ]


def test_distances_are_those_of_the_mean_logarithm_at_the_end_of_long_chains():
    table = frontier([*settings(), *chains()])
    assert table["label"].values.tolist() == ["svb-cgs r=2 n_chains=3", "cgs"]
    assert table["reference"].item() == pytest.approx(5.15) and table["n_reference"].item() == 4
    error = np.std([5.0, 5.1, 5.2, 5.3], ddof=1) / 2
    assert table["reference_se"].item() == pytest.approx(error) == table.attrs["reference_se"]
    assert table["difference"].values == pytest.approx([0.5, 0.35])
    assert table["distance_se"].values == pytest.approx([0.05, 0], abs=1e-12)
    assert table["updates"].values.tolist() == [400, 400] and table["cpu_time"].values.tolist() == [
        8,
        16,
    ]
    assert table["n_runs"].values.tolist() == [2, 2]
    assert (
        table["r"].values[0],
        table["n_chains"].values.tolist()[0],
        table["engine"].values.tolist()[1],
    ) == (2, 3, "cgs")
    assert np.isnan(table["r"].values[1])


def test_a_setting_that_predicts_better_than_the_reference_is_as_far_as_one_that_predicts_worse():
    table = frontier([run("svb-cgs", [6, 5.0])], chains())
    assert (table["difference"].item(), table["distance"].item()) == (
        pytest.approx(-0.15),
        pytest.approx(0.15),
    )
    assert np.isnan(table["distance_se"].item())


def test_frontier_uses_the_final_numbers_of_the_runs():
    runs = tiny_comparison()
    spec = RunSpec.from_json(str(runs["spec"].values[0]))
    about = {name: getattr(spec, name) for name in ("train", "test", "corpus", "split", "model")}
    own = [
        runs.isel(run=[at]) for at in range(runs.sizes["run"]) if runs["engine"].values[at] != "cgs"
    ]
    table = frontier(own, chains(**about))
    for label in ("svb", "svb-cgs r=1"):
        parts = [
            runs.isel(run=at)
            for at in range(runs.sizes["run"])
            if runs["label"].values[at] == label
        ]
        ends = [np.log(part["test_perplexity"].values[-1]) for part in parts]
        assert float(table["difference"].sel(label=label)) == pytest.approx(np.mean(ends) - 5.15)
        # burn-in 3, the last half of 9
        late = [np.log(part["test_perplexity_state"].values[3:])[4:] for part in parts]
        assert float(table["jitter"].sel(label=label)) == pytest.approx(
            np.mean([np.std(one, ddof=1) for one in late])
        )
        spent = np.mean([part["cpu_time"].values[-1] for part in parts])
        assert float(table["cpu_time"].sel(label=label)) == pytest.approx(spent)


def test_frontier_has_each_iteration_and_at_equal_cost_interpolates_it():
    table = frontier([*settings(), *chains()])
    own = table.sel(label="cgs")
    assert own["iteration"].values.tolist() == [1, 2, 3, 4]
    assert own["cpu_time_at"].values.tolist() == [4, 8, 12, 16]
    assert own["difference_at"].values == pytest.approx([1.35, 0.85, 0.55, 0.35])
    assert at_equal_cost(table, 6, "cpu_time").values == pytest.approx([5.8 - 5.15, 1.1])
    assert np.isnan(at_equal_cost(table, 12, "cpu_time").values).tolist() == [True, False]
    assert at_equal_cost(table, 150).values == pytest.approx([0.8, 1.1])


def test_frontier_compares_runs_with_chains_on_their_split():
    own = [run("svb-cgs", [6, 5.25], **of_split(0)), run("svb-cgs", [6, 6.1], **of_split(1))]
    table = frontier(own, [*chains(**of_split(0)), *chains((6.0, 6.0, 6.0, 6.0), **of_split(1))])
    assert table["difference"].item() == pytest.approx(0.1) and table["n_runs"].item() == 2
    assert table["reference"].values == pytest.approx([5.15, 6.0])
    assert table.attrs["reference_se"] == pytest.approx(table["reference_se"].values[0] / 2)


def test_a_setting_is_not_efficient_where_another_one_is_as_cheap_and_as_near():
    cost, distance = [1, 2, 3, 2, 2, 4, np.nan, 1], [5, 3, 1, 3, 4, 2, 0, 6]
    assert efficient(cost, distance).tolist() == [
        True,
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    table = frontier([*settings(), *chains()])
    assert table["efficient_cpu_time"].values.tolist() == [True, True]
    assert table["efficient_updates"].values.tolist() == [False, True]


# ---------------------------------------------------------------------- where hybrids overtake Gibbs sampling


def timed(engine, logs, elapsed, seed=0, k=2, **split) -> xr.Dataset:
    """A run of so many topics that is at these logarithms of the perplexity after so many seconds."""
    about = {
        "split": {"fraction": 0.1, "seed": 0, "per": "corpus"} | split,
        "train": str(sorted(split.items())) or "t",
        "model": {"n_topics": k, "alpha": 0.1, "beta": 0.1},
    }
    return made_up(engine, np.exp(logs), elapsed, seed, **about)


def pair(seed=0, faster=2.0, **about):
    """Gibbs sampling, and a hybrid that predicts as well in a share of its time."""
    times = np.array([1.0, 2, 3, 4])
    return [
        timed("cgs", [8, 7, 6, 5], times * faster, seed, **about),
        timed("svb-cgs", [8, 7, 6, 5.5], times, seed, **about),
    ]


def test_speedup_is_the_ratio_of_times_to_the_lowest_common_perplexity():
    cells = overtaking(pair())
    assert cells["setting"].values.tolist() == ["svb-cgs r=1"] and cells[
        "n_topics"
    ].values.tolist() == [2]
    # cgs is at 5.5 or below with its fourth row
    assert cells["speedup"].item() == pytest.approx(8 / 4)
    # the hybrid ends after 8 CPU seconds, when cgs has had two rows
    assert cells["advantage"].item() == pytest.approx(7 - 5.5)
    assert cells["n_pairs"].item() == 1 and np.isnan(cells["speedup_se"].item())


def test_means_are_geometric_and_errors_are_between_pairs():
    cells = overtaking([*pair(0, 2.0), *pair(1, 8.0)])
    assert cells["speedup"].item() == pytest.approx(4) and cells["n_pairs"].item() == 2
    assert cells["speedup_se"].item() == pytest.approx(np.log(2))


def test_overtaking_has_a_cell_per_regime_and_number_of_topics_nan_without_runs():
    cells = overtaking(
        [*pair(repeat=5), *pair(k=4), *pair(), timed("svb", [8, 7], [1, 2], merge=3)]
    )
    assert cells["repeat"].values.tolist() == [1, 5] and cells["merge"].values.tolist() == [1, 1]
    assert cells["n_topics"].values.tolist() == [2, 4]
    assert cells["n_pairs"].values.tolist() == [[[1, 1], [1, 0]]]
    assert "every count 5 times" in cells["data"].values[1] and np.isnan(
        cells["speedup"].values[0, 1, 1]
    )


@pytest.mark.parametrize(
    ("measure", "runs", "sentence"),
    [
        (
            frontier,
            lambda: [*settings(), *chains()[:3]],
            "at least 4 chains of cgs on the split of the runs, 2 times as long as these; "
            "found 3; run cgs longer, with 4 seeds",
        ),
        (frontier, lambda: [*settings(), *chains(n=7)], "found 0"),
        (
            frontier,
            lambda: [run("svb-cgs", [6, 5], **of_split(0)), *chains(**of_split(1))],
            "found 0",
        ),
        (frontier, chains, "found 0"),
        (
            frontier,
            lambda: [settings()[0].drop_vars("test_perplexity"), *chains()],
            "has no held-out tokens to measure a distance by",
        ),
        (
            frontier,
            lambda: [*settings(), *chains(model={"n_topics": 3, "alpha": 0.1, "beta": 0.1})],
            "differ in data or model",
        ),
        (
            overtaking,
            lambda: [pair()[1], pair(1)[0]],
            "no run has a counterpart of cgs without options",
        ),
    ],
)
def test_frontier_refuses_runs_that_cannot_be_compared_with_long_chains(measure, runs, sentence):
    with pytest.raises(MeasureError, match=sentence):
        measure(runs())
