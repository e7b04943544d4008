"""Gibbs sampling of correlated topics whose prevalence follows a linear system from year to year.

Linderman, Johnson & Adams (2015), sec. 3 and 5. phi is integrated out, as in `sb_ctm`; a sweep is::

    z_i    ~  theta_dk (n_wk + beta) / (n_k + W beta),  theta_d = pi(psi_d)          token i removed from the counts
    psi_d  ~  N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 psi_year(d) + kappa(n_d)
    psi_t  ~  the states of the system given J_t = n_t Sigma^-1, h_t = Sigma^-1 sum_d psi_d, for the n_t documents of year t
    Sigma  ~  IW given all psi_d - psi_year(d);   A, b, Q  ~  MNIW given the steps from psi_{t-1} to psi_t

Where documents share the sticks of their year there are no psi_d and Sigma stays at its prior: J_t = diag(omega_t),
h_t = kappa(sum_d n_d). A year without a document has no potential, and its state comes from the system alone.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.times import nearest_years, years_of
from workbench.engines.engine import (
    DOUBLE,
    SAMPLER,
    Array,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    cached_by_corpus,
    size,
    zeros,
)
from workbench.engines.lda import cgs
from workbench.engines.lda.fold_in import (
    BURN_IN,
    KEPT,
    LearntTopics,
    each_document,
    word_probabilities,
)
from workbench.engines.stick_breaking import sb_ctm
from workbench.engines.stick_breaking.sb_ctm import (
    StartOptions,
    draw_in_order,
    ordered_start,
    stick_work,
    with_start,
)
from workbench.kernels.gaussian import draw_niw
from workbench.kernels.state_space import draw_mniw, draw_states, mniw_posterior
from workbench.kernels.stick_breaking.correlated_topics import (
    draw_sticks_of_groups,
    draw_topics,
    own_potentials,
    sampled_theta,
    shared_potentials,
)
from workbench.kernels.stick_breaking.sticks import probabilities, sticks_of
from workbench.kernels.uniforms import (
    FOLD_IN,
    STATES,
    STATES_COVARIANCE,
    STATES_SYSTEM,
    STICK_WEIGHTS,
    STICKS,
)
from workbench.models.stick_breaking.dynamic_topics import EvolvingPrevalence, by_year


class State(NamedTuple):
    topics: np.ndarray  # (token,) uint16, in canonical order
    n_dk: np.ndarray  # (document, topic) int32, padded
    n_wk: np.ndarray  # (word, topic) int32, padded
    n_k: np.ndarray  # (topic,) int64, padded
    sticks: np.ndarray  # (document, stick) float64: psi_d
    states: np.ndarray  # (year, stick) float64: psi_t
    covariance: np.ndarray  # (stick, stick) float64: Sigma
    precision: np.ndarray  # (stick, stick) float64: its inverse
    system: np.ndarray  # (stick, stick + 1) float64: A, and b in the last column
    noise: np.ndarray  # (stick, stick) float64: Q
    noise_precision: np.ndarray  # (stick, stick) float64: its inverse


years_at = cached_by_corpus(years_of)


def arrays(corpus: Corpus, n_topics: int) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    n = n_topics - 1
    square = {
        name: Array((n, n)) for name in ("covariance", "precision", "noise", "noise_precision")
    }
    return (
        cgs.arrays(corpus, n_topics)
        | square
        | {
            "sticks": Array((corpus.n_documents, n)),
            "states": Array((years_at(corpus).n, n)),
            "system": Array((n, n + 1)),
        }
    )


def init(
    corpus: Corpus,
    model: EvolvingPrevalence,
    options: StartOptions,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: topics of `cgs` or of another run, and sticks of years and documents from topic shares."""
    state = State(**zeros(arrays(corpus, model.n_topics)))
    for array, start in zip(
        state, ordered_start(corpus, model, options, context, warm_start), strict=False
    ):
        array[:] = start
    state.states[:] = sticks_of(np.log(state.n_k[: model.n_topics] + sb_ctm.START_ALPHA))
    if model.documents == "shared":
        state.sticks[:] = state.states[years_at(corpus).of_documents]
    else:
        state.sticks[:] = sticks_of(np.log(state.n_dk[:, : model.n_topics] + sb_ctm.START_ALPHA))
    return with_system(corpus, model, state, context)


