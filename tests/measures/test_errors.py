"""Errors of perplexity against the textbook, and per-document scores against the headline."""

import shutil

import numpy as np
import pytest
from comparisons import made_up, tiny_run
from scipy import stats

import workbench as wb
from workbench.measures import MeasureError, paired_differences, perplexity_errors, summary
from workbench.measures.curves import (
    batch_means,
    percentile_interval,
    resampled_perplexities,
    t_interval,
)
from workbench.measures.selection import spec_of
from workbench.models import LDA
from workbench.runs.afterwards.heldout_by_document import Scored, score_documents
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import get_corpus


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """cgs, svb and a hybrid of 8 iterations, burn-in 3, on 30 documents; another cgs still in its burn-in."""
    home = tmp_path_factory.mktemp("runs")
    train, test = wb.hold_out_tokens(
        LDA(3, 0.2, 0.2).simulate(30, 50, 40, seed=1)[0], fraction=0.1, seed=0
    )
    asked = {"n_topics": 3, "test": test, "store": home, "progress": False}
    for engine in ("cgs", "svb", "svb-cgs"):
        wb.fit(train, engine, n_iterations=8, burn_in=3, name=engine, **asked)
    wb.fit(train, "cgs", n_iterations=2, burn_in=3, seed=5, name="early", **asked)
    wb.fit(train, "cgs", n_topics=3, n_iterations=2, store=home, name="untested", progress=False)
    return home


def scored(log_likelihood, n_tokens) -> Scored:
    return Scored(np.array(log_likelihood, float), np.array(n_tokens), 8, 0)


@pytest.mark.parametrize("name", ["cgs", "svb", "svb-cgs", "early"])
def test_the_documents_add_up_to_the_headline(store, name):
    result = score_documents(name, store)
    run = wb.open_run(name, store)
    assert result.perplexity == pytest.approx(float(run["test_perplexity"][-1]), rel=1e-12)
    assert result.iteration == int(run["iteration"][-1])
    assert result.n_averaged == {"cgs": 5, "svb-cgs": 5}.get(name, 0)


def test_each_document_has_its_own_tokens(store):
    result, run = score_documents("svb", store), wb.open_run("svb", store)
    test = get_corpus(store, spec_of(run).test)
    probability = (run["theta"].values @ run["phi"].values)[test.documents, test.words]
    for document in range(30):
        own = test.documents == document
        by_hand = (test.counts[own] * np.log(probability[own])).sum()
        # added up in another order
        assert result.log_likelihood[document] == pytest.approx(by_hand, rel=1e-9)
        assert result.n_tokens[document] == test.counts[own].sum()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("untested", "run 'untested' has no test set, so nothing is scored"),
        ("svb", "run 'svb' has no whole checkpoint"),
    ],
)
def test_score_documents_gives_the_reason_for_a_refusal(store, tmp_path, name, message):
    shutil.copytree(store, tmp_path / "copy")
    (tmp_path / "copy" / name / "checkpoint.npz").write_bytes(b"broken")
    with pytest.raises(SpecError, match=message):
        score_documents(name, tmp_path / "copy")


def test_a_dataset_cannot_be_scored():
    with pytest.raises(SpecError, match="a Dataset keeps no predictions; give a run in a store"):
        score_documents(tiny_run())


def test_students_interval_is_that_of_scipy():
    values = np.array([3.0, 4.5, 2.0, 7.0])
    peer = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    np.testing.assert_allclose(t_interval(values), peer, rtol=1e-12)
    assert np.isnan(t_interval(values[:1])).all()


def test_batch_means_equal_a_hand_calculation():
    # ten numbers: three batches of three, the first number left out: means 2, 5, 8, deviation 3
    assert batch_means(np.array([99, 1, 2, 3, 4, 5, 6, 7, 8, 9])) == pytest.approx(3 / np.sqrt(3))
    assert np.isnan(batch_means(np.array([1.0, 2, 3])))


def test_batch_means_are_larger_for_an_autocorrelated_chain():
    rng, chain = np.random.default_rng(0), np.zeros(10_000)
    for t in range(1, len(chain)):
        chain[t] = 0.9 * chain[t - 1] + rng.normal()
    # the mean of an AR(1) with unit innovations has standard error 1 / (1 - 0.9) / sqrt(n) = 0.1; of 100 batches, to a fifth
    assert batch_means(chain) == pytest.approx(0.1, rel=0.2)


def test_resampled_documents_vary_as_the_theory_of_a_ratio_says():
    rng = np.random.default_rng(0)
    tokens = rng.integers(1, 20, 400)
    result = scored(-rng.gamma(5.0, 1.0, 400) * tokens, tokens)
    mean = result.log_likelihood.sum() / tokens.sum()
    by_theory = np.sqrt(((result.log_likelihood - mean * tokens) ** 2).sum()) / tokens.sum()
    draws = resampled_perplexities(result, n=4000)
    # of 4000 draws a deviation is known to 1.1 %
    assert np.log(draws).std() == pytest.approx(by_theory, rel=0.05)
    low, high = percentile_interval(draws)
    assert (np.log(high) - np.log(low)) / 2 == pytest.approx(1.96 * by_theory, rel=0.08)


