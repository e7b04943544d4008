"""Correlations of topics: of drawn shares, in an order in which topics that go together stand together."""

import numpy as np
import pytest
from comparisons import tiny_run
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

import workbench as wb
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.measures import (
    MeasureError,
    correlation_differences,
    mean_correlations,
    topic_correlations,
)
from workbench.measures.correlations import (
    _sampled_correlations,
    clustered_order,
    strongest_pairs,
    topic_of_words,
)

MEAN = np.array([0.3, -0.5, 0.8])
COVARIANCE = np.array([[1.0, 0.7, 0.0], [0.7, 2.0, -0.3], [0.0, -0.3, 0.5]])


def run_of(means, covariances, engine="sb-ctm", n_topics=None):
    """A run whose snapshots have these means and covariances of sticks, or of components."""
    corpus, _ = wb.models.LDA(2).simulate(5, 6, 8)
    k, n = n_topics or np.shape(means)[1] + 1, len(means)
    run = wb.fit(corpus, engine, k, n_iterations=n, snapshot_every=1, progress=False)
    return run.assign(
        psi_mean=(run["psi_mean"].dims, means),
        psi_covariance=(run["psi_covariance"].dims, covariances),
    )


def test_correlations_are_those_of_many_drawn_documents_averaged_over_the_later_snapshots():
    run = run_of([MEAN + 9, MEAN], [COVARIANCE, COVARIANCE])
    result = topic_correlations(run, 100_000)["correlation"].values
    theta = probabilities(np.random.default_rng(5).multivariate_normal(MEAN, COVARIANCE, 400_000))
    assert result == pytest.approx(np.corrcoef(theta.T), abs=0.015)
    assert np.array_equal(result, result.T) and np.diag(result) == pytest.approx(1.0)


@pytest.mark.parametrize("engine", ("ln-ctm", "ctm-em"))
def test_correlations_of_components_are_those_of_their_softmax(engine):
    run = run_of([MEAN], [COVARIANCE], engine, 3)
    theta = softmax(np.random.default_rng(5).multivariate_normal(MEAN, COVARIANCE, 400_000), axis=1)
    assert topic_correlations(run, 100_000)["correlation"].values == pytest.approx(
        np.corrcoef(theta.T), abs=0.015
    )


def test_differences_of_correlations_are_between_the_same_topics():
    """b is a with its topics renumbered: its snapshots are those of a but for the words, so numbers of b are moved back."""
    mean, covariance = np.array([0.3, -0.5]), np.array([[1.0, 0.7], [0.7, 2.0]])
    a = run_of([mean], [covariance])
    # topic k of b has the words of topic moved[k] of a
    phi, moved = np.eye(3, 6) * 0.9 + 0.1 / 6, [2, 0, 1]
    a = a.assign(phi=(a["phi"].dims, phi))
    b, own = a.assign(phi=(a["phi"].dims, phi[moved])), topic_correlations(a)["correlation"].values
    result, place = correlation_differences(a, b), np.argsort(moved)
    off = ~np.eye(3, dtype=bool)
    assert (
        result.values[off] == pytest.approx((own[np.ix_(place, place)] - own)[off])
        and np.abs(result.values[off]).min() > 0.01
    )
    assert (
        np.isnan(np.diag(result)).all() and (correlation_differences(a, a).values[off] == 0).all()
    )
    mean = mean_correlations([a, b, a])["correlation"].values
    assert mean == pytest.approx((2 * own + own[np.ix_(place, place)]) / 3) and np.diag(
        mean
    ) == pytest.approx(1.0)


def test_shares_of_two_topics_are_opposite_and_one_topic_has_none():
    assert topic_correlations(run_of([[0.2]], [[[1.0]]]))["correlation"].values == pytest.approx(
        np.array([[1, -1], [-1, 1]])
    )
    assert topic_correlations(run_of(np.empty((1, 0)), np.empty((1, 0, 0))))[
        "correlation"
    ].values.tolist() == [[0.0]]


