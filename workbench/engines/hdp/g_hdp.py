"""Gibbs sampling of the hierarchical Dirichlet process, by direct assignment.

Teh, Jordan, Beal & Blei (2006), sec. 5.3; Teh, Kurihara & Welling (2008), sec. 4 and eq. 17; beta and tau = 1/W are
fixed. theta and phi are integrated out. One sweep (spec of the HDP, 10)::

    A  p(z_i = k | z_-i)    ~  (n_dk + alpha pi_k) (n_wk + beta / W) / (n_k + beta)
       p(z_i = new | z_-i)  ~  alpha pi_rest / W;     then pi_new = b pi_rest, b ~ Beta(1, gamma)
       topics that are left without a token are part of the rest from then on
    B  m_dk ~ tables of a restaurant with n_dk guests and concentration alpha pi_k;     T = sum of m_dk
    C  h ~ Beta(gamma + 1, T), u ~ Bernoulli(T / (T + gamma)), gamma ~ Gamma(a_gamma + K - u, b_gamma - log h)
    D  (pi_1, …, pi_K, pi_rest) ~ Dirichlet(m_1, …, m_K, gamma)
    E  h_d ~ Beta(alpha + 1, n_d), u_d ~ Bernoulli(n_d / (n_d + alpha)),
       alpha ~ Gamma(a_alpha + T - sum u_d, b_alpha - sum log h_d)

C has pi integrated out and therefore stands before D: drawn after it, it would leave another law than the posterior.
A topic keeps its number as long as it has a token; the number of one that is gone goes to the next new topic.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    SAMPLER,
    Engine,
    Meeting,
    Memory,
    NoOptions,
    Phase,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    over_parts,
    size,
    start_of,
    step_of,
    zeros,
)
from workbench.engines.lda import cgs
from workbench.engines.lda.cgs import initial_topics
from workbench.engines.lda.fold_in import by_gibbs
from workbench.engines.lda.split import all_sampled
from workbench.kernels.hdp.gibbs import SMALLEST_WEIGHT, draw_tables, draw_tokens
from workbench.kernels.lda.gibbs import count_topics
from workbench.kernels.lda.log_joint import log_documents, log_joint_from, predictive
from workbench.kernels.simd.vectors import aligned_zeros, padded
from workbench.kernels.threads import slice_bounds
from workbench.kernels.uniforms import GIBBS, HDP_NEW_TOPICS, HDP_TABLES, HDP_WEIGHTS, TOPICS
from workbench.models import HDP, ModelError, Priors, topic_numbers
from workbench.models.hdp import TINY
from workbench.models.lda import MOST_TOPICS

GROWTH = 1.5
"""Factor by which the number of topic slots grows when all are in use."""


class State(NamedTuple):
    topics: Rows  # (token,) uint16, in canonical order
    # (document, slot) int32; there are more slots than topics, in whole lanes
    n_dk: Rows
    n_wk: np.ndarray  # (word, slot) int32
    n_k: np.ndarray  # (slot,) int64
    weights: np.ndarray  # (slot,) pi_k; 0 for a free slot
    rest: float  # sum of pi_k over all topics without tokens
    alpha_total: float
    top_concentration: float
    # used slots, at least the number of topics of the spec: results have this many topics
    n_slots: int
    steps: int  # sum over sweeps of the number of topics in use


def first_state(
    corpus: Corpus,
    model: HDP,
    options: NoOptions,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the state with initial topics, uniform or from another run; `draw_hyperparameters` then completes the start."""
    n_topics = model.n_topics
    alpha = model.a_alpha / model.b_alpha if model.learn_alpha else model.alpha_total
    gamma = model.a_gamma / model.b_gamma if model.learn_gamma else model.top_concentration
    share = 1 / (n_topics + 1)
    priors = Priors(
        np.full(n_topics, alpha * share), model.beta_total / corpus.n_words, alpha * share
    )
    capacity = padded(n_topics + 1)  # and the rest
    state = State(
        *zeros(cgs.arrays(corpus, capacity)).values(),
        aligned_zeros((capacity,), np.float64),
        share,
        alpha,
        gamma,
        n_topics,
        0,
    )
    state.topics[:] = initial_topics(corpus, priors, context.key(TOPICS), warm_start)
    sampled = all_sampled(corpus).sampled
    count_topics(
        corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, sampled, *state[:4]
    )
    state.weights[:n_topics] = share
    return (yield Meeting(state, arrays_of(state, "n_wk", "n_k")))[0]


