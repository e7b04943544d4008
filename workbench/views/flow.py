"""Flow between the topics of two runs: ribbons as wide as the tokens that two topics share."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import match_topics, spec_of, topic_flow
from workbench.views.elements import (
    COLOURS,
    GRID,
    INK,
    TOPIC,
    axis,
    bare_panel,
    coloured_outlines,
    element,
    height_of,
    short_text,
    text_labels,
)
from workbench.views.picture import Picture, RunsToDraw, View, file_names
from workbench.views.topics import names_of_topics

ROW = 0.15
"""Height of a line, inches: the minimum for a topic."""
GAP = 0.25
"""Gap between two bars, lines."""
THINNEST = 0.006
"""Smallest share of the tokens that is drawn as a ribbon; smaller ones are in the table only."""
MOST_TOPICS = 40
LEFT, RIGHT, WIDE = 0.38, 0.61, 0.012
"""Positions of the bars of both runs, and their width, as shares of the width of the picture."""
ALONG = np.linspace(0, 1, 25)
LETTERS = 21
"""Maximum of letters of a name, on one column of a page."""
MOST_FLOWS = 4
MOST_PAIRS = 5_000_000
"""Maximum of pairs of a corpus for a flow: half a minute for 100 topics."""


class Column(NamedTuple):
    """The bars of one run's topics: positions and heights, in lines of text, downwards from 0."""

    topics: list[int]
    top: np.ndarray  # (topic,)
    height: np.ndarray  # (topic,)


def topic_flow_view(
    flow: xr.DataArray,
    matches: xr.Dataset,
    runs: tuple[str, str] = ("", ""),
    names: tuple[Mapping[int, str], Mapping[int, str]] = ({}, {}),
    colour: Callable[[int], str] = lambda topic: COLOURS[0],
    letters: int = LETTERS,
    title: str = "",
):
    """Draw the topics of two runs as two columns of bars, joined by ribbons as wide as their shared tokens.

    On the left the topics of a, largest first; on the right those of b in the order of their matches, those without a match
    last. Ribbons between matched topics are coloured, others grey; ribbons below 0.6 % of the tokens are left out. Only the 40
    largest topics are drawn.

    ``flow`` (topic, other) and ``matches`` are results of `workbench.measures.topic_flow` and `match_topics`; ``names`` are the
    topic names of each run (see `workbench.views.names_of_topics`), by default the numbers, cut to ``letters``. Returns an
    overlay of `Polygons` (other ribbons, then the matched ones), `Rectangles` (bars of each side), and `Labels`: the runs,
    and the names of both sides, on the right after the distance of each match.
    """
    pairs = zip(matches["topic"].values.tolist(), matches["matched"].values.tolist(), strict=True)
    partner = {match: topic for topic, match in pairs if match >= 0}
    order, largest = _largest_topics(flow.sum("other")), _largest_topics(flow.sum("topic"))
    position = {topic: rank for rank, topic in enumerate(order)}
    unit = 0.8 * max(len(order), len(largest)) / float(flow.sum())  # lines for a token
    left_column = _column(order, unit * flow.sum("other"))
    right_column = _column(
        sorted(largest, key=lambda topic: position.get(partner.get(topic), len(position))),
        unit * flow.sum("topic"),
    )
    other_ribbons, match_ribbons = [], []
    for topic, other, ribbon in _ribbons(flow, left_column, right_column, unit):
        is_match = partner.get(other) == topic
        hover = {TOPIC: topic, "other": other, "colour": colour(topic) if is_match else GRID}
        (match_ribbons if is_match else other_ribbons).append(ribbon | hover)
    bars = [
        [
            (x, top - height, x + WIDE, top, topic)
            for topic, top, height in zip(column.topics, column.top, column.height, strict=True)
        ]
        for x, column in ((LEFT, left_column), (RIGHT, right_column))
    ]
    bottom = min(
        (column.top - np.maximum(column.height, 1)).min() for column in (left_column, right_column)
    )
    dims = [axis(TOPIC, "topic"), "other", axis("tokens", "shared tokens")]
    elements = [
        coloured_outlines(
            "Polygons", ribbons, ["x", "y"], dims, edgecolor="none", alpha=0.5, linewidth=0
        )
        for ribbons in (other_ribbons, match_ribbons)
    ]
    elements += [
        element("Rectangles", column_bars, vdims=name, color=INK, facecolor=INK, linewidth=0)
        for column_bars, name in zip(bars, (axis(TOPIC, "topic"), "other"), strict=True)
    ]
    elements += _texts(left_column, right_column, matches, letters, runs, names)
    return bare_panel(elements, (3.4, ROW * (1.6 - bottom)), (0, 1), (bottom, 1.6), title=title)


