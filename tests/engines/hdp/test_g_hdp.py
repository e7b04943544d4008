"""The direct assignment sampler against exact posteriors and its twin; more in tests/kernels/hdp/test_gibbs.py."""

import numpy as np
import pytest
import twins
from geweke import z_of
from hdp_twins import (
    Assignment,
    chosen_hdp,
    g_hdp_sweep,
    hdp_log_joint,
    hdp_of,
)
from stepping import states
from toys import CORPORA, corpus_of, every_pair, read_oracles, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.hdp import g_hdp
from workbench.kernels.hdp.gibbs import draw_tables
from workbench.kernels.lda.gibbs import count_topics
from workbench.kernels.simd.vectors import aligned_zeros, padded
from workbench.kernels.uniforms import GIBBS, HDP_NEW_TOPICS, uniform
from workbench.models import ModelError

ENGINE = get_engine("g-hdp")


def options(**given):
    return chosen_hdp(ENGINE, **given)


def state_of(corpus, topics, weights, rest, alpha, gamma, capacity=None):
    """The state behind topics of every token and weights of topics (0: not there)."""
    capacity = capacity or padded(len(weights) + 1)
    state = g_hdp.State(
        np.array(topics, np.uint16),
        aligned_zeros((corpus.n_documents, capacity), np.int32),
        aligned_zeros((corpus.n_words, capacity), np.int32),
        aligned_zeros((capacity,), np.int64),
        aligned_zeros((capacity,), np.float64),
        rest,
        alpha,
        gamma,
        len(weights),
        0,
    )
    count_topics(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        np.ones(corpus.n_pairs, bool),
        *state[:4],
    )
    state.weights[: len(weights)] = weights
    return state


def run(corpus, n_topics, chosen, n_sweeps, seed=0):
    """The state after each sweep; its arrays are reused by the next."""
    return states(ENGINE, corpus, hdp_of(chosen, n_topics), chosen, n_sweeps, seed)


# ---------------------------------------------------------------------- exact posteriors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_sweeps", "tolerance"), [(5_000, 4), pytest.param(60_000, 3, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("case", [0, 1])
def test_the_chain_follows_the_exact_posterior(case, n_sweeps, tolerance):
    """P(K), E[alpha], E[gamma], E[tables] and which tokens are together, by enumeration of all partitions (spec 18)."""
    toy = read_oracles("hdp")["hdp_toys"][case]
    documents, words, exact = np.array(toy["doc"]), np.array(toy["word"]), toy["exact"]
    order, (first, second) = np.lexsort((words, documents)), np.triu_indices(len(words), 1)
    corpus = corpus_of(
        [(d, w, 1) for d, w in zip(documents, words, strict=True)], toy["D"], toy["W"]
    )
    (a_alpha, b_alpha), (a_gamma, b_gamma) = toy["pa"], toy["pg"]
    chosen = options(
        beta_total=toy["beta"], a_alpha=a_alpha, b_alpha=b_alpha, a_gamma=a_gamma, b_gamma=b_gamma
    )
    numbers, samples = [int(k) for k in exact["pK"] if exact["pK"][k] > 0.005], []
    for sweep, state in enumerate(run(corpus, 1, chosen, n_sweeps, seed=6)):
        strengths = state.alpha_total * state.weights
        tables = draw_tables(
            corpus.indptr, corpus.tokens_before, state.n_dk, strengths, np.uint64(sweep)
        ).sum()
        is_number = np.count_nonzero(state.n_k) == np.array(numbers)
        together = state.topics[first] == state.topics[second]
        samples.append([*is_number, state.alpha_total, state.top_concentration, tables, *together])
    together = np.array(exact["coassign"])[np.ix_(order, order)][first, second]
    expected = [
        *(exact["pK"][str(k)] for k in numbers),
        exact["Ealpha"],
        exact["Egamma"],
        exact["Etables"],
        *together,
    ]
    assert z_of(samples[100:], expected, 40).max() < tolerance


# ---------------------------------------------------------------------- sweeps, counts, what is watched


def live_of(state):
    return np.flatnonzero(state.n_k)


def assert_state_is_whole(corpus, state):
    """Counts are those of the topics; pi sums to 1; a slot is free or has both tokens and a weight."""
    for array, counts in zip(
        state[1:4], twins.sampled_counts(corpus, state.topics, len(state.n_k)), strict=True
    ):
        assert np.array_equal(array, counts)
    assert np.array_equal(state.weights > 0, state.n_k > 0)
    assert state.weights.sum() + state.rest == pytest.approx(1, abs=1e-12)
    assert state.n_slots < len(state.n_k) and not state.n_k[state.n_slots :].any()
    assert state.rest > 0 and state.alpha_total > 0 and state.top_concentration > 0


