"""Word probabilities over time at one place, with bands, as inferred by a spatio-temporal process."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.rows import places_of, shares_of
from workbench.views.elements import GREY, RC, Look, axis, band, element, panel
from workbench.views.over_time import changing, spaced
from workbench.views.picture import WHOSE, Picture, SideBySide, View, menu_of, rows_of

COLUMNS = ("place", "time", "word", "probability", "deviation", "share")
MOST_WORDS = 6
"""Maximum of panels of one run."""
PANEL = (2.2, 1.7)
"""Width and height of a panel, inches."""


class Course(NamedTuple):
    """The probability of one word at one place over time."""

    times: np.ndarray  # (n,) in order
    probability: np.ndarray  # (n,)
    deviation: np.ndarray | None  # (n,) half-width of its band
    shares: np.ndarray  # (n,) share of the counted tokens; NaN without tokens


def word_by_time_view(
    courses: Mapping[str, Course], colours: Mapping[str, Look], title: str = "", time: str = "year"
):
    """Draw a word's probability over time: a `Curve` with band per label, and observed shares as `Scatter`."""
    x, y = axis("time", time), axis("p", "p(word | row)")
    parts, (first, *_) = [], courses.values()
    for label, course in courses.items():
        colour, line, *_ = colours[label]
        if course.deviation is not None and np.any(course.deviation > 0):
            low, high = (
                np.maximum(course.probability - course.deviation, 0.0),
                course.probability + course.deviation,
            )
            parts.append(band((course.times, low, high), x, y, colour))
        curve = (course.times, course.probability)
        parts.append(
            element("Curve", curve, x, y, label=label, color=colour, linestyle=line, linewidth=1.2)
        )
    has_share = np.isfinite(first.shares)
    if has_share.any():
        parts.append(
            element(
                "Scatter",
                (first.times[has_share], first.shares[has_share]),
                x,
                y,
                color=GREY,
                s=5,
                linewidth=0,
            )
        )
    margin = 0.03 * max(float(np.ptp(first.times)), 1.0)
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        xlim=(first.times[0] - margin, first.times[-1] + margin),
        xticks=[(year, f"{year:g}") for year in spaced(first.times, 4)],
        fig_rcparams=RC,
    )


place_controls = menu_of("place", "Place", lambda run: places_of(run).names)


def draw_rows_by_year(view: View, shown: SideBySide, place: str | None = None) -> Iterator[Picture]:
    """Draw word probabilities over time at one place (default: the first) for one run per label."""
    runs = {
        label: run
        for label, run in shown.first("probability", "inputs").items()
        if places_of(run).time is not None
    }
    courses, rows, words, place = {}, [], [], place and str(place)
    for label, run in runs.items():
        places = places_of(run)
        place = place if place in places.names else places.names[0]
        rows_of_place = np.flatnonzero(places.of_row == places.names.index(place))
        rows_of_place = rows_of_place[np.argsort(places.time[rows_of_place], kind="stable")]
        probability = run["probability"].values[rows_of_place]
        words = words or [
            str(run["word"].values[word]) for word in changing(probability, MOST_WORDS)
        ]
        for word in words:
            word_ids = np.flatnonzero(run["word"].values == word)
            if len(word_ids):
                course = _course(run, places.time, rows_of_place, int(word_ids[0]), shown)
                courses.setdefault(word, {})[label] = course
                spread = (
                    [""] * len(rows_of_place)
                    if course.deviation is None
                    else course.deviation.tolist()
                )
                numbers = zip(
                    course.times.tolist(),
                    course.probability.tolist(),
                    spread,
                    course.shares.tolist(),
                    strict=True,
                )
                rows += rows_of(
                    label,
                    run,
                    [[place, year, word, p, d, s if s >= 0 else ""] for year, p, d, s in numbers],
                )
    if not courses:
        return
    panels = [
        word_by_time_view(probability, shown.looks, word, places.time_name)
        for word, probability in courses.items()
    ]
    in_place = f" in {place}" if len(places.names) > 1 else ""
    yield view.picture(
        f"Probability of the {len(panels)} words whose probability changes most{in_place}, over time: mean over iterations "
        "after burn-in and, if known, ± one standard deviation of the draws. Dots: shares of the counted tokens, including "
        "held-out ones. One run of each label.",
        panels,
        [*WHOSE, *COLUMNS],
        rows,
        legend=len(runs) > 1,
        height=PANEL[1],
        runs=list(runs.values()),
    )


def _course(
    run: xr.Dataset, times: np.ndarray, row_places: np.ndarray, word: int, shown: SideBySide
) -> Course:
    """Return the probability of a word over time at a place, from the place's rows in order of time."""
    spec = spec_of(run)
    corpora = [
        shown.corpora[corpus_hash]
        for corpus_hash in (spec.train, spec.test)
        if corpus_hash in shown.corpora
    ]
    shares = shares_of(word, *corpora)[row_places] if corpora else np.full(len(row_places), np.nan)
    deviation = (
        run["probability_deviation"].values[row_places, word]
        if "probability_deviation" in run
        else None
    )
    return Course(times[row_places], run["probability"].values[row_places, word], deviation, shares)
