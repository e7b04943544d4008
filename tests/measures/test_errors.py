"""Errors of perplexity against the textbook, and per-document scores against the headline."""

import shutil

import numpy as np
import pytest
from arviz_stats.base import array_stats
from comparisons import made_up, tiny_run
from measures.test_comparison import three_seeds
from scipy import stats
from scipy.signal import lfilter

import workbench as wb
from workbench.measures import paired_differences, perplexity_errors, summary
from workbench.measures.convergence import error_of_mean
from workbench.measures.curves import (
    half_interval_over_documents,
    t_interval,
    variance_over_documents,
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


def autoregressive(n: int, rho: float = 0.9) -> np.ndarray:
    """A chain of unit innovations, whose mean has the standard error 1 / (1 - rho) / sqrt(n)."""
    return lfilter([1], [1, -rho], np.random.default_rng(0).normal(size=n))


def test_the_error_of_a_mean_is_that_of_arviz_and_of_theory():
    chain = autoregressive(10_000)
    peer = array_stats.mcse(chain[None], method="mean", chain_axis=0, draw_axis=1)
    assert error_of_mean(chain) == pytest.approx(float(peer), rel=1e-3)  # n or n - 1
    # of some 500 effective samples an error is known to some 10 %
    assert error_of_mean(chain) == pytest.approx(0.1, rel=0.2)


def test_a_chain_of_few_effective_samples_has_no_error():
    assert np.isnan([error_of_mean(autoregressive(n)) for n in (0, 3, 99, 1000)]).all()


def test_intervals_over_documents_of_one_length_are_students():
    logs = -np.array([30.0, 45, 20, 70, 38])
    (score, other), tokens = (scored(one, [10] * 5) for one in (logs, logs**2 / -10)), [10] * 5
    perplexity, logs = score.perplexity, -logs / 10
    low, high = stats.t.interval(0.95, 4, logs.mean(), stats.sem(logs))
    half = half_interval_over_documents([score], [1])
    assert (perplexity * np.exp(np.array((-half, half)) / perplexity)).tolist() == pytest.approx(
        [np.exp(low), np.exp(high)]
    )
    # the difference of exp(a) and exp(b), by the delta method, with both in the same documents
    change = perplexity * logs - other.perplexity * -other.log_likelihood / tokens
    paired = stats.t.ppf(0.975, 4) * stats.sem(change)
    assert half_interval_over_documents([score, other], [1, -1]) == pytest.approx(paired)


def test_the_variance_over_documents_is_that_of_a_plain_loop():
    tokens, values = [7, 1, 12, 5], [0.3, -1.0, 0.5, 0.1]
    w = [n / 25 for n in tokens]
    mean = sum(n * v for n, v in zip(tokens, values, strict=True)) / 25
    expected = [1 - 2 * each + sum(other**2 for other in w) for each in w]
    variance = sum((a * (v - mean)) ** 2 / e for a, v, e in zip(w, values, expected, strict=True))
    influences = np.array(w) * (np.array(values) - mean)
    result = variance_over_documents(influences, np.array(tokens))
    assert result == pytest.approx((variance, sum(each**3 for each in w) ** -0.5 - 1))


def test_documents_without_a_held_out_token_change_nothing():
    some, more = scored([-3, -9, -1], [1, 2, 1]), scored([-3, 0, -9, -1, 0], [1, 0, 2, 1, 0])
    halves = [half_interval_over_documents([one], [1]) for one in (some, more)]
    assert halves[0] == pytest.approx(halves[1])
    # documents of one split have no counterpart in another
    assert half_interval_over_documents([some, more], [0.5, 0.5]) > 0
    assert np.isnan(half_interval_over_documents([scored([-3, 0], [1, 0])], [1]))
    assert np.isnan(half_interval_over_documents([scored([-3, -9], [1, 9])], [1]))


def test_perplexity_errors_of_several_seeds_is_the_error_of_their_mean():
    result = perplexity_errors(three_seeds()).sel(label="cgs")
    assert (float(result["value"]), str(result["source"].item()), int(result["n_runs"])) == (
        103,
        "seeds",
        3,
    )
    assert float(result["mc_error"]) == pytest.approx(np.sqrt(13 / 3))
    assert np.isnan(result["low"]) and np.isnan(result["high"])


def test_perplexity_errors_of_one_sampler_uses_its_states_after_burn_in():
    states = np.exp(autoregressive(1000, 0.5) / 100 + 5)
    run = made_up("cgs", [*[500] * 10, *(states - 1)])  # burn-in 10; the state is 1 higher
    result = perplexity_errors(run).sel(label="cgs")
    assert float(result["mc_error"]) == (states[-1] - 1) * error_of_mean(np.log(states))
    assert result["source"].item() == "effective samples"
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
    del result[spec_of(runs[0]).hash]
    assert np.isnan(perplexity_errors(runs, result)["low"].values).tolist() == [True, False]


def test_several_pairs_have_students_interval():
    runs = three_seeds()
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
    # 0.1 is the same for all documents, so that only the perplexity varies that it multiplies
    half = half_interval_over_documents([better], [np.exp(0.1) - 1])
    difference = better.perplexity * (np.exp(0.1) - 1)
    assert (float(table["difference_low"]), float(table["difference_high"])) == pytest.approx(
        (difference - half, difference + half)
    )
    assert (
        summary(runs, "cgs", result).sel(label="svb")["difference_low"] == table["difference_low"]
    )
    assert np.isnan(
        paired_differences(runs, "cgs", "elapsed", result).sel(label="svb")["difference_low"]
    )
    assert np.isnan(paired_differences(runs, "cgs", scored={}).sel(label="svb")["difference_low"])
