"""Gibbs sampling of multinomial Gaussian processes by stick-breaking and Polya-gamma augmentation.

Linderman, Johnson & Adams (2015), sec. 4. A sweep is, for each stick k of all documents m, N_mk = sum_{j>=k} x_mj::

    omega_mk ~ PG(N_mk, psi_mk)
    psi_k    ~ N(J^-1 h, J^-1) about mu_k,  J = Cov^-1 + diag(omega_k),  h = kappa_k - omega_k mu_k,  kappa_mk = x_mk - N_mk / 2

without an inverse of Cov (`kernels.stick_breaking.gaussian_process`). The covariance is of all documents, those without tokens
too: their psi is a draw of the prediction. `predict=conditional` takes it, given psi of the documents with tokens;
`predict=collapsed` another draw, given omega alone.

With `kernel=sampled` the logarithms of both lengths and of the scale are drawn by slice sampling given omega, psi integrated
out, before psi is: log-normal priors of median as the model gives them and of standard deviation 1 of the logarithm.

omega is drawn where it is used and not kept. Sticks are independent given the kernel and go side by side.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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
    Rows,
    average_option,
    cached_covariance,
    counts,
    covariance_of,
    in_corpus_order,
    initial_kernel,
    kernel_of,
    kernel_option,
    mean_share,
    predictions,
    process_bytes,
    rank_option,
    raw_targets,
    rows_of,
    take_in,
    tasks_of,
    watch,
)
from workbench.kernels.polya_gamma import polya_gammas
from workbench.kernels.stick_breaking.gaussian_process import (
    Kernel,
    log_normaliser,
    normals,
    posterior_draws,
    smoothed,
)
from workbench.kernels.stick_breaking.sticks import (
    dirichlet_moments,
    kappa,
    probabilities,
    remaining,
    sticks_of,
)
from workbench.kernels.threads import each_task, one_blas_thread
from workbench.kernels.uniforms import PROCESS_KERNEL, PROCESS_WEIGHTS, PROCESSES, uniform
from workbench.models.options import option
from workbench.models.stick_breaking.gaussian_process import GaussianProcess

BRACKET = 2.0
"""Initial width of the bracket in slice sampling of the logarithm of a hyperparameter."""
MOST_POINTS = 50
"""Maximum of points tried in a slice; afterwards the value stays."""


class State(NamedTuple):
    psi: np.ndarray  # (document, stick) float64
    mean: np.ndarray  # (stick,) float64: mu
    kernel: np.ndarray  # (4,) float64: lengths in time and space, scale, noise
    prediction: np.ndarray  # (document without tokens, stick) float64: drawn psi
    mean_probability: np.ndarray  # (document, word) float64: running mean of the draws
    # (document, word) float64: sum of squared deviations from the running mean
    squares: np.ndarray
    n_averaged: int


@dataclass(frozen=True)
class Options:
    kernel: str = kernel_option(sampled=True)
    rank: str = rank_option()
    predict: str = option(
        "collapsed",
        "documents without tokens are predicted given omega, or given psi of the others",
        choices=("collapsed", "conditional"),
        label="Prediction",
    )
    average_after: int = average_option(10)


def arrays(corpus: Corpus, model: GaussianProcess) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    n, table = corpus.n_words - 1, Array((corpus.n_documents, corpus.n_words))
    return {
        "psi": Array((corpus.n_documents, n)),
        "mean": Array((n,)),
        "kernel": Array((4,)),
        "prediction": Array((int((corpus.document_tokens == 0).sum()), n)),
        "mean_probability": table,
        "squares": table,
    }


def init(
    corpus: Corpus,
    model: GaussianProcess,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: kernel given or fitted to word shares, and psi by regression on smoothed word shares."""
    state, rows = State(**zeros(arrays(corpus, model)), n_averaged=0), rows_of(corpus, model)
    with one_blas_thread():
        hyper = initial_kernel(rows, model, options.kernel)
        prior = cached_covariance(corpus, model, hyper, options.rank)
        state.kernel[:], state.mean[:] = hyper, mean_of(rows, model)
        state.psi[:] = state.mean + smoothed(
            prior, rows.observed, raw_targets(rows) - state.mean, hyper.noise
        )
    state.prediction[:] = state.psi[rows.empty]
    state.mean_probability[:] = current(corpus, model, state)
    return state


def mean_of(rows: Rows, model: GaussianProcess) -> np.ndarray:
    """Return mu (stick,), the prior mean of the sticks."""
    if model.mean == "paper-code":
        return dirichlet_moments(np.full(rows.counts.shape[1], 2.0))[0]
    return sticks_of(np.log(mean_share(rows)))


