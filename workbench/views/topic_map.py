"""Map of topics: circles that are close if their words are similar, and the list of topics."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import (
    one_run,
    spec_of,
    topic_descriptions,
    topic_map,
    topic_sizes,
    topics_by_size,
    topics_of_word,
)
from workbench.views.elements import (
    COLOURS,
    INK,
    ROW,
    TOPIC,
    axis,
    bare_panel,
    dimension,
    element,
    holoviews,
    panel,
    text_labels,
)
from workbench.views.picture import RUN_COLUMNS, Picture, RunsToDraw, View, file_names, rows_of
from workbench.views.topics import names_of_topics

MAP_SIZE = (2.7, 2.3)
"""Minimum size of the map in inches, for which the numbers are placed."""
LARGEST = 0.46
"""Diameter in inches of a topic with a share of `FULL` of the tokens, or of the largest if its share is higher."""
FULL = 0.2
PALE = "26"
"""Opacity of a circle, in hexadecimal: numbers are legible on three overlapping circles; rims are opaque."""
DIGIT, HIGH = 0.062, 0.105
"""Width of a digit and height of a number in inches, at 6.5 points."""
HALF = "70"
"""The same of circles in the colours of their topics."""
MOST_LISTED = 20
PLACES = ("x", "y", "n_k", "share")


def topic_map_view(
    points_table: xr.Dataset,
    colour: str = COLOURS[0],
    title: str = "",
    names: Mapping[int, str] | None = None,
    colours: Callable[[int], str] | None = None,
):
    """Draw a map of topics as numbered circles in the plane, from `workbench.measures.matching.topic_map`.

    The area of a circle is proportional to the topic's share of the tokens. A number is where its circle is the smallest around
    it, or at the end of a thin line from its circle, so that overlapping circles can be distinguished; numbers never overlap.
    ``names`` of topics are hover texts; ``colours`` gives each topic its own colour.
    Returns an overlay of `Segments` (from circles to distant numbers), `Points` (x, y and the share) and `Labels` (numbers).
    """
    hv = holoviews()
    points_table = points_table.isel(topic=np.argsort(-points_table["share"].values, kind="stable"))
    share, points = (
        points_table["share"].values,
        np.column_stack([points_table["x"].values, points_table["y"].values]),
    )
    diameters = LARGEST * np.sqrt(share / max(FULL, share.max()))
    limits, scale = _limits_and_scale(points)
    topics = points_table["topic"].values.tolist()
    numbers, rims_of = (
        list(map(str, topics)),
        [colours(topic_number) if colours else colour for topic_number in topics],
    )
    sizes, radii = np.array([(DIGIT * (len(name) + 1), HIGH) for name in numbers]), diameters / 2
    positions = scale * non_overlapping_positions(points / scale, sizes, radii)
    distances = np.hypot(*((positions - points) / scale).T)
    is_distant = distances > radii + HIGH
    direction = (positions - points) / np.maximum(distances, HIGH)[:, None]
    rims, line_ends = (
        points + direction * radii[:, None],
        points + direction * (distances - 0.6 * HIGH)[:, None],
    )
    x, y = axis("x", "first axis"), axis("y", "second axis")
    return panel(
        [
            element(
                "Segments",
                np.hstack([rims, line_ends])[is_distant],
                [x, y, "to x", "to y"],
                color=INK,
                linewidth=0.4,
            ),
            element(
                "Points",
                (
                    *points.T,
                    topics,
                    share,
                    (72 * diameters) ** 2,
                    [(names or {}).get(topic, str(topic)) for topic in topics],
                    rims_of,
                    [f"{topic_number}{HALF}" for topic_number in rims_of],
                ),
                [x, y],
                [
                    axis(TOPIC, "topic"),
                    dimension("share"),
                    "area",
                    axis("name", "name"),
                    "colour",
                    "fill",
                ],
                color=hv.dim("fill") if colours else f"{colour}{PALE}",
                s=hv.dim("area"),
                linewidth=0.8,
                edgecolor=hv.dim("colour") if colours else colour,
            ),
            element(
                "Labels",
                [(*position, name) for position, name in zip(positions, numbers, strict=True)],
                [x, y],
                "topic",
                size=6.5,
                color=INK,
            ),
        ],
        xlim=limits[0],
        ylim=limits[1],
        aspect="equal",
        title=title,
        show_grid=False,
        xticks=4,
        yticks=4,
    )


def topic_list_view(
    run: xr.Dataset, n_words: int = 5, labels: Mapping[int, str] | None = None, title: str = ""
):
    """Draw one run's topics as a list, largest first: number, share, and label or top words.

    Returns two `Labels`: shares, and numbers with names. Beyond 20 topics the last line counts the others.
    """
    run = one_run(run)
    order, names, share = (
        topics_by_size(run),
        names_of_topics(run, n_words, 46, labels),
        topic_sizes(run)["share"],
    )
    listed_topics = order[:MOST_LISTED]
    shares = [
        (0.11, -row, f"{100 * float(share.sel(topic=topic)):.1f} %")
        for row, topic in enumerate(listed_topics)
    ]
    name_labels = [(0.14, -row, names[topic]) for row, topic in enumerate(listed_topics)]
    if len(order) > len(listed_topics):
        name_labels.append(
            (0.14, -len(listed_topics), f"and {len(order) - len(listed_topics)} smaller ones")
        )
    return bare_panel(
        [
            text_labels(shares, "share", align="right"),
            text_labels(name_labels, "name", align="left"),
        ],
        (3.4, ROW * len(name_labels)),
        (0, 1),
        (0.5 - len(name_labels), 0.5),
        title=title,
    )


def draw_maps(
    view: View,
    selection: RunsToDraw,
    points: xr.Dataset | None = None,
    word: str = "",
    colours: Callable[[int], str] | None = None,
) -> Iterator[Picture]:
    """Draw map and list of the topics for one run per label; ``points``: the `topic_map` of a single run, if computed.

    ``word``: areas are the topics' shares of this word's tokens, not of all; ``colours``: see `topic_map_view`.
    """
    first = selection.first("phi", "n_kw")
    for (label, run), short in zip(first.items(), file_names(first), strict=True):
        topic_points, names = (
            topic_map(run) if points is None else points,
            names_of_topics(run, 5, 80),
        )
        hover = {
            k: f"{names[k]}: {text}" for k, text in topic_descriptions(run).items() if k in names
        }
        of_what = f"tokens of “{word}”" if word else "training tokens"
        if word:
            topic_points = topic_points.assign(share=topics_of_word(run, word))
        table = topic_points.to_dataframe().reset_index()[["topic", *PLACES]]
        rows = rows_of(
            label,
            run,
            table.assign(name=[names[topic].split(" · ", 1)[1] for topic in table["topic"]]),
        )
        yield Picture(
            f"{view.name}-{short}",
            f"{view.title}, {label}",
            f"Topics of one run (seed {spec_of(run).seed}) at its last snapshot; close topics have similar words. The area of "
            f"a circle is the topic's share of the {of_what}. Classical scaling of the square root of the Jensen-Shannon "
            f"divergence of phi (base 2), of which the plane shows {100 * topic_points.attrs['shown']:.0f} %: overlapping "
            "circles need not be similar. A number belongs to the smallest circle around it, or to the circle at the "
            "end of its line.",
            [
                topic_map_view(
                    topic_points,
                    selection.looks[label].colour,
                    f"“{word}”" if word else "",
                    names | hover,
                    colours,
                ),
                topic_list_view(run),
            ],
            [*RUN_COLUMNS, "topic", *PLACES, "name"],
            rows,
            legend=False,
            height=max(2.6, ROW * min(len(rows), MOST_LISTED + 1)),
            runs=[run],
        )


def non_overlapping_positions(
    points: np.ndarray, sizes: np.ndarray, radii: np.ndarray | None = None
) -> np.ndarray:
    """Return positions (point, 2) near the points at which texts of the given sizes (width, height) do not overlap.

    In the given order, each takes the nearest free place on a spiral around its point. If the points have circles, places
    inside or outside the own circle and outside smaller ones are preferred.
    """
    radii = np.zeros(len(points)) if radii is None else radii
    steps = np.arange(0, 400)
    radius = 0.05 * np.sqrt(steps)
    spiral = radius[:, None] * np.column_stack([np.cos(2.4 * steps), np.sin(2.4 * steps)])
    positions = np.empty_like(points)
    for index, point in enumerate(points):
        candidates = point + spiral
        is_far = (
            np.abs(candidates[:, None] - positions[None, :index])
            >= (sizes[index] + sizes[:index]) / 2
        )
        free = is_far.any(axis=2).all(axis=1)
        smaller = radii < radii[index]
        clear = (
            np.hypot(*(candidates[:, None] - points[smaller]).T)
            > radii[smaller][:, None] + sizes[index].max() / 2
        ).all(axis=0)
        clear &= (radius <= max(radii[index] - sizes[index].max() / 2, 0)) | (
            radius > radii[index] + sizes[index].max()
        )
        positions[index] = candidates[np.argmax(free & clear if (free & clear).any() else free)]
    return positions


def _limits_and_scale(points: np.ndarray) -> tuple[list[tuple[float, float]], float]:
    """Return the limits of both axes, with a margin for circles, and the scale in map units per inch."""
    low, high, size = points.min(axis=0), points.max(axis=0), np.array(MAP_SIZE)
    scale = max(*((high - low) / (size - 0.8)), 0.02)
    centre, half = (low + high) / 2, scale * size / 2
    return list(zip((centre - half).tolist(), (centre + half).tolist(), strict=True)), float(scale)