def test_a_step_of_the_engine_draws_the_topics_of_its_twin_and_grows():
    corpus, chosen = (
        simulated(),
        options(learn_alpha=False, alpha_total=60.0, learn_gamma=False, top_concentration=40.0),
    )
    state = ENGINE.init(corpus, hdp_of(chosen, 3), chosen, StepContext(4, 0))
    for step in (1, 2, 3):
        context, before = StepContext(4, step), state
        of_topics, of_new = context.key(GIBBS), context.key(HDP_NEW_TOPICS)
        expected = g_hdp_sweep(
            corpus,
            Assignment(state.topics.tolist(), state.weights[: state.n_slots].tolist(), state.rest),
            60.0,
            chosen.beta_total,
            40.0,
            lambda i, key=of_topics: uniform(key, i),
            lambda i, key=of_new: uniform(key, i),
        )
        old = before.topics.copy()
        state, info = ENGINE.step(corpus, hdp_of(chosen, 3), chosen, state, context)
        assert state.topics.tolist() == expected.topics
        assert state.n_slots == len(expected.weights)
        assert info == {"updates": corpus.n_tokens, "moved": np.mean(old != state.topics)}
        assert state.steps == before.steps + len(set(expected.topics))
        assert_state_is_whole(corpus, state)
    assert state.n_slots > 17


def test_spare_room_changes_no_bit():
    """The same state in the least room that holds it, and in much more."""
    corpus, chosen = simulated(), options()
    begun = ENGINE.init(corpus, hdp_of(chosen, 3), chosen, StepContext(4, 0))
    tight, roomy = (
        state_of(
            corpus,
            begun.topics,
            begun.weights[:3],
            begun.rest,
            begun.alpha_total,
            begun.top_concentration,
            capacity,
        )
        for capacity in (16, 160)
    )
    both = (
        states(ENGINE, corpus, hdp_of(chosen, 3), chosen, 5, seed=4, state=state)
        for state in (tight, roomy)
    )
    for tight, roomy in zip(*both, strict=True):
        for name in ("topics", "rest", "alpha_total", "top_concentration", "n_slots", "steps"):
            assert np.array_equal(getattr(tight, name), getattr(roomy, name)), name
        seen = [ENGINE.watch(corpus, hdp_of(chosen, 3), chosen, state) for state in (tight, roomy)]
        assert all(np.array_equal(seen[0][name], seen[1][name]) for name in seen[0])
        assert np.array_equal(
            *(
                ENGINE.predict(corpus, hdp_of(chosen, 3), chosen, state, corpus)
                for state in (tight, roomy)
            )
        )
    assert len(roomy.n_k) > len(tight.n_k)


EXTREMES = [
    {},
    {"a_alpha": 1e-8},
    {"learn_alpha": False, "alpha_total": 1e-8},
    {"learn_gamma": False, "top_concentration": 1e-8},
    {"beta_total": 1e-8},
    {"a_gamma": 1e-8, "b_gamma": 1e-8},
]


@pytest.mark.parametrize("n_topics", [1, 3, 100])
@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
def test_a_state_is_whole_after_every_step(corpus, n_topics):
    for given in EXTREMES:
        chosen, slots = options(**given), n_topics
        model = hdp_of(chosen, n_topics)
        state = ENGINE.init(corpus, model, chosen, StepContext(1, 0))
        for step in range(1, 5):
            assert_state_is_whole(corpus, state)
            seen = ENGINE.watch(corpus, model, chosen, state)
            assert all(np.all(np.isfinite(value)) for value in seen.values()), seen
            table = ENGINE.predict(corpus, model, chosen, state, every_pair(corpus)).reshape(
                corpus.n_documents, -1
            )
            np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=1e-9)
            assert table.min() > 0
            counts = ENGINE.counts(corpus, model, chosen, state)
            assert (
                len(counts["n_kw"])
                == counts["n_dk"].shape[1]
                == len(seen["n_k"])
                == len(seen["alpha"])
                >= slots
            )
            slots = len(seen["n_k"])
            state, _ = ENGINE.step(corpus, model, chosen, state, StepContext(1, step))


