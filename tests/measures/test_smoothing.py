"""Smoothed curves."""

import numpy as np
import pytest

from workbench.measures.smoothing import smoothed


def twin(values, weight):
    """The loop of TensorBoard: an average that begins at zero, divided by what it weighs so far."""
    result, last, n = [], 0.0, 0
    for value in values:
        if np.isfinite(value):
            last, n = last * weight + (1 - weight) * value, n + 1
            value = last / (1 - weight**n)
        result.append(value)
    return np.array(result)


@pytest.mark.parametrize("weight", [0.01, 0.6, 0.99])
def test_smoothed_equals_the_average_of_tensorboard(weight):
    values = np.random.default_rng(0).normal(2000, 50, 300)
    values[[0, 17, 299]] = np.nan, np.inf, np.nan
    # two orders of adding up
    np.testing.assert_allclose(smoothed(values, weight), twin(values, weight), rtol=1e-9)


def test_smoothed_stays_within_the_values_and_keeps_constants():
    np.testing.assert_allclose(smoothed(np.full(5, 7.0), 0.9), 7.0)
    values = np.array([3.0, 1.0, 2.0])
    assert smoothed(values, 0.5)[0] == 3.0 and smoothed(values, 0.0).tolist() == values.tolist()
    assert len(smoothed(np.empty(0), 0.5)) == 0


@pytest.mark.parametrize("weight", [1.0, -0.1, np.nan])
def test_smoothed_refuses_weights_outside_their_range(weight):
    with pytest.raises(ValueError, match="from 0 to below 1"):
        smoothed(np.ones(3), weight)
