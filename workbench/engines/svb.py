"""Standard variational Bayes for LDA in its collapsed view.

Welling, Teh & Kappen (2008), eq. 9-11. Jensen's inequality and the linearised convex log joint give the
update of the responsibilities, shared by all copies of a word in a document::

    gamma_dwk  ~  exp{ psi(beta + n_wk) - psi(W beta + n_k) + psi(alpha_k + n_dk) }

with expected counts n that include the pair itself. The bound F = L(n) - sum n_dw gamma log gamma
(spec A4) never falls, in either schedule: `parallel` updates every pair from the same counts and stores
no gamma, `sequential` moves the counts along after each pair. One parallel sweep is one outer
iteration of variational EM (`vb`) with one inner pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import Engine, option
from workbench.engines.fold_in import by_variational_bayes
from workbench.engines.hyperparameters import Counts, Evidence, Learning, learner, polya_of
from workbench.engines.memory import DOUBLE, Memory, responsibility_bytes, row_bytes
from workbench.engines.starting import begin, start_option
from workbench.kernels.document_vb import fit_documents
from workbench.kernels.evidence import log_joint, predictive
from workbench.kernels.factored_entropy import entropy as factored_entropy
from workbench.kernels.lanes import aligned_empty, aligned_zeros, pad_topics, padded
from workbench.kernels.slices import each_slice, slice_bounds
from workbench.kernels.standard_vb import (
    NOTHING_SAMPLED,
    count_words,
    log_sizes,
    update_in_order,
    weigh_rows,
    weighted_entropy,
)
from workbench.models import LDA


class State(NamedTuple):
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray   # (topic,) float64, padded
    gamma: np.ndarray    # (variational pair, topic) float64, padded; no rows in the parallel schedule
    entropy: float | Entropy   # of the responsibilities behind the expected counts, nats


@dataclass(frozen=True)
class OwnOptions:
    schedule: str = option(
        "parallel", "parallel: all pairs from the same counts; sequential: counts follow each pair",
        choices=("parallel", "sequential"),
    )
    init: str = start_option()


@dataclass(frozen=True)
class Options(Learning, OwnOptions):
    """Those of the engine, and what it learns of its priors."""


def init(corpus, model, options, turn, start=None) -> State:
    """Responsibilities of every pair, at random or from the counts of another run."""
    return start_mean(corpus, model, options, 0, turn, start)


def step(corpus, model, options, state, turn):
    """Update the responsibilities of every pair once."""
    return update(corpus, model, options, 0, state, NOTHING_SAMPLED, turn)


def start_mean(corpus, model, options, threshold, turn, start=None) -> State:
    """Expected counts of the first responsibilities of the pairs that count more than the threshold."""
    lanes = padded(model.n_topics)
    n_variational = int(np.sum(corpus.counts > threshold))
    n_kept = n_variational if options.schedule == "sequential" else 0
    state = State(
        aligned_zeros((corpus.n_documents, lanes), np.float64),
        aligned_zeros((corpus.n_words, lanes), np.float64),
        aligned_zeros((lanes,), np.float64),
        aligned_zeros((n_kept, lanes), np.float64),
        np.nan if n_variational else 0.0,
    )
    begin(corpus, model, options, threshold, turn, start, state.gamma, *state[:3])
    return state


def update(corpus, model, options, threshold, state, sampled, turn) -> tuple[State, dict]:
    """One variational pass over the pairs above the threshold, given sampled counts (chain, row, topic), if any."""
    part = pairs_above(corpus, threshold)
    if part.n_pairs and options.schedule == "parallel":
        fitted = update_in_parallel(part, model, state[:3], state.entropy, sampled, turn)
        state = State(*state[:3], state.gamma, fitted.entropy)
    elif part.n_pairs:
        update_sequentially(corpus, model, threshold, state, sampled, turn)
    return state, {"updates": part.n_pairs}


PARTS = WeakKeyDictionary()
"""What `pairs_above` found, by corpus and threshold."""


def pairs_above(corpus, threshold) -> Corpus:
    """The pairs that count more than the threshold, as a corpus; made once."""
    if threshold < 1:
        return corpus
    parts = PARTS.setdefault(corpus, {})
    if threshold not in parts:
        above = corpus.counts > threshold
        indptr = np.concatenate([[0], np.cumsum(above)])[corpus.indptr]
        parts[threshold] = corpus.with_pairs(indptr, corpus.words[above], corpus.counts[above])
    return parts[threshold]


class Fitted(NamedTuple):
    entropy: Entropy   # of the responsibilities behind the new counts
    n_visited: int     # pairs, each as often as it was visited


class Room(NamedTuple):
    """What a parallel update of a corpus leaves behind and needs again in the next: slices, and factors of responsibilities."""

    documents: list          # ranges of them
    words: list
    document_factors: tuple  # logs and weights, (document, topic) float64, padded; logs take memory only where one is faint
    word_factors: tuple      # (word, topic) likewise
    ratios: np.ndarray       # (pair,) float64: n_dw / normaliser


class Entropy:
    """That of the responsibilities behind expected counts, nats: ``float`` of it computes it, and numpy takes it for a number.

    A sweep does not need it, so it is computed where a bound is asked for; NaN after the next update, which changes the counts.
    """

    def __init__(self, corpus, mean, room: Room, n_topics: int):
        self._corpus, self._mean, self._room, self._n_topics = corpus, mean, room, n_topics

    def __float__(self) -> float:
        corpus, room = self._corpus, self._room
        if room is None:
            return math.nan
        factors = *room.document_factors, *room.word_factors
        return factored_entropy(*self._mean, corpus.indptr, corpus.words, corpus.counts, *factors, room.ratios, self._n_topics)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(float(self), dtype)

    def give_room(self) -> Room | None:
        """The room, for the next update; given once, so that copies of a state do not share it."""
        room, self._room = self._room, None
        return room


def room_for(corpus, lanes, before: float | Entropy) -> Room:
    """That of the update before, or a new one: new arrays cost more than many a small sweep."""
    room = before.give_room() if isinstance(before, Entropy) else None
    return room or new_room(corpus, lanes)


def new_room(corpus, lanes) -> Room:
    """Room that holds nothing yet."""
    slices = [slice_bounds(indptr, lanes) for indptr in (corpus.indptr, corpus.by_word.indptr)]
    rows = [aligned_empty((n, lanes), np.float64) for n in (corpus.n_documents, corpus.n_words) for _ in range(2)]
    return Room(*slices, tuple(rows[:2]), tuple(rows[2:]), np.empty(corpus.n_pairs))


def update_in_parallel(corpus, model, mean, before, sampled, turn, point=False, n_inner=1, inner_tolerance=0.0) -> Fitted:
    """Documents fitted to the topics, then topics counted, both from the same weights; the counts `mean` change in place.

    The same bits for any number of threads. ``before`` is the entropy behind those counts. With `point` the topics are
    their mode, see `vb`.
    """
    mean_dk, mean_wk, mean_k = mean
    sampled_dk, sampled_wk, sampled_k = sampled
    lanes, by_word, n_topics = len(mean_k), corpus.by_word, model.n_topics
    room = room_for(corpus, lanes, before)
    documents, topics = room.document_factors, room.word_factors

    def by_slices(work, slices):
        return each_slice(work, slices, turn.n_threads, turn.pulse)

    sizes, betas = log_sizes(corpus.n_words * model.beta, mean_k, sampled_k, point, n_topics), np.full(lanes, model.beta)
    by_slices(lambda a, b: weigh_rows(a, b, betas, mean_wk, sampled_wk, sizes, point, *topics), room.words)
    alpha = pad_topics(model.alphas, 1.0)
    n_visited = by_slices(
        lambda a, b: fit_documents(
            a, b, corpus.indptr, corpus.words, corpus.counts, alpha, sampled_dk, *topics, n_topics,
            n_inner, inner_tolerance, mean_dk, *documents, room.ratios,
        ),
        room.documents,
    )
    mean_k[:] = sum(by_slices(
        lambda a, b: count_words(
            a, b, by_word.indptr, by_word.documents, by_word.pairs, corpus.counts, *documents, *topics, n_topics, room.ratios,
            mean_wk,
        ),
        room.words,
    ))
    return Fitted(Entropy(corpus, (mean_dk, mean_wk), room, n_topics), sum(n_visited))


def update_sequentially(corpus, model, threshold, state, sampled, turn) -> None:
    """Pair after pair in canonical order, the expected counts moved along."""
    variational_before, alpha = count_before(corpus, threshold), pad_topics(model.alphas, 1.0)

    def work(first, last):
        update_in_order(
            first, last, corpus.indptr, corpus.words, corpus.counts, threshold, variational_before, state.gamma,
            *state[:3], *sampled, alpha, model.beta, model.n_topics,
        )

    each_slice(work, slice_bounds(corpus.indptr, len(state.mean_k)), 1, turn.pulse)


def count_before(corpus, threshold) -> np.ndarray:
    """(pair,) int64: how many variational pairs stand before each pair, its row of gamma."""
    variational = corpus.counts > threshold
    return np.cumsum(variational) - variational


def entropy_of(corpus, threshold, state) -> float:
    """Entropy of the responsibilities, nats; NaN before the first parallel update."""
    if not len(state.gamma):
        return float(state.entropy)
    return weighted_entropy(corpus.counts[corpus.counts > threshold], state.gamma)


def watch(corpus, model, options, state) -> dict:
    joint = log_joint(state.mean_dk, state.mean_wk, state.mean_k, pad_topics(model.alphas), model.beta, model.n_topics)
    return {"bound": joint + entropy_of(corpus, 0, state), "n_k": state.mean_k[: model.n_topics]}


def counts(corpus, model, options, state) -> dict:
    """The expected counts."""
    return {"n_kw": state.mean_wk[:, : model.n_topics].T, "n_dk": state.mean_dk[:, : model.n_topics]}


def predict(corpus, model, options, state, pairs) -> np.ndarray:
    """p(w|d) of each pair given the expected counts (spec B.2)."""
    return predictive(pairs, corpus.document_tokens, state.mean_dk, state.mean_wk, state.mean_k, model.alphas, model.beta)


def evidence(corpus, threshold, n_topics, state, of) -> Evidence:
    """The expected counts that speak of alpha, or of beta."""
    return Evidence(Counts(state.mean_dk if of == "alpha" else state.mean_wk), Counts(state.mean_k[None]))


def samples(corpus, options) -> bool:
    """No token is sampled."""
    return False


def memory(corpus, model, options, threshold=0) -> Memory:
    """Counts and their weights; responsibilities only of the sequential schedule."""
    rows, n_variational = row_bytes(corpus, model.n_topics), int(np.sum(corpus.counts > threshold))
    if not n_variational:
        return Memory(rows)
    if options.schedule == "parallel":
        return in_parallel(corpus, rows, n_variational)
    return Memory(rows + responsibility_bytes(n_variational, model.n_topics), step=2 * corpus.n_pairs * DOUBLE)


def in_parallel(corpus, rows: int, n_pairs: int) -> Memory:
    """What `update_in_parallel` takes: its room, at the most logs of weights, and orders of the pairs, copied unless all."""
    copied = n_pairs * (4 + 4 + 4) + (corpus.n_documents + 1) * 8 if n_pairs < corpus.n_pairs else 0
    orders = n_pairs * (8 + 4) + (corpus.n_words + 1) * 8
    return Memory(rows, copied + orders + rows + n_pairs * DOUBLE, step=rows)


def idle(options) -> str | None:
    """Why one thread is all that an update can use."""
    return "pairs are updated one after another; schedule=parallel is not so" if options.schedule == "sequential" else None


def engine(name: str = "svb") -> Engine:
    return Engine(
        name, "Standard variational Bayes, collapsed view", "Welling, Teh & Kappen (2008), eq. 9-11",
        LDA, Options, State, ("bound",), samples, init, step, watch, counts, predict,
        by_variational_bayes,
        learner(polya_of(lambda corpus, model, options, state, of: evidence(corpus, 0, model.n_topics, state, of)), samples),
        memory=memory, idle=idle,
    )