def draw_topics(
    corpus: Corpus, model: HDP, options: NoOptions, state: State, context: StepContext
) -> Generator:
    """Draw the topic of every token once, in canonical order (step A)."""
    state, n_moved = sweep(corpus, model, with_slots_of_all(state), context)
    state, sums = yield Meeting(state, {"updates": corpus.n_tokens, "moved": n_moved})
    return state, sums | {"moved": sums["moved"] / max(sums["updates"], 1)}


def draw_hyperparameters(
    corpus: Corpus, model: HDP, options: NoOptions, state: State, context: StepContext
) -> Generator:
    """Draw tables, gamma, pi and alpha given the topics of all tokens (steps B to E); slots without a token become free."""
    state = with_slots_of_all(state)
    state.weights[state.n_k == 0] = 0.0  # what they had is in the rest, and D draws that anew
    tables = draw_tables(
        corpus.indptr,
        corpus.tokens_before,
        state.n_dk,
        state.alpha_total * state.weights,
        context.key(HDP_TABLES),
    )
    sums = {"tables": tables, "guests": [corpus.document_tokens]}
    state, sums = yield Meeting(state, sums)
    state = draw_from_tables(model, state, sums, context)
    used = int(np.count_nonzero(state.n_k)) if context.step else 0
    return state._replace(steps=state.steps + used), {}


init = start_of(first_state, Phase(draw_hyperparameters))
step = step_of(Phase(draw_topics), Phase(draw_hyperparameters))


def with_slots_of_all(state: State) -> State:
    """Return the state with n_dk widened to as many topic slots as n_k, which another part of the corpus may have extended."""
    n_slots = len(state.n_k)
    if state.n_dk.shape[1] == n_slots:
        return state
    return state._replace(n_dk=wider(state.n_dk, n_slots))


def sweep(corpus: Corpus, model: HDP, state: State, context: StepContext) -> tuple[State, int]:
    """Draw the topics of all tokens (step A), adding slots for new topics; return the state and how many changed topic."""
    n_moved, keys = 0, (context.key(GIBBS), context.key(HDP_NEW_TOPICS))
    n_used = int(np.max(np.flatnonzero(state.weights) + 1, initial=0))
    for first, last in slice_bounds(corpus.indptr, padded(state.n_slots)):
        context.interrupt()
        token = np.int64(0)
        while first >= 0:
            first, token, n, rest, n_used = draw_tokens(
                first,
                last,
                token,
                corpus.indptr,
                corpus.words,
                corpus.counts,
                corpus.tokens_before,
                *state[:6],
                n_used,
                state.alpha_total,
                model.beta_total,
                state.top_concentration,
                *keys,
            )
            n_moved += n
            state = state._replace(rest=rest, n_slots=max(state.n_slots, n_used))
            if first >= 0:
                state = with_more_slots(state)
    return state, n_moved


def with_more_slots(state: State) -> State:
    """Return the state with 1.5 times as many topic slots.

    Raises
    ------
    ModelError
        With more topics than a uint16 can number.
    """
    if state.n_slots >= MOST_TOPICS:
        raise ModelError(
            f"g-hdp has room for {MOST_TOPICS} topics and needs more; take a smaller alpha_total or top_concentration"
        )
    capacity = padded(min(int(GROWTH * len(state.n_k)), MOST_TOPICS) + 1)
    names = "n_dk", "n_wk", "n_k", "weights"
    return state._replace(**{name: wider(getattr(state, name), capacity) for name in names})


def wider(array: np.ndarray, capacity: int) -> np.ndarray:
    """Return a copy of an array with `capacity` topic slots; new slots are 0."""
    copy = aligned_zeros((*array.shape[:-1], capacity), array.dtype)
    copy[..., : array.shape[-1]] = array
    return copy


def draw_from_tables(model: HDP, state: State, sums: dict, context: StepContext) -> State:
    """Draw gamma, pi and alpha given the tables and tokens of all documents (steps C to E)."""
    live = np.flatnonzero(state.n_k)
    alpha, gamma, n_k = state.alpha_total, state.top_concentration, len(live)
    tables, guests = sums["tables"][live], np.concatenate(sums["guests"])
    total = tables.sum()
    random = np.random.Generator(np.random.Philox(int(context.key(HDP_WEIGHTS))))
    if model.learn_gamma:
        gamma = _draw_concentration(
            random, gamma, n_k, np.array([total]), model.a_gamma, model.b_gamma
        )
    weights = np.maximum(random.standard_gamma(np.append(tables, gamma)), SMALLEST_WEIGHT)
    weights = np.maximum(weights / weights.sum(), SMALLEST_WEIGHT)
    state.weights[live] = weights[:-1]
    if model.learn_alpha:
        alpha = _draw_concentration(random, alpha, total, guests, model.a_alpha, model.b_alpha)
    return state._replace(rest=float(weights[-1]), alpha_total=alpha, top_concentration=gamma)