def test_what_is_watched_and_predicted_is_that_of_the_twin():
    corpus, chosen = simulated(), options(beta_total=6.0)
    *_, state = run(corpus, 6, chosen, 5)
    seen, counts = (
        ENGINE.watch(corpus, hdp_of(chosen, 6), chosen, state),
        twins.sampled_counts(corpus, state.topics, state.n_slots),
    )
    weights = state.weights[: state.n_slots]
    expected = hdp_log_joint(counts, weights, state.rest, state.alpha_total, 6.0)
    # rounding of some hundred lgammas
    assert seen["log_joint"] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(seen["alpha"], state.alpha_total * weights, rtol=1e-15)
    assert seen["alpha_total"] - seen["alpha"].sum() == pytest.approx(
        state.alpha_total * state.rest, rel=1e-9
    )
    assert (seen["beta_total"], seen["top_concentration"]) == (6.0, state.top_concentration)
    assert (
        seen["n_active_topics"] == len(live_of(state))
        and seen["n_k"].tolist() == counts.n_k.tolist()
    )
    # eq. 17
    theta = (state.alpha_total * weights + counts.n_dk) / (
        state.alpha_total + corpus.document_tokens[:, None]
    )
    phi = (6.0 / corpus.n_words + counts.n_wk) / (6.0 + counts.n_k)
    new = (
        state.alpha_total
        * state.rest
        / (state.alpha_total + corpus.document_tokens[:, None])
        / corpus.n_words
    )
    table = ENGINE.predict(corpus, hdp_of(chosen, 6), chosen, state, every_pair(corpus)).reshape(
        corpus.n_documents, -1
    )
    np.testing.assert_allclose(table, theta @ phi.T + new, rtol=1e-12)


def test_a_topic_keeps_its_number_and_one_that_is_gone_gives_its_own_away():
    corpus, chosen = (
        simulated(),
        options(learn_alpha=False, alpha_total=20.0, learn_gamma=False, top_concentration=10.0),
    )
    before, gone, came_back = None, set(), set()
    for state in run(corpus, 12, chosen, 30):
        live = set(live_of(state).tolist())
        if before is not None:
            came_back |= gone & (live - before)
            gone |= before - live
        before = live
    assert gone and came_back


def test_what_is_fixed_stays_and_what_is_learnt_moves():
    corpus = simulated()
    fixed = {
        "learn_alpha": False,
        "alpha_total": 0.7,
        "learn_gamma": False,
        "top_concentration": 2.5,
    }
    for state in run(corpus, 3, options(**fixed), 3):
        assert (state.alpha_total, state.top_concentration) == (0.7, 2.5)
    seen = [(state.alpha_total, state.top_concentration) for state in run(corpus, 3, options(), 3)]
    assert len({a for a, _ in seen}) == len({g for _, g in seen}) == 3


# ---------------------------------------------------------------------- where it begins, pauses, and runs out of numbers


def test_init_of_g_hdp_keeps_the_topics_of_a_warm_start():
    corpus, chosen = simulated(), options()
    topics = np.random.default_rng(0).integers(3, size=corpus.n_tokens).astype(np.int32)
    topics[::7] = -1
    state = ENGINE.init(
        corpus,
        hdp_of(chosen, 5),
        chosen,
        StepContext(0, 0),
        WarmStart(np.zeros((5, corpus.n_words)), None, topics),
    )
    kept = topics >= 0
    assert np.array_equal(state.topics[kept], topics[kept])
    # each of some twenty-five with one of five topics
    assert set(state.topics[~kept].tolist()) == set(range(5))
    assert_state_is_whole(corpus, state)


def test_a_start_from_counts_draws_topics_behind_them():
    corpus = corpus_of([(0, 0, 3), (0, 1, 2), (1, 2, 4), (1, 3, 1)])
    chosen = options(learn_alpha=False, alpha_total=1e-8, beta_total=1e-8)
    n_kw, n_dk = (
        np.array([[3.0, 2, 0, 0], [0, 0, 4, 1], [0, 0, 0, 0]]),
        np.array([[5.0, 0, 0], [0, 5, 0]]),
    )
    for start in (WarmStart(n_kw, n_dk), WarmStart(n_kw[:2], None)):
        state = ENGINE.init(
            corpus, hdp_of(chosen, len(start.n_kw)), chosen, StepContext(0, 0), start
        )
        assert state.topics.tolist() == [0] * 5 + [1] * 5
        assert live_of(state).tolist() == [0, 1] and state.n_slots == len(start.n_kw)


def test_more_topics_than_there_are_numbers_get_one_sentence(monkeypatch):
    monkeypatch.setattr(g_hdp, "MOST_TOPICS", 4)
    chosen = options(learn_alpha=False, alpha_total=1e3, learn_gamma=False, top_concentration=1e3)
    with pytest.raises(
        ModelError,
        match="g-hdp has room for 4 topics and needs more; take a smaller alpha_total or top_con",
    ):
        list(run(simulated(), 4, chosen, 5))
