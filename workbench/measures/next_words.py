"""Rows of sequences in order, and the probability of each word given all words before it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.measures.selection import MeasureError

MOST_NAMED = 5
N_PARTICLES = 50
"""Particles of the filter of a linear dynamical system."""


class NextWords(NamedTuple):
    """The words of the rows of a sequence, with their probabilities and the most probable words."""

    rows: np.ndarray  # (n,) documents, in order; each has one word
    words: np.ndarray  # (n,) the observed word
    held_out: np.ndarray  # (n,) bool
    # (n,) of the observed word, given all words before it in the sequence
    probability: np.ndarray
    # (n, most) the most probable words there, in descending order
    expected: np.ndarray
    chances: np.ndarray  # (n, most) their probabilities


def sequences_of(run: xr.Dataset) -> dict[str, np.ndarray]:
    """Return sequence name → its documents, in the order of their positions."""
    names, positions = run["sequence"].values, run["position"].values
    sequences = {}
    for name in dict.fromkeys(names.tolist()):
        rows = np.flatnonzero(names == name)
        sequences[str(name)] = rows[np.argsort(positions[rows], kind="stable")]
    return sequences


def next_words(
    run: xr.Dataset, sequence: str, corpora: list[Corpus], first: int = 0, last: int | None = None
) -> NextWords:
    """Return the words first..last of a sequence with probabilities given the words before, by the last parameters.

    Hidden Markov models use the forward recursion, linear dynamical systems a bootstrap particle filter of `N_PARTICLES` with a
    fixed seed. ``corpora``: training words, and held-out words.

    Raises
    ------
    MeasureError
        An unknown sequence, or rows with more than one word.
    """
    sequences = sequences_of(run)
    if sequence not in sequences:
        raise MeasureError(f"there is no sequence '{sequence}'; there are {', '.join(sequences)}")
    held_out = corpora[0].document_tokens == 0
    if any((corpus.document_tokens > 1).any() for corpus in corpora):
        raise MeasureError(
            "rows have several words each; next words are shown for rows of one word"
        )
    word_of_row = np.full(len(held_out), -1)
    for corpus in corpora:
        word_of_row[np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))] = corpus.words
    rows = sequences[sequence]
    last = len(rows) if last is None else min(last, len(rows))
    last_state = run.isel(snapshot=-1)
    filtered = _markov if "emissions" in run else _linear
    rows_shown, predictions = [], []
    for t, expected in enumerate(filtered(last_state, word_of_row[rows[:last]], first)):
        if t >= first and word_of_row[rows[t]] >= 0:
            top_words = np.argsort(-expected, kind="stable")[:MOST_NAMED]
            rows_shown.append(rows[t])
            predictions.append((expected[word_of_row[rows[t]]], top_words, expected[top_words]))
    rows_shown = np.array(rows_shown, int)
    chance, top_words, chances = zip(*predictions, strict=True) if predictions else ((), (), ())
    most = min(MOST_NAMED, run.sizes["word"])
    return NextWords(
        rows_shown,
        word_of_row[rows_shown],
        held_out[rows_shown],
        np.array(chance),
        np.array(top_words, int).reshape(-1, most),
        np.array(chances).reshape(-1, most),
    )


def _markov(run: xr.Dataset, words: np.ndarray, first: int) -> Iterator[np.ndarray]:
    """Yield (word,) probabilities for each row given the words before it; a row without a word is -1."""
    transitions, emissions = run["transitions"].values, run["emissions"].values
    state = run["first_state"].values
    for word in words:
        yield state @ emissions
        if word >= 0:
            state = state * emissions[:, word]
            state = state / state.sum()
        state = state @ transitions


def _linear(run: xr.Dataset, words: np.ndarray, first: int) -> Iterator[np.ndarray]:
    """Yield the same for a linear dynamical system; before ``first`` only the probability of the observed word is computed."""
    loadings, offset, order = (run[name].values for name in ("loadings", "offset", "stick_words"))
    system, root = run["system"].values, np.linalg.cholesky(run["system_noise"].values)
    place_of, sticks = np.argsort(order), "stick" in run["loadings"].dims
    rng = np.random.default_rng(0)
    state = rng.standard_normal((N_PARTICLES, loadings.shape[1]))
    for t, word in enumerate(words):
        n_used = (
            len(loadings)
            if t >= first or not sticks
            else min(place_of[word] + 1, len(loadings))
            if word >= 0
            else 0
        )
        chances = _probabilities(state @ loadings[:n_used].T + offset[:n_used], sticks)
        expected = np.zeros(len(order))
        expected[order[: chances.shape[1]]] = chances.mean(axis=0)
        yield expected
        if word >= 0:
            weights = chances[:, place_of[word]]
            chosen = np.searchsorted(
                np.cumsum(weights),
                (np.arange(N_PARTICLES) + rng.random()) / N_PARTICLES * weights.sum(),
            )
            state = state[np.minimum(chosen, N_PARTICLES - 1)]
        state = state @ system.T + rng.standard_normal(state.shape) @ root.T


def _probabilities(psi: np.ndarray, sticks: bool) -> np.ndarray:
    """Return (particle, word) by stick-breaking, where the last word has the rest of the stick, or by softmax."""
    if not sticks:
        weights = np.exp(psi - psi.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)
    left = np.cumsum(np.pad(-np.logaddexp(0.0, psi), ((0, 0), (1, 0))), axis=1)
    return np.exp(np.hstack([left[:, :-1] - np.logaddexp(0.0, -psi), left[:, -1:]]))
