"""Hidden Markov models of rows of counts: forward filter, backward draws of states, backward messages, counts of transitions.

    s_1 ~ p_0,  s_t | s_{t-1} ~ P[s_{t-1}],  x_t | s_t ~ Mult(N_t, phi[s_t])                                 spec D.3

    filter     a_t(s)  ~  p(x_t | s) sum_r a_{t-1}(r) P_rs,     log p(x) = sum_t log of the normaliser of a_t
    draws      s_T ~ a_T,   p(s_t | s_{t+1}, x)  ~  a_t(s_t) P[s_t, s_{t+1}]
    messages   b_t(s)  ~  sum_r P_sr p(x_{t+1} | r) b_{t+1}(r),     p(s_t | x)  ~  a_t b_t

A row without counts is legal anywhere: p(x_t | s) = 1. Multinomial coefficients are left out. Sequence i is the rows
rows[starts[i]:starts[i + 1]] of the corpus; arrays of rows are in its order. log_emissions (word, state) : finite.
"""

import math

import numpy as np

from workbench.kernels.jit import aside, fused, kernel
from workbench.kernels.simd.functions import fast_exp
from workbench.kernels.uniforms import next_uniform, stream_of


@fused
def _add_logs(
    begin, end, words: np.ndarray, counts: np.ndarray, log_emissions: np.ndarray, logs
) -> None:
    """Add log p(pairs begin..end | state) to logs (state,)."""
    for pair in range(begin, end):
        count, word_logs = np.float64(counts[pair]), log_emissions[words[pair]]
        for s in range(len(logs)):
            logs[s] += count * word_logs[s]


@aside
def _weigh(begin, end, words: np.ndarray, counts: np.ndarray, log_emissions: np.ndarray, logs):
    """Write p(pairs begin..end | state), divided by the largest, to logs (state,); return the logarithm of the largest."""
    n, largest = len(logs), -math.inf
    if begin == end:
        logs[:] = 1.0
        return 0.0
    logs[:] = 0.0
    _add_logs(begin, end, words, counts, log_emissions, logs)
    for s in range(n):
        largest = max(largest, logs[s])
    for s in range(n):
        logs[s] = fast_exp(logs[s] - largest)
    return largest


@fused
def _move(source, transitions: np.ndarray, target) -> None:
    """Write sum_r source_r P_rs, the state distribution after one transition, to target (state,)."""
    target[:] = 0.0
    for r in range(len(source)):
        weight, row = source[r], transitions[r]
        for s in range(len(target)):
            target[s] += weight * row[s]


@aside
def _multiply(weights, factors):
    """Multiply weights (state,) by factors and normalise them; return the normaliser."""
    total = 0.0
    for s in range(len(weights)):
        weights[s] *= factors[s]
        total += weights[s]
    for s in range(len(weights)):
        weights[s] /= total
    return total


@aside
def _normalise(logs):
    """Normalise logs (state,) so that exp(logs) sums to 1; return the log of the normaliser."""
    largest, total = -math.inf, 0.0
    for s in range(len(logs)):
        largest = max(largest, logs[s])
    for s in range(len(logs)):
        total += fast_exp(logs[s] - largest)
    total = largest + math.log(total)
    for s in range(len(logs)):
        logs[s] -= total
    return total


@kernel
def filter_forward(
    first: int,
    last: int,
    starts: np.ndarray,
    rows,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    first_state,
    transitions: np.ndarray,
    log_emissions: np.ndarray,
    filtered: np.ndarray,
):
    """Fill filtered (row, state) with p(s_t | x_1, …, x_t) of sequences first..last; return the sum of log p(x)."""
    logs, total = np.empty(len(first_state)), 0.0
    for i in range(first, last):
        for t in range(starts[i], starts[i + 1]):
            row = filtered[rows[t]]
            if t == starts[i]:
                row[:] = first_state
            else:
                _move(filtered[rows[t - 1]], transitions, row)
            total += _weigh(
                indptr[rows[t]], indptr[rows[t] + 1], words, counts, log_emissions, logs
            )
            total += math.log(_multiply(row, logs))
    return total


