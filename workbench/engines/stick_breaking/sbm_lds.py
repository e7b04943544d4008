"""Gibbs sampling of linear dynamical systems of counts by stick-breaking and Polya-gamma augmentation.

Linderman, Johnson & Adams (2015), sec. 5. A sweep over the documents t of all sequences, sticks k and psi_t = C z_t + d is::

    omega_tk ~ PG(N_tk, psi_tk),  N_tk = sum_{j>=k} x_tj
    c_k      ~ N(J^-1 h, J^-1),  J = I / sigma_c2 + sum_t omega_tk z_t z_t',  h = sum_t (kappa_tk - omega_tk d_k) z_t
    A, B     ~ matrix-normal-inverse-Wishart given the steps from z_{t-1} to z_t within sequences;  sigma_c2 ~ IG given C
    z        ~ of each sequence at once, by the Cholesky factor of its precision, which is block-tridiagonal

The states after the last document of a sequence that has tokens have no part in this: they are drawn forward from it. What is
left of the factor of a sequence is the law of its last state given omega alone, from which `predict=collapsed` forecasts; with
`predict=conditional` a forecast begins at that state as drawn. Forecasts are those of a particle filter: of each held-out word
given all words before it, held-out ones too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
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
    cached_by_corpus,
    size,
    zeros,
)
from workbench.engines.stick_breaking.rows import (
    Counts,
    Sequences,
    counts_of,
    sequences_of,
    take_in,
)
from workbench.kernels.simd.vectors import padded
from workbench.kernels.state_space import draw_inverse_gamma, draw_mniw, mniw_posterior
from workbench.kernels.stick_breaking.linear_dynamical import (
    draw_last,
    draw_loadings,
    draw_onward,
    draw_sequence,
    draw_weights,
    keys_of_rows,
    potentials,
    products,
    stick_starts,
    sums_before,
    upper_root,
)
from workbench.kernels.stick_breaking.particle_gibbs import forecast
from workbench.kernels.threads import each_slice, each_task, slice_bounds
from workbench.kernels.uniforms import (
    SYSTEM_DYNAMICS,
    SYSTEM_LOADINGS,
    SYSTEM_PARTICLES,
    SYSTEM_STATES,
    SYSTEM_WEIGHTS,
    absorb,
)
from workbench.models.options import option
from workbench.models.stick_breaking.linear_dynamical import LinearDynamicalSystem

STICKS_AT_ONCE = 64
"""Rows of C drawn in a slice, whose sums fit in a cache."""
START_SYSTEM = 0.5
"""Initial diagonal of A; B is such that states have variance 1."""


class State(NamedTuple):
    states: np.ndarray  # (document, state_dim) float64: z
    loadings: np.ndarray  # (stick, state_dim) float64: C
    system: np.ndarray  # (state_dim, state_dim) float64: A
    noise: np.ndarray  # (state_dim, state_dim) float64: B
    noise_precision: np.ndarray  # (state_dim, state_dim) float64: its inverse
    # (sequence, state_dim, state_dim) float64: U, for the state of the last document with tokens
    last_root: np.ndarray
    # (sequence, state_dim) float64: y; that state is N(U^-1 y, (U'U)^-1) given omega
    last: np.ndarray
    mean_states: np.ndarray  # (document, state_dim) float64: running mean of the draws
    # (document, state_dim) float64: sum of squared deviations from the running mean
    squares: np.ndarray
    sigma_c2: float
    n_averaged: int


@dataclass(frozen=True)
class Options:
    predict: str = option(
        "collapsed",
        "forecasts start from the distribution of the last state given omega and the parameters, or from the drawn state",
        choices=("collapsed", "conditional"),
        label="Prediction",
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


class Rows(NamedTuple):
    """The document-word pairs of a training corpus, sorted by row (sequence and time) and by position on the stick."""

    sequences: Sequences
    order: np.ndarray  # (word,) word ids in stick order
    counts: Counts
    starts: np.ndarray  # (row + 1,) int64: index of each row's first stick in omega
    offset: np.ndarray  # (stick,) d
    # (step,) int64: rows that follow another row of their sequence, up to its last row with tokens
    pairs: np.ndarray


@cached_by_corpus
def rows_of(corpus: Corpus, model: LinearDynamicalSystem) -> Rows:
    """Return the document-word pairs of a training corpus, sorted by row and by position on the stick."""
    sequences, order = sequences_of(corpus), model.word_order(corpus)
    counts = counts_of(corpus, sequences, order)
    starts = stick_starts(counts.indptr, counts.places, corpus.n_words - 1)
    return Rows(sequences, order, counts, starts, model.offset_of(corpus), sequences.pairs)


def arrays(corpus: Corpus, model: LinearDynamicalSystem) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    n, n_sequences = model.state_dim, len(sequences_of(corpus).keys)
    state_array, square = Array((corpus.n_documents, n)), Array((n, n))
    return {
        "states": state_array,
        "loadings": Array((corpus.n_words - 1, n)),
        "system": square,
        "noise": square,
        "noise_precision": square,
        "last_root": Array((n_sequences, n, n)),
        "last": Array((n_sequences, n)),
        "mean_states": state_array,
        "squares": state_array,
    }


def init(
    corpus: Corpus,
    model: LinearDynamicalSystem,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: C from its prior, A = I / 2, omega drawn at states 0, then the states given all these."""
    state = State(**zeros(arrays(corpus, model)), sigma_c2=model.sigma_c2, n_averaged=0)
    rows = rows_of(corpus, model)
    no_counts = Counts(np.zeros_like(rows.counts.indptr), *rows.counts[1:])
    prior_rows = rows._replace(counts=no_counts, starts=np.zeros_like(rows.starts))
    draw_rows_of_loadings(prior_rows, state, np.empty(0), context)
    start_dynamics(state)
    draw_states(corpus, model, state, draw_omega(corpus, model, state, context), context)
    return state


