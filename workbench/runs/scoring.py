"""Held-out perplexity, each iteration: of the state, and of the running average (spec B.2, B.3).

    perplexity = exp( - (1/N) sum_dw n_dw log p(w | d) )        N tokens; of records N known cells

The running average takes p(w | d) of every iteration after burn-in, token by token, so that switched
labels do no harm. Until burn-in is over it is that of the state.
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.log_likelihood import log_likelihood, take_in


class Average(NamedTuple):
    """The running average of p(w|d) of the test pairs; part of a checkpoint."""

    probability: np.ndarray  # (test pair or cell,) float64
    n_averaged: int


def perplexity(items, probability: np.ndarray) -> float:
    """exp of the mean negative log probability per item (a token, a cell); NaN where there is none."""
    return _of_mean(log_likelihood(items.weights, probability), items)


def _of_mean(log_likelihood: float, items) -> float:
    return float(np.exp(-log_likelihood / items.n_items)) if items.n_items else float("nan")


def initial_average(test) -> Average:
    return Average(np.zeros(0 if test is None else len(test.weights)), 0)


def score(engine, train, test, model, options, state, average: Average, past_burn_in: bool) -> tuple[Average, dict]:
    """The average with this iteration taken in, and the test perplexities by name."""
    if test is None:
        return average, {}
    probability = engine.predict(train, model, options, state, test)
    if past_burn_in:
        mean = np.empty_like(probability)
        logs = take_in(test.weights, probability, *average, mean)
        average, (alone, averaged) = Average(mean, average.n_averaged + 1), (_of_mean(each, test) for each in logs)
    else:
        alone = averaged = perplexity(test, probability)
    headline = averaged if engine.samples(train, options) else alone
    return average, {"test_perplexity": headline, "test_perplexity_state": alone, "test_perplexity_average": averaged}
