"""Moves that split and merge topics of CV-HDP: what they propose, do, keep and take back."""

from collections import Counter

import hdp_twins as twin
import numpy as np
import pytest
from engines.lda.starts import assert_same_bits
from hdp_twins import chosen_hdp, hdp_of
from stepping import steps
from toys import corpus_of, random_gamma, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.hdp import cv_hdp, split_merge
from workbench.engines.hdp.split_merge import MERGE, SPLIT, Inference, Move
from workbench.kernels.hdp.conditional_vb import share_in_order

ENGINE = get_engine("cv-hdp")
ROUNDING = 1e-9  # of sums over a few hundred tokens
OPTIONS = chosen_hdp(ENGINE, beta_total=2.5)
COUNTERS = ("steps", "n_moves", "n_refused")


def state_of(corpus, q, **known):
    """The state behind responsibilities after one round over the hyperparameters."""
    state = cv_hdp.init(corpus, hdp_of(OPTIONS, q.shape[1]), OPTIONS, StepContext(0, 0))
    state.gamma[:, : q.shape[1]] = q
    return cv_hdp.settle_state(corpus, hdp_of(OPTIONS), OPTIONS, state, 1)._replace(**known)


def inference_of(corpus) -> Inference:
    """What the engine hands to a move."""
    return Inference(
        lambda state: cv_hdp.iterate(corpus, hdp_of(OPTIONS), OPTIONS, state, StepContext(0, 1)),
        lambda state, n_rounds: cv_hdp.settle_state(
            corpus, hdp_of(OPTIONS), OPTIONS, state, n_rounds
        ),
        lambda state: cv_hdp.bound(corpus, hdp_of(OPTIONS), OPTIONS, state),
        cv_hdp.priors_of_counts,
    )


def blocks(n_documents=12, doubled=False):
    """Documents of two kinds of words in turn, and responsibilities that know them; topic 2 empty or half of topic 0."""
    kinds = np.arange(n_documents) % 2
    corpus = corpus_of([(d, 3 * kind + i, 4) for d, kind in enumerate(kinds) for i in range(3)])
    q = np.eye(3)[kinds[corpus.documents]]
    if doubled:
        q[:, [0, 2]] = q[:, [0]] / 2
    return corpus, q


# ---------------------------------------------------------------------- what is proposed


def test_merges_go_through_the_most_alike_pairs_the_smaller_giving():
    corpus = corpus_of([(0, 0, 8), (0, 1, 4), (1, 0, 2), (1, 1, 2), (2, 2, 6)])
    q = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
    state, context = state_of(corpus, q), StepContext(0, 30)
    sizes = state.mean_k[:4]
    assert split_merge.similar_pairs(state, sizes) == [(1, 0), (2, 0), (1, 2)]  # topic 3 is empty
    for n_refused, pair in ((0, (1, 0)), (1, (2, 0)), (2, (1, 2)), (3, (1, 0))):
        assert split_merge.propose(corpus, state._replace(n_refused=n_refused), context) == Move(
            MERGE, *pair
        )


def test_only_ten_pairs_are_candidates():
    corpus = simulated()
    state = state_of(corpus, random_gamma(corpus, 6))
    assert len(split_merge.similar_pairs(state, state.mean_k[:6])) == 10  # of fifteen


def test_splits_take_topics_by_size_and_documents_by_their_tokens():
    """500 draws; frequencies to within four standard errors."""
    corpus = corpus_of([(0, 0, 30), (1, 1, 10), (2, 0, 30), (2, 1, 30)])
    q = np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    state = state_of(corpus, q, n_moves=1)
    moves = [split_merge.propose(corpus, state, StepContext(0, step)) for step in range(500)]
    assert {(move.kind, move.taker, move.heir) for move in moves} == {(SPLIT, 2, -1)}
    assert np.mean([move.giver == 0 for move in moves]) == pytest.approx(0.6, abs=0.09)
    firsts = Counter((move.giver, move.seeds[0]) for move in moves)
    assert firsts[0, 0] / (firsts[0, 0] + firsts[0, 2]) == pytest.approx(0.5, abs=0.12)
    assert firsts[1, 1] / (firsts[1, 1] + firsts[1, 2]) == pytest.approx(0.25, abs=0.12)
    assert all(move.seeds[0] != move.seeds[1] for move in moves)


