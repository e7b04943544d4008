"""Blocks of documents and words side by side: each token once, as the twin says, with bits that no thread changes."""

import numpy as np
import pytest
import twins
from engines.lda.starts import assert_same_bits, cgs_state, cvb_state, uniforms_of
from stepping import states, stepped
from toys import (
    CORPORA,
    every_pair,
    random_gamma,
    random_topics,
    simulated,
    toy_a,
    toy_three_topics,
)

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import cgs, cvb, hybrid
from workbench.engines.lda.partition import (
    each_block,
    partition_of,
    share_out,
)
from workbench.engines.lda.split import split_by_count
from workbench.engines.options import make_options
from workbench.kernels import threads as slices
from workbench.models import LDA

COUNTS = 1e-9  # rounding of running sums over two sweeps of at most 180 tokens
NEAR = 0.025  # of a cell of the predictive; see the test
ENGINES = [
    ("cgs", {}),
    ("cvb", {}),
    ("cvb0", {}),
    ("svb-cgs", {}),
    ("svb-cgs", {"schedule": "sequential"}),
    ("cvb-cgs", {}),
    ("cvb-cgs", {"cg_second_order": True, "n_chains": 3}),
    ("cvb0-cgs", {"n_chains": 2}),
]
every_corpus = pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
# more than there are documents or words, too
every_number = pytest.mark.parametrize("n_parts", [2, 3, 12])
every_engine = pytest.mark.parametrize(
    ("name", "given"), ENGINES, ids=[f"{name} {given or ''}" for name, given in ENGINES]
)


def blocks_of(corpus, n_parts):
    """phase -> [(pair,) of each of its blocks], from the ranges and from which words stand in which columns."""
    ranges, columns = partition_of(corpus, n_parts)
    in_range = [(corpus.documents >= first) & (corpus.documents < last) for first, last in ranges]
    with_words = [np.isin(corpus.words, each.words) for each in columns]
    return [
        [np.flatnonzero(in_range[i] & with_words[(i + phase) % n_parts]) for i in range(n_parts)]
        for phase in range(n_parts)
    ]


def twin_gibbs(corpus, topics, alpha, beta, uniform, n_parts, r=np.inf, mean=None):
    """Topics after one sweep: in each block the other blocks of the phase are where the phase began."""
    mean = twins.no_counts(corpus, len(alpha)) if mean is None else mean
    for phase in blocks_of(corpus, n_parts):
        after = topics.copy()
        for pairs in phase:
            own = topics.copy()
            for pair in pairs[corpus.counts[pairs] <= r]:
                for token in range(corpus.tokens_before[pair], corpus.tokens_before[pair + 1]):
                    twins.draw_token(corpus, token, own, mean, alpha, beta, uniform(token), r)
                    after[token] = own[token]
        topics = after
    return topics


def twin_collapsed(corpus, gamma, alpha, beta, n_parts, second_order):
    """gamma after one pass by blocks, likewise."""
    nothing = [twins.no_counts(corpus, len(alpha))]
    for phase in blocks_of(corpus, n_parts):
        after = gamma.copy()
        for pairs in phase:
            own = gamma.copy()
            for pair in pairs:
                after[pair] = own[pair] = twins.collapsed_responsibility(
                    corpus, own, pair, nothing, alpha, beta, second_order=second_order
                )
        gamma = after
    return gamma


# ---------------------------------------------------------------------- the cut


@every_corpus
@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 40])
def test_every_pair_lies_in_one_block(corpus, n_parts):
    ranges, columns = partition_of(corpus, n_parts)
    assert len(ranges) == len(columns) == n_parts
    assert [d for first, last in ranges for d in range(first, last)] == list(
        range(corpus.n_documents)
    )
    seen = np.concatenate([np.arange(corpus.n_pairs)[each.pairs] for each in columns])
    assert sorted(seen) == list(range(corpus.n_pairs))
    words = [set(each.words.tolist()) for each in columns]
    assert sum(map(len, words)) == len(set(corpus.words.tolist()))
    for each in columns:
        documents = np.repeat(np.arange(corpus.n_documents), np.diff(each.indptr))
        assert np.array_equal(documents, corpus.documents[each.pairs])
        for own, whole in ((each.words, corpus.words), (each.counts, corpus.counts)):
            assert np.array_equal(own, whole[each.pairs])
        assert np.array_equal(
            each.tokens_before[: len(each.words)], corpus.tokens_before[:-1][each.pairs]
        )
    together = [np.concatenate(phase) for phase in blocks_of(corpus, n_parts)]
    assert sorted(np.concatenate(together)) == list(range(corpus.n_pairs))


