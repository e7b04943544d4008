"""Variational Bayes for LDA, the EM form.

Blei, Ng & Jordan (2003), sec. 5.2-5.4; Collin & Martin's study of CVB, algorithm 1. q(theta_d) is
Dirichlet(alpha + n_dk), q(phi_k) is Dirichlet(beta + n_wk), and gamma is shared by the copies of a word
in a document. Each iteration fits every document to the topics as they stand, then the topics to the
documents::

    E-step   gamma_dwk  ~  exp{ psi(alpha_k + n_dk) + E[log phi_kw] },   n_dk = sum_w n_dw gamma_dwk,   repeated
    M-step   n_wk = sum_d n_dw gamma_dwk

The bound (spec A3, A4) never falls when documents continue from their last position; with `restart_documents`
they begin at N_d / K again in every iteration, which often predicts better and guarantees nothing.
With `topics=point` the topics are the point phi_kw = (beta + n_wk) / (W beta + n_k), the mode under a
Dirichlet(beta + 1) prior, and the bound is one on log p(words, phi).
"""

import math
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    VARIATIONAL,
    Engine,
    Meeting,
    Memory,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    over_parts,
    size,
    topic_counts,
    word_major_bytes,
    zeros,
)
from workbench.engines.lda.fold_in import by_variational_bayes
from workbench.engines.lda.hyperparameters import dirichlet, learn, learning, retune, watched
from workbench.engines.lda.likelihoods import Dirichlet
from workbench.engines.lda.responsibilities import (
    Entropy,
    Start,
    initialise,
    new_workspace,
    warms_up,
    weigh_topics,
    words_of_parts,
    workspace_for,
)
from workbench.engines.lda.split import none_sampled
from workbench.engines.lda.svb import (
    COUNTS,
    counts,
    in_parallel,
    predict,
    sufficient_statistics,
    update_in_parallel,
)
from workbench.kernels.lda.document_vb import count_words, fit_documents
from workbench.kernels.lda.log_joint import log_documents, log_joint_from
from workbench.kernels.lda.standard_vb import NOTHING_SAMPLED
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.vectors import pad_topics
from workbench.kernels.threads import each_slice
from workbench.models import LDA
from workbench.models.options import option


class State(NamedTuple):
    mean_dk: Rows  # (document, topic) float64, padded: q(theta) is Dirichlet(alpha + mean_dk)
    mean_wk: np.ndarray  # (word, topic) float64, padded: q(phi) is Dirichlet(beta + mean_wk)
    mean_k: np.ndarray  # (topic,) float64, padded
    entropy: float | Entropy  # of the responsibilities behind the counts, nats
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    # prior of each word in a topic, as learnt; (word, topic), padded, where it differs from cell to cell
    beta: float | np.ndarray


@dataclass(frozen=True)
class OwnOptions(Start):
    n_inner: int = option(
        20,
        "maximum number of passes over a document per iteration",
        low=1,
        whole=True,
        label="Inner passes",
    )
    inner_tolerance: float = option(
        1e-3, "a document has converged when its counts change by less (mean over topics)", low=0
    )
    restart_documents: bool = option(False, "restart each document at N_d / K in every iteration")
    topics: str = option(
        "full",
        "full = a Dirichlet posterior of each topic; point = its mode",
        choices=("full", "point"),
        label="Posterior of topics",
    )


@learning
class Options(OwnOptions):
    """Options of the engine, and of learning its priors."""


