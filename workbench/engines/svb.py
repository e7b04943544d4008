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

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.engines.engine import Engine, option
from workbench.engines.fold_in import by_variational_bayes
from workbench.engines.hyperparameters import Counts, Evidence, Learning, learner, polya_of
from workbench.engines.memory import DOUBLE, Memory, responsibility_bytes, row_bytes, word_major_bytes
from workbench.engines.starting import begin, start_option
from workbench.kernels.evidence import log_joint, predictive
from workbench.kernels.lanes import aligned_zeros, pad_topics, padded
from workbench.kernels.slices import each_slice, slice_bounds
from workbench.kernels.standard_vb import (
    expected_log_weights,
    inverse_weights,
    update_documents,
    update_in_order,
    update_words,
    weigh_rows,
    weighted_entropy,
)
from workbench.models import LDA

NOTHING_SAMPLED = (None, None, None)


class State(NamedTuple):
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray   # (topic,) float64, padded
    gamma: np.ndarray    # (variational pair, topic) float64, padded; no rows in the parallel schedule
    entropy: float       # of the responsibilities behind the expected counts, nats


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
    """One variational pass over the pairs above the threshold, given sampled counts (chain, row, topic) or None thrice."""
    n_updated = int(np.sum(corpus.counts > threshold))
    if n_updated:
        sweep = update_in_parallel if options.schedule == "parallel" else update_sequentially
        state = sweep(corpus, model, threshold, state, sampled, turn)
    return state, {"updates": n_updated}


def update_in_parallel(corpus, model, threshold, state, sampled, turn) -> State:
    """Document pass, then word pass, from the same weights; the same bits for any number of threads."""
    mean_dk, mean_wk, mean_k, *_ = state
    sampled_dk, sampled_wk, sampled_k = sampled
    alpha, beta_row, words_beta_row, live = padded_priors(corpus, model)
    lanes, by_word = len(alpha), corpus.by_word

    def by_slices(work, indptr):
        return each_slice(work, slice_bounds(indptr, lanes), turn.n_threads, turn.pulse)

    unshifted, shift, scale = np.zeros(lanes), np.empty(lanes), np.empty(lanes)
    inverse_weights(words_beta_row, mean_k, sampled_k, live, shift, scale)
    document_weights, word_weights = np.empty_like(mean_dk), np.empty_like(mean_wk)
    by_slices(lambda a, b: weigh_rows(a, b, alpha, mean_dk, sampled_dk, unshifted, live, document_weights), corpus.indptr)
    by_slices(lambda a, b: weigh_rows(a, b, beta_row, mean_wk, sampled_wk, shift, scale, word_weights), by_word.indptr)

    ratios = np.empty(corpus.n_pairs)
    new_dk = aligned_zeros(mean_dk.shape, np.float64)
    new_wk = aligned_zeros(mean_wk.shape, np.float64)
    given = (*state[:3], *sampled, alpha, model.beta, model.n_topics, ratios)
    log_normalisers = by_slices(
        lambda a, b: update_documents(
            a, b, corpus.indptr, corpus.words, corpus.counts, threshold, document_weights, word_weights, *given, new_dk
        ),
        corpus.indptr,
    )
    by_slices(
        lambda a, b: update_words(
            a, b, by_word.indptr, by_word.documents, by_word.pairs, corpus.counts,
            document_weights, word_weights, *given, new_wk,
        ),
        by_word.indptr,
    )
    new_k = new_wk.sum(axis=0)

    expected = by_slices(
        lambda a, b: expected_log_weights(a, b, new_dk, alpha, mean_dk, sampled_dk, model.n_topics), corpus.indptr
    ) + by_slices(
        lambda a, b: expected_log_weights(a, b, new_wk, beta_row, mean_wk, sampled_wk, model.n_topics), by_word.indptr
    )
    expected_sizes = expected_log_weights(0, 1, new_k[None], words_beta_row, mean_k[None], sampled_k, model.n_topics)
    entropy = sum(log_normalisers) - sum(expected) + expected_sizes
    return State(new_dk, new_wk, new_k, state.gamma, entropy)


def update_sequentially(corpus, model, threshold, state, sampled, turn) -> State:
    """Pair after pair in canonical order, the expected counts moved along."""
    variational_before = count_before(corpus, threshold)

    def work(first, last):
        update_in_order(
            first, last, corpus.indptr, corpus.words, corpus.counts, threshold, variational_before, state.gamma,
            *state[:3], *sampled, model.alphas, model.beta, model.n_topics,
        )

    each_slice(work, slice_bounds(corpus.indptr, len(state.mean_k)), 1, turn.pulse)
    return state


def padded_priors(corpus, model):
    """alpha, beta and W beta as padded rows (any positive number in the padding), and which topics are live."""
    lanes = padded(model.n_topics)
    live = pad_topics(np.ones(model.n_topics))
    return pad_topics(model.alphas, 1.0), np.full(lanes, model.beta), np.full(lanes, model.beta * corpus.n_words), live


def count_before(corpus, threshold) -> np.ndarray:
    """(pair,) int64: how many variational pairs stand before each pair, its row of gamma."""
    variational = corpus.counts > threshold
    return np.cumsum(variational) - variational


def entropy_of(corpus, threshold, state) -> float:
    """Entropy of the responsibilities, nats; NaN before the first parallel update."""
    if not len(state.gamma):
        return state.entropy
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
    """Counts, their weights and the counts to come; responsibilities only of the sequential schedule."""
    rows, n_variational = row_bytes(corpus, model.n_topics), int(np.sum(corpus.counts > threshold))
    if not n_variational:
        return Memory(rows)
    if options.schedule == "parallel":
        return Memory(rows, word_major_bytes(corpus), step=2 * rows + corpus.n_pairs * DOUBLE)
    return Memory(rows + responsibility_bytes(n_variational, model.n_topics), step=2 * corpus.n_pairs * DOUBLE)


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
