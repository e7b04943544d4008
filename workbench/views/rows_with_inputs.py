"""Rows with inputs: maps of a word's probability over places at one time, and its course over time at one place.

They are drawn as a spatio-temporal process infers them and as they are counted.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures.rows import Places, places_of, shares_of
from workbench.views.elements import GREY, RC, Look, axis, band, bare_panel, element, panel
from workbench.views.over_time import changing_words, spaced_ticks
from workbench.views.picture import (
    RUN_COLUMNS,
    Menu,
    Picture,
    RunsOfLabels,
    RunsToDraw,
    Slider,
    View,
    menu_of,
    rows_of,
)

COLUMNS = ("place", "time", "word", "probability", "deviation", "share")
MOST_IN_MENU = 300
"""Maximum of words of a menu."""
MAP_PANEL = (3.4, 2.45)
"""Width and height of a map, inches."""
LINE, DOT = 0.4, 22
SHADES = "Blues"


class Shape(NamedTuple):
    """The outline of a place on the map: polygons, or a point if it has none."""

    polygons: tuple[np.ndarray, ...]
    point: tuple[float, float]


def word_map_view(
    shapes: list[Shape],
    values: np.ndarray,
    most: float,
    title: str = "",
    outlines: Iterable[np.ndarray] = (),
):
    """Draw the values of places on a map: `Polygons` where the outline is known, else `Points`.

    values : probabilities or shares (place,); the colour scale ends at ``most``; places with NaN are blank.
    outlines : polygons that are drawn only as lines.
    """
    lines = [
        np.vstack([ring, ring[:1]])
        for ring in (*outlines, *(ring for shape in shapes for ring in shape.polygons))
    ]
    shapes_with_values = [
        (shape, value) for shape, value in zip(shapes, values, strict=True) if np.isfinite(value)
    ]
    areas = [
        {"x": ring[:, 0], "y": ring[:, 1], "p": value}
        for shape, value in shapes_with_values
        for ring in shape.polygons
    ]
    points = [(*shape.point, value) for shape, value in shapes_with_values if not shape.polygons]
    blank = [
        shape.point
        for shape, value in zip(shapes, values, strict=True)
        if not shape.polygons and not np.isfinite(value)
    ]
    look = {"cmap": SHADES, "edgecolor": GREY, "linewidth": LINE}
    elements = [element("Path", lines, color=GREY, linewidth=LINE)] if lines else []
    if areas:
        elements.append(element("Polygons", areas, ["x", "y"], "p", clim=(0.0, most), **look))
    if points:
        elements.append(
            element("Points", points, ["x", "y"], "p", color="p", clim=(0.0, most), s=DOT, **look)
        )
    if blank:
        elements.append(
            element(
                "Points", blank, ["x", "y"], color="none", edgecolor=GREY, linewidth=LINE, s=DOT
            )
        )
    return bare_panel(
        elements,
        MAP_PANEL,
        *_limits(lines, [shape.point for shape in shapes]),
        title=title,
        aspect="equal",
    )


def _limits(
    lines: list[np.ndarray], points: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return (low, high) of x and of y, with a margin."""
    corners = np.vstack([*lines, np.array(points)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = 0.03 * max(float((high - low).max()), 1e-3)
    return [(a - margin, b + margin) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def shapes_of(places: Places) -> tuple[list[Shape], list[np.ndarray]]:
    """Return the outline of each place, and the outlines of states to draw around them.

    Places that are contiguous states of the USA have polygons; others are points. If all points are within the range of the
    states, the states' outlines are returned, too.
    """
    codes, states = states_of(places.names, places.longitude, places.latitude), us_states()
    corners = np.vstack([ring for state in states.values() for ring in state.polygons])
    points = np.column_stack([places.longitude, places.latitude])
    is_in_states = (points >= corners.min(axis=0)) & (points <= corners.max(axis=0))
    if is_in_states.all() or any(codes):
        x, y = albers(places.longitude, places.latitude)
        rings_of_states = {
            code: tuple(np.column_stack(albers(*ring.T)) for ring in state.polygons)
            for code, state in states.items()
        }
        outlines = [
            ring for code, rings in rings_of_states.items() if code not in codes for ring in rings
        ]
    else:
        x = places.longitude * np.cos(np.radians(places.latitude.mean()))
        y, rings_of_states, outlines = places.latitude, {}, []
    points = zip(x.tolist(), y.tolist(), strict=True)
    return [
        Shape(rings_of_states.get(code, ()), point)
        for code, point in zip(codes, points, strict=True)
    ], outlines


def map_controls(run: xr.Dataset) -> tuple[Menu | Slider, ...]:
    """Return the controls that choose a word, and a year if documents have one."""
    places, words = places_of(run), words_of(run)
    word_menu = Menu("word", "Word", tuple(sorted(words, key=str.casefold)), words[0])
    if places.time is None or len(times := np.unique(places.time)) == 1:
        return (word_menu,)
    low, high, step = float(times[0]), float(times[-1]), float(np.diff(times).min())
    return word_menu, Slider(
        "time", places.time_name.capitalize(), low, high, step, high, plays=True
    )


def words_of(run: xr.Dataset) -> list[str]:
    """Return the words for the menu, those whose probability varies most over documents first."""
    ranges = np.ptp(run["probability"].values, axis=0)
    return [
        str(run["word"].values[word]) for word in np.argsort(-ranges, kind="stable")[:MOST_IN_MENU]
    ]


def draw_word_map(
    view: View, selection: RunsToDraw, word: str | None = None, time: float | None = None
) -> Iterator[Picture]:
    """Draw maps of inferred and observed word probabilities for one run per label, if documents have coordinates.

    ``word`` and ``time`` are by default those of `map_controls`; a time without documents is replaced by the nearest one.
    """
    runs = {
        label: run
        for label, run in selection.first("probability", "inputs").items()
        if places_of(run).latitude is not None
    }
    if not runs:
        return
    first = next(iter(runs.values()))
    word = word if word in first["word"].values else words_of(first)[0]
    runs = {label: run for label, run in runs.items() if word in run["word"].values}
    collection, shares_text = RunsOfLabels(runs), ""
    for label, run in runs.items():
        source = label if len(runs) > 1 or len(label) < 20 else "inferred"
        table, panels, hover = _maps_of_run(run, word, time, selection, source)
        collection.add(label, table, panels, hover)
        if len(panels) > 1:
            shares_text = "next to its share of the tokens counted there, including held-out ones, "
    yield from collection.pictures(
        view,
        f"Probability of “{word}” in the rows of one time, mean over iterations after burn-in, {shares_text}on one scale over "
        "all times: full colour is the largest probability of any row, and anything above. In the map of counts, places "
        "without a count are blank: their probability is a prediction. Outlines of states: U.S. Census Bureau, TIGER/Line "
        "Shapefiles. One run of each label.",
        COLUMNS,
    )


def _numbers(run: xr.Dataset, word: str, selection: RunsToDraw) -> np.ndarray:
    """Return a word's probability, its standard deviation and its counted share, by row (3, document); NaN if unknown."""
    word_id = int(np.flatnonzero(run["word"].values == word)[0])
    numbers, corpora = np.full((3, run.sizes["document"]), np.nan), selection.corpora_of(run)
    numbers[0] = run["probability"].values[:, word_id]
    if "probability_deviation" in run:
        numbers[1] = run["probability_deviation"].values[:, word_id]
    if corpora:
        numbers[2] = shares_of(word_id, *corpora)
    return numbers


def _maps_of_run(
    run: xr.Dataset, word: str, time: float | None, selection: RunsToDraw, source: str
) -> tuple[list[list], list, dict[str, list[list[str]]]]:
    """Return the table of a word's probabilities, its maps (of counts, if any, and probabilities), and hover texts."""
    places, numbers = places_of(run), _numbers(run, word, selection)
    shapes, outlines = shapes_of(places)
    times = np.zeros(run.sizes["document"]) if places.time is None else places.time
    year = float(times.max() if time is None else times[np.argmin(np.abs(times - time))])
    rows_of_time = np.flatnonzero(times == year)
    place_values = np.full((3, len(places.names)), np.nan)
    place_values[:, places.of_row[rows_of_time]] = numbers[:, rows_of_time]
    most = max(float(numbers[0].max()), 1e-9)
    name = word if places.time is None else f"{word} {year:g}"
    maps = [(place_values[0], f"{name}, {source}, full colour: {most:.1%}")]
    if np.isfinite(numbers[2]).any():
        maps.insert(0, (place_values[2], f"{name}, counted"))
    panels = [word_map_view(shapes, values, most, title, outlines) for values, title in maps]
    texts = [
        f"{place}\n{name}: {p:.2%}"
        + (f" ± {d:.2%}" if d > 0 else "")
        + (f"\ncounted: {s:.2%}" if s >= 0 else "")
        for place, (p, d, s) in zip(places.names, place_values.T, strict=True)
    ]
    table = [
        [
            place,
            "" if places.time is None else year,
            word,
            *(value if np.isfinite(value) else "" for value in place_numbers),
        ]
        for place, place_numbers in zip(places.names, place_values.T.tolist(), strict=True)
        if np.isfinite(place_numbers[0])
    ]
    hover: dict[str, list[list[str]]] = {"Polygons": [], "Points": []}
    for values, _ in maps:
        known_places = [place for place, value in enumerate(values) if np.isfinite(value)]
        of_areas = [texts[place] for place in known_places for _ in shapes[place].polygons]
        of_points = [texts[place] for place in known_places if not shapes[place].polygons]
        hover["Polygons"] += [of_areas] * bool(of_areas)
        hover["Points"] += [of_points] * bool(of_points)
    return table, panels, hover


PARALLELS, CENTRE = (29.5, 45.5), (37.5, -96.0)
"""Standard parallels of the projection, and latitude and longitude of its origin."""


class State(NamedTuple):
    """A US state: its name, and polygons (point, 2) of longitude and latitude."""

    name: str
    polygons: tuple[np.ndarray, ...]


@lru_cache(maxsize=1)
def us_states() -> dict[str, State]:
    """Return postal code → state, for the 48 contiguous states."""
    outlines = json.loads((Path(__file__).parent / "us_states.json").read_text(encoding="utf-8"))
    return {
        code: State(
            state["name"], tuple(np.array(ring).reshape(-1, 2) / 100 for ring in state["rings"])
        )
        for code, state in outlines.items()
    }


def albers(longitude: np.ndarray, latitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of Albers' equal-area projection, in units of the Earth's radius."""
    first, second, centre = np.radians([*PARALLELS, CENTRE[0]])
    n = (np.sin(first) + np.sin(second)) / 2
    c = np.cos(first) ** 2 + 2 * n * np.sin(first)
    theta = n * np.radians(np.asarray(longitude) - CENTRE[1])
    radius, origin = (
        np.sqrt(c - 2 * n * np.sin(angle)) / n for angle in (np.radians(latitude), centre)
    )
    return radius * np.sin(theta), origin - radius * np.cos(theta)


def states_of(
    names: Sequence[str], longitude: np.ndarray, latitude: np.ndarray
) -> list[str | None]:
    """Return the postal code of each place's state, found by name ("OH" or "Ohio") or coordinates; None for other places.

    Coordinates are not used for several places in one state, which are taken for cities.
    """
    from matplotlib.path import Path as Outline

    states = us_states()
    codes = {state.name.casefold(): code for code, state in states.items()} | {
        code.casefold(): code for code in states
    }
    codes_by_name = [codes.get(name.strip().casefold()) for name in names]
    codes_by_place, places = (
        np.full(len(codes_by_name), "", object),
        np.column_stack([longitude, latitude]),
    )
    for code, state in states.items():
        for polygon in state.polygons:
            codes_by_place[Outline(polygon).contains_points(places)] = code
    all_codes = [
        code or place_code for code, place_code in zip(codes_by_name, codes_by_place, strict=True)
    ]
    return [
        code or (place_code if place_code and all_codes.count(place_code) == 1 else None)
        for code, place_code in zip(codes_by_name, codes_by_place, strict=True)
    ]


MOST_PANELS_OF_WORDS = 6
"""Maximum of panels of one run."""
COURSE_PANEL = (2.2, 1.7)
"""Width and height of a panel, inches."""


def word_by_time_view(
    courses: Mapping[str, np.ndarray],
    colours: Mapping[str, Look],
    title: str = "",
    time: str = "year",
):
    """Draw a word's probability over time: a `Curve` with band per label, and observed shares as `Scatter`.

    Each of ``courses`` (4, row) has in the order of time the times, the probability, its deviation and the counted share.
    """
    x, y = axis("time", time), axis("p", "p(word | row)")
    elements, (times, *_, shares) = [], next(iter(courses.values()))
    for label, (own_times, probability, deviation, _) in courses.items():
        colour, line, *_ = colours[label]
        if np.any(deviation > 0):
            edges = (own_times, np.maximum(probability - deviation, 0.0), probability + deviation)
            elements.append(band(edges, x, y, colour))
        curve = (own_times, probability)
        elements.append(
            element("Curve", curve, x, y, label=label, color=colour, linestyle=line, linewidth=1.2)
        )
    has_share = np.isfinite(shares)
    if has_share.any():
        elements.append(
            element(
                "Scatter",
                (times[has_share], shares[has_share]),
                x,
                y,
                color=GREY,
                s=5,
                linewidth=0,
            )
        )
    margin = 0.03 * max(float(np.ptp(times)), 1.0)
    return panel(
        elements,
        title=title,
        aspect="auto",
        fig_inches=COURSE_PANEL,
        xlim=(times[0] - margin, times[-1] + margin),
        xticks=[(year, f"{year:g}") for year in spaced_ticks(times, 4)],
        fig_rcparams=RC,
    )


place_controls = menu_of("place", "Place", lambda run: places_of(run).names)


def draw_rows_by_year(
    view: View, selection: RunsToDraw, place: str | None = None
) -> Iterator[Picture]:
    """Draw word probabilities over time at one place (default: the first) for one run per label."""
    runs = {
        label: run
        for label, run in selection.first("probability", "inputs").items()
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
            str(run["word"].values[word])
            for word in changing_words(probability, MOST_PANELS_OF_WORDS)
        ]
        for word in words:
            if word in run["word"].values:
                numbers = _numbers(run, word, selection)[:, rows_of_place]
                course = np.vstack([places.time[rows_of_place], numbers])
                courses.setdefault(word, {})[label] = course
                rows += rows_of(
                    label,
                    run,
                    [
                        [place, year, word, *numbers_of_row]
                        for year, *numbers_of_row in course.T.tolist()
                    ],
                )
    if not courses:
        return
    panels = [
        word_by_time_view(probability, selection.looks, word, places.time_name)
        for word, probability in courses.items()
    ]
    in_place = f" in {place}" if len(places.names) > 1 else ""
    yield view.picture(
        f"Probability of the {len(panels)} words whose probability changes most{in_place}, over time: mean over iterations "
        "after burn-in and, if known, ± one standard deviation of the draws. Dots: shares of the counted tokens, including "
        "held-out ones. One run of each label.",
        panels,
        [*RUN_COLUMNS, *COLUMNS],
        rows,
        legend=len(runs) > 1,
        height=COURSE_PANEL[1],
        runs=list(runs.values()),
    )
