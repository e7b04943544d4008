"""`sb-ctm` and `ln-ctm` as the loop sees them: the log joint, limits, and what documents do not depend on."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_expit, log_softmax
from stepping import stepped

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.kernels.lda.log_joint import log_documents, log_joint
from workbench.kernels.simd.vectors import pad_topics
from workbench.kernels.stick_breaking.correlated_topics import draw_sticks
from workbench.kernels.stick_breaking.logistic_normal import draw_components, padded_rows
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.models import LDA, ModelError
from workbench.models.stick_breaking.correlated_topics import CorrelatedTopics, LogisticNormalTopics

STICKS, COMPONENTS = get_engine("sb-ctm"), get_engine("ln-ctm")


@pytest.fixture(scope="module")
def corpus():
    return LDA(4, 0.3, 0.2).simulate(12, 20, 25, 3)[0]


def state_after(engine, corpus, model, n_steps):
    options = make_options(engine, {"start_sweeps": 3})
    return stepped(engine, corpus, model, options, n_steps)


@pytest.mark.parametrize("engine", [STICKS, COMPONENTS], ids=["sb-ctm", "ln-ctm"])
def test_the_log_joint_is_that_of_scipy(engine, corpus):
    model = engine.model(4, 0.2)
    state, alpha = state_after(engine, corpus, model, 3), pad_topics(np.ones(4))
    rows, prior = state.psi, model.psi_prior
    if engine is STICKS:
        log_theta = np.log(probabilities(rows))
    else:
        log_theta = log_softmax(rows, axis=1)
    mean, kappa, nu, scale = prior
    wanted = (  # topics and words given theta: the part of LDA's log joint that is of words, and the log theta of each token
        log_joint(state.n_dk, state.n_wk, state.n_k, alpha, model.beta, 4)
        - log_documents(state.n_dk, alpha, 4)
        + (state.n_dk[:, :4] * log_theta).sum()
        + stats.multivariate_normal(state.mean, state.covariance).logpdf(rows).sum()
        + stats.multivariate_normal(mean, state.covariance / kappa).logpdf(state.mean)
        + stats.invwishart(nu, scale).logpdf(state.covariance)
    )
    # sums of some hundred numbers of size 100: eleven digits stay
    assert engine.watch(corpus, model, None, state)["log_joint"] == pytest.approx(wanted, rel=1e-11)


def test_the_log_joint_of_a_prior_that_is_no_distribution_is_finite(corpus):
    model = CorrelatedTopics(4, 0.2, prior="paper").for_data(corpus)
    assert np.isfinite(
        STICKS.watch(corpus, model, None, state_after(STICKS, corpus, model, 2))["log_joint"]
    )


def test_one_topic_has_no_stick_and_every_token(corpus):
    model = CorrelatedTopics(1, 0.2)
    state = state_after(STICKS, corpus, model, 2)
    assert state.psi.shape == (12, 0) and state.n_k[0] == corpus.n_tokens
    # n! / n! of documents: nothing
    lda = log_joint(state.n_dk, state.n_wk, state.n_k, pad_topics(np.ones(1)), 0.2, 1)
    of_documents = log_documents(state.n_dk, pad_topics(np.ones(1)), 1)
    assert STICKS.watch(corpus, model, None, state)["log_joint"] == pytest.approx(
        lda - of_documents, rel=1e-12
    )


def test_sticks_of_documents_without_a_token_follow_their_prior():
    """Nearly all documents are empty: the sticks of each are a draw from N(mu, Sigma) of their step."""
    corpus = Corpus.from_pairs([0, 0], [0, 1], [1, 1], n_documents=4000, n_words=2, name="empty")
    model = CorrelatedTopics(3, 0.5)
    state = state_after(STICKS, corpus, model, 1)
    options = make_options(STICKS, {})
    mean, covariance = state.mean, state.covariance
    after, _ = STICKS.step(corpus, model, options, state, StepContext(0, 2))
    white = np.linalg.solve(np.linalg.cholesky(covariance), (after.psi[1:] - mean).T)
    # two tests of one draw each: 1e-4 would fail once in five thousand seeds, and the seed is fixed
    for row in white:
        assert stats.kstest(row, "norm").pvalue > 1e-4
    assert abs(np.corrcoef(white)[0, 1]) < 4.5 / np.sqrt(3999)


@pytest.mark.parametrize("counts", [(7, 2), (0, 30), (40, 1)], ids=str)
def test_two_topics_are_a_logistic_posterior(counts):
    """One stick: its posterior is a logistic likelihood times a normal; 20,000 chains of 300 sweeps against quadrature."""
    n, mean, variance = 20_000, 0.7, 2.0
    n_dk, sticks = np.tile(np.array(counts, np.int32), (n, 1)), np.full((n, 1), mean)
    for sweep in range(300):
        context = StepContext(5, sweep)
        draw_sticks(
            0,
            n,
            n_dk,
            np.array([[1 / variance]]),
            np.array([mean / variance]),
            sticks,
            context.key(1),
            context.key(2),
        )
    grid = np.linspace(-25, 25, 20_001)
    logs = (
        counts[0] * log_expit(grid)
        + counts[1] * log_expit(-grid)
        - 0.5 * (grid - mean) ** 2 / variance
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for power in (1, 2):
        wanted, spread = (
            weights @ grid**power,
            np.sqrt(weights @ grid ** (2 * power) - (weights @ grid**power) ** 2),
        )
        assert abs((sticks[:, 0] ** power).mean() - wanted) < 4.5 * spread / np.sqrt(n)


def test_priors_are_those_of_the_specification(corpus):
    """Spec B.9: proper has E Sigma = I; that of the paper is no distribution and needs documents."""
    mean, kappa, nu, scale = LogisticNormalTopics(5).psi_prior
    assert (kappa, nu) == (0.1, 7.0) and not mean.any()
    np.testing.assert_array_equal(scale / (nu - 5 - 1), np.eye(5))
    mean, kappa, nu, scale = LogisticNormalTopics(30, prior="paper").psi_prior
    assert (kappa, nu) == (10.0, 3.0) and not mean.any()
    np.testing.assert_array_equal(scale, 3.0 * np.eye(30))
    assert LogisticNormalTopics(13, prior="paper").for_data(corpus)
    with pytest.raises(
        ModelError,
        match="is no distribution and needs more than 26 documents for 30 dimensions; there are 12",
    ):
        LogisticNormalTopics(30, prior="paper").for_data(corpus)


def test_components_of_documents_without_a_token_follow_their_prior():
    """Nearly all documents are empty; sweeps of component after component leave N(mu, Sigma) as it is."""
    corpus = Corpus.from_pairs([0, 0], [0, 1], [1, 1], n_documents=4000, n_words=2, name="empty")
    model = LogisticNormalTopics(3, 0.5)
    state = state_after(COMPONENTS, corpus, model, 1)
    psi, rows = state.psi.copy(), padded_rows(state.precision)
    for sweep in range(200):  # psi was drawn under the mu and Sigma before
        draw_components(
            0, 4000, state.n_dk, rows, state.mean, psi, StepContext(0, 2 + sweep).key(1)
        )
    white = np.linalg.solve(np.linalg.cholesky(state.covariance), (psi[1:] - state.mean).T)
    # three tests of one draw each: 1e-4 would fail once in three thousand seeds, and the seed is fixed
    for row in white:
        assert stats.kstest(row, "norm").pvalue > 1e-4
    assert np.abs(np.corrcoef(white) - np.eye(3)).max() < 4.5 / np.sqrt(3999)
