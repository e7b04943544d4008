"""The sampling kernel: its conditional, its draws, the posterior it visits, and three bugs that must not pass."""

from functools import cache

import numpy as np
import pytest
import twins
from geweke import z_of
from toys import CORPORA, corpus_of, random_topics, simulated, toy_a, toy_three_topics

from workbench.engines.engine import StepContext
from workbench.engines.lda import cgs
from workbench.engines.lda.split import EVERY_COUNT, split_by_count
from workbench.kernels.jit import kernel
from workbench.kernels.lda import gibbs
from workbench.kernels.simd.vectors import (
    LANES,
    aligned_zeros,
    load,
    pad_topics,
    padded,
    spread,
    store,
)
from workbench.kernels.uniforms import GIBBS, uniform
from workbench.models import LDA

NO_VARIANCE = (None, None, None)


def arrays_of(corpus, topics, n_topics, threshold=EVERY_COUNT):
    """topics, n_dk, n_wk, n_k as the kernel wants them."""
    lanes = padded(n_topics)
    arrays = (
        np.array(topics, np.uint16),
        aligned_zeros((corpus.n_documents, lanes), np.int32),
        aligned_zeros((corpus.n_words, lanes), np.int32),
        aligned_zeros((lanes,), np.int64),
    )
    gibbs.count_topics(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        corpus.counts <= threshold,
        *arrays,
    )
    return arrays


def sweep(draw_topics, corpus, model, arrays, key):
    return draw_topics(
        0,
        corpus.n_documents,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        *arrays,
        *(None,) * 5,
        pad_topics(model.alphas),
        model.beta,
        model.n_topics,
        key,
    )


def sweep_beside(corpus, model, arrays, context, mean):
    """A sweep of all tokens beside a mean part, as `cgs` does one."""
    state = cgs.State(*arrays, model.alphas, model.beta)
    return cgs.sweep(corpus, split_by_count(corpus, EVERY_COUNT), state, mean, context)


def uniforms_of(key):
    """The very uniforms that the kernel uses, as a function of the token."""
    return lambda token: uniform(key, token)


# ---------------------------------------------------------------------- exact statements


def probabilities_drawn_from(kernels, corpus, model, topics, pair):
    """The normalised conditional that `draw_pair` used for the first token of a pair."""
    _, n_dk, n_wk, n_k = arrays_of(corpus, topics, model.n_topics)
    words_beta = corpus.n_words * model.beta
    cumulative, inverse = (
        np.empty(padded(model.n_topics)),
        kernels.inverse_sizes(n_k, None, words_beta, 0),
    )
    d, w, _ = twins.pairs_of(corpus)[pair]
    kernels.draw_pair(
        corpus.tokens_before[pair],
        1,
        np.uint64(1),
        np.array(topics, np.uint16),
        n_dk[d],
        n_wk[w],
        n_k,
        None,
        None,
        None,
        pad_topics(model.alphas),
        model.beta,
        words_beta,
        inverse,
        cumulative,
        np.zeros(gibbs.ENDS),
    )
    weights = np.diff(cumulative.reshape(-1, LANES), axis=0, prepend=0.0).ravel()
    assert not weights[model.n_topics :].any()
    return weights[: model.n_topics] / weights.sum()


