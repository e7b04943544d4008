"""The map of topics: circles that lie near each other where words are alike, and the list of what they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from workbench.measures import one_run, topic_sizes, topics_by_size
from workbench.views.curves import dimension
from workbench.views.style import COLOURS, INK, RC
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
LIST_ROW = 0.135
"""Height of a line of the list, inches."""


def topic_map_view(found: xr.Dataset, colour: str = COLOURS[0], title: str = ""):
    """What `workbench.measures.topic_map` finds: topics as circles on a plane, each with its number.

    A circle's area is the topic's share of the tokens. A number stands where its circle is the smallest around it, or at the
    end of a thin line from its circle, so that circles that lie on each other are told apart; no two numbers lie on each
    other, however many topics there are.

    Parameters
    ----------
    found : Dataset
        Dim ``topic``: ``x``, ``y``, ``share``.

    Returns
    -------
    holoviews.Overlay
        `Segments` (from circles to numbers that stand apart), `Points` (x, y and the share) and `Labels` (numbers).
    """
    import holoviews as hv
    import holoviews.plotting.mpl

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
    x, y = hv.Dimension("x", label="first axis"), hv.Dimension("y", label="second axis")
    leaders = hv.Segments(np.hstack([rims, ends])[moved], [x, y, "to x", "to y"]).opts(
        color=INK, linewidth=0.4, backend="matplotlib"
    )
    circles = hv.Points((*points.T, share, (72 * across) ** 2), [x, y], [dimension("share"), "area"]).opts(
        color=f"{colour}{PALE}", s=hv.dim("area"), linewidth=0.8, edgecolor=colour, backend="matplotlib",
    )
    numbers = hv.Labels([(*place, name) for place, name in zip(places, named, strict=True)], [x, y], "topic").opts(
        size=6.5, color=INK, backend="matplotlib"
    )
    return hv.Overlay([leaders, circles, numbers]).opts(
        xlim=limits[0], ylim=limits[1], aspect="equal", fig_inches=3.4, title=title, show_legend=False, show_grid=False,
        xticks=4, yticks=4, fig_rcparams=RC, backend="matplotlib",
    )


def topic_list_view(run, n_words: int = 5, labels: Mapping[int, str] | None = None, title: str = ""):
    """The topics of one run in words, largest first: number, share, the label that people gave it or its top words.

    Returns
    -------
    holoviews.Overlay
        Two `Labels`: shares, and numbers with names. Beyond 20 topics the last line says how many there are more.
        Its height in inches is what `list_height` says.

    Raises
    ------
    MeasureError
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    run = one_run(run)
    order, names, share = topics_by_size(run), names_of_topics(run, n_words, 46, labels), topic_sizes(run)["share"]
    shown = order[:MOST_LISTED]
    shares = [(0.11, -at, f"{100 * float(share.sel(topic=topic)):.1f} %") for at, topic in enumerate(shown)]
    told = [(0.14, -at, names[topic]) for at, topic in enumerate(shown)]
    if len(order) > len(shown):
        told.append((0.14, -len(shown), f"and {len(order) - len(shown)} smaller ones"))
    drawn = [
        hv.Labels(texts, ["x", "y"], name, label=name).opts(
            size=6.5, color=INK, horizontalalignment=align, backend="matplotlib"
        )
        for name, texts, align in (("share", shares, "right"), ("name", told, "left"))
    ]
    return hv.Overlay(drawn).opts(
        xlim=(0, 1), ylim=(0.5 - len(told), 0.5), xaxis=None, yaxis=None, show_frame=False, show_grid=False, show_legend=False,
        title=title, fig_inches=(3.4, LIST_ROW * len(told)), aspect="auto", fig_rcparams=RC, backend="matplotlib",
    )


def map_height(n_topics: int) -> float:
    """Inches that the map and its list need beside each other."""
    return max(2.6, LIST_ROW * min(n_topics, MOST_LISTED + 1))


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
        clear = (np.hypot(*(near[:, None] - points[smaller]).T) > radii[smaller][:, None] + sizes[at].max() / 2).all(axis=0)
        clear &= (off <= max(radii[at] - sizes[at].max() / 2, 0)) | (off > radii[at] + sizes[at].max())
        places[at] = near[np.argmax(free & clear if (free & clear).any() else free)]
    return places


def _room(points: np.ndarray) -> tuple[list[tuple[float, float]], float]:
    """Limits of both axes with room for the circles at the edge, and the units of the map that one inch has."""
    low, high = points.min(axis=0), points.max(axis=0)
    scale = max(*((high - low) / (np.array(MAP_SIZE) - 0.8)), 0.02)
    middle = (low + high) / 2
    half = scale * np.array(MAP_SIZE) / 2
    return [(float(m - h), float(m + h)) for m, h in zip(middle, half, strict=True)], float(scale)
