"""Scores of held-out data that a family has beside the perplexities.

A model has them as ``scores``. Each number is recorded with the perplexities, where something is held out.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.models.variables import Variable


class Predicted(NamedTuple):
    """Probabilities of held-out data.

    The first three are those that ``test_perplexity`` scores: of the state until burn-in is over and where nothing is
    sampled, else their mean over the iterations since.
    """

    probability: np.ndarray  # (test pair,)
    # (group,) log probability of all held-out items of each group of the test set together
    log_of_groups: np.ndarray
    # (group,) the same of items whose word has a training item; None: nothing asks for it
    log_of_seen: np.ndarray | None
    # (row with test pairs, word) distributions; None: the engine has no `predict_rows`
    words: np.ndarray | None
    state_probability: np.ndarray  # (test pair,) of the state alone
    state_words: np.ndarray | None  # (row, word) of the state alone


class Scores(NamedTuple):
    """Some scores that are computed together."""

    variables: tuple[Variable, ...]  # numbers of each iteration, with ``better``
    # (train, test, Predicted) -> the number of each of them, by name
    compute: Callable
    # is it computed from ``log_of_seen``, which corpora have alone?
    of_seen: bool = False


LOG_LIKELIHOOD = Variable(
    "test_log_likelihood",
    ("iteration",),
    "nats",
    "mean log probability of a held-out item: minus the log of the held-out perplexity",
    better="higher",
)
"""The score of families whose perplexities are reported in nats."""


def seen_in_training(train: Corpus, test: Corpus) -> np.ndarray:
    """Return whether the word of each test pair has a training item (test pair,)."""
    return np.bincount(train.words, train.counts, train.n_words)[test.words] > 0
