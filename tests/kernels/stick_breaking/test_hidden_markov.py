"""Hidden Markov models: filter, messages and predictions against sums over all paths."""

import itertools
import math

import numpy as np
import pytest
from geweke import key_of
from toys import corpus_of_table, dense, read_oracles

from workbench.corpus.splits import hold_out_tokens
from workbench.engines.stick_breaking import hmm
from workbench.kernels.stick_breaking.hidden_markov import draw_states

ORACLE = read_oracles("stick_breaking")["hmm_T3"]


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
    return corpus_of_table(
        table, sequence=[("a", 3), ("b", 9), ("a", 1), ("a", 2), ("b", 1), ("a", 7), ("b", 2)]
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
    corpus = corpus_of_table(ORACLE["x"], sequence=[("a", t) for t in range(3)])
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
        held = dense(test)
    train, test = (corpus_of_table(part, sequence=corpus.sequence) for part in (table - held, held))
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
    corpus = corpus_of_table(table, sequence=[("a", 1), ("a", 2)])
    state = random_state(corpus, 2, 3)
    filtered, log_likelihood = hmm.filtered_of(corpus, state)
    best = (table @ state.log_emissions).max(axis=1)
    # but for p_0 and P
    assert np.isfinite(filtered).all() and log_likelihood == pytest.approx(best.sum(), rel=1e-4)
