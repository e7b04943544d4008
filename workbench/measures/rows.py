"""Models of rows and of sequences: times and places of rows, shares of a word, probabilities of the next word."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import softmax

from workbench.corpus import Corpus
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.measures.selection import MeasureError
from workbench.models.stick_breaking.gaussian_process import TIMES
from workbench.models.stick_breaking.scores import expected_hits
from workbench.runs.recorded import model_of

LATITUDES, LONGITUDES = ("latitude", "lat"), ("longitude", "lon", "lng", "long")
"""Names of inputs that are geographic coordinates, in degrees."""


class Places(NamedTuple):
    """The place and time of each row (document) of a run."""

    names: list[str]  # of each place
    of_row: np.ndarray  # (document,) index of the place
    time: np.ndarray | None  # (document,) float64; None if no input is a time
    time_name: str
    latitude: np.ndarray | None  # (place,) degrees; None if no inputs are coordinates
    longitude: np.ndarray | None


class RowHits(NamedTuple):
    """How well the ten most and ten least frequent words of the rows of one time were predicted."""

    top: float  # mean over rows
    top_deviation: float  # standard deviation over rows
    bottom: float
    bottom_deviation: float
    log_likelihood: float  # nats, mean over the items


def places_of(run: xr.Dataset) -> Places:
    """Return the place and time of each row from its inputs; rows at one place differ only in time.

    The name of a place is the common part of its rows' titles without the time ("OH" in "OH 1995") if it is unique, else the
    coordinates.
    """
    names, inputs = [str(name) for name in run["input"].values], np.asarray(run["inputs"].values)
    time_option = getattr(model_of(run), "time", "auto")
    time = (
        next((name for name in names if name.lower() in TIMES), "")
        if time_option == "auto"
        else time_option
        if time_option in names
        else ""
    )
    other_inputs = [column for column, name in enumerate(names) if name != time]
    coordinates, first, place_numbers = np.unique(
        inputs[:, other_inputs], axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first, kind="stable")  # by first appearance
    coordinates, place_numbers = coordinates[order], np.argsort(order)[place_numbers.ravel()]
    times = inputs[:, names.index(time)] if time else None
    columns = [names[number].lower() for number in other_inputs], coordinates.T
    latitude, longitude = (
        next((column for name, column in zip(*columns, strict=True) if name in axis_names), None)
        for axis_names in (LATITUDES, LONGITUDES)
    )
    if latitude is None or longitude is None:
        latitude = longitude = None
    return Places(
        _names(run, place_numbers, times, coordinates),
        place_numbers,
        times,
        time,
        latitude,
        longitude,
    )


def _names(
    run: xr.Dataset, place_numbers: np.ndarray, times: np.ndarray | None, coordinates: np.ndarray
) -> list[str]:
    """Return a distinct name for each place."""
    titles = [str(title) for title in run["document"].values]
    if times is not None:
        titles = [
            re.sub(rf"(^|[\s,_-]+){re.escape(f'{time:g}')}($|(?=[\s,_-]))", "", title).strip(" ,_-")
            for title, time in zip(titles, times, strict=True)
        ]
    names = [set() for _ in coordinates]
    for place, title in zip(place_numbers, titles, strict=True):
        names[place].add(title)
    if all(len(name) == 1 for name in names) and len(set.union(*names)) == len(names):
        return [name.pop() for name in names]
    return [", ".join(f"{value:g}" for value in place) or "all" for place in coordinates]


def shares_of(word: int, *corpora: Corpus) -> np.ndarray:
    """Return a word's share of the tokens of each row (document,); NaN for an empty row.

    The tokens of a row are added over the corpora, such as training and test tokens of the same rows.
    """
    counts, tokens = (np.zeros(corpora[0].n_documents) for _ in range(2))
    for corpus in corpora:
        is_word = corpus.words == word
        counts += np.bincount(corpus.documents[is_word], corpus.counts[is_word], corpus.n_documents)
        tokens += corpus.document_tokens
    with np.errstate(invalid="ignore"):
        return counts / tokens


def hits_by_time(run: xr.Dataset, test: Corpus) -> dict[float, RowHits]:
    """Return time → how many of the most and least frequent words of that time's held-out rows are predicted.

    ``test`` has their counts. Ties are broken at random, see `workbench.models.stick_breaking.scores.expected_hits`. If no
    input is a time, all rows have the time 0.
    """
    places = places_of(run)
    rows = np.unique(test.documents)
    times = np.zeros(len(rows)) if places.time is None else places.time[rows]
    counts = np.zeros((test.n_documents, test.n_words))
    counts[test.documents, test.words] = test.counts
    hits, probability = {}, run["probability"].values
    for time in np.unique(times):
        rows_of_time = rows[times == time]
        top, bottom = expected_hits(probability[rows_of_time], counts[rows_of_time])
        is_observed = counts[rows_of_time] > 0
        log_likelihood = (
            counts[rows_of_time][is_observed]
            @ np.log(probability[rows_of_time][is_observed])
            / counts[rows_of_time].sum()
        )
        numbers = top.mean(), top.std(), bottom.mean(), bottom.std(), log_likelihood
        hits[float(time)] = RowHits(*map(float, numbers))
    return hits


MOST_NAMED = 5
N_PARTICLES = 50
"""Number of particles of the filter of a linear dynamical system."""


class NextWords(NamedTuple):
    """The words of a sequence with their predictive probabilities, and the most probable words at each position."""

    rows: np.ndarray  # (n,) documents, in order; each has one word
    words: np.ndarray  # (n,) the observed word
    held_out: np.ndarray  # (n,) bool
    # (n,) p(observed word | all words before it in the sequence)
    probability: np.ndarray
    # (n, most) the most probable words, in descending order
    expected: np.ndarray
    chances: np.ndarray  # (n, most) their probabilities


def sequences_of(run: xr.Dataset) -> dict[str, np.ndarray]:
    """Return sequence name → indices of the sequence's documents, ordered by position."""
    names, positions = run["sequence"].values, run["position"].values
    sequences = {}
    for name in dict.fromkeys(names.tolist()):
        rows = np.flatnonzero(names == name)
        sequences[str(name)] = rows[np.argsort(positions[rows], kind="stable")]
    return sequences


