"""`ctm-em` as the loop sees it: its bound, its limits, and what it finds."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, softmax
from stepping import states as states_of
from toys import corpus_of

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.measures import topic_correlations
from workbench.models import LDA
from workbench.models.stick_breaking.correlated_topics import LogisticNormalTopics

ENGINE = get_engine("ctm-em")


@pytest.fixture(scope="module")
def corpus():
    return LDA(4, 0.3, 0.2).simulate(12, 20, 25, 3)[0]


def states(corpus, model, n_steps, **options):
    options = make_options(ENGINE, {"start_sweeps": 3, **options})
    return states_of(ENGINE, corpus, model, options, n_steps)


def plain_bound(corpus, model, state, phi_before):
    """Every term of the bound by itself, responsibilities too, which come from the topics before the M-step."""
    off, total = state.psi - state.mean, 0.0
    log_phi = np.log(
        (state.mean_wk[:, : model.n_topics] + model.beta)
        / (state.mean_k[: model.n_topics] + corpus.n_words * model.beta)
    )
    for d in range(corpus.n_documents):
        total += 0.5 * (np.linalg.slogdet(state.precision)[1] - off[d] @ state.precision @ off[d])
        total += (
            0.5
            * (np.log(state.variance[d]) + 1 - np.diag(state.precision) * state.variance[d]).sum()
        )
        zeta = np.exp(state.psi[d] + state.variance[d] / 2).sum()
        for i in range(corpus.indptr[d], corpus.indptr[d + 1]):
            gamma = softmax(state.psi[d] + np.log(phi_before[corpus.words[i]]))
            total += corpus.counts[i] * (
                gamma @ (state.psi[d] + log_phi[corpus.words[i]] - np.log(gamma)) - math.log(zeta)
            )
    prior = model.beta + 1
    each = gammaln(corpus.n_words * prior) - corpus.n_words * gammaln(prior)
    return total + model.beta * log_phi.sum() + model.n_topics * each


def test_the_bound_is_the_sum_of_its_terms(corpus):
    model = LogisticNormalTopics(4, 0.2)
    options = make_options(ENGINE, {"start_sweeps": 3})
    *_, state = states(corpus, model, 2)
    # a step uses the arrays again
    phi = (state.mean_wk[:, :4] + 0.2) / (state.mean_k[:4] + corpus.n_words * 0.2)
    state, _ = ENGINE.step(corpus, model, options, state, StepContext(0, 3))
    wanted = plain_bound(corpus, model, state, phi)
    # rounding
    assert ENGINE.watch(corpus, model, None, state)["bound"] == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("passes", (1, 20))
def test_the_bound_never_falls(corpus, passes):
    before = -math.inf
    model = LogisticNormalTopics(4, 0.2)
    for state in states(corpus, model, 30, n_inner=passes):
        bound = ENGINE.watch(corpus, model, None, state)["bound"]
        assert bound >= before - 1e-9  # rounding of sums of size 1000
        before = bound


def test_mean_and_covariance_are_those_of_greatest_likelihood(corpus):
    *_, state = states(corpus, LogisticNormalTopics(4, 0.2), 3)
    off = state.psi - state.psi.mean(axis=0)
    np.testing.assert_allclose(state.mean, state.psi.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        state.covariance, off.T @ off / 12 + np.diag(state.variance.mean(axis=0)), rtol=1e-12
    )
    # condition below 1e6
    np.testing.assert_allclose(state.precision @ state.covariance, np.eye(4), atol=1e-9)


def test_one_topic_comes_to_the_words_of_the_corpus(corpus):
    model = LogisticNormalTopics(1, 0.2)
    *_, state = states(corpus, model, 200)
    n_w = np.bincount(corpus.words, corpus.counts, corpus.n_words)
    phi = (n_w + 0.2) / (n_w.sum() + 20 * 0.2)
    wanted = ((n_w + 0.2) * np.log(phi)).sum() + gammaln(20 * 1.2) - 20 * gammaln(1.2)
    bound = ENGINE.watch(corpus, model, None, state)["bound"]
    # the one component says nothing, and its variance goes to 0 as 1 / iteration
    assert wanted - 0.5 < bound <= wanted
    assert ENGINE.predict(corpus, model, None, state, corpus) == pytest.approx(phi[corpus.words])


def test_documents_without_a_token_have_the_prior():
    corpus = corpus_of([(1, 0, 3), (1, 1, 2), (3, 2, 1), (3, 3, 4)], n_documents=5, n_words=4)
    model, options = LogisticNormalTopics(3, 0.5), make_options(ENGINE, {})
    *_, state = states(corpus, model, 4)
    mean, precision = state.mean.copy(), state.precision.copy()
    after, _ = ENGINE.step(corpus, model, options, state, StepContext(0, 5))
    for d in (0, 2, 4):
        np.testing.assert_array_equal(after.psi[d], mean)
        # rounding
        np.testing.assert_allclose(after.variance[d], 1 / np.diag(precision), rtol=1e-12)


def test_a_permuted_corpus_has_the_permuted_posterior(corpus):
    """From the same topics, mu and Sigma: each document by itself, to the last bit."""
    model, options, order = (
        LogisticNormalTopics(4, 0.2),
        make_options(ENGINE, {}),
        np.random.default_rng(0).permutation(12),
    )
    *_, state = states(corpus, model, 2)
    place = np.argsort(order)
    turned = Corpus.from_pairs(
        place[corpus.documents],
        corpus.words,
        corpus.counts,
        n_documents=12,
        n_words=corpus.n_words,
        name="turned",
    )
    given = state._replace(
        **{name: getattr(state, name)[order].copy() for name in ("psi", "variance", "mean_dk")}
    )
    given = given._replace(mean_wk=state.mean_wk.copy(), mean_k=state.mean_k.copy())
    after, _ = ENGINE.step(corpus, model, options, state, StepContext(0, 3))
    other, _ = ENGINE.step(turned, model, options, given, StepContext(0, 3))
    for name in ("psi", "variance", "mean_dk"):
        np.testing.assert_array_equal(getattr(other, name), getattr(after, name)[order])
    # sums in another order
    np.testing.assert_allclose(other.covariance, after.covariance, rtol=1e-12)


def test_unseen_documents_get_the_theta_of_the_e_step():
    """Documents of the corpus itself, of many tokens, so that where the E-step begins matters little."""
    corpus = LDA(3, 0.5, 0.1).simulate(30, 30, 300, 5)[0]
    run = wb.fit(
        corpus,
        "ctm-em",
        3,
        n_iterations=20,
        options={"n_inner": 300, "inner_tolerance": 1e-10},
        progress=False,
    )
    found = wb.infer(run, corpus)["theta"].values
    # the last M-step moved mu, Sigma and phi a little after the E-step behind the run's own theta
    assert np.abs(found - run["theta"].values).max() < 0.01
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("engine", ("ctm-em", "ln-ctm"))
def test_correlations_that_documents_were_drawn_with_are_found(engine):
    """Three topics, each of words of its own; two components that go together."""
    rng = np.random.default_rng(3)
    covariance = np.array([[4.0, 3.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 3.0]])
    theta, words = (
        softmax(rng.multivariate_normal(np.zeros(3), covariance, 400), axis=1),
        np.arange(30).reshape(3, 10),
    )
    documents = [
        np.concatenate([rng.choice(words[k], n) for k, n in enumerate(rng.multinomial(60, row))])
        for row in theta
    ]
    rows = np.repeat(np.arange(400), 60)
    corpus = wb.Corpus.from_pairs(rows, np.concatenate(documents), np.ones(len(rows), int))
    run = wb.fit(corpus, engine, 3, n_iterations=600, snapshot_every=20, progress=False)
    found, phi = topic_correlations(run)["correlation"].values, run["phi"].values
    at = [int(np.argmax(phi[:, words[k]].sum(axis=1))) for k in range(3)]
    assert sorted(at) == [0, 1, 2]
    # 400 documents: 0.05, and the posterior's
    assert found[np.ix_(at, at)] == pytest.approx(np.corrcoef(theta.T), abs=0.15)
