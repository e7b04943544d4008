"""Gibbs sampling of a Gaussian linear dynamical system of the shares of words: the baseline of the paper.

Linderman, Johnson & Adams (2015), sec. 5, "raw LDS". With y_t = x_t / N_t - m, a sweep is::

    R    ~  IW(nu_n, S_n),  C | R  ~  matrix normal of mean M_n, given the pairs (z_t, y_t) of documents with tokens
    A, B ~  as in `sbm_lds`;   z  ~  given its potentials J_t = C'R^-1 C, h_t = C'R^-1 y_t

The model has no probabilities of words. `probabilities=clip` takes the mean of the forecast of y_t + m, at least 1e-8, made to
add up to one; `argmax`, as the authors' program has it, how often a word has the largest share among simulated shares, clipped
likewise. Forecasts are given what came before all held-out words, and none of these; documents with training tokens have the
mean given their state, whichever is chosen. The program's noise of 1e-3 on y has no use, and is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from workbench.corpus import Corpus
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
from workbench.engines.stick_breaking import sbm_lds
from workbench.engines.stick_breaking.rows import sequences_of, take_in
from workbench.engines.stick_breaking.sbm_lds import (
    counts,
    draw_dynamics,
    draw_sequences,
    start_dynamics,
)
from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.gaussian_process import normals
from workbench.kernels.stick_breaking.linear_dynamical import draw_last, draw_onward, upper_root
from workbench.kernels.threads import each_task, one_blas_thread
from workbench.kernels.uniforms import (
    SYSTEM_LOADINGS,
    SYSTEM_PARTICLES,
    absorb,
    gamma,
    normal,
    stream_of,
)
from workbench.models.options import option
from workbench.models.stick_breaking.linear_dynamical import GaussianDynamicalSystem

SMALLEST = 1e-8
"""Smallest probability of a word, before normalisation."""


class State(NamedTuple):
    states: np.ndarray  # (document, state_dim) float64: z
    loadings: np.ndarray  # (word, state_dim) float64: C
    root: np.ndarray  # (word, word) float64: L, lower triangular
    bartlett: np.ndarray  # (word, word) float64: T, lower triangular; R = (L T^-T)(L T^-T)'
    system: np.ndarray  # (state_dim, state_dim) float64: A
    noise: np.ndarray  # (state_dim, state_dim) float64: B
    noise_precision: np.ndarray  # (state_dim, state_dim) float64: its inverse
    last_root: np.ndarray  # (sequence, state_dim, state_dim) float64: as in `sbm_lds`
    last: np.ndarray  # (sequence, state_dim) float64
    mean_states: np.ndarray  # (document, state_dim) float64: running mean of the draws
    # (document, state_dim) float64: sum of squared deviations from the running mean
    squares: np.ndarray
    n_averaged: int


@dataclass(frozen=True)
class Options:
    probabilities: str = option(
        "clip",
        "predicted probabilities: mean of the forecast, or how often a word has the largest share; both clipped",
        choices=("clip", "argmax"),
    )
    n_draws: int = option(
        100,
        "simulated shares per forecast, where probabilities=argmax",
        low=1,
        high=100_000,
        whole=True,
        label="Draws",
    )
    average_after: int = option(
        10,
        "iterations before averaging of the states begins",
        low=0,
        whole=True,
        label="Average after iteration",
    )


class Shares(NamedTuple):
    """Word shares x / N of the documents with tokens, centred at the word frequencies m of the corpus."""

    documents: np.ndarray  # (observed,) int64: documents with tokens
    centre: np.ndarray  # (word,) m
    y: np.ndarray  # (observed, word): x / N - m
    products: np.ndarray  # (word, word) y'y


@cached_by_corpus
def shares_of(corpus: Corpus) -> Shares:
    """Return the word shares of the documents with tokens, centred at the word frequencies of the corpus."""
    documents = np.flatnonzero(corpus.document_tokens)
    y = np.zeros((corpus.n_documents, corpus.n_words))
    y[corpus.documents, corpus.words] = corpus.counts / corpus.document_tokens[corpus.documents]
    centre = np.bincount(corpus.words, corpus.counts, corpus.n_words) / corpus.n_tokens
    y = y[documents] - centre
    with one_blas_thread():
        return Shares(documents, centre, y, y.T @ y)


def arrays(corpus: Corpus, model: GaussianDynamicalSystem) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    square = Array((corpus.n_words, corpus.n_words))
    emission_arrays = {
        "loadings": Array((corpus.n_words, model.state_dim)),
        "root": square,
        "bartlett": square,
    }
    return sbm_lds.arrays(corpus, model) | emission_arrays


def init(
    corpus: Corpus,
    model: GaussianDynamicalSystem,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: states drawn from the prior with A = I / 2, then C and R drawn given the states."""
    state = State(**zeros(arrays(corpus, model)), n_averaged=0)
    sequences, n = sequences_of(corpus), model.state_dim
    start_dynamics(state)
    no_potentials = np.zeros((corpus.n_documents, n, n)), np.zeros((corpus.n_documents, n))
    draw_sequences(sequences, model, state, *no_potentials, context)
    with one_blas_thread():
        draw_emission(corpus, state, context)
    return state