def with_system(
    corpus: Corpus, model: EvolvingPrevalence, state: State, context: StepContext
) -> State:
    """Return the state with Sigma, A, b and Q drawn anew given the sticks of documents and years."""
    states = state.states
    inputs = np.hstack([states[:-1], np.ones((len(states) - 1, 1))])
    posterior = mniw_posterior(np.ascontiguousarray(states[1:]), inputs, *model.system_prior)
    system, noise, noise_precision = draw_mniw(*posterior, context.key(STATES_SYSTEM))
    state = state._replace(system=system, noise=noise, noise_precision=noise_precision)
    rows = np.empty((0, states.shape[1]))
    if model.documents == "own":
        rows = state.sticks - states[years_at(corpus).of_documents]
    no_input = np.empty((len(rows), 0)), np.empty((states.shape[1], 0)), np.empty((0, 0))
    *_, nu, scale = mniw_posterior(rows, *no_input, *model.documents_prior)
    _, covariance, precision = draw_niw(
        np.zeros(states.shape[1]), 1.0, nu, scale, context.key(STATES_COVARIANCE)
    )
    return state._replace(covariance=covariance, precision=precision)


def step(
    corpus: Corpus,
    model: EvolvingPrevalence,
    options: StartOptions,
    state: State,
    context: StepContext,
) -> tuple[State, dict]:
    """Draw all tokens' topics, the sticks of documents and of years, and Sigma, A, b and Q."""
    n_moved, potentials = draw_documents(corpus, model, state, context)
    context.interrupt()
    mean, covariance = model.first_year
    A, b = np.ascontiguousarray(state.system[:, :-1]), np.ascontiguousarray(state.system[:, -1])
    first_precision = np.diag(1.0 / np.diag(covariance))
    state.states[:] = draw_states(
        *potentials, first_precision, mean, A, b, state.noise_precision, context.key(STATES)
    )
    if model.documents == "shared":
        state.sticks[:] = state.states[years_at(corpus).of_documents]
    state = with_system(corpus, model, state, context)
    return state, {"updates": corpus.n_tokens, "moved": n_moved / max(corpus.n_tokens, 1)}


def draw_documents(
    corpus: Corpus, model: EvolvingPrevalence, state: State, context: StepContext
) -> tuple[int, tuple[np.ndarray, np.ndarray]]:
    """Draw topics and documents' sticks; return how many tokens changed topic, and the years' Gaussian potentials."""
    years, draw_slices = (
        years_at(corpus),
        partial(draw_in_order, corpus, model, state, context, draw_topics),
    )
    if model.documents == "shared":
        n_moved = draw_slices(lambda first, last: None, 0)
        tokens = by_year(state.n_dk[:, : model.n_topics], years).astype(np.int64)
        return n_moved, shared_potentials(tokens, state.states, context.key(STICK_WEIGHTS))
    weighted = (state.precision[:, None] * state.states).sum(axis=2).T  # in one order, not by BLAS
    draw_own = partial(
        draw_sticks_of_groups,
        n_dk=state.n_dk,
        precision=state.precision,
        weighted=np.ascontiguousarray(weighted),
        group=years.of_documents,
        sticks=state.sticks,
        omega_key=context.key(STICK_WEIGHTS),
        stick_key=context.key(STICKS),
    )
    n_moved = draw_slices(draw_own, stick_work(model.n_topics))
    return n_moved, own_potentials(state.sticks, years.of_documents, state.precision, years.n)


def watch(corpus: Corpus, model: EvolvingPrevalence, options: StartOptions, state: State) -> dict:
    return {"n_k": state.n_k[: model.n_topics]}


