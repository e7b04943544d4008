"""The Gaussian linear dynamical system of shares: its emission given the states, its potentials, and its forecasts."""

import numpy as np
import pytest

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking import raw_lds
from workbench.kernels.state_space import mniw_posterior


def walk(n_rows=40, held_out=6):
    """A sequence that goes round three words, one of its documents empty and one of several words."""
    words = np.arange(n_rows) % 3
    keep = np.arange(n_rows) != 7
    corpus = Corpus.from_pairs(
        [*np.flatnonzero(keep), 9], [*words[keep], 1], [*np.ones(keep.sum(), int), 3], n_documents=n_rows,
        sequence=[("a", t) for t in range(n_rows)], name="walk",
    )
    return wb.hold_out_ends(corpus, held_out)


def begun(**options):
    train, test = walk()
    engine = get_engine("raw-lds")
    model, chosen = engine.model(2).for_data(train), engine.options(**options)
    return engine, train, test, model, chosen, engine.init(train, model, chosen, StepContext(0, 0))


def test_the_emission_given_the_states_is_matrix_normal_inverse_wishart():
    _, train, _, _, _, state = begun()
    shares = raw_lds.shares_of(train)
    assert len(shares.y) == 33 and shares.y.sum(axis=1) == pytest.approx(0, abs=1e-12)
    prior = np.zeros((3, 2)), 3.0 * np.eye(2), 4.0, 3.0 * np.eye(3)
    wanted = mniw_posterior(shares.y, state.states[shares.documents], *prior)
    for found, twin in zip(raw_lds.emission_posterior(train, state.states), wanted, strict=True):
        assert found == pytest.approx(twin, rel=1e-10, abs=1e-12)


def test_drawn_emissions_have_their_posterior_moments():
    """E R = scale / (nu - W - 1); C has covariance E R times the inverse of the column precision."""
    _, train, _, _, _, state = begun()
    mean, precision, nu, scale = raw_lds.emission_posterior(train, state.states)
    loadings, covariances = [], []
    for i in range(4000):
        raw_lds.draw_emission(train, state, StepContext(0, i))
        root = raw_lds.with_covariance(state, np.eye(3))
        loadings.append(state.loadings.copy())
        covariances.append(root @ root.T)
    expected, found = scale / (nu - 4), np.array(covariances)
    assert (np.abs(found.mean(axis=0) - expected) / (found.std(axis=0) / np.sqrt(4000))).max() < 4.5
    centred = (np.array(loadings) - mean).reshape(4000, -1)
    products = centred[:, :, None] * centred[:, None]
    off = np.abs(products.mean(axis=0) - np.kron(expected, np.linalg.inv(precision)))
    assert (off / (products.std(axis=0) / np.sqrt(4000))).max() < 4.5


def test_potentials_are_those_of_the_drawn_emission():
    _, train, _, _, _, state = begun()
    shares, root = raw_lds.shares_of(train), raw_lds.with_covariance(state, np.eye(3))
    R, C = root @ root.T, state.loadings
    J, h = raw_lds.potentials(train, state)
    assert (J[[7, 35]] == 0).all() and (h[[7, 35]] == 0).all()  # the empty one, and one that is held out
    wanted = shares.y @ np.linalg.solve(R, C)
    assert J[0] == pytest.approx(C.T @ np.linalg.solve(R, C), rel=1e-10)
    assert h[shares.documents] == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize("probabilities", ["clip", "argmax"])
def test_what_goes_round_is_forecast(probabilities):
    train, test = walk()
    options = {"state_dim": 2, "probabilities": probabilities, "n_draws": 50}
    run = wb.fit(train, "raw-lds", test=test, n_iterations=120, burn_in=60, options=options, progress=False)
    assert float(run["test_perplexity"][-1]) < 3.2  # of 3 where words are equally frequent
    assert run["loadings"].dims == ("snapshot", "word", "state_dim") and np.isfinite(run["states_mean"].values).all()


@pytest.mark.parametrize("probabilities", ["clip", "argmax"])
def test_forecasts_add_up_to_one(probabilities):
    engine, train, _, model, options, state = begun(probabilities=probabilities)
    table = Corpus.from_pairs(np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40), np.ones(120, int))
    p = engine.predict(train, model, options, state, table, StepContext(0, 1)).reshape(40, 3)
    assert p.sum(axis=1) == pytest.approx(1.0, rel=1e-12) and p.min() > 0
