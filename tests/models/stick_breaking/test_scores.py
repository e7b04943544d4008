"""Gains over a multinomial and hits among the most and least frequent words, by their definitions."""

from itertools import permutations

import numpy as np
import pytest

from workbench.corpus import Corpus
from workbench.models.model import Predicted
from workbench.models.stick_breaking.scores import GAINS, HITS, chance_among_top, expected_hits

ABOUT = {"n_documents": 4, "n_words": 4}
TRAIN = Corpus.from_pairs([0, 0, 1], [0, 1, 0], [5, 3, 2], **ABOUT)  # frequencies .7 .3 0 0
TEST = Corpus.from_pairs([2, 2, 3], [0, 2, 1], [2, 1, 3], **ABOUT)
P = np.array([0.5, 0.2, 0.25])
SEEN = np.array([0.0, 0.0, np.log(0.5**2), np.log(0.25**3)])
TOLERANCE = 1e-14  # float64, a handful of operations


def predicted(words=None):
    logs = np.array([0.0, 0.0, np.log(0.5**2 * 0.2), np.log(0.25**3)])
    return Predicted(P, logs, SEEN, words, P, words)


def test_gains_are_those_of_their_definitions():
    found = GAINS.compute(TRAIN, TEST, predicted())
    logs = 2 * np.log(0.5) + np.log(0.2) + 3 * np.log(0.25)
    clipped = 2 * np.log(0.7) + np.log(1e-8) + 3 * np.log(0.3)
    added = 2 * np.log(7.1 / 10.4) + np.log(0.1 / 10.4) + 3 * np.log(3.1 / 10.4)
    seen = (2 * np.log(0.5 / 0.7) + 3 * np.log(0.25 / 0.3)) / 5
    assert found == pytest.approx(
        {
            "test_log_likelihood": logs / 6,
            "test_gain_clipped": (logs - clipped) / 6,
            "test_gain_added": (logs - added) / 6,
            "test_gain_seen": seen,
            "test_gain_joint_clipped": (logs - clipped) / 6,
            "test_gain_joint_added": (logs - added) / 6,
            "test_gain_joint_seen": seen,
        },
        rel=TOLERANCE,
    )
    assert tuple(found) == tuple(each.name for each in GAINS.variables)


def test_a_prediction_of_training_frequencies_gains_nothing_on_seen_words():
    p, log_of_seen = (
        np.array([0.7, 0.1, 0.3]),
        np.array([0.0, 0.0, 2 * np.log(0.7), 3 * np.log(0.3)]),
    )
    found = GAINS.compute(TRAIN, TEST, predicted()._replace(probability=p, log_of_seen=log_of_seen))
    assert [found["test_gain_seen"], found["test_gain_joint_seen"]] == pytest.approx(
        [0, 0], abs=TOLERANCE
    )


def test_held_out_words_that_are_all_unseen_leave_no_gain_on_seen_words():
    test = Corpus.from_pairs([3], [2], [1], **ABOUT)
    found = GAINS.compute(TRAIN, test, predicted()._replace(probability=P[:1]))
    assert np.isnan([found["test_gain_seen"], found["test_gain_joint_seen"]]).all()


def among_top_by_all_orders(values, n):
    """(word,) the share of all orders, used to break ties, in which a word is among the n largest."""
    orders = list(permutations(range(len(values))))
    found = np.zeros(len(values))
    for order in orders:
        # sorting is stable: ties stay in this order
        found[sorted(order, key=lambda w: -values[w])[:n]] += 1
    return found / len(orders)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_ties_are_broken_as_all_orders_would_on_average(n):
    for values in ([3, 1, 1, 2, 1, 0], [0, 0, 0, 0, 0, 0], [5, 4, 3, 2, 1, 0], [2, 2, 2, 1, 1, 1]):
        found = chance_among_top(np.array([values], float), n)[0]
        assert found == pytest.approx(among_top_by_all_orders(values, n), abs=TOLERANCE)
        assert found.sum() == pytest.approx(n, abs=TOLERANCE)


def test_expected_hits_are_means_over_the_orders_of_both_sides():
    prediction, came = np.array([[0.4, 0.2, 0.2, 0.1, 0.1]]), np.array([[9.0, 0.0, 4.0, 0.0, 0.0]])
    for sign, found in zip((1, -1), expected_hits(prediction, came, 2), strict=True):
        wanted = among_top_by_all_orders(sign * prediction[0], 2) @ among_top_by_all_orders(
            sign * came[0], 2
        )
        assert found[0] == pytest.approx(wanted, abs=TOLERANCE)


def test_a_prediction_without_differences_hits_as_chance_does():
    """Ties by index would give 10: here 10 of 100 words, each with chance .1."""
    most, least = expected_hits(np.full((1, 100), 0.01), np.arange(100.0)[None])
    assert (most[0], least[0]) == pytest.approx((1.0, 1.0), abs=1e-13)


def test_hits_are_over_the_rows_with_held_out_words():
    random = np.random.default_rng(0)
    counts, words = (
        random.multinomial(200, np.full(30, 1 / 30), 3),
        random.dirichlet(np.ones(30), 3),
    )
    rows, at = np.nonzero(counts)
    test = Corpus.from_pairs(2 * rows, at, counts[rows, at], n_documents=6, n_words=30)
    found = HITS.compute(None, test, predicted(words))
    most, least = expected_hits(words, counts)
    wanted = most.mean(), most.std(), least.mean(), least.std()
    assert tuple(found.values()) == pytest.approx(wanted, rel=TOLERANCE)
    perfect = HITS.compute(None, test, predicted(counts + random.random(counts.shape) / 2))
    assert perfect["test_top_hits"] > 9 and np.isnan(
        HITS.compute(None, test, predicted())["test_top_hits"]
    )
