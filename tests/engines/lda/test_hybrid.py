"""The hybrid of variational Bayes and Gibbs sampling against its twin and the published values."""

from functools import partial

import numpy as np
import pytest
import twins
from engines.lda.starts import MODELS, assert_same_counts, cgs_state, hybrid_state, uniforms_of
from toys import every_pair, random_gamma, random_topics, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext, size
from workbench.engines.lda import cgs
from workbench.engines.lda.hybrid import SvbOptions as Options
from workbench.engines.lda.hybrid_state import chain_of, threshold_of
from workbench.engines.lda.split import EVERY_COUNT, split_by_count
from workbench.engines.options import make_options
from workbench.models import LDA
from workbench.models.options import OptionError

ENGINE = get_engine("svb-cgs")
SCHEDULES = ("parallel", "sequential")
# exp(digamma) has a relative error of 3e-10 (spec A.11); three of them in a responsibility and three in its
# normaliser, times the tokens of a toy (9 to 180), over a few sweeps. Seen: 2e-9 in counts, 1.3e-8 in bounds.
COUNTS, NATS = 1e-8, 1e-7
EXACT = 1e-9  # the printed digits; float64 trajectories, spec E.5
CONVERGED = 1e-7  # fixed points, spec E.5


def svb_sweep(schedule):
    """The variational phase of the twin."""
    return partial(twins.variational_sweep, schedule=schedule)


def assert_meets_twin(corpus, state, gamma, chains, r):
    assert_same_counts(state, twins.expected_counts(corpus, gamma, r), COUNTS)
    drawn = np.repeat(corpus.counts, corpus.counts) <= r
    for s, topics in enumerate(chains):
        assert np.array_equal(state.topics[s][drawn], np.array(topics)[drawn])
        counts = twins.sampled_counts(corpus, topics, gamma.shape[1], r)
        assert np.array_equal(state.n_wk[s][:, : gamma.shape[1]], counts.n_wk)
        assert np.array_equal(state.n_dk[s][:, : gamma.shape[1]], counts.n_dk)


# ---------------------------------------------------------------------- published values


def test_the_twin_follows_the_printed_trajectory(oracles, toy):
    printed, (corpus, model) = oracles["toyA"]["hybrid_trajectory_svb_r1_S2"], toy
    gamma, chains = np.array(printed["gamma0"]), [np.array(z) for z in printed["z0"]]
    streams = [iter(u) for u in printed["uniforms"]]
    uniforms = [lambda token, s=s: next(s) for s in streams]
    for expected in printed["trace"]:
        sequential = svb_sweep("sequential")
        gamma, chains = twins.hybrid_sweep(
            corpus, gamma, chains, model.alphas, model.beta, 1, uniforms, sequential
        )
        assert [z[printed["cg_tokens"]].tolist() for z in chains] == expected["z_cg"]
        np.testing.assert_allclose(gamma[[0, 4]], expected["gamma_vb"], rtol=0, atol=EXACT)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_kernel_and_twin_go_the_same_way_from_the_printed_start(oracles, toy, schedule):
    printed, (corpus, model) = oracles["toyA"]["hybrid_trajectory_svb_r1_S2"], toy
    gamma, chains = np.array(printed["gamma0"]), [np.array(z) for z in printed["z0"]]
    state = hybrid_state(corpus, model, gamma, chains, schedule, 1)
    for sweep in range(1, 9):
        context = StepContext(4, sweep)
        uniforms = [uniforms_of(context, s) for s in range(2)]
        gamma, chains = twins.hybrid_sweep(
            corpus, gamma, chains, model.alphas, model.beta, 1, uniforms, svb_sweep(schedule)
        )
        state, _ = ENGINE.step(corpus, model, Options(1, 2, "two_phase", schedule), state, context)
        assert_meets_twin(corpus, state, gamma, chains, 1)


def test_the_bound_at_given_responsibilities_is_the_printed_one(oracles, toy):
    printed, (corpus, model) = oracles["toyA"]["hybrid_r1_at_gamma0"], toy
    gamma = np.array(printed["gamma"])
    found = twins.enumerate_topics(
        corpus, model.alphas, model.beta, 1, twins.expected_counts(corpus, gamma, 1)
    )
    marginals = [(found.probability @ (found.topics[:, token] == 0)) for token in (3, 4, 5)]
    assert twins.hybrid_bound(corpus, gamma, model.alphas, model.beta, 1) == pytest.approx(
        printed["B"], abs=EXACT
    )
    assert twins.entropy(corpus, gamma, 1) == pytest.approx(printed["H_vb"], abs=EXACT)
    assert found.log_sum == pytest.approx(printed["logZ"], abs=EXACT)
    np.testing.assert_allclose(marginals, np.array(printed["qcg_marginals"])[:, 0], atol=EXACT)


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