def draw_flows(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw topic flows between the first runs of successive labels (at most four), or between two runs of one label.

    Only if the training tokens are available.
    """
    runs_by_label = {
        label: members
        for label, members in selection.by_label("phi", "n_kw").items()
        if spec_of(members[0]).train in selection.corpora
    }
    candidates = [(label, label, members[0]) for label, members in runs_by_label.items()]
    if len(runs_by_label) == 1:
        candidates = [
            (f"{label}, seed {spec_of(run).seed}", label, run)
            for label, members in runs_by_label.items()
            for run in members[:2]
        ]
    pairs = [
        (a, b)
        for a, b in pairwise(candidates)
        if spec_of(a[2]).train == spec_of(b[2]).train
        and selection.corpora[spec_of(a[2]).train].n_pairs <= MOST_PAIRS
    ][:MOST_FLOWS]
    for ((left_label, label, a), (right_label, _, b)), short in zip(
        pairs, file_names(f"{a[0]}-to-{b[0]}" for a, b in pairs), strict=True
    ):
        flow, matches = topic_flow(a, b, selection.corpora[spec_of(a).train]), match_topics(a, b)
        match = matches.to_dataframe()
        rows = [
            [
                left_label,
                topic,
                right_label,
                other,
                tokens,
                int(is_match := match["matched"][topic] == other),
                match["distance"][topic] if is_match else "",
            ]
            for (topic, other), tokens in flow.to_series().items()
        ]
        yield flow_picture(
            f"{view.name}-{short}",
            (left_label, right_label),
            (a, b),
            flow,
            matches,
            lambda topic, label=label: selection.looks[label].colour,
            selection.columns,
            ["left", "topic", "right", "other", "tokens", "matched", "distance"],
            rows,
        )


def flow_picture(
    name: str,
    labels: tuple[str, str],
    runs: tuple[xr.Dataset, xr.Dataset],
    flow: xr.DataArray,
    matches: xr.Dataset,
    colour: Callable[[int], str],
    columns: int,
    header: list | tuple = (),
    rows: list | tuple = (),
) -> Picture:
    """Return the picture of the flow between two runs; see `topic_flow_view`."""
    letters = columns * LETTERS
    names = tuple(names_of_topics(run, 3 if columns == 1 else 5, letters) for run in runs)
    panels = [topic_flow_view(flow, matches, labels, names, colour, letters)]
    left_label, right_label = labels
    caption = (
        f"Matching of the topics of {left_label} (left) and {right_label} (right): the width of a ribbon is the expected "
        "number of training tokens that both topics share; ribbons are coloured between matched topics (each once, by the "
        "smallest sum of distances), grey between others; ribbons below 0.6 % of the tokens are not drawn. The distance of a "
        "match is the square root of the Jensen-Shannon divergence of the words (base 2): 0 the same, 1 no word in common."
    )
    return Picture(
        name,
        f"Topics of {left_label} and {right_label}",
        caption,
        panels,
        list(header),
        list(rows),
        legend=False,
        height=height_of(panels),
        runs=list(runs),
    )


def _column(topics: list[int], heights: xr.DataArray) -> Column:
    """Stack a run's bars downwards, leaving space for each topic's name."""
    dim = heights.dims[0]
    bar_height = heights.sel({dim: topics}).values
    slot_heights = np.maximum(bar_height + GAP, 1)
    ends = np.cumsum(slot_heights)
    return Column(topics, -(ends - slot_heights) - (slot_heights - bar_height) / 2, bar_height)


def _ribbons(
    flow: xr.DataArray, left_column: Column, right_column: Column, unit: float
) -> Iterator[tuple[int, int, dict]]:
    """Yield (topic of a, topic of b, polygon) for each ribbon wide enough to draw."""
    tokens = flow.sel(topic=left_column.topics, other=right_column.topics).values
    width = unit * tokens
    left_top = left_column.top[:, None] - (np.cumsum(width, axis=1) - width)
    right_top = right_column.top[None, :] - (np.cumsum(width, axis=0) - width)
    bend = ALONG**2 * (3 - 2 * ALONG)
    x = LEFT + WIDE + ALONG * (RIGHT - LEFT - WIDE)
    for row, column in np.argwhere(tokens >= THINNEST * float(flow.sum())):
        upper = left_top[row, column] + bend * (right_top[row, column] - left_top[row, column])
        lower = upper - width[row, column]
        outline = {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([upper, lower[::-1]])}
        yield (
            left_column.topics[row],
            right_column.topics[column],
            outline | {"tokens": float(tokens[row, column])},
        )


def _largest_topics(tokens: xr.DataArray) -> list[int]:
    """Return the topics with the most tokens, largest first."""
    return (
        tokens[tokens.dims[0]]
        .values[np.argsort(-tokens.values, kind="stable")]
        .tolist()[:MOST_TOPICS]
    )


def _texts(
    left_column: Column,
    right_column: Column,
    matches: xr.Dataset,
    letters: int,
    runs: tuple[str, str],
    names: tuple[Mapping[int, str], Mapping[int, str]],
) -> list:
    """Return the texts with their positions: names of the two runs, and of the topics of each."""
    distances = {
        int(match): f"{distance:.2f}"
        for match, distance in zip(
            matches["matched"].values, matches["distance"].values, strict=True
        )
    }
    x_left, x_right = LEFT - WIDE, RIGHT + 2 * WIDE
    of_a, of_b = (
        [
            (topic, y, short_text(topic_names.get(topic, str(topic)), letters))
            for topic, y in zip(column.topics, column.top - column.height / 2, strict=True)
        ]
        for column, topic_names in zip((left_column, right_column), names, strict=True)
    )
    return [
        text_labels(
            [(x_left, 1.0, short_text(runs[0], letters - 3))],
            "left run",
            align="right",
            weight="bold",
        ),
        text_labels(
            [(x_right, 1.0, f"dist.  {short_text(runs[1], letters - 3)}")],
            "right run",
            align="left",
            weight="bold",
        ),
        text_labels(
            [(x_left, y, name) for _, y, name in of_a], "left", align="right", weight="normal"
        ),
        text_labels(
            [(x_right, y, f"{distances.get(topic, 'none')}   {name}") for topic, y, name in of_b],
            "right",
            align="left",
            weight="normal",
        ),
    ]