def step(
    corpus: Corpus,
    model: LinearDynamicalSystem,
    options: Options,
    state: State,
    context: StepContext,
) -> tuple[State, dict]:
    """Draw omega, C, its variance, A and B, and then the states of every sequence."""
    rows, omega = rows_of(corpus, model), draw_omega(corpus, model, state, context)
    draw_rows_of_loadings(rows, state, omega, context)
    context.interrupt()
    state = with_variance(model, state, context.key(SYSTEM_LOADINGS, 1))
    draw_dynamics(rows.sequences, rows.pairs, model, state, context)
    draw_states(corpus, model, state, omega, context)
    return take_in(state, state.mean_states, state.states, context.step, options.average_after), {
        "updates": int(rows.starts[-1])
    }


def start_dynamics(state: State) -> None:
    """Set A to I / 2, and B so that the stationary variance of each state is 1, in place."""
    identity = np.eye(len(state.system))
    state.system[:], state.noise[:] = START_SYSTEM * identity, (1.0 - START_SYSTEM**2) * identity
    state.noise_precision[:] = identity / (1.0 - START_SYSTEM**2)


def with_variance(model: LinearDynamicalSystem, state: State, key: np.uint64) -> State:
    """Return the state with sigma_c2, the prior variance of C, drawn anew given C if it is learnt."""
    if not model.learn_sigma_c2:
        return state
    shape = model.a_sigma_c2 + 0.5 * state.loadings.size
    scale = model.b_sigma_c2 + 0.5 * float((state.loadings**2).sum())
    return state._replace(sigma_c2=float(draw_inverse_gamma(shape, scale, key)))


def draw_dynamics(
    sequences: Sequences,
    pairs: np.ndarray,
    model: LinearDynamicalSystem,
    state: State,
    context: StepContext,
) -> None:
    """Draw A and B given the states, in place; ``pairs`` (step,) are the rows that have a preceding row."""
    row_states = state.states[sequences.documents]
    posterior = mniw_posterior(row_states[pairs], row_states[pairs - 1], *model.system_prior)
    draws = draw_mniw(*posterior, context.key(SYSTEM_DYNAMICS))
    for array, draw in zip((state.system, state.noise, state.noise_precision), draws, strict=True):
        array[:] = draw


