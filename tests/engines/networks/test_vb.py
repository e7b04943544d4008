"""Variational Bayes for networks: reference values, plain twins, LDA, bounds that never fall, what is odd."""

from dataclasses import replace

import network_twins as twins
import numpy as np
import pytest
from engines.networks.states import (
    NETWORKS,
    learning,
    level_rows,
    odd_corpus,
    rows_of_counts,
    rows_of_state,
    with_authors,
)
from scipy.special import gammaln, psi, xlogy
from stepping import stepped
from toys import read_oracles, simulated

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.lda import vb
from workbench.engines.networks import vb as network_vb
from workbench.engines.networks.compiled import (
    alphas_of,
    initial_alphas,
    priors_of,
)
from workbench.engines.networks.paths import paths_of
from workbench.engines.options import make_options
from workbench.models import LDA, ModelError
from workbench.models.networks.network import WORD

PRINTED = 1e-8  # of reference values; exp(psi) is right to 3e-10
SAME = 1e-10
ENGINE, ML = network_vb.engine("network-vb"), network_vb.engine("network-vb-ml")
START = {"init": "dirichlet"}
ONE_PASS = make_options(ENGINE, {"n_inner": 1, "learn_after": 3, "learn_every": 3} | START)


def steps(engine, corpus, network, state, n, options=ONE_PASS, first=1):
    network = engine.suits(network)
    return stepped(engine, corpus, network, options, n, seed=7, state=state, first=first)


def begun(engine, corpus, network, options=ONE_PASS, seed=7):
    return engine.init(corpus, engine.suits(network), options, StepContext(seed, 0))


def bound_of(engine, corpus, network, state) -> float:
    return engine.watch(corpus, engine.suits(network), ONE_PASS, state)["bound"]


def state_of_rows(network, corpus, xi) -> network_vb.State:
    """A state with these xi, a table for each level, None for an observed one."""
    state = begun(ENGINE, corpus, network)
    paths, priors = (
        paths_of(network),
        priors_of(paths_of(network), initial_alphas(network), np.zeros(corpus.n_words, np.uint8)),
    )
    for level, table in zip(network.levels, xi, strict=True):
        if table is None:
            continue
        cells, sums, _ = paths.addresses[level.name]
        table = np.array(table)
        if level.draws == WORD:
            state.n_wk[:, cells] = table.T - priors.beta[cells]
            state.n_k[cells] = state.n_wk[:, cells].sum(axis=0)
        elif level.of_documents:
            state.n_own[:, cells] = (
                table.reshape(corpus.n_documents, *cells.shape) - priors.own[cells]
            )
            state.n_own[:, sums] = state.n_own[:, cells].sum(axis=-1)
        else:
            state.n_rest[cells - paths.rest_at] = table - priors.rest[cells - paths.rest_at]
            state.n_rest[sums - paths.rest_at] = state.n_rest[cells - paths.rest_at].sum(axis=-1)
    return state


def free_energy(network, corpus, responsible, xi) -> float:
    """F of any responsibilities and any xi: eq. D1, term by term."""
    counts = twins.expected_counts(network, corpus, responsible)
    found = -sum(n * xlogy(q, q).sum() for n, q in zip(corpus.counts, responsible, strict=True))
    for row, values in xi.items():
        prior, mean = twins.prior_of(network, row, corpus.n_words), psi(values) - psi(values.sum())
        n = np.array([counts[row, value] for value in range(len(prior))])
        found += (
            gammaln(values).sum()
            - gammaln(values.sum())
            - gammaln(prior).sum()
            + gammaln(prior.sum())
        )
        found += np.sum((n + prior - values) * mean)
    known = ((cell, twins.known(network, corpus, cell)) for cell in counts if len(cell) == 2)
    return found + sum(counts[cell] * np.log(p) for cell, p in known if p is not None)


def toy_of(tokens) -> Corpus:
    pairs = np.array([(token["m"], token["w"], token["n"]) for token in tokens]).T
    return Corpus.from_pairs(*pairs, n_words=3, authors=(("a0", "a1"), ("a1", "a2")))


ALPHA0, ALPHA1 = (0.6, 0.35), ((0.5, 0.9), (0.8, 0.3))
PRINTED_NETWORKS = {
    "mix_atm": twins.author_topic(2, alpha=ALPHA0, beta=0.4),
    "mix_pam": twins.pachinko(2, 2, ALPHA0, ALPHA1, 0.4),
    "mix_hpam1": twins.hpam1(2, 2, ALPHA0, ALPHA1, (0.5, 0.7, 1.1), 0.4),
}


