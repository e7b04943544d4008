"""Where chains come to from many starts: their means beside enumeration, and chains of one law and of two."""

import math

import numpy as np
import pytest
import twins
from toys import corpus_of, random_gamma, toy_a, toy_three_topics

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.measures import MeasureError, exact, stationary
from workbench.measures.stationary import assignments, fixed_point, partitions, token_topics
from workbench.models import LDA

TWO_LAWS = corpus_of([(0, 0, 5), (0, 1, 1), (1, 1, 1), (1, 2, 5)]), LDA(2, 0.1, 0.1)


def test_a_sampler_has_one_stationary_distribution_which_is_the_posterior():
    result = stationary(*toy_three_topics(), "cgs", n_starts=3, n_iterations=3000)
    assert result["n_attractors"].item() == 1
    assert result["predictive_distance"].max() < 0.01  # seen: 0.002
    assert result["co_assignment_distance"].max() < 0.03  # seen: 0.01
    # 365 partitions of seven tokens, and 3000 dependent draws; seen: 0.107
    assert result["sampled_distance"].max() < 0.15


def test_a_hybrid_can_have_two_stationary_distributions_where_the_sampler_has_one():
    """Seed 18 comes to the second law."""
    start = {"init": "dirichlet"}
    engines = [("svb-cgs", start), ("svb-cgs", start | {"n_chains": math.inf}), "cgs"]
    result = stationary(*TWO_LAWS, engines, n_starts=2, seed=17, n_iterations=1000)
    assert result["n_attractors"].values.tolist() == [2, 2, 1]
    assert result["attractor"].values.tolist() == [[0, 1], [0, 1], [0, 0]]
    assert np.all(result["spread"][:2] > 0.36) and result["spread"][2] < 0.02
    assert np.all(result["half_distance"][:2] < 0.01)  # each agrees with itself
    assert result["setting"].values.tolist() == [
        "svb-cgs init=dirichlet",
        "svb-cgs init=dirichlet n_chains=inf",
        "cgs",
    ]
    np.testing.assert_allclose(result["predictive"].sum("word"), 1.0, rtol=1e-9)


def test_distances_are_those_of_the_definition():
    result, truth = (
        stationary(
            *toy_a(), ("svb", ("svb-cgs", {"r": 3})), n_starts=2, n_iterations=50, burn_in=400
        ),
        exact(*toy_a()),
    )
    differences = np.abs(result["predictive"] - truth["predictive"])
    np.testing.assert_allclose(
        result["predictive_distance"], differences.sum("word").mean("document") / 2
    )
    assert np.isnan(result["sampled_distance"].sel(setting="svb")).all()
    assert (
        result["half_distance"].sel(setting="svb").max() < 1e-12
    )  # at rest 300 iterations after the warm-up
    assert result["exact_predictive"].identical(truth["predictive"].rename("exact_predictive"))


@pytest.mark.parametrize(
    "name, options",
    [
        ("svb-cgs", {"n_chains": 3}),
        ("svb-cgs", {"schedule": "sequential"}),
        ("cvb-cgs", {}),
        ("cvb0-cgs", {"n_chains": 2}),
        ("adaptive-cgs", {"refresh": 2, "budget_r": 3}),
        ("adaptive-cgs", {"split": "random", "refresh": 1, "budget": 0.8, "n_chains": 2}),
        ("adaptive-cgs", {"average": "cvb0", "refresh": 2}),
    ],
)
def test_the_topics_of_tokens_add_up_to_the_counts(name, options):
    """Of responsibilities that the engine does not store, too."""
    engine, (corpus, model) = get_engine(name), toy_a()
    chosen, n_topics = make_options(engine, options), model.n_topics
    state = engine.init(corpus, model, chosen, StepContext(0, 0))
    for step in range(1, 8):
        before = type(state)(
            *(each.copy() if isinstance(each, np.ndarray) else each for each in state)
        )
        state, _ = engine.step(corpus, model, chosen, state, StepContext(0, step))
        topics = token_topics(corpus, chosen, before, state, step)
        np.testing.assert_allclose(topics.sum(axis=2), 1.0, rtol=1e-6)
        for n_dk, of_chain in zip(state.n_dk, topics, strict=True):
            per_document = np.add.reduceat(of_chain, [0, 4])
            np.testing.assert_allclose(
                per_document, (state.mean_dk + n_dk)[:, :n_topics], rtol=0, atol=1e-6
            )


