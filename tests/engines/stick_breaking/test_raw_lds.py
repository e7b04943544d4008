"""The Gaussian linear dynamical system of shares: the whole sampler by Geweke's test, its parts, and its forecasts."""

import contextlib

import numpy as np
import pytest
from geweke import assert_same_expectations
from scipy import stats

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking import raw_lds
from workbench.engines.stick_breaking.raw_lds import Options, Shares, State
from workbench.kernels.state_space import mniw_posterior
from workbench.kernels.threads import one_blas_thread
from workbench.models.stick_breaking.linear_dynamical import GaussianDynamicalSystem, SystemPrior


def walk(n_rows=40, held_out=6):
    """A sequence that goes round three words, one of its documents empty and one of several words."""
    words = np.arange(n_rows) % 3
    keep = np.arange(n_rows) != 7
    corpus = Corpus.from_pairs(
        [*np.flatnonzero(keep), 9],
        [*words[keep], 1],
        [*np.ones(keep.sum(), int), 3],
        n_documents=n_rows,
        sequence=[("a", t) for t in range(n_rows)],
        name="walk",
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
    # the empty one, and one that is held out
    assert (J[[7, 35]] == 0).all() and (h[[7, 35]] == 0).all()
    wanted = shares.y @ np.linalg.solve(R, C)
    assert J[0] == pytest.approx(C.T @ np.linalg.solve(R, C), rel=1e-10)
    assert h[shares.documents] == pytest.approx(wanted, abs=1e-10)


D, W, AFTER = 2, 2, (1, 2, 3, 5, 6)
"""Numbers in a state, words, and rows that come after another one of their sequence."""
SEVEN_ROWS = (
    Corpus.from_pairs(  # the second row of one sequence has no token, nor has the last of the other
        [0, 2, 3, 4, 5],
        [0, 1, 0, 1, 0],
        np.ones(5, int),
        n_documents=7,
        n_words=W,
        sequence=[("a" if t < 4 else "b", t) for t in range(7)],
    )
)
OBSERVED = np.flatnonzero(SEVEN_ROWS.document_tokens)


class WithMoments(GaussianDynamicalSystem):
    """The model with a prior of A and B of which four moments exist, as means of batches need them."""

    system_prior = SystemPrior(
        0.3 * np.eye(D), 3.0 * np.eye(D), 9.0, np.array([[2.0, 0.4], [0.4, 3.0]])
    )


def from_the_prior(n, random):
    """n draws of everything: C, R, A, B, states, shares less their mean."""
    prior = WithMoments.system_prior
    R = stats.invwishart(W + 1, W * np.eye(W)).rvs(n, random_state=random).reshape(n, W, W)
    C = np.linalg.cholesky(R) @ random.normal(size=(n, W, D)) / np.sqrt(W)
    B = stats.invwishart(prior.nu, prior.scale).rvs(n, random_state=random).reshape(n, D, D)
    root = np.linalg.cholesky(B)
    A = prior.mean + root @ random.normal(size=(n, D, D)) @ np.linalg.inv(
        np.linalg.cholesky(prior.precision)
    )
    z = random.normal(size=(n, 7, D))
    for row in AFTER:
        z[:, row] = np.einsum("nij,nj->ni", A, z[:, row - 1]) + np.einsum(
            "nij,nj->ni", root, z[:, row]
        )
    return C, R, A, B, z, shares_given(C, R, z, random)


def shares_given(C, R, z, random):
    """Shares (draw, observed row, word) less their mean, given C, R and the states."""
    noise = random.normal(size=(len(C), len(OBSERVED), W)) @ np.linalg.cholesky(R).transpose(
        0, 2, 1
    )
    return z[:, OBSERVED] @ C.transpose(0, 2, 1) + noise


def noted(C, R, A, B, z, y):
    """Bounded functions of all parts, and products of parts: (draw, function)."""
    c, t, shares = np.tanh(C), np.tanh(z), np.tanh(y)
    logs = np.tanh(np.log(np.stack([R[:, 0, 0], R[:, 1, 1], B[:, 0, 0], B[:, 1, 1]], axis=1)) - 0.5)
    together = [each[:, 0, 1] / np.sqrt(each[:, 0, 0] * each[:, 1, 1]) for each in (R, B)]
    return np.column_stack(
        [
            logs,
            *together,
            np.tanh(A).reshape(len(A), -1),
            c.reshape(len(C), -1),
            c[:, 0] ** 2,
            c[:, 0, 0] * c[:, 1, 0],
            t[:, [0, 1, 4], 0],
            t[:, 3] ** 2,
            t[:, 6, 0] ** 2,
            t[:, 0, 0] * t[:, 1, 0],
            t[:, 1, 0] * t[:, 2, 0],
            t[:, 5, 1] * t[:, 6, 1],
            t[:, 2, 0] * t[:, 3, 0] * np.tanh(A[:, 0, 0]),
            shares[:, [0, 3], 0],
            shares[:, 2] ** 2,
            shares[:, 0, 0] * np.tanh((C @ z[:, 0, :, None])[:, 0, 0]),
            shares[:, 1, 0] * shares[:, 2, 0],
            shares[:, 4, 0] * shares[:, 4, 1],
            np.tanh(y[:, 3, 0] ** 2) * logs[:, 0],
        ]
    )


def turns(n, monkeypatch):
    """Noted functions of a chain of n steps of the engine and draws of the shares in turns, and of draws of the prior."""
    random, model = np.random.default_rng(1), WithMoments(D)
    C, R, A, B, z, y = (part[0] for part in from_the_prior(1, random))
    state = State(
        z,
        C,
        np.linalg.cholesky(R),
        np.eye(W),
        A,
        B,
        np.linalg.inv(B),
        np.zeros((2, D, D)),
        np.zeros((2, D)),
        0 * z,
        0 * z,
        0,
    )
    # once for all steps is enough
    monkeypatch.setattr(raw_lds, "one_blas_thread", contextlib.nullcontext)
    kept = []
    for i in range(n):
        y = shares_given(state.loadings[None], R[None], state.states[None], random)[0]
        shares = Shares(OBSERVED, np.zeros(W), y, y.T @ y)
        monkeypatch.setattr(raw_lds, "shares_of", lambda corpus, shares=shares: shares)
        state, _ = raw_lds.step(SEVEN_ROWS, model, Options(), state, StepContext(0, i))
        root = raw_lds.with_covariance(state, np.eye(W))
        R = root @ root.T
        kept.append(
            [
                np.copy(part)
                for part in (state.loadings, R, state.system, state.noise, state.states, y)
            ]
        )
    return noted(*map(np.stack, zip(*kept, strict=True))), noted(*from_the_prior(40_000, random))


@pytest.mark.slow  # 12,000 sweeps
def test_the_sampler_leaves_the_joint_distribution_as_it_is(monkeypatch):
    """Geweke (2004): parameters and data drawn from the prior, and in turns by the sampler, have the same expectations."""
    with one_blas_thread():
        assert_same_expectations(*turns(12_000, monkeypatch))


@pytest.mark.parametrize("probabilities", ["clip", "argmax"])
def test_what_goes_round_is_forecast(probabilities):
    train, test = walk()
    options = {"state_dim": 2, "probabilities": probabilities, "n_draws": 50}
    run = wb.fit(
        train, "raw-lds", test=test, n_iterations=120, burn_in=60, options=options, progress=False
    )
    assert float(run["test_perplexity"][-1]) < 3.2  # of 3 where words are equally frequent
    assert (
        run["loadings"].dims == ("snapshot", "word", "state_dim")
        and np.isfinite(run["states_mean"].values).all()
    )


@pytest.mark.parametrize("probabilities", ["clip", "argmax"])
def test_forecasts_add_up_to_one(probabilities):
    engine, train, _, model, options, state = begun(probabilities=probabilities)
    table = Corpus.from_pairs(
        np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40), np.ones(120, int)
    )
    p = engine.predict(train, model, options, state, table, StepContext(0, 1)).reshape(40, 3)
    assert p.sum(axis=1) == pytest.approx(1.0, rel=1e-12) and p.min() > 0