def test_documents_without_a_held_out_token_change_nothing():
    some, more = scored([-3, -9, -1], [1, 2, 1]), scored([-3, 0, -9, -1, 0], [1, 0, 2, 1, 0])
    np.testing.assert_array_equal(resampled_perplexities(some), resampled_perplexities(more))
    assert np.isnan(resampled_perplexities(scored([-3, 0], [1, 0]), n=5)).all()


def test_perplexity_errors_of_several_seeds_is_the_error_of_their_mean():
    runs = [made_up("cgs", [200, last], seed=seed) for seed, last in enumerate((100, 102, 107))]
    result = perplexity_errors(runs).sel(label="cgs")
    assert (float(result["value"]), str(result["source"].item()), int(result["n_runs"])) == (
        103,
        "seeds",
        3,
    )
    assert float(result["mc_error"]) == pytest.approx(np.sqrt(13 / 3))
    assert np.isnan(result["low"]) and np.isnan(result["high"])


def test_perplexity_errors_of_one_sampler_uses_its_states_after_burn_in():
    run = made_up("cgs", [500] * 10 + [100, 110, 105, 95])  # burn-in 10; the state is 1 higher
    chain = np.log([101, 111, 106, 96])
    result = perplexity_errors(run).sel(label="cgs")
    # two means: deviation |a - b| / sqrt(2), over sqrt(2)
    by_hand = 95 * abs(chain[:2].mean() - chain[2:].mean()) / 2
    assert (
        float(result["mc_error"]) == pytest.approx(by_hand)
        and result["source"].item() == "batch means"
    )
    early = perplexity_errors(made_up("cgs", [500] * 12)).sel(label="cgs")
    assert np.isnan(early["mc_error"]) and early["source"].item() == ""


def test_a_deterministic_run_and_one_without_a_test_set_have_no_error():
    run = tiny_run("svb")
    result = perplexity_errors(run)
    assert (
        np.isnan(result["mc_error"]).all()
        and result["source"].item() == ""
        and float(result["value"][0]) > 1
    )
    untested = run.drop_vars([name for name in run if "test_perplexity" in name])
    assert np.isnan(perplexity_errors(untested)["value"]).all()


def test_intervals_over_documents_contain_the_value(store):
    runs = [wb.open_run(name, store) for name in ("cgs", "svb")]
    result = {spec_of(run).hash: score_documents(run.attrs["name"], store) for run in runs}
    table = perplexity_errors(runs, result)
    assert (table["low"].values < table["value"].values).all() and (
        table["value"].values < table["high"].values
    ).all()
    assert table.equals(perplexity_errors(runs, result)) and not table.equals(
        perplexity_errors(runs, result, seed=1)
    )
    del result[spec_of(runs[0]).hash]
    assert np.isnan(perplexity_errors(runs, result)["low"].values).tolist() == [True, False]


def test_several_pairs_have_students_interval():
    runs = [
        made_up(engine, [200, last], seed=seed)
        for engine, finals in (("cgs", (100, 102, 107)), ("svb", (110, 118, 120)))
        for seed, last in enumerate(finals)
    ]
    result = paired_differences(runs, "cgs").sel(label="svb")
    low, high = stats.t.interval(0.95, 2, 13, np.sqrt(3))
    assert (float(result["difference_low"]), float(result["difference_high"])) == pytest.approx(
        (low, high)
    )
    every = {spec_of(run).hash: scored([-3, -9], [1, 2]) for run in runs}
    assert paired_differences(runs, "cgs", scored=every).sel(label="svb").equals(result)


def test_a_single_pair_has_an_interval_over_the_documents_that_both_share():
    runs = [made_up("cgs", [100]), made_up("svb", [110])]
    assert np.isnan(paired_differences(runs, "cgs").sel(label="svb")["difference_low"])
    tokens = np.arange(1, 41)
    better = scored(-tokens * np.linspace(3, 6, 40), tokens)
    # exp(0.1) times as perplexed
    worse = better._replace(log_likelihood=better.log_likelihood - 0.1 * tokens)
    result = {spec_of(run).hash: each for run, each in zip(runs, (better, worse), strict=True)}
    table = paired_differences(runs, "cgs", scored=result).sel(label="svb")
    draws = resampled_perplexities(better) * (np.exp(0.1) - 1)
    assert (float(table["difference_low"]), float(table["difference_high"])) == pytest.approx(
        percentile_interval(draws)
    )
    assert (
        summary(runs, "cgs", result).sel(label="svb")["difference_low"] == table["difference_low"]
    )
    assert np.isnan(
        paired_differences(runs, "cgs", "elapsed", result).sel(label="svb")["difference_low"]
    )
    assert np.isnan(paired_differences(runs, "cgs", scored={}).sel(label="svb")["difference_low"])


def test_wrong_input_gets_one_sentence():
    with pytest.raises(MeasureError, match="no run was given"):
        perplexity_errors([])
