"""Effective samples: of chains whose worth is known, of runs pooled as chains, and what is refused."""

import numpy as np
import pytest
from comparisons import run_of, tiny_comparison, tiny_run
from scipy.signal import lfilter

import workbench as wb
from workbench.measures import MeasureError, effective_samples

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


@pytest.mark.parametrize("n", (0, 1, 3))
def test_fewer_than_four_draws_are_refused(n):
    actual = f"need at least 4 recorded iterations after burn-in; run '.*' has {n} after its burn-in of 10; let it run longer"
    with pytest.raises(MeasureError, match=actual):
        effective_samples(run_of(np.arange(10 + n), burn_in=10))
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


def test_a_run_that_samples_nothing_is_refused():
    for run in (tiny_run("svb"), tiny_comparison()):
        with pytest.raises(
            MeasureError,
            match="run '.*' of svb samples no token; effective samples need a sampler",
        ):
            effective_samples(run)


def test_effective_samples_is_public():
    assert wb.effective_samples is effective_samples