def test_moves_alternate_and_one_kind_stands_in_for_the_other():
    corpus, q = blocks()
    context, state = StepContext(0, 3), state_of(corpus, q)
    assert [
        split_merge.propose(corpus, state._replace(n_moves=n), context).kind for n in range(4)
    ] == [MERGE, SPLIT] * 2
    alone = state_of(corpus, np.eye(3)[np.zeros(corpus.n_pairs, int)])
    assert split_merge.propose(corpus, alone, context).kind == SPLIT  # one topic cannot merge
    single = corpus_of([(0, 0, 3)])
    assert split_merge.propose(single, state_of(single, np.ones((1, 1))), context) is None
    pair = corpus_of([(0, 0, 3), (0, 1, 3)])
    # one document: no two seeds
    assert split_merge.propose(pair, state_of(pair, np.eye(2), n_moves=1), context).kind == MERGE
    assert split_merge.propose(pair, state_of(pair, np.array([[1.0, 0], [1, 0]])), context) is None


def test_where_no_place_is_empty_a_split_makes_its_own():
    corpus = simulated()
    state = state_of(corpus, random_gamma(corpus, 5), n_moves=1)
    pairs, shared = set(split_merge.similar_pairs(state, state.mean_k[:5])), 0
    for step in range(200):
        move = split_merge.propose(corpus, state, StepContext(0, step))
        assert move.kind == SPLIT
        assert (move.taker, move.heir) in pairs
        assert move.giver != move.taker
        shared += move.giver == move.heir
    assert shared == pytest.approx(100, abs=30)  # as often the two themselves; four standard errors


# ---------------------------------------------------------------------- what is done


def twin_shares(corpus, q, one, other, alpha, priors):
    """One pass of eq. 15 over two topics of q, in place, alpha for each, normalised to what the row has in both."""
    given = priors[0].copy()
    given[[one, other]] = alpha
    for row in range(corpus.n_pairs):
        new = twin.cv_hdp_responsibility(corpus, q, row, (given, *priors[1:]))[[one, other]]
        q[row, [one, other]] = q[row, [one, other]].sum() * new / new.sum()


def test_a_restricted_pass_meets_its_twin():
    corpus, n_topics = simulated(5, 6, 8), 4
    q = random_gamma(corpus, n_topics)
    state = state_of(corpus, q)
    a, b, b_sum = cv_hdp.priors_of_counts(state)
    share_in_order(
        0,
        corpus.n_documents,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        state.gamma,
        *state[:6],
        1,
        3,
        0.4 * a[1],
        b,
        b_sum,
    )
    twin_shares(corpus, q, 1, 3, 0.4 * a[1], (a, b, b_sum))
    np.testing.assert_allclose(state.gamma[:, :n_topics], q, rtol=0, atol=ROUNDING)
    documents, words, topics = twin.all_sums(corpus, q)
    for array, expected in zip(
        state[:6],
        (documents[0], words[0], topics[0][0], documents[1], words[1], topics[1][0]),
        strict=True,
    ):
        np.testing.assert_allclose(array[..., :n_topics], expected, rtol=0, atol=ROUNDING)


