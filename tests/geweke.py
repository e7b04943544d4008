"""How far the draws of a sampler are off, by batch means, and what Geweke's tests share: keys, and the comparison.

Geweke (2004), "Getting it right": parameters and data drawn from the prior, and in turns by the sampler and given the
parameters, have the same expectations.
"""

import math

import numpy as np
from scipy import stats

from workbench.kernels.uniforms import draw_key


def z_of(chain, wanted, n_batches=100):
    """How many standard errors, by batch means, a chain (draw, …) is off."""
    batches = np.reshape(
        chain[: len(chain) // n_batches * n_batches], (n_batches, -1, *np.shape(chain)[1:])
    ).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / math.sqrt(n_batches)
    return np.abs(batches.mean(axis=0) - wanted) / np.maximum(error, 1e-12)  # some never change


def assert_same_expectations(chain, independent, n_batches=60):
    """A chain (draw, statistic) and independent draws have the same means: each within four standard errors."""
    batches = chain.reshape(n_batches, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(
        batches.var(axis=0, ddof=1) / n_batches + independent.var(axis=0) / len(independent)
    )
    z = (chain.mean(axis=0) - independent.mean(axis=0)) / error
    assert np.abs(z).max() < 4, z
    # the statistics are dependent, so a loose bound
    assert stats.chi2.sf((z**2).sum(), len(z)) > 1e-6


def key_of(step):
    """The key of the random numbers of a step."""
    return np.uint64(draw_key(1, 2, 3, step))
