"""Chains that predict together, against plain means of what their checkpoints hold."""

import numpy as np
import pytest
from toys import simulated

import workbench as wb
from workbench.measures import MeasureError, frontier
from workbench.runs.afterwards.heldout_by_document import pool_chains
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import read_average


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    """Four chains of 20 iterations, and their held-out tokens."""
    train, test = wb.hold_out_tokens(simulated(), fraction=0.2, seed=0)
    store = tmp_path_factory.mktemp("pooled") / "runs"
    settings = {
        "n_topics": 3,
        "test": test,
        "n_iterations": 20,
        "burn_in": 4,
        "store": store,
        "progress": False,
    }
    for seed in range(4):
        wb.fit(train, "cgs", seed=seed, name=f"chain-{seed}", **settings)
    return store, train, test


def test_chains_are_pooled_by_the_mean_of_what_each_predicts(chains):
    store, _, test = chains
    means = np.array(
        [
            read_average(store / f"chain-{seed}" / "checkpoint.npz")[1].probability
            for seed in range(4)
        ]
    )

    def log_perplexity(rows) -> float:
        return -float(np.sum(test.counts * np.log(means[rows].mean(axis=0)))) / test.n_tokens

    found = pool_chains([f"chain-{seed}" for seed in range(4)], store)
    assert (
        found.log_perplexity == pytest.approx(log_perplexity([0, 1, 2, 3])) and found.n_chains == 4
    )
    without = np.array(
        [log_perplexity([other for other in range(4) if other != seed]) for seed in range(4)]
    )
    assert found.error == pytest.approx(np.sqrt(3 / 4 * np.sum((without - without.mean()) ** 2)))


def test_distances_are_from_what_they_predict_together(chains):
    store, train, test = chains
    pooled = pool_chains([f"chain-{seed}" for seed in range(4)], store)
    own = wb.fit(train, "svb", n_topics=3, test=test, n_iterations=5, progress=False)
    table = frontier(own, [], [pooled])
    end = np.log(float(own["test_perplexity"][-1]))
    assert table["difference"].item() == pytest.approx(end - pooled.log_perplexity)
    assert table["pooled"].item() and table.attrs["reference_se"] == pytest.approx(pooled.error)
    assert table["n_reference"].item() == 4


@pytest.mark.slow
def test_figures_of_a_store_are_set_against_what_its_long_chains_predict_together(
    chains, tmp_path, undrawn
):
    store, train, test = chains
    wb.fit(
        train,
        "svb",
        n_topics=3,
        test=test,
        n_iterations=5,
        store=store,
        name="short-svb",
        progress=False,
    )
    wb.save_figures(
        [f"chain-{seed}" for seed in range(4)] + ["short-svb"],
        tmp_path,
        formats=("svg",),
        store=store,
    )
    assert "(their mean p(w|d))" in (tmp_path / "frontier-by-updates.txt").read_text()


def test_long_chains_of_another_model_are_no_reference(chains):
    store, train, test = chains
    together = pool_chains([f"chain-{seed}" for seed in range(4)], store)
    own = wb.fit(train, "svb", n_topics=4, test=test, n_iterations=5, progress=False)
    with pytest.raises(MeasureError, match="found 0"):
        frontier(own, [], [together])


def test_pool_chains_refuses_chains_that_do_not_go_together(chains):
    store, train, test = chains
    settings = {"n_topics": 3, "n_iterations": 3, "store": store, "progress": False}
    others = {"alone": {}, "wider": {"test": test, "n_topics": 4}, "short": {"test": test}}
    for name, more in others.items():
        wb.fit(train, "cgs", name=name, **settings | more)
    for names, sentence in (
        (["chain-0"], "chains are pooled that share a split, two at least; got 1 of 1 splits"),
        (["chain-0", "alone"], "got 2 of 2 splits"),
        (["chain-0", "wider"], "'chain-0' and 'wider' have two"),
        (["alone", "alone"], "run 'alone' has no test set, so nothing is predicted"),
        (["chain-0", "short"], "run 'short' has no average yet"),
    ):
        with pytest.raises(SpecError, match=sentence):
            pool_chains(names, store)
