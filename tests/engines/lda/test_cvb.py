"""Collapsed variational Bayes, both orders, against the twin, the published trajectories and exact answers."""

from functools import partial

import numpy as np
import pytest
import twins
from engines.lda.starts import assert_same_counts, cvb_state
from stepping import stepped, steps
from toys import CORPORA, random_gamma, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import cvb, cvb0
from workbench.models import LDA

ORACLE = 1e-9  # float64 trajectories, spec E.5
CONVERGED = 1e-7  # fixed points, spec E.5
COUNTS, NATS = 1e-9, 1e-8  # rounding of running sums over a few sweeps of at most 180 tokens

both_orders = pytest.mark.parametrize("name", ["cvb", "cvb0"])


def sweeps(name, corpus, model, state, n=1, first=1):
    options = cvb.Options(init="dirichlet")
    *_, last = steps(get_engine(name), corpus, model, options, n, state=state, first=first)
    return last


def started(name, corpus, model, gamma):
    return cvb_state(corpus, model, gamma, second_order=name == "cvb")


def twin_sweep(name):
    return partial(twins.collapsed_sweep, second_order=name == "cvb")


# ---------------------------------------------------------------------- published values


@both_orders
def test_twin_and_engine_follow_the_printed_trajectory(oracles, toy, name):
    printed, (corpus, model) = oracles["toyA"][name], toy
    gamma = np.array(printed["gamma0"])
    state = started(name, corpus, model, gamma)
    for sweep in range(1, 6):
        gamma = twin_sweep(name)(corpus, gamma, model.alphas, model.beta)
        state, _ = sweeps(name, corpus, model, state)
        if str(sweep) in printed["gamma_after"]:
            np.testing.assert_allclose(
                gamma, printed["gamma_after"][str(sweep)], rtol=0, atol=ORACLE
            )
            np.testing.assert_allclose(
                state.gamma[:, :2], printed["gamma_after"][str(sweep)], rtol=0, atol=ORACLE
            )


@both_orders
def test_the_engine_comes_to_rest_at_the_printed_fixed_point(oracles, toy, name):
    """Taking out all n copies of a pair converges elsewhere: 0.47 instead of 0.05 for the last pair of toyA (spec A.6)."""
    printed, (corpus, model) = oracles["toyA"][name], toy
    state, info = sweeps(
        name, corpus, model, started(name, corpus, model, np.array(printed["gamma0"])), 1000
    )
    np.testing.assert_allclose(state.gamma[:, :2], printed["gamma_final"], rtol=0, atol=CONVERGED)
    assert info["change"] < 1e-12  # rounding


@both_orders
def test_one_token_is_exact(oracles, name):
    """gamma = alpha / A, where `svb` is too sure of itself."""
    edge, corpus = oracles["edge"]["one_token"], CORPORA["one_token"]
    model = LDA(2, tuple(edge["alpha"]), edge["beta"])
    state, _ = sweeps(name, corpus, model, started(name, corpus, model, np.array([[0.9, 0.1]])))
    np.testing.assert_allclose(
        state.gamma[:, :2], edge["cvb_gamma_after_one_sweep"], rtol=0, atol=ORACLE
    )


# ---------------------------------------------------------------------- against the twin


@both_orders
@pytest.mark.parametrize("n_topics", [1, 2, 15, 16, 17, 33, 100])
def test_sweeps_meet_their_twin_for_any_number_of_topics(n_topics, name):
    corpus, model = simulated(8, 10, 12), LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    gamma = random_gamma(corpus, n_topics)
    state = started(name, corpus, model, gamma)
    for sweep in range(1, 4):
        before, gamma = gamma, twin_sweep(name)(corpus, gamma, model.alphas, model.beta)
        state, info = sweeps(name, corpus, model, state, first=sweep)
        np.testing.assert_allclose(state.gamma[:, :n_topics], gamma, rtol=0, atol=COUNTS)
        assert_same_counts(state, twins.expected_counts(corpus, gamma), COUNTS)
        assert info == {
            "updates": corpus.n_pairs,
            "change": pytest.approx(np.abs(gamma - before).max(), abs=COUNTS),
        }
    assert not any(array[..., n_topics:].any() for array in state[:7])  # of the padding
    found = get_engine(name).watch(corpus, model, cvb.Options(init="dirichlet"), state)
    assert found["bound"] == pytest.approx(
        twins.bound(corpus, gamma, model.alphas, model.beta), abs=NATS
    )


