"""Held-out perplexity, each iteration: of the state, and of the running average (spec B.2, B.3).

    perplexity = exp( - (1/N) sum_dw n_dw log p(w | d) )        N tokens; of records N known cells

The running average takes p(w | d) of every iteration after burn-in, token by token, so that switched
labels do no harm. Until burn-in is over it is that of the state. With p_s that of iteration s, averaged are also the
probabilities of whole documents (records), and of all held-out tokens together (stick-breaking spec, B.8)::

    by document   exp( - (1/N) sum_d log (1/S) sum_s prod_{w in d} p_s(w | d)^n_dw )
    jointly       exp( - (1/N)       log (1/S) sum_s prod_dw       p_s(w | d)^n_dw )
"""

from typing import NamedTuple

import numpy as np

from workbench.kernels.log_likelihood import log_likelihood, take_in


class Average(NamedTuple):
    """The running average of p(w|d) of the test pairs; part of a checkpoint."""

    probability: np.ndarray  # (test pair or cell,) float64
    n_averaged: int
    log_of_groups: np.ndarray | None = None  # (document or record,) log of the sum of its probabilities; None: of an older run
    log_of_all: float = -np.inf              # log of the sum of the probabilities of all held-out tokens together


def perplexity(items, probability: np.ndarray) -> float:
    """exp of the mean negative log probability per item (a token, a cell); NaN where there is none."""
    return _of_mean(log_likelihood(items.weights, probability), items)


def _of_mean(log_likelihood: float, items) -> float:
    return float(np.exp(-log_likelihood / items.n_items)) if items.n_items else float("nan")


def initial_average(test) -> Average:
    n_entries, n_groups = (0, 0) if test is None else (len(test.weights), int(test.groups.max(initial=-1)) + 1)
    return Average(np.zeros(n_entries), 0, np.full(n_groups, -np.inf))


def score(
    engine, train, test, model, options, state, average: Average, past_burn_in: bool, context=None
) -> tuple[Average, dict]:
    """The average with this iteration taken in, and the test perplexities by name."""
    if test is None:
        return average, {}
    probability, samples = engine.predict(train, model, options, state, test, context), engine.samples(train, options)
    whole = average.log_of_groups is not None
    if past_burn_in:
        mean = np.empty_like(probability)
        logs = take_in(test.weights, probability, average.probability, average.n_averaged, mean)
        sums = _take_in_whole(test, probability, average) if whole else ()
        average, (alone, averaged) = Average(mean, average.n_averaged + 1, *sums), (_of_mean(each, test) for each in logs)
    else:
        alone = averaged = perplexity(test, probability)
    scores = {
        "test_perplexity": averaged if samples else alone, "test_perplexity_state": alone, "test_perplexity_average": averaged,
    }
    if whole:
        by_document, joint = _of_whole(test, average) if samples and past_burn_in else (alone, alone)
        scores |= {"test_perplexity_by_document": by_document, "test_perplexity_joint": joint}
    return average, scores


def _take_in_whole(test, probability: np.ndarray, average: Average) -> tuple[np.ndarray, float]:
    """The sums of the probabilities of whole documents, and of all tokens together, with one iteration more; logarithms."""
    with np.errstate(divide="ignore"):
        logs = np.bincount(test.groups, test.weights * np.log(probability), len(average.log_of_groups))
    return np.logaddexp(average.log_of_groups, logs), float(np.logaddexp(average.log_of_all, logs.sum()))


def _of_whole(test, average: Average) -> tuple[float, float]:
    """The perplexities by document and jointly."""
    of_mean = np.log(average.n_averaged)
    return _of_mean((average.log_of_groups - of_mean).sum(), test), _of_mean(average.log_of_all - of_mean, test)
