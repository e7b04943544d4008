"""Chains of one posterior: what does not depend on the numbers of topics, R-hat, effective samples and ranks."""

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, run_of, tiny_corpus
from scipy.signal import lfilter

import workbench as wb
from workbench.measures import MeasureError, convergence, label_free
from workbench.measures.convergence import BINS, agreement, rank_histograms


def noise(seed: int, n: int = 2000) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n)


@pytest.fixture(scope="module")
def split():
    return wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)


@pytest.fixture(scope="module")
def chains(split):
    train, test = split
    about = {
        "n_topics": 4,
        "n_iterations": 60,
        "test": test,
        "burn_in": 10,
        "snapshot_every": 5,
        "progress": False,
    }
    return [wb.fit(train, "cgs", seed=seed, **about) for seed in range(3)]


def on_split(seed: int):
    train, test = wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=seed)
    split = {"fraction": 0.2, "seed": seed, "per": "corpus"}
    return wb.fit(
        train, "cgs", n_topics=2, n_iterations=5, burn_in=1, test=test, split=split, progress=False
    )


def of(found, number: str, quantity: str = "log_joint") -> float:
    return float(found[number].sel(quantity=quantity)[0])


def test_independent_draws_of_one_law_agree():
    result = convergence([run_of(noise(seed), seed) for seed in range(4)])
    assert of(result, "r_hat") == pytest.approx(1, abs=0.005)
    assert of(result, "ess_bulk") == pytest.approx(8000, rel=0.1) and of(
        result, "ess_tail"
    ) == pytest.approx(8000, rel=0.1)
    assert result["n_chains"].item() == 4 and result["n_draws"].item() == 2000


def test_r_hat_of_a_chain_that_lies_elsewhere_is_that_of_the_formula():
    """Of normal scores of the ranks of halves: variance within and between them, and the same folded; Vehtari et al., 2021."""
    from scipy.stats import norm, rankdata

    draws = np.stack([noise(0), noise(1) + 1.5])
    halves = draws.reshape(4, 1000)

    def split_r_hat(values):
        scores = norm.ppf((rankdata(values).reshape(values.shape) - 0.375) / (values.size + 0.25))
        within, between = scores.var(axis=1, ddof=1).mean(), scores.mean(axis=1).var(ddof=1)
        return np.sqrt((999 / 1000 * within + between) / within)

    folded = np.abs(halves - np.median(halves))
    result = convergence([run_of(own, seed) for seed, own in enumerate(draws)])
    assert of(result, "r_hat") == pytest.approx(
        max(split_r_hat(halves), split_r_hat(folded)), rel=1e-9
    )


def test_the_tail_is_that_of_the_quantiles_of_5_and_95_per_cent():
    """The smaller effective sample size of the two indicators, whose chains are slower than the bulk."""
    from arviz_stats.base import array_stats

    draws = np.stack([lfilter([1.0], [1.0, -0.9], noise(seed)) for seed in range(2)])
    of_quantiles = [
        array_stats.ess(draws <= np.quantile(draws, p), method="mean", chain_axis=0, draw_axis=1)
        for p in (0.05, 0.95)
    ]
    result = convergence([run_of(own, seed) for seed, own in enumerate(draws)])
    assert of(result, "ess_tail") == pytest.approx(min(of_quantiles), rel=1e-9)


def test_a_quantity_of_several_numbers_has_the_worst_of_each():
    draws = np.stack([[noise(seed), lfilter([1.0], [1.0, -0.9], noise(seed))] for seed in (0, 1)])
    both = xr.Dataset({"sorted_share": (("chain", "rank", "draw"), draws)})
    (one, other), worst = (
        (
            agreement(both.isel(rank=[k]).transpose("chain", "draw", "rank"))["sorted_share"]
            for k in (0, 1)
        ),
        agreement(both.transpose("chain", "draw", "rank"))["sorted_share"],
    )
    assert worst == (max(one[0], other[0]), min(one[1], other[1]), min(one[2], other[2]))


def test_an_autoregressive_chain_has_fewer_effective_samples():
    slow = lfilter([1.0], [1.0, -0.8], noise(3, 10_000))
    result = convergence(run_of(slow))
    assert of(result, "ess_bulk") == pytest.approx(10_000 * 0.2 / 1.8, rel=0.25)


