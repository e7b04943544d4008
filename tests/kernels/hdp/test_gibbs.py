"""The kernels of the direct assignment sampler: their conditional, their draws, their tables, and room that grows."""

import numpy as np
import pytest
import twins
from hdp_twins import (
    Assignment,
    g_hdp_sweep,
    g_hdp_tables,
    hdp_conditional,
    hdp_log_joint,
)
from toys import CORPORA, corpus_of, random_topics, read_oracles, simulated, toy_three_topics

from workbench.engines.engine import StepContext
from workbench.kernels.hdp import gibbs as hdp_gibbs
from workbench.kernels.simd.vectors import aligned_zeros, padded
from workbench.kernels.uniforms import GIBBS, HDP_NEW_TOPICS, HDP_TABLES, uniform

ALPHA, BETA, GAMMA = 5.0, 8.0, 3.0


def keys(step):
    """Of the topics of a step, and of its new topics."""
    return StepContext(5, step).key(GIBBS), StepContext(5, step).key(HDP_NEW_TOPICS)


def sweep(corpus, state, step, capacity, alpha=ALPHA, beta=BETA, gamma=GAMMA):
    """(state, tokens that moved, times that there was no room) after a sweep with this many slots at first."""
    n_dk, n_wk, n_k, weights = arrays_of(corpus, state, capacity)
    topics, rest, n_used = np.array(state.topics, np.uint16), state.rest, len(state.weights)
    moved = first = token = stops = 0
    while first >= 0:
        first, token, n, rest, n_used = hdp_gibbs.draw_tokens(
            first,
            corpus.n_documents,
            token,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            corpus.tokens_before,
            topics,
            n_dk,
            n_wk,
            n_k,
            weights,
            rest,
            n_used,
            alpha,
            beta,
            gamma,
            *keys(step),
        )
        moved += n
        if first >= 0:
            stops += 1
            found = Assignment(topics.tolist(), weights[:n_used].tolist(), rest)
            n_dk, n_wk, n_k, weights = arrays_of(corpus, found, capacity + 16 * stops)
    for array, counts in zip(
        (n_dk, n_wk, n_k), twins.sampled_counts(corpus, topics, len(n_k)), strict=True
    ):
        assert np.array_equal(array, counts)
    return Assignment(topics.tolist(), weights[:n_used].tolist(), rest), moved, stops


def arrays_of(corpus, state, capacity):
    """n_dk, n_wk, n_k and weights as the kernel wants them."""
    counts = twins.sampled_counts(corpus, state.topics, capacity)
    arrays = [aligned_zeros(array.shape, np.int32) for array in counts[:2]] + [
        aligned_zeros((capacity,), np.int64)
    ]
    for array, values in zip(arrays, counts, strict=True):
        array[...] = values
    weights = aligned_zeros((capacity,), np.float64)
    weights[: len(state.weights)] = state.weights
    return *arrays, weights


def begun(corpus, n_topics):
    """Random topics, weights that differ, the last ones perhaps without a token."""
    weights = np.linspace(1, 3, n_topics)
    return Assignment(
        random_topics(corpus, n_topics).tolist(), (0.7 * weights / weights.sum()).tolist(), 0.3
    )


def test_the_conditional_is_the_ratio_of_joints():
    """Every token of a toy in some states, a new topic among the choices: then all of the rest is its weight."""
    corpus, _ = toy_three_topics()
    for topics in ([0, 1, 0, 1, 2, 0, 1], [0, 0, 0, 0, 0, 0, 0], [2, 1, 0, 2, 1, 0, 2]):
        state = Assignment(topics, [0.2, 0.5, 0.1], 0.2)
        for token in range(corpus.n_tokens):
            neighbours = [[*topics[:token], k, *topics[token + 1 :]] for k in range(4)]
            logs = np.array(
                [
                    hdp_log_joint(
                        twins.sampled_counts(corpus, z, 4), [0.2, 0.5, 0.1, 0.2], 0.0, 0.7, 1.5
                    )
                    for z in neighbours
                ]
            )
            expected, found = (
                np.exp(logs - logs.max()),
                hdp_conditional(corpus, token, state, 0.7, 1.5),
            )
            # rounding of lgamma
            np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-11)