@over_parts
def init(
    corpus: Corpus,
    model: LDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the initial state: random topics and equal topic shares in documents, or both from another run's counts."""
    state = State(
        **zeros(topic_counts("mean", corpus, model.n_topics)),
        entropy=math.nan,
        alpha=model.alphas,
        beta=model.word_prior,
    )
    none_kept = np.zeros((0, len(state.mean_k)))
    initialise(
        corpus,
        model,
        options,
        none_sampled(corpus).sampled,
        context,
        warm_start,
        none_kept,
        *state[:3],
    )
    if warm_start is None:
        spread_evenly(corpus, state)
    return (yield Meeting(state, arrays_of(state, *COUNTS)))[0]


def spread_evenly(corpus: Corpus, state: State) -> None:
    """Set the expected counts of every document to N_d / K tokens of each topic, in place."""
    n_topics = len(state.alpha)
    state.mean_dk[:, :n_topics] = corpus.document_tokens[:, None] / n_topics


@over_parts
def step(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> Generator:
    """Fit the documents to the topics, then the topics to the documents; then update the priors if due.

    The result does not depend on the number of threads.
    """
    smooth = warms_up(options, none_sampled(corpus), context)
    if options.restart_documents and not smooth:
        spread_evenly(corpus, state)
    entropy, n_visited = fit(corpus, options, state, context, smooth)
    # what it is computed from does not outlast the work on a part
    state = state._replace(entropy=float(entropy) if context.in_part else entropy)
    sums = {"updates": n_visited} | arrays_of(state, *COUNTS, "entropy")
    state, diagnostics = yield from learn(
        corpus,
        options,
        state,
        context,
        False,
        sufficient_statistics,
        sums,
        lambda state: partial(likelihood, options, state),
    )
    return state, {"updates": diagnostics["updates"]}


def fit(
    corpus: Corpus, options: Options, state: State, context: StepContext, smooth: bool = False
) -> tuple[Entropy, int]:
    """Fit each document until convergence (E-step), then the topics (M-step); return the entropy and the pairs visited.

    smooth : whether the step is one of the warm-up, in which each document is visited once
    """
    point = options.topics == "point" or smooth
    if options.n_inner == 1 or smooth:  # documents and topics in one visit
        return update_in_parallel(
            corpus, none_sampled(corpus), state, NOTHING_SAMPLED, context, point, smooth
        ), corpus.n_pairs
    mean_dk, mean_wk, mean_k = mean = state[:3]

    def make():
        word_factors = words_of_parts(state, NOTHING_SAMPLED, point, context)
        return new_workspace(corpus, len(mean_k), word_factors)

    workspace = workspace_for(state.entropy, tuple, make)
    documents, topics, ratios = workspace.document_factors, workspace.word_factors, workspace.ratios
    alpha, n_topics = pad_topics(state.alpha, 1.0), len(state.alpha)

    weigh_topics(state, NOTHING_SAMPLED, point, workspace, context)
    n_visited = each_slice(
        fit_documents,
        workspace.order[0],
        context.n_threads,
        context.interrupt,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        alpha,
        *topics,
        n_topics,
        options.n_inner,
        options.inner_tolerance,
        mean_dk,
        *documents,
        ratios,
    )
    mean_k[:] = sum(
        each_slice(
            count_words,
            workspace.order[1],
            context.n_threads,
            context.interrupt,
            *corpus.by_word,
            corpus.counts,
            *documents,
            *topics,
            n_topics,
            ratios,
            mean_wk,
        )
    )
    return Entropy(corpus, mean, workspace, n_topics), sum(n_visited)


@over_parts
def watch(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext | None = None
) -> Generator:
    n_topics = len(state.alpha)
    documents = log_documents(state.mean_dk, pad_topics(state.alpha), n_topics)
    state, sums = yield Meeting(state, {"documents": documents})
    if options.topics == "full":
        joint = log_joint_from(sums["documents"], state.mean_wk, state.mean_k, state.beta, n_topics)
    else:
        joint = sums["documents"] + log_point(
            state.mean_wk[:, :n_topics], state.beta, log_modes(state)
        )
    return {"bound": joint + float(state.entropy), "n_k": state.mean_k[:n_topics]} | watched(
        options, state
    )


def log_point(n_wk: np.ndarray, beta: float | np.ndarray, log_phi: np.ndarray) -> float:
    """Return sum_kw n_wk log phi_kw + sum_k log Dirichlet(phi_k; beta + 1, …) at the mode of phi, nats.

    n_wk, log_phi : (word, topic), without padding; beta : a number, or (word, topic), padded
    """
    if np.ndim(beta):
        beta = beta[:, : n_wk.shape[1]]
        normalisers = gammaln((beta + 1.0).sum(axis=0)) - gammaln(beta + 1.0).sum(axis=0)
        return float(np.sum((n_wk + beta) * log_phi) + normalisers.sum())
    (n_words, n_topics), prior = n_wk.shape, beta + 1.0
    normaliser = math.lgamma(n_words * prior) - n_words * math.lgamma(prior)
    return float(np.sum((n_wk + beta) * log_phi)) + n_topics * normaliser


def log_modes(state: State) -> np.ndarray:
    """Return log phi (word, topic) at the posterior mode of phi."""
    live = slice(len(state.alpha))
    n_wk, n_k, beta = with_prior(state.beta, state.mean_wk, state.mean_k)
    return np.log((beta + n_wk[:, live]) / (len(n_wk) * beta + n_k[live]))


def likelihood(options: Options, state: State, corpus: Corpus, statistics, prior) -> Dirichlet:
    """Return the part of the bound that depends on one prior, as a function of it; q(theta) and q(phi) (or phi) are fixed."""
    if prior.name == "beta" and options.topics == "point":
        return Dirichlet(
            prior.n_topics, log_modes(state).sum(keepdims=True)[0], prior.copies, shift=1.0
        )
    return dirichlet(corpus, state.alpha, statistics, prior)


def memory(corpus: Corpus, model: LDA, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: counts, weights and ratios of pairs, and arrays of the bound."""
    arrays = topic_counts("mean", corpus, model.n_topics)
    state, word_bytes = size(arrays), size({"mean_wk": arrays["mean_wk"]})
    forecast = in_parallel(corpus, state, corpus.n_pairs)
    if options.n_inner > 1:
        forecast = Memory(
            state, word_major_bytes(corpus) + state + corpus.n_pairs * DOUBLE, step=state
        )
    return forecast._replace(look=0 if options.topics == "full" else 3 * word_bytes)


def engine(name: str = "vb") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#966848",
        line="--",
        marker="X",
        order=2,
        title="Variational Bayes, EM form",
        source="Blei, Ng & Jordan (2003), sec. 5; Welling, Teh & Kappen (2008), eq. 3-5",
        when="The classical method, whose bound never falls after the warm-up: for published results to be repeated, with "
        "init=dirichlet; cvb0 and cgs predict better.",
        model=LDA,
        options=Options,
        state=State,
        samples=lambda corpus, options: False,
        watches=("bound",),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_variational_bayes,
        memory=memory,
    )