@pytest.mark.parametrize("toy", [toy_a, toy_three_topics])
def test_the_conditional_is_the_ratio_of_joints_in_every_state(toy):
    """Invariant 6: every state of the toy, the first token of every pair; rounding of lgamma only."""
    corpus, model = toy()
    exact = twins.enumerate_topics(corpus, model.alphas, model.beta)
    probability_of = dict(zip(map(tuple, exact.topics), exact.probability, strict=True))
    for state in exact.topics[:: max(1, len(exact.topics) // 512)]:
        for pair, token in enumerate(corpus.tokens_before[:-1]):
            neighbours = [(*state[:token], k, *state[token + 1 :]) for k in range(model.n_topics)]
            expected = np.array([probability_of[z] for z in neighbours])
            found = probabilities_drawn_from(gibbs, corpus, model, state, pair)
            np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-11)


@kernel
def drawn(weights, uniforms):
    """The topic that the kernel draws with each uniform, given the weights (lanes,)."""
    cumulative, topics, sums = (
        np.empty(len(weights)),
        np.empty(len(uniforms), np.int64),
        spread(0.0),
    )
    ends = np.zeros(LANES + 1)
    for i in range(0, len(weights), LANES):
        sums += load(weights, i)
        store(cumulative, i, sums)
    for i in range(len(uniforms)):
        topics[i] = gibbs.draw_from(sums, cumulative, ends, uniforms[i])
    return topics


LARGEST_UNIFORM = 1 - 2.0**-53


@pytest.mark.parametrize("n_topics", [1, 2, 5, 15, 16, 17, 33, 100])
def test_the_draw_is_a_staircase_whose_steps_are_the_conditional(n_topics):
    """Every topic a little inside of both ends of its interval; the ends are right to the rounding of the sums, 1e-13."""
    weights = np.random.default_rng(n_topics).gamma(0.3, size=n_topics) + 1e-9
    order = twins.order_of_draws(n_topics)
    ends = np.cumsum(weights[order]) / weights.sum()
    starts = np.concatenate([[0.0], ends[:-1]])
    assert np.array_equal(drawn(pad_topics(weights), starts + 1e-13), order)
    assert np.array_equal(drawn(pad_topics(weights), ends - 1e-13), order)
    first, last = drawn(pad_topics(weights), np.array([0.0, LARGEST_UNIFORM]))
    assert (first, last) == (order[0], order[-1])


@pytest.mark.parametrize("scale", [1e-250, 1.0, 1e250])
@pytest.mark.parametrize("n_topics", [10, 16, 40])
def test_a_topic_without_weight_is_never_drawn(n_topics, scale):
    """Most weights 0, the others apart by up to 1e30; uniforms at both ends, at every step, and one float beside it."""
    random = np.random.default_rng(7)
    order = twins.order_of_draws(n_topics)
    for _ in range(200):
        weights = scale * np.where(
            random.random(n_topics) < 0.7, 0.0, 10.0 ** random.uniform(-15, 15, n_topics)
        )
        weights[random.integers(n_topics)] = scale
        steps = np.cumsum(weights[order]) / weights.sum()
        beside = np.nextafter(steps, 0), np.nextafter(steps, 1)
        near = np.concatenate([[0.0, LARGEST_UNIFORM], steps, *beside, random.random(20)])
        topics = drawn(pad_topics(weights), np.minimum(near, LARGEST_UNIFORM))
        assert (weights[topics] > 0).all()


def test_the_twin_follows_the_printed_trajectory(oracles):
    toy, printed = oracles["toyA"], oracles["toyA"]["cgs_trajectory"]
    corpus, _ = toy_a()
    topics, stream = printed["z0"], iter(printed["uniforms"])
    for expected in printed["z_after_each_sweep"]:
        topics = twins.gibbs_sweep(
            corpus, topics, np.array(toy["alpha"]), toy["beta"], lambda token: next(stream)
        )
        assert topics.tolist() == expected


def test_a_mean_part_of_zero_and_a_variance_of_zero_change_no_bit():
    corpus, model = simulated(), LDA(5, 0.3, 0.2)
    topics, context = random_topics(corpus, 5), StepContext(6, 1)
    plain, beside = arrays_of(corpus, topics, 5), arrays_of(corpus, topics, 5)
    sweep(gibbs.draw_topics, corpus, model, plain, context.key(GIBBS))
    zeros = [np.zeros(array.shape) for array in plain[1:]]
    sweep_beside(corpus, model, beside, context, (*zeros, *NO_VARIANCE))
    assert all(np.array_equal(a, b) for a, b in zip(plain, beside, strict=True))
    beside = arrays_of(corpus, topics, 5)
    sweep_beside(corpus, model, beside, context, (*zeros, *zeros))
    assert all(np.array_equal(a, b) for a, b in zip(plain, beside, strict=True))


# ---------------------------------------------------------------------- the posterior, by enumeration


def quantities(corpus, model, topics):
    """Topic indicators of every token, sameness of every two tokens, and the predictive table, of (state, token) topics."""
    first, second = np.triu_indices(corpus.n_tokens, 1)
    indicators = (topics[:, :, None] == np.arange(model.n_topics)).reshape(len(topics), -1)
    states, which = np.unique(topics, axis=0, return_inverse=True)
    counts = [twins.sampled_counts(corpus, z, model.n_topics) for z in states]
    tables = np.array([twins.predictive(c, model.alphas, model.beta).ravel() for c in counts])
    return np.hstack([indicators, topics[:, first] == topics[:, second], tables[which.ravel()]])


@cache
def exact_quantities(corpus, model):
    exact = twins.enumerate_topics(corpus, model.alphas, model.beta)
    return exact.probability @ quantities(corpus, model, exact.topics)


def largest_deviation(draw_topics, corpus, model, n_sweeps):
    """The largest |mean - exact| / standard error over tokens, pairs of tokens and predictive probabilities."""
    arrays, visited = arrays_of(corpus, np.zeros(corpus.n_tokens), model.n_topics), []
    for step in range(100 + n_sweeps):  # 100 sweeps from the same start until it is forgotten
        sweep(draw_topics, corpus, model, arrays, StepContext(11, step).key(GIBBS))
        visited.append(arrays[0].copy())
    found = quantities(corpus, model, np.array(visited[100:]))
    return z_of(found, exact_quantities(corpus, model), 50).max()


@cache
def two_blocks():
    """2 documents, 2 words, 3 tokens and so many topics, 18, that they fill a second block: 5832 assignments."""
    return corpus_of([(0, 0, 1), (0, 1, 1), (1, 0, 1)]), LDA(
        18, tuple(np.linspace(0.05, 0.6, 18)), 0.3
    )


@pytest.mark.parametrize(
    ("toy", "n_sweeps"),
    [
        (toy_a, 20_000),
        (toy_three_topics, 20_000),
        (lambda: (CORPORA["empty_documents_and_unused_words"], LDA(2, (0.7, 0.4), 0.3)), 10_000),
        (two_blocks, 20_000),
    ],
)
def test_draws_follow_the_exact_posterior(toy, n_sweeps):
    """Tokens, pairs of tokens and predictives within 4 standard errors of enumeration."""
    assert largest_deviation(gibbs.draw_topics, *toy(), n_sweeps) < 4


def test_the_twin_enumerates_the_published_posterior(oracles):
    toy, exact = oracles["toyA"], oracles["toyA"]["exact"]
    corpus, model = toy_a()
    found = twins.enumerate_topics(corpus, model.alphas, model.beta)
    expected = found.probability @ quantities(corpus, model, found.topics)
    same = np.array(exact["same"])[np.triu_indices(9, 1)]
    # exact quantities, spec E.5
    assert found.log_sum == pytest.approx(exact["log_evidence"], abs=1e-10)
    np.testing.assert_allclose(
        expected, np.concatenate([np.ravel(exact["pz"]), same, np.ravel(exact["pred"])]), atol=1e-10
    )
    edge = oracles["edge"]["empty_doc_and_unused_words"]
    corpus, alpha = corpus_of(edge["pairs"], edge["D"], edge["W"]), np.array(edge["alpha"])
    found = twins.enumerate_topics(corpus, alpha, edge["beta"])
    tables = [
        twins.predictive(twins.sampled_counts(corpus, z, 2), alpha, edge["beta"])
        for z in found.topics
    ]
    assert found.log_sum == pytest.approx(edge["log_evidence"], abs=1e-10)
    np.testing.assert_allclose(np.tensordot(found.probability, tables, 1), edge["pred"], atol=1e-10)
    assert toy["K"] == model.n_topics
