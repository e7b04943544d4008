"""Standard variational Bayes against its twin, the published trajectories, and what theory promises."""

import math

import numpy as np
import pytest
import twins
from engines.lda.starts import MODELS, assert_same_counts, svb_state
from stepping import stepped, steps
from toys import CORPORA, corpus_of, doubled, random_gamma, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import svb
from workbench.models import LDA

ENGINE = get_engine("svb")
SCHEDULES = ("parallel", "sequential")
# exp(digamma) has a relative error of 3e-10 (spec A.11); three of them in a responsibility and three in its
# normaliser, times the tokens of a toy (9 to 180), over a few sweeps. Seen: 2e-9 in counts, 1.3e-8 in bounds.
COUNTS, NATS = 1e-8, 1e-7
ORACLE = 1e-9  # float64 trajectories, spec E.5
CONVERGED = 1e-7  # fixed points, spec E.5


def step(corpus, model, schedule, state, n=1):
    options = svb.Options(schedule, init="dirichlet")
    return stepped(ENGINE, corpus, model, options, n, state=state)


def bound(corpus, model, schedule, state):
    return ENGINE.watch(corpus, model, svb.Options(schedule, init="dirichlet"), state)["bound"]


# ---------------------------------------------------------------------- published values


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_twin_and_engine_follow_the_printed_trajectory(oracles, toy, schedule):
    printed, (corpus, model) = oracles["toyA"]["svb_" + schedule], toy
    gamma = np.array(printed["gamma0"])
    state = svb_state(corpus, model, gamma, schedule)
    assert twins.bound(corpus, gamma, model.alphas, model.beta) == pytest.approx(
        printed["F_after"]["0"], abs=ORACLE
    )
    if schedule == "sequential":  # the parallel schedule keeps no responsibilities behind a start
        assert bound(corpus, model, schedule, state) == pytest.approx(
            printed["F_after"]["0"], abs=ORACLE
        )
    for sweep in range(1, 6):
        gamma = twins.variational_sweep(corpus, gamma, model.alphas, model.beta, schedule)
        state = step(corpus, model, schedule, state)
        assert_same_counts(state, twins.expected_counts(corpus, gamma), COUNTS)
        if str(sweep) in printed["F_after"]:
            np.testing.assert_allclose(
                gamma, printed["gamma_after"][str(sweep)], rtol=0, atol=ORACLE
            )
            published = printed["F_after"][str(sweep)]
            assert twins.bound(corpus, gamma, model.alphas, model.beta) == pytest.approx(
                published, abs=ORACLE
            )
            assert bound(corpus, model, schedule, state) == pytest.approx(published, abs=NATS)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_twin_and_engine_converge_to_the_printed_optimum(oracles, toy, schedule):
    printed, (corpus, model) = oracles["toyA"]["svb_" + schedule], toy
    gamma = np.array(printed["gamma0"])
    state = step(corpus, model, schedule, svb_state(corpus, model, gamma, schedule), 1000)
    for _ in range(1000 if schedule == "parallel" else 500):
        gamma = twins.variational_sweep(corpus, gamma, model.alphas, model.beta, schedule)
    np.testing.assert_allclose(gamma, printed["gamma_final"], rtol=0, atol=CONVERGED)
    assert_same_counts(
        state, twins.expected_counts(corpus, np.array(printed["gamma_final"])), CONVERGED
    )
    assert bound(corpus, model, schedule, state) == pytest.approx(printed["F_final"], abs=CONVERGED)


def test_the_optimum_predicts_with_the_printed_perplexity(oracles, toy):
    printed, (corpus, model) = oracles["toyA"], toy
    test = corpus_of(printed["perplexity"]["test"], 2, 3)
    state = svb_state(corpus, model, np.array(printed["svb_parallel"]["gamma_final"]), "parallel")
    probability = ENGINE.predict(corpus, model, svb.Options(init="dirichlet"), state, test)
    perplexity = np.exp(-np.dot(test.counts, np.log(probability)) / test.n_tokens)
    assert perplexity == pytest.approx(printed["perplexity"]["perplexity_eq30_svb"], abs=CONVERGED)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_one_token_reaches_its_printed_fixed_point(oracles, schedule):
    """Where exact inference gives (0.636, 0.364): variational Bayes is too sure of itself."""
    edge, corpus = oracles["edge"]["one_token"], CORPORA["one_token"]
    model = LDA(2, tuple(edge["alpha"]), edge["beta"])
    state = step(
        corpus, model, schedule, svb_state(corpus, model, np.array([[0.6, 0.4]]), schedule), 1000
    )
    np.testing.assert_allclose(
        state.mean_k[:2], edge["svb_gamma_fixed_point_from_0p6"][0], rtol=0, atol=CONVERGED
    )
    assert bound(corpus, model, schedule, state) == pytest.approx(edge["F_svb"], abs=CONVERGED)