def test_clustered_order_puts_correlated_topics_next_to_each_other():
    correlation = np.full((4, 4), -0.2)
    for a, b in ((0, 2), (1, 3)):
        correlation[a, b] = correlation[b, a] = 0.9
    order = clustered_order(correlation).tolist()
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset((0, 2)), frozenset((1, 3))}
    assert clustered_order(np.eye(2)).tolist() == [0, 1]


def test_topic_correlations_refuses_runs_without_a_covariance():
    with pytest.raises(MeasureError, match="correlated topic model"):
        topic_correlations(tiny_run("cgs"))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ("sb-ctm", "ln-ctm"))
def test_correlations_of_logistic_normal_shares_are_found_where_the_topics_are(engine):
    """Five topics, 500 documents of 80 tokens (B.6): the mean of four chains, of which all find the topics of this corpus."""
    rng = np.random.default_rng(4)
    root, mean = rng.normal(size=(5, 5)), rng.normal(0, 0.3, 5)
    phi = rng.dirichlet(np.full(120, 0.1), 5)
    counts = rng.multinomial(
        80, softmax(rng.multivariate_normal(mean, root @ root.T, 500), axis=1) @ phi
    )
    truth = np.corrcoef(softmax(rng.multivariate_normal(mean, root @ root.T, 200_000), axis=1).T)
    rows, words = counts.nonzero()
    corpus, result = wb.Corpus.from_pairs(rows, words, counts[rows, words], n_words=120), []
    for seed in range(4):
        run = wb.fit(
            corpus, engine, 5, n_iterations=400, snapshot_every=5, seed=seed, progress=False
        )
        difference = np.abs(phi[:, None] - run["phi"].values).sum(axis=2)
        at = linear_sum_assignment(difference)[1]
        assert difference[range(5), at].max() < 0.3, "merged topics are 0.6 apart or more"
        result.append(topic_correlations(run)["correlation"].values[np.ix_(at, at)])
    pairs = np.triu_indices(5, 1)
    assert np.corrcoef(np.mean(result, axis=0)[pairs], truth[pairs])[0, 1] > 0.95
    assert np.mean(result, axis=0) == pytest.approx(truth, abs=0.15)


def test_strongest_pairs_are_the_most_positive_and_the_most_negative_one():
    correlation = np.eye(4)
    for one, other, value in ((0, 2, 0.3), (1, 3, 0.5), (0, 3, -0.2), (1, 2, -0.6)):
        correlation[one, other] = correlation[other, one] = value
    assert strongest_pairs(correlation) == [(1, 3), (1, 2)]
    assert strongest_pairs(np.array([[1.0, -1.0], [-1.0, 1.0]])) == [(0, 1)], (
        "no pair goes together"
    )
    assert strongest_pairs(np.eye(3)) == strongest_pairs(np.eye(1)) == []


def test_topic_of_words_finds_a_topic_by_its_words():
    run = run_of([[0.2, 0.1]], [np.eye(2)])
    phi = np.full(run["phi"].shape, 0.01)
    phi[2, :2], phi[0, 0] = 0.3, 0.9  # the first word alone is likelier in topic 0
    run = run.assign(phi=(run["phi"].dims, phi))
    first, second = run["word"].values[:2]
    assert topic_of_words(run, f"{first} {second}") == 2 and topic_of_words(run, first) == 0
    for words, missing in ((f"{first} nowhere", "nowhere"), ("", "")):
        with pytest.raises(MeasureError, match=f"the run has no word '{missing}'"):
            topic_of_words(run, words)


def test_topic_correlations_of_a_run_in_progress_only_draw_for_the_new_snapshot():
    moments = np.zeros((3, 2)), np.stack([np.eye(2) * scale for scale in (1.0, 2.0, 3.0)])
    topic_correlations(run_of(*(each[:2] for each in moments)), 50)
    before = _sampled_correlations.cache_info().misses
    topic_correlations(run_of(*moments), 50)
    assert _sampled_correlations.cache_info().misses == before + 1