def test_documents_go_with_the_seed_of_their_words():
    corpus, q = blocks()
    b = np.full(6, 0.1)
    share = split_merge.share_of_documents(corpus, np.ones(corpus.n_pairs), (0, 1), b)
    assert share.tolist() == pytest.approx([0.95, 0.05] * 6)
    one_word = corpus_of([(0, 0, 2), (1, 1, 2), (2, 0, 1), (2, 1, 1), (3, 0, 1)], n_words=2)
    share = split_merge.share_of_documents(one_word, np.ones(5), (0, 1), np.array([1.0, 1.0]))
    assert share == pytest.approx([0.9, 0.1, 0.5, 0.75])  # (3/4)^2 : (1/4)^2, even, 3 : 1


def test_a_split_is_a_share_of_documents_and_ten_passes_with_half_the_prior():
    corpus = simulated(4, 6, 5)
    q = random_gamma(corpus, 3)
    state = state_of(corpus, q)
    priors, total = cv_hdp.priors_of_counts(state), q[:, 0] + q[:, 2]
    share = split_merge.share_of_documents(corpus, total, (1, 3), priors[1])[corpus.documents]
    q[:, 0], q[:, 2] = total * share, total * (1 - share)
    for _ in range(10):
        twin_shares(corpus, q, 0, 2, priors[0][0] / 2, priors)
    found = split_merge.split(
        corpus, state, Move(SPLIT, 0, 2, (1, 3)), StepContext(0, 1), inference_of(corpus)
    )
    np.testing.assert_allclose(found.gamma[:, :3], q, rtol=0, atol=1e-8)  # rounding, ten passes on


def test_a_split_conserves_every_pair_and_finds_what_was_lumped_together():
    corpus, q = blocks()
    lumped = np.zeros_like(q)
    lumped[:, 1], lumped[:, 2] = 0.98, 0.02
    state, move = state_of(corpus, lumped), Move(SPLIT, 1, 2, (0, 1))
    found = split_merge.split(corpus, state, move, StepContext(0, 1), inference_of(corpus)).gamma
    np.testing.assert_allclose(found[:, [1, 2]].sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found[:, 1], q[:, 0], atol=0.05)  # the kind of the first seed stays


def test_a_split_without_an_empty_place_hands_on_what_the_taker_had():
    corpus, q = blocks()
    state = state_of(corpus, q[:, [1, 0, 2]] * 0.9 + 0.1 / 3)
    before = state.gamma.copy()
    found = split_merge.split(
        corpus, state, Move(SPLIT, 1, 2, (0, 1), 0), StepContext(0, 1), inference_of(corpus)
    ).gamma
    np.testing.assert_allclose(found[:, 0], before[:, 0] + before[:, 2], rtol=1e-12)
    np.testing.assert_allclose(found[:, [1, 2]].sum(axis=1), before[:, 1], rtol=1e-12)


def test_a_merge_adds_up():
    corpus = simulated()
    state = state_of(corpus, random_gamma(corpus, 3))
    before = state.gamma.copy()
    found = split_merge.merge(corpus, state, Move(MERGE, 2, 0), StepContext(0, 1), None).gamma
    np.testing.assert_array_equal(found[:, 0], before[:, 0] + before[:, 2])
    np.testing.assert_array_equal(found[:, 1], before[:, 1])
    assert not found[:, 2].any()


# ---------------------------------------------------------------------- what is kept


def test_a_double_topic_is_merged_and_the_bound_tells_what_that_gained():
    corpus, q = blocks(doubled=True)
    state = state_of(corpus, q)
    found, info = split_merge.attempt(
        corpus, split_merge.copy_of(state), StepContext(0, 1), inference_of(corpus)
    )
    assert (info["move"], info["move_accepted"], info["event"]) == (MERGE, 1, True)
    assert {info["move_from"], info["move_to"]} == {0, 2}
    assert info["move_gain"] > 1
    assert sorted(np.round(found.mean_k[:3])) == [0, 72, 72]
    assert (found.n_moves, found.n_refused) == (1, 0)
    plain = state
    for _ in range(split_merge.SWEEPS):
        plain, _ = cv_hdp.iterate(corpus, hdp_of(OPTIONS), OPTIONS, plain, StepContext(0, 1))
    assert cv_hdp.bound(corpus, hdp_of(OPTIONS), OPTIONS, found) > cv_hdp.bound(
        corpus, hdp_of(OPTIONS), OPTIONS, plain
    )


