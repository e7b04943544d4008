"""Topics of one run beside those of another: ribbons as thick as the tokens that two topics share."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import match_topics, spec_of, topic_flow
from workbench.views.elements import bare_panel, element, fitting, height_of, text_labels
from workbench.views.picture import Picture, SideBySide, View, file_names
from workbench.views.style import COLOURS, GRID, INK
from workbench.views.topics import names_of_topics

ROW = 0.15
"""Height of a line, inches: what a topic takes at least."""
GAP = 0.25
"""Between two bars, lines."""
THINNEST = 0.006
"""Ribbons of a smaller share of the tokens are not drawn; the table has them."""
MOST_TOPICS = 40
LEFT, RIGHT, WIDE = 0.38, 0.61, 0.012
"""Where the bars of both runs stand, and how wide they are, as shares of the width: names take the rest."""
ALONG = np.linspace(0, 1, 25)
LETTERS = 21
"""Of a name, on one column of a page."""
MOST_FLOWS = 4
MOST_PAIRS = 5_000_000
"""Pairs of a corpus that the flow is computed for: half a minute for 100 topics."""


class Column(NamedTuple):
    """The bars of one run, in lines: 0 is the top, and down is negative."""

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
    """The topics of two runs in two columns of bars, with ribbons between them as thick as the tokens that both share.

    On the left the topics of a, largest first; on the right those of b in the order of what they are matched with, those
    without a match last. Ribbons between matched topics are coloured, others are grey; below 0.6 % of the tokens there is
    none. Of more than 40 topics the largest 40 are drawn.

    ``flow`` (topic, other) and ``matches`` are what `workbench.measures.topic_flow` and `match_topics` find; ``names`` are
    those of the topics of each run (see `workbench.views.names_of_topics`), by default their numbers, of at most so many
    letters. An overlay of `Polygons` (other ribbons, then the matched ones of each colour), `Rectangles` (bars), and
    `Labels`: the runs, and the names of both sides, on the right after the distance of each match.
    """
    both = zip(matches["topic"].values.tolist(), matches["matched"].values.tolist(), strict=True)
    partner = {match: topic for topic, match in both if match >= 0}
    order, largest = _by_size(flow.sum("other")), _by_size(flow.sum("topic"))
    place = {topic: at for at, topic in enumerate(order)}
    unit = 0.8 * max(len(order), len(largest)) / float(flow.sum())  # lines for a token
    left = _column(order, unit * flow.sum("other"))
    right = _column(
        sorted(largest, key=lambda topic: place.get(partner.get(topic), len(place))),
        unit * flow.sum("topic"),
    )
    ribbons: dict[str, list[dict]] = {GRID: []}
    for topic, other, ribbon in _ribbons(flow, left, right, unit):
        ribbons.setdefault(colour(topic) if partner.get(other) == topic else GRID, []).append(
            ribbon
        )
    bars = [
        (x, top - height, x + WIDE, top)
        for x, column in ((LEFT, left), (RIGHT, right))
        for top, height in zip(column.top, column.height, strict=True)
    ]
    down = min((column.top - np.maximum(column.height, 1)).min() for column in (left, right))
    drawn = [
        element(
            "Polygons",
            own,
            ["x", "y"],
            "tokens",
            label="other ribbons" if look == GRID else "matched ribbons",
            color=look,
            facecolor=look,
            edgecolor="none",
            alpha=0.5,
            linewidth=0,
        )
        for look, own in ribbons.items()
    ]
    drawn.append(element("Rectangles", bars, color=INK, facecolor=INK, linewidth=0))
    drawn += _texts(left, right, matches, letters, runs, names)
    return bare_panel(drawn, (3.4, ROW * (1.6 - down)), (0, 1), (down, 1.6), title=title)


def draw_flows(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Flows between the first runs of labels that follow each other, at most four; of a single label between its first two.

    Only where the training tokens are at hand.
    """
    known = {
        label: own
        for label, own in shown.by_label("phi", "n_kw").items()
        if spec_of(own[0]).train in shown.corpora
    }
    named = [(label, label, own[0]) for label, own in known.items()]
    if len(known) == 1:
        named = [
            (f"{label}, seed {spec_of(run).seed}", label, run)
            for label, own in known.items()
            for run in own[:2]
        ]
    pairs = [
        (a, b)
        for a, b in pairwise(named)
        if spec_of(a[2]).train == spec_of(b[2]).train
        and shown.corpora[spec_of(a[2]).train].n_pairs <= MOST_PAIRS
    ][:MOST_FLOWS]
    for ((left, label, a), (right, _, b)), short in zip(
        pairs, file_names(f"{a[0]}-to-{b[0]}" for a, b in pairs), strict=True
    ):
        flow, matches = topic_flow(a, b, shown.corpora[spec_of(a).train]), match_topics(a, b)
        match = matches.to_dataframe()
        rows = [
            [
                left,
                topic,
                right,
                other,
                tokens,
                int(same := match["matched"][topic] == other),
                match["distance"][topic] if same else "",
            ]
            for (topic, other), tokens in flow.to_series().items()
        ]
        yield flow_picture(
            f"{view.name}-{short}",
            (left, right),
            (a, b),
            flow,
            matches,
            lambda topic, label=label: shown.looks[label].colour,
            shown.columns,
            ["left", "topic", "right", "other", "tokens", "matched", "distance"],
            rows,
        )


