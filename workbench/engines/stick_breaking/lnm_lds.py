"""Particle Gibbs sampling of logistic-normal linear dynamical systems of counts.

Linderman, Johnson & Adams (2015), sec. 5; Lindsten, Jordan & Schoen (2014) for ancestor sampling. psi_t = C z_t + d has an
entry for each word, and a sweep is::

    z         of each sequence: particle Gibbs with ancestor sampling, weights p(x_t | z_t) with the offset d in them
    c_k       ~  N(0, sigma_c2 I) times the likelihood, elliptical slice sampling, a row of C after the other
    sigma_c2  ~  IG given C, where it is learnt
    A, B      ~  matrix-normal-inverse-Wishart given the steps from z_{t-1} to z_t within sequences

The states after the last document of a sequence that has tokens have no part in this: they are drawn forward from it at the end
of a sweep, by A and B as just drawn. Forecasts begin at that document: those of a particle filter, of each held-out word given
all words before it, held-out ones too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
from workbench.engines.stick_breaking.rows import take_in
from workbench.engines.stick_breaking.sbm_lds import (
    Rows,
    counts,
    draw_dynamics,
    forecasts,
    rows_of,
    start_dynamics,
    watch,
    with_variance,
)
from workbench.kernels.simd.vectors import padded
from workbench.kernels.stick_breaking.linear_dynamical import draw_last, draw_onward, upper_root
from workbench.kernels.stick_breaking.logistic_normal import (
    draw_loadings,
    largest_psi,
    sums_after,
)
from workbench.kernels.stick_breaking.particle_gibbs import draw_path, filter_particles
from workbench.kernels.threads import each_task
from workbench.kernels.uniforms import FORECASTS, LOADING_SLICES, PATHS_OF_STATES, absorb
from workbench.models.options import option
from workbench.models.stick_breaking.linear_dynamical import LogisticNormalSystem

SLICE_WORK = 2**24
"""Multiplications of C with particles in a slice: some milliseconds."""
WORDS_AT_ONCE = 32
"""Rows of C drawn in a slice."""


class State(NamedTuple):
    states: np.ndarray  # (document, state_dim) float64: z
    loadings: np.ndarray  # (word in stick order, state_dim) float64: C
    system: np.ndarray  # (state_dim, state_dim) float64: A
    noise: np.ndarray  # (state_dim, state_dim) float64: B
    noise_precision: np.ndarray  # (state_dim, state_dim) float64: its inverse
    mean_states: np.ndarray  # (document, state_dim) float64: running mean of the draws
    # (document, state_dim) float64: sum of squared deviations from the running mean
    squares: np.ndarray
    sigma_c2: float
    n_averaged: int


@dataclass(frozen=True)
class Options:
    sweep_particles: int = option(
        100,
        "number of particles per draw of the states",
        low=2,
        high=100_000,
        whole=True,
        label="Particles per sweep",
    )
    n_particles: int = option(
        50, "number of particles per forecast", low=2, high=1_000_000, whole=True, label="Particles"
    )
    average_after: int = option(
        10,
        "iterations before averaging of the states begins",
        low=0,
        whole=True,
        label="Average after iteration",
    )


def arrays(corpus: Corpus, model: LogisticNormalSystem) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    n = model.state_dim
    state_array, square = Array((corpus.n_documents, n)), Array((n, n))
    return {
        "states": state_array,
        "loadings": Array((corpus.n_words, n)),
        "system": square,
        "noise": square,
        "noise_precision": square,
        "mean_states": state_array,
        "squares": state_array,
    }


def init(
    corpus: Corpus,
    model: LogisticNormalSystem,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: C drawn from its prior, A = I / 2, and hidden states drawn given C and A."""
    state = State(**zeros(arrays(corpus, model)), sigma_c2=model.sigma_c2, n_averaged=0)
    random = np.random.Generator(np.random.Philox(int(context.key(LOADING_SLICES))))
    state.loadings[:] = np.sqrt(model.sigma_c2) * random.standard_normal(state.loadings.shape)
    start_dynamics(state)
    draw_states(corpus, model, options, state, context)
    draw_states_ahead(corpus, model, state, context)
    return state


def step(
    corpus: Corpus,
    model: LogisticNormalSystem,
    options: Options,
    state: State,
    context: StepContext,
) -> tuple[State, dict]:
    """Draw the states, C, its prior variance, A and B, and from these the states after the last tokens."""
    n_new, rows = draw_states(corpus, model, options, state, context), rows_of(corpus, model)
    row_states = state.states[rows.sequences.documents]
    draw_rows_of_loadings(rows, state, row_states, context)
    state = with_variance(model, state, context.key(LOADING_SLICES, 1))
    draw_dynamics(rows.sequences, rows.pairs, model, state, context)
    draw_states_ahead(corpus, model, state, context)
    n_drawn = int((rows.sequences.ends - rows.sequences.indptr[:-1]).sum())
    return take_in(state, state.mean_states, state.states, context.step, options.average_after), {
        "updates": n_drawn,
        "moved": n_new / n_drawn,
    }


