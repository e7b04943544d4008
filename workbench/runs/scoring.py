"""Held-out perplexity in each iteration, of the state and of the running average (spec B.2, B.3).

    perplexity = exp( - (1/N) sum_dw n_dw log p(w | d) )        N tokens; of records N known cells

The running average is over p(w | d) of every iteration after burn-in, token by token, so that label switching does no harm.
Until burn-in is over it is that of the state. With p_s that of iteration s, the probabilities of whole documents (records;
sequences, if documents form sequences), and of all held-out tokens together, are averaged too (spec of stick-breaking B.8)::

    by document   exp( - (1/N) sum_d log (1/S) sum_s prod_{w in d} p_s(w | d)^n_dw )
    jointly       exp( - (1/N)       log (1/S) sum_s prod_dw       p_s(w | d)^n_dw )
"""

from typing import NamedTuple

import numpy as np

from workbench.engines.engine import Data, Engine, Options, State, StepContext
from workbench.kernels.log_likelihood import log_likelihood, take_in
from workbench.models.model import Model, Predicted, seen_in_training


class Average(NamedTuple):
    """The running average of p(w|d) after burn-in, for each test pair."""

    probability: np.ndarray  # (test pair or cell,) float64
    n_averaged: int  # number of iterations averaged
    log_of_groups: np.ndarray  # (group,) log of the sum over iterations of the joint probability
    # log of the sum over iterations of the joint probability of all held-out tokens
    log_of_all: float = -np.inf
    # (row with test pairs, word) average p(w|d); None without `predict_rows`, or before burn-in is over
    words: np.ndarray | None = None
    # (group,) as log_of_groups, for words seen in training; None if no score needs it
    log_of_seen: np.ndarray | None = None


class Logs(NamedTuple):
    """Log likelihoods of held-out items, in nats, which can be added over the parts of a test set."""

    of_state: float  # under this iteration's probabilities
    of_average: float  # under the running average
    by_document: float  # sum over groups of the log of the average joint probability
    joint: float  # log of the joint probability of all items in this iteration


def perplexity(items: Data, probability: np.ndarray) -> float:
    """Return the perplexity: exp of the mean negative log probability per item (token or cell); NaN without items."""
    return perplexity_of(log_likelihood(items.weights, probability), items)


def perplexity_of(log_likelihood: float, items: Data) -> float:
    """Return the perplexity of items from their log likelihood in nats; NaN without items."""
    return float(np.exp(-log_likelihood / items.n_items)) if items.n_items else float("nan")


def initial_average(test: "Data | None") -> Average:
    n_entries, n_groups = (
        (0, 0) if test is None else (len(test.weights), int(test.groups.max(initial=-1)) + 1)
    )
    return Average(np.zeros(n_entries), 0, np.full(n_groups, -np.inf))


