"""Gibbs sampling of logistic-normal topics with Polya-gamma numbers, with the topics integrated out.

Chen, Zhu, Wang, Zheng & Zhang (2013), sec. 3, whose approximate Polya-gamma numbers are exact here. A sweep is::

    z_i      ~  theta_dt (n_wt + beta) / (n_t + W beta),  theta_d = softmax(psi_d)      token i removed from the counts
    omega    ~  PG(N_d, psi_dk - zeta_k),  zeta_k = log sum_{j != k} exp(psi_dj)      component after component, psi_dk at once
    psi_dk   ~  N(h / P, 1 / P),  P = Lambda_kk + omega,  Lambda = Sigma^-1,
                h = Lambda_kk mu_k - sum_{j != k} Lambda_kj (psi_dj - mu_j) + n_dk - N_d / 2 + omega zeta_k
    mu, Sigma ~ NIW given all psi_d

There are as many components as topics: what all components of a document share is known from the prior alone. omega is drawn
where it is used and not kept. Documents without a token draw from the prior.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    SAMPLER,
    Array,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    size,
    zeros,
)
from workbench.engines.lda import cgs
from workbench.engines.stick_breaking import sb_ctm
from workbench.engines.stick_breaking.fold_in import by_gibbs_of_components, learnt_of
from workbench.engines.stick_breaking.sb_ctm import draw_in_order
from workbench.kernels.gaussian import draw_niw, log_joint_of_rows, niw_posterior_in_slices
from workbench.kernels.lda.log_joint import log_topics
from workbench.kernels.stick_breaking.logistic_normal import (
    draw_components,
    draw_topics,
    padded_rows,
)
from workbench.kernels.uniforms import COMPONENTS, COMPONENTS_GAUSSIAN
from workbench.models.stick_breaking.correlated_topics import LogisticNormalTopics

COMPONENT_WORK = 64
"""Work of drawing one component of a document, in units of a topic of a pair."""


class State(NamedTuple):
    topics: np.ndarray  # (token,) uint16, in canonical order
    n_dk: np.ndarray  # (document, topic) int32, padded
    n_wk: np.ndarray  # (word, topic) int32, padded
    n_k: np.ndarray  # (topic,) int64, padded
    psi: np.ndarray  # (document, component) float64
    mean: np.ndarray  # (component,) float64: mu
    covariance: np.ndarray  # (component, component) float64: Sigma
    precision: np.ndarray  # (component, component) float64: its inverse, Lambda


def arrays(corpus: Corpus, n_topics: int) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    n = n_topics
    return cgs.arrays(corpus, n) | {
        "psi": Array((corpus.n_documents, n)),
        "mean": Array((n,)),
        "covariance": Array((n, n)),
        "precision": Array((n, n)),
    }


def init(
    corpus: Corpus,
    model: LogisticNormalTopics,
    options: sb_ctm.Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: topics of `cgs` or of another run, components from each document's topic shares."""
    state = State(**zeros(arrays(corpus, model.n_topics)))
    start = sb_ctm.initial_counts(corpus, model, options, context, warm_start)
    for name in ("topics", "n_dk", "n_wk", "n_k"):
        getattr(state, name)[...] = getattr(start, name)
    state.psi[:] = initial_components(start.n_dk[:, : model.n_topics])
    return with_gaussian(model, state, context)


def initial_components(n_dk: np.ndarray) -> np.ndarray:
    """Return components (document, component) with mean 0 whose softmax are the smoothed topic shares of documents."""
    logs = np.log(n_dk + sb_ctm.START_ALPHA)
    return logs - logs.mean(axis=1, keepdims=True)


def with_gaussian(model: LogisticNormalTopics, state: State, context: StepContext) -> State:
    """Return the state with mu and Sigma drawn anew given the components of all documents."""
    posterior = niw_posterior_in_slices(
        state.psi, model.components_prior, context.n_threads, context.interrupt
    )
    mean, covariance, precision = draw_niw(*posterior, context.key(COMPONENTS_GAUSSIAN))
    return state._replace(mean=mean, covariance=covariance, precision=precision)


def step(
    corpus: Corpus,
    model: LogisticNormalTopics,
    options: sb_ctm.Options,
    state: State,
    context: StepContext,
) -> tuple[State, dict]:
    """Draw all tokens' topics in canonical order, the components psi of each document, then mu and Sigma."""
    draw_own = partial(
        draw_components,
        n_dk=state.n_dk,
        precision=padded_rows(state.precision),
        mean=state.mean,
        psi=state.psi,
        key=context.key(COMPONENTS),
    )
    n_moved = draw_in_order(corpus, model, state, context, draw_topics, draw_own, COMPONENT_WORK)
    state = with_gaussian(model, state, context)
    return state, {"updates": corpus.n_tokens, "moved": n_moved / max(corpus.n_tokens, 1)}


def watch(
    corpus: Corpus, model: LogisticNormalTopics, options: sb_ctm.Options, state: State
) -> dict:
    """Return log p(w, z, psi, mu, Sigma) with phi integrated out, and the topic sizes."""
    n_topics = model.n_topics
    of_topics = (state.n_dk[:, :n_topics] * log_softmax(state.psi, axis=1)).sum()
    of_components = log_joint_of_rows(
        state.psi, state.mean, state.precision, *model.components_prior
    )
    return {
        "log_joint": float(
            log_topics(state.n_wk, state.n_k, model.beta, n_topics) + of_topics + of_components
        ),
        "n_k": state.n_k[:n_topics],
    }


def counts(
    corpus: Corpus, model: LogisticNormalTopics, options: sb_ctm.Options, state: State
) -> dict:
    """Return the sampled counts, components and topics of tokens, and mu and Sigma."""
    return cgs.counts(corpus, model, options, state) | {
        "psi": state.psi,
        "psi_mean": state.mean,
        "psi_covariance": state.covariance,
    }


def memory(corpus: Corpus, model: LogisticNormalTopics, options: sb_ctm.Options) -> Memory:
    """Forecast the memory of a run in bytes: topics, counts and psi; no array is as large as n_documents × n_topics^2."""
    theta = corpus.n_documents * model.n_topics * DOUBLE
    memory = Memory(
        size(arrays(corpus, model.n_topics)), step=4 * model.n_topics**2 * DOUBLE, look=theta
    )
    return sb_ctm.with_start(corpus, model.n_topics, memory)


def engine(name: str = "ln-ctm") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#bb33b2",
        line="--",
        marker="s",
        title="Gibbs sampling of logistic-normal topics",
        source="Chen, Zhu, Wang, Zheng & Zhang (2013), sec. 3; Blei & Lafferty (2006)",
        when="Where it matters which topics go together, and the order of the topics shall not: its iterations are quicker "
        "than those of sb-ctm, and it predicts a little worse on our corpora.",
        model=LogisticNormalTopics,
        options=sb_ctm.Options,
        state=State,
        samples=lambda corpus, options: True,
        watches=("log_joint", "moved"),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=sb_ctm.predict,
        fold_in=by_gibbs_of_components,
        learnt=learnt_of,
        memory=memory,
    )