@pytest.mark.parametrize("n_topics", [1, 2, 7, 8, 9, 31, 33, 100])
def test_kernel_and_twin_draw_the_same_topics_and_break_the_same_sticks(n_topics):
    corpus = simulated()
    state = begun(corpus, n_topics)
    for step in range(2):
        before, (state, moved, _) = state, sweep(corpus, state, step, padded(n_topics + 1))
        of_topics, of_new = keys(step)
        expected = g_hdp_sweep(
            corpus,
            before,
            ALPHA,
            BETA,
            GAMMA,
            lambda i, key=of_topics: uniform(key, i),
            lambda i, key=of_new: uniform(key, i),
        )
        assert state.topics == expected.topics
        # some topic is new, or the test does not look at new ones
        assert len(state.weights) >= n_topics + 1
        np.testing.assert_allclose(
            [*state.weights, state.rest], [*expected.weights, expected.rest], rtol=1e-12
        )
        assert moved == np.sum(np.array(before.topics) != state.topics)
        gone = ~np.isin(np.arange(len(state.weights)), state.topics)
        state = Assignment(  # topics without a token give their weight back, so that the next sweep fills their slots
            state.topics,
            np.where(gone, 0, state.weights).tolist(),
            state.rest + np.array(state.weights)[gone].sum(),
        )


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
@pytest.mark.parametrize("alpha", [1e-8, 1e-4, 300.0])
def test_extreme_concentrations_meet_the_twin_on_every_toy(corpus, alpha):
    state, (of_topics, of_new) = begun(corpus, 3), keys(0)
    found, _, _ = sweep(corpus, state, 0, 16, alpha=alpha, gamma=1 / alpha)
    expected = g_hdp_sweep(
        corpus,
        state,
        alpha,
        BETA,
        1 / alpha,
        lambda i: uniform(of_topics, i),
        lambda i: uniform(of_new, i),
    )
    assert found.topics == expected.topics


def test_room_that_runs_out_changes_no_bit():
    corpus = simulated()
    state = begun(corpus, 5)
    tight, _, stops = sweep(corpus, state, 0, 16, alpha=300.0, gamma=50.0)
    roomy, _, none = sweep(corpus, state, 0, 256, alpha=300.0, gamma=50.0)
    assert tight == roomy
    assert stops >= 2 and none == 0 and len(tight.weights) > 32


def test_a_new_topic_takes_the_lowest_slot_that_is_free():
    corpus = corpus_of([(0, 0, 30)])
    state = Assignment([0, 2] * 15, [0.2, 0.0, 0.2, 0.0], 0.6)
    found, _, _ = sweep(corpus, state, 0, 16, alpha=30.0)
    newcomers = [k for i, k in enumerate(found.topics) if k not in (0, 2, *found.topics[:i])]
    assert newcomers == [k for k in range(len(found.weights)) if k not in (0, 2)][: len(newcomers)]
    assert len(newcomers) >= 3
    assert sum(found.weights) + found.rest == pytest.approx(1.0, abs=1e-12)


def test_a_slot_that_is_free_is_never_drawn():
    """Every uniform at the borders of the intervals of a row with free slots, and just beside them."""
    share, row = np.zeros(24), np.zeros(24, np.int32)
    share[[1, 9, 12, 22]] = 0.1, 0.7, 1e-18, 0.2
    cumulative = np.zeros(24)
    borders = np.cumsum([0.1, 0.7, 1e-18, 0.2])
    drawn = set()
    for u in [
        0.0,
        np.nextafter(1, 0),
        *(border * (1 + j * 2.0**-53) for border in borders for j in range(-4, 5)),
    ]:
        if u < 1:
            drawn.add(int(hdp_gibbs.draw_slot(share, row, 1.0, 0.0, u, 3, cumulative)))
    assert drawn <= {1, 9, 12, 22}
    assert {1, 9, 22} <= drawn


def test_a_target_that_rounding_puts_at_the_top_of_its_column_draws_the_last_weight():
    """Weights of 1.5 and of 1 + 2 units of 2^-52: their sum rounds up, and so does what is left of the largest target."""
    unit, share = 2.0**-52, np.zeros(16)
    share[[0, 1]] = 1.5 * unit, 1 + 2 * unit
    u = 1 - unit / 2
    assert u * (1 + 4 * unit) - 1.5 * unit == 1 + 2 * unit
    assert hdp_gibbs.draw_slot(share, np.zeros(16, np.int32), 1.0, 0.0, u, 2, np.zeros(16)) == 1


