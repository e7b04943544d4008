"""`sb-ctm` as the loop sees it: its log joint, its limits, and its bits."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_expit

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.engines.stick_breaking.sb_ctm import stick_slices
from workbench.kernels.lda.log_joint import log_documents, log_joint
from workbench.kernels.simd.lanes import pad_topics
from workbench.kernels.stick_breaking.correlated_topics import draw_sticks
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.models import LDA
from workbench.models.stick_breaking.correlated_topics import CorrelatedTopics

ENGINE = get_engine("sb-ctm")


@pytest.fixture(scope="module")
def corpus():
    return LDA(4, 0.3, 0.2).simulate(12, 20, 25, 3)[0]


def state_after(corpus, model, n_steps, seed=0):
    options = make_options(ENGINE, {"start_sweeps": 3})
    state = ENGINE.init(corpus, model, options, StepContext(seed, 0))
    for step in range(1, n_steps + 1):
        state, _ = ENGINE.step(corpus, model, options, state, StepContext(seed, step))
    return state


def test_the_log_joint_is_that_of_scipy(corpus):
    model = CorrelatedTopics(4, 0.2)
    state, alpha = state_after(corpus, model, 3), pad_topics(np.ones(4))
    mean, kappa, nu, scale = model.sticks_prior
    theta = probabilities(state.sticks)
    wanted = (  # topics and words given theta: the part of LDA's log joint that is of words, and the log theta of each token
        log_joint(state.n_dk, state.n_wk, state.n_k, alpha, model.beta, 4)
        - log_documents(state.n_dk, alpha, 4)
        + (state.n_dk[:, :4] * np.log(theta)).sum()
        + stats.multivariate_normal(state.mean, state.covariance).logpdf(state.sticks).sum()
        + stats.multivariate_normal(mean, state.covariance / kappa).logpdf(state.mean)
        + stats.invwishart(nu, scale).logpdf(state.covariance)
    )
    # sums of some hundred numbers of size 100: eleven digits stay
    assert ENGINE.watch(corpus, model, None, state)["log_joint"] == pytest.approx(wanted, rel=1e-11)


def test_the_log_joint_of_a_prior_that_is_no_distribution_is_finite(corpus):
    model = CorrelatedTopics(4, 0.2, prior="paper").for_data(corpus)
    assert np.isfinite(
        ENGINE.watch(corpus, model, None, state_after(corpus, model, 2))["log_joint"]
    )


def test_one_topic_has_no_stick_and_every_token(corpus):
    model = CorrelatedTopics(1, 0.2)
    state = state_after(corpus, model, 2)
    assert state.sticks.shape == (12, 0) and state.n_k[0] == corpus.n_tokens
    # n! / n! of documents: nothing
    lda = log_joint(state.n_dk, state.n_wk, state.n_k, pad_topics(np.ones(1)), 0.2, 1)
    of_documents = log_documents(state.n_dk, pad_topics(np.ones(1)), 1)
    assert ENGINE.watch(corpus, model, None, state)["log_joint"] == pytest.approx(
        lda - of_documents, rel=1e-12
    )


def test_sticks_do_not_depend_on_the_order_in_which_documents_are_drawn(corpus):
    model = CorrelatedTopics(4, 0.2)
    state = state_after(corpus, model, 2)

    def drawn(slices):
        sticks = state.sticks.copy()
        for first, last in slices:
            draw_sticks(
                first,
                last,
                state.n_dk,
                state.precision,
                (state.precision * state.mean).sum(axis=1),
                sticks,
                StepContext(0, 9).key(1),
                StepContext(0, 9).key(2),
            )
        return sticks

    whole = drawn([(0, 12)])
    assert (whole == drawn([(d, d + 1) for d in reversed(range(12))])).all()
    assert (whole == drawn(stick_slices(12, 4))).all()


def test_documents_without_a_token_follow_their_prior():
    """Nearly all documents are empty: the sticks of each are a draw from N(mu, Sigma) of their step."""
    corpus = Corpus.from_pairs([0, 0], [0, 1], [1, 1], n_documents=4000, n_words=2, name="empty")
    model = CorrelatedTopics(3, 0.5)
    state = state_after(corpus, model, 1)
    options = make_options(ENGINE, {})
    mean, covariance = state.mean, state.covariance
    after, _ = ENGINE.step(corpus, model, options, state, StepContext(0, 2))
    white = np.linalg.solve(np.linalg.cholesky(covariance), (after.sticks[1:] - mean).T)
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


def test_two_threads_give_the_bits_of_one(corpus):
    settings = {"n_topics": 4, "n_iterations": 6, "burn_in": 2, "progress": False}
    one, two = (wb.fit(corpus, "sb-ctm", n_threads=n, **settings) for n in (1, 2))
    assert np.array_equal(one["psi"].values, two["psi"].values)
