"""The hybrids of variational Bayes, collapsed or not, and Gibbs sampling against their twins and the published values."""

from functools import partial

import numpy as np
import pytest
import twins
from engines.lda.starts import (
    MODELS,
    cgs_state,
    cvb_hybrid_state,
    hybrid_state,
    uneven,
    uniforms_of,
)
from geweke import z_of
from toys import doubled, every_pair, random_gamma, random_topics, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext, size
from workbench.engines.lda import cgs
from workbench.engines.lda.hybrid import CvbOptions
from workbench.engines.lda.hybrid import SvbOptions as Options
from workbench.engines.lda.hybrid_state import chain_of, threshold_of
from workbench.engines.lda.split import EVERY_COUNT, split_by_count
from workbench.engines.options import make_options
from workbench.models import LDA

ENGINE = get_engine("svb-cgs")
SCHEDULES = ("parallel", "sequential")
# exp(digamma) has a relative error of 3e-10 (spec A.11); three of them in a responsibility and three in its
# normaliser, times the tokens of a toy (9 to 180), over a few sweeps. Seen: 2e-9 in counts, 1.3e-8 in bounds.
COUNTS, NATS = 1e-8, 1e-7
EXACT = 1e-9  # the printed digits; float64 trajectories, spec E.5


WAYS = [("svb-cgs", schedule) for schedule in SCHEDULES] + [("cvb-cgs", None), ("cvb0-cgs", None)]


def state_of(name, schedule, corpus, model, gamma, chains, r=1):
    """The state of a hybrid behind responsibilities of every pair and topics of every token, a chain each."""
    if name == "svb-cgs":
        return hybrid_state(corpus, model, gamma, chains, schedule, r)
    return cvb_hybrid_state(corpus, model, gamma, chains, r, name == "cvb-cgs")


def options_of(name, schedule, **given):
    return make_options(get_engine(name), given | ({"schedule": schedule} if schedule else {}))


def twin_sweep(name, schedule):
    """The variational phase of the twin."""
    if name == "svb-cgs":
        return partial(twins.variational_sweep, schedule=schedule)
    return partial(twins.collapsed_sweep, second_order=name == "cvb-cgs")


def assert_meets_twin(name, schedule, corpus, model, state, gamma, chains, r=1):
    """Responsibilities, expected counts and their variances near those of the twin; sampled ones the same."""
    expected = state_of(name, schedule, corpus, model, gamma, chains, r)
    for field in set(state._fields) - {"topics", "n_dk", "n_wk", "n_k", "entropy"}:
        mine, wanted = getattr(state, field), getattr(expected, field)
        np.testing.assert_allclose(mine, wanted, rtol=0, atol=COUNTS, err_msg=field)
    drawn = np.repeat(corpus.counts, corpus.counts) <= r
    for s, topics in enumerate(chains):
        assert np.array_equal(state.topics[s][drawn], np.array(topics)[drawn])
    assert np.array_equal(state.n_wk, expected.n_wk) and np.array_equal(state.n_dk, expected.n_dk)


# ---------------------------------------------------------------------- published values


@pytest.mark.parametrize("name", ["svb", "cvb", "cvb0"])
def test_the_twin_follows_the_printed_trajectory(oracles, toy, name):
    printed, (corpus, model) = oracles["toyA"][f"hybrid_trajectory_{name}_r1_S2"], toy
    gamma, chains = np.array(printed["gamma0"]), [np.array(z) for z in printed["z0"]]
    streams = [iter(u) for u in printed["uniforms"]]
    uniforms = [lambda token, s=s: next(s) for s in streams]
    for expected in printed["trace"]:
        update = twin_sweep(f"{name}-cgs", "sequential")
        gamma, chains = twins.hybrid_sweep(
            corpus, gamma, chains, model.alphas, model.beta, 1, uniforms, update
        )
        assert [z[printed["cg_tokens"]].tolist() for z in chains] == expected["z_cg"]
        np.testing.assert_allclose(gamma[[0, 4]], expected["gamma_vb"], rtol=0, atol=EXACT)


