"""Variational EM for logistic-normal topics.

Blei & Lafferty (2006), sec. 3 and appendix. q(psi_d) is normal with means lambda_d and variances nu_d^2, a component for each
topic, so that a number added to all components changes the prior alone (the authors' program holds the last one at 0). An
iteration fits each document, then mu, Sigma and phi::

    E-step   gamma_dwk ~ exp(lambda_dk) phi_kw,  lambda_d by Newton, nu_dk^2 by Newton, in turns   (`variational_em`)
    M-step   mu = mean_d lambda_d,  Sigma = mean_d [diag nu_d^2 + (lambda_d - mu)(lambda_d - mu)']
             phi_kw = (beta + n_kw) / (W beta + n_k),  n_kw = sum_d n_dw gamma_dwk

phi is the mode under a Dirichlet(beta + 1) prior, as with `topics=point` of `vb`: beta is what the counts are smoothed by, and
no word has probability 0. mu and Sigma are those of greatest likelihood and have no prior. The bound, one on
log p(words, phi | mu, Sigma), never falls. theta is its mean under q, over 100 fixed points.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    VARIATIONAL,
    Array,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    size,
    topic_counts,
    word_major_bytes,
    zeros,
)
from workbench.engines.lda.fold_in import mixture_probability, word_probabilities
from workbench.engines.lda.vb import log_point
from workbench.engines.stick_breaking import ln_ctm, sb_ctm
from workbench.engines.stick_breaking.fold_in import LearntCorrelations, learnt_of
from workbench.kernels.gaussian import inverse, log_determinant, niw_posterior_in_slices
from workbench.kernels.lda.document_vb import count_words
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.vectors import aligned_empty, aligned_zeros, padded
from workbench.kernels.stick_breaking.logistic_normal import expected_theta
from workbench.kernels.stick_breaking.variational_em import fit_documents
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.models.options import option
from workbench.models.stick_breaking.correlated_topics import LogisticNormalTopics


class State(NamedTuple):
    psi: np.ndarray  # (document, component) float64: lambda
    variance: np.ndarray  # (document, component) float64: nu^2
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray  # (topic,) float64, padded
    mean: np.ndarray  # (component,) float64: mu
    covariance: np.ndarray  # (component, component) float64: Sigma
    precision: np.ndarray  # (component, component) float64: its inverse
    entropy: float  # of the responsibilities behind the counts, nats


@dataclass(frozen=True)
class Options:
    start_sweeps: int = sb_ctm.start_sweeps_option(sb_ctm.OPTIMUM_SWEEPS)
    n_inner: int = option(
        20,
        "maximum number of passes over a document per iteration",
        low=1,
        whole=True,
        label="Inner passes",
    )
    inner_tolerance: float = option(
        1e-6,
        "a document has converged when a pass raises its bound by a smaller relative amount",
        low=0,
    )


class Fitted(NamedTuple):
    """Arrays that an E-step fills: q(psi) and counts of documents, weights and ratios of pairs, as in `fit_documents`."""

    psi: np.ndarray
    variance: np.ndarray
    mean_dk: np.ndarray
    weights: np.ndarray
    ratios: np.ndarray


def arrays(corpus: Corpus, n_topics: int) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    n, rows = n_topics, (corpus.n_documents, n_topics)
    return (
        {"psi": Array(rows), "variance": Array(rows)}
        | topic_counts("mean", corpus, n)
        | {
            "mean": Array((n,)),
            "covariance": Array((n, n)),
            "precision": Array((n, n)),
        }
    )


def init(
    corpus: Corpus,
    model: LogisticNormalTopics,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: counts of `cgs` or of another run, lambda from topic shares of documents, nu^2 = 1."""
    state = State(**zeros(arrays(corpus, model.n_topics)), entropy=math.nan)
    start = sb_ctm.initial_counts(corpus, model, options, context, warm_start)
    state.mean_dk[:], state.mean_wk[:], state.mean_k[:] = start.n_dk, start.n_wk, start.n_k
    state.psi[:] = ln_ctm.initial_components(start.n_dk[:, : model.n_topics])
    state.variance[:] = 1.0
    return with_gaussian(state, context)