def flow_picture(
    name: str,
    called: tuple[str, str],
    runs: tuple[xr.Dataset, xr.Dataset],
    flow: xr.DataArray,
    matches: xr.Dataset,
    colour: Callable[[int], str],
    columns: int,
    header: list | tuple = (),
    rows: list | tuple = (),
) -> Picture:
    """The flow between two runs; see `topic_flow_view`."""
    letters = columns * LETTERS
    names = tuple(names_of_topics(run, 3 if columns == 1 else 5, letters) for run in runs)
    panels = [topic_flow_view(flow, matches, called, names, colour, letters)]
    left, right = called
    caption = (
        f"Which topics of {left} (left) and {right} (right) are the same: ribbons are as thick as the training tokens that "
        "both topics are expected to share, coloured between topics that are matched (each once, by the smallest sum of "
        "distances), grey between others; thinner than 0.6 % of the tokens is not drawn. The distance of a match is the "
        "square root of the Jensen-Shannon divergence of the words (base 2): 0 the same, 1 no word in common."
    )
    return Picture(
        name,
        f"Topics of {left} and {right}",
        caption,
        panels,
        list(header),
        list(rows),
        legend=False,
        height=height_of(panels),
        runs=list(runs),
    )


def _column(topics: list[int], lines: xr.DataArray) -> Column:
    """Bars of so many lines, one below the other, each with room for its name."""
    dim = lines.dims[0]
    height = lines.sel({dim: topics}).values
    slots = np.maximum(height + GAP, 1)
    ends = np.cumsum(slots)
    return Column(topics, -(ends - slots) - (slots - height) / 2, height)


def _ribbons(flow: xr.DataArray, left: Column, right: Column, unit: float):
    """(topic, other, polygon) of every ribbon that is thick enough; on each bar they lie in the order of the other side."""
    tokens = flow.sel(topic=left.topics, other=right.topics).values
    thick = unit * tokens
    from_top = left.top[:, None] - (np.cumsum(thick, axis=1) - thick)
    to_top = right.top[None, :] - (np.cumsum(thick, axis=0) - thick)
    bend = ALONG**2 * (3 - 2 * ALONG)
    x = LEFT + WIDE + ALONG * (RIGHT - LEFT - WIDE)
    for row, column in np.argwhere(tokens >= THINNEST * float(flow.sum())):
        upper = from_top[row, column] + bend * (to_top[row, column] - from_top[row, column])
        lower = upper - thick[row, column]
        outline = {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([upper, lower[::-1]])}
        yield (
            left.topics[row],
            right.topics[column],
            outline | {"tokens": float(tokens[row, column])},
        )


def _by_size(tokens: xr.DataArray) -> list[int]:
    return (
        tokens[tokens.dims[0]]
        .values[np.argsort(-tokens.values, kind="stable")]
        .tolist()[:MOST_TOPICS]
    )


def _texts(left: Column, right: Column, matches: xr.Dataset, letters: int, runs, names) -> list:
    """Everything that is written: the runs, and the names of both sides."""
    far = {
        int(match): f"{distance:.2f}"
        for match, distance in zip(
            matches["matched"].values, matches["distance"].values, strict=True
        )
    }
    beside, after = LEFT - WIDE, RIGHT + 2 * WIDE
    of_a, of_b = (
        [
            (topic, y, fitting(own.get(topic, str(topic)), letters))
            for topic, y in zip(column.topics, column.top - column.height / 2, strict=True)
        ]
        for column, own in zip((left, right), names, strict=True)
    )
    return [
        text_labels(
            [(beside, 1.0, fitting(runs[0], letters - 3))], "left run", align="right", weight="bold"
        ),
        text_labels(
            [(after, 1.0, f"dist.  {fitting(runs[1], letters - 3)}")],
            "right run",
            align="left",
            weight="bold",
        ),
        text_labels(
            [(beside, y, name) for _, y, name in of_a], "left", align="right", weight="normal"
        ),
        text_labels(
            [(after, y, f"{far.get(topic, 'none')}   {name}") for topic, y, name in of_b],
            "right",
            align="left",
            weight="normal",
        ),
    ]
