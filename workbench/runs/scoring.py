"""Held-out perplexity, each iteration: of the state, and of the running average (spec B.2, B.3).

    perplexity = exp( - (1/N) sum_dw n_dw log p(w | d) )

The running average takes p(w | d) of every iteration after burn-in, token by token, so that switched
labels do no harm. Until burn-in is over it is that of the state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.kernels.log_likelihood import log_likelihood, take_in


class Average(NamedTuple):
    """The running average of p(w|d) of the test pairs; part of a checkpoint."""

    probability: np.ndarray  # (test pair,) float64
    n_averaged: int


def perplexity(pairs: Corpus, probability: np.ndarray) -> float:
    """exp of the mean negative log probability per token; NaN where there is no token."""
    return _of_mean(log_likelihood(pairs.counts, probability), pairs)


def _of_mean(log_likelihood: float, pairs: Corpus) -> float:
    return float(np.exp(-log_likelihood / pairs.n_tokens)) if pairs.n_tokens else float("nan")


def initial_average(test: Corpus | None) -> Average:
    return Average(np.zeros(0 if test is None else test.n_pairs), 0)


def score(engine, train, test, model, options, state, average: Average, past_burn_in: bool) -> tuple[Average, dict]:
    """The average with this iteration taken in, and the test perplexities by name."""
    if test is None:
        return average, {}
    probability = engine.predict(train, model, options, state, test)
    if past_burn_in:
        mean = np.empty_like(probability)
        logs = take_in(test.counts, probability, *average, mean)
        average, (alone, averaged) = Average(mean, average.n_averaged + 1), (_of_mean(each, test) for each in logs)
    else:
        alone = averaged = perplexity(test, probability)
    headline = averaged if engine.samples(train, options) else alone
    return average, {"test_perplexity": headline, "test_perplexity_state": alone, "test_perplexity_average": averaged}
