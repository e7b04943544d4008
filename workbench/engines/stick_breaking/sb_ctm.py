"""Gibbs sampling of correlated topics by stick-breaking and Polya-gamma augmentation, with the topics integrated out.

Linderman, Johnson & Adams (2015), eq. 10-13; the mean in eq. 13 must read Omega^-1 kappa. With phi integrated out, a sweep is::

    z_i      ~  theta_dt (n_wt + beta) / (n_t + W beta),  theta_d = pi(psi_d)      token i removed from the counts
    omega_dt ~  PG(N_dt, psi_dt),  N_dt = sum_{s>=t} n_ds
    psi_d    ~  N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 mu + kappa(n_d),  kappa_t = n_dt - N_dt / 2
    mu, Sigma ~ NIW given all psi_d

omega is drawn where it is used and not kept: it is no part of the state. Documents without a token draw from the prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.engines.engine import Engine
from workbench.engines.lda import cgs
from workbench.engines.lda.fold_in import mixture_probability
from workbench.engines.memory import DOUBLE, Array, Memory, size, zeros
from workbench.engines.stick_breaking.fold_in import by_gibbs, learnt_of
from workbench.kernels.gaussian import draw_niw, log_joint_of_rows, niw_posterior
from workbench.kernels.lda.gibbs import count_topics
from workbench.kernels.lda.log_joint import log_topics
from workbench.kernels.stick_breaking.correlated_topics import draw_sticks, draw_topics
from workbench.kernels.stick_breaking.sticks import log_probabilities, probabilities, sticks_of
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import GIBBS, STICK_ORDER, STICK_WEIGHTS, STICKS, STICKS_GAUSSIAN, draw_key, uniform
from workbench.models import LDA
from workbench.models.options import option
from workbench.models.stick_breaking.correlated_topics import CorrelatedTopics

START_ALPHA = 0.1
"""alpha of the sweeps of collapsed Gibbs sampling at the start, and what is added to their counts for the first sticks."""


class State(NamedTuple):
    topics: np.ndarray      # (token,) uint16, in canonical order
    n_dk: np.ndarray        # (document, topic) int32, padded
    n_wk: np.ndarray        # (word, topic) int32, padded
    n_k: np.ndarray         # (topic,) int64, padded
    sticks: np.ndarray      # (document, stick) float64: psi
    mean: np.ndarray        # (stick,) float64: mu
    covariance: np.ndarray  # (stick, stick) float64: Sigma
    precision: np.ndarray   # (stick, stick) float64: its inverse


@dataclass(frozen=True)
class Options:
    start_sweeps: int = option(30, "sweeps of collapsed Gibbs sampling before the first iteration", low=0, whole=True)


def arrays(corpus, n_topics: int) -> dict[str, Array]:
    """Shapes and types of the arrays of a state."""
    n = n_topics - 1
    return cgs.arrays(corpus, n_topics) | {
        "sticks": Array((corpus.n_documents, n)), "mean": Array((n,)), "covariance": Array((n, n)), "precision": Array((n, n)),
    }


def init(corpus, model, options, context, warm_start=None) -> State:
    """Topics by sweeps of `cgs`, or of another run; sticks that give each document its share of topics."""
    lda, state = LDA(model.n_topics, START_ALPHA, model.beta), State(**zeros(arrays(corpus, model.n_topics)))
    start = cgs.init(corpus, lda, cgs.Options(), context, warm_start)
    if warm_start is None:
        for sweep in range(options.start_sweeps):
            cgs.sweep_all(corpus, start, context, chain=1 + sweep)
    rank = np.argsort(stick_order(model, start.n_k[: model.n_topics]))
    state.topics[:] = rank[start.topics]
    count_topics(corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, cgs.EVERY_COUNT, *state[:4])
    state.sticks[:] = sticks_of(np.log(state.n_dk[:, : model.n_topics] + START_ALPHA))
    return with_gaussian(model, state, context)


def stick_order(model, n_k) -> np.ndarray:
    """(topic,) which topic of the start comes first on the stick, second, …."""
    if model.order != "random":
        by_size = np.argsort(-n_k, kind="stable")
        return by_size if model.places is None else by_size[model.places]
    key = np.uint64(draw_key(model.order_seed, STICK_ORDER, 0, 0))
    return np.argsort([uniform(key, k) for k in range(len(n_k))])


def with_gaussian(model, state, context) -> State:
    """The state with mu and Sigma drawn given the sticks of all documents."""
    posterior = niw_posterior(state.sticks, *model.sticks_prior)
    mean, covariance, precision = draw_niw(*posterior, context.key(STICKS_GAUSSIAN))
    return state._replace(mean=mean, covariance=covariance, precision=precision)


def step(corpus, model, options, state, context):
    """Draws every token's topic in canonical order, then the sticks of each document, then their mean and covariance."""
    n_moved, key = 0, context.key(GIBBS)
    for first, last in slice_bounds(corpus.indptr, model.n_topics):
        context.interrupt()
        n_moved += draw_topics(
            first, last, corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, *state[:5], model.beta, key,
        )
    work = partial(
        draw_sticks, n_dk=state.n_dk, precision=state.precision, weighted_mean=weighted(state.precision, state.mean),
        sticks=state.sticks, omega_key=context.key(STICK_WEIGHTS), stick_key=context.key(STICKS),
    )
    each_slice(work, stick_slices(corpus.n_documents, model.n_topics), context.n_threads, context.interrupt)
    state = with_gaussian(model, state, context)
    return state, {"updates": corpus.n_tokens, "moved": n_moved / max(corpus.n_tokens, 1)}


