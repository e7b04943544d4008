"""Chains of one posterior: what does not depend on the numbers of topics, R-hat and ranks; effective samples of known worth."""

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, run_of, tiny_comparison, tiny_corpus, tiny_run
from scipy.signal import lfilter

import workbench as wb
from workbench.measures import MeasureError, convergence, effective_samples, label_free
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
        *(
            (
                lambda _, n=n: effective_samples(run_of(np.arange(10 + n), burn_in=10)),
                "need at least 4 recorded iterations after burn-in; "
                f"run '.*' has {n} after its burn-in of 10; let it run longer",
            )
            for n in (0, 1, 3)
        ),
        *(
            (
                lambda _, runs=runs: effective_samples(runs()),
                "run '.*' of svb samples no token; effective samples need a sampler",
            )
            for runs in (lambda: tiny_run("svb"), tiny_comparison)
        ),
    ],
)
def test_convergence_refuses_runs_that_are_no_chains(call, sentence):
    with pytest.raises(MeasureError, match=sentence):
        call(run_of(noise(0, 50), 0))


# ---------------------------------------------------------------------- effective samples

N = 5000


def autoregressive(rho: float, seed: int, n: int = N) -> np.ndarray:
    """(n,) x_i = rho x_{i-1} + noise, begun at rest: n draws are worth n (1 - rho) / (1 + rho)."""
    noise = np.random.default_rng(seed).standard_normal(n)
    noise[0] /= np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], noise)


def worth(found, name: str = "log_joint", row: int = 0) -> float:
    return float(found["effective_samples"].sel(quantity=name)[row])


@pytest.mark.parametrize("rho", (0.0, 0.5, 0.8, -0.4))
def test_effective_samples_of_an_autoregressive_chain_agree_with_theory(rho):
    """Over 40 seeds the estimate has a standard deviation of 4, 7, 13 and 7 %: ten chains 4 % at most, of which four here."""
    exact = N * (1 - rho) / (1 + rho)
    result = np.mean(
        [worth(effective_samples(run_of(autoregressive(rho, seed)))) for seed in range(10)]
    )
    assert result == pytest.approx(exact, rel=0.17)


def test_burn_in_counts_neither_as_draws_nor_as_time():
    chain = autoregressive(0.5, 1)
    result = effective_samples(run_of(np.concatenate([np.full(100, 1e6), chain]), burn_in=100))
    assert (
        worth(result) == worth(effective_samples(run_of(chain))) and int(result["n_draws"][0]) == N
    )
    assert float(result["per_second"].sel(quantity="log_joint")[0]) == pytest.approx(
        worth(result) / (2 * N)
    )


def test_iterations_between_records_count_for_time_alone():
    every = run_of(autoregressive(0.5, 2), burn_in=10, record_every=4)
    result = effective_samples(every)  # pauses have recorded the others too
    sparse = effective_samples(every.isel(iteration=every["iteration"].values % 4 == 0))
    assert result.identical(sparse) and int(result["iterations_between"][0]) == 4
    assert int(result["n_draws"][0]) == N // 4 - 2
    assert float(result["per_second"].sel(quantity="log_joint")[0]) == pytest.approx(
        worth(result) / (2 * (N - 10))
    )
    # every fourth of a chain with rho 0.5 is a chain with rho 1/16; one chain of 4 %, four of them
    assert worth(result) == pytest.approx((N // 4 - 2) * (1 - 1 / 16) / (1 + 1 / 16), rel=0.16)


def test_seeds_of_one_label_are_chains_of_one_estimate_cut_to_the_shortest():
    chains = [autoregressive(0.5, seed) for seed in (3, 4)]
    result = effective_samples(
        [run_of(chains[0], seed=0), run_of(np.append(chains[1], 7e3), seed=1)]
    )
    assert (
        result.sizes["label"] == 1
        and int(result["n_chains"][0]) == 2
        and int(result["n_draws"][0]) == N
    )
    # four standard deviations of 7 % / sqrt(2)
    assert worth(result) == pytest.approx(2 * N / 3, rel=0.2)
    assert float(result["per_second"].sel(quantity="log_joint")[0]) == pytest.approx(
        worth(result) / (4 * N)
    )
    difference = effective_samples([run_of(chains[0], seed=0), run_of(chains[1] + 20, seed=1)])
    # chains that do not meet are worth next to nothing, however long they are
    assert worth(difference) < 10


def test_effective_samples_separate_runs_on_different_tokens():
    splits = {
        seed: {"train": f"t{seed}", "split": {"fraction": 0.1, "seed": seed, "per": "corpus"}}
        for seed in (5, 6)
    }
    result = effective_samples(
        [run_of(autoregressive(0.5, seed), seed=seed, **split) for seed, split in splits.items()]
    )
    assert result["n_chains"].values.tolist() == [1, 1] and len(set(result["label"].values)) == 1


def test_topics_are_estimated_for_each_run_by_itself():
    one, other = autoregressive(0.8, 7), autoregressive(0.0, 8)
    runs = [
        run_of(one, sizes=np.stack([a, b], axis=1), seed=seed)
        for seed, (a, b) in enumerate(((one, other), (other, one)))
    ]
    result = effective_samples(runs)["of_topic"]
    assert (
        result.dims == ("run", "topic")
        and result.values[0].tolist() == result.values[1, ::-1].tolist()
    )
    # four standard deviations of 13 %
    assert result.values[0] == pytest.approx([N / 9, N], rel=0.53)


def test_effective_samples_are_nan_for_constant_and_for_missing_quantities():
    result = effective_samples(run_of(np.ones(50)))
    assert (
        np.isnan(worth(result))
        and np.isnan(result["per_second"]).all()
        and np.isnan(result["of_topic"]).all()
    )
    sampled = run_of(autoregressive(0.5, 9, 50))
    both = effective_samples([sampled, tiny_run("svb-cgs")])
    assert (
        np.isnan(worth(both, "objective"))
        and worth(both, "objective", 1) > 0
        and np.isnan(worth(both, row=1))
    )


def test_effective_samples_leave_out_running_averages_and_clocks():
    assert effective_samples(tiny_run())["quantity"].values.tolist() == [
        "test_perplexity_state",
        "train_perplexity",
        "log_joint",
        "moved",
    ]


def test_four_draws_are_enough():
    assert np.isfinite(worth(effective_samples(run_of(np.arange(14) % 3, burn_in=10))))


def test_a_sampler_that_counts_no_moves_has_effective_samples_of_its_states_alone():
    """Gains and hits are those of running averages."""
    corpus = wb.Corpus.from_pairs(
        range(40), np.arange(40) % 3, [1] * 40, sequence=[("a", t) for t in range(40)]
    )
    train, test = wb.hold_out_ends(corpus, 5)
    run = wb.fit(
        train,
        "sbm-lds",
        test=test,
        n_iterations=30,
        burn_in=5,
        options={"state_dim": 2},
        progress=False,
    )
    result = effective_samples(run)
    assert (
        "moved" not in run and result["per_second"].sel(quantity="test_perplexity_state").item() > 0
    )
    assert not {"test_perplexity", "test_gain_added", "test_log_likelihood"} & set(
        result["quantity"].values
    )


def test_effective_samples_is_public():
    assert wb.effective_samples is effective_samples