def step(
    corpus: Corpus, model: GaussianProcess, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Draw omega of all sticks, then the kernel's hyperparameters if they are sampled, then psi of every stick."""
    rows, hyper = rows_of(corpus, model), kernel_of(state)
    omega, h = draw_weights(rows.counts, state.psi, state.mean, context)
    with one_blas_thread():
        if options.kernel == "sampled":
            hyper, prior = sampled_kernel(rows, model, options, hyper, omega, h, context)
            state.kernel[:] = hyper
        else:
            prior = cached_covariance(corpus, model, hyper, options.rank)
        draw_sticks(prior, omega, h, rows.empty, options.predict, state, context)
    context.interrupt()
    state = take_in(
        state,
        state.mean_probability,
        current(corpus, model, state),
        context.step,
        options.average_after,
    )
    return state, {"updates": omega.size}


def draw_weights(
    counts: np.ndarray, psi: np.ndarray, mean, context: StepContext
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the Polya-gamma variables omega given psi and counts in stick order; return omega and kappa - omega mu."""
    n_left, kappa_of_counts, shape = remaining(counts), kappa(counts), psi.T.shape
    omega, h = np.empty(shape), np.empty(shape)

    def work(k: int):
        omega[k] = polya_gammas(n_left[:, k], psi[:, k], context.key(PROCESS_WEIGHTS, k))
        h[k] = kappa_of_counts[:, k] - omega[k] * mean[k]

    each_task(tasks_of(len(omega), work), context.n_threads, context.interrupt)
    return omega, h


def draw_sticks(
    prior,
    omega: np.ndarray,
    h: np.ndarray,
    empty: np.ndarray,
    how: str,
    state: State,
    context: StepContext,
) -> None:
    """Draw psi of every stick given omega and h, and the predictions for documents without tokens, in place."""

    def work(k: int):
        noise = normals(
            context.key(PROCESSES, k), 0, (prior.n_noise, 1 if how == "conditional" else 2)
        )
        draws = state.mean[k] + posterior_draws(prior, omega[k], h[k], noise)
        state.psi[:, k], state.prediction[:, k] = draws[:, 0], draws[empty, -1]

    each_task(tasks_of(len(omega), work), context.n_threads, context.interrupt)


def sampled_kernel(
    rows: Rows,
    model: GaussianProcess,
    options: Options,
    hyper: Kernel,
    omega: np.ndarray,
    h: np.ndarray,
    context: StepContext,
) -> tuple:
    """Draw the kernel's hyperparameters given omega and h, with psi integrated out; return kernel and covariance.

    Neal (2003), "Slice sampling": a bracket of fixed width around the value that shrinks towards it.
    """

    def log_density(hyper):
        prior, normalisers = covariance_of(rows, hyper, options.rank), np.empty(len(omega))

        def work(k: int):
            normalisers[k] = log_normaliser(prior, omega[k], h[k])

        each_task(tasks_of(len(omega), work), context.n_threads, context.interrupt)
        off = np.log(np.array(hyper[:3]) / np.array(model.kernel[:3]))
        return float(normalisers.sum() - 0.5 * (off @ off)), prior

    logs, (log_p, prior) = np.log(hyper), log_density(hyper)
    is_used = (rows.inputs.time.shape[1] > 0, rows.inputs.space.shape[1] > 0, True)
    for i in np.flatnonzero(is_used):
        key, old_log = context.key(PROCESS_KERNEL, i), logs[i]
        floor = log_p + math.log(1.0 - uniform(key, 0))
        low = old_log - BRACKET * uniform(key, 1)
        high = low + BRACKET
        for trial in range(MOST_POINTS):
            logs[i] = low + (high - low) * uniform(key, 2 + trial)
            point = Kernel(*np.exp(logs).tolist())
            log_here, prior_here = log_density(point)
            if log_here > floor:
                hyper, log_p, prior = point, log_here, prior_here
                break
            low, high = (logs[i], high) if logs[i] < old_log else (low, logs[i])
        else:
            logs[i] = old_log
    return hyper, prior


def current(corpus: Corpus, model: GaussianProcess, state: State) -> np.ndarray:
    """Return the word probabilities (document, word) at the present draw; predictions for documents without tokens."""
    rows, psi = rows_of(corpus, model), state.psi.copy()
    psi[rows.empty] = state.prediction
    return in_corpus_order(rows, probabilities(psi))


def memory(corpus: Corpus, model: GaussianProcess, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: psi and probabilities, the counts, and the covariance of all documents."""
    table = corpus.n_documents * corpus.n_words * DOUBLE
    return Memory(
        size(arrays(corpus, model)),
        table + process_bytes(corpus, options.rank),
        step=6 * table,
        look=3 * table,
    )


def engine(name: str = "sbm-gp") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#b28880",
        line="-",
        marker="o",
        title="Gibbs sampling of multinomial Gaussian processes by stick-breaking",
        source="Linderman, Johnson & Adams (2015), sec. 4",
        when="For counts of years and places that vary smoothly, as first names by state: take it to predict years or places "
        "without counts.",
        model=GaussianProcess,
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
    )
