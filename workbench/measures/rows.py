"""Rows with inputs: their times and places, and the share of a word in the tokens of each."""

import re
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.models.stick_breaking.gaussian_process import TIMES
from workbench.models.stick_breaking.scores import expected_hits
from workbench.runs.recorded import model_of

LATITUDES, LONGITUDES = ("latitude", "lat"), ("longitude", "lon", "lng", "long")
"""Names of inputs that are geographic coordinates, in degrees."""


class Places(NamedTuple):
    """The places and times of the rows of a run."""

    names: list[str]  # of each place
    of_row: np.ndarray  # (document,) index of the place
    time: np.ndarray | None  # (document,) float64; None where no input is a time
    time_name: str
    latitude: np.ndarray | None  # (place,) degrees; None where no inputs are coordinates
    longitude: np.ndarray | None


class RowHits(NamedTuple):
    """Predicted words among the ten most and the ten least frequent words of the rows of one time."""

    top: float  # mean over rows
    top_deviation: float  # standard deviation over rows
    bottom: float
    bottom_deviation: float
    log_likelihood: float  # nats, mean over the items


def places_of(run: xr.Dataset) -> Places:
    """Return places and times of the rows of a run with inputs; rows of one place have equal inputs except the time.

    The name of a place is what the titles of its rows share besides the time ("OH" in "OH 1995") if this is unique, else its
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
    coordinates, first, of_row = np.unique(
        inputs[:, other_inputs], axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first, kind="stable")  # by first appearance
    rank = np.empty(len(order), int)
    rank[order] = np.arange(len(order))
    coordinates, of_row = coordinates[order], rank[of_row.ravel()]
    times = inputs[:, names.index(time)] if time else None

    def coordinate(names_of_axis: tuple[str, ...]) -> np.ndarray | None:
        """Return (place,) the coordinate with one of the names, or None."""
        column = next(
            (
                number
                for number, name in enumerate(other_inputs)
                if names[name].lower() in names_of_axis
            ),
            None,
        )
        return None if column is None else coordinates[:, column]

    latitude, longitude = coordinate(LATITUDES), coordinate(LONGITUDES)
    if latitude is None or longitude is None:
        latitude = longitude = None
    return Places(_names(run, of_row, times, coordinates), of_row, times, time, latitude, longitude)


def _names(
    run: xr.Dataset, of_row: np.ndarray, times: np.ndarray | None, coordinates: np.ndarray
) -> list[str]:
    """Return a unique name for each place."""
    titles = [str(title) for title in run["document"].values]
    if times is not None:
        titles = [
            re.sub(rf"(^|[\s,_-]+){re.escape(f'{time:g}')}($|(?=[\s,_-]))", "", title).strip(" ,_-")
            for title, time in zip(titles, times, strict=True)
        ]
    names = [set() for _ in coordinates]
    for place, title in zip(of_row, titles, strict=True):
        names[place].add(title)
    if all(len(name) == 1 for name in names) and len(set.union(*names)) == len(names):
        return [name.pop() for name in names]
    return [", ".join(f"{value:g}" for value in place) or "all" for place in coordinates]


def shares_of(word: int, *corpora: Corpus) -> np.ndarray:
    """Return (document,) the share of a word in the tokens of each row of corpora with the same rows; NaN for an empty row.

    With training and test corpora, the tokens of a row are added up.
    """
    counts, tokens = (np.zeros(corpora[0].n_documents) for _ in range(2))
    for corpus in corpora:
        document_of_pair = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
        is_word = corpus.words == word
        counts += np.bincount(document_of_pair[is_word], corpus.counts[is_word], corpus.n_documents)
        tokens += corpus.document_tokens
    with np.errstate(invalid="ignore"):
        return counts / tokens


def hits_by_time(run: xr.Dataset, test: Corpus) -> dict[float, RowHits]:
    """Return time → hits of the rows held out at that time, by the ``probability`` of the run, its mean over iterations.

    ``test`` has their counts. Ties are broken at random, see `workbench.models.stick_breaking.scores.expected_hits`. Without a
    time among the inputs all rows have the time 0.
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
