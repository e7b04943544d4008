"""Maps of a word's probability: the rows of a year where they are, as inferred and as counted."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.rows import Places, places_of, shares_of
from workbench.views.elements import bare_panel, element
from workbench.views.picture import (
    WHOSE,
    Menu,
    Picture,
    SideBySide,
    Slider,
    View,
    fitting_panels,
    rows_of,
)
from workbench.views.style import GREY
from workbench.views.us_states import albers, states_of, us_states

COLUMNS = ("place", "time", "word", "probability", "deviation", "share")
MOST_WORDS = 300
"""Words of a menu."""
PANEL = (3.4, 2.45)
"""Width and height of a map, inches."""
LINE, DOT = 0.4, 22
SHADES = "Blues"


class Shape(NamedTuple):
    """Where a place is drawn: polygons, or a point where there are none; on a plane."""

    polygons: tuple[np.ndarray, ...]
    point: tuple[float, float]


def word_map_view(
    shapes: list[Shape], values: np.ndarray, most: float, title: str = "", outlines=()
):
    """A map as `holoviews.Overlay` of `Polygons` of the places that are areas, and of `Points` of all others.

    values : (place,) probabilities or shares, ``most`` of which has the full colour; a place without a value is left blank.
    outlines : polygons that are drawn as lines alone.
    """
    lines = [
        np.vstack([ring, ring[:1]])
        for ring in (*outlines, *(ring for shape in shapes for ring in shape.polygons))
    ]
    known = [
        (shape, value) for shape, value in zip(shapes, values, strict=True) if np.isfinite(value)
    ]
    areas = [
        {"x": ring[:, 0], "y": ring[:, 1], "p": value}
        for shape, value in known
        for ring in shape.polygons
    ]
    points = [(*shape.point, value) for shape, value in known if not shape.polygons]
    blank = [
        shape.point
        for shape, value in zip(shapes, values, strict=True)
        if not shape.polygons and not np.isfinite(value)
    ]
    look = {"cmap": SHADES, "edgecolor": GREY, "linewidth": LINE}
    parts = [element("Path", lines, color=GREY, linewidth=LINE)] if lines else []
    if areas:
        parts.append(element("Polygons", areas, ["x", "y"], "p", clim=(0.0, most), **look))
    if points:
        parts.append(
            element("Points", points, ["x", "y"], "p", color="p", clim=(0.0, most), s=DOT, **look)
        )
    if blank:
        parts.append(
            element(
                "Points", blank, ["x", "y"], color="none", edgecolor=GREY, linewidth=LINE, s=DOT
            )
        )
    return bare_panel(
        parts,
        PANEL,
        *_limits(lines, [shape.point for shape in shapes]),
        title=title,
        aspect="equal",
    )


def _limits(
    lines: list[np.ndarray], points: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """(low, high) of x and of y, with a margin."""
    drawn = np.vstack([*lines, np.array(points)])
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    margin = 0.03 * max(float((high - low).max()), 1e-3)
    return [(a - margin, b + margin) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def shapes_of(places: Places) -> tuple[list[Shape], list[np.ndarray]]:
    """Where the places are drawn, and outlines of states that are not among them but around them.

    Places that are contiguous states of the USA are their areas; others are points, within the outlines of the states where
    all are there.
    """
    codes, states = states_of(places.names, places.longitude, places.latitude), us_states()
    corners = np.vstack([ring for state in states.values() for ring in state.polygons])
    there = [
        within(places.longitude, corners[:, 0]).all()
        and within(places.latitude, corners[:, 1]).all(),
        any(codes),
    ]
    if any(there):
        x, y = albers(places.longitude, places.latitude)
        drawn = _projected()
        outlines = [ring for code, rings in drawn.items() if code not in codes for ring in rings]
    else:
        x, y, drawn = (
            places.longitude * np.cos(np.radians(places.latitude.mean())),
            places.latitude,
            {},
        )
        outlines, codes = [], [None] * len(codes)
    points = zip(x.tolist(), y.tolist(), strict=True)
    return [
        Shape(drawn.get(code, ()), point) for code, point in zip(codes, points, strict=True)
    ], outlines


def within(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which values lie in the range of others."""
    return (values >= others.min()) & (values <= others.max())


@lru_cache(maxsize=1)
def _projected() -> dict[str, tuple[np.ndarray, ...]]:
    """The polygons of each state on the plane."""
    return {
        code: tuple(np.column_stack(albers(*ring.T)) for ring in state.polygons)
        for code, state in us_states().items()
    }


def map_controls(run: xr.Dataset) -> tuple[Menu | Slider, ...]:
    """The word, and the year where rows have one."""
    places, words = places_of(run), words_of(run)
    chosen = Menu("word", "Word", tuple(sorted(words, key=str.casefold)), words[0])
    if places.time is None or len(times := np.unique(places.time)) == 1:
        return (chosen,)
    low, high, step = float(times[0]), float(times[-1]), float(np.diff(times).min())
    return chosen, Slider("time", places.time_name.capitalize(), low, high, step, high, plays=True)