def test_draws_have_the_probabilities_of_their_weights():
    """A grid of uniforms: the share of a slot is its probability, to the grid's spacing."""
    random, n = np.random.default_rng(0), 40_000
    share, row = random.random(40), random.integers(0, 9, 40).astype(np.int32)
    share[[3, 17, 39]] = 0.0
    weights = np.append(share * (0.3 + row), 2.5)
    cumulative = np.zeros(40)
    drawn = [
        hdp_gibbs.draw_slot(share, row, 0.3, 2.5, (i + 0.5) / n, 5, cumulative) for i in range(n)
    ]
    found = np.bincount(np.array(drawn) % 41, minlength=41) / n  # -1, a new topic, comes last
    np.testing.assert_allclose(found, weights / weights.sum(), atol=1.01 / n)


@pytest.mark.parametrize("n_rows", [1, 2, 5, 21])
def test_vectors_add_what_plain_additions_add_to_the_last_bit(n_rows):
    random, n = np.random.default_rng(1), 8 * n_rows
    share, row = random.random(n), random.integers(0, 999, n).astype(np.int32)
    cumulative = np.zeros(n + 16)  # 16: what is not asked for stays
    hdp_gibbs.draw_slot(
        np.append(share, share[:8]), np.append(row, row[:8]), 0.014, 0.0, 0.5, n_rows, cumulative
    )
    columns = np.zeros(8)
    for r in range(n_rows):
        for c in range(8):
            columns[c] += share[8 * r + c] * (0.014 + row[8 * r + c])
        assert np.array_equal(cumulative[8 * r : 8 * r + 8], columns)
    assert not cumulative[n:].any()


@pytest.mark.parametrize("u", [0.0, 1e-300, 0.5, 1 - 2.0**-53])
@pytest.mark.parametrize("gamma", [1e-8, 0.5, 1.0, 30.0, 1e8])
def test_a_stick_is_broken_by_a_beta_draw(gamma, u):
    weight, rest = hdp_gibbs.break_stick(0.3, gamma, u)
    assert weight > 0 and rest > 0
    assert weight + rest == pytest.approx(0.3, rel=1e-12)
    if gamma < 1e3:
        assert rest == pytest.approx(max(0.3 * (1 - u) ** (1 / gamma), 1e-300), rel=1e-9)


# ---------------------------------------------------------------------- tables


def test_tables_meet_their_twin():
    corpus = simulated()
    n_dk = twins.sampled_counts(corpus, random_topics(corpus, 5), 5).n_dk.astype(np.int32)
    strengths, key = np.array([0.01, 0.3, 1.0, 4.0, 50.0]), StepContext(5, 1).key(HDP_TABLES)
    found = hdp_gibbs.draw_tables(corpus.indptr, corpus.tokens_before, n_dk, strengths, key)
    assert (
        found.tolist() == g_hdp_tables(corpus, n_dk, strengths, lambda i: uniform(key, i)).tolist()
    )
    assert n_dk.sum(axis=0).min() > found[0] and found[-1] > found[0]


@pytest.mark.parametrize("case", range(4))
def test_tables_follow_the_exact_law(case):
    """Chi square over 20,000 restaurants; cells that expect fewer than 10 are one cell."""
    exact, n = read_oracles("hdp")["antoniak"][case], 20_000
    guests = exact["n"]
    corpus, n_dk = corpus_of([(0, 0, guests)]), np.array([[guests]], np.int32)
    found = np.zeros(guests + 1)
    for step in range(n):
        key = StepContext(1, step).key(HDP_TABLES)
        found[
            hdp_gibbs.draw_tables(
                corpus.indptr, corpus.tokens_before, n_dk, np.array([exact["a"]]), key
            )
        ] += 1
    expected = n * np.array(exact["probs"])
    common = expected >= 10
    found, expected = (np.append(each[common], each[~common].sum()) for each in (found, expected))
    freedom = common.sum() - (expected[-1] < 1e-9)
    chi_square = np.sum((found - expected) ** 2 / np.maximum(expected, 1e-9))
    assert chi_square < freedom + 4 * np.sqrt(2 * freedom)  # mean and four standard deviations
    assert found @ np.append(np.flatnonzero(common), 0) / n == pytest.approx(
        exact["mean"], rel=0.05
    )
