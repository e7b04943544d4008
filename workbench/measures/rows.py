"""Rows with inputs: their times and places, and what share a word has of the tokens of each."""

import re
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.models.stick_breaking.gaussian_process import TIMES
from workbench.models.stick_breaking.scores import expected_hits
from workbench.runs.dataset import model_of

LATITUDES, LONGITUDES = ("latitude", "lat"), ("longitude", "lon", "lng", "long")
"""What inputs are called that are coordinates on the Earth, in degrees."""


class Places(NamedTuple):
    """Where the rows of a run are, and when."""

    names: list[str]  # of each place
    of_row: np.ndarray  # (document,) which place
    time: np.ndarray | None  # (document,) float64; None where no input is a time
    time_name: str
    latitude: np.ndarray | None  # (place,) degrees; None where no inputs are coordinates
    longitude: np.ndarray | None


class RowHits(NamedTuple):
    """How many of the ten most and of the ten least frequent words of the rows of one time are predicted."""

    top: float  # mean over rows
    top_deviation: float  # standard deviation over rows
    bottom: float
    bottom_deviation: float
    log_likelihood: float  # nats, mean over the items


def places_of(run: xr.Dataset) -> Places:
    """Places and times of the rows of a run with inputs: rows of one place have the same inputs but the time.

    A place is called what the titles of its rows have in common beside the time ("OH" of "OH 1995"), where that tells places
    apart; else by its coordinates.
    """
    names, inputs = [str(name) for name in run["input"].values], np.asarray(run["inputs"].values)
    asked = getattr(model_of(run), "time", "auto")
    time = (
        next((name for name in names if name.lower() in TIMES), "")
        if asked == "auto"
        else asked
        if asked in names
        else ""
    )
    others = [at for at, name in enumerate(names) if name != time]
    coordinates, first, of_row = np.unique(
        inputs[:, others], axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first, kind="stable")  # as they come
    rank = np.empty(len(order), int)
    rank[order] = np.arange(len(order))
    coordinates, of_row = coordinates[order], rank[of_row.ravel()]
    times = inputs[:, names.index(time)] if time else None

    def along(known: tuple[str, ...]) -> np.ndarray | None:
        at = next(
            (place for place, name in enumerate(others) if names[name].lower() in known), None
        )
        return None if at is None else coordinates[:, at]

    latitude, longitude = along(LATITUDES), along(LONGITUDES)
    if latitude is None or longitude is None:
        latitude = longitude = None
    return Places(_names(run, of_row, times, coordinates), of_row, times, time, latitude, longitude)


def _names(
    run: xr.Dataset, of_row: np.ndarray, times: np.ndarray | None, coordinates: np.ndarray
) -> list[str]:
    """A name for each place, no two the same."""
    titles = [str(title) for title in run["document"].values]
    if times is not None:
        titles = [
            re.sub(rf"(^|[\s,_-]+){re.escape(f'{when:g}')}($|(?=[\s,_-]))", "", title).strip(" ,_-")
            for title, when in zip(titles, times, strict=True)
        ]
    found = [set() for _ in coordinates]
    for place, title in zip(of_row, titles, strict=True):
        found[place].add(title)
    if all(len(each) == 1 for each in found) and len(set.union(*found)) == len(found):
        return [each.pop() for each in found]
    return [", ".join(f"{value:g}" for value in each) or "all" for each in coordinates]


def shares_of(word: int, *corpora: Corpus) -> np.ndarray:
    """(document,) the share that a word has of the tokens of each row of corpora with the same rows; NaN of an empty row.

    Given training and test rows, a row counts where it has its tokens.
    """
    counts, tokens = (np.zeros(corpora[0].n_documents) for _ in range(2))
    for corpus in corpora:
        of_pair = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
        at = corpus.words == word
        counts += np.bincount(of_pair[at], corpus.counts[at], corpus.n_documents)
        tokens += corpus.document_tokens
    with np.errstate(invalid="ignore"):
        return counts / tokens


def hits_by_time(run: xr.Dataset, test: Corpus) -> dict[float, RowHits]:
    """Time → hits of the rows held out at that time, by the ``probability`` of the run: its mean over iterations.

    ``test`` holds their counts. Ties are broken at random, see `workbench.models.stick_breaking.scores.expected_hits`. Without
    an input that is a time all rows are of the time 0.
    """
    places = places_of(run)
    rows = np.unique(test.documents)
    times = np.zeros(len(rows)) if places.time is None else places.time[rows]
    counts = np.zeros((test.n_documents, test.n_words))
    counts[test.documents, test.words] = test.counts
    found, probability = {}, run["probability"].values
    for time in np.unique(times):
        own = rows[times == time]
        top, bottom = expected_hits(probability[own], counts[own])
        came = counts[own] > 0
        log_likelihood = counts[own][came] @ np.log(probability[own][came]) / counts[own].sum()
        numbers = top.mean(), top.std(), bottom.mean(), bottom.std(), log_likelihood
        found[float(time)] = RowHits(*map(float, numbers))
    return found
