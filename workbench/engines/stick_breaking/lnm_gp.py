"""Elliptical slice sampling of logistic-normal Gaussian processes.

Linderman, Johnson & Adams (2015), sec. 4, the baseline; Murray, Adams & MacKay (2010). A sweep is, for each word k in turn,
x_m ~ Mult(N_m, softmax(psi_m))::

    nu ~ N(0, Cov);   psi_k - mu_k  ~  the ellipse of psi_k - mu_k and nu, within a slice of the likelihood

The covariance is of all documents: psi of those without tokens moves with the others, and is a draw of the prediction given
them. The kernel is that of the sticks, fitted to the raw process (`sbm_gp`). The columns are drawn one after another.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

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
from workbench.engines.stick_breaking.rows import (
    SMOOTHING,
    average_option,
    cached_covariance,
    counts,
    in_corpus_order,
    initial_kernel,
    kernel_of,
    kernel_option,
    mean_share,
    predictions,
    process_bytes,
    rank_option,
    rows_of,
    smoothed_shares,
    take_in,
    watch,
)
from workbench.kernels.stick_breaking.gaussian_process import normals, prior_draws, smoothed
from workbench.kernels.stick_breaking.logistic_normal import draw_columns
from workbench.kernels.threads import one_blas_thread
from workbench.kernels.uniforms import PROCESS_SLICES, PROCESSES
from workbench.models.stick_breaking.gaussian_process import LogisticNormalProcess


class State(NamedTuple):
    psi: np.ndarray  # (document, word) float64
    mean: np.ndarray  # (word,) float64: mu
    kernel: np.ndarray  # (4,) float64: lengths in time and space, scale, noise
    mean_probability: np.ndarray  # (document, word) float64: running mean of the draws
    # (document, word) float64: sum of squared deviations from the running mean
    squares: np.ndarray
    n_averaged: int


@dataclass(frozen=True)
class Options:
    kernel: str = kernel_option()
    rank: str = rank_option()
    average_after: int = average_option(100)


def arrays(corpus: Corpus) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    table = Array((corpus.n_documents, corpus.n_words))
    return {
        "psi": table,
        "mean": Array((corpus.n_words,)),
        "kernel": Array((4,)),
        "mean_probability": table,
        "squares": table,
    }


def init(
    corpus: Corpus,
    model: LogisticNormalProcess,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: kernel given or fitted to raw word shares; psi by regression of log word shares."""
    state, rows = State(**zeros(arrays(corpus)), n_averaged=0), rows_of(corpus, model)
    state.mean[:] = 0.0 if model.mean == "paper-code" else np.log(mean_share(rows))
    targets = np.log(smoothed_shares(rows.counts[rows.observed], SMOOTHING)) - state.mean
    with one_blas_thread():
        hyper = initial_kernel(rows, model, options.kernel)
        prior = cached_covariance(corpus, model, hyper, options.rank)
        state.kernel[:], state.psi[:] = (
            hyper,
            state.mean + smoothed(prior, rows.observed, targets, hyper.noise),
        )
    state.mean_probability[:] = current(corpus, model, state)
    return state


def step(
    corpus: Corpus,
    model: LogisticNormalProcess,
    options: Options,
    state: State,
    context: StepContext,
) -> tuple[State, dict]:
    """Draw psi by elliptical slice sampling, one word (column) after the other."""
    rows = rows_of(corpus, model)
    with one_blas_thread():
        prior = cached_covariance(corpus, model, kernel_of(state), options.rank)
        noise = normals(context.key(PROCESSES), 0, (prior.n_noise, corpus.n_words))
        context.interrupt()
        draws = prior_draws(prior, noise)
    psi, word_counts = (
        np.ascontiguousarray(state.psi.T),
        np.ascontiguousarray(rows.counts.T, dtype=float),
    )
    n = rows.counts.sum(axis=1).astype(float)
    context.interrupt()
    n_proposals = draw_columns(
        rows.observed,
        word_counts,
        n,
        state.mean,
        np.ascontiguousarray(draws.T),
        psi,
        context.key(PROCESS_SLICES),
    )
    state.psi[:] = psi.T
    state = take_in(
        state,
        state.mean_probability,
        current(corpus, model, state),
        context.step,
        options.average_after,
    )
    return state, {"updates": n_proposals * corpus.n_documents}


def current(corpus: Corpus, model: LogisticNormalProcess, state: State) -> np.ndarray:
    """Return the word probabilities (document, word) at the present draw of psi."""
    return in_corpus_order(rows_of(corpus, model), softmax(state.psi, axis=1))


def memory(corpus: Corpus, model: LogisticNormalProcess, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: psi and probabilities, the counts, and the covariance of all documents."""
    table = corpus.n_documents * corpus.n_words * DOUBLE
    return Memory(
        size(arrays(corpus)),
        table + process_bytes(corpus, options.rank),
        step=7 * table,
        look=3 * table,
    )


def engine(name: str = "lnm-gp") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#3c5eff",
        line="--",
        marker="s",
        title="Elliptical slice sampling of logistic-normal Gaussian processes",
        source="Murray, Adams & MacKay (2010); Linderman, Johnson & Adams (2015), sec. 4",
        when="For the data of sbm-gp with logistic-normal shares: a sweep is cheaper, and many more are needed for the same "
        "prediction.",
        model=LogisticNormalProcess,
        options=Options,
        state=State,
        samples=lambda corpus, options: True,
        watches=(),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        **predictions(current),
        fold_in=None,
        memory=memory,
        idle=lambda options: "the columns of logistic-normal processes are drawn one after another",
    )
