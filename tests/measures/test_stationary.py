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
from workbench.measures.infinite_chains import assignments, at_rest
from workbench.measures.stationary import partitions, token_topics
from workbench.models import LDA

TWO_LAWS = corpus_of([(0, 0, 5), (0, 1, 1), (1, 1, 1), (1, 2, 5)]), LDA(2, 0.1, 0.1)
ROUNDING = 1e-8  # exp(digamma) has a relative error of 3e-10 (spec A.11), times the tokens of a toy


def test_a_sampler_has_one_law_and_it_is_the_posterior():
    found = stationary(*toy_three_topics(), "cgs", n_starts=3, n_iterations=3000)
    assert found["n_attractors"].item() == 1
    assert found["predictive_distance"].max() < 0.01  # seen: 0.002
    assert found["co_assignment_distance"].max() < 0.03  # seen: 0.01
    # 365 partitions of seven tokens, and 3000 dependent draws; seen: 0.107
    assert found["sampled_distance"].max() < 0.15


def test_a_hybrid_may_have_two_laws_where_the_sampler_has_one():
    """Seed 18 comes to the second law."""
    engines = ["svb-cgs", ("svb-cgs", {"n_chains": math.inf}), "cgs"]
    found = stationary(*TWO_LAWS, engines, n_starts=2, seed=17, n_iterations=1000)
    assert found["n_attractors"].values.tolist() == [2, 2, 1]
    assert found["attractor"].values.tolist() == [[0, 1], [0, 1], [0, 0]]
    assert np.all(found["spread"][:2] > 0.36) and found["spread"][2] < 0.02
    assert np.all(found["half_distance"][:2] < 0.01)  # each agrees with itself
    assert found["setting"].values.tolist() == ["svb-cgs", "svb-cgs n_chains=inf", "cgs"]
    np.testing.assert_allclose(found["predictive"].sum("word"), 1.0, rtol=1e-9)


def test_distances_are_those_of_the_definition():
    found, truth = (
        stationary(*toy_a(), ("svb", ("svb-cgs", {"r": 3})), n_starts=2, n_iterations=50),
        exact(*toy_a()),
    )
    differences = np.abs(found["predictive"] - truth["predictive"])
    np.testing.assert_allclose(
        found["predictive_distance"], differences.sum("word").mean("document") / 2
    )
    assert np.isnan(found["sampled_distance"].sel(setting="svb")).all()
    assert found["half_distance"].sel(setting="svb").max() < 1e-12  # at rest after 200 iterations
    assert found["exact_predictive"].identical(truth["predictive"].rename("exact_predictive"))


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


def test_infinitely_many_chains_meet_the_twin():
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
    found = at_rest(corpus, model, options, 0)
    np.testing.assert_allclose(found.predictive, table, rtol=1e-9)
    topics, q = found.sampled
    assert np.array_equal(topics, law.topics[:, [3, 4, 5]])
    np.testing.assert_allclose(q, law.probability, rtol=1e-8)
    assert found.co_assignment[0, 1] == pytest.approx(np.sum(gamma[0] ** 2))
    assert found.co_assignment[0, 3] == pytest.approx(
        sum(p * gamma[0, z[3]] for z, p in zip(law.topics, q, strict=True))
    )
    assert found.co_assignment[3, 4] == pytest.approx(q[law.topics[:, 3] == law.topics[:, 4]].sum())


@pytest.mark.slow
def test_many_chains_come_close_to_infinitely_many():
    found = stationary(
        *toy_a(),
        [("svb-cgs", {"n_chains": n}) for n in (1, 50, math.inf)],
        n_starts=1,
        n_iterations=1000,
    )
    one, many, infinite = found["predictive"].values[:, 0]
    # seen: 0.0003 and 0.0039
    assert np.abs(many - infinite).max() < 0.003 < np.abs(one - infinite).max()


def test_with_every_token_sampled_the_limit_is_the_posterior():
    corpus, model = toy_three_topics()
    found, truth = (
        at_rest(corpus, model, make_options(get_engine("svb-cgs"), {"r": math.inf}), 0),
        exact(corpus, model),
    )
    np.testing.assert_allclose(found.predictive, truth["predictive"], rtol=1e-10)
    np.testing.assert_allclose(found.co_assignment, truth["co_assignment"], rtol=1e-10)


def test_assignments_beside_expected_counts_meet_the_twin():
    (corpus, model), gamma = toy_a(), random_gamma(toy_a()[0], 2)
    mean = twins.expected_counts(corpus, gamma, 1)
    law = twins.enumerate_topics(corpus, model.alphas, model.beta, 1, mean)
    topics, q = assignments(corpus, model, corpus.counts <= 1, tuple(mean))
    assert np.array_equal(topics, law.topics[:, [3, 4, 5]])
    np.testing.assert_allclose(q, law.probability, rtol=1e-10)


@pytest.mark.parametrize(
    "engines, told",
    [
        ("vb", "got 'vb'"),
        ([("svb-cgs", {"learn_alpha": "maximised"})], "learns them"),
        ([("cvb-cgs", {"n_chains": math.inf})], "are those of svb-cgs"),
        ([], "at least one engine"),
    ],
)
def test_what_has_no_law_to_compare_is_refused(engines, told):
    with pytest.raises(MeasureError, match=told):
        stationary(*toy_a(), engines, n_starts=1, n_iterations=2, burn_in=0)


def test_a_corpus_that_cannot_be_enumerated_is_refused():
    with pytest.raises(MeasureError, match="assignments"):
        stationary(corpus_of([(0, 0, 17)]), LDA(2, 0.1, 0.1))
