"""Curves of prevalence against expectations computed plainly, snapshot by snapshot."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.corpus.document_table import DocumentTable
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.measures import MeasureError, prevalence_curve
from workbench.models import LDA

N = 36
COLUMNS = {"party": [*"abc"] * (N // 3), "year": [2000 + d for d in range(N)]}


@pytest.fixture(scope="module")
def run():
    corpus = LDA(3, 0.3, 0.2).simulate(N, 20, 25, 3)[0]
    return wb.fit(
        replace(corpus, table=DocumentTable(COLUMNS)),
        "sb-ctm",
        n_topics=3,
        n_iterations=40,
        burn_in=10,
        snapshot_every=5,
        options={"prevalence": "~ party * year"},
        progress=False,
    )


def expected_shares(run, terms, rng):
    """(snapshot, topic) mean of theta over documents with these terms, from 300 draws for each."""
    found = []
    for gamma, sigma in zip(run["gamma"].values, run["psi_covariance"].values, strict=True):
        noise = rng.multivariate_normal(np.zeros(2), sigma, (300, N))
        found.append(probabilities(terms @ gamma.T + noise).mean(axis=(0, 1)))
    return np.array(found)


@pytest.mark.parametrize("column", ["party", "year"])
def test_a_curve_of_prevalence_is_the_mean_of_theta_with_the_column_at_one_value(run, column):
    curve = prevalence_curve(run, column, n_points=4)
    assert curve.attrs["n_draws"] == 6 and curve.attrs["column"] == column  # iterations 15 to 40
    kept, rng = run.isel(snapshot=slice(2, None)), np.random.default_rng(3)
    for value in curve["value"].values:
        party = np.full(N, value) if column == "party" else np.array(COLUMNS["party"])
        year = np.full(N, value) if column == "year" else np.array(COLUMNS["year"])
        b, c = ((party == level).astype(float) for level in "bc")
        terms = np.column_stack([np.ones(N), b, c, year, b * year, c * year]).astype(float)
        shares = expected_shares(kept, terms, rng)
        own = curve.sel(value=value)
        # means over 1,008 antithetic pairs: the standard error is below 0.01
        np.testing.assert_allclose(own["share"], shares.mean(axis=0), atol=0.04)
        np.testing.assert_allclose(own["share"].sum(), 1)
        assert (own["share_low"] <= own["share"]).all() and (
            own["share"] <= own["share_high"]
        ).all()
    assert not curve["change"].values[0].any()


def test_other_values_of_a_column_are_drawn_with_the_same_random_sticks(run):
    twice = [prevalence_curve(run, "party", seed=seed)["share"].values for seed in (0, 0)]
    np.testing.assert_array_equal(*twice)


def test_what_has_no_curve_of_prevalence_is_refused_in_a_sentence(run):
    with pytest.raises(MeasureError, match="has no column 'place' to draw; it has party, year"):
        prevalence_curve(run, "place")
    with pytest.raises(MeasureError, match="has no formula of prevalence"):
        prevalence_curve(run.drop_vars("gamma"), "party")
