"""The hybrid whose split adapts: its limits, what averaging costs, the budget, and pairs that change sides."""

import numpy as np
import pytest
from engines.lda.starts import assert_same_bits
from scipy.special import polygamma
from stepping import steps
from toys import CORPORA, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import adaptive, hybrid
from workbench.engines.lda.split import Split, SplitOfRepeated, find_repeated_pairs
from workbench.engines.options import make_options
from workbench.kernels.lda.resplit import change_sides
from workbench.models import LDA

ENGINE, MODEL = get_engine("adaptive-cgs"), LDA(5, 0.1, 0.2)
ROUNDING = 1e-9  # sums over a corpus of a few hundred tokens, in another order
every_corpus = pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
every_average = pytest.mark.parametrize("average", adaptive.PARTS)


def run(engine, corpus, n_steps, model=MODEL, seed=3, **given):
    """(options, state, numbers of the last step)."""
    options = make_options(engine, given)
    begun = engine.init(corpus, model, options, StepContext(seed, 0)), {}
    *_, last = begun, *steps(engine, corpus, model, options, n_steps, seed)
    return options, *last


def gap_of(corpus, state, options):
    """(pair,) the gap by the formula, for each update that sampling takes more, pair after pair."""
    split, inner = (
        adaptive.split_from(corpus, options, state.sampled),
        adaptive.of_hybrid(options, state),
    )
    n_dk, n_wk, n_k = (array[..., :5] for array in hybrid.totals(inner, 0))
    found, row = np.zeros(corpus.n_pairs), -1
    for pair, (d, w, n) in enumerate(
        zip(corpus.documents, corpus.words, corpus.counts, strict=True)
    ):
        row += not split.sampled[pair]
        if n < 2:
            continue
        if split.sampled[pair]:
            tokens = inner.topics[0][corpus.tokens_before[pair] : corpus.tokens_before[pair + 1]]
            c = np.bincount(tokens, minlength=5)
        elif options.average == "svb":
            logs = (
                polygamma(0, MODEL.alphas + n_dk[d])
                + polygamma(0, 0.2 + n_wk[w])
                - polygamma(0, 0.2 * len(n_wk) + n_k)
            )
            c = n * np.exp(logs) / np.exp(logs).sum()
        else:
            c = n * inner.gamma[row, :5]
        # c of `svb` is a new one
        n_dk_rest, n_wk_rest, n_k_rest = (np.maximum(n - c, 0) for n in (n_dk[d], n_wk[w], n_k))
        q = (MODEL.alphas + n_dk_rest) * (0.2 + n_wk_rest) / (0.2 * len(n_wk) + n_k_rest)
        q /= q.sum()
        curve = (
            polygamma(1, MODEL.alphas + n_dk[d])
            + polygamma(1, 0.2 + n_wk[w])
            - polygamma(1, 0.2 * len(n_wk) + n_k)
        )
        found[pair] = n / 2 * np.sum(q * (1 - q) * curve) / (n - 1)
    return found


# ---------------------------------------------------------------------- limits


@every_average
@pytest.mark.parametrize("r", [0, 1, 2, np.inf])
@every_corpus
def test_split_by_counts_it_is_the_hybrid_bit_for_bit(corpus, r, average):
    for n_chains in (1, 2):
        given = {"r": r, "n_chains": n_chains, "init": "dirichlet"}
        options, state, info = run(ENGINE, corpus, 6, average=average, split="counts", **given)
        _, wanted, told = run(get_engine(f"{average}-cgs"), corpus, 6, **given)
        assert_same_bits(adaptive.of_hybrid(options, state), wanted)
        told.pop("change", None)
        np.testing.assert_equal({name: info[name] for name in told}, told)


@every_average
@pytest.mark.parametrize("split", ["gap", "random"])
def test_with_everything_sampled_it_is_cgs_bit_for_bit(split, average):
    corpus = simulated()
    for budget in ({"r": np.inf}, {"budget": 1.0}):
        options, state, _ = run(ENGINE, corpus, 11, average=average, split=split, **budget)
        _, wanted, _ = run(get_engine("cgs"), corpus, 11)
        assert_same_bits(hybrid.chain_of(adaptive.of_hybrid(options, state), 0), wanted)


@every_average
@pytest.mark.parametrize("split", ["gap", "random"])
def test_a_budget_for_single_tokens_alone_is_the_hybrid_of_r_1(split, average):
    corpus = simulated()
    options, state, _ = run(ENGINE, corpus, 9, average=average, split=split, r=1, refresh=10)
    _, wanted, _ = run(get_engine(f"{average}-cgs"), corpus, 9, r=1, init="dirichlet")
    assert_same_bits(adaptive.of_hybrid(options, state), wanted)