@pytest.mark.parametrize("name", PRINTED_NETWORKS)
def test_sweeps_from_printed_rows_give_the_printed_responsibilities_and_bounds(name):
    network, printed = PRINTED_NETWORKS[name], read_oracles("networks")[name]
    corpus, values = toy_of(printed["tokens"]), printed["vb"]
    state, done = state_of_rows(network, corpus, values["xi0"]), 0
    for sweeps in (1, 2, 5):
        state, done = steps(ENGINE, corpus, network, state, sweeps - 1 - done), sweeps
        responsible = twins.responsibilities(network, corpus, rows_of_state(network, corpus, state))
        np.testing.assert_allclose(
            responsible, values["after"][str(sweeps)]["psi"], rtol=PRINTED, atol=PRINTED
        )
        state = steps(ENGINE, corpus, network, state, 1)
        assert bound_of(ENGINE, corpus, network, state) == pytest.approx(
            values["after"][str(sweeps)]["F"], rel=PRINTED
        )
    state = steps(ENGINE, corpus, network, state, 3000)
    assert bound_of(ENGINE, corpus, network, state) == pytest.approx(values["F_final"], rel=PRINTED)
    assert values["F_final"] < printed["exact"]["log_evidence"]
    xi = rows_of_state(network, corpus, state)
    responsible = twins.responsibilities(network, corpus, xi)
    # of a fixed point
    np.testing.assert_allclose(responsible, values["psi_final"], rtol=1e-6, atol=1e-7)
    larger = {row: 1.1 * values for row, values in xi.items()}
    expected = values["F_at_final_psi_and_xi_times_1p1"]
    assert free_energy(network, corpus, responsible, larger) == pytest.approx(expected, abs=1e-6)


every_network = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


@every_network
def test_a_sweep_gives_the_counts_and_the_bound_of_paths_walked_one_by_one(network):
    corpus = odd_corpus()
    state = steps(ENGINE, corpus, network, begun(ENGINE, corpus, network), 2)
    for _ in range(3):
        responsible = twins.responsibilities(network, corpus, rows_of_state(network, corpus, state))
        state = steps(ENGINE, corpus, network, state, 1)
        counts = twins.expected_counts(network, corpus, responsible)
        for level, expected in rows_of_counts(network, corpus, counts):
            found = level_rows(network, state, level)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
        xi = rows_of_state(network, corpus, state)
        expected = free_energy(network, corpus, responsible, xi)
        assert bound_of(ENGINE, corpus, network, state) == pytest.approx(
            expected, rel=1e-8, abs=1e-8
        )
    np.testing.assert_allclose(state.n_dr.sum(axis=1), corpus.document_tokens, rtol=1e-9)


@pytest.mark.parametrize("engine", [ENGINE, ML], ids=["vb", "ml"])
@pytest.mark.parametrize("n_inner", [1, 5])
@every_network
def test_the_bound_never_falls_while_priors_learn(network, n_inner, engine):
    options, corpus = (
        make_options(ENGINE, {"n_inner": n_inner, "learn_after": 3, "learn_every": 3} | START),
        odd_corpus(),
    )
    network = learning(network)
    state, before = begun(engine, corpus, network), -np.inf
    for step in range(1, 25):
        state = steps(engine, corpus, network, state, 1, options, step)
        now = bound_of(engine, corpus, network, state)
        assert now >= before - 1e-9 * abs(now)  # exp(psi) is right to 3e-10
        before = now
    assert engine is ML or np.any(state.alphas != initial_alphas(network))


def test_lda_as_a_network_is_variational_em_when_documents_are_repeated():
    corpus, network, lda = simulated(40, 30, 25), twins.lda(5, 0.3, 0.07), LDA(5, 0.3, 0.07)
    options, other_options = (
        make_options(ENGINE, {"n_inner": 20, "init": "dirichlet"}),
        vb.Options(init="dirichlet"),
    )
    own = begun(ENGINE, corpus, network)
    other = vb.State(own.n_dr.copy(), own.n_wk.copy(), own.n_k.copy(), 0.0, lda.alphas, lda.beta)
    for step in range(1, 11):
        own = steps(ENGINE, corpus, network, own, 1, options)
        other, _ = vb.step(corpus, lda, other_options, other, StepContext(7, step))
        np.testing.assert_allclose(own.n_wk, other.mean_wk, atol=SAME)
        expected = vb.watch(corpus, lda, other_options, other)["bound"]
        assert bound_of(ENGINE, corpus, network, own) == pytest.approx(expected, rel=1e-13)