def with_gaussian(state: State, context: StepContext) -> State:
    """Return the state with mu and Sigma set to their maximum-likelihood values given q."""
    n = len(state.mean)
    flat_prior = np.zeros(n), 0.0, 0.0, np.zeros((n, n))
    mean, _, _, scatter = niw_posterior_in_slices(
        state.psi, flat_prior, context.n_threads, context.interrupt
    )
    covariance = (scatter + np.diag(state.variance.sum(axis=0))) / len(state.psi)
    return state._replace(mean=mean, covariance=covariance, precision=inverse(covariance))


def step(
    corpus: Corpus,
    model: LogisticNormalTopics,
    options: Options,
    state: State,
    context: StepContext,
) -> tuple[State, dict]:
    """Make an EM iteration: fit q of each document, starting at its last value, then mu, Sigma and the topics."""
    n_topics, phi = model.n_topics, topics(corpus, model, state)
    fitted = Fitted(*state[:3], *workspace(corpus, n_topics))
    gaussian = state.mean, state.precision
    n_visited = fit(
        corpus, phi, gaussian, options.n_inner, options.inner_tolerance, fitted, context
    )
    # no pair went by its logs
    word_arguments = (
        fitted.weights,
        fitted.weights,
        phi,
        phi,
        n_topics,
        fitted.ratios,
        state.mean_wk,
    )

    slices = slice_bounds(corpus.by_word.indptr, n_topics)
    state.mean_k[:] = sum(
        each_slice(
            count_words,
            slices,
            context.n_threads,
            context.interrupt,
            *corpus.by_word,
            corpus.counts,
            *word_arguments,
        )
    )
    return with_gaussian(state._replace(entropy=entropy_of(corpus, fitted, phi, state)), context), {
        "updates": n_visited
    }


def topics(corpus: Corpus, model: LogisticNormalTopics, state: State) -> np.ndarray:
    """Return phi (word, topic) at its mode, padded by zeros."""
    live, phi = slice(model.n_topics), aligned_zeros(state.mean_wk.shape, np.float64)
    n_wk, n_k, beta = with_prior(model.word_prior, state.mean_wk, state.mean_k)
    phi[:, live] = (n_wk[:, live] + beta) / (n_k[live] + corpus.n_words * beta)
    return phi


def workspace(corpus: Corpus, n_topics: int) -> tuple[np.ndarray, np.ndarray]:
    """Allocate the weights and ratios of an E-step; see `fit_documents`."""
    return aligned_zeros((corpus.n_documents, padded(n_topics)), np.float64), aligned_empty(
        (corpus.n_pairs,), np.float64
    )


def fit(
    corpus: Corpus,
    phi: np.ndarray,
    gaussian,
    most_passes: int,
    tolerance: float,
    fitted: Fitted,
    context: StepContext,
) -> int:
    """Make an E-step: fit q of all documents in place, given mu and Sigma^-1; return the number of pairs visited."""
    mean, precision = gaussian
    arguments = (
        corpus.indptr,
        corpus.words,
        corpus.counts,
        phi,
        mean,
        precision,
        log_determinant(precision),
        most_passes,
        tolerance,
    )

    slices = sb_ctm.stick_slices(corpus.n_documents, len(mean))
    return sum(
        each_slice(fit_documents, slices, context.n_threads, context.interrupt, *arguments, *fitted)
    )


def entropy_of(corpus: Corpus, fitted: Fitted, phi: np.ndarray, state: State) -> float:
    """Return the entropy of the responsibilities in nats: sum n_dw gamma (log normaliser - log weight - log phi)."""
    live = slice(len(state.mean))
    logs = fitted.psi - fitted.psi.max(axis=1, keepdims=True)
    pair_term = (corpus.counts * np.log(corpus.counts / fitted.ratios)).sum()
    return float(
        pair_term
        - (fitted.mean_dk[:, live] * logs).sum()
        - (state.mean_wk[:, live] * np.log(phi[:, live])).sum()
    )


