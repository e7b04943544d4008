"""Sequences: the rows of each in order, and the probability of each word given all words before it."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.measures.selection import MeasureError

MOST_NAMED = 5
N_PARTICLES = 50
"""Of the filter of a linear dynamical system."""


class NextWords(NamedTuple):
    """The words of rows of a sequence, and what was expected of each."""

    rows: np.ndarray  # (n,) documents, in order; each has one word
    words: np.ndarray  # (n,) the word that came
    held_out: np.ndarray  # (n,) bool
    # (n,) of the word that came, given all words of its sequence before it
    probability: np.ndarray
    # (n, most) the words that were most probable then, the most probable first
    expected: np.ndarray
    chances: np.ndarray  # (n, most) their probabilities


def sequences_of(run: xr.Dataset) -> dict[str, np.ndarray]:
    """By name of the sequence its documents, in the order of their positions."""
    names, positions = run["sequence"].values, run["position"].values
    found = {}
    for name in dict.fromkeys(names.tolist()):
        rows = np.flatnonzero(names == name)
        found[str(name)] = rows[np.argsort(positions[rows], kind="stable")]
    return found


def next_words(
    run: xr.Dataset, sequence: str, corpora: list[Corpus], first: int = 0, last: int | None = None
) -> NextWords:
    """The words first..last of a sequence, each with its probability given the words before it and the parameters drawn last.

    Of a hidden Markov model by the forward recursion; of a linear dynamical system by a bootstrap particle filter of
    `N_PARTICLES`, whose random numbers are the same each time. ``corpora``: training words, and those held out.

    Raises
    ------
    MeasureError
        No such sequence, or rows that have more than one word.
    """
    known = sequences_of(run)
    if sequence not in known:
        raise MeasureError(f"there is no sequence '{sequence}'; there are {', '.join(known)}")
    held_out = corpora[0].document_tokens == 0
    if any((corpus.document_tokens > 1).any() for corpus in corpora):
        raise MeasureError(
            "rows have several words each; what comes next is shown of rows of one word"
        )
    of_row = np.full(len(held_out), -1)
    for corpus in corpora:
        of_row[np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))] = corpus.words
    rows = known[sequence]
    last = len(rows) if last is None else min(last, len(rows))
    last_state = run.isel(snapshot=-1)
    filtered = _markov if "emissions" in run else _linear
    shown, found = [], []
    for t, expected in enumerate(filtered(last_state, of_row[rows[:last]], first)):
        if t >= first and of_row[rows[t]] >= 0:
            named = np.argsort(-expected, kind="stable")[:MOST_NAMED]
            shown.append(rows[t])
            found.append((expected[of_row[rows[t]]], named, expected[named]))
    shown = np.array(shown, int)
    chance, named, chances = zip(*found, strict=True) if found else ((), (), ())
    most = min(MOST_NAMED, run.sizes["word"])
    return NextWords(
        shown,
        of_row[shown],
        held_out[shown],
        np.array(chance),
        np.array(named, int).reshape(-1, most),
        np.array(chances).reshape(-1, most),
    )


def _markov(run: xr.Dataset, words: np.ndarray, first: int):
    """Yields, at each row, (word,) the probabilities given the words before it; -1 stands for a row without a word."""
    transitions, emissions = run["transitions"].values, run["emissions"].values
    state = run["first_state"].values
    for word in words:
        yield state @ emissions
        if word >= 0:
            state = state * emissions[:, word]
            state = state / state.sum()
        state = state @ transitions


def _linear(run: xr.Dataset, words: np.ndarray, first: int):
    """The same of a linear dynamical system; rows before ``first``, which nobody looks at, have the word that came alone."""
    loadings, offset, order = (run[name].values for name in ("loadings", "offset", "stick_words"))
    system, root = run["system"].values, np.linalg.cholesky(run["system_noise"].values)
    place, sticks = np.argsort(order), "stick" in run["loadings"].dims
    rng = np.random.default_rng(0)
    state = rng.standard_normal((N_PARTICLES, loadings.shape[1]))
    for t, word in enumerate(words):
        used = (
            len(loadings)
            if t >= first or not sticks
            else min(place[word] + 1, len(loadings))
            if word >= 0
            else 0
        )
        chances = _probabilities(state @ loadings[:used].T + offset[:used], sticks)
        expected = np.zeros(len(order))
        expected[order[: chances.shape[1]]] = chances.mean(axis=0)
        yield expected
        if word >= 0:
            weights = chances[:, place[word]]
            chosen = np.searchsorted(
                np.cumsum(weights),
                (np.arange(N_PARTICLES) + rng.random()) / N_PARTICLES * weights.sum(),
            )
            state = state[np.minimum(chosen, N_PARTICLES - 1)]
        state = state @ system.T + rng.standard_normal(state.shape) @ root.T


def _probabilities(psi: np.ndarray, sticks: bool) -> np.ndarray:
    """(particle, word) by stick-breaking, where the last word has what is left, or by softmax."""
    if not sticks:
        found = np.exp(psi - psi.max(axis=1, keepdims=True))
        return found / found.sum(axis=1, keepdims=True)
    left = np.cumsum(np.pad(-np.logaddexp(0.0, psi), ((0, 0), (1, 0))), axis=1)
    return np.exp(np.hstack([left[:, :-1] - np.logaddexp(0.0, -psi), left[:, -1:]]))