def test_point_rows_of_lda_are_those_of_plain_em():
    """Documents Dirichlet, topics n_wk / n_k: a few lines of it."""
    corpus, network = simulated(12, 15, 20), twins.lda(3, 0.4, 0.1)
    state = begun(ML, corpus, network)
    n_dk, n_wk = state.n_own[:, :3].copy(), state.n_wk[:, :3].copy()
    d, w, n = corpus.documents, corpus.words, corpus.counts[:, None]
    for step in range(1, 16):
        q = np.exp(psi(0.4 + n_dk[d])) * (n_wk / n_wk.sum(axis=0))[w]
        z, n_dk, n_wk = q.sum(axis=1, keepdims=True), 0 * n_dk, 0 * n_wk
        np.add.at(n_dk, d, n * q / z)
        np.add.at(n_wk, w, n * q / z)
        state = steps(ML, corpus, network, state, 1, first=step)
        np.testing.assert_allclose(state.n_wk[:, :3], n_wk, rtol=1e-7, atol=1e-9)
    q /= z
    joint = np.sum(gammaln(1.2) - gammaln(1.2 + n_dk.sum(axis=1))) + np.sum(
        gammaln(0.4 + n_dk) - gammaln(0.4)
    )
    expected = joint + xlogy(n_wk, n_wk / n_wk.sum(axis=0)).sum() - np.sum(n * xlogy(q, q))
    assert bound_of(ML, corpus, network, state) == pytest.approx(expected, rel=1e-9)


def test_estimated_rows_predict_words_that_they_have_not_seen_but_hardly():
    corpus, network = odd_corpus(), NETWORKS["author-topic"]
    state = steps(ML, corpus, network, begun(ML, corpus, network), 5)
    unseen = Corpus.from_pairs([0, 0], [0, 5], [1, 1], n_documents=5, n_words=6)
    seen, never = ML.predict(corpus, ML.suits(network), ONE_PASS, state, unseen)
    assert 0 < never < 1e-9 < seen


@every_network
def test_predictions_are_those_of_mean_rows_path_by_path_and_sum_to_one(network):
    corpus = odd_corpus()
    state = steps(ENGINE, corpus, network, begun(ENGINE, corpus, network), 3)
    xi = rows_of_state(network, corpus, state)
    d, w = (axis.ravel() for axis in np.indices((5, 6)))
    every = Corpus.from_pairs(d, w, 1 + 0 * d, n_documents=5, n_words=6)
    found = ENGINE.predict(corpus, network, ONE_PASS, state, every).reshape(5, 6)
    for document in range(5):
        if not (corpus.authors[document] or paths_of(network).n_authors == 1):
            continue
        expected = [
            sum(
                np.prod([twins.mean_of(network, corpus, xi, cell) for cell in path.cells])
                for path in twins.paths_of_token(network, corpus, document, word)
            )
            for word in range(6)
        ]
        np.testing.assert_allclose(found[document], expected, rtol=1e-9)
        assert found[document].sum() == pytest.approx(1.0)


def test_estimates_by_document_are_refused():
    network = twins.lda(2)
    theta = replace(network.levels[0], kind="point")
    with pytest.raises(
        ModelError, match="level 'theta' has rows by document, which cannot be point estimates"
    ):
        begun(ENGINE, odd_corpus(), replace(network, levels=(theta, network.levels[1])))


def test_a_level_learns_one_number_or_one_for_each_value_and_group():
    corpus, network = with_authors(simulated(60, 30, 40)), twins.pachinko(2, 3, 0.1, 0.1, 0.1)
    learning = tuple(
        replace(level, learn=learn)
        for level, learn in zip(network.levels, ("scalar", "vector", "scalar"), strict=True)
    )
    network = replace(network, levels=learning)
    state = steps(ENGINE, corpus, network, begun(ENGINE, corpus, network), 40)
    learnt = alphas_of(network, state.alphas)
    assert (
        learnt["theta0"].shape == (1, 2)
        and np.ptp(learnt["theta0"]) == 0
        and learnt["theta0"][0, 0] != 0.1
    )
    assert learnt["theta1"].shape == (2, 3) and len(set(learnt["theta1"].ravel())) == 6
    assert learnt["phi"].shape == (1, 1) and learnt["phi"][0, 0] != 0.1
    assert state.alphas.max() <= 1e3


@pytest.mark.parametrize("engine", [ENGINE, ML], ids=["vb", "ml"])
def test_a_warm_up_raises_every_prior_by_a_half_and_gives_it_back(engine):
    corpus, network = simulated(12, 15, 20), learning(twins.lda(3, 0.4, 0.1))
    smooth = make_options(ENGINE, {"warm_up": 2})
    state, other = (begun(engine, corpus, network, smooth) for _ in range(2))
    for step in (1, 2, 3):
        raised = other._replace(alphas=other.alphas + 0.5) if step <= 2 else other
        other = steps(engine, corpus, network, raised, 1, ONE_PASS, step)
        other = other._replace(alphas=initial_alphas(network)) if step <= 2 else other
        state = steps(engine, corpus, network, state, 1, smooth, step)
        np.testing.assert_array_equal(state.n_wk, other.n_wk)
        np.testing.assert_array_equal(state.n_own, other.n_own)