def watch(corpus: Corpus, model: LogisticNormalTopics, options: Options, state: State) -> dict:
    """Return the bound given the current q, mu, Sigma and phi (including log p(phi)), and the expected topic sizes."""
    live, (n_documents, n) = slice(model.n_topics), state.psi.shape
    off = state.psi - state.mean
    squares = ((off.T @ off + np.diag(state.variance.sum(axis=0))) * state.precision).sum()
    exponents = state.psi + 0.5 * state.variance
    top = exponents.max(axis=1)
    log_sums = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
    bound = 0.5 * (
        n_documents * (log_determinant(state.precision) + n)
        - squares
        + np.log(state.variance).sum()
    )
    bound += (state.mean_dk[:, live] * state.psi).sum() - corpus.document_tokens @ log_sums
    log_phi = np.log(topics(corpus, model, state)[:, live])
    bound += log_point(state.mean_wk[:, live], model.word_prior, log_phi) + state.entropy
    return {"bound": float(bound), "n_k": state.mean_k[live]}


def counts(corpus: Corpus, model: LogisticNormalTopics, options: Options, state: State) -> dict:
    """Return the expected counts, lambda and nu^2 of the documents, and mu and Sigma, for a snapshot."""
    live = slice(model.n_topics)
    return {
        "n_kw": state.mean_wk[:, live].T,
        "n_dk": state.mean_dk[:, live],
        "psi": state.psi,
        "psi_variance": state.variance,
        "psi_mean": state.mean,
        "psi_covariance": state.covariance,
    }


def predict(
    corpus: Corpus,
    model: LogisticNormalTopics,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of each held-out pair, with the mean of theta under q and phi at its mode."""
    live = slice(model.n_topics)
    return mixture_probability(
        expected_theta(state.psi, state.variance), topics(corpus, model, state)[:, live], pairs
    )


def fold_in(
    parameters: LearntCorrelations, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return E_q[theta] (document, topic) of unseen documents: an E-step that starts at mu, with the run's options."""
    n_topics, shape = len(parameters.mean), (documents.n_documents, len(parameters.mean))
    live, phi = slice(n_topics), aligned_zeros((documents.n_words, padded(n_topics)), np.float64)
    phi[:, live] = word_probabilities(*parameters.of_words)
    mean_dk = np.empty((documents.n_documents, n_topics))
    fitted = Fitted(
        np.tile(parameters.mean, (shape[0], 1)),
        np.ones(shape),
        mean_dk,
        *workspace(documents, n_topics),
    )
    fit(
        documents,
        phi,
        (parameters.mean, inverse(parameters.covariance)),
        options.n_inner,
        options.inner_tolerance,
        fitted,
        context,
    )
    return expected_theta(fitted.psi, fitted.variance)


def memory(corpus: Corpus, model: LogisticNormalTopics, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: q, counts and weights; no array is as large as n_documents × n_topics^2."""
    n, theta = model.n_topics, corpus.n_documents * model.n_topics * DOUBLE
    word_bytes = corpus.n_words * padded(n) * DOUBLE
    step = (
        corpus.n_documents * padded(n) * DOUBLE
        + corpus.n_pairs * DOUBLE
        + word_bytes
        + max(2 * theta, 2 * word_bytes)
    )
    look = max(theta, 3 * word_bytes)
    memory = Memory(
        size(arrays(corpus, n)), word_major_bytes(corpus), step=step + 8 * n**2 * DOUBLE, look=look
    )
    return sb_ctm.with_start(corpus, n, memory)


def engine(name: str = "ctm-em") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#e666b2",
        line="-.",
        marker="^",
        title="Variational EM for logistic-normal topics",
        source="Blei & Lafferty (2006), sec. 3",
        when="For correlated topics as they were first published, in few iterations; sb-ctm and ln-ctm predict better.",
        model=LogisticNormalTopics,
        options=Options,
        state=State,
        samples=lambda corpus, options: False,
        watches=("bound",),
        keeps=("psi_variance",),
        fixed=("prior", "topics"),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=fold_in,
        learnt=learnt_of,
        memory=memory,
    )
