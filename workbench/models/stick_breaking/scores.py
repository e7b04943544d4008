"""Scores of held-out rows and sequences: gains over a multinomial, and hits among the most and the least frequent words.

A gain is in nats per item (birth, symbol) over one multinomial for all rows, that of the training frequencies f_w = n_w / N:

    clipped   p_w = max(f_w, 1e-8)                   as in the authors' programs: nearly all is lost with an unseen word
    add-0.1   p_w = (n_w + 0.1) / (N + 0.1 W)
    seen      p_w = f_w                              over the held-out items alone whose word has a training item

Source: specification of stick-breaking, C.6, D.5; Linderman, Johnson & Adams (2015), table 3 and figure 4.
"""

import numpy as np

from workbench.models.model import LOG_LIKELIHOOD, Predicted, Scores, seen_in_training
from workbench.models.variables import Variable

LEAST = 1e-8
ADDED = 0.1
N_HITS = 10


def _score(name: str, unit: str, meaning: str, better: str = "higher") -> Variable:
    return Variable(name, ("iteration",), unit, meaning, better=better)


def log_bases(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log word probabilities (word,) of two baselines: clipped training frequencies, and add-0.1 smoothing."""
    total = counts.sum()
    return np.log(np.maximum(counts / total, LEAST)), np.log(
        (counts + ADDED) / (total + ADDED * len(counts))
    )


def gains(train, test, predicted: Predicted) -> dict[str, float]:
    """Return name → log likelihood per held-out token, or gain over a baseline; NaN where no token can be scored."""
    counts = np.bincount(train.words, train.counts, train.n_words)
    is_seen = seen_in_training(train, test)
    clipped, added = (base[test.words] for base in log_bases(counts))
    with np.errstate(divide="ignore"):
        logs = np.log(predicted.probability)
    n_seen = test.counts[is_seen].sum()
    joint = predicted.log_of_groups.sum() / test.n_tokens

    def item_mean(values: np.ndarray) -> float:
        return float(test.counts @ values / test.n_tokens)

    def seen_item_mean(logs: float) -> float:
        return (
            float((logs - test.counts[is_seen] @ clipped[is_seen]) / n_seen)
            if n_seen
            else float("nan")
        )

    return {
        "test_log_likelihood": item_mean(logs),
        "test_gain_clipped": item_mean(logs - clipped),
        "test_gain_added": item_mean(logs - added),
        "test_gain_seen": seen_item_mean(test.counts[is_seen] @ logs[is_seen]),
        "test_gain_joint_clipped": float(joint - item_mean(clipped)),
        "test_gain_joint_added": float(joint - item_mean(added)),
        "test_gain_joint_seen": seen_item_mean(predicted.log_of_seen.sum()),
    }


def chance_among_top(values: np.ndarray, n: int = N_HITS) -> np.ndarray:
    """Return the probability (row, word) that each word is among its row's n largest, ties broken at random.

    With g words above it and e words equal to it, including itself, it is (n - g) / e, clipped to [0, 1].
    """
    ordered = np.sort(values, axis=1)
    n_up_to = np.stack(
        [np.searchsorted(row, value, "right") for row, value in zip(ordered, values, strict=True)]
    )
    n_below = np.stack(
        [np.searchsorted(row, value, "left") for row, value in zip(ordered, values, strict=True)]
    )
    return np.clip((n - (values.shape[1] - n_up_to)) / (n_up_to - n_below), 0.0, 1.0)


def expected_hits(
    predicted: np.ndarray, counts: np.ndarray, n: int = N_HITS
) -> tuple[np.ndarray, np.ndarray]:
    """Return expected hits (row,): words both predicted and observed among the n most frequent, and among the n least frequent.

    ``predicted`` are probabilities and ``counts`` observed counts, (row, word). Ties are broken at random and independently in
    both: the expectation is sum_w P(w among the predicted n) P(w among the observed n).
    """
    most_frequent, least_frequent = (
        (chance_among_top(sign * predicted, n) * chance_among_top(sign * counts, n)).sum(axis=1)
        for sign in (1.0, -1.0)
    )
    return most_frequent, least_frequent


def hits(train, test, predicted: Predicted) -> dict[str, float]:
    """Return name → mean and standard deviation of `expected_hits` over held-out documents; NaN without ``predicted.words``."""
    names = [score.name for score in HITS.variables]
    if predicted.words is None:
        return dict.fromkeys(names, float("nan"))
    rows, positions = np.unique(test.documents, return_inverse=True)
    counts = np.zeros((len(rows), test.n_words))
    counts[positions, test.words] = test.counts
    expected = expected_hits(predicted.words, counts)
    return dict(
        zip(
            names,
            (float(value) for score in expected for value in (score.mean(), score.std())),
            strict=True,
        )
    )


GAINS = Scores(
    (
        LOG_LIKELIHOOD,
        _score(
            "test_gain_clipped",
            "nats",
            "gain per held-out item over training frequencies, unseen words clipped at 1e-8",
        ),
        _score(
            "test_gain_added",
            "nats",
            "gain per held-out item over training frequencies with 0.1 added to each count",
        ),
        _score(
            "test_gain_seen",
            "nats",
            "gain per held-out item over training frequencies, of words seen in training alone",
        ),
        _score(
            "test_gain_joint_clipped",
            "nats",
            "gain per held-out item of the joint probability of each row or sequence, over "
            "training frequencies with unseen words clipped at 1e-8",
        ),
        _score(
            "test_gain_joint_added",
            "nats",
            "gain per held-out item of the joint probability of each row or sequence, over "
            "training frequencies with 0.1 added to each count",
        ),
        _score(
            "test_gain_joint_seen",
            "nats",
            "gain per held-out item of the joint probability of each row or sequence, over "
            "training frequencies, of words seen in training alone",
        ),
    ),
    gains,
    of_seen=True,
)
"""Gains: scores of all models of rows and of sequences."""

HITS = Scores(
    (
        _score(
            "test_top_hits",
            "words",
            "of the 10 most frequent words of a row, how many are predicted; mean over held-out rows",
        ),
        _score(
            "test_top_hits_sd",
            "words",
            "standard deviation of these hits over the held-out rows",
            better="",
        ),
        _score(
            "test_bottom_hits",
            "words",
            "of the 10 least frequent words of a row, how many are predicted; mean over held-out rows",
        ),
        _score(
            "test_bottom_hits_sd",
            "words",
            "standard deviation of these hits over the held-out rows",
            better="",
        ),
    ),
    hits,
)
"""Hits: scores of models whose engines predict whole rows."""