def predict_entries(
    engine: Engine,
    train: Data,
    model: Model,
    options: Options,
    state: State,
    test: Data,
    context: StepContext,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the probability of each test pair or cell under the state, and p(w|d) (row, word) of rows that have test pairs.

    The latter are None unless the engine predicts whole rows.
    """
    if engine.predict_rows is None:
        return engine.predict(train, model, options, state, test, context), None
    rows, row_of = np.unique(test.documents, return_inverse=True)
    words = engine.predict_rows(train, model, options, state, rows, context)
    return words[row_of, test.words], words


def score(
    engine: Engine,
    train: Data,
    test: "Data | None",
    model: Model,
    options: Options,
    state: State,
    average: Average,
    past_burn_in: bool,
    context: StepContext = None,
) -> tuple[Average, dict, Predicted | None]:
    """Score a state: return the updated running average, the test perplexities by name, and the input of further scores."""
    if test is None:
        return average, {}, None
    samples = engine.samples(train, options)
    seen_words = (
        seen_in_training(train, test) if any(measure.of_seen for measure in model.scores) else None
    )
    probability, words = predict_entries(engine, train, model, options, state, test, context)
    old_average, (average, logs) = (
        average,
        updated_average(test, probability, average, past_burn_in),
    )
    if past_burn_in:
        log_of_seen = old_average.log_of_seen
        if seen_words is not None:
            logs_of_seen = _group_logs(test, probability, seen_words)
            log_of_seen = (
                logs_of_seen if log_of_seen is None else np.logaddexp(log_of_seen, logs_of_seen)
            )
        n = old_average.n_averaged
        mean_words = (
            words
            if old_average.words is None or words is None
            else old_average.words + (words - old_average.words) / (n + 1)
        )
        average = average._replace(words=mean_words, log_of_seen=log_of_seen)
    average, scores = scores_from(logs, average, test, samples, past_burn_in)
    if not model.scores:
        return average, scores, None
    return (
        average,
        scores,
        _prediction(
            test, probability, words, seen_words, average if samples and past_burn_in else None
        ),
    )


def updated_average(
    test: Data, probability: np.ndarray, average: Average, past_burn_in: bool
) -> tuple[Average, Logs]:
    """Update the running average by one iteration's probabilities, if burn-in is over; return it and the log likelihoods.

    `log_of_all` is left to `scores_from`, so that the results for the parts of a test set can be added.
    """
    if not past_burn_in:
        log_of_state = log_likelihood(test.weights, probability)
        return average, Logs(log_of_state, log_of_state, np.nan, np.nan)
    mean, n = np.empty_like(probability), average.n_averaged
    log_of_state, log_of_average = take_in(test.weights, probability, average.probability, n, mean)
    logs = _group_logs(test, probability)
    log_of_groups = np.logaddexp(average.log_of_groups, logs)
    by_document = (log_of_groups - np.log(n + 1)).sum()
    return Average(mean, n + 1, log_of_groups, average.log_of_all), Logs(
        log_of_state, log_of_average, by_document, logs.sum()
    )


def scores_from(
    logs: Logs, average: Average, test: Data, samples: bool, past_burn_in: bool
) -> tuple[Average, dict]:
    """Return the running average with `log_of_all` updated, if burn-in is over, and the test perplexities by name.

    samples : whether the engine samples tokens, so that the perplexity is that of the average
    """
    if past_burn_in:
        average = average._replace(log_of_all=float(np.logaddexp(average.log_of_all, logs.joint)))
    state_perplexity, average_perplexity = (perplexity_of(log, test) for log in logs[:2])
    by_document = joint = state_perplexity
    if samples and past_burn_in:
        by_document = perplexity_of(logs.by_document, test)
        joint = perplexity_of(average.log_of_all - np.log(average.n_averaged), test)
    return average, {
        "test_perplexity": average_perplexity if samples else state_perplexity,
        "test_perplexity_state": state_perplexity,
        "test_perplexity_average": average_perplexity,
        "test_perplexity_by_document": by_document,
        "test_perplexity_joint": joint,
    }


def further_scores(
    train: Data, test: "Data | None", model: Model, predicted: Predicted | None
) -> dict:
    """Return the scores that the model's family adds to the perplexities; {} if none, or without held-out items."""
    if predicted is None:
        return {}
    return {
        name: value
        for measure in model.scores
        for name, value in measure.compute(train, test, predicted).items()
    }


def _prediction(
    test: Data,
    probability: np.ndarray,
    words: np.ndarray | None,
    seen_words: np.ndarray | None,
    average: Average | None,
) -> Predicted:
    """Return the input of further scores: the running average's predictions, or the state's if ``average`` is None."""
    if average is None:
        log_of_seen = None if seen_words is None else _group_logs(test, probability, seen_words)
        return Predicted(
            probability, _group_logs(test, probability), log_of_seen, words, probability, words
        )
    log_n = np.log(average.n_averaged)
    log_of_seen = None if seen_words is None else average.log_of_seen - log_n
    return Predicted(
        average.probability,
        average.log_of_groups - log_n,
        log_of_seen,
        average.words,
        probability,
        words,
    )


def _group_logs(
    test: Data, probability: np.ndarray, pairs: np.ndarray | slice = slice(None)
) -> np.ndarray:
    """Return the log joint probability (group,) of each group's held-out items.

    pairs : the pairs to include, by default all
    """
    with np.errstate(divide="ignore"):
        logs = test.weights[pairs] * np.log(probability[pairs])
    return np.bincount(test.groups[pairs], logs, int(test.groups.max(initial=-1)) + 1)
