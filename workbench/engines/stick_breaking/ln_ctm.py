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

import numpy as np
from scipy.special import log_softmax

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    SAMPLER,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    size,
    zeros,
)
from workbench.engines.stick_breaking import sb_ctm
from workbench.engines.stick_breaking.fold_in import by_gibbs_of_components, learnt_of
from workbench.engines.stick_breaking.sb_ctm import draw_in_order
from workbench.kernels.stick_breaking.logistic_normal import (
    draw_components,
    draw_topics,
    padded_rows,
)
from workbench.kernels.uniforms import COMPONENTS, COMPONENTS_GAUSSIAN
from workbench.models.stick_breaking.correlated_topics import LogisticNormalTopics

COMPONENT_WORK = 64
"""Work of drawing one component of a document, in units of a topic of a pair."""


def init(
    corpus: Corpus,
    model: LogisticNormalTopics,
    options: sb_ctm.StartOptions,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> sb_ctm.State:
    """Return the initial state: topics of `cgs` or of another run, components from each document's topic shares."""
    state = sb_ctm.State(**zeros(sb_ctm.arrays(corpus, model.n_topics, model.n_topics)))
    start = sb_ctm.initial_counts(corpus, model, options, context, warm_start)
    for name in ("topics", "n_dk", "n_wk", "n_k"):
        getattr(state, name)[...] = getattr(start, name)
    state.psi[:] = initial_components(start.n_dk[:, : model.n_topics])
    return sb_ctm.with_gaussian(model, state, context, COMPONENTS_GAUSSIAN)


def initial_components(n_dk: np.ndarray) -> np.ndarray:
    """Return components (document, component) with mean 0 whose softmax are the smoothed topic shares of documents."""
    logs = np.log(n_dk + sb_ctm.START_ALPHA)
    return logs - logs.mean(axis=1, keepdims=True)


def step(
    corpus: Corpus,
    model: LogisticNormalTopics,
    options: sb_ctm.StartOptions,
    state: sb_ctm.State,
    context: StepContext,
) -> tuple[sb_ctm.State, dict]:
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
    state = sb_ctm.with_gaussian(model, state, context, COMPONENTS_GAUSSIAN)
    return state, {"updates": corpus.n_tokens, "moved": n_moved / max(corpus.n_tokens, 1)}


def memory(corpus: Corpus, model: LogisticNormalTopics, options: sb_ctm.StartOptions) -> Memory:
    """Forecast the memory of a run in bytes: topics, counts and psi; no array is as large as n_documents × n_topics^2."""
    theta = corpus.n_documents * model.n_topics * DOUBLE
    memory = Memory(
        size(sb_ctm.arrays(corpus, model.n_topics, model.n_topics)),
        step=4 * model.n_topics**2 * DOUBLE,
        look=theta,
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
        options=sb_ctm.StartOptions,
        fixed=("topics",),
        state=sb_ctm.State,
        samples=lambda corpus, options: True,
        watches=("log_joint", "moved"),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=partial(sb_ctm.watch, log_theta=partial(log_softmax, axis=1)),
        counts=sb_ctm.counts,
        predict=sb_ctm.predict,
        fold_in=by_gibbs_of_components,
        learnt=learnt_of,
        memory=memory,
    )