@pytest.mark.parametrize("n_parts", [1, 2])
def test_the_bytes_of_the_pairs_and_of_a_sweep_are_told(n_parts):
    """Columns of the sampled and of the variational pairs; counts of words (word, topic padded) float64, of each chain.

    Or, if that is more, the chains a second time and the topics of one at the start, before there are columns.
    """
    corpus, model, n_chains = simulated(60, 50, 40), LDA(20, 0.1, 0.1), 20
    options = make_options(get_engine("cvb-cgs"), {"partition": n_parts, "n_chains": n_chains})
    told = get_engine("cvb-cgs").memory(corpus, model, options)
    split = split_by_count(corpus, 1)
    columns = [
        column for sampled in (True, False) for column in split.partition(n_parts, sampled).columns
    ]
    assert told.indices == sum(
        array.nbytes for each in columns for array in each if isinstance(array, np.ndarray)
    )
    chains = n_chains * size(cgs.arrays(corpus, 20))
    assert told.step == max(
        n_chains * corpus.n_words * 32 * 8, chains + 2 * corpus.n_tokens - told.indices
    )


def test_draws_follow_the_exact_conditional_of_the_sampled_tokens(oracles, toy):
    """At fixed responsibilities: 10,000 sweeps, 4 standard errors of 50 batch means."""
    printed, (corpus, model) = oracles["toyA"]["hybrid_r1_at_gamma0"], toy
    state = hybrid_state(
        corpus, model, np.array(printed["gamma"]), [np.zeros(9, int)], "parallel", 1
    )
    drawn = []
    for sweep in range(10_000):
        cgs.sweep(
            corpus,
            split_by_count(corpus, 1),
            chain_of(state, 0),
            (*state[:3], None, None, None),
            StepContext(2, sweep),
        )
        drawn.append(state.topics[0, 3:6] == 0)
    assert z_of(drawn, np.array(printed["qcg_marginals"])[:, 0], 50).max() < 4


def test_many_chains_come_to_the_printed_optimum(oracles, toy):
    """200 chains: gamma fluctuates by about 1e-4 around a mean that is 2e-5 off for finitely many (spec A.8)."""
    printed, (corpus, model) = oracles["toyA"]["hybrid_r1_exact"], toy
    gamma = np.array(oracles["toyA"]["svb_parallel"]["gamma_final"])
    state = hybrid_state(
        corpus, model, gamma, [random_topics(corpus, 2, s) for s in range(200)], "sequential", 1
    )
    visited = []
    for sweep in range(220):
        state, _ = ENGINE.step(
            corpus, model, Options(1, 200, "two_phase", "sequential"), state, StepContext(1, sweep)
        )
        visited.append(state.gamma[:, :2].copy())
    np.testing.assert_allclose(
        np.mean(visited[20:], axis=0), printed["gamma_vb_final"], rtol=0, atol=2e-4
    )


# ---------------------------------------------------------------------- against the twin


@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize(
    ("model", "name", "schedule"),
    [
        *((model, *way) for model in MODELS for way in WAYS),
        *((LDA(6, tiny, tiny), *way) for tiny in (1e-4, 1e-8) for way in WAYS[:2]),
    ],
)
def test_sweeps_meet_their_twin(model, name, schedule, n_chains):
    """Of tiny priors exp(psi) underflows."""
    corpus, n_topics, engine = simulated(8, 10, 12), model.n_topics, get_engine(name)
    gamma = random_gamma(corpus, n_topics)
    chains = [random_topics(corpus, n_topics, s) for s in range(n_chains)]
    state = state_of(name, schedule, corpus, model, gamma, chains)
    options = options_of(name, schedule, r=1, n_chains=n_chains)
    for sweep in (1, 2):
        context = StepContext(5, sweep)
        uniforms = [uniforms_of(context, s) for s in range(n_chains)]
        update = twin_sweep(name, schedule)
        gamma, chains = twins.hybrid_sweep(
            corpus, gamma, chains, model.alphas, model.beta, 1, uniforms, update
        )
        state, info = engine.step(corpus, model, options, state, context)
        assert_meets_twin(name, schedule, corpus, model, state, gamma, chains)
    assert info["updates"] == n_chains * corpus.n_pairs
    totals = [
        twins.expected_counts(corpus, gamma, 1).plus(twins.sampled_counts(corpus, z, n_topics, 1))
        for z in chains
    ]
    objective = np.mean([twins.log_joint(n, model.alphas, model.beta) for n in totals])
    objective += twins.entropy(corpus, gamma, 1)
    watched = engine.watch(corpus, model, options, state)
    assert watched["objective"] == pytest.approx(objective, abs=NATS)
    table = np.mean([twins.predictive(n, model.alphas, model.beta) for n in totals], axis=0)
    found = engine.predict(corpus, model, options, state, every_pair(corpus))
    np.testing.assert_allclose(found, table.ravel(), rtol=COUNTS)


