"""The hybrids of collapsed variational Bayes and Gibbs sampling against their twin and the published trajectories."""

from functools import partial

import numpy as np
import pytest
import twins
from engines.lda.starts import cvb_hybrid_state, uniforms_of
from toys import doubled, every_pair, random_gamma, random_topics, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda.hybrid import Cvb0Options, CvbOptions
from workbench.engines.options import make_options
from workbench.models import LDA
from workbench.models.options import OptionError

EXACT = 1e-9  # the printed digits; float64 trajectories, spec E.5
COUNTS, NATS = 1e-9, 1e-8  # rounding of running sums over two sweeps of at most 180 tokens

both_orders = pytest.mark.parametrize("name", ["cvb-cgs", "cvb0-cgs"])


def second_order(name):
    return name == "cvb-cgs"


def options_of(name, *given):
    return (CvbOptions if second_order(name) else Cvb0Options)(*given)


def twin_sweep(name):
    return partial(twins.collapsed_sweep, second_order=second_order(name))


def assert_meets_twin(corpus, model, state, gamma, chains, r):
    n_topics = gamma.shape[1]
    np.testing.assert_allclose(
        state.gamma[:, :n_topics], gamma[corpus.counts > r], rtol=0, atol=COUNTS
    )
    expected = cvb_hybrid_state(corpus, model, gamma, chains, r, len(state.var_k) > 0)
    for found, array in zip(state[:6], expected[:6], strict=True):
        np.testing.assert_allclose(found, array, rtol=0, atol=COUNTS)
    drawn = np.repeat(corpus.counts, corpus.counts) <= r
    for s, topics in enumerate(chains):
        assert np.array_equal(state.topics[s][drawn], np.array(topics)[drawn])
        assert np.array_equal(state.n_wk[s], expected.n_wk[s])


@both_orders
def test_the_twin_follows_the_printed_trajectory(oracles, toy, name):
    printed, (corpus, model) = oracles["toyA"][f"hybrid_trajectory_{name.split('-')[0]}_r1_S2"], toy
    gamma, chains = np.array(printed["gamma0"]), [np.array(z) for z in printed["z0"]]
    streams = [iter(u) for u in printed["uniforms"]]
    uniforms = [lambda token, s=s: next(s) for s in streams]
    for expected in printed["trace"]:
        gamma, chains = twins.hybrid_sweep(
            corpus, gamma, chains, model.alphas, model.beta, 1, uniforms, twin_sweep(name)
        )
        assert [z[printed["cg_tokens"]].tolist() for z in chains] == expected["z_cg"]
        np.testing.assert_allclose(gamma[[0, 4]], expected["gamma_vb"], rtol=0, atol=EXACT)


@both_orders
@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("n_topics", [1, 2, 15, 16, 17, 33, 100])
def test_sweeps_meet_their_twin_for_any_number_of_topics(n_topics, n_chains, name):
    engine, corpus = get_engine(name), simulated(8, 10, 12)
    model = LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    gamma, chains = (
        random_gamma(corpus, n_topics),
        [random_topics(corpus, n_topics, s) for s in range(n_chains)],
    )
    state, options = (
        cvb_hybrid_state(corpus, model, gamma, chains, 1, second_order(name)),
        options_of(name, 1, n_chains),
    )
    for sweep in (1, 2):
        context = StepContext(5, sweep)
        uniforms = [uniforms_of(context, s) for s in range(n_chains)]
        gamma, chains = twins.hybrid_sweep(
            corpus, gamma, chains, model.alphas, model.beta, 1, uniforms, twin_sweep(name)
        )
        state, info = engine.step(corpus, model, options, state, context)
        assert_meets_twin(corpus, model, state, gamma, chains, 1)
    assert info["updates"] == n_chains * corpus.n_tokens - n_chains * int(
        np.sum((corpus.counts - 1)[corpus.counts > 1])
    )
    totals = [
        twins.expected_counts(corpus, gamma, 1).plus(twins.sampled_counts(corpus, z, n_topics, 1))
        for z in chains
    ]
    objective = np.mean(
        [twins.log_joint(n, model.alphas, model.beta) for n in totals]
    ) + twins.entropy(corpus, gamma, 1)
    assert engine.watch(corpus, model, options, state)["objective"] == pytest.approx(
        objective, abs=NATS
    )
    table = np.mean([twins.predictive(n, model.alphas, model.beta) for n in totals], axis=0)
    np.testing.assert_allclose(
        engine.predict(corpus, model, options, state, every_pair(corpus)),
        table.ravel(),
        rtol=COUNTS,
    )


@both_orders
@pytest.mark.parametrize("r", [0, 1, 2, np.inf])
@pytest.mark.parametrize("n_topics", [1, 2, 17])
def test_interleaved_passes_meet_their_twin(n_topics, r, name):
    engine, corpus = get_engine(name), simulated(8, 10, 12)
    model = LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    gamma, topics = random_gamma(corpus, n_topics), random_topics(corpus, n_topics)
    state = cvb_hybrid_state(corpus, model, gamma, [topics], r, second_order(name))

    def update(gamma, pair, sampled):
        return twins.collapsed_responsibility(
            corpus, gamma, pair, [sampled], model.alphas, model.beta, r, second_order(name)
        )

    for sweep in (1, 2):
        context = StepContext(5, sweep)
        gamma, topics = twins.interleaved_sweep(
            corpus, gamma, topics, model.alphas, model.beta, r, uniforms_of(context), update
        )
        state, _ = engine.step(corpus, model, options_of(name, r, 1, "interleaved"), state, context)
        assert_meets_twin(corpus, model, state, gamma, [topics], r)


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


@both_orders
def test_an_interleaved_pass_needs_one_chain(name):
    with pytest.raises(OptionError, match="phases=interleaved needs n_chains=1"):
        make_options(get_engine(name), {"phases": "interleaved", "n_chains": 2})


def test_variance_terms_belong_to_two_phases():
    with pytest.raises(OptionError, match="cg_second_order needs phases=two_phase"):
        make_options(get_engine("cvb-cgs"), {"phases": "interleaved", "cg_second_order": True})


@pytest.mark.parametrize("name", ["svb-cgs", "cvb-cgs", "cvb0-cgs"])
def test_a_hybrid_counts_as_sampling_where_a_token_is_sampled(name):
    engine, corpus = get_engine(name), simulated(8, 10, 12)
    assert engine.samples(corpus, make_options(engine, {"r": 1}))
    assert not engine.samples(corpus, make_options(engine, {"r": 0}))
    assert not engine.samples(doubled(corpus), make_options(engine, {"r": 1}))


def test_options_that_are_not_there_are_refused_with_the_nearest():
    with pytest.raises(OptionError, match="cvb0-cgs has no option 'cg_second_order'"):
        make_options(get_engine("cvb0-cgs"), {"cg_second_order": True})
    with pytest.raises(OptionError, match="must be one of False, True; got 'perhaps'"):
        make_options(get_engine("cvb-cgs"), {"cg_second_order": "perhaps"})
    assert make_options(get_engine("cvb-cgs"), {"cg_second_order": "true"}).cg_second_order is True
