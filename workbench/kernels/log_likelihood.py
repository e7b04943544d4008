"""The log likelihood of pairs given their probabilities, and the running average of the probabilities (spec B.2, B.3).

Sixteen pairs are computed at a time, with one logarithm for many of them: while the counts c are small, the powers p^c are
multiplied, as long as the product is far from underflow. A product of positive numbers loses no accuracy, whatever its length.
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import inlined, lean
from workbench.kernels.simd.functions import count, logs, total
from workbench.kernels.simd.vectors import LANES, choose, doubles, load, spread, store

LARGEST_POWER = 3
"""Powers up to this are multiplied into a product with one logarithm; larger ones get a logarithm of their own."""
SMALLEST_PRODUCT = 1e-200


class Sum(NamedTuple):
    """Sixteen partial sums of logarithms, each stored as before + log(product)."""

    product: object  # product of the last factors p^c
    before: object  # sum of the logarithms of earlier factors


@inlined
def with_power(partial, c, p):
    """Return the partial sums `partial` plus c log p of sixteen pairs."""
    power = p * choose(c > 1, p, spread(1.0)) * choose(c > 2, p, spread(1.0))
    product = partial.product * power
    if count(c <= LARGEST_POWER) == LANES and count(product < SMALLEST_PRODUCT) == 0:
        return Sum(product, partial.before)
    return Sum(spread(1.0), partial.before + (logs(partial.product) + doubles(c) * logs(p)))


@inlined
def total_of(partial):
    """Return the total of the sixteen partial sums of logarithms."""
    return total(partial.before + logs(partial.product))


def last_block(values, filling) -> np.ndarray:
    """Return the elements after the last whole block of sixteen, padded to sixteen with `filling`."""
    block, n_left = np.full(LANES, filling, values.dtype), len(values) % LANES
    block[:n_left] = values[len(values) - n_left :]
    return block


def log_likelihood(counts: np.ndarray, probability: np.ndarray) -> float:
    """Return the log likelihood sum c log p over document-word pairs with integer counts c and probabilities p."""
    return _log_likelihood(counts, probability, last_block(counts, 1), last_block(probability, 1.0))


@lean
def _log_likelihood(counts: np.ndarray, probability: np.ndarray, last_counts, last_probability):
    partial = Sum(spread(1.0), spread(0.0))
    for _ in range(2):
        for i in range(0, len(counts) - LANES + 1, LANES):
            partial = with_power(partial, load(counts, i), load(probability, i))
        counts, probability = last_counts, last_probability
    return total_of(partial)


def take_in(
    counts: np.ndarray, probability: np.ndarray, mean, n_averaged, new_mean
) -> tuple[float, float]:
    """Update the running average of probabilities p; return the log likelihoods under p and under the average.

    probability (pair,) : p; mean (pair,) : the average of the ``n_averaged`` earlier ones; new_mean (pair,) : written
    """
    last_mean, n_left = last_block(mean, 1.0), len(mean) % LANES
    result = _take_in(
        counts,
        probability,
        mean,
        1.0 / (n_averaged + 1),
        new_mean,
        last_block(counts, 1),
        last_block(probability, 1.0),
        last_mean,
    )
    new_mean[len(mean) - n_left :] = last_mean[:n_left]
    return result


@lean
def _take_in(
    counts: np.ndarray,
    probability: np.ndarray,
    mean,
    share,
    new_mean,
    last_counts,
    last_probability,
    last_mean,
):
    state_sum, mean_sum = Sum(spread(1.0), spread(0.0)), Sum(spread(1.0), spread(0.0))
    for _ in range(2):
        for i in range(0, len(counts) - LANES + 1, LANES):
            c, p, m = load(counts, i), load(probability, i), load(mean, i)
            m += (p - m) * share
            store(new_mean, i, m)
            state_sum, mean_sum = with_power(state_sum, c, p), with_power(mean_sum, c, m)
        counts, probability, mean, new_mean = last_counts, last_probability, last_mean, last_mean
    return total_of(state_sum), total_of(mean_sum)