@pytest.mark.parametrize(("name", "schedule"), WAYS[1:])
@pytest.mark.parametrize("r", [0, 1, 2, np.inf])
@pytest.mark.parametrize("n_topics", [1, 2, 17, 100])
def test_interleaved_passes_meet_their_twin(n_topics, r, name, schedule):
    corpus, model = simulated(8, 10, 12), uneven(n_topics)
    gamma, topics = random_gamma(corpus, n_topics), random_topics(corpus, n_topics)
    state = state_of(name, schedule, corpus, model, gamma, [topics], r)
    options, priors = (
        options_of(name, schedule, r=r, phases="interleaved", init="dirichlet"),
        (model.alphas, 0.2),
    )

    def update(gamma, pair, sampled):
        if name != "svb-cgs":
            return twins.collapsed_responsibility(
                corpus, gamma, pair, [sampled], *priors, r, name == "cvb-cgs"
            )
        total = twins.expected_counts(corpus, gamma, r).plus(sampled)
        return twins.responsibility(
            [total], [1.0], corpus.documents[pair], corpus.words[pair], *priors
        )

    for sweep in (1, 2):
        context = StepContext(5, sweep)
        gamma, topics = twins.interleaved_sweep(
            corpus, gamma, topics, *priors, r, uniforms_of(context), update
        )
        state, _ = get_engine(name).step(corpus, model, options, state, context)
        assert_meets_twin(name, schedule, corpus, model, state, gamma, [topics], r)


@pytest.mark.parametrize("n_topics", [2, 3, 16, 17, 100])
def test_tokens_may_be_drawn_with_the_variance_terms(n_topics):
    engine, corpus, model = get_engine("cvb-cgs"), simulated(20, 30, 25), LDA(n_topics, 0.05, 0.05)
    gamma, topics = random_gamma(corpus, n_topics), random_topics(corpus, n_topics)
    context, mean = StepContext(5, 1), twins.expected_counts(corpus, gamma, 1)
    drawn = np.repeat(corpus.counts, corpus.counts) <= 1
    found = []
    for option in (False, True):
        state = cvb_hybrid_state(corpus, model, gamma, [topics], 1)
        state, _ = engine.step(corpus, model, CvbOptions(1, cg_second_order=option), state, context)
        variance = twins.count_variances(corpus, gamma, 1) if option else None
        expected = twins.gibbs_sweep(
            corpus, topics, model.alphas, model.beta, uniforms_of(context), 1, mean, variance
        )
        assert np.array_equal(state.topics[0][drawn], expected[drawn])
        found.append(state.topics[0][drawn])
    assert not np.array_equal(*found)


# ---------------------------------------------------------------------- options


def test_a_fraction_between_two_counts_is_the_lower_count():
    assert threshold_of(Options(r=1.5)) == threshold_of(Options(r=1)) == 1
    assert threshold_of(Options(r=0.5)) == threshold_of(Options(r=0)) == 0
    assert threshold_of(Options(r=np.inf)) == EVERY_COUNT
    assert threshold_of(make_options(ENGINE, {"r": "inf"})) == EVERY_COUNT
    assert threshold_of(make_options(ENGINE, {"r": 1e300})) == EVERY_COUNT


@pytest.mark.parametrize("name", ["svb-cgs", "cvb-cgs", "cvb0-cgs"])
def test_a_hybrid_counts_as_sampling_where_a_token_is_sampled(name):
    engine, corpus = get_engine(name), simulated(8, 10, 12)
    assert engine.samples(corpus, make_options(engine, {"r": 1}))
    assert not engine.samples(corpus, make_options(engine, {"r": 0}))
    assert not engine.samples(doubled(corpus), make_options(engine, {"r": 1}))


def test_the_state_of_a_chain_is_a_view():
    corpus, model = simulated(), LDA(3)
    state = hybrid_state(
        corpus, model, random_gamma(corpus, 3), [random_topics(corpus, 3)], "parallel", 1
    )
    assert all(
        np.shares_memory(a, b) for a, b in zip(chain_of(state, 0)[:4], state[5:9], strict=True)
    )
    assert np.array_equal(
        chain_of(state, 0).n_wk, cgs_state(corpus, model, random_topics(corpus, 3), 3, 1).n_wk
    )
