"""The map of topics: circles that lie near each other where words are alike, and the list of what they are."""

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import one_run, spec_of, topic_map, topic_sizes, topics_by_size
from workbench.views.curves import dimension
from workbench.views.elements import ROW, axis, bare_panel, element, holoviews, panel, text_labels
from workbench.views.picture import WHOSE, Picture, SideBySide, View, file_names, rows_of
from workbench.views.style import COLOURS, INK
from workbench.views.topics import names_of_topics

MAP_SIZE = (2.7, 2.3)
"""Inches that the map has at least, which places of numbers are found for."""
LARGEST = 0.46
"""Inches across the circle of a topic that has `FULL` of the tokens, or of the largest where that has more."""
FULL = 0.2
PALE = "26"
"""Opacity of a circle, in hexadecimal: numbers are read where three lie on each other, in grey too; rims are opaque."""
DIGIT, HIGH = 0.062, 0.105
"""Inches that a digit is wide and a number high, at 6.5 points."""
MOST_LISTED = 20
PLACES = ("x", "y", "n_k", "share")


def topic_map_view(found: xr.Dataset, colour: str = COLOURS[0], title: str = ""):
    """The map of `workbench.measures.topic_map`: topics as circles on a plane, each with its number.

    A circle's area is the topic's share of the tokens. A number stands where its circle is the smallest around it, or at the
    end of a thin line from its circle, so that circles that lie on each other can be distinguished; no two numbers lie on each
    other, however many topics there are. An overlay of `Segments` (from circles to numbers that stand apart), `Points` (x, y
    and the share) and `Labels` (numbers).
    """
    hv = holoviews()
    found = found.isel(topic=np.argsort(-found["share"].values, kind="stable"))
    share, points = found["share"].values, np.column_stack([found["x"].values, found["y"].values])
    across = LARGEST * np.sqrt(share / max(FULL, share.max()))
    limits, scale = _room(points)
    named = [str(topic) for topic in found["topic"].values]
    sizes, radii = np.array([(DIGIT * (len(name) + 1), HIGH) for name in named]), across / 2
    places = scale * apart(points / scale, sizes, radii)
    far = np.hypot(*((places - points) / scale).T)
    moved = far > radii + HIGH
    towards = (places - points) / np.maximum(far, HIGH)[:, None]
    rims, ends = points + towards * radii[:, None], points + towards * (far - 0.6 * HIGH)[:, None]
    x, y = axis("x", "first axis"), axis("y", "second axis")
    return panel(
        [
            element(
                "Segments",
                np.hstack([rims, ends])[moved],
                [x, y, "to x", "to y"],
                color=INK,
                linewidth=0.4,
            ),
            element(
                "Points",
                (*points.T, share, (72 * across) ** 2),
                [x, y],
                [dimension("share"), "area"],
                color=f"{colour}{PALE}",
                s=hv.dim("area"),
                linewidth=0.8,
                edgecolor=colour,
            ),
            element(
                "Labels",
                [(*place, name) for place, name in zip(places, named, strict=True)],
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
    run, n_words: int = 5, labels: Mapping[int, str] | None = None, title: str = ""
):
    """The topics of one run in words, largest first: number, share, the label that people gave it or its top words.

    Two `Labels`: shares, and numbers with names. Beyond 20 topics the last line counts the others.
    """
    run = one_run(run)
    order, names, share = (
        topics_by_size(run),
        names_of_topics(run, n_words, 46, labels),
        topic_sizes(run)["share"],
    )
    shown = order[:MOST_LISTED]
    shares = [
        (0.11, -at, f"{100 * float(share.sel(topic=topic)):.1f} %")
        for at, topic in enumerate(shown)
    ]
    named = [(0.14, -at, names[topic]) for at, topic in enumerate(shown)]
    if len(order) > len(shown):
        named.append((0.14, -len(shown), f"and {len(order) - len(shown)} smaller ones"))
    return bare_panel(
        [text_labels(shares, "share", align="right"), text_labels(named, "name", align="left")],
        (3.4, ROW * len(named)),
        (0, 1),
        (0.5 - len(named), 0.5),
        title=title,
    )


def draw_maps(view: View, shown: SideBySide, points: xr.Dataset | None = None) -> Iterator[Picture]:
    """Map and list of the topics of one run of each label; ``points``: of a single run what `topic_map` found already."""
    first = shown.first("phi", "n_kw")
    for (label, run), short in zip(first.items(), file_names(first), strict=True):
        found, names = topic_map(run) if points is None else points, names_of_topics(run, 5, 80)
        table = found.to_dataframe().reset_index()[["topic", *PLACES]]
        rows = rows_of(
            label,
            run,
            table.assign(name=[names[topic].split(" · ", 1)[1] for topic in table["topic"]]),
        )
        yield Picture(
            f"{view.name}-{short}",
            f"{view.title}, {label}",
            f"Topics of one run (seed {spec_of(run).seed}) at its last snapshot: near each other where their words are alike; "
            "the area of a circle is the topic's share of the training tokens. Classical scaling of the square root of the "
            f"Jensen-Shannon divergence of phi (base 2), of which the plane shows {100 * found.attrs['shown']:.0f} %: circles "
            "that lie on each other need not be alike. A number is that of the smallest circle around it, or of the circle "
            "that its line leads to; numbers are the run's own.",
            [topic_map_view(found, shown.looks[label].colour), topic_list_view(run)],
            [*WHOSE, "topic", *PLACES, "name"],
            rows,
            legend=False,
            height=max(2.6, ROW * min(len(rows), MOST_LISTED + 1)),
            runs=[run],
        )


def apart(points: np.ndarray, sizes: np.ndarray, radii: np.ndarray | None = None) -> np.ndarray:
    """Places for texts of the given sizes (width, height) near their points, none on another; all in one unit.

    In the order given, each takes the nearest free place on a spiral round its point; where the points have circles, one
    that is wholly in its own or out of it, and in no smaller one, if there is any.
    """
    radii = np.zeros(len(points)) if radii is None else radii
    turns = np.arange(0, 400)
    off = 0.05 * np.sqrt(turns)
    spiral = off[:, None] * np.column_stack([np.cos(2.4 * turns), np.sin(2.4 * turns)])
    places = np.empty_like(points)
    for at, point in enumerate(points):
        near = point + spiral
        far = np.abs(near[:, None] - places[None, :at]) >= (sizes[at] + sizes[:at]) / 2
        free = far.any(axis=2).all(axis=1)
        smaller = radii < radii[at]
        clear = (
            np.hypot(*(near[:, None] - points[smaller]).T)
            > radii[smaller][:, None] + sizes[at].max() / 2
        ).all(axis=0)
        clear &= (off <= max(radii[at] - sizes[at].max() / 2, 0)) | (
            off > radii[at] + sizes[at].max()
        )
        places[at] = near[np.argmax(free & clear if (free & clear).any() else free)]
    return places


def _room(points: np.ndarray) -> tuple[list[tuple[float, float]], float]:
    """Limits of both axes with room for the circles at the edge, and the units of the map that one inch has."""
    low, high, size = points.min(axis=0), points.max(axis=0), np.array(MAP_SIZE)
    scale = max(*((high - low) / (size - 0.8)), 0.02)
    middle, half = (low + high) / 2, scale * size / 2
    return list(zip((middle - half).tolist(), (middle + half).tolist(), strict=True)), float(scale)