def test_sizes_are_sorted_so_that_a_permutation_of_the_topics_changes_nothing():
    sizes = np.random.default_rng(0).multinomial(50, [0.5, 0.3, 0.2], size=100)
    one, other = (
        run_of(noise(0, 100), 0, sizes=sizes),
        run_of(noise(1, 100), 1, sizes=sizes[:, [2, 0, 1]]),
    )
    shares = label_free([one, other])["sorted_share"].values
    assert np.array_equal(shares[0], shares[1]) and shares[0, 7].tolist() == sorted(
        sizes[7] / 50, reverse=True
    )


def test_quantities_of_tokens_are_those_of_the_snapshots(split, chains):
    train, test = split
    result = label_free(chains, split, n_fixed=7, n_held_out=9)
    assert (
        result["iteration"].values.tolist() == list(range(15, 61, 5))
        and result.attrs["left_out"] == ""
    )
    run, words = chains[1], list(train.vocabulary)
    last = run.isel(snapshot=-1)
    theta, phi = run["theta"].values, run["phi"].values  # of the last snapshot
    for pair, value in zip(result["pair"].values, result["same_topic"].values[1, -1], strict=True):
        (w, v), title = pair.split(" in ")[0].split(" | "), pair.split(" in ")[1]
        own = theta[list(train.titles).index(title)]
        first, second = (own * phi[:, words.index(word)] for word in (w, v))
        assert value == pytest.approx((first / first.sum()) @ (second / second.sum()), rel=1e-12)
    for token, value in zip(
        result["held_out"].values, result["log_predictive"].values[1, -1], strict=True
    ):
        word, title = token.split(" in ")
        d, w = list(test.titles).index(title), words.index(word)
        assert w in test.words[test.indptr[d] : test.indptr[d + 1]]
        assert value == pytest.approx(np.log(theta[d] @ phi[:, w]), rel=1e-12)
    assert last["n_kw"].shape[0] == 4


def test_label_free_quantities_are_invariant_to_renumbering_of_topics(split, chains):
    """All of a run with its topics in another order."""
    order = [2, 0, 3, 1]
    turned = chains[0].isel(topic=order).assign_coords(topic=range(4))
    for name, values in label_free([chains[0]], split).data_vars.items():
        np.testing.assert_allclose(
            label_free([turned], split)[name].values, values.values, rtol=1e-12, err_msg=name
        )


def test_label_free_gives_the_same_for_a_corpus_in_shards(split, chains, tmp_path):
    shards = [
        wb.ShardedCorpus.write([corpus], tmp_path / str(at)) for at, corpus in enumerate(split)
    ]
    assert [each.content_hash for each in shards] == [each.content_hash for each in split]
    assert label_free(chains, shards).identical(label_free(chains, split))


def test_label_free_gives_the_reason_why_tokens_are_left_out(split, chains):
    assert "the corpora of the runs were not given" in label_free(chains).attrs["left_out"]
    few = [run.isel(snapshot=slice(-2, None)) for run in chains]
    result = convergence(few, split)
    assert (
        "fewer than 4 common snapshots" in result["left_out"].item()
        and result["n_draws"].item() == 50
    )
    assert "same_topic" not in result["quantity"].values


def test_rank_histograms_are_uniform_for_agreeing_chains_and_skewed_for_a_higher_chain():
    same = rank_histograms(label_free([run_of(noise(seed), seed) for seed in range(4)]))
    assert (
        same.shape == (4, BINS)
        and (same.sum("twentieth") == 2000).all()
        and (same.sum("chain") == 400).all()
    )
    assert np.abs(same - 100).max() < 60
    difference = rank_histograms(label_free([run_of(noise(0), 0), run_of(noise(1) + 20, 1)]))
    assert (
        difference.values[0, BINS // 2 :].sum() == 0
        and difference.values[1, : BINS // 2].sum() == 0
    )
    assert difference.attrs["quantity"] == "log_joint"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda one: label_free([one, made_up("svb-cgs", np.ones(50), seed=1)]),
            "differ in their seeds alone; got",
        ),
        (lambda _: label_free([on_split(0), on_split(1)]), "several splits"),
        (lambda _: convergence(made_up("svb", np.ones(50))), "samples no token"),
        (
            lambda _: convergence(run_of(noise(0, 50), burn_in=48)),
            "at least 4 recorded iterations",
        ),
        (lambda one: label_free(one, n_fixed=0), "pairs of tokens must be a whole number"),
    ],
)
def test_convergence_refuses_runs_that_are_no_chains(call, sentence):
    with pytest.raises(MeasureError, match=sentence):
        call(run_of(noise(0, 50), 0))