# ---------------------------------------------------------------------- the gap and the budget


@every_average
def test_the_gap_is_that_of_the_formula(average):
    corpus = simulated()
    options, state, _ = run(ENGINE, corpus, 7, average=average, refresh=3)
    inner, context, several = (
        adaptive.of_hybrid(options, state),
        StepContext(0, 1),
        find_repeated_pairs(corpus, 16, 1),
    )
    given = (
        several,
        inner,
        hybrid.totals(inner, 0),
        adaptive.weights_of(corpus, inner, context)[1:3],
        context,
    )
    by_place = adaptive.gap_of_pairs(
        corpus, adaptive.split_from(corpus, options, state.sampled), *given
    )
    found, wanted = np.zeros(corpus.n_pairs), gap_of(corpus, state, options)
    found[several.pairs[several.pairs >= 0]] = by_place[several.pairs >= 0]
    assert (
        wanted.max() > 0.1
        and np.any(state.sampled & (corpus.counts > 1))
        and not np.all(state.sampled)
    )
    # weights of svb are nearly exp(psi): see `exp_nearly`
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


@every_average
@pytest.mark.parametrize(
    "budget", [{"r": 2}, {"r": 3}, {"budget": 0.5}, {"budget": 0.8}, {"budget": 0.01}]
)
@pytest.mark.parametrize("split", ["gap", "random"])
def test_the_pairs_of_the_largest_rank_are_sampled_within_the_budget(split, budget, average):
    corpus = simulated()
    options, state, info = run(ENGINE, corpus, 10, average=average, split=split, **budget)
    assert np.all(state.sampled[corpus.counts == 1])
    spent = np.sum(corpus.counts[state.sampled] - 1)
    assert spent <= adaptive.extra_updates(corpus, options)
    assert info["updates"] == corpus.n_pairs + spent
    assert info["sampled_share"] == corpus.counts[state.sampled].sum() / corpus.n_tokens
    if "r" in budget:
        by_counts = np.sum(np.where(corpus.counts <= budget["r"], corpus.counts, 1))
        assert corpus.n_pairs + adaptive.extra_updates(corpus, options) == by_counts
    else:
        assert info["updates"] <= max(budget["budget"] * corpus.n_tokens, corpus.n_pairs)


def test_a_rank_is_followed_until_the_next_pair_is_too_dear_and_equal_ranks_stay_together():
    corpus = simulated()
    several, in_blocks = np.flatnonzero(corpus.counts > 1), find_repeated_pairs(corpus, 16, 1)
    rank = np.random.default_rng(0).permutation(corpus.n_pairs).astype(float)
    options, budget = (
        make_options(ENGINE, {"r": 2}),
        adaptive.extra_updates(corpus, make_options(ENGINE, {"r": 2})),
    )
    sampled = adaptive.affordable(corpus, options, in_blocks, rank[in_blocks.pairs])
    left = several[~sampled[several]]
    assert rank[several[sampled[several]]].min() > rank[left].max()
    spent = np.sum(corpus.counts[sampled] - 1)
    assert spent + corpus.counts[left[np.argmax(rank[left])]] - 1 > budget >= spent
    alike = adaptive.affordable(corpus, options, in_blocks, np.zeros(len(in_blocks.pairs)))
    np.testing.assert_array_equal(alike, corpus.counts == 1)  # all of them would be too dear


@pytest.mark.parametrize("n_threads", [1, 3])
@every_corpus
def test_blocks_without_the_sampled_pairs_hold_the_averaged_ones_word_after_word(corpus, n_threads):
    sampled = (np.random.default_rng(1).random(corpus.n_pairs) < 0.4) | (corpus.counts == 1)
    split = SplitOfRepeated(corpus, sampled)
    blocks = split.blocks(16, n_threads)
    places = np.flatnonzero(blocks.pair_counts)
    documents, words, counts = blocks.pairs_at(places)
    cells = zip(documents.tolist(), words.tolist(), counts.tolist(), strict=True)
    wanted = zip(
        *(array[~sampled].tolist() for array in (corpus.documents, corpus.words, corpus.counts)),
        strict=True,
    )
    assert sorted(cells) == sorted(wanted)
    for first, last in blocks.ranges:
        own = (documents >= first) & (documents < last)
        assert np.all(np.diff(words[own] * corpus.n_documents + documents[own]) > 0)


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ({}, [5, 10, 15, 20, 25, 30]),
        ({"refresh": 7}, [7, 14, 21, 28]),
        ({"refresh": 2, "rarer": 2}, [2, 6, 14, 30]),
        ({"split": "random", "refresh": 0}, []),
        ({"split": "counts"}, []),
    ],
)
def test_a_split_is_chosen_when_it_is_due(given, steps):
    options = make_options(ENGINE, given)
    assert [step for step in range(1, 32) if adaptive.due(options, step)] == steps


