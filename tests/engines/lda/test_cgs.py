"""Collapsed Gibbs sampling against its twin, enumeration and published values; more in tests/kernels/lda/test_gibbs.py."""

import numpy as np
import pytest
import twins
from engines.lda.starts import MODELS, cgs_state, uniforms_of
from geweke import z_of
from stepping import states
from toys import (
    CORPORA,
    corpus_of,
    random_topics,
    simulated,
)

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import cgs
from workbench.models import LDA

ENGINE, OPTIONS = get_engine("cgs"), cgs.Options()
EXACT = 1e-10  # exact quantities, spec E.5


@pytest.mark.parametrize(
    "model",
    [*MODELS, LDA(6, 1e-4, 1e-4), LDA(6, 1e-8, 1e-8)],
    ids=lambda model: f"{model.n_topics}-{model.beta}",
)
def test_sweeps_meet_their_twin_token_by_token(model):
    corpus, n_topics = simulated(), model.n_topics
    topics = random_topics(corpus, n_topics)
    state = cgs_state(corpus, model, topics, n_topics)
    for sweep in (1, 2):
        context, before = StepContext(9, sweep), topics
        topics = twins.gibbs_sweep(corpus, topics, model.alphas, model.beta, uniforms_of(context))
        state, info = ENGINE.step(corpus, model, OPTIONS, state, context)
        assert np.array_equal(state.topics, topics)
        assert info == {"updates": corpus.n_tokens, "moved": np.mean(before != topics), "scan": 0}
    expected = twins.log_joint(
        twins.sampled_counts(corpus, topics, n_topics), model.alphas, model.beta
    )
    found = ENGINE.watch(corpus, model, OPTIONS, state)["log_joint"]
    assert found == pytest.approx(expected, rel=1e-12)  # rounding of some hundred lgammas


def test_one_token_follows_its_prior(oracles):
    edge = oracles["edge"]["one_token"]
    model = LDA(2, tuple(edge["alpha"]), edge["beta"])
    visited = states(ENGINE, CORPORA["one_token"], model, OPTIONS, 5000)
    samples = [[state.topics[0] == 0] for state in visited]
    assert z_of(samples, edge["pz"][0][:1], 50).max() < 4


def test_samples_predict_with_the_printed_perplexity(oracles, toy):
    """p(w|d) of each token is averaged over samples before the product is taken (eq. 31)."""
    printed, (corpus, model) = oracles["toyA"]["perplexity"], toy
    test = corpus_of(printed["test"], 2, 3)
    rows = [twins.pairs_of(test).index(tuple(pair)) for pair in printed["test"]]
    probability = [
        ENGINE.predict(corpus, model, OPTIONS, cgs_state(corpus, model, topics, 2), test)
        for topics in printed["samples"]
    ]
    np.testing.assert_allclose(
        np.array(probability)[:, rows], printed["p_token_per_sample"], rtol=EXACT
    )
    average = np.mean(probability, axis=0)
    perplexity = np.exp(-np.dot(test.counts, np.log(average)) / test.n_tokens)
    assert perplexity == pytest.approx(printed["perplexity_eq31"], rel=EXACT)


def test_draws_that_held_out_tokens_are_scored_by_have_the_means_on_average():
    """Given the counts theta and phi are independent, so that the mean of sum_k theta_dk phi_kw is that of their means."""
    corpus, model = simulated(), LDA(4, (0.1, 0.3, 0.5, 2.0), 0.2)
    state = cgs_state(corpus, model, random_topics(corpus, 4), 4)
    sampled, n = cgs.Options(scored="sampled"), 2000
    drawn = np.array(
        [
            ENGINE.predict(corpus, model, sampled, state, corpus, StepContext(1, step))
            for step in range(1, n + 1)
        ]
    )
    exact = ENGINE.predict(corpus, model, OPTIONS, state, corpus, StepContext(1, 1))
    error = drawn.std(axis=0, ddof=1) / np.sqrt(n)
    # of some hundred pairs
    assert error.min() > 0 and np.all(np.abs(drawn.mean(axis=0) - exact) < 5 * error)
    again = ENGINE.predict(corpus, model, sampled, state, corpus, StepContext(1, 1, n_threads=2))
    assert np.array_equal(again, drawn[0]) and not np.array_equal(drawn[0], drawn[1])
