"""Prevalence that follows a linear system: the whole sampler by Geweke's test, its limits, and what is made of a run."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats
from toys import dated, simulated

import workbench as wb
from workbench.corpus.times import Years
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.stick_breaking import sb_ctm_lds
from workbench.engines.stick_breaking.sb_ctm_lds import State, step
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.models.stick_breaking.dynamic_topics import EvolvingPrevalence, SystemPrior

# a document without a token, and a year without a document
LENGTHS, YEAR = (5, 3, 0, 4), np.array([0, 0, 1, 3])
N_YEARS, N_TOPICS, N_WORDS, BETA = 4, 3, 4, 0.7
N_TOKENS, INDPTR = sum(LENGTHS), np.concatenate([[0], np.cumsum(LENGTHS)])
OF_TOKENS = np.repeat(np.arange(len(LENGTHS)), LENGTHS)


class WithMoments(EvolvingPrevalence):
    """The model with priors of which four moments exist, as means of batches need them."""

    system_prior = SystemPrior(
        np.eye(2, 3) * 0.5, 3.0 * np.eye(3), 9.0, np.array([[2.0, 0.4], [0.4, 3.0]])
    )
    documents_prior = 9.0, np.array([[3.0, -0.5], [-0.5, 4.0]])


@dataclass(eq=False)
class Tokens:
    """A corpus whose words change from step to step: each token is a pair."""

    words: np.ndarray
    indptr = INDPTR
    counts = np.ones(N_TOKENS, np.int32)
    tokens_before = np.arange(N_TOKENS + 1)
    n_tokens, n_words, n_documents = N_TOKENS, N_WORDS, len(LENGTHS)


def from_the_prior(model, n, random):
    """n draws of everything: (A and b), Q, states, Sigma, sticks, topics, words."""
    prior, (mean, covariance) = model.system_prior, model.first_year
    Q = stats.invwishart(prior.nu, prior.scale).rvs(n, random_state=random).reshape(n, 2, 2)
    root = np.linalg.cholesky(Q)
    system = prior.mean + root @ random.normal(size=(n, 2, 3)) @ np.linalg.inv(
        np.linalg.cholesky(prior.precision)
    )
    states = np.empty((n, N_YEARS, 2))
    states[:, 0] = mean + random.normal(size=(n, 2)) * np.sqrt(np.diag(covariance))
    for t in range(1, N_YEARS):
        drift = np.einsum("nij,nj->ni", system[:, :, :2], states[:, t - 1]) + system[:, :, 2]
        states[:, t] = drift + np.einsum("nij,nj->ni", root, random.normal(size=(n, 2)))
    sigma = (
        stats.invwishart(model.documents_prior[0], model.documents_prior[1])
        .rvs(n, random_state=random)
        .reshape(n, 2, 2)
    )
    sticks = states[:, YEAR]
    if model.documents == "own":
        sticks = sticks + np.einsum(
            "nij,ndj->ndi", np.linalg.cholesky(sigma), random.normal(size=(n, len(LENGTHS), 2))
        )
    theta = probabilities(sticks)[:, OF_TOKENS]
    topics = (theta.cumsum(axis=2) < random.random((n, N_TOKENS, 1))).sum(axis=2).clip(0, 2)
    return system, Q, states, sigma, sticks, topics, words_of(topics, random)


def words_of(topics, random):
    """Words given topics (draw, token), phi drawn anew from its prior."""
    phi = random.standard_gamma(BETA, (len(topics), N_TOPICS, N_WORDS))
    phi /= phi.sum(axis=2, keepdims=True)
    of_tokens = np.take_along_axis(phi, topics[:, :, None].astype(int), axis=1)
    return (
        (of_tokens.cumsum(axis=2) < random.random((*topics.shape, 1)))
        .sum(axis=2)
        .clip(0, N_WORDS - 1)
    )


def noted(system, Q, states, sigma, sticks, topics, words):
    """Bounded functions of all parts, and products of parts: (draw, function)."""
    t, logs = (
        np.tanh(states),
        np.tanh(np.log(np.stack([Q[:, 0, 0], Q[:, 1, 1], sigma[:, 0, 0], sigma[:, 1, 1]], axis=1))),
    )
    together, psi = (
        [c[:, 0, 1] / np.sqrt(c[:, 0, 0] * c[:, 1, 1]) for c in (Q, sigma)],
        np.tanh(sticks),
    )
    same = topics[:, :, None] == topics[:, None]
    alike = (same & (words[:, :, None] == words[:, None])).mean(axis=(1, 2))
    step = np.tanh(states[:, 1] - states[:, 0])
    return np.column_stack(
        [
            np.tanh(system).reshape(len(Q), -1),
            logs,
            *together,
            t[:, 0],
            t[:, 1, 0],
            t[:, 2],
            t[:, 3],
            psi[:, 0],
            psi[:, 2],
            (topics == 0).mean(axis=1),
            same.mean(axis=(1, 2)),
            alike,
            alike * t[:, 0, 0],
            (topics[:, 0] == 0) * psi[:, 0, 0],
            t[:, 0, 0] * t[:, 1, 0],
            t[:, 2, 0] * t[:, 3, 0],
            psi[:, 0, 0] * psi[:, 1, 0],
            step**2,
            step[:, 0] * np.tanh(system[:, 0, 2]),
            psi[:, 2, 0] * t[:, 1, 0],
            (topics[:, 8] == 1) * t[:, 3, 1],
        ]
    )


@pytest.mark.slow  # 30,000 sweeps
@pytest.mark.parametrize("documents", ["own", "shared"])
def test_the_sampler_leaves_the_joint_distribution_as_it_is(documents, monkeypatch):
    """Geweke (2004): parameters and data drawn from the prior, and in turns by the sampler, have the same expectations."""
    monkeypatch.setattr(sb_ctm_lds, "years_at", lambda corpus: Years(0, N_YEARS, YEAR))
    model, random, n = (
        WithMoments(N_TOPICS, BETA, documents=documents),
        np.random.default_rng(1),
        30_000,
    )
    independent = noted(*from_the_prior(model, 200_000, random))
    system, Q, states, sigma, sticks, topics, words = (
        part[0] for part in from_the_prior(model, 1, random)
    )
    state = State(
        topics.astype(np.uint16),
        np.zeros((len(LENGTHS), 16), np.int32),
        np.zeros((N_WORDS, 16), np.int32),
        np.zeros(16, np.int64),
        sticks,
        states,
        sigma,
        np.linalg.inv(sigma),
        system,
        Q,
        np.linalg.inv(Q),
    )
    kept = []
    for i in range(n):
        words = words_of(state.topics[None], random)[0]
        state.n_dk[:], state.n_wk[:], state.n_k[:] = 0, 0, 0
        np.add.at(state.n_dk, (OF_TOKENS, state.topics), 1)
        np.add.at(state.n_wk, (words, state.topics), 1)
        np.add.at(state.n_k, state.topics, 1)
        state, _ = step(Tokens(words.astype(np.int32)), model, None, state, StepContext(0, i))
        kept.append(
            [
                np.copy(part)
                for part in (
                    state.system,
                    state.noise,
                    state.states,
                    state.covariance,
                    state.sticks,
                    state.topics,
                    words,
                )
            ]
        )
    chain = noted(*map(np.stack, zip(*kept, strict=True)))
    batches = chain.reshape(60, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 60 + independent.var(axis=0) / len(independent))
    z = (chain.mean(axis=0) - independent.mean(axis=0)) / error
    assert np.abs(z).max() < 4, z


def rising(n_documents=240, seed=0):
    """Documents of three topics of four words; the first goes from a tenth of the tokens to eight tenths in eight years."""
    random, year = np.random.default_rng(seed), np.arange(n_documents) % 8
    share = np.linspace(0.1, 0.8, 8)
    theta = np.stack(
        [
            random.dirichlet(10 * np.array([share[t], (1 - share[t]) / 2, (1 - share[t]) / 2]))
            for t in year
        ]
    )
    counts = np.stack([random.multinomial(50, np.repeat(row / 4, 4)) for row in theta])
    documents, words = np.nonzero(counts)
    return wb.Corpus.from_pairs(
        documents, words, counts[documents, words], times=tuple(2000 + year), name="rising"
    ), share


@pytest.mark.parametrize("documents", ["own", "shared"])
def test_a_topic_that_rises_is_found_and_unseen_documents_have_the_share_of_their_year(documents):
    corpus, share = rising()
    run = wb.fit(
        corpus, "sb-ctm-lds", 3, n_iterations=300, options={"documents": documents}, progress=False
    )
    risen = int(np.argmax(run["phi"].values[:, :4].sum(axis=1)))
    for name in ("prevalence", "expected_prevalence"):
        # 1500 tokens a year, clumped in documents
        assert np.abs(run[name][:, risen] - share).max() < 0.12
    # three documents without a token, one with one
    empty = wb.Corpus.from_pairs([3], [0], [1], n_documents=4, n_words=12)
    early, late, unknown = wb.infer(run, dated_as(empty, (2000, 2007, None, 2003)))["theta"][
        :3, risen
    ].values
    assert early < 0.3 and late > 0.65
    assert unknown == pytest.approx(late, abs=0.15)  # that of the last year; 50 draws of theta


def dated_as(corpus, times):
    return corpus.with_pairs(corpus.indptr, corpus.words, corpus.counts, times=times)


def test_documents_that_share_the_sticks_of_their_year_have_its_theta():
    corpus = dated(simulated())
    run = wb.fit(
        corpus, "sb-ctm-lds", 3, n_iterations=3, options={"documents": "shared"}, progress=False
    )
    year = np.array(corpus.times) - 1990
    assert np.array_equal(run["theta"].values, run["expected_prevalence"].values[year])


def test_one_topic_has_no_sticks_and_no_system():
    run = wb.fit(dated(simulated()), "sb-ctm-lds", 1, n_iterations=2, progress=False)
    assert run.sizes["stick"] == 0 and (run["theta"].values == 1).all()


def test_one_year_draws_the_system_from_its_prior():
    """With one state there is no step: A and b have their prior mean and Q its own."""
    engine = get_engine("sb-ctm-lds")
    corpus = dated_as(simulated(), (1990,) * 12)
    model, options, found = engine.model(2), engine.options(start_sweeps=0), []
    state = engine.init(corpus, model, options, StepContext(0, 0))
    for i in range(4000):
        state = sb_ctm_lds.with_system(corpus, model, state, StepContext(0, i))
        found.append([*state.system.ravel(), 1.0 / state.noise[0, 0]])
    found = np.array(found)
    # 1 / Q ~ Wishart(nu, 1 / scale)
    z = (found.mean(axis=0) - [1, 0, 3 / 0.1]) / (found.std(axis=0) / np.sqrt(4000))
    assert np.abs(z).max() < 4.5