def words_of(run: xr.Dataset) -> list[str]:
    """The words of a menu: those whose probability ranges widest over the rows, the widest first."""
    ranges = np.ptp(run["probability"].values, axis=0)
    return [
        str(run["word"].values[word]) for word in np.argsort(-ranges, kind="stable")[:MOST_WORDS]
    ]


def draw_word_map(
    view: View, shown: SideBySide, word: str | None = None, time: float | None = None
) -> Iterator[Picture]:
    """A map of one run of each label whose rows have a latitude and a longitude, beside that of the counts.

    ``word`` and ``time`` are by default those of `map_controls`; of a time without a row the nearest one is drawn.
    """
    runs = {
        label: run
        for label, run in shown.first("probability", "inputs").items()
        if places_of(run).latitude is not None
    }
    if not runs:
        return
    first = next(iter(runs.values()))
    word = word if word in first["word"].values else words_of(first)[0]
    runs = {label: run for label, run in runs.items() if word in run["word"].values}
    drawn, left_out = fitting_panels(runs)
    panels, rows, areas, points, counted = [], [], [], [], False
    for label, run in runs.items():
        found = _of_run(run, word, time, shown)
        rows += rows_of(label, run, found.table)
        if label in drawn:
            if found.shares is not None:
                panels.append(
                    word_map_view(
                        found.shapes,
                        found.shares,
                        found.most,
                        f"{found.name}, counted",
                        found.outlines,
                    )
                )
                counted = True
            title = f"{found.name}, {label if len(runs) > 1 or len(label) < 20 else 'inferred'}, full colour: {found.most:.1%}"
            panels.append(
                word_map_view(found.shapes, found.probability, found.most, title, found.outlines)
            )
            for values in (found.shares, found.probability)[found.shares is None :]:
                there = [at for at, value in enumerate(values) if np.isfinite(value)]
                of_areas = [found.texts[at] for at in there for _ in found.shapes[at].polygons]
                of_points = [found.texts[at] for at in there if not found.shapes[at].polygons]
                areas += [of_areas] * bool(of_areas)
                points += [of_points] * bool(of_points)
    beside = (
        "beside the share that it has of the tokens that were counted there, held-out ones too, "
        if counted
        else ""
    )
    yield view.picture(
        f"Probability of “{word}” in the rows of one time, mean over iterations after burn-in, {beside}in one scale over all "
        "times: the largest probability of any row has the full colour, and what is beyond it too. A place without a count is "
        "left blank: its probability is a prediction. Outlines of states: U.S. Census Bureau, TIGER/Line Shapefiles. "
        f"One run of each label.{left_out}",
        panels,
        [*WHOSE, *COLUMNS],
        rows,
        legend=False,
        height=PANEL[1],
        runs=list(runs.values()),
        hover={"Polygons": areas, "Points": points},
    )


class _Found(NamedTuple):
    """What is drawn of one run."""

    name: str  # word and time
    shapes: list[Shape]
    outlines: list[np.ndarray]
    probability: np.ndarray  # (place,) NaN where no row of this time is
    shares: np.ndarray | None  # (place,) of counts, where these are at hand
    most: float  # what has the full colour
    texts: list[str]  # of each place
    table: list[list]


def _of_run(run: xr.Dataset, word: str, time: float | None, shown: SideBySide) -> _Found:
    places, at = places_of(run), int(np.flatnonzero(run["word"].values == word)[0])
    shapes, outlines = shapes_of(places)
    times = np.zeros(run.sizes["document"]) if places.time is None else places.time
    now = float(times.max() if time is None else times[np.argmin(np.abs(times - time))])
    probability, n = run["probability"].values[:, at], len(places.names)
    deviation = (
        run["probability_deviation"].values[:, at]
        if "probability_deviation" in run
        else np.full(len(times), np.nan)
    )
    spec = spec_of(run)
    corpora = [shown.corpora[each] for each in (spec.train, spec.test) if each in shown.corpora]
    shares = shares_of(at, *corpora) if corpora else np.full(len(times), np.nan)
    here = np.flatnonzero(times == now)
    at_places = np.full((3, n), np.nan)
    for which, values in enumerate((probability, deviation, shares)):
        at_places[which, places.of_row[here]] = values[here]
    known = shares[np.isfinite(shares)]
    most = max(float(probability.max()), 1e-9)
    name = word if places.time is None else f"{word} {now:g}"
    texts = [
        f"{place}\n{name}: {p:.2%}"
        + (f" ± {d:.2%}" if d > 0 else "")
        + (f"\ncounted: {s:.2%}" if s >= 0 else "")
        for place, (p, d, s) in zip(places.names, at_places.T, strict=True)
    ]
    table = [
        [
            place,
            "" if places.time is None else now,
            word,
            *(value if np.isfinite(value) else "" for value in each),
        ]
        for place, each in zip(places.names, at_places.T.tolist(), strict=True)
        if np.isfinite(each[0])
    ]
    return _Found(
        name,
        shapes,
        outlines,
        at_places[0],
        at_places[2] if len(known) else None,
        most,
        texts,
        table,
    )
