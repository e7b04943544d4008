"""Numbers of runs by K, against numbers computed apart, and the K that they speak for."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from comparisons import made_up, tiny_corpus, with_phi

import workbench as wb
from workbench.measures import (
    MeasureError,
    coherence,
    diversity,
    match_topics,
    numbers_by_k,
    recommend_k,
    spec_of,
    topic_similarity,
)
from workbench.measures.choosing import RunNumbers, table_by_k


def run(k, last, seed=0, engine="cgs", n_iterations=None, **changes):
    """A run of so many topics whose held-out tokens have this mean log p at its last iteration."""
    made = made_up(
        engine,
        np.exp([-last + 1, -last]),
        seed=seed,
        model={"n_topics": k, "alpha": 0.1, "beta": 0.1},
        **changes,
    )
    spec = spec_of(made)
    spec = replace(spec, n_iterations=n_iterations or spec.n_iterations)
    return made.assign_attrs(name=f"{engine}-{k}-{seed}-{spec.hash[:6]}", spec=spec.to_json())


def grid(scores: dict[int, list[float]]):
    """The table of runs with these scores by K, a seed each."""
    return numbers_by_k(
        [
            run(k, score, seed).drop_vars("n_k")
            for k, own in scores.items()
            for seed, score in enumerate(own)
        ]
    )


@pytest.fixture(scope="module")
def inferred():
    """Runs of two numbers of topics and three seeds, with their counts, and their corpus."""
    train, test = wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)
    settings = {"test": test, "n_iterations": 6, "burn_in": 2, "progress": False}
    return [
        wb.fit(train, "svb", k, seed=seed, **settings) for k in (3, 2) for seed in range(3)
    ], train


def test_numbers_by_k_has_mean_and_error_of_the_runs_of_each_k_in_ascending_order(inferred):
    runs, train = inferred
    table = numbers_by_k(runs, train)
    assert table["n_topics"].values.tolist() == [2, 3] and table["n_runs"].values.tolist() == [3, 3]
    for k, own in ((2, runs[3:]), (3, runs[:3])):
        difference = {
            "log_likelihood": [-np.log(float(each.test_perplexity[-1])) for each in own],
            "test_perplexity": [float(each.test_perplexity[-1]) for each in own],
            "bound_per_token": [float(each.bound[-1]) / train.n_tokens for each in own],
            "npmi": [coherence(each, train).attrs["mean_npmi"] for each in own],
            "diversity": [diversity(each).attrs["mean_diversity"] for each in own],
        }
        for name, values in difference.items():
            assert float(table[name].sel(n_topics=k)) == pytest.approx(np.mean(values), rel=1e-12)
            error = np.std(values, ddof=1) / np.sqrt(3)
            assert float(table[f"{name}_se"].sel(n_topics=k)) == pytest.approx(
                error, rel=1e-9, abs=1e-12
            )


def test_stability_is_the_mean_over_pairs_of_seeds_with_the_error_of_the_jackknife(inferred):
    runs, train = inferred
    own = runs[:3]
    alike = {
        (a, b): np.mean(1 - match_topics(own[a], own[b])["distance"].values)
        for a, b in combinations(range(3), 2)
    }
    table = numbers_by_k(runs).sel(n_topics=3)
    assert float(table["stability"]) == pytest.approx(np.mean(list(alike.values())))
    without = [alike[1, 2], alike[0, 2], alike[0, 1]]
    jackknife = np.sqrt(2 / 3 * np.sum((np.array(without) - np.mean(without)) ** 2))
    assert float(table["stability_se"]) == pytest.approx(jackknife)
    two = numbers_by_k(own[:2])
    assert float(two["stability"][0]) == pytest.approx(alike[0, 1]) and np.isnan(
        two["stability_se"][0]
    )
    assert np.isnan(numbers_by_k(own[:1])["stability"][0])


def test_topic_similarity_is_1_for_equal_topics_and_counts_unmatched_topics_as_0():
    a, b = with_phi([[0.5, 0.5, 0], [0, 0, 1]]), with_phi([[0, 0, 1], [0.5, 0.5, 0]])
    assert topic_similarity(a, b) == pytest.approx(1)
    assert (
        topic_similarity(a, with_phi([[0, 0, 1]]))
        == topic_similarity(with_phi([[0, 0, 1]]), a)
        == pytest.approx(0.5)
    )
    assert topic_similarity(with_phi([[1, 0, 0]]), with_phi([[0, 0.5, 0.5]])) == pytest.approx(0)


def test_differences_from_the_best_are_paired_by_seed():
    table = grid({10: [-7.0, -6.0], 20: [-6.9, -5.8]})
    assert table.attrs["best"] == 20
    assert table["difference"].values.tolist() == pytest.approx([-0.15, 0])
    # of -0.1 and -0.2: far below the spread of seeds
    assert table["difference_se"].values.tolist() == pytest.approx([0.05, 0])
    uneven = grid({10: [-7.0, -6.0, -8.0], 20: [-6.9, -5.8]})
    assert uneven["n_pairs"].values.tolist() == [2, 2] and float(
        uneven["difference"][0]
    ) == pytest.approx(-0.15)


def test_numbers_by_k_is_nan_where_no_run_has_the_number():
    table = numbers_by_k([run(k, -3, engine="cgs") for k in (2, 3)])
    assert (
        np.isnan(table["bound_per_token"]).all()
        and np.isnan(table["npmi"]).all()
        and np.isnan(table["stability"]).all()
    )
    unscored = [run(k, -3).drop_vars("test_perplexity") for k in (2, 3)]
    assert "best" not in numbers_by_k(unscored).attrs
    with pytest.raises(
        MeasureError, match="no run has a held-out score to choose K by; hold out some tokens"
    ):
        recommend_k(numbers_by_k(unscored))


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        (
            [run(2, -3), run(3, -3, engine="svb")],
            "must differ in K and seed alone; these also differ otherwise: cgs; svb",
        ),
        (
            [run(2, -3), run(3, -3, corpus="another", train="t1")],
            "must differ in K and seed alone",
        ),
        (made_up("g-hdp", [3.0], model={"n_topics": 1}), "has no fixed K"),
    ],
)
def test_runs_that_differ_in_more_than_k_and_seed_are_refused(runs, sentence):
    with pytest.raises(MeasureError, match=sentence):
        numbers_by_k(runs)


def test_numbers_by_k_includes_the_cold_first_run_of_a_warm_sweep():
    first = run(2, -3)
    parent = spec_of(first)
    start = {"name": first.attrs["name"], "hash": parent.hash, "iteration": 2, "counts": "c"}
    second = run(3, -2.5, start=start)
    assert numbers_by_k([second, first]).attrs["label"] == "cgs warm"
    cold = run(3, -2.6)
    with pytest.raises(MeasureError, match="differ otherwise: cgs; cgs warm"):
        numbers_by_k([first, second, cold])


def test_two_runs_of_one_k_and_seed_are_refused():
    row = RunNumbers(
        2, ("train", "test", 0), True, dict.fromkeys(numbers_by_k(run(2, -3)).data_vars, 1.0)
    )
    with pytest.raises(MeasureError, match="two of the runs have K=2 and the same seed"):
        table_by_k([row, row], {})


# ---------------------------------------------------------------------- the recommendation


@pytest.mark.parametrize(
    ("scores", "k", "reason"),
    [
        (  # 10 is lower than 20 by 0.03, -0.01 and 0.02: by 0.0133, with an error of 0.0120
            {
                5: [-7.0, -7.2, -7.1],
                10: [-6.51, -6.49, -6.53],
                20: [-6.48, -6.5, -6.51],
                40: [-6.6] * 3,
            },
            20,
            "K = 20 has the highest held-out log likelihood, −6.4967 nats per token, and no smaller number comes",
        ),
        (  # by 0.01, -0.01 and 0.02: by 0.0067, with an error of 0.0088
            {
                5: [-7.0, -7.2, -7.1],
                10: [-6.49, -6.49, -6.53],
                20: [-6.48, -6.5, -6.51],
                40: [-6.6] * 3,
            },
            10,
            "K = 10 is the smallest number of topics within one standard error (0.0088) of the best: K = 20 has the highest "
            "held-out log likelihood, −6.4967 nats per token, and K = 10 is 0.0067 lower.",
        ),
        (
            {5: [-7, -7.1, -7.05], 10: [-6.5, -6.52, -6.54], 20: [-6.9, -6.8, -6.9]},
            10,
            "K = 10 has the highest held-out log likelihood, −6.5200 nats per token, and no smaller number comes within one "
            "standard error of it.",
        ),
        (
            {5: [-6.0001], 10: [-6.0], 20: [-7]},
            10,
            "K = 10 has the highest held-out log likelihood, −6.0000 nats per token.",
        ),
        (
            {1: [-7, -7.1, -7]},
            1,
            "K = 1 is the only number of topics that has a score: held-out log likelihood, −7.0333",
        ),
        (
            {1: [-6, -6.1, -6.1], 2: [-7, -7.1, -7]},
            1,
            "K = 1 has the highest held-out log likelihood",
        ),
    ],
)
def test_recommend_k_returns_the_smallest_k_within_one_standard_error_of_the_best(
    scores, k, reason
):
    result = recommend_k(grid(scores))
    assert result.n_topics == k and result.reason.startswith(reason)
    if len(scores[k]) > 1:
        assert result.cautions == () and str(result) == result.reason


@pytest.mark.parametrize(
    ("scores", "k", "caution"),
    [
        (
            {5: [-7, -7.1, -7], 10: [-6, -6.1, -6.1]},
            10,
            "The best is the largest K that was tried: try larger ones too.",
        ),
        (
            {5: [-6, -6.1, -6], 10: [-7, -7.1, -7.1]},
            5,
            "This is the smallest K that was tried: try smaller ones too.",
        ),
        (
            {5: [-7], 10: [-6], 20: [-6.5]},
            10,
            "With one seed the standard error is unknown: run more seeds.",
        ),
        (
            {5: [-7, -7.1], 10: [-6, -6.1], 20: [-6.5]},
            10,
            "Some K have only one seed, so their standard error is unknown.",
        ),
        (
            {5: [-7, -7.1], 10: [-6, -6.1], 20: [-6.5, -6.6]},
            10,
            "A standard error over two seeds is rough: three or more are better.",
        ),
    ],
)
def test_recommend_k_adds_cautions(scores, k, caution):
    result = recommend_k(grid(scores))
    assert (result.n_topics, result.cautions) == (k, (caution,))


def test_recommend_k_cautions_about_unfinished_runs_and_empty_topics():
    runs = [
        run(k, score, seed) for k, score in ((5, -7), (10, -6), (20, -6.5)) for seed in range(3)
    ]
    runs[-1] = run(20, -6.5, 2, n_iterations=9)
    result = recommend_k(numbers_by_k(runs))
    assert result.cautions == (
        "1 of 9 runs have not finished, so this may change.",
        "Only 2 of these 10 topics have a token.",
    )


def test_recommend_k_cautions_about_a_fall_of_coherence_or_stability():
    table = grid({5: [-7, -7.1, -7], 10: [-6, -6.1, -6], 20: [-6.5, -6.6, -6.5]})
    table["npmi"].values[:], table["stability"].values[:] = [0.10, 0.081, -0.2], [0.9, 0.84, 0.1]
    assert recommend_k(table).cautions == (
        "Stability across seeds falls from 0.90 at K = 5 to 0.84.",
    )
    table["npmi"].values[1] = -0.01
    assert recommend_k(table).cautions[0] == "Coherence (NPMI) falls from 0.10 at K = 5 to −0.01."