def test_partitions_do_not_depend_on_the_numbers_of_topics():
    topics = np.array([[0, 1, 0, 2], [2, 0, 2, 1], [1, 1, 1, 1], [0, 0, 1, 1]])
    first, same, all_one, two_pairs = partitions(topics, 3)
    assert first == same and len({first, all_one, two_pairs}) == 3
    every = np.array(list(np.ndindex(4, 4, 4, 4)))
    assert len(set(partitions(every, 4))) == 15  # the fourth Bell number


def test_infinitely_many_chains_agree_with_the_plain_implementation():
    """The fixed point of the exact updates, and the means there by enumeration."""
    (corpus, model), options = toy_a(), make_options(get_engine("svb-cgs"), {"r": 1})
    gamma = random_gamma(corpus, 2)
    for _ in range(200):
        gamma = twins.hybrid_optimum_step(corpus, gamma, model.alphas, model.beta, 1)
    mean = twins.expected_counts(corpus, gamma, 1)
    law = twins.enumerate_topics(corpus, model.alphas, model.beta, 1, mean)
    counts = [mean.plus(twins.sampled_counts(corpus, z, 2, 1)) for z in law.topics]
    table = sum(
        p * twins.predictive(each, model.alphas, model.beta)
        for p, each in zip(law.probability, counts, strict=True)
    )
    predictive, co_assignment, topics, q = fixed_point(corpus, model, options, 0)
    np.testing.assert_allclose(predictive, table, rtol=1e-9)
    assert np.array_equal(topics, law.topics[:, [3, 4, 5]])
    np.testing.assert_allclose(q, law.probability, rtol=1e-8)
    assert co_assignment[0, 1] == pytest.approx(np.sum(gamma[0] ** 2))
    assert co_assignment[0, 3] == pytest.approx(
        sum(p * gamma[0, z[3]] for z, p in zip(law.topics, q, strict=True))
    )
    assert co_assignment[3, 4] == pytest.approx(q[law.topics[:, 3] == law.topics[:, 4]].sum())


@pytest.mark.slow
def test_many_chains_are_close_to_infinitely_many():
    result = stationary(
        *toy_a(),
        [("svb-cgs", {"n_chains": n}) for n in (1, 50, math.inf)],
        n_starts=1,
        n_iterations=1000,
    )
    one, many, infinite = result["predictive"].values[:, 0]
    # seen: 0.0003 and 0.0039
    assert np.abs(many - infinite).max() < 0.003 < np.abs(one - infinite).max()


def test_with_every_token_sampled_the_limit_is_the_posterior():
    corpus, model = toy_three_topics()
    options, truth = make_options(get_engine("svb-cgs"), {"r": math.inf}), exact(corpus, model)
    predictive, co_assignment, *_ = fixed_point(corpus, model, options, 0)
    np.testing.assert_allclose(predictive, truth["predictive"], rtol=1e-10)
    np.testing.assert_allclose(co_assignment, truth["co_assignment"], rtol=1e-10)


def test_assignments_given_expected_counts_agree_with_the_plain_implementation():
    (corpus, model), gamma = toy_a(), random_gamma(toy_a()[0], 2)
    mean = twins.expected_counts(corpus, gamma, 1)
    law = twins.enumerate_topics(corpus, model.alphas, model.beta, 1, mean)
    topics, q = assignments(corpus, model, corpus.counts <= 1, tuple(mean))
    assert np.array_equal(topics, law.topics[:, [3, 4, 5]])
    np.testing.assert_allclose(q, law.probability, rtol=1e-10)


@pytest.mark.parametrize(
    "engines, message",
    [
        ("vb", "got 'vb'"),
        ([("svb-cgs", {"learn_alpha": "maximised"})], "learns them"),
        ([("cvb-cgs", {"n_chains": math.inf})], "are available for svb-cgs"),
        ([], "at least one engine"),
    ],
)
def test_stationary_refuses_engines_without_a_fixed_posterior(engines, message):
    with pytest.raises(MeasureError, match=message):
        stationary(*toy_a(), engines, n_starts=1, n_iterations=2, burn_in=0)


def test_a_corpus_that_cannot_be_enumerated_is_refused():
    with pytest.raises(MeasureError, match="assignments"):
        stationary(corpus_of([(0, 0, 17)]), LDA(2, 0.1, 0.1))
