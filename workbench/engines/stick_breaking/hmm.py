"""Gibbs sampling of a hidden Markov model of sequences of counts.

Linderman, Johnson & Adams (2015), sec. 5, the baseline of their linear dynamical systems; spec D.3. A sweep is::

    s_1, …, s_T   ~  p(s | x, p_0, P, phi)                           forward filter, backward draw, of each sequence
    p_0           ~  Dirichlet(1 + sequences that begin in s)
    P_s           ~  Dirichlet(1 + steps from s to each state)
    phi_s         ~  Dirichlet(alpha0 + words of the documents in s)

A held-out word is scored by p(word | all words of its sequence before it, p_0, P, phi), exactly: the forward filter
continues over the held-out words. Documents without words, such as held-out ones in training, have states too.
"""

import sys
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    SAMPLER,
    Array,
    Engine,
    Memory,
    NoOptions,
    StepContext,
    WarmStart,
    size,
    zeros,
)
from workbench.engines.stick_breaking.rows import sequences_of
from workbench.kernels.stick_breaking.hidden_markov import (
    backward_messages,
    count_states,
    draw_states,
    filter_forward,
    predict_pairs,
)
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import (
    EMISSIONS,
    FIRST_STATE,
    HIDDEN_STATES,
    TRANSITIONS,
    draw_log_dirichlets,
)
from workbench.models.stick_breaking.linear_dynamical import HiddenMarkov


class State(NamedTuple):
    states: np.ndarray  # (document,) uint16: s_t
    first_state: np.ndarray  # (state,) float64: p_0
    transitions: np.ndarray  # (state, to state) float64: P
    log_emissions: np.ndarray  # (word, state) float64: log phi


def arrays(corpus: Corpus, model: HiddenMarkov) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    n = model.n_states
    return {
        "states": Array((corpus.n_documents,), np.uint16),
        "first_state": Array((n,)),
        "transitions": Array((n, n)),
        "log_emissions": Array((corpus.n_words, n)),
    }


