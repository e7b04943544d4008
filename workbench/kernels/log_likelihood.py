"""The log likelihood of pairs from their probabilities, and the running average of these (spec B.2, B.3).

Sixteen pairs at a time, and with one logarithm for many of them: while powers p^c are small, and their product is far from
underflow, they are multiplied up. A product of positive numbers loses no accuracy, whatever its length.
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.lanes import LANES
from workbench.kernels.logarithms import logs
from workbench.kernels.vectors import choose, count, doubles, inlined, load, spread, store, total

LARGEST_POWER = 3
"""Of a pair that counts more the logarithm is taken at once."""
SMALLEST_PRODUCT = 1e-200


class Sum(NamedTuple):
    """A sum of logarithms under way, in sixteen lanes."""

    product: object  # of the last factors
    before: object   # logarithms of the factors before


@inlined
def with_power(known, c, p):
    """The sum with c log p."""
    power = p * choose(c > 1, p, spread(1.0)) * choose(c > 2, p, spread(1.0))
    product = known.product * power
    if count(c <= LARGEST_POWER) == LANES and count(product < SMALLEST_PRODUCT) == 0:
        return Sum(product, known.before)
    return Sum(spread(1.0), known.before + (logs(known.product) + doubles(c) * logs(p)))


@inlined
def total_of(known):
    """The sum over the lanes."""
    return total(known.before + logs(known.product))


@kernel
def last_block(values, filling):
    """The elements at the end that fill no block, filled up to one."""
    block, n_left = np.empty(LANES, values.dtype), len(values) % LANES
    for i in range(LANES):
        block[i] = values[len(values) - n_left + i] if i < n_left else filling
    return block


@kernel
def log_likelihood(counts, probability):
    """sum c log p over pairs: (pair,) whole, (pair,) float64."""
    known = Sum(spread(1.0), spread(0.0))
    for i in range(0, len(counts) - LANES + 1, LANES):
        known = with_power(known, load(counts, i), load(probability, i))
    return total_of(with_power(known, load(last_block(counts, 1), 0), load(last_block(probability, 1.0), 0)))


@kernel
def take_in(counts, probability, mean, n_averaged, new_mean):
    """Writes the mean of p and of ``n_averaged`` others whose mean is known; returns sum c log of p, and of that mean."""
    share, alone, of_mean = 1.0 / (n_averaged + 1), Sum(spread(1.0), spread(0.0)), Sum(spread(1.0), spread(0.0))
    for i in range(0, len(counts) - LANES + 1, LANES):
        c, p, m = load(counts, i), load(probability, i), load(mean, i)
        m += (p - m) * share
        store(new_mean, i, m)
        alone, of_mean = with_power(alone, c, p), with_power(of_mean, c, m)
    c, p, block = load(last_block(counts, 1), 0), load(last_block(probability, 1.0), 0), last_block(mean, 1.0)
    m = load(block, 0)
    m += (p - m) * share
    store(block, 0, m)
    n_left = len(mean) % LANES
    for i in range(n_left):
        new_mean[len(mean) - n_left + i] = block[i]
    return total_of(with_power(alone, c, p)), total_of(with_power(of_mean, c, m))