def counts(corpus: Corpus, model: EvolvingPrevalence, options: StartOptions, state: State) -> dict:
    """Return sampled counts, topics of tokens, sticks, Sigma, and the linear system of the years, for a snapshot."""
    return cgs.counts(corpus, model, options, state) | {
        "psi": state.sticks,
        "psi_by_time": state.states,
        "psi_within": state.covariance,
        "system": state.system[:, :-1],
        "system_offset": state.system[:, -1],
        "system_noise": state.noise,
    }


class LearntPrevalence(NamedTuple):
    """The part of a fitted model of evolving prevalence that inference of unseen documents needs."""

    of_words: LearntTopics
    states: np.ndarray  # (year, stick)
    covariance: np.ndarray  # (stick, stick) Sigma, of documents around their year
    first: int  # first year
    shared: bool  # whether documents have the sticks of their year


def learnt_of(model: EvolvingPrevalence, last: Mapping, topics: LearntTopics) -> LearntPrevalence:
    """Return the learnt parameters of a run from the arrays of its last snapshot, by name."""
    states, covariance = (np.asarray(last[name]) for name in ("psi_by_time", "psi_within"))
    return LearntPrevalence(
        topics, states, covariance, int(np.asarray(last["time"])[0]), model.documents == "shared"
    )


def by_gibbs(
    parameters: LearntPrevalence, options: StartOptions, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta (document, topic): that of the year if its documents share it, else the mean over 50 Gibbs sweeps.

    The mean begins after 20 sweeps of burn-in. A document outside the years of the run takes the nearest year;
    a document without a year takes the last.
    """
    year = nearest_years(documents, parameters.first, len(parameters.states))
    if parameters.shared:
        return probabilities(parameters.states[year])
    phi, precision = word_probabilities(*parameters.of_words), np.linalg.inv(parameters.covariance)
    theta = np.empty((documents.n_documents, phi.shape[1]))
    weighted = (precision[:, None] * parameters.states).sum(axis=2).T

    def work(first: int, last: int):
        for d in range(first, last):
            sampled_theta(
                d,
                d + 1,
                documents.indptr,
                documents.words,
                documents.counts,
                documents.tokens_before,
                phi,
                precision,
                parameters.states[year[d]],
                np.ascontiguousarray(weighted[year[d]]),
                BURN_IN,
                KEPT,
                context.key(FOLD_IN),
                theta,
                context.first_document,
            )

    each_document(work, documents, phi.shape[1], context)
    return theta


def memory(corpus: Corpus, model: EvolvingPrevalence, options: StartOptions) -> Memory:
    """Forecast the memory of a run in bytes: topics, counts, sticks, and the joint draw of the states of all years."""
    n, n_years = model.n_topics - 1, years_at(corpus).n
    theta, sticks = corpus.n_documents * model.n_topics * DOUBLE, corpus.n_documents * n * DOUBLE
    states = 2 * n_years * (n + 1) ** 2 * DOUBLE
    step = max(states, 2 * sticks) + 8 * n * n * DOUBLE
    memory = Memory(
        size(arrays(corpus, model.n_topics)), corpus.n_documents * DOUBLE, step=step, look=2 * theta
    )
    return with_start(corpus, model.n_topics, memory)


def engine(name: str = "sb-ctm-lds") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#5e88ff",
        line="-",
        marker="P",
        title="Gibbs sampling of correlated topics whose prevalence follows a linear system",
        source="Linderman, Johnson & Adams (2015), sec. 3 and 5",
        when="Where documents have dates and topics come and go over the years, together or in turn, while their words stay "
        "the same.",
        model=EvolvingPrevalence,
        options=StartOptions,
        state=State,
        samples=lambda corpus, options: True,
        watches=("moved",),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=sb_ctm.predict,
        fold_in=by_gibbs,
        learnt=learnt_of,
        memory=memory,
    )
