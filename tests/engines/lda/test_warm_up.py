"""The start `smooth`: a warm-up in which the log of an expected count stands for the expectation of its log."""

from copy import deepcopy
from functools import partial

import numpy as np
import pytest
import twins
from engines.lda.starts import assert_same_bits, cvb_state, svb_state
from hdp_twins import chosen_hdp, hdp_of
from stepping import stepped
from toys import random_gamma, simulated

from workbench.corpus import hold_out_tokens, load_corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import cvb, svb, vb
from workbench.models import LDA

CORPUS, MODEL, GAMMA = simulated(8, 10, 12), LDA(3, (0.1, 0.5, 0.9), 0.2), 3


def smoothed(counts, d, w):
    """gamma of one pair: (alpha + n_dk) (beta + n_wk) / (W beta + n_k)."""
    weights = MODEL.alphas + counts.n_dk[d]
    weights *= (MODEL.beta + counts.n_wk[w]) / (CORPUS.n_words * MODEL.beta + counts.n_k)
    return weights / weights.sum()


def smooth_sweep(gamma, schedule):
    new = gamma.copy()
    for pair, (d, w, _) in enumerate(twins.pairs_of(CORPUS)):
        counts = twins.expected_counts(CORPUS, gamma if schedule == "parallel" else new)
        new[pair] = smoothed(counts, d, w)
    return new


@pytest.mark.parametrize("schedule", ["parallel", "sequential"])
def test_sweeps_of_svb_meet_their_twin_in_the_warm_up_and_after(schedule):
    engine, options = get_engine("svb"), svb.Options(schedule, warm_up=2)
    gamma = random_gamma(CORPUS, GAMMA)
    state = svb_state(CORPUS, MODEL, gamma, schedule)
    for step in (1, 2, 3, 4):
        if step <= 2:
            gamma = smooth_sweep(gamma, schedule)
        else:
            gamma = twins.variational_sweep(CORPUS, gamma, MODEL.alphas, MODEL.beta, schedule)
        state, _ = engine.step(CORPUS, MODEL, options, state, StepContext(0, step))
        expected = svb_state(CORPUS, MODEL, gamma, schedule)
        for found, wanted in zip(state[:4], expected[:4], strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
        wanted = twins.bound(CORPUS, gamma, MODEL.alphas, MODEL.beta)
        assert engine.watch(CORPUS, MODEL, options, state)["bound"] == pytest.approx(wanted)


@pytest.mark.parametrize("given", [{}, {"topics": "point"}, {"restart_documents": True}])
def test_a_warm_up_of_vb_is_that_of_svb(given):
    options, gamma = vb.Options(warm_up=3, **given), random_gamma(CORPUS, GAMMA)
    other = svb_state(CORPUS, MODEL, gamma, "parallel")
    state = vb.State(*other[:3], 0.0, MODEL.alphas, MODEL.beta)
    for step in (1, 2, 3):
        gamma = smooth_sweep(gamma, "parallel")
        state, _ = get_engine("vb").step(CORPUS, MODEL, options, state, StepContext(0, step))
        expected = svb_state(CORPUS, MODEL, gamma, "parallel")
        np.testing.assert_allclose(state.mean_dk, expected.mean_dk, rtol=1e-9)
        np.testing.assert_allclose(state.mean_wk, expected.mean_wk, rtol=1e-9)


def test_a_warm_up_of_cvb_is_cvb0_and_its_variances_are_there_afterwards():
    engines, gamma = (get_engine("cvb"), get_engine("cvb0")), random_gamma(CORPUS, GAMMA)
    state, other = (cvb_state(CORPUS, MODEL, gamma, second_order=i == 0) for i in (0, 1))
    learning = {"learn_alpha": "maximised", "learn_beta": "maximised", "learn_after": 0}
    options = cvb.Options(warm_up=2, **learning), engines[1].options(**learning)
    for step in (1, 2):
        context = StepContext(0, step)
        state, _ = engines[0].step(CORPUS, MODEL, options[0], state, context)
        other, _ = engines[1].step(CORPUS, MODEL, options[1], other, context)
        np.testing.assert_equal((*state[:3], *state[6:]), (*other[:3], *other[6:]))
        watched = [
            e.watch(CORPUS, MODEL, o, s)
            for e, o, s in zip(engines, options, (state, other), strict=True)
        ]
        np.testing.assert_equal(*watched)
    model = LDA(3, tuple(state.alpha), state.beta)
    wanted = twins.collapsed_sweep(CORPUS, state.gamma[:, :3].copy(), state.alpha, state.beta)
    state, _ = engines[0].step(CORPUS, model, cvb.Options(warm_up=2), state, StepContext(0, 3))
    np.testing.assert_allclose(state.gamma[:, :3], wanted, rtol=1e-9, atol=1e-12)


def test_a_warm_up_of_cv_hdp_has_no_variances():
    engine = get_engine("cv-hdp")
    smooth, zeroth = (
        chosen_hdp(engine, warm_up=2),
        chosen_hdp(engine, init="noise", update="zeroth"),
    )
    states = [
        engine.init(CORPUS, hdp_of(each, 4), each, StepContext(0, 0)) for each in (smooth, zeroth)
    ]
    assert_same_bits(*states)
    states = [
        engine.step(CORPUS, hdp_of(each, 4), each, state, StepContext(0, 1))[0]
        for each, state in zip((smooth, zeroth), states, strict=True)
    ]
    assert np.array_equal(states[0].gamma, states[1].gamma)
    again = deepcopy(states[0])
    after, _ = engine.step(CORPUS, hdp_of(smooth, 4), smooth, again, StepContext(0, 3))
    same, _ = engine.step(CORPUS, hdp_of(zeroth, 4), zeroth, states[0], StepContext(0, 3))
    assert np.abs(after.gamma - same.gamma).max() > 1e-6


@pytest.mark.parametrize("name", ["svb", "vb", "cvb", "cv-hdp"])
def test_a_run_from_given_counts_has_no_warm_up(name):
    engine = get_engine(name)
    model = LDA(3, 0.1, 0.1) if name != "cv-hdp" else engine.model(4)
    plain = engine.options(init="noise")
    start = partial(engine.init, CORPUS, model, plain, StepContext(0, 0))
    warm, _ = engine.step(CORPUS, model, engine.options(), start(), StepContext(0, 1, warm=True))
    cold, _ = engine.step(CORPUS, model, plain, start(), StepContext(0, 1))
    np.testing.assert_equal(warm[:3], cold[:3])


def test_small_priors_do_not_empty_topics_before_there_are_topics():
    """Seen on docstrings with ten topics: perplexity 711 from `smooth`, and 916 from `dirichlet`."""
    train, test = hold_out_tokens(load_corpus("docstrings"), 0.1)
    engine, model, perplexities = get_engine("svb"), LDA(10, 0.1, 0.1), {}
    for init in ("smooth", "dirichlet"):
        options = engine.options(init=init)
        state = stepped(engine, train, model, options, 130)
        logs = np.log(engine.predict(train, model, options, state, test))
        perplexities[init] = np.exp(-np.average(logs, weights=test.counts))
    assert perplexities["smooth"] < 0.85 * perplexities["dirichlet"]