@pytest.mark.parametrize("name", CORPORA)
def test_variances_are_those_of_the_responsibilities_after_many_sweeps(name):
    """Moved along for 60 iterations and summed afresh in one of them: still n gamma (1 - gamma)."""
    corpus, model = CORPORA[name], LDA(3, 0.3, 0.2)
    state, _ = sweeps(
        "cvb", corpus, model, started("cvb", corpus, model, random_gamma(corpus, 3)), 60
    )
    expected = twins.count_variances(corpus, state.gamma[:, :3])
    for array, twin in zip(state[3:6], expected, strict=True):
        np.testing.assert_allclose(array[..., :3], twin, rtol=0, atol=COUNTS)


def test_drift_is_mended_in_every_fiftieth_iteration():
    corpus, model = simulated(), LDA(3, 0.3, 0.2)
    gamma = random_gamma(corpus, 3)
    for step, mended in ((cvb.RECOUNT_EVERY - 1, False), (cvb.RECOUNT_EVERY, True)):
        state = started("cvb", corpus, model, gamma)
        state.mean_wk[0, 0] += 1.0
        state, _ = sweeps("cvb", corpus, model, state, first=step)
        assert np.allclose(state.mean_wk.sum(axis=0), state.mean_k, atol=COUNTS) == mended


@both_orders
def test_single_precision_halves_the_responsibilities_and_stays_near_to_double(name):
    """Nothing but the stored responsibilities is rounded, to 6e-8; 20 iterations multiply that some times."""
    corpus, model, engine = simulated(), LDA(3, 0.3, 0.2), get_engine(name)
    double, single = (
        stepped(engine, corpus, model, cvb.Options(init="dirichlet", precision=way), 20)
        for way in ("double", "single")
    )
    assert 2 * single.gamma.nbytes == double.gamma.nbytes
    np.testing.assert_allclose(single.gamma, double.gamma, rtol=0, atol=1e-4)
    assert np.abs(single.gamma - double.gamma).max() > 0
    bounds = [
        engine.watch(corpus, model, cvb.Options(init="dirichlet"), state)["bound"]
        for state in (double, single)
    ]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-5)


@both_orders
def test_counts_are_those_of_the_responsibilities_as_they_are_stored(name):
    """Rounded before they are counted: else every update would leave the counts 6e-8 off, and forty sweeps much more."""
    corpus, model, engine = simulated(), LDA(3, 0.3, 0.2), get_engine(name)
    state = engine.init(
        corpus, model, cvb.Options(init="dirichlet", precision="single"), StepContext(0, 0)
    )
    state, _ = sweeps(name, corpus, model, state, 40)
    gamma = state.gamma[:, :3].astype(float)
    assert_same_counts(state, twins.expected_counts(corpus, gamma), COUNTS)
    if name == "cvb":
        for array, twin in zip(state[3:6], twins.count_variances(corpus, gamma), strict=True):
            np.testing.assert_allclose(array[..., :3], twin, rtol=0, atol=COUNTS)


def test_zeroth_order_keeps_no_variances():
    corpus, model = simulated(), LDA(3)
    state = cvb0.init(corpus, model, cvb.Options(init="dirichlet"), StepContext(0, 0))
    assert state.moments[3:] == (None, None, None)
    assert sum(array.size for array in state[3:6]) == 0