def draw_omega(
    corpus: Corpus, model: LinearDynamicalSystem, state: State, context: StepContext
) -> np.ndarray:
    """Draw the Polya-gamma variables omega (entry,) of the sticks of all rows with tokens."""
    rows, omega = rows_of(corpus, model), np.empty(int(rows_of(corpus, model).starts[-1]))
    each_slice(
        draw_weights,
        slice_bounds(rows.starts, 32),
        context.n_threads,
        context.interrupt,
        indptr=rows.counts.indptr,
        positions=rows.counts.places,
        counts=rows.counts.counts,
        starts=rows.starts,
        states=state.states[rows.sequences.documents],
        transposed=np.ascontiguousarray(state.loadings.T),
        offset=rows.offset,
        keys=keys_of_rows(rows.sequences.indptr, rows.sequences.keys, context.key(SYSTEM_WEIGHTS)),
        omega=omega,
    )
    return omega


def draw_rows_of_loadings(
    rows: Rows, state: State, omega: np.ndarray, context: StepContext
) -> None:
    """Draw the rows of C given omega and the hidden states, in place."""
    row_states = state.states[rows.sequences.documents]
    cuts = [*range(0, len(rows.offset), STICKS_AT_ONCE), len(rows.offset)]
    each_slice(
        draw_loadings,
        list(pairwise(cuts)),
        context.n_threads,
        context.interrupt,
        indptr=rows.counts.indptr,
        positions=rows.counts.places,
        counts=rows.counts.counts,
        starts=rows.starts,
        omega=omega,
        states=row_states,
        row_products=products(row_states, np.ones(len(row_states))),
        offset=rows.offset,
        variance=state.sigma_c2,
        key=context.key(SYSTEM_LOADINGS),
        loadings=state.loadings,
    )


def draw_states(
    corpus: Corpus,
    model: LinearDynamicalSystem,
    state: State,
    omega: np.ndarray,
    context: StepContext,
) -> None:
    """Draw the states of every sequence given omega."""
    rows, n = rows_of(corpus, model), model.state_dim
    precision, linear = np.empty((len(rows.starts) - 1, n, n)), np.empty((len(rows.starts) - 1, n))
    each_slice(
        potentials,
        slice_bounds(rows.starts, n),
        context.n_threads,
        context.interrupt,
        indptr=rows.counts.indptr,
        positions=rows.counts.places,
        counts=rows.counts.counts,
        starts=rows.starts,
        omega=omega,
        loadings=state.loadings,
        cumulative=sums_before(state.loadings),
        stick_products=products(state.loadings, rows.offset),
        precision=precision,
        h=linear,
    )
    draw_sequences(rows.sequences, model, state, precision, linear, context)


def draw_sequences(
    sequences: Sequences,
    model: LinearDynamicalSystem,
    state: State,
    precision: np.ndarray,
    linear,
    context: StepContext,
) -> None:
    """Draw all sequences' states given Gaussian potentials; store the distribution of each one's last state with tokens.

    precision (row, state_dim, state_dim) and linear (row, state_dim) are the potentials J_t and h_t; both are overwritten.
    """
    mean, covariance = model.first_state
    first_precision, root, key = (
        np.linalg.inv(covariance),
        upper_root(state.noise),
        context.key(SYSTEM_STATES),
    )

    def draw(s: int, interrupt: Callable[[], None]):
        interrupt()
        first, end, last = sequences.indptr[s], sequences.ends[s], sequences.indptr[s + 1]
        sequence_key = np.uint64(absorb(key, sequences.keys[s]))
        if end > first:
            state.last[s] = draw_sequence(
                precision[first:end],
                linear[first:end],
                first_precision,
                mean,
                state.system,
                state.noise_precision,
                sequence_key,
                state.last_root[s],
            )
        else:
            state.last_root[s], state.last[s] = upper_root(first_precision), 0.0
            draw_last(
                state.last_root[s],
                state.last[s],
                np.uint64(absorb(sequence_key, 1)),
                linear[first : first + 1],
            )
            end += 1
        draw_onward(linear[end - 1 : last], state.system, root, np.uint64(absorb(sequence_key, 2)))

    each_task(
        [partial(draw, s) for s in range(len(sequences.keys))], context.n_threads, context.interrupt
    )
    state.states[sequences.documents] = linear


def watch(corpus: Corpus, model: LinearDynamicalSystem, options: Options, state: State) -> dict:
    """Return {"sigma_c2": the variance of C} if the model learns it, else {}."""
    return {"sigma_c2": state.sigma_c2} if model.learn_sigma_c2 else {}