def test_blocks_at_once_share_no_document_and_no_word():
    corpus = simulated(60, 50, 40)
    for phase in blocks_of(corpus, 5):
        for rows in (corpus.documents, corpus.words):
            seen = [set(rows[pairs].tolist()) for pairs in phase]
            assert sum(map(len, seen)) == len(set().union(*seen))


def test_parts_have_about_equal_numbers_of_tokens():
    corpus = simulated(300, 200, 40)
    ranges, columns = partition_of(corpus, 4)
    fair, longest = corpus.n_tokens / 4, corpus.document_tokens.max()
    for (first, last), each in zip(ranges, columns, strict=True):
        # an end lies within half a document
        assert abs(corpus.document_tokens[first:last].sum() - fair) <= longest
        assert abs(each.counts.sum() - fair) <= np.bincount(corpus.words, corpus.counts).max()


def test_the_most_frequent_words_go_first_each_where_the_fewest_tokens_are():
    assert share_out(np.array([1.0, 9.0, 5.0, 0.0, 5.0, 2.0]), 2).tolist() == [1, 0, 1, 0, 1, 0]


def test_a_partition_is_made_once():
    corpus = simulated()
    assert partition_of(corpus, 3) is partition_of(corpus, 3) is not partition_of(simulated(), 3)
    split = split_by_count(corpus, 1)
    assert (
        split.partition(3, True)
        is split_by_count(corpus, 1).partition(3, True)
        is not split.partition(3, False)
    )


# ---------------------------------------------------------------------- what is computed


@pytest.mark.parametrize("n_topics", [1, 2, 17])
@every_number
def test_sweeps_of_blocks_meet_their_twin_token_by_token(n_parts, n_topics):
    corpus, model = simulated(8, 10, 12), LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    topics = random_topics(corpus, n_topics)
    state, options = cgs_state(corpus, model, topics, n_topics), cgs.Options(n_parts)
    for sweep in (1, 2):
        context, before = StepContext(9, sweep, 2), topics
        topics = twin_gibbs(corpus, topics, model.alphas, model.beta, uniforms_of(context), n_parts)
        state, info = get_engine("cgs").step(corpus, model, options, state, context)
        assert np.array_equal(state.topics, topics)
        assert (info["updates"], info["moved"]) == (corpus.n_tokens, np.mean(before != topics))
    # the kept counts are those of the topics
    assert_same_bits(state, cgs_state(corpus, model, topics, n_topics))


@pytest.mark.parametrize("name", ["cvb", "cvb0"])
@every_number
def test_updates_of_blocks_meet_their_twin(n_parts, name):
    corpus, model = simulated(8, 10, 12), LDA(3, (0.1, 0.5, 0.9), 0.2)
    gamma = random_gamma(corpus, 3)
    state, options = (
        cvb_state(corpus, model, gamma, second_order=name == "cvb"),
        cvb.Options(init="dirichlet", partition=n_parts),
    )
    for sweep in (1, 2):
        before = gamma
        gamma = twin_collapsed(corpus, gamma, model.alphas, model.beta, n_parts, name == "cvb")
        state, info = get_engine(name).step(corpus, model, options, state, StepContext(0, sweep, 2))
        assert info["updates"] == corpus.n_pairs
        assert info["change"] == pytest.approx(np.abs(gamma - before).max(), abs=COUNTS)
    np.testing.assert_allclose(state.gamma[:, :3], gamma, rtol=0, atol=COUNTS)
    for found, expected in zip(
        state, cvb_state(corpus, model, gamma, second_order=name == "cvb"), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=COUNTS)


@pytest.mark.parametrize("n_parts", [2, 3])
def test_a_hybrid_draws_by_blocks_given_its_expected_counts(n_parts):
    corpus, model = simulated(8, 10, 12), LDA(3, (0.1, 0.5, 0.9), 0.2)
    options = make_options(get_engine("cvb0-cgs"), {"partition": n_parts, "n_chains": 2})
    engine = get_engine("cvb0-cgs")
    before = engine.init(corpus, model, options, StepContext(4, 0))
    given = before.gamma[:, :3].copy()
    gamma = np.zeros((corpus.n_pairs, 3))
    gamma[corpus.counts > 1] = given
    mean, starts = twins.expected_counts(corpus, gamma, 1), before.topics.copy()
    context = StepContext(4, 1, 4)
    state, _ = engine.step(corpus, model, options, before, context)
    drawn = np.repeat(corpus.counts, corpus.counts) <= 1
    for s in range(2):
        topics = twin_gibbs(
            corpus, starts[s], model.alphas, model.beta, uniforms_of(context, s), n_parts, 1, mean
        )
        assert np.array_equal(state.topics[s][drawn], topics[drawn])


