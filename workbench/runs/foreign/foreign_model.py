"""A model of another program in a form that is common to all programs, its check, and the error for invalid models."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import InputError

NEAR_ONE = 1e-3
"""How far a sum of probabilities may be from 1: programs use single precision, and text files few digits."""


class ForeignError(InputError):
    """Raised for a model of another program that cannot be imported as a run."""


class ForeignModel(NamedTuple):
    """A topic model fitted by another program: phi, and where known its words, theta, documents and priors."""

    engine: str  # name in `workbench.engines.IMPORTED`
    program: str  # name and version of the program
    phi: np.ndarray  # (topic, word) float64
    words: tuple[str, ...] | None  # None if the program has only numbers of words
    # (document, topic) float64 of training documents; rows of NaN where the program has none
    theta: np.ndarray | None = None
    # function that returns theta of documents, as the program infers it
    infer: Callable[[Corpus], np.ndarray] | None = None
    titles: tuple[str, ...] | None = None  # (document,) names of the documents in the program
    # indptr, words and counts of the documents that the program has kept, words ascending
    tokens: tuple | None = None
    topic_prior: tuple[float, ...] | None = None
    word_prior: float | None = None
    iterations: int | None = None


def one_per_topic(alpha: np.typing.ArrayLike, n_topics: int) -> tuple[float, ...]:
    """Return alpha as a tuple with one number per topic; a single number is repeated."""
    alphas = tuple(np.ravel(alpha).tolist())
    return alphas * n_topics if len(alphas) == 1 else alphas


def checked(foreign: ForeignModel) -> ForeignModel:
    """Return the model with float64 arrays; raise ForeignError if shapes disagree or rows are no distributions."""
    phi = _probabilities("phi", foreign.phi, "topic")
    theta = foreign.theta
    if foreign.words is not None:
        if len(foreign.words) != phi.shape[1]:
            raise ForeignError(
                f"phi has a column for each word; got {phi.shape[1]:,} columns and {len(foreign.words):,} "
                "words; give the words in the order of the columns"
            )
        if len(set(foreign.words)) < len(foreign.words):
            seen_words: set[str] = set()
            repeated_word = next(
                word for word in foreign.words if word in seen_words or seen_words.add(word)
            )
            raise ForeignError(
                f"each word of a model is one column of phi; {repeated_word!r} comes twice; add its columns up"
            )
    if theta is not None:
        theta = np.ascontiguousarray(theta, np.float64)
        if theta.ndim != 2 or theta.shape[1] != len(phi):
            raise ForeignError(
                f"theta has a row for each training document and a column for each of the {len(phi):,} "
                f"topics; got the shape {theta.shape}; give theta of the same model"
            )
        has_theta = ~np.isnan(theta).all(axis=1)
        _probabilities("theta", theta[has_theta], "document", np.flatnonzero(has_theta))
    return foreign._replace(phi=phi, theta=theta)


def _probabilities(
    name: str, values: np.typing.ArrayLike, row: str, numbers: np.ndarray | None = None
) -> np.ndarray:
    """Return values (row, …) as float64; raise ForeignError for the first row that is no probability distribution.

    name, row : what the array and its rows are called in the message; numbers (row,) : numbers of the rows, default 0, 1, 2 …
    """
    try:
        table = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError):
        raise ForeignError(
            f"{name} holds probabilities; got something that is no number; give numbers alone"
        ) from None
    if table.ndim != 2 or 0 in table.shape[1:] or (row == "topic" and not len(table)):
        raise ForeignError(
            f"{name} has a row for each {row}; got the shape {table.shape}; give a table of two dimensions"
        )
    sums = table.sum(axis=1)
    for is_wrong, fault in (
        (~np.isfinite(table).all(axis=1), "a number that is not finite"),
        ((table < 0).any(axis=1), "a negative number"),
        (np.abs(sums - 1) > NEAR_ONE, None),
    ):
        if is_wrong.any():
            row_index = int(np.flatnonzero(is_wrong)[0])
            number = row_index if numbers is None else int(numbers[row_index])
            raise ForeignError(
                f"each row of {name} is a distribution that sums to 1; that of {row} {number} "
                f"{'has ' + fault if fault else f'sums to {sums[row_index]:.6g}'}; give probabilities"
            )
    return table