def next_words(
    run: xr.Dataset, sequence: str, corpora: list[Corpus], first: int = 0, last: int | None = None
) -> NextWords:
    """Return words first to last of a sequence with p(word | preceding words), under the run's last parameters.

    Hidden Markov models use the forward recursion, linear dynamical systems a bootstrap particle filter with `N_PARTICLES` and
    a fixed seed. ``corpora`` have the training words and the held-out words.

    Raises
    ------
    MeasureError
        For an unknown sequence, or rows with more than one word.
    """
    sequences = sequences_of(run)
    MeasureError.one_of("sequence", sequence, sequences)
    held_out = corpora[0].document_tokens == 0
    if any((corpus.document_tokens > 1).any() for corpus in corpora):
        raise MeasureError(
            "rows have several words each; next words are shown for rows of one word"
        )
    word_of_row = np.full(len(held_out), -1)
    for corpus in corpora:
        word_of_row[corpus.documents] = corpus.words
    rows = sequences[sequence]
    last = len(rows) if last is None else min(last, len(rows))
    last_state = run.isel(snapshot=-1)
    filtered = _markov if "emissions" in run else _linear
    words = word_of_row[rows[:last]]
    is_shown = (np.arange(last) >= first) & (words >= 0)
    predicted = filtered(last_state, words, first)
    chances = np.array(
        [probability for probability, shown in zip(predicted, is_shown, strict=True) if shown]
    )
    chances = chances.reshape(-1, run.sizes["word"])
    expected = np.argsort(-chances, axis=1, kind="stable")[:, :MOST_NAMED]
    return NextWords(
        rows[:last][is_shown],
        words[is_shown],
        held_out[rows[:last]][is_shown],
        chances[np.arange(len(chances)), words[is_shown]],
        expected,
        np.take_along_axis(chances, expected, axis=1),
    )


def _markov(run: xr.Dataset, words: np.ndarray, first: int) -> Iterator[np.ndarray]:
    """Yield p(word | preceding words) (word,) for each row of a hidden Markov model; -1 in ``words`` is an empty row."""
    transitions, emissions = run["transitions"].values, run["emissions"].values
    state = run["first_state"].values
    for word in words:
        yield state @ emissions
        if word >= 0:
            state = state * emissions[:, word]
            state = state / state.sum()
        state = state @ transitions


def _linear(run: xr.Dataset, words: np.ndarray, first: int) -> Iterator[np.ndarray]:
    """Yield p(word | preceding words) for each row of a linear dynamical system, by a particle filter."""
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
        psi = state @ loadings[:n_used].T + offset[:n_used]
        chances = probabilities(psi) if sticks else softmax(psi, axis=1)
        expected = np.zeros(len(order))
        expected[order[: chances.shape[1]]] = chances.mean(axis=0)
        yield expected
        if word >= 0:
            weights = chances[:, place_of[word]]
            ancestors = np.searchsorted(
                np.cumsum(weights),
                (np.arange(N_PARTICLES) + rng.random()) / N_PARTICLES * weights.sum(),
            )
            state = state[np.minimum(ancestors, N_PARTICLES - 1)]
        state = state @ system.T + rng.standard_normal(state.shape) @ root.T