# ---------------------------------------------------------------------- against the twin


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("model", "corpus"),
    [
        *((model, simulated()) for model in MODELS),
        (LDA(6, 1e-4, 1e-4), simulated(8, 20, 12)),
        (LDA(6, 1e-8, 1e-8), simulated(8, 20, 12)),
        (LDA(6, 1e-4, 1e-4), simulated(8, 1, 12)),
        (LDA(6, 1e-8, 1e-8), simulated(8, 2, 12)),
    ],
)
def test_sweeps_meet_their_twin(model, corpus, schedule):
    """Of tiny priors psi is of order 1/prior; exp(psi) underflows, and a bound that sums such numbers is rounded more."""
    gamma = random_gamma(corpus, model.n_topics)
    state = svb_state(corpus, model, gamma, schedule)
    for _ in range(12 if model.beta < 0.1 else 3):
        gamma = twins.variational_sweep(corpus, gamma, model.alphas, model.beta, schedule)
        state = step(corpus, model, schedule, state)
        assert_same_counts(state, twins.expected_counts(corpus, gamma), COUNTS)
    expected = twins.bound(corpus, gamma, model.alphas, model.beta)
    assert bound(corpus, model, schedule, state) == pytest.approx(
        expected, abs=max(NATS, 1e-14 / model.beta)
    )


# ---------------------------------------------------------------------- invariants


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("prior", [1e-4, 0.02, 0.1, 1.0])
@pytest.mark.parametrize("name", CORPORA)
def test_the_bound_never_falls(name, prior, schedule):
    """Beyond 1e-10 of its size (spec A.13, 3): the error of the sums."""
    corpus, model = CORPORA[name], LDA(5, prior, prior)
    for seed in range(3):
        state, before = (
            ENGINE.init(
                corpus, model, svb.Options(schedule, init="dirichlet"), StepContext(seed, 0)
            ),
            -np.inf,
        )
        for _ in range(40):
            state = step(corpus, model, schedule, state)
            now = bound(corpus, model, schedule, state)
            assert now >= before - 1e-10 * abs(before)
            before = now


def test_doubled_counts_cost_no_more_updates():
    corpus, model = simulated(), LDA(4, 0.3, 0.2)
    for schedule in SCHEDULES:
        for each in (corpus, doubled(corpus)):
            ((_, info),) = steps(ENGINE, each, model, svb.Options(schedule, init="dirichlet"), 1)
            assert info == {"updates": corpus.n_pairs}


@pytest.mark.parametrize("other_topics", [5, 40])
def test_two_runs_on_one_corpus_at_once_do_not_touch_each_other(other_topics):
    corpus, model, other = simulated(), LDA(5, 0.3, 0.2), LDA(other_topics, 0.1, 0.1)
    gamma, theirs = (
        random_gamma(corpus, 5),
        svb_state(corpus, other, random_gamma(corpus, other_topics, 1), "parallel"),
    )

    def meanwhile():
        ENGINE.step(corpus, other, svb.Options(init="dirichlet"), theirs, StepContext(0, 1))

    alone = step(simulated(), model, "parallel", svb_state(corpus, model, gamma, "parallel"), 3)
    state = svb_state(corpus, model, gamma, "parallel")
    for i in range(3):
        state, _ = ENGINE.step(
            corpus, model, svb.Options(init="dirichlet"), state, StepContext(0, i + 1, 1, meanwhile)
        )
    for found, expected in zip(state, alone, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_runs_with_few_and_with_many_topics_take_turns_on_one_corpus():
    corpus, models = simulated(40), {n: LDA(n, 0.3, 0.2) for n in (5, 40)}
    for n_topics in (5, 40, 5):
        here, alone = (
            step(
                each,
                model,
                "parallel",
                svb_state(each, model, random_gamma(each, n_topics), "parallel"),
            )
            for each, model in ((corpus, models[n_topics]), (simulated(40), models[n_topics]))
        )
        for found, expected in zip(here, alone, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_states_that_part_have_a_bound_each():
    """Both go on from one sweep, under different priors; what has been swept on from has no entropy any more."""
    corpus, models = simulated(40), [LDA(5, 0.3, 0.2), LDA(5, 1.0, 0.5)]
    first = step(
        corpus,
        models[0],
        "parallel",
        svb_state(corpus, models[0], random_gamma(corpus, 5), "parallel"),
        1,
    )
    arrays = [[[field.copy() for field in first[:4]] for _ in models] for _ in range(2)]
    priors = [(model.alphas, model.beta) for model in models]
    copies = [
        svb.State(*each, first.entropy, *prior)
        for each, prior in zip(arrays[0], priors, strict=True)
    ]
    alone = [
        svb.State(*each, float(first.entropy), *prior)
        for each, prior in zip(arrays[1], priors, strict=True)
    ]
    found, expected = (
        [
            step(corpus, model, "parallel", state, 1)
            for model, state in zip(models, states, strict=True)
        ]
        for states in (copies, alone)
    )
    assert [float(state.entropy) for state in found] == [float(state.entropy) for state in expected]
    assert float(found[0].entropy) != float(found[1].entropy) and math.isnan(float(first.entropy))
