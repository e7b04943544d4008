"""A prior of words as numbers: one for each word, or one for each topic and word."""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from workbench.data.saving import replacing
from workbench.errors import Got
from workbench.models.model import ModelError

SMALLEST_PRIOR, LARGEST_PRIOR = 1e-8, 1e12
FOLDER = ".priors"
"""The folder of a store with the priors of its runs."""
SHAPES = {1: "vector", 2: "table"}


class WordPrior:
    """A prior of words, (word,) or (topic, word), that is known by its hash; its numbers may be in a file.

    Parameters
    ----------
    shape : tuple of int
    hash : str
        sha256 (hex) of shape and numbers.
    source : ndarray or Path, optional
        The numbers, or the folder with the file ``HASH.npy``.
    """

    def __init__(self, shape: tuple[int, ...], hash: str, source: np.ndarray | Path | None = None):
        self.shape, self.hash, self.source = shape, hash, source

    @classmethod
    def of(cls, values: np.ndarray) -> WordPrior:
        """Return the prior with these numbers, float64."""
        return cls(values.shape, hash_of(values), values)

    @classmethod
    def described(cls, about: dict, folder: Path | None) -> WordPrior:
        """Return the prior that `about` describes; its file is in the folder. Raise ModelError if it is no description."""
        try:
            return cls(tuple(map(int, about["shape"])), str(about["hash"]), folder)
        except (KeyError, TypeError, ValueError):
            raise ModelError(
                f"a prior of words is described by shape and hash; got {about!r}; it is damaged"
            ) from None

    @property
    def about(self) -> dict:
        """Shape and hash, for JSON."""
        return {"shape": list(self.shape), "hash": self.hash}

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers, (word,) or (topic, word); raise ModelError if their file is missing or damaged."""
        if isinstance(self.source, np.ndarray):
            return self.source
        if self.source is None:
            raise ModelError(f"beta is {self}, and its numbers are in the store of the run alone")
        file = self._file(self.source)
        try:
            values = np.load(file, allow_pickle=False)
            if hash_of(values) != self.hash:
                raise ValueError("other numbers than its name says")
        except (OSError, ValueError, EOFError) as error:
            raise ModelError(
                f"the prior of words cannot be read from {file} ({error}); fit the run again"
            ) from error
        return values

    def save(self, folder: Path) -> None:
        """Write the numbers to the folder unless it has them."""
        if not (file := self._file(folder)).exists():
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(file) as written:
                np.save(written, self.values)

    def _file(self, folder: Path) -> Path:
        return folder / f"{self.hash}.npy"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordPrior) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __deepcopy__(self, memo: dict) -> WordPrior:
        return self

    def __repr__(self) -> str:
        return f"a {SHAPES[len(self.shape)]} ({self.hash[:8]})"

    def __format__(self, spec: str) -> str:
        return repr(self)


def hash_of(values: np.ndarray) -> str:
    """Return the sha256 (hex) of the shape and the numbers of an array."""
    return hashlib.sha256(f"{values.shape}".encode() + values.tobytes()).hexdigest()


def checked_prior(name: str, value: object) -> float:
    """Return a prior as a float; raise ModelError if it is no number in the range of priors."""
    if (
        isinstance(value, bool)
        or not isinstance(value, numbers.Real)
        or not SMALLEST_PRIOR <= value < math.inf
    ):
        raise ModelError.must_be(
            name, f"a number greater than 0 (at least {SMALLEST_PRIOR:g})", value
        )
    if value > LARGEST_PRIOR:
        raise ModelError.must_be(
            name, f"at most {LARGEST_PRIOR:g}, or counts beside it are lost in rounding", value
        )
    return float(value)


def word_prior_of(beta: object, n_topics: int) -> float | WordPrior:
    """Return the prior of words: a number if all are equal, else a `WordPrior`.

    beta : a number, or (word,) or (topic, word) numbers of at least 0; 0 forbids a word in a topic

    Raises
    ------
    ModelError
    """
    if isinstance(beta, numbers.Real | str | Mapping):
        return checked_prior("beta", beta)
    if not isinstance(beta, WordPrior):
        beta = _given(beta)
        if (beta.values == beta.values.flat[0]).all():
            return checked_prior("beta", float(beta.values.flat[0]))
    if len(beta.shape) == 2 and beta.shape[0] != n_topics:
        raise ModelError(
            f"beta must have a row for each of the {n_topics} topics; got {beta.shape[0]} rows"
        )
    return beta


def _given(beta: object) -> WordPrior:
    """Return a prior of words from an array; raise ModelError for one of another shape, or with numbers out of range."""
    try:
        values = np.array(beta, np.float64, order="C")
    except (TypeError, ValueError):
        values = np.zeros(())
    if values.ndim not in SHAPES or not values.size:
        raise ModelError.must_be(
            "beta", "a number, one per word, or a table (topic, word) of numbers", beta
        )
    wrong = ~((values == 0.0) | ((values >= SMALLEST_PRIOR) & (values <= LARGEST_PRIOR)))
    if wrong.any():
        raise ModelError(
            f"beta must have numbers from {SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}, or 0 for a word that a topic cannot have",
            Got(float(values[wrong][0])),
        )
    if not (possible := values.reshape(-1, values.shape[-1]).any(axis=0)).all():
        word = int(np.argmin(possible))
        raise ModelError(
            f"beta is 0 in all topics for word {word} (counted from 0); give it a number above 0 in one of them"
        )
    if values.ndim == 2 and not values.any(axis=1).all():
        topic = int(np.argmin(values.any(axis=1)))
        raise ModelError(
            f"beta is 0 for all words in topic {topic}; give it a word, or take fewer topics"
        )
    return WordPrior.of(values)
