"""Held-out perplexity, each iteration: of the state, and of the running average (spec B.2, B.3).

    perplexity = exp( - (1/N) sum_dw n_dw log p(w | d) )

The running average takes p(w | d) of every iteration after burn-in, token by token, so that switched
labels do no harm. Until burn-in is over it is that of the state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus


class Average(NamedTuple):
    """The running average of p(w|d) of the test pairs; part of a checkpoint."""

    probability: np.ndarray  # (test pair,) float64
    n_averaged: int


def perplexity(pairs: Corpus, probability: np.ndarray) -> float:
    """exp of the mean negative log probability per token; NaN where there is no token."""
    if pairs.n_tokens == 0:
        return float("nan")
    log_likelihood = np.sum(pairs.counts * np.log(probability))  # no BLAS: its threads spin, and its bits depend on them
    return float(np.exp(-log_likelihood / pairs.n_tokens))


def start_average(test: Corpus | None) -> Average:
    return Average(np.zeros(0 if test is None else test.n_pairs), 0)


def score(engine, train, test, model, options, state, average: Average, past_burn_in: bool) -> tuple[Average, dict]:
    """The average with this iteration taken in, and the test perplexities by name."""
    if test is None:
        return average, {}
    probability = engine.predict(train, model, options, state, test)
    alone = perplexity(test, probability)
    averaged = alone
    if past_burn_in:
        n = average.n_averaged + 1
        average = Average(average.probability + (probability - average.probability) / n, n)
        averaged = perplexity(test, average.probability)
    headline = averaged if engine.samples(train, options) else alone
    return average, {"test_perplexity": headline, "test_perplexity_state": alone, "test_perplexity_average": averaged}