@every_corpus
def test_one_part_is_the_whole_corpus_in_canonical_order(corpus):
    """partition=1 calls the kernels as they were called before there were partitions."""
    seen = []

    def work(first, last, part, sizes):
        seen.append((first, last, part, sizes[0] is n_k))

    n_k = np.zeros(16)
    each_block(partition_of(corpus, 1), (n_k,), work, StepContext(0, 1, 4))
    assert seen == [
        (first, last, 0, True) for first, last in slices.slice_bounds(corpus.indptr, 16)
    ]


@every_engine
def test_another_number_of_parts_is_another_answer(name, given):
    corpus, model = simulated(60, 50, 40), LDA(5, 0.1, 0.1)
    options = [
        make_options(get_engine(name), given | {"partition": n_parts}) for n_parts in (1, 2, 3)
    ]
    found = [stepped(get_engine(name), corpus, model, each, 3, seed=4) for each in options]
    for one, other in ((0, 1), (1, 2)):
        assert not all(
            np.array_equal(a, b, equal_nan=True)
            for a, b in zip(found[one], found[other], strict=True)
        )


@every_engine
@every_corpus
@pytest.mark.parametrize("n_parts", [2, 8])
def test_counts_are_those_of_topics_and_responsibilities_on_any_corpus(
    corpus, name, given, n_parts
):
    model, options = (
        LDA(17, 0.1, 0.1),
        make_options(get_engine(name), given | {"partition": n_parts}),
    )
    engine = get_engine(name)
    state = stepped(engine, corpus, model, options, 4, seed=2)
    r = np.inf if name == "cgs" else 0 if name in ("cvb", "cvb0") else 1
    chains = (
        [state]
        if name == "cgs"
        else [hybrid.chain_of(state, s) for s in range(len(state.topics))]
        if r
        else []
    )
    for chain in chains:
        expected = twins.sampled_counts(corpus, chain.topics, 17, r)
        for found, array in zip(chain[1:4], expected, strict=True):
            assert np.array_equal(found[..., :17], array) and not found[..., 17:].any()
    if hasattr(state, "gamma") and len(state.gamma):
        gamma = np.zeros((corpus.n_pairs, 17))
        gamma[corpus.counts > r] = state.gamma[:, :17]
        for found, array in zip(state[:3], twins.expected_counts(corpus, gamma, r), strict=True):
            np.testing.assert_allclose(found[..., :17], array, rtol=0, atol=COUNTS)
            assert not found[..., 17:].any() and found.min() >= 0
    assert np.all(np.isfinite(engine.predict(corpus, model, options, state, corpus)))


# ---------------------------------------------------------------------- limits


@pytest.mark.parametrize("toy", [toy_a, toy_three_topics])
def test_the_chain_of_a_partition_stays_near_the_exact_posterior(toy):
    """It is approximate, so only a band can be promised: the predictive within `NEAR` of the enumerated one.

    On these toys, the worst case, half of the tokens are late in n_k at a time; measured over 20,000 sweeps the largest
    difference is 0.004 with two parts and 0.007 with three. The rest of the band is noise (0.003 with 2,000 sweeps). Were
    changes of n_k lost, or added twice, the twin above would tell; this tells of an approximation gone far.
    """
    corpus, model = toy()
    exact = twins.enumerate_topics(corpus, model.alphas, model.beta)
    counts = [twins.sampled_counts(corpus, z, model.n_topics) for z in exact.topics]
    tables = [twins.predictive(each, model.alphas, model.beta).ravel() for each in counts]
    engine, options, grid = get_engine("cgs"), cgs.Options(2), every_pair(corpus)
    total = 0.0
    for sweep, state in enumerate(states(engine, corpus, model, options, 2100), 1):
        if sweep > 100:
            total = total + engine.predict(corpus, model, options, state, grid)
    assert np.abs(total / 2000 - exact.probability @ np.array(tables)).max() < NEAR


# ---------------------------------------------------------------------- runs


def test_a_run_on_more_threads_than_it_can_use_says_so_on_stderr(capsys):
    for options, progress, told in (({}, True, 1), ({}, False, 0), ({"partition": 2}, True, 0)):
        wb.fit(
            simulated(), "cgs", 2, n_iterations=1, n_threads=2, options=options, progress=progress
        )
        assert (
            capsys.readouterr().err.count(
                "cgs will leave threads idle: tokens are drawn one after another"
            )
            == told
        )