@kernel
def draw_states(
    first: int,
    last: int,
    starts: np.ndarray,
    rows,
    filtered: np.ndarray,
    transitions: np.ndarray,
    states,
    keys,
    key: np.uint64,
):
    """Draw the states (row,) of sequences first..last, last row first (backward sampling); return how many changed.

    keys (sequence,) uint64 : identify each sequence, whatever their order
    """
    n, n_moved = filtered.shape[1], 0
    weights = np.empty(n)
    for i in range(first, last):
        stream = stream_of(key, keys[i])
        for t in range(starts[i + 1] - 1, starts[i] - 1, -1):
            row_filtered, total = filtered[rows[t]], 0.0
            following = states[rows[t + 1]] if t + 1 < starts[i + 1] else 0
            for s in range(n):
                weights[s] = row_filtered[s] * (
                    transitions[s, following] if t + 1 < starts[i + 1] else 1.0
                )
                total += weights[s]
            stream, u = next_uniform(stream)
            u *= total
            state = 0
            while state < n - 1 and u >= weights[state]:
                u -= weights[state]
                state += 1
            n_moved += states[rows[t]] != state
            states[rows[t]] = state
    return n_moved


@kernel
def count_states(
    starts: np.ndarray,
    rows,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    states,
    n_words: int,
    n_states: int,
):
    """Return counts of first states (state,), transitions (from state, to state) and words (state, word), int64."""
    first_counts, step_counts = (
        np.zeros(n_states, np.int64),
        np.zeros((n_states, n_states), np.int64),
    )
    word_counts = np.zeros((n_states, n_words), np.int64)
    for i in range(len(starts) - 1):
        for t in range(starts[i], starts[i + 1]):
            s = states[rows[t]]
            if t == starts[i]:
                first_counts[s] += 1
            else:
                step_counts[states[rows[t - 1]], s] += 1
            for pair in range(indptr[rows[t]], indptr[rows[t] + 1]):
                word_counts[s, words[pair]] += counts[pair]
    return first_counts, step_counts, word_counts


@kernel
def backward_messages(
    first: int,
    last: int,
    starts: np.ndarray,
    rows,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    transitions: np.ndarray,
    log_emissions: np.ndarray,
    messages: np.ndarray,
) -> None:
    """Fill messages (row, state) with p(x_{t+1}, …, x_T | s_t), up to a factor per row, for sequences first..last."""
    n = len(transitions)
    logs = np.empty(n)
    for i in range(first, last):
        messages[rows[starts[i + 1] - 1]] = 1.0
        for t in range(starts[i + 1] - 1, starts[i], -1):
            _weigh(indptr[rows[t]], indptr[rows[t] + 1], words, counts, log_emissions, logs)
            _multiply(logs, messages[rows[t]])
            message = messages[rows[t - 1]]
            for s in range(n):
                total = 0.0
                for r in range(n):
                    total += transitions[s, r] * logs[r]
                message[s] = total


@kernel
def predict_pairs(
    first: int,
    last: int,
    starts: np.ndarray,
    rows,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    first_state,
    transitions: np.ndarray,
    log_emissions: np.ndarray,
    messages: np.ndarray,
    test_indptr,
    test_words,
    test_counts,
    probability: np.ndarray,
) -> None:
    """Fill probability (test pair,) with p(word | all training words, earlier held-out words of the sequence).

    Earlier are the words of earlier rows, and the earlier pairs of the same row. The product of p^count over the pairs of a
    sequence is the joint probability of its held-out words, given the parameters. messages : `backward_messages` of the
    training counts. If the held-out rows end a sequence, this continues the forward filter. It is computed in the log domain,
    since words of one row may favour states so different that a double underflows.
    """
    n = len(first_state)
    posterior, prior, log_posterior, log_known = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(first, last):
        for t in range(starts[i], starts[i + 1]):
            row = rows[t]
            if t == starts[i]:
                prior[:] = first_state
            else:
                _move(posterior, transitions, prior)
            log_posterior[:] = np.log(prior)
            _add_logs(indptr[row], indptr[row + 1], words, counts, log_emissions, log_posterior)
            log_known[:] = log_posterior + np.log(messages[row])  # p(s_t | what is known)
            _normalise(log_known)
            for pair in range(test_indptr[row], test_indptr[row + 1]):
                _add_logs(pair, pair + 1, test_words, test_counts, log_emissions, log_known)
                _add_logs(pair, pair + 1, test_words, test_counts, log_emissions, log_posterior)
                probability[pair] = math.exp(_normalise(log_known) / test_counts[pair])
            _normalise(log_posterior)
            posterior[:] = np.exp(log_posterior)
