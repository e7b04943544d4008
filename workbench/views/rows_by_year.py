"""Curves over the years of the words of one place, with bands: what a process over time and space infers."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.rows import places_of, shares_of
from workbench.views.elements import axis, band, element, panel
from workbench.views.over_time import changing, spaced
from workbench.views.picture import WHOSE, Menu, Picture, SideBySide, View, rows_of
from workbench.views.style import GREY, RC, Look

COLUMNS = ("place", "time", "word", "probability", "deviation", "share")
MOST_WORDS = 6
"""Panels of one run."""
PANEL = (2.2, 1.7)
"""Width and height of a panel, inches."""


class Course(NamedTuple):
    """A probability over time."""

    times: np.ndarray  # (n,) in order
    probability: np.ndarray  # (n,)
    deviation: np.ndarray | None  # (n,) half the width of its band
    shares: np.ndarray  # (n,) of the tokens counted; NaN where there are none


def word_by_time_view(
    courses: Mapping[str, Course], colours: Mapping[str, Look], title: str = "", time: str = "year"
):
    """One word over time as `holoviews.Overlay`: by label a `Curve` and its band (`Area`); `Scatter` of what was counted."""
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
    there = np.isfinite(first.shares)
    if there.any():
        parts.append(
            element(
                "Scatter",
                (first.times[there], first.shares[there]),
                x,
                y,
                color=GREY,
                s=5,
                linewidth=0,
            )
        )
    room = 0.03 * max(float(np.ptp(first.times)), 1.0)
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        xlim=(first.times[0] - room, first.times[-1] + room),
        xticks=[(when, f"{when:g}") for when in spaced(first.times, 4)],
        fig_rcparams=RC,
    )


def place_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """The place, where there are several."""
    names = places_of(run).names
    return (Menu("place", "Place", tuple(names), names[0]),) if len(names) > 1 else ()


def draw_rows_by_year(view: View, shown: SideBySide, place: str | None = None) -> Iterator[Picture]:
    """Words of one place by one run of each label whose rows have a time; ``place`` is by default the first."""
    runs = {
        label: run
        for label, run in shown.first("probability", "inputs").items()
        if places_of(run).time is not None
    }
    courses, rows, words, place = {}, [], [], place and str(place)
    for label, run in runs.items():
        places = places_of(run)
        place = place if place in places.names else places.names[0]
        here = np.flatnonzero(places.of_row == places.names.index(place))
        here = here[np.argsort(places.time[here], kind="stable")]
        found = run["probability"].values[here]
        words = words or [str(run["word"].values[word]) for word in changing(found, MOST_WORDS)]
        for word in words:
            at = np.flatnonzero(run["word"].values == word)
            if len(at):
                course = _course(run, places.time, here, int(at[0]), shown)
                courses.setdefault(word, {})[label] = course
                spread = [""] * len(here) if course.deviation is None else course.deviation.tolist()
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
                    [[place, when, word, p, d, s if s >= 0 else ""] for when, p, d, s in numbers],
                )
    if not courses:
        return
    panels = [
        word_by_time_view(found, shown.looks, word, places.time_name)
        for word, found in courses.items()
    ]
    where = f" in {place}" if len(places.names) > 1 else ""
    yield view.picture(
        f"Probability of the {len(panels)} words whose probability changes most{where}, over time: mean over iterations after "
        "burn-in and, where it is known, one standard deviation of the draws to either side. Dots: shares of the tokens that "
        "were counted, held-out ones too. One run of each label.",
        panels,
        [*WHOSE, *COLUMNS],
        rows,
        legend=len(runs) > 1,
        height=PANEL[1],
        runs=list(runs.values()),
    )


def _course(
    run: xr.Dataset, times: np.ndarray, here: np.ndarray, word: int, shown: SideBySide
) -> Course:
    """The probability of a word in these rows, which stand in order."""
    spec = spec_of(run)
    corpora = [shown.corpora[each] for each in (spec.train, spec.test) if each in shown.corpora]
    shares = shares_of(word, *corpora)[here] if corpora else np.full(len(here), np.nan)
    deviation = (
        run["probability_deviation"].values[here, word] if "probability_deviation" in run else None
    )
    return Course(times[here], run["probability"].values[here, word], deviation, shares)