def test_the_bound_rises_to_the_printed_optimum_under_exact_sampling(oracles, toy):
    """Infinitely many chains: never falls, begins above the variational bound, ends below the evidence."""
    printed, (corpus, model) = oracles["toyA"]["hybrid_r1_exact"], toy
    gamma = np.array(oracles["toyA"]["svb_parallel"]["gamma_final"])
    bounds = [twins.hybrid_bound(corpus, gamma, model.alphas, model.beta, 1)]
    for _ in range(60):
        gamma = twins.hybrid_optimum_step(corpus, gamma, model.alphas, model.beta, 1)
        bounds.append(twins.hybrid_bound(corpus, gamma, model.alphas, model.beta, 1))
    assert bounds[0] == pytest.approx(printed["B_start"], abs=CONVERGED)
    assert bounds[-1] == pytest.approx(printed["B_final"], abs=CONVERGED)
    np.testing.assert_allclose(gamma[[0, 4]], printed["gamma_vb_final"], rtol=0, atol=CONVERGED)
    assert np.all(np.diff(bounds) > -1e-12)  # rounding
    assert bounds[0] > oracles["toyA"]["svb_parallel"]["F_final"]
    assert bounds[-1] < oracles["toyA"]["exact"]["log_evidence"]


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
    batches = np.reshape(drawn, (50, -1, 3)).mean(axis=1)
    deviation = batches.mean(axis=0) - np.array(printed["qcg_marginals"])[:, 0]
    assert np.all(np.abs(deviation) < 4 * batches.std(axis=0, ddof=1) / np.sqrt(50))


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


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("model", [*MODELS, LDA(6, 1e-4, 1e-4), LDA(6, 1e-8, 1e-8)])
def test_sweeps_meet_their_twin(model, n_chains, schedule):
    """Of tiny priors exp(psi) underflows."""
    corpus, n_topics = simulated(8, 10, 12), model.n_topics
    gamma, chains = (
        random_gamma(corpus, n_topics),
        [random_topics(corpus, n_topics, s) for s in range(n_chains)],
    )
    state = hybrid_state(corpus, model, gamma, chains, schedule, 1)
    options = Options(1, n_chains, "two_phase", schedule)
    for sweep in (1, 2):
        context = StepContext(5, sweep)
        uniforms = [uniforms_of(context, s) for s in range(n_chains)]
        gamma, chains = twins.hybrid_sweep(
            corpus, gamma, chains, model.alphas, model.beta, 1, uniforms, svb_sweep(schedule)
        )
        state, info = ENGINE.step(corpus, model, options, state, context)
        assert_meets_twin(corpus, state, gamma, chains, 1)
    n_sampled, n_updated = np.sum(corpus.counts == 1), np.sum(corpus.counts > 1)
    assert info["updates"] == n_chains * (n_sampled + n_updated)
    totals = [
        twins.expected_counts(corpus, gamma, 1).plus(twins.sampled_counts(corpus, z, n_topics, 1))
        for z in chains
    ]
    objective = np.mean(
        [twins.log_joint(n, model.alphas, model.beta) for n in totals]
    ) + twins.entropy(corpus, gamma, 1)
    assert ENGINE.watch(corpus, model, options, state)["objective"] == pytest.approx(
        objective, abs=NATS
    )
    table = np.mean([twins.predictive(n, model.alphas, model.beta) for n in totals], axis=0)
    found = ENGINE.predict(corpus, model, options, state, every_pair(corpus))
    np.testing.assert_allclose(found, table.ravel(), rtol=COUNTS)


@pytest.mark.parametrize("r", [0, 1, 2, np.inf])
@pytest.mark.parametrize("n_topics", [1, 2, 16, 17, 100])
def test_interleaved_passes_meet_their_twin(n_topics, r):
    corpus, model = simulated(8, 10, 12), LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    gamma, topics = random_gamma(corpus, n_topics), random_topics(corpus, n_topics)
    state = hybrid_state(corpus, model, gamma, [topics], "sequential", r)

    def update(gamma, pair, sampled):
        total = twins.expected_counts(corpus, gamma, r).plus(sampled)
        return twins.responsibility(
            [total], [1.0], corpus.documents[pair], corpus.words[pair], model.alphas, model.beta
        )

    for sweep in (1, 2):
        context = StepContext(5, sweep)
        gamma, topics = twins.interleaved_sweep(
            corpus, gamma, topics, model.alphas, model.beta, r, uniforms_of(context), update
        )
        state, _ = ENGINE.step(
            corpus, model, Options(r, 1, "interleaved", "sequential"), state, context
        )
        assert_meets_twin(corpus, state, gamma, [topics], r)


# ---------------------------------------------------------------------- options


def test_a_fraction_between_two_counts_is_the_lower_count():
    assert threshold_of(Options(r=1.5)) == threshold_of(Options(r=1)) == 1
    assert threshold_of(Options(r=0.5)) == threshold_of(Options(r=0)) == 0
    assert threshold_of(Options(r=np.inf)) == EVERY_COUNT
    assert threshold_of(make_options(ENGINE, {"r": "inf"})) == EVERY_COUNT
    assert threshold_of(make_options(ENGINE, {"r": 1e300})) == EVERY_COUNT


def test_an_interleaved_pass_needs_one_chain_and_the_sequential_schedule():
    for wrong in ({}, {"schedule": "sequential", "n_chains": 2}):
        with pytest.raises(
            OptionError, match="phases=interleaved needs n_chains=1 and schedule=sequential"
        ):
            make_options(ENGINE, {"phases": "interleaved", **wrong})


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