def init(
    corpus: Corpus,
    model: HiddenMarkov,
    options: NoOptions,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: parameters drawn from their prior; the first iteration draws the hidden states."""
    n, state = model.n_states, State(**zeros(arrays(corpus, model)))
    no_counts = (
        np.zeros(n, np.int64),
        np.zeros((n, n), np.int64),
        np.zeros((n, corpus.n_words), np.int64),
    )
    return with_parameters(model, state, no_counts, context)


def with_parameters(
    model: HiddenMarkov, state: State, sufficient_counts, context: StepContext
) -> State:
    """Return the state with p_0, P and phi drawn anew, given the counts of `counts_of`."""
    tables = zip(
        (sufficient_counts[0][None], *sufficient_counts[1:]),
        (1.0, 1.0, model.alpha0),
        (FIRST_STATE, TRANSITIONS, EMISSIONS),
        strict=True,
    )
    first, transitions, emissions = (
        draw_log_dirichlets(table, prior, context.key(stream)) for table, prior, stream in tables
    )
    return state._replace(
        first_state=np.exp(first[0]),
        transitions=np.exp(transitions),
        log_emissions=np.ascontiguousarray(emissions.T),
    )


def counts_of(corpus: Corpus, model: HiddenMarkov, state: State) -> tuple:
    """Return the counts of first states (state,), transitions (state, to state) and words (state, word)."""
    return count_states(*data_of(corpus).values(), state.states, corpus.n_words, model.n_states)


def filtered_of(
    corpus: Corpus, state: State, n_threads: int = 1, interrupt=lambda: None
) -> tuple[np.ndarray, float]:
    """Return p(s_t | words up to t) (document, state), and log p(words | parameters)."""
    filtered = np.empty((corpus.n_documents, len(state.first_state)))
    log_p = each_slice(
        filter_forward,
        slices_of(corpus, state),
        n_threads,
        interrupt,
        **data_of(corpus),
        **kernel_arguments(state),
        filtered=filtered,
    )
    return filtered, sum(log_p)


def data_of(corpus: Corpus) -> dict:
    """Return the documents of all sequences in order, with words and counts, as keyword arguments of the kernels."""
    _, starts, rows = corpus.by_sequence
    return {
        "starts": starts,
        "rows": rows,
        "indptr": corpus.indptr,
        "words": corpus.words,
        "counts": corpus.counts,
    }


def kernel_arguments(state: State) -> dict:
    """Return p_0, P and log phi as arguments of the kernels."""
    return {name: getattr(state, name) for name in ("first_state", "transitions", "log_emissions")}


def slices_of(corpus: Corpus, state: State) -> list[tuple[int, int]]:
    """Cut the sequences into ranges (first, last) that take some milliseconds each."""
    return slice_bounds(corpus.by_sequence.indptr, len(state.first_state) ** 2)


def step(
    corpus: Corpus, model: HiddenMarkov, options: NoOptions, state: State, context: StepContext
) -> tuple[State, dict]:
    """Draw the hidden states of every sequence, then the parameters."""
    filtered, _ = filtered_of(corpus, state, context.n_threads, context.interrupt)
    _, starts, rows = corpus.by_sequence
    n_moved = each_slice(
        draw_states,
        slices_of(corpus, state),
        context.n_threads,
        context.interrupt,
        starts=starts,
        rows=rows,
        filtered=filtered,
        transitions=state.transitions,
        states=state.states,
        keys=sequences_of(corpus).keys,
        key=context.key(HIDDEN_STATES),
    )
    state = with_parameters(model, state, counts_of(corpus, model, state), context)
    return state, {"updates": corpus.n_documents, "moved": sum(n_moved) / corpus.n_documents}


def watch(corpus: Corpus, model: HiddenMarkov, options: NoOptions, state: State) -> dict:
    """Return log p(words, hidden states, p_0, P, phi) without multinomial coefficients."""
    first_counts, step_counts, word_counts = counts_of(corpus, model, state)
    logs = np.log(state.first_state)[None], np.log(state.transitions), state.log_emissions.T
    tables = (first_counts[None], 1.0), (step_counts, 1.0), (word_counts, model.alpha0)
    return {
        "log_joint": sum(
            log_of_rows(table, prior, log) for (table, prior), log in zip(tables, logs, strict=True)
        )
    }


def log_of_rows(counts: np.ndarray, prior: float, logs: np.ndarray) -> float:
    """Return log p(counts, rows) of rows ~ Dirichlet(prior), whose logarithms are ``logs`` (row, column)."""
    n_rows, n = logs.shape
    return float(
        ((counts + prior - 1.0) * logs).sum() + n_rows * (gammaln(n * prior) - n * gammaln(prior))
    )


def counts(corpus: Corpus, model: HiddenMarkov, options: NoOptions, state: State) -> dict:
    """Return the parameters, and p(s_t | all words of the sequence) for each document."""
    filtered, _ = filtered_of(corpus, state)
    probability = filtered * messages_of(corpus, state)
    probability /= probability.sum(axis=1, keepdims=True)
    return {
        "first_state": state.first_state,
        "transitions": state.transitions,
        "emissions": np.exp(state.log_emissions.T),
        "state_probability": probability,
    }


def messages_of(corpus: Corpus, state: State) -> np.ndarray:
    """Return the backward messages (document, state): p(later words of the sequence | state), up to a factor."""
    messages, n_sequences = (
        np.empty((corpus.n_documents, len(state.first_state))),
        len(corpus.by_sequence.names),
    )
    backward_messages(
        0, n_sequences, *data_of(corpus).values(), state.transitions, state.log_emissions, messages
    )
    return messages


def predict(
    corpus: Corpus,
    model: HiddenMarkov,
    options: NoOptions,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w) (pair,) of held-out pairs given all training words, and earlier held-out words, of the sequence.

    It is at least the smallest double, as drawn probabilities of words that a state has not emitted may underflow.
    """
    probability, n_sequences = np.empty(pairs.n_pairs), len(corpus.by_sequence.names)
    predict_pairs(
        0,
        n_sequences,
        *data_of(corpus).values(),
        *kernel_arguments(state).values(),
        messages_of(corpus, state),
        pairs.indptr,
        pairs.words,
        pairs.counts,
        probability,
    )
    return np.maximum(probability, sys.float_info.min)


def memory(corpus: Corpus, model: HiddenMarkov, options: NoOptions) -> Memory:
    """Forecast the memory of a run in bytes: parameters, hidden states, filter, messages and word counts."""
    row_bytes = corpus.n_documents * model.n_states * DOUBLE
    word_bytes = corpus.n_words * model.n_states * DOUBLE
    return Memory(
        size(arrays(corpus, model)),
        step=row_bytes + 2 * word_bytes,
        look=3 * row_bytes + 2 * word_bytes,
    )


def engine(name: str = "hmm") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#8888dd",
        line=":",
        marker="D",
        title="Gibbs sampling of a hidden Markov model of sequences",
        source="Linderman, Johnson & Adams (2015), sec. 5",
        when="The first to take for sequences: its sweeps are the quickest, the next word is scored exactly, and it fits what "
        "jumps between a few states.",
        model=HiddenMarkov,
        options=NoOptions,
        state=State,
        samples=lambda corpus, options: True,
        watches=("log_joint", "moved"),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=None,
        memory=memory,
    )