def _draw_concentration(
    random: np.random.Generator,
    concentration: float,
    n_tables: int,
    guests: np.ndarray,
    shape,
    rate: float,
) -> float:
    """Draw a concentration given the number of tables and the customers per restaurant (C, E; Escobar & West, 1995)."""
    guests = guests[guests > 0]
    shares = random.beta(concentration + 1.0, guests)
    new = random.random(len(guests)) * (guests + concentration) < guests
    return float(
        max(
            random.standard_gamma(shape + n_tables - new.sum()) / (rate - np.log(shares).sum()),
            TINY,
        )
    )


def _alphas(state: State) -> np.ndarray:
    """Return alpha pi_k (slot,); the slot after the last topic has the total for all topics without tokens."""
    row = state.alpha_total * state.weights
    row[state.n_slots] = state.alpha_total * state.rest
    return row


def retune(
    corpus: Corpus, model: HDP, options: NoOptions, state: State, context: StepContext
) -> tuple[State, dict]:
    """Return the state with the new values of concentrations that are not learnt; new Gamma priors act from the next step."""
    names = [name for name in ("alpha_total", "top_concentration") if name in context.changed]
    return state._replace(**{name: getattr(model, name) for name in names}), {}


@over_parts
def watch(
    corpus: Corpus, model: HDP, options: NoOptions, state: State, context: StepContext | None = None
) -> Generator:
    """Return log p(words, topics | alpha, pi) (eq. 5), the hyperparameters, and the number of topics."""
    alphas, topics, n_topics = _alphas(state), slice(state.n_slots), state.n_slots + 1
    word_beta = model.beta_total / corpus.n_words
    documents = log_documents(state.n_dk, alphas, n_topics)
    state, sums = yield Meeting(state, {"documents": documents})
    joint = log_joint_from(sums["documents"], state.n_wk, state.n_k, word_beta, n_topics)
    return {
        "log_joint": joint,
        "alpha_total": state.alpha_total,
        "beta_total": model.beta_total,
        "top_concentration": state.top_concentration,
        **topic_numbers(state.n_k[topics]),
        "steps": state.steps,
        "n_k": state.n_k[topics],
        "alpha": alphas[topics],
    }


def counts(corpus: Corpus, model: HDP, options: NoOptions, state: State) -> dict:
    """Return the sampled counts and the topics of tokens."""
    topics = slice(state.n_slots)
    return {
        "n_kw": state.n_wk[:, topics].T,
        "n_dk": state.n_dk[:, topics],
        "token_topics": state.topics,
    }


def predict(
    corpus: Corpus,
    model: HDP,
    options: NoOptions,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of held-out pairs given the sampled counts, alpha and pi, including the mass of new topics (eq. 17)."""
    return predictive(
        pairs,
        corpus.document_tokens,
        state.n_dk,
        state.n_wk,
        state.n_k,
        _alphas(state),
        model.beta_total / corpus.n_words,
    )


def memory(corpus: Corpus, model: HDP, options: NoOptions) -> Memory:
    """Forecast the memory of a run in bytes for 1.5 times its initial number of topics; more topics need more."""
    initial, forecast = (
        size(cgs.arrays(corpus, n))
        for n in (model.n_topics + 1, int(GROWTH * padded(model.n_topics + 1)))
    )
    return Memory(forecast, step=initial)


def engine(name: str = "g-hdp") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#9955aa",
        line=":",
        marker="*",
        order=10,
        title="Gibbs sampling of the HDP",
        source="Teh, Jordan, Beal & Blei (2006), sec. 5.3; Teh, Kurihara & Welling (2008), eq. 17",
        when="Where the number of topics is to be found from the words: it may come to more topics than it began with, and "
        "predicts better than cv-hdp, but takes long to settle.",
        model=HDP,
        options=NoOptions,
        state=State,
        watches=(
            "log_joint",
            "moved",
            "alpha_total",
            "beta_total",
            "top_concentration",
            "n_active_topics",
            "n_large_topics",
            "effective_topics",
            "steps",
        ),
        samples=lambda corpus, options: True,
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_gibbs,
        memory=memory,
        idle=lambda options: "tokens are drawn one after another",
        keeps=("token_topics",),
        fixed=("learn_beta", "learn_tau", "a_beta", "b_beta", "a_tau"),
        grows=True,
    )