def weighted(precision, mean) -> np.ndarray:
    """Sigma^-1 mu (stick,), summed in one order: not by BLAS, whose bits depend on its threads."""
    return (precision * mean).sum(axis=1)


def stick_slices(n_documents: int, n_topics: int) -> list[tuple[int, int]]:
    """Ranges of documents whose matrices take some milliseconds."""
    return slice_bounds(np.arange(n_documents + 1) * (n_topics**2 // 8 + 8), n_topics)


def watch(corpus, model, options, state) -> dict:
    """log p(w, z, psi, mu, Sigma) with the topics integrated out, and the counts of the topics."""
    n_topics = model.n_topics
    of_topics = (state.n_dk[:, :n_topics] * log_probabilities(state.sticks)).sum()
    of_sticks = log_joint_of_rows(state.sticks, state.mean, state.precision, *model.sticks_prior)
    return {
        "log_joint": float(log_topics(state.n_wk, state.n_k, model.beta, n_topics) + of_topics + of_sticks),
        "n_k": state.n_k[:n_topics],
    }


def counts(corpus, model, options, state) -> dict:
    """The sampled counts and sticks, the topics behind them, and the mean and covariance of the sticks."""
    return cgs.counts(corpus, model, options, state) | {
        "psi": state.sticks, "psi_mean": state.mean, "psi_covariance": state.covariance,
    }


def predict(corpus, model, options, state, pairs, context=None) -> np.ndarray:
    """p(w|d) of each pair: theta as drawn, phi its mean given the sampled counts."""
    live = slice(model.n_topics)
    phi = (state.n_wk[:, live] + model.beta) / (state.n_k[live] + corpus.n_words * model.beta)
    return mixture_probability(probabilities(state.sticks), phi, pairs)


def memory(corpus, model, options) -> Memory:
    """Bytes of the topics, the counts and the sticks; no array of documents times squared topics is made."""
    theta = corpus.n_documents * model.n_topics * DOUBLE
    return Memory(size(arrays(corpus, model.n_topics)), step=3 * model.n_topics**2 * DOUBLE, look=theta)


def engine(name: str = "sb-ctm") -> Engine:
    return Engine(
        name=name, title="Gibbs sampling of correlated topics by stick-breaking",
        source="Linderman, Johnson & Adams (2015), eq. 10-13",
        model=CorrelatedTopics, options=Options, state=State, samples=cgs.samples,
        watches=("log_joint", "moved"), keeps=("token_topics",),
        init=init, step=step, watch=watch, counts=counts, predict=predict, fold_in=by_gibbs, learnt=learnt_of, memory=memory,
    )
