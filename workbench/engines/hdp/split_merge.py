"""Moves that split a topic of `cv-hdp` or merge two, kept where the bound rises (spec of the HDP, 12).

The paper leaves such moves open. A merge adds the responsibilities of a topic to those of another, one of the ten
pairs of topics whose words are most alike, in turn. A split moves part of a topic, drawn by size, to an empty
place: two of its documents, drawn by their tokens in it, are seeds; each document goes with the seed whose words its
own are more likely of, and ten passes over the pairs in the two topics alone, their sum kept, sharpen that. Where no
place is empty, one of the ten pairs is merged first, and what is split then is that topic, to share out anew what the
two had, or as often another one, to trade a double topic for a missing one. Merges and splits are tried by turns, one
at most in an iteration.

A move is followed by three rounds over the hyperparameters and five iterations. It is kept where the bound is then
higher than before, *and* higher than where the same rounds and iterations lead without the move: while a run still
climbs, the first alone would keep anything. Otherwise the state is the one before, bit for bit, but for its counts
of moves and steps.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import State, StepContext
from workbench.kernels.hdp.conditional_vb import share_in_order
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import MOVES, uniform

NO_MOVE = {"move": 0, "move_accepted": 0, "move_gain": 0.0, "move_from": -1, "move_to": -1}
"""Diagnostics of an iteration without a split or merge; `models.variables` explains the names."""
SPLIT, MERGE = 1, 2
N_CANDIDATES = 10
"""Number of most similar topic pairs that are candidates for a merge."""
LIVE = 1.0
"""Minimum of expected tokens of a topic in use; a topic with fewer is free to take a part of another."""
CLEAREST = 0.95
"""Largest initial share of a document that is assigned to one seed of a split."""
RESTRICTED_SWEEPS, HYPER_ROUNDS, SWEEPS = 10, 3, 5
LEAST_GAIN = 1e-6
"""Smallest relative increase of the bound for which a move is accepted."""


class Move(NamedTuple):
    """A proposed split or merge."""

    kind: int
    giver: int  # the topic that is split, or merged into the other
    taker: int  # the topic that receives the tokens
    seeds: tuple[int, int] = (-1, -1)  # for a split: seeds of the part that stays and that goes
    # for a split without a free topic: the topic into which the taker is merged first
    heir: int = -1


class Inference(NamedTuple):
    """Functions of `cv-hdp` that a split or merge move calls."""

    iterate: Callable  # (state) -> (state, change): an iteration
    # (state, n_rounds) -> state: recompute the counts, then update the hyperparameters n_rounds times
    settle: Callable
    bound: Callable  # (state) -> nats
    priors: Callable  # (state) -> a (topic,), b (word,), B


def attempt(corpus: Corpus, state: State, context: StepContext, inference: Inference):
    """Try one split or merge; return the new state if the move is accepted, else the old state, and diagnostics."""
    move = propose(corpus, state, context)
    if move is None:
        return state, NO_MOVE | {"updates": 0}
    old_bound, n_passes = inference.bound(state), 0
    trial = (merge if move.kind == MERGE else split)(
        corpus, copy_of(state), move, context, inference
    )
    trial, new_bound = follow_up(trial, inference)
    n_passes += SWEEPS
    if gains(new_bound, old_bound):
        _, plain = follow_up(copy_of(state), inference)
        old_bound, n_passes = max(old_bound, plain), n_passes + SWEEPS
    accepted = gains(new_bound, old_bound)
    steps = state.steps + n_passes * state.n_topics
    if move.kind == SPLIT:
        steps, n_passes = steps + 2 * RESTRICTED_SWEEPS, n_passes + RESTRICTED_SWEEPS
    refused = 0 if accepted else state.n_refused + (move.kind == MERGE)
    state = (trial if accepted else state)._replace(
        steps=steps, n_moves=state.n_moves + 1, n_refused=refused
    )
    return state, {
        "move": move.kind,
        "move_accepted": int(accepted),
        "move_gain": new_bound - old_bound,
        "move_from": move.giver,
        "move_to": move.taker,
        "event": True,
        "updates": n_passes * corpus.n_pairs,
    }


def gains(new_bound: float, old_bound: float) -> bool:
    """Return whether the bound has risen by more than the fraction `LEAST_GAIN` of its absolute value."""
    return new_bound > old_bound + LEAST_GAIN * abs(old_bound)


def copy_of(state: State):
    """Return a deep copy of the state."""
    return type(state)(
        *(value.copy() if isinstance(value, np.ndarray) else value for value in state)
    )


def follow_up(state: State, inference: Inference):
    """Run the hyperparameter updates and iterations that follow a move; return the resulting state and its bound."""
    state = inference.settle(state, HYPER_ROUNDS)
    for _ in range(SWEEPS):
        state, _ = inference.iterate(state)
    return state, inference.bound(state)


# ---------------------------------------------------------------------- what is tried


def propose(corpus: Corpus, state: State, context: StepContext) -> Move | None:
    """Propose a merge after an even number of moves, else a split; if impossible, the other kind; if both are, None."""
    sizes, key = state.mean_k[: state.n_topics], context.key(MOVES)
    kinds = (
        (propose_merge, propose_split) if state.n_moves % 2 == 0 else (propose_split, propose_merge)
    )
    return kinds[0](corpus, state, sizes, key) or kinds[1](corpus, state, sizes, key)


def propose_merge(corpus: Corpus, state: State, sizes: np.ndarray, key: np.uint64) -> Move | None:
    """Propose to merge one of the ten most similar pairs of topics, the next pair after each refused merge; None if no pair."""
    pairs = similar_pairs(state, sizes)
    return Move(MERGE, *pairs[state.n_refused % len(pairs)]) if pairs else None


def similar_pairs(state: State, sizes: np.ndarray) -> list[tuple[int, int]]:
    """Return the ten most similar pairs of topics in use, by cosine of their word counts; the smaller topic comes first."""
    live = np.flatnonzero(sizes >= LIVE)
    n_wk = state.mean_wk[:, live] / np.sqrt(
        np.einsum("wk,wk->k", state.mean_wk[:, live], state.mean_wk[:, live])
    )
    cosines = np.einsum("wk,wl->kl", n_wk, n_wk)
    rows, columns = np.triu_indices(len(live), 1)
    best = np.argsort(-cosines[rows, columns], kind="stable")[:N_CANDIDATES]
    pairs = zip(live[rows[best]].tolist(), live[columns[best]].tolist(), strict=True)
    return [tuple(sorted(pair, key=lambda k: sizes[k])) for pair in pairs]


def propose_split(corpus: Corpus, state: State, sizes: np.ndarray, key: np.uint64) -> Move | None:
    """Propose to split a topic, drawn in proportion to its size, around two seed documents drawn from it."""
    splittable = np.where(sizes >= LIVE, sizes, 0.0)
    taker, heir = int(np.argmin(sizes)), -1
    if splittable[taker]:
        pairs = similar_pairs(state, sizes)
        if not pairs:
            return None
        taker, heir = pairs[int(uniform(key, 3) * len(pairs))]
        splittable[[taker, heir]] = 0.0
        splittable[heir] = max(splittable.sum(), LIVE)
    if not splittable.any():
        return None
    giver = draw_index(splittable, uniform(key, 0))
    weights = state.mean_dk[:, giver] + (state.mean_dk[:, taker] if giver == heir else 0.0)
    first = draw_index(weights, uniform(key, 1))
    weights[first] = 0.0
    if not weights.any():
        return None
    return Move(SPLIT, giver, taker, (first, draw_index(weights, uniform(key, 2))), heir)


def draw_index(weights: np.ndarray, u) -> int:
    """Draw an index with probability proportional to its weight, given a uniform ``u``."""
    cumulative = np.cumsum(weights)
    return int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))


# ---------------------------------------------------------------------- what becomes of the responsibilities


def merge(corpus: Corpus, state: State, move, context: StepContext, inference):
    """Return the state with one topic's responsibilities added to another's; counts are not yet recomputed."""
    pour(state.gamma, move.giver, move.taker)
    return state


def pour(gamma: np.ndarray, giver, taker) -> None:
    """Move column ``giver`` of the responsibilities gamma (pair, topic) into column ``taker``, in place."""
    gamma[:, taker] += gamma[:, giver]
    gamma[:, giver] = 0.0


def split(corpus: Corpus, state: State, move, context: StepContext, inference):
    """Return the state with a topic split in two: first by document, then by passes over the document-word pairs."""
    if move.heir >= 0:
        pour(state.gamma, move.taker, move.heir)
    total = state.gamma[:, move.giver] + state.gamma[:, move.taker]
    share = share_of_documents(corpus, total, move.seeds, inference.priors(state)[1])[
        corpus.documents
    ]
    state.gamma[:, move.giver], state.gamma[:, move.taker] = total * share, total * (1.0 - share)
    state = inference.settle(state, 0)
    work = partial(share_out, corpus, state, move, inference.priors(state))
    for _ in range(RESTRICTED_SWEEPS):
        each_slice(work, slice_bounds(corpus.indptr, 2), 1, context.interrupt)
    return state


def share_out(corpus: Corpus, state: State, move, priors, first: int, last: int) -> None:
    """Divide each pair's total responsibility for the two topics of a split anew, for documents first..last, in place."""
    alpha, beta, beta_sum = priors
    share_in_order(
        first,
        last,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        state.gamma,
        *state[:6],
        move.giver,
        move.taker,
        0.5 * alpha[move.giver],
        beta,
        beta_sum,
    )


def share_of_documents(corpus: Corpus, weights: np.ndarray, seeds, beta) -> np.ndarray:
    """Return the probability (document,) that a document resembles the first of two seeds, in [0.05, 0.95].

    weights : (pair,) the responsibility of the topic that is split; beta (word,) smooths the words of the seeds.
    """
    log_words = []
    for seed in seeds:
        pairs = slice(corpus.indptr[seed], corpus.indptr[seed + 1])
        words = beta.copy()
        words[corpus.words[pairs]] += corpus.counts[pairs] * weights[pairs]
        log_words.append(np.log(words / words.sum()))
    log_odds = np.bincount(
        corpus.documents,
        corpus.counts * weights * (log_words[0] - log_words[1])[corpus.words],
        corpus.n_documents,
    )
    return np.clip(1.0 / (1.0 + np.exp(-np.clip(log_odds, -50.0, 50.0))), 1.0 - CLEAREST, CLEAREST)
