"""Hidden Markov models: filter, messages and predictions against sums over all paths, and the sampler by Geweke's test."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from kernels.stick_breaking.geweke import assert_same_expectations

from workbench.corpus import Corpus
from workbench.corpus.splits import hold_out_tokens
from workbench.engines.stick_breaking import hmm
from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.hidden_markov import count_states, draw_states, filter_forward
from workbench.kernels.uniforms import (
    absorb,
    draw_key,
    draw_log_dirichlets,
    next_uniform,
    stream_of,
)

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "stick_breaking.json").read_text())[
    "hmm_T3"
]


def key_of(step):
    return np.uint64(draw_key(1, 2, 3, step))


def corpus_of(table, sequence) -> Corpus:
    """The corpus of a table (document, word) of counts."""
    documents, words = np.nonzero(table)
    n_documents, n_words = table.shape
    return Corpus.from_pairs(
        documents,
        words,
        table[documents, words],
        n_documents=n_documents,
        n_words=n_words,
        sequence=sequence,
        name="rows",
    )


def random_state(corpus, n, seed=0) -> hmm.State:
    """Parameters drawn at random."""
    random = np.random.default_rng(seed)
    emissions = random.dirichlet(np.ones(corpus.n_words), n)
    states = random.integers(n, size=corpus.n_documents).astype(np.uint16)
    of_states = random.dirichlet(np.ones(n)), random.dirichlet(np.ones(n), n)
    return hmm.State(states, *of_states, np.ascontiguousarray(np.log(emissions).T))


def two_sequences(seed=0):
    """Rows of several, one or no counts of two sequences that stand mixed and out of order."""
    table = np.random.default_rng(seed).integers(0, 4, (7, 3))
    table[[0, 4]] = 0
    table[5] = 0, 1, 0
    return corpus_of(
        table, [("a", 3), ("b", 9), ("a", 1), ("a", 2), ("b", 1), ("a", 7), ("b", 2)]
    ), table


def by_paths(corpus, table, state) -> dict:
    """log p(words), p(s_t | words) and p(s_t | words up to t) by sums over every path of each sequence."""
    n, (_, starts, rows) = len(state.first_state), corpus.by_sequence
    of_rows, total = np.exp(table @ state.log_emissions), 0.0
    smoothed, filtered = np.zeros((len(table), n)), np.zeros((len(table), n))
    for first, last in itertools.pairwise(starts):
        here = rows[first:last]
        for upto in range(1, len(here) + 1):
            mass = np.zeros((len(here), n))
            for path in itertools.product(range(n), repeat=len(here)):
                p = state.first_state[path[0]] * math.prod(
                    state.transitions[s, r] for s, r in itertools.pairwise(path)
                )
                mass[np.arange(len(here)), path] += p * math.prod(
                    of_rows[here[t], path[t]] for t in range(upto)
                )
            filtered[here[upto - 1]] = mass[upto - 1] / mass[upto - 1].sum()
        smoothed[here] = mass / mass.sum(axis=1, keepdims=True)
        total += math.log(mass[0].sum())
    return {"log": total, "filtered": filtered, "smoothed": smoothed}


def test_the_filter_is_that_of_the_oracle():
    corpus = corpus_of(np.array(ORACLE["x"]), [("a", t) for t in range(3)])
    emissions = np.log(np.array(ORACLE["phi"]).T)
    state = hmm.State(
        np.zeros(3, np.uint16),
        np.array(ORACLE["p0"]),
        np.array(ORACLE["P"]),
        np.ascontiguousarray(emissions),
    )
    filtered, log_likelihood = hmm.filtered_of(corpus, state)
    # given to sixteen digits
    assert log_likelihood == pytest.approx(ORACLE["loglik_no_coef"], abs=1e-10)
    np.testing.assert_allclose(filtered, ORACLE["filtered"], rtol=0, atol=1e-10)


def test_filter_and_messages_are_sums_over_all_paths():
    corpus, table = two_sequences()
    state = random_state(corpus, 3)
    wanted = by_paths(corpus, table, state)
    filtered, log_likelihood = hmm.filtered_of(corpus, state)
    smoothed = hmm.counts(corpus, None, None, state)["state_probability"]
    assert log_likelihood == pytest.approx(wanted["log"], rel=1e-12)  # rounding of a dozen products
    np.testing.assert_allclose(filtered, wanted["filtered"], rtol=1e-12)
    np.testing.assert_allclose(smoothed, wanted["smoothed"], rtol=1e-12)


@pytest.mark.parametrize("split", ["ends", "tokens"])
def test_predictions_multiply_to_the_probability_of_what_is_held_out(split):
    """p(training and held-out words) / p(training words), each by sums over all paths; and word by word in order."""
    corpus, table = two_sequences(1)
    if split == "ends":  # the last two rows of one sequence, the last of the other
        held = table * np.isin(np.arange(7), (0, 5, 1))[:, None]
    else:
        test = hold_out_tokens(corpus, 0.3, seed=2)[1]
        held = np.zeros_like(table)
        held[test.documents, test.words] = test.counts
    train, test = (corpus_of(part, corpus.sequence) for part in (table - held, held))
    state = random_state(corpus, 3, 1)
    probability = hmm.predict(train, None, None, state, test)
    wanted = by_paths(corpus, table, state)["log"] - by_paths(train, table - held, state)["log"]
    # a difference of two logarithms
    assert test.counts @ np.log(probability) == pytest.approx(wanted, rel=1e-11)
    _, starts, rows = corpus.by_sequence
    known, before = (table - held).copy(), by_paths(train, table - held, state)["log"]
    for pair in sorted(
        range(test.n_pairs), key=lambda pair: (list(rows).index(test.documents[pair]), pair)
    ):
        known[test.documents[pair], test.words[pair]] += test.counts[pair]
        after = by_paths(corpus, known, state)["log"]
        assert test.counts[pair] * math.log(probability[pair]) == pytest.approx(
            after - before, abs=1e-11
        )
        before = after


def test_states_are_drawn_as_paths_are_likely():
    corpus, table = two_sequences(2)
    state, n = random_state(corpus, 2, 2), 40_000
    wanted, (_, starts, rows) = by_paths(corpus, table, state)["smoothed"], corpus.by_sequence
    filtered, _ = hmm.filtered_of(corpus, state)
    drawn = np.zeros((n, 7), np.uint16)
    for i in range(n):
        draw_states(
            0,
            2,
            starts,
            rows,
            filtered,
            state.transitions,
            drawn[i],
            np.arange(2, dtype=np.uint64),
            key_of(i),
        )
    z = (drawn.mean(axis=0) - wanted[:, 1]) / np.sqrt(wanted.prod(axis=1) / n)
    assert np.abs(z).max() < 4.5
    pair = rows[1:3]  # two rows that follow each other in the first sequence: their joint law too
    both = np.array(list(pair_law(corpus, table, state, pair)))
    found = np.bincount(2 * drawn[:, pair[0]] + drawn[:, pair[1]], minlength=4) / n
    assert (np.abs(found - both) / np.sqrt(both * (1 - both) / n)).max() < 4.5


def pair_law(corpus, table, state, pair):
    """p(s_t, s_{t+1} | words) of each pair of states, by two words more that leave one state possible each."""
    whole = by_paths(corpus, table, state)["log"]
    other = state._replace(
        log_emissions=np.vstack([state.log_emissions, np.log([[1, 1e-300], [1e-300, 1]])])
    )
    for marks in itertools.product(np.eye(2), repeat=2):
        longer = np.hstack([table, np.zeros((7, 2))])
        longer[pair, 3:] = marks
        yield math.exp(by_paths(corpus, longer, other)["log"] - whole)


def test_a_count_far_too_large_for_a_product_of_probabilities_is_weighed():
    table = np.array([[100_000, 3], [7, 90_000]])
    corpus = corpus_of(table, [("a", 1), ("a", 2)])
    state = random_state(corpus, 2, 3)
    filtered, log_likelihood = hmm.filtered_of(corpus, state)
    best = (table @ state.log_emissions).max(axis=1)
    # but for p_0 and P
    assert np.isfinite(filtered).all() and log_likelihood == pytest.approx(best.sum(), rel=1e-4)


N_STATES, N_WORDS, ALPHA0 = 2, 3, 0.7
ROW_SIZES = (2, 0, 3, 1, 1, 2)
"""Words in the rows of two sequences, of four rows and of two."""


@kernel
def draw_parameters(of_first, of_steps, of_words, key):
    """p_0, P and log phi given counts."""
    first = draw_log_dirichlets(of_first.reshape(1, -1), 1.0, absorb(key, 1))
    steps, words = (
        draw_log_dirichlets(of_steps, 1.0, absorb(key, 2)),
        draw_log_dirichlets(of_words, ALPHA0, absorb(key, 3)),
    )
    return np.exp(first[0]), np.exp(steps), np.ascontiguousarray(words.T)


@kernel
def choose(stream, weights):
    """(the stream as it goes on, an index by its probability)"""
    stream, u = next_uniform(stream)
    i = 0
    while i < len(weights) - 1 and u >= weights[i]:
        u -= weights[i]
        i += 1
    return stream, i


@kernel
def draw_rows(starts, states, log_emissions, counts, key):
    """Counts (row * word,) of all rows given their states."""
    stream = stream_of(key, 0)
    counts[:] = 0
    for t in range(len(states)):
        for _ in range(ROW_SIZES[t]):
            stream, w = choose(stream, np.exp(log_emissions[:, states[t]]))
            counts[t * N_WORDS + w] += 1


@kernel
def note(first, steps, log_emissions, states, counts, row):
    """Bounded functions of all parts, and products of parts."""
    row[0], row[1], row[2] = first[0], steps[0, 0], steps[1, 0]
    row[3], row[4] = math.exp(log_emissions[0, 0]), math.exp(log_emissions[2, 1])
    row[5], row[6], row[7] = states[0], states[3], states[5]
    row[8] = (states[0] == states[1]) * steps[0, 0]
    row[9] = (states[4] == 0) * first[0]
    row[10], row[11] = counts[6] * row[3], counts[9] * (states[3] == 1)
    row[12] = (counts[6] > 0) * (counts[15] > 0)
    row[13] = first[0] ** 2
    row[14] = steps[1, 0] * row[4]


@kernel
def by_turns(n, chain, starts, rows, indptr, words, keys, key):
    """Parameters, states and counts from the prior, or (`chain`) the sampler and the data in turns: (draw, statistic)."""
    n_rows, kept = len(rows), np.empty((n, 15))
    none = (
        np.zeros(N_STATES, np.int64),
        np.zeros((N_STATES, N_STATES), np.int64),
        np.zeros((N_STATES, N_WORDS), np.int64),
    )
    states, counts, filtered = (
        np.zeros(n_rows, np.uint16),
        np.zeros(n_rows * N_WORDS, np.int32),
        np.empty((n_rows, N_STATES)),
    )
    for i in range(n):
        here = absorb(key, i)
        if i == 0 or not chain:
            first, steps, log_emissions = draw_parameters(*none, absorb(here, 4))
            stream = stream_of(here, 5)
            for sequence in range(len(starts) - 1):
                for t in range(starts[sequence], starts[sequence + 1]):
                    weights = first if t == starts[sequence] else steps[states[t - 1]]
                    stream, states[t] = choose(stream, weights)
            draw_rows(starts, states, log_emissions, counts, absorb(here, 6))
        else:
            filter_forward(
                0, 2, starts, rows, indptr, words, counts, first, steps, log_emissions, filtered
            )
            draw_states(0, 2, starts, rows, filtered, steps, states, keys, absorb(here, 7))
            tables = count_states(starts, rows, indptr, words, counts, states, N_WORDS, N_STATES)
            first, steps, log_emissions = draw_parameters(*tables, absorb(here, 8))
            draw_rows(starts, states, log_emissions, counts, absorb(here, 9))
        note(first, steps, log_emissions, states, counts, kept[i])
    return kept


@pytest.mark.slow  # 150,000 sweeps and 150,000 draws from the prior
def test_the_sampler_leaves_the_joint_distribution_as_it_is():
    n, starts, rows = 150_000, np.array([0, 4, 6]), np.arange(6)
    indptr, words = np.arange(7) * N_WORDS, np.tile(np.arange(N_WORDS, dtype=np.int32), 6)
    data = starts, rows, indptr, words, np.arange(2, dtype=np.uint64)
    assert_same_expectations(
        by_turns(n, True, *data, key_of(1)), by_turns(n, False, *data, key_of(2))
    )