def test_a_lump_is_split():
    corpus, q = blocks()
    state = state_of(corpus, np.eye(3)[np.zeros(corpus.n_pairs, int)])
    for step in range(20):  # two seeds of one kind split nothing
        state, info = split_merge.attempt(corpus, state, StepContext(0, step), inference_of(corpus))
        assert info["move"] == SPLIT
        if info["move_accepted"]:
            break
    assert sorted(np.round(state.mean_k[:3])) == [0, 72, 72]


@pytest.mark.parametrize("n_moves", [0, 1])
def test_a_refused_move_leaves_every_bit(n_moves):
    corpus, q = blocks()
    state = state_of(corpus, q, n_moves=n_moves, n_refused=4)
    for _ in range(20):
        state, _ = cv_hdp.iterate(corpus, hdp_of(OPTIONS), OPTIONS, state, StepContext(0, 1))
    before = split_merge.copy_of(state)
    found, info = split_merge.attempt(corpus, state, StepContext(0, 7), inference_of(corpus))
    assert info["move"] == (MERGE, SPLIT)[n_moves]
    assert info["move_accepted"] == 0
    assert info["move_gain"] < 0
    passes = 5 if n_moves == 0 else 15
    assert info["updates"] == passes * corpus.n_pairs
    # five times 3 topics; and ten times 2
    assert found.steps - before.steps == (15 if n_moves == 0 else 35)
    assert (found.n_moves, found.n_refused) == (n_moves + 1, 4 + (n_moves == 0))
    assert_same_bits(found._replace(**{name: getattr(before, name) for name in COUNTERS}), before)


def test_what_plain_iterations_gain_as_well_is_no_gain():
    """A bound that rises with every iteration whatever the move, and one that the move lifts beside."""
    corpus, q = blocks(doubled=True)
    for lift, accepted in ((0.0, 0), (1.0, 1)):
        known = state_of(corpus, q, steps=0)

        def bound(state, lift=lift):
            return -100.0 + state.steps + lift * (state.mean_k[:3].min() < 1)

        def iterate(state):
            state.mean_wk[...] += 1.0  # in place, as a sweep does
            return state._replace(steps=state.steps + 3), 0.0

        before = split_merge.copy_of(known)
        inference = Inference(
            iterate,
            lambda state, n_rounds: cv_hdp.settle_state(
                corpus, hdp_of(OPTIONS), OPTIONS, state, n_rounds
            ),
            bound,
            cv_hdp.priors_of_counts,
        )
        found, info = split_merge.attempt(corpus, known, StepContext(0, 1), inference)
        assert (info["move"], info["move_accepted"], info["move_gain"]) == (MERGE, accepted, lift)
        assert info["updates"] == 10 * corpus.n_pairs  # five passes with it, five without
        assert found.steps == 30
        if not accepted:
            assert_same_bits(
                found._replace(**{name: getattr(before, name) for name in COUNTERS}), before
            )


def test_moves_come_at_their_time_and_say_so():
    corpus, options = simulated(), chosen_hdp(ENGINE, moves_every=3, moves_after=4, beta_total=2.5)
    tried, n_steps = [], 0
    for step, (state, info) in enumerate(steps(ENGINE, corpus, hdp_of(options, 4), options, 12), 1):
        tried += [step] if "event" in info else []
        assert (info["move"] > 0) == ("event" in info)
        if not info["move"]:
            assert {name: info[name] for name in split_merge.NO_MOVE} == split_merge.NO_MOVE
            assert state.steps == n_steps + 4
            assert info["updates"] == corpus.n_pairs
        n_steps = state.steps
    assert tried == [6, 9, 12]
    assert state.n_moves == 3


# ---------------------------------------------------------------------- bars
