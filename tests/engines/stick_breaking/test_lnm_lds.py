"""Logistic-normal linear dynamical systems: what a run predicts, and what it does not depend on."""

import numpy as np
import pytest
from engines.stick_breaking.test_hmm import symbols
from stepping import states

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking import lnm_lds

ENGINE = get_engine("lnm-lds")
OPTIONS = {"state_dim": 3, "sweep_particles": 20}


@pytest.mark.slow  # 150 iterations of 600 documents
def test_the_end_of_a_sequence_is_predicted_from_what_came_before():
    train, test = wb.hold_out_ends(symbols()[0], 20)
    run = wb.fit(
        train, "lnm-lds", test=test, n_iterations=150, burn_in=50, options=OPTIONS, progress=False
    )
    shares = np.bincount(train.words, train.counts) / train.n_tokens
    # of six symbols two are left
    assert float(run["test_perplexity"][-1]) < 0.75 * np.exp(-np.log(shares[test.words]).mean())
    assert 0.5 < run["moved"].values.mean() < 1.0  # twenty particles and ancestor sampling
    assert run["states"].dims == ("snapshot", "document", "state_dim") and "stick" not in run.dims


def test_the_order_of_sequences_and_slices_of_the_work_change_nothing(monkeypatch):
    corpus, _ = symbols(3, 15)
    turned = np.concatenate([np.arange(30, 45), np.arange(30)])
    model, options, found = ENGINE.model(2, offset="uniform"), ENGINE.options(sweep_particles=5), []
    for each, work in ((corpus, 2**24), (corpus, 1000), (corpus.of_documents(turned), 2**24)):
        monkeypatch.setattr(lnm_lds, "SLICE_WORK", work)
        found.append(ENGINE.init(each, model, options, StepContext(4, 0)))
    assert all(np.array_equal(a, b) for a, b in zip(found[0], found[1], strict=True))
    assert np.array_equal(found[0].states[turned], found[2].states)


def test_a_sequence_without_words_has_states_of_the_prior_and_predictions():
    """The second of two sequences is held out whole."""
    corpus, _ = symbols(2, 12)
    train, test = wb.hold_out_rows(corpus, "sequence", values="b")
    model, options = ENGINE.model(2), ENGINE.options(sweep_particles=5)
    squares = []
    for state in states(ENGINE, train, model, options, 400):
        squares.append((state.states[12] ** 2).mean())
    # variance 1; 800 squares of standard deviation 1.4: 4 errors
    assert np.mean(squares) == pytest.approx(1.0, abs=0.2)
    probability = ENGINE.predict(train, model, options, state, test, StepContext(0, 401))
    assert probability.shape == (12,) and (probability > 0).all() and (probability < 1).all()


def test_states_that_are_forecast_follow_the_system_of_the_same_draw():
    """Squares of their eleven steps of two numbers, in units of B, are chi-square: of mean 22 and variance 44."""
    train, _ = wb.hold_out_rows(symbols(2, 12)[0], "sequence", values="b")
    model, options = ENGINE.model(2), ENGINE.options(sweep_particles=5)
    squares = []
    for state in states(ENGINE, train, model, options, 200):
        off = state.states[13:24] - state.states[12:23] @ state.system.T
        squares.append((off * np.linalg.solve(state.noise, off.T).T).sum())
    assert np.mean(squares) == pytest.approx(22.0, abs=4.5 * np.sqrt(44 / 200))
