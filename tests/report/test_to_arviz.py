"""Runs as chains for ArviZ: what its functions make of them."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from comparisons import tiny_corpus

import workbench as wb
from workbench.measures import MeasureError, convergence, label_free


@pytest.fixture(scope="module")
def split():
    return wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)


@pytest.fixture(scope="module")
def store(split, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    about = {
        "n_topics": 4,
        "n_iterations": 60,
        "test": split[1],
        "burn_in": 10,
        "snapshot_every": 5,
        "progress": False,
    }
    for seed in range(3):
        wb.fit(split[0], "cgs", seed=seed, store=folder, name=f"chain-{seed}", **about)
    return folder


@pytest.fixture(scope="module")
def chains(store):
    return [wb.open_run(store / f"chain-{seed}") for seed in range(3)]


@pytest.fixture(scope="module")
def tree(store):
    if find_spec("arviz") is None:
        pytest.skip("ArviZ is not installed; the extra arviz has it")
    return wb.to_arviz([store / f"chain-{seed}" for seed in range(3)])


def test_to_arviz_has_the_documented_groups(tree, chains, split):
    draws = label_free(chains, split)
    for name in ("test_perplexity_state", "sorted_share", "same_topic"):
        np.testing.assert_array_equal(tree["posterior"][name].values, draws[name].values)
    np.testing.assert_array_equal(tree["sample_stats"]["lp"].values, draws["log_joint"].values)
    np.testing.assert_array_equal(
        tree["log_likelihood"]["held_out_token"].values, draws["log_predictive"].values
    )
    assert (
        tree["posterior"]["log_predictive"].shape[:2] == (3, 10)
        and "log_joint" not in tree["posterior"]
    )


def test_topics_are_aligned_before_they_are_stacked(tree, chains):
    shares = tree["posterior"]["topic_share"]
    assert "first chain that they match" in shares.attrs["aligned"]
    for run, share in zip(chains[1:], shares.values[1:], strict=True):
        matched = wb.measures.match_topics(chains[0], run)["matched"].values
        sizes = run["n_k"].sel(iteration=60).values
        np.testing.assert_allclose(share[-1], sizes[matched] / sizes.sum(), rtol=1e-12)


def test_datasets_and_names_give_the_same(tree, store, chains, split):
    for again in (
        wb.to_arviz(chains, split),
        wb.to_arviz([f"chain-{seed}" for seed in range(3)], store=store),
    ):
        assert again["posterior"]["same_topic"].equals(tree["posterior"]["same_topic"])


def test_arviz_summary_agrees_with_our_effective_samples(tree, chains, split):
    import arviz as az

    ours = convergence(chains, split).isel(label=0)
    names = ["test_perplexity_state", "sorted_share", "same_topic"]
    summary = az.summary(tree, var_names=names, round_to="none")
    bulk = az.ess(tree, var_names=names, method="bulk")
    for name in names:
        rows = summary[[label == name or label.startswith(f"{name}[") for label in summary.index]]
        assert float(ours["r_hat"].sel(quantity=name)) == pytest.approx(
            np.nanmax(rows["r_hat"].astype(float)), rel=1e-9
        )
        assert float(ours["ess_bulk"].sel(quantity=name)) == pytest.approx(
            np.nanmin(bulk[name].values), rel=1e-9
        )


# ArviZ's own, of matplotlib
@pytest.mark.filterwarnings("ignore:Passing a dict or None as alias_mapping")
def test_arviz_draws_traces(tree):
    import arviz as az
    import matplotlib.pyplot as plt

    axes = az.plot_trace(tree, var_names=["test_perplexity_state"])
    assert len(np.ravel(axes)[1].lines) == 3
    plt.close("all")


def test_to_arviz_without_arviz_names_the_extra(monkeypatch, chains):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MeasureError, match=r"pip install 'topic-workbench\[arviz\]'"):
        wb.to_arviz(chains)