def counts(corpus: Corpus, model: LinearDynamicalSystem, options: Options, state: State) -> dict:
    """Return the drawn states, A, B and C, and the running mean and standard deviation of the states."""
    return {
        "states": state.states,
        "running_states": state.mean_states,
        "running_states_deviation": np.sqrt(state.squares / max(state.n_averaged, 1)),
        "system": state.system,
        "system_noise": state.noise,
        "loadings": state.loadings,
    }


def predict(
    corpus: Corpus,
    model: LinearDynamicalSystem,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w) (pair,) given the drawn states; after the last training tokens, given the sequence's earlier words."""
    last = (state.last_root, state.last) if options.predict == "collapsed" else None
    return forecasts(corpus, model, options, state, pairs, context, SYSTEM_PARTICLES, True, last)


def forecasts(
    corpus: Corpus,
    model: LinearDynamicalSystem,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext,
    stream,
    sticks: bool,
    last: int | None = None,
) -> np.ndarray:
    """Return p(w) (pair,) by the particle filter `forecast`, started at the last row with tokens of each sequence.

    last : (U, y), the distribution of that state by sequence (see `State`), from which particles start; None: the drawn state.
    """
    rows, (mean, covariance) = rows_of(corpus, model), model.first_state
    sequences, held_out = rows.sequences, counts_of(pairs, rows.sequences, rows.order)
    key, row_states = (
        np.uint64(0) if context is None else context.key(stream),
        state.states[sequences.documents],
    )
    first_root, probability, result = (
        upper_root(np.linalg.inv(covariance)),
        np.empty(pairs.n_pairs),
        np.empty(pairs.n_pairs),
    )

    def forecast_sequence(s: int, interrupt: Callable[[], None]):
        interrupt()
        first, end, next_first = sequences.indptr[s], sequences.ends[s], sequences.indptr[s + 1]
        sequence_key, start = (
            np.uint64(absorb(key, sequences.keys[s])),
            np.empty((options.n_particles, model.state_dim)),
        )
        start[:] = row_states[max(end - 1, first)]
        if end == first:
            draw_last(first_root, first_root @ mean, np.uint64(absorb(sequence_key, 1)), start)
        elif last is not None:
            draw_last(last[0][s], last[1][s], np.uint64(absorb(sequence_key, 1)), start)
        forecast(
            end - first,
            held_out.indptr[first : next_first + 1],
            held_out.places,
            held_out.counts,
            state.loadings,
            rows.offset,
            sticks,
            state.system,
            state.noise,
            start,
            row_states[first:next_first],
            np.uint64(absorb(sequence_key, 2)),
            probability,
        )

    n_threads, interrupt = (
        (1, lambda: None) if context is None else (context.n_threads, context.interrupt)
    )
    each_task(
        [partial(forecast_sequence, s) for s in range(len(sequences.keys))], n_threads, interrupt
    )
    result[held_out.pairs] = probability
    return result


def memory(corpus: Corpus, model: LinearDynamicalSystem, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: states, omega, potentials of all rows, and particles for forecasts."""
    n, entries = model.state_dim, int(rows_of(corpus, model).starts[-1])
    row_bytes = corpus.n_documents * (n * n + n * (n + 1) // 2 + 6 * n) * DOUBLE
    indices = (3 * corpus.n_pairs + 4 * corpus.n_documents + 2 * corpus.n_words) * DOUBLE
    step = entries * DOUBLE + 3 * row_bytes + 2 * corpus.n_words * n * n * DOUBLE
    particles = padded(options.n_particles) * (corpus.n_words + 3 * n)
    look = (4 * corpus.n_pairs + particles + (corpus.n_documents + corpus.n_words) * n) * DOUBLE
    return Memory(size(arrays(corpus, model)), indices, step=step, look=look)


def engine(name: str = "sbm-lds") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#bb3c99",
        line="-",
        marker="o",
        title="Gibbs sampling of linear dynamical systems of counts by stick-breaking",
        source="Linderman, Johnson & Adams (2015), sec. 5",
        when="For sequences of words or symbols whose hidden state changes gradually: take it to follow that state, and to "
        "predict what comes next; its sweeps are quicker than those of lnm-lds.",
        model=LinearDynamicalSystem,
        options=Options,
        state=State,
        samples=lambda corpus, options: True,
        watches=(),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=None,
        memory=memory,
    )