def step(
    corpus: Corpus,
    model: GaussianDynamicalSystem,
    options: Options,
    state: State,
    context: StepContext,
) -> tuple[State, dict]:
    """Draw R and C, A and B, and then the states of every sequence."""
    sequences, shares = sequences_of(corpus), shares_of(corpus)
    context.interrupt()
    with one_blas_thread():
        draw_emission(corpus, state, context)
        precision, h = potentials(corpus, state)
    context.interrupt()
    draw_dynamics(sequences, sequences.pairs, model, state, context)
    draw_sequences(sequences, model, state, precision, h, context)
    return take_in(state, state.mean_states, state.states, context.step, options.average_after), {
        "updates": len(shares.documents)
    }


def emission_posterior(
    corpus: Corpus, states: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """Return the posterior (mean, precision, nu, scale) of C and R given the states (document, state_dim)."""
    shares, n_words = shares_of(corpus), corpus.n_words
    z = states[shares.documents]
    precision = n_words * np.eye(z.shape[1]) + z.T @ z
    mean = np.linalg.solve(precision, z.T @ shares.y).T
    scale = n_words * np.eye(n_words) + shares.products - mean @ precision @ mean.T
    return mean, precision, n_words + 1.0 + len(z), 0.5 * (scale + scale.T)


def draw_emission(corpus: Corpus, state: State, context: StepContext) -> None:
    """Draw R (as L and T of Bartlett's decomposition), then C, given the hidden states, in place."""
    mean, precision, nu, scale = emission_posterior(corpus, state.states)
    state.root[:] = np.linalg.cholesky(scale)
    draw_bartlett(nu, context.key(SYSTEM_LOADINGS), state.bartlett)
    noise = normals(context.key(SYSTEM_LOADINGS, 1), 0, mean.shape)
    # Z L_K^-1
    column_noise = solve_triangular(np.linalg.cholesky(precision), noise.T, lower=True, trans="T").T
    state.loadings[:] = mean + with_covariance(state, column_noise)


def with_covariance(state: State, noise: np.ndarray) -> np.ndarray:
    """Return draws (word, draw) of N(0, R), from standard normal ``noise`` (word, draw)."""
    return state.root @ solve_triangular(state.bartlett, noise, lower=True, trans="T")


@kernel
def draw_bartlett(nu, key, lower):
    """Draw the lower triangular T of Bartlett's decomposition in place: T_ii^2 ~ chi^2(nu - i), T_ij ~ N(0, 1)."""
    for i in range(len(lower)):
        stream, half = gamma(stream_of(key, i), 0.5 * (nu - i))
        lower[i, i] = np.sqrt(2.0 * half)
        for j in range(i):
            stream, lower[i, j] = normal(stream)


def potentials(corpus: Corpus, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Return the states' Gaussian potentials J_t (row, state_dim, state_dim), h_t (row, state_dim); 0 without tokens."""
    shares, sequences = shares_of(corpus), sequences_of(corpus)
    # R^-1 = (T'L^-1)'(T'L^-1)
    white = state.bartlett.T @ solve_triangular(state.root, state.loadings, lower=True)
    weighted = solve_triangular(state.root, state.bartlett @ white, lower=True, trans="T")
    precision, h = (
        np.zeros((corpus.n_documents, *white.shape[1:] * 2)),
        np.zeros((corpus.n_documents, white.shape[1])),
    )
    precision[shares.documents], h[shares.documents] = white.T @ white, shares.y @ weighted
    return precision[sequences.documents], h[sequences.documents]


def clip_shares(shares: np.ndarray) -> np.ndarray:
    """Clip shares (row, word) to at least 1e-8 and normalise them."""
    shares = np.maximum(shares, SMALLEST)
    return shares / shares.sum(axis=1, keepdims=True)


def predict(
    corpus: Corpus,
    model: GaussianDynamicalSystem,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w) (pair,): C z + m at the drawn states, or after a sequence's last training tokens a forecast."""
    sequences, centre = sequences_of(corpus), shares_of(corpus).centre
    key = np.uint64(0) if context is None else context.key(SYSTEM_PARTICLES)
    row, probability = sequences.rows[pairs.documents], np.empty(pairs.n_pairs)
    row_states, root = state.states[sequences.documents], upper_root(state.noise)

    def predict_sequence(s: int, interrupt: Callable[[], None]):
        interrupt()
        first, end, last = sequences.indptr[s], sequences.ends[s], sequences.indptr[s + 1]
        fitted_pairs = np.flatnonzero((row >= first) & (row < end))
        row_numbers, positions = np.unique(row[fitted_pairs], return_inverse=True)
        for chunk_begin in range(0, len(row_numbers), 1000):
            p = clip_shares(
                row_states[row_numbers[chunk_begin : chunk_begin + 1000]] @ state.loadings.T
                + centre
            )
            chunk = fitted_pairs[(positions >= chunk_begin) & (positions < chunk_begin + 1000)]
            probability[chunk] = p[
                np.searchsorted(row_numbers, row[chunk]) - chunk_begin, pairs.words[chunk]
            ]
        forecast_pairs = np.flatnonzero((row >= end) & (row < last))
        if len(forecast_pairs):
            p = forecast(s, last - end, end > first)
            probability[forecast_pairs] = p[row[forecast_pairs] - end, pairs.words[forecast_pairs]]

    def forecast(s: int, n_rows: int, has_training):
        """Return forecast word probabilities (row, word) after the last training tokens of sequence ``s``."""
        sequence_key = np.uint64(absorb(key, sequences.keys[s]))
        if options.probabilities == "clip":
            means, mean = [], np.linalg.solve(state.last_root[s], state.last[s])
            for t in range(n_rows):
                mean = state.system @ mean if has_training or t else mean
                means.append(mean)
            return clip_shares(np.array(means) @ state.loadings.T + centre)
        begin, paths = (
            np.empty((options.n_draws, model.state_dim)),
            np.empty((n_rows + 1, model.state_dim)),
        )
        draw_last(state.last_root[s], state.last[s], np.uint64(absorb(sequence_key, 1)), begin)
        largest = np.zeros((n_rows, len(centre)))
        path_key, noise_key = np.uint64(absorb(sequence_key, 2)), np.uint64(absorb(sequence_key, 3))
        for i in range(options.n_draws):
            paths[0 if has_training else 1] = begin[i]
            draw_onward(
                paths[0 if has_training else 1 :],
                state.system,
                root,
                np.uint64(absorb(path_key, i)),
            )
            noise = normals(np.uint64(absorb(noise_key, i)), 0, (n_rows, len(centre))).T
            simulated = (
                state.loadings @ paths[1:].T + with_covariance(state, noise) + centre[:, None]
            )
            largest[np.arange(n_rows), simulated.argmax(axis=0)] += 1.0
        return clip_shares(largest / options.n_draws)

    n_threads, interrupt = (
        (1, lambda: None) if context is None else (context.n_threads, context.interrupt)
    )
    with one_blas_thread():
        each_task(
            [partial(predict_sequence, s) for s in range(len(sequences.keys))], n_threads, interrupt
        )
    return probability


def memory(corpus: Corpus, model: GaussianDynamicalSystem, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: R, two copies of the word shares of documents, and arrays for a draw."""
    table, square = corpus.n_documents * corpus.n_words * DOUBLE, corpus.n_words**2 * DOUBLE
    states = 3 * corpus.n_documents * (model.state_dim + 1) ** 2 * DOUBLE
    return Memory(
        size(arrays(corpus, model)),
        2 * table + square,
        step=4 * square + states,
        look=3 * square + states,
    )


def engine(name: str = "raw-lds") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#5e774c",
        line="-.",
        marker="^",
        title="Gibbs sampling of a Gaussian linear dynamical system of shares of words",
        source="Linderman, Johnson & Adams (2015), sec. 5: raw LDS",
        when="A baseline for sbm-lds: it treats shares of words as real numbers, and predicts much worse than models of "
        "counts.",
        model=GaussianDynamicalSystem,
        options=Options,
        state=State,
        samples=lambda corpus, options: True,
        watches=(),
        init=init,
        step=step,
        watch=lambda corpus, model, options, state: {},
        counts=counts,
        predict=predict,
        fold_in=None,
        memory=memory,
    )