def test_a_random_split_is_another_one_each_time_and_stays_without_a_refresh():
    corpus = simulated()
    splits = [run(ENGINE, corpus, n, split="random")[1].sampled for n in (0, 4, 5, 10)]
    np.testing.assert_array_equal(splits[0], splits[1])
    assert not np.array_equal(splits[1], splits[2]) and not np.array_equal(splits[2], splits[3])
    stays = [run(ENGINE, corpus, n, split="random", refresh=0)[1].sampled for n in (0, 20)]
    np.testing.assert_array_equal(*stays)
    assert not np.array_equal(stays[0], run(ENGINE, corpus, 0, split="random", seed=4)[1].sampled)


# ---------------------------------------------------------------------- changing sides


@every_average
@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("split", ["gap", "random"])
@every_corpus
def test_every_token_is_counted_once_after_pairs_have_changed_sides(
    corpus, split, n_chains, average
):
    options, state, _ = run(
        ENGINE, corpus, 6, average=average, split=split, n_chains=n_chains, refresh=2
    )
    inner = adaptive.of_hybrid(options, state)
    for s in range(len(inner.topics)):
        n_dk, n_wk, n_k = hybrid.totals(inner, s)
        np.testing.assert_allclose(n_dk.sum(axis=1), corpus.document_tokens, rtol=ROUNDING)
        words = np.bincount(corpus.words, corpus.counts, corpus.n_words)
        np.testing.assert_allclose(n_wk.sum(axis=1), words, rtol=ROUNDING, atol=ROUNDING)
        np.testing.assert_allclose(n_wk.sum(axis=0), n_k, rtol=ROUNDING, atol=ROUNDING)
        drawn = np.repeat(state.sampled, corpus.counts)
        np.testing.assert_array_equal(
            np.bincount(state.topics[s][drawn], minlength=16)[:5], state.n_k[s][:5]
        )
    assert len(state.gamma) == (0 if average == "svb" else np.sum(~state.sampled))
    if len(state.gamma):
        np.testing.assert_allclose(state.gamma.sum(axis=1), 1.0, rtol=ROUNDING)
    assert (
        np.isfinite(ENGINE.watch(corpus, MODEL, options, state)["objective"]) or not corpus.n_pairs
    )


def test_tokens_that_come_to_be_sampled_are_drawn_from_their_responsibilities():
    """40,000 tokens of one pair: within 4 standard errors."""
    corpus = simulated().with_pairs(
        np.array([0, 1]), np.array([0]), np.array([40_000]), titles=("a",)
    )
    topics, counts = (
        np.zeros(40_000, np.uint16),
        (np.zeros((1, 16), np.int32), np.zeros((corpus.n_words, 16), np.int32)),
    )
    gamma, n_k, nothing = (
        np.zeros((1, 16)),
        np.zeros(16, np.int64),
        (np.zeros((0, 0)), np.zeros((0, 0))),
    )
    gamma[0, :4] = 0.1, 0.2, 0.0, 0.7
    before, after = Split(corpus, np.array([False])), Split(corpus, np.array([True]))
    tokens = corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before
    given = gamma, nothing, nothing, np.uint64(7), 4, topics, *counts, n_k, np.zeros(16)
    change_sides(*tokens, before.sampled, after.sampled, before.rows, *given)
    share, wanted = np.bincount(topics, minlength=4) / 40_000, gamma[0, :4]
    assert np.all(np.abs(share - wanted) <= 4 * np.sqrt(wanted * (1 - wanted) / 40_000))
    np.testing.assert_array_equal(n_k[:4], share * 40_000)
    change_sides(*tokens, after.sampled, before.sampled, after.rows, *given)
    assert not n_k.any() and not counts[0].any() and not counts[1].any()


@every_average
def test_one_topic_tiny_priors_and_learnt_ones_are_taken(average):
    for model in (LDA(1, 0.1, 0.1), LDA(5, 1e-8, 1e-8)):
        options, state, _ = run(ENGINE, simulated(), 6, model=model, average=average, refresh=2)
        assert np.isfinite(ENGINE.predict(simulated(), model, options, state, simulated())).all()
    given = {
        "learn_alpha": "maximised",
        "learn_beta": "sampled",
        "learn_after": 2,
        "learn_every": 2,
    }
    _, state, _ = run(ENGINE, simulated(), 8, average=average, **given)
    assert np.all(state.alpha > 0) and state.beta != 0.2