def draw_states(
    corpus: Corpus,
    model: LogisticNormalSystem,
    options: Options,
    state: State,
    context: StepContext,
) -> int:
    """Draw the states of every sequence by particle Gibbs; return how many states changed."""
    rows, n, key = rows_of(corpus, model), options.sweep_particles, context.key(PATHS_OF_STATES)
    sequences, indptr = rows.sequences, rows.counts.indptr
    row_states, lanes, (mean, covariance) = (
        state.states[sequences.documents],
        padded(n),
        model.first_state,
    )
    n_steps = max(1, SLICE_WORK // (lanes * state.loadings.size))
    laws = (
        state.loadings,
        rows.offset,
        False,
        mean,
        covariance,
        state.system,
        state.noise,
        state.noise_precision,
        n,
    )

    def draw(s: int, interrupt: Callable[[], None]):
        first, end = sequences.indptr[s], sequences.ends[s]
        sequence_key, n_times = np.uint64(absorb(key, sequences.keys[s])), end - first
        if n_times == 0:
            return 0
        path, log_weights = row_states[first:end], np.zeros(lanes)
        particles, ancestors = (
            np.zeros((n_times, model.state_dim, lanes)),
            np.zeros((n_times, n), np.int64),
        )
        for begin in range(0, n_times, n_steps):
            interrupt()
            filter_particles(
                begin,
                min(begin + n_steps, n_times),
                indptr[first : end + 1],
                rows.counts.places,
                rows.counts.counts,
                *laws,
                path,
                sequence_key,
                particles,
                ancestors,
                log_weights,
            )
        return draw_path(
            particles, ancestors, log_weights, n, path, np.uint64(absorb(sequence_key, 1))
        )

    n_new = sum(
        each_task(
            [partial(draw, s) for s in range(len(sequences.keys))],
            context.n_threads,
            context.interrupt,
        )
    )
    state.states[sequences.documents] = row_states
    return n_new


def draw_states_ahead(
    corpus: Corpus, model: LogisticNormalSystem, state: State, context: StepContext
) -> None:
    """Draw the states after each sequence's last document with tokens from the dynamics alone, in place."""
    sequences, key = rows_of(corpus, model).sequences, context.key(PATHS_OF_STATES)
    row_states, root, (mean, covariance) = (
        state.states[sequences.documents],
        upper_root(state.noise),
        model.first_state,
    )
    for s, (first, end, last) in enumerate(
        zip(sequences.indptr[:-1], sequences.ends, sequences.indptr[1:], strict=True)
    ):
        sequence_key = np.uint64(absorb(key, sequences.keys[s]))
        if end == first:
            draw_last(
                upper_root(np.linalg.inv(covariance)),
                mean,
                np.uint64(absorb(sequence_key, 1)),
                row_states[first : first + 1],
            )
        draw_onward(
            row_states[max(end - 1, first) : last],
            state.system,
            root,
            np.uint64(absorb(sequence_key, 2)),
        )
    state.states[sequences.documents] = row_states


def draw_rows_of_loadings(
    rows: Rows, state: State, row_states: np.ndarray, context: StepContext
) -> None:
    """Draw C, row by row, given the states of the documents that have tokens."""
    indptr, positions, pair_counts, _ = rows.counts
    used = np.flatnonzero(np.diff(indptr))
    n_words, n_dims, width = len(rows.offset), row_states.shape[1], padded(len(used))
    states, n_tokens, weighted = (
        np.zeros((n_dims, width)),
        np.zeros(width),
        np.zeros((n_words, n_dims)),
    )
    states[:, : len(used)] = row_states[used].T
    n_tokens[: len(used)] = np.add.reduceat(pair_counts, indptr[used])
    np.add.at(
        weighted,
        positions,
        pair_counts[:, None] * row_states[np.repeat(np.arange(len(row_states)), np.diff(indptr))],
    )
    top, earlier_sums, later_sums = np.empty(width), np.zeros(width), np.empty((n_words + 1, width))
    largest_psi(state.loadings, rows.offset, states, top)
    sums_after(state.loadings, rows.offset, states, top, later_sums)
    for first in range(0, n_words, WORDS_AT_ONCE):
        context.interrupt()
        draw_loadings(
            first,
            min(first + WORDS_AT_ONCE, n_words),
            state.loadings,
            rows.offset,
            states,
            n_tokens,
            weighted,
            state.sigma_c2,
            top,
            earlier_sums,
            later_sums,
            context.key(LOADING_SLICES),
        )


def predict(
    corpus: Corpus,
    model: LogisticNormalSystem,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w) (pair,): given the drawn states, and after a sequence's last training tokens by a particle filter."""
    return forecasts(corpus, model, options, state, pairs, context, FORECASTS, False)


def memory(corpus: Corpus, model: LogisticNormalSystem, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: states, and the particles or the arrays for a draw of C, if larger."""
    n, n_dims = padded(options.sweep_particles), model.state_dim
    particles = corpus.n_documents * (n_dims + 1) * n * DOUBLE
    sums = (corpus.n_words + n_dims + 5) * padded(corpus.n_documents) * DOUBLE
    indices = (3 * corpus.n_pairs + 4 * corpus.n_documents + 2 * corpus.n_words) * DOUBLE
    word_bytes = (padded(options.n_particles) + 16) * corpus.n_words
    look = (
        4 * corpus.n_pairs
        + word_bytes
        + (corpus.n_documents + 3 * padded(options.n_particles)) * n_dims
    ) * DOUBLE
    return Memory(size(arrays(corpus, model)), indices, step=max(particles, sums), look=look)


def engine(name: str = "lnm-lds") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#bb8844",
        line="--",
        marker="s",
        title="Particle Gibbs sampling of logistic-normal linear dynamical systems of counts",
        source="Linderman, Johnson & Adams (2015), sec. 5; Lindsten, Jordan & Schoen (2014)",
        when="For the sequences of sbm-lds where the prediction matters more than the time: it predicted better than sbm-lds "
        "on our sequences of words; with more particles it is slower and mixes better.",
        model=LogisticNormalSystem,
        options=Options,
        state=State,
        samples=lambda corpus, options: True,
        watches=("moved",),
        fixed=("order", "order_seed"),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=None,
        memory=memory,
    )
