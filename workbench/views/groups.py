"""Topics by group and by period of documents.

Groups have a heat map of all of them, and a comparison of two, or of one with all others. Shares over the times of documents
are stacked by period, with one panel with intervals per topic.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from scipy.spatial.distance import cdist

from workbench.corpus import Corpus
from workbench.measures import (
    MeasureError,
    group_differences,
    spec_of,
    topics_by_group,
    topics_over_time,
    words_by_group,
)
from workbench.measures.correlations import clustered_order
from workbench.measures.documents import search_for
from workbench.measures.groups import COLUMN, PERIODS, columns_of, fitting_period, periods_of
from workbench.views.elements import (
    COLOURS,
    GREY,
    INK,
    RC,
    ROW,
    SEARCH,
    TOPIC,
    axis,
    band,
    colour_bar,
    coloured_outlines,
    element,
    panel,
    rows_below,
    short_text,
    topic_colour,
    topic_colours,
)
from workbench.views.over_time import order_by_mean_year, spaced_ticks
from workbench.views.picture import (
    MOST_PANELS,
    RUN_COLUMNS,
    Choice,
    Control,
    Menu,
    Picture,
    RunsOfLabels,
    RunsToDraw,
    View,
    menu_of,
    numbered_picture,
    rows_of,
)
from workbench.views.topics import names_of_topics

SHARES = ("group", "topic", "share", "low", "high", "lift", "n_documents", "n_tokens")
DIFFERENCES = ("group", "other_group", "topic", "difference", "low", "high", "one", "other")
MOST_GROUPS, MOST_TOPICS, MOST_COMPARED, FEWEST = 24, 60, 24, 9
"""Maximum of columns and rows of a heat map and of topics of a comparison, and minimum of topics if several share a column of a
page. The table has all."""
ABOVE_MAP, ABOVE_COMPARISON = 1.7, 0.9
"""Inches of a heat map, and of a comparison, in addition to its rows."""
WIDTH, PER_GROUP = {1: (4.5, 7.0), 2: (3.4, 7.0)}, (2.3, 0.19)
"""Least and largest width of a heat map, alone and beside others, and its width without groups and per group, inches."""
MOST_IN_ONE_COLUMN = 8
"""Maximum of groups of a heat map on one column of a page."""
MOST_CHOICES = 200
OTHERS = "all other documents"
LIFTS = (1.21, 1.44, 2.25, 4.0, 9.0, 16.0, 25.0, 64.0)
"""Lifts at which the scale of colours can end; their roots are round, too."""
WITHIN = 0.95
"""Share of the cells with a token whose lifts are within the scale of colours."""


def by_group_view(shares: xr.Dataset, names: dict[int, str], title: str = "", column: str = ""):
    """Draw the lift of each topic (row) in each group (column) as a `holoviews.Overlay` of a `QuadMesh`.

    shares : result of `workbench.measures.topics_by_group`. Groups without a token are blank.
    column : metadata column of the groups; with it a tap on a cell finds the documents of the group.
    """
    groups, numbers = shares["group"].values.tolist(), shares["topic"].values.tolist()
    lifts = _log_lifts(shares)
    most = _end_of_scale(lifts)
    x, y = axis("group", "group (documents)"), axis("topic", " ")
    searches = [search_for(column, str(group)) if column else "" for group in groups]
    topics = np.broadcast_to(np.array(numbers)[:, None], lifts.shape)
    search_texts = np.broadcast_to(np.array(searches, object), lifts.shape)
    mesh = element(
        "QuadMesh",
        (
            np.arange(len(groups)),
            -np.arange(len(numbers)),
            np.clip(lifts, -most, most),
            topics,
            search_texts,
        ),
        [x, y],
        vdims=[axis("lift", "lift"), axis(TOPIC, "topic"), SEARCH],
        cmap="RdBu_r",
        clim=(-most, most),
        hooks=[
            colour_bar(
                "lift",
                [(step * most, f"{2 ** (step * most):.2g}") for step in (-1, -0.5, 0, 0.5, 1)],
            )
        ],
    )
    ticks = [
        f"{short_text(str(group), 18)} ({n:,})"
        for group, n in zip(groups, shares["n_documents"].values.tolist(), strict=True)
    ]
    return panel(
        [mesh],
        title=title,
        aspect="auto",
        show_grid=False,
        fig_inches=(_width(len(groups), 1), ABOVE_MAP + max(ROW * len(numbers), 0.8)),
        xrotation=90,
        xticks=list(enumerate(ticks)),
        yticks=[(-position, names[number]) for position, number in enumerate(numbers)],
        fig_rcparams=RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 6.5},
    )


def group_differences_view(differences: xr.Dataset, names: dict[int, str], title: str = ""):
    """Draw the difference between two groups in each topic's share, with 95 % interval, as a `holoviews.Overlay`.

    differences : result of `workbench.measures.group_differences`.
    """
    positions, points = (
        -np.arange(differences.sizes["topic"]),
        100 * differences["difference"].values,
    )
    x, y = axis("difference", "difference of shares", "points"), axis("topic", " ")
    elements = [
        element("Curve", ([0.0, 0.0], [0.5 - len(positions), 0.5]), x, y, color=GREY, linewidth=0.6)
    ]
    for position, low, high in zip(
        positions, 100 * differences["low"].values, 100 * differences["high"].values, strict=True
    ):
        if np.isfinite(low):
            elements.append(
                element(
                    "Curve",
                    ([low, high], [position, position]),
                    x,
                    y,
                    color=COLOURS[0],
                    linewidth=1.0,
                )
            )
    elements.append(element("Points", (points, positions), [x, y], color=COLOURS[0], s=12))
    numbers = differences["topic"].values.tolist()
    return panel(
        elements,
        title=title,
        aspect="auto",
        fig_inches=(3.4, ABOVE_COMPARISON + max(ROW * len(numbers), 0.8)),
        ylim=(0.5 - len(numbers), 0.5),
        yticks=[
            (position, names[number]) for position, number in zip(positions, numbers, strict=True)
        ],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def _log_lifts(shares: xr.Dataset) -> np.ndarray:
    """Return the binary logarithm of each lift (topic, group); NaN for groups without a token."""
    with np.errstate(divide="ignore"):
        return np.log2(shares["lift"].transpose("topic", "group").values)


def _end_of_scale(lifts: np.ndarray) -> float:
    """Return the binary logarithm of the lift at the end of the scale of colours, which nearly all cells are within."""
    sizes = np.abs(lifts[np.isfinite(lifts)])
    least = 2 ** float(np.quantile(sizes, WITHIN)) if len(sizes) else 1.0
    return float(np.log2(next((lift for lift in LIFTS if lift >= least), LIFTS[-1])))


def _table_by_likeness(shares: xr.Dataset) -> xr.Dataset:
    """Return the table with topics and groups of like lifts next to each other; groups that are numbers ascend."""
    lifts = np.nan_to_num(_log_lifts(shares), neginf=-np.log2(LIFTS[-1]))
    names = [str(group) for group in shares["group"].values]
    if all(name.removeprefix("-").isdecimal() for name in names):
        groups = np.argsort([int(name) for name in names], kind="stable")
    else:
        groups = clustered_order(-cdist(lifts.T, lifts.T))
    return shares.isel(topic=clustered_order(-cdist(lifts, lifts)), group=groups)


def _width(n_groups: int, n_panels: int) -> float:
    """Return the width of a heat map, alone or beside others, in inches."""
    return float(np.clip(PER_GROUP[0] + PER_GROUP[1] * n_groups, *WIDTH[min(n_panels, 2)]))


group_controls = menu_of("by", "Group by", columns_of)


def draw_by_group(view: View, selection: RunsToDraw, by: str | None = None) -> Iterator[Picture]:
    """Draw the heat map of topics by group for one run per label; ``by``: metadata column, by default the first."""
    first = selection.first("n_dk", "phi")
    collection = RunsOfLabels({label: run for label, run in first.items() if columns_of(run)})
    most = rows_below(collection.drawn_runs, selection.columns, ABOVE_MAP, MOST_TOPICS, FEWEST)
    fewer, n_groups = "", 0
    for label, run in collection.runs.items():
        columns = columns_of(run)
        column = by if by in columns else columns[0]
        shares = topics_by_group(run, column)
        largest = _table_by_likeness(
            _largest_table(
                shares, most, MOST_GROUPS if selection.columns == 2 else MOST_IN_ONE_COLUMN
            )
        )
        n_groups = max(n_groups, largest.sizes["group"])
        if label in collection.drawn_runs and largest.sizes != shares.sizes:
            fewer = " The largest groups and topics are drawn; the table has all."
        title = f"{label}, by {column}".removeprefix(", ")
        panel = by_group_view(largest, names_of_topics(run, 3, 28), title, column)
        texts = _cell_texts(largest, names_of_topics(run, 6, 80))
        rows = shares.to_dataframe().reset_index()[list(SHARES)]
        collection.add(label, rows, [panel], {"QuadMesh": [texts]})
    for picture in collection.pictures(
        view,
        "Lift of each topic in each group: its share of the group's tokens divided by its share of the tokens of all "
        "documents with a group; red is more, blue less common. Like topics, and like groups, are next to each other. The "
        "number of documents of a group is in brackets. "
        f"Intervals of 95 % over documents are in the table.{fewer} One run of each label.",
        SHARES,
    ):
        yield replace(picture, width=_width(n_groups, len(picture.panels)))


def against_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """Return the controls that choose a group, and the group (or all other documents) it is compared with."""
    groups = tuple(_groups(run))
    if not groups:
        return ()
    return Menu("group", "Group", groups, groups[0]), Menu(
        "other", "Compared with", (OTHERS, *groups), OTHERS
    )


def draw_group_differences(
    view: View,
    selection: RunsToDraw,
    group: str | None = None,
    other: str = OTHERS,
) -> Iterator[Picture]:
    """Draw the comparison of two groups for one run per label; ``group`` is "column: value", by default the largest.

    ``other`` is another group, or `OTHERS`, which also replaces a group without documents outside the first.
    """
    first = selection.first("n_dk", "phi")
    groups_of = {label: groups for label, run in first.items() if (groups := _groups(run))}
    collection, descriptions = RunsOfLabels({label: first[label] for label in groups_of}), {}
    most = rows_below(
        collection.drawn_runs, selection.columns, ABOVE_COMPARISON, MOST_COMPARED, FEWEST
    )
    for label, run in collection.runs.items():
        groups = groups_of[label]
        group = group if group in groups else next(iter(groups))
        other_name, group_of_document, description = _comparison_of_groups(
            run, groups, group, other if other in groups else OTHERS
        )
        descriptions[description] = None
        differences = group_differences(run, group_of_document, group, other_name)
        table = differences.to_dataframe().reset_index().assign(group=group, other_group=other_name)
        furthest = np.argsort(-np.abs(differences["difference"].values), kind="stable")[:most]
        differences = differences.isel(topic=np.sort(furthest))
        panel = group_differences_view(differences, names_of_topics(run, 3, 28), label)
        texts = _point_texts(differences, names_of_topics(run, 6, 80), group, other_name)
        collection.add(label, table[list(DIFFERENCES)], [panel], {"Points": [texts]})
    yield from collection.pictures(
        view,
        f"Difference of the share of each topic in the documents of the group {group!r} from that in "
        f"{' or '.join(descriptions)}, with 95 % intervals over documents, in "
        f"percentage points: at most the {most} topics that differ most; the table has all. Intervals are not corrected "
        "for multiple comparisons: with many topics some differ by chance. One run of each label.",
        DIFFERENCES,
    )


def _comparison_of_groups(
    run: xr.Dataset,
    groups: dict[str, tuple[str, str]],
    group: str,
    other: str,
) -> tuple[str, list[str | None], str]:
    """Return the second group's name, each document's group (document,), and a description of the second group.

    Documents of neither or both groups have None. If the second group has no tokens outside the first, it is replaced by
    all other documents.
    """
    in_group, tokens = _is_in_group(run, *groups[group]), _tokens(run)
    if other != OTHERS:
        in_other = _is_in_group(run, *groups[other])
        n_both = np.count_nonzero(in_group & in_other)
        if tokens[in_other & ~in_group].sum() and tokens[in_group & ~in_other].sum():
            overlap = f" (documents of both, {n_both:,}, are left out)" if n_both else ""
            return (
                other,
                _groups_of_documents(in_group & ~in_other, group, in_other & ~in_group, other),
                f"those of the group {other!r}{overlap}",
            )
    has_group = run[COLUMN + groups[group][0]].values != ""
    note = "" if other == OTHERS else f" ({other!r} has no other documents)"
    return (
        OTHERS,
        _groups_of_documents(in_group, group, has_group & ~in_group, OTHERS),
        f"{OTHERS}{note}",
    )


def _is_in_group(run: xr.Dataset, column: str, value: str) -> np.ndarray:
    """Return for each document whether it has the value ``value`` in a metadata column, (document,) bool."""
    return np.array([str(entry) == value for entry in run[COLUMN + column].values.tolist()], bool)


def _groups_of_documents(
    in_group: np.ndarray, group: str, in_other: np.ndarray, other: str
) -> list[str | None]:
    """Return the name of each document's group (document,); None for a document of neither group or of both."""
    return [
        group if is_first else other if is_second else None
        for is_first, is_second in zip(in_group.tolist(), in_other.tolist(), strict=True)
    ]


def _tokens(run: xr.Dataset) -> np.ndarray:
    """Return the (expected) training tokens of each document (document,) at the last snapshot."""
    return run["n_dk"].isel(snapshot=-1).sum("topic").values


def _groups(run: xr.Dataset) -> dict[str, tuple[str, str]]:
    """Return menu text → (column, value) for each group with tokens; in each column the largest groups come first."""
    groups, has_tokens = {}, _tokens(run) > 0
    for column in columns_of(run):
        entries = np.array([str(value) for value in run[COLUMN + column].values.tolist()])
        values, counts = np.unique(entries[(entries != "") & has_tokens], return_counts=True)
        if len(values) > 1:
            for index in np.argsort(-counts, kind="stable").tolist():
                groups[f"{column}: {values[index]}"] = column, str(values[index])
    return dict(itertools.islice(groups.items(), MOST_CHOICES))


def _largest_table(shares: xr.Dataset, most: int, most_groups: int) -> xr.Dataset:
    """Return the table reduced to the groups with the most documents and the topics with the most tokens."""
    groups = np.sort(np.argsort(-shares["n_documents"].values, kind="stable")[:most_groups])
    sizes = (shares["share"].fillna(0) * shares["n_tokens"]).sum("group").values
    return shares.isel(group=groups, topic=np.argsort(-sizes, kind="stable")[:most])


def _cell_texts(shares_table: xr.Dataset, names: dict[int, str]) -> list[str]:
    """Return the tooltips of the heat map's cells, rows from the bottom up, cells from left to right."""
    shares, lows, highs, lifts = (
        shares_table[name].transpose("topic", "group").values
        for name in ("share", "low", "high", "lift")
    )
    groups = [
        f"{group}: {n:,} documents"
        for group, n in zip(
            shares_table["group"].values, shares_table["n_documents"].values, strict=True
        )
    ]
    texts, topics = [], shares_table["topic"].values.tolist()
    for row in range(len(topics) - 1, -1, -1):
        for column in range(len(groups)):
            if not np.isfinite(shares[row, column]):
                texts.append(f"{groups[column]}, without a token")
                continue
            share = f"{shares[row, column]:.2%}{interval(lows[row, column], highs[row, column])} of its tokens"
            texts.append(
                f"{groups[column]}\n{names[topics[row]]}\n{share}, {lifts[row, column]:.2f} times that of all"
            )
    return texts


def _point_texts(
    differences: xr.Dataset, names: dict[int, str], group: str, other: str
) -> list[str]:
    """Return the tooltip of each topic in a comparison of two groups."""
    rows = zip(
        *(
            differences[name].values.tolist()
            for name in ("topic", "one", "other", "difference", "low", "high")
        ),
        strict=True,
    )
    return [
        f"{names[topic]}\n{group}: {first_share:.2%}, {other}: {second_share:.2%}\ndifference "
        f"{100 * difference:+.2f}{interval(low, high, '+')} percentage points"
        for topic, first_share, second_share, difference, low, high in rows
    ]


def interval(low: float, high: float, sign: str = "") -> str:
    """Return an interval of shares as percentages in brackets; "" for NaN."""
    return f" ({100 * low:{sign}.2f} to {100 * high:{sign}.2f})" if np.isfinite(low) else ""


PERIODS_HEADER = ("period", "topic", "share", "low", "high", "n_documents", "n_tokens")
MOST_MOVING = len(COLOURS)
"""Maximum of panels of topics of one run, besides the stacked one."""
MOST_IN_COLUMN, LOW = 3, 1.35
"""The same on one column of a page, and the height of a panel there, inches."""
MOST_ON_PAGE = 400
"""Maximum of periods on a page."""
MOST_WITH_WORDS = 60
"""Maximum of periods for which words are computed."""
PANEL = (3.4, 1.9)
NO_TOPIC = -1
STACKED = 0.55
"""Opacity of a layer."""


def stacked_view(
    shares_table: xr.Dataset,
    topics: list[int],
    names: dict[int, str],
    title: str = "",
    colours: Callable[[int], str] = topic_colour,
):
    """Draw stacked shares by period of some topics, and of all others on top, as a `holoviews.Overlay` of `Polygons`."""
    n_periods = shares_table.sizes["time"]
    positions, lower = np.arange(float(n_periods)), np.zeros(n_periods)
    outlines, shares = [], shares_table["share"].transpose("topic", "time")
    layers = [
        (topic, names[topic], shares.sel(topic=topic).values, colours(topic)) for topic in topics
    ]
    other_shares = shares.drop_sel(topic=topics)
    if other_shares.size:
        layers.append(
            (NO_TOPIC, "all others", other_shares.sum("topic", skipna=False).values, GREY)
        )
    x, y = axis("time", " "), axis("stacked", "shares, stacked")
    for topic, name, share, colour in layers:
        upper = lower + np.nan_to_num(share)
        hover = {TOPIC: topic, "name": name, "colour": colour}
        sides = {"time": [*positions, *positions[::-1]], "stacked": [*upper, *lower[::-1]]}
        outlines.append(sides | hover)
        lower = upper
    dims = [axis(TOPIC, "topic"), axis("name", "name")]
    polygons = coloured_outlines(
        "Polygons", outlines, [x, y], dims, alpha=STACKED, edgecolor=INK, linewidth=0.4
    )
    return panel(
        [polygons],
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        ylim=(0.0, 1.0),
        fig_rcparams=RC,
        **_time_axis(shares_table),
    )


def topic_over_time_view(
    shares_table: xr.Dataset,
    topic: int,
    title: str = "",
    colour: str = COLOURS[0],
    top: float | None = None,
):
    """Draw one topic's share by period with 95 % intervals, as a `holoviews.Overlay`."""
    positions, topic_shares = (
        np.arange(float(shares_table.sizes["time"])),
        shares_table.sel(topic=topic),
    )
    share, low, high = (topic_shares[name].values for name in ("share", "low", "high"))
    x, y = axis("time", " "), axis("share", "share of tokens")
    elements, has_interval, has_share = [], np.isfinite(low), np.isfinite(share)
    searches = [search_for("time", str(name)) for name in shares_table["period"].values[has_share]]
    if has_interval.any():
        edges = (
            positions,
            np.maximum(np.where(has_interval, low, share), 0.0),
            np.where(has_interval, high, share),
        )
        elements.append(band(edges, x, y, colour))
    elements += [
        element("Curve", (positions, share), x, y, color=colour, linewidth=1.2),
        element(
            "Points",
            (positions[has_share], share[has_share], np.full(len(searches), topic), searches),
            [x, y],
            vdims=[axis(TOPIC, "topic"), SEARCH],
            color=colour,
            s=14,
        ),
    ]
    top = top or 1.08 * float(np.nanmax(np.where(has_interval, high, share)))
    return panel(
        elements,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        ylim=(0.0, top),
        fig_rcparams=RC,
        **_time_axis(shares_table),
    )


def period_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """Return the control that chooses the length of periods; () if only years are possible."""
    times = _times(run)
    shortest = fitting_period(times, MOST_ON_PAGE) if any(times) else "year"
    choices = list(PERIODS)[: list(PERIODS).index(shortest) + 1]
    menu = Menu("period", "Period", tuple(choices), fitting_period(times))
    return (menu,) if len(choices) > 1 else ()


def over_time_controls(run: xr.Dataset) -> tuple[Control, ...]:
    """Return the controls that choose the length of periods, if not only years are possible, and topics."""
    topics = tuple((name, topic) for topic, name in names_of_topics(run, 3, 34).items())
    return *period_controls(run), Choice("topics", "Topics", topics, "those that change most")


def draw_topics_over_time(
    view: View, selection: RunsToDraw, period: str | None = None, topics: Sequence[int] = ()
) -> Iterator[Picture]:
    """Draw topic shares by period for one run per label whose documents span at least two periods.

    topics : numbers of topics to draw; by default those whose shares change most.
    """
    most, height = (MOST_MOVING, PANEL[1]) if selection.columns == 2 else (MOST_IN_COLUMN, LOW)
    runs = selection.first("n_dk", "phi", f"{COLUMN}time")
    for number, (label, run) in enumerate(runs.items(), start=1):
        times = _times(run)
        if not any(time is not None for time in times):
            continue
        try:
            length = period if period in PERIODS else fitting_period(times)
            shares_table = topics_over_time(run, "time", length)
        except MeasureError:  # a column called time whose values are no dates
            continue
        if np.isfinite(shares_table["share"].isel(topic=0)).sum() < 2:
            continue
        chosen_topics = [topic for topic in topics if topic in shares_table["topic"]][
            : MOST_PANELS - 1
        ]
        drawn_topics, colours = (
            chosen_topics or _moving_topics(shares_table, most),
            topic_colours(run),
        )
        names, long_names = names_of_topics(run, 3, 34), names_of_topics(run, 6, 80)
        words = _words(run, selection.corpora.get(spec_of(run).train), length, shares_table)
        top = 1.08 * float(
            np.nanmax(shares_table[["share", "high"]].sel(topic=drawn_topics).to_array())
        )
        panels = [
            stacked_view(shares_table, drawn_topics, names, label, colours),
            *(
                topic_over_time_view(shares_table, topic, names[topic], colours(topic), top)
                for topic in drawn_topics
            ),
        ]
        topics_text = (
            "topics that were chosen"
            if chosen_topics
            else f"{len(drawn_topics)} topics whose share changes most"
            if len(drawn_topics) > 1
            else "topic whose share changes most"
        )
        rows = (
            shares_table.to_dataframe()
            .reset_index()
            .sort_values(["topic", "time"])[list(PERIODS_HEADER)]
        )
        n_further = shares_table.sizes["topic"] - len(drawn_topics)
        picture = view.picture(
            f"Share of each topic in the tokens of a {length}, with 95 % intervals over documents: the "
            f"{topics_text}, stacked in the first panel in the same colours"
            f"{f'; {n_further} more are in the table' if n_further else ''}. Periods without a token are left out.",
            panels,
            [*RUN_COLUMNS, *PERIODS_HEADER],
            rows_of(label, run, rows),
            legend=False,
            height=height,
            runs=[run],
            hover={
                "Points": [
                    _texts(shares_table, topic, long_names[topic], words) for topic in drawn_topics
                ]
            },
        )
        yield numbered_picture(picture, number, label) if len(runs) > 1 else picture


def _times(run: xr.Dataset) -> list:
    """Return the time of each document (document,), None if unknown."""
    return [None if time == "" else time for time in run[f"{COLUMN}time"].values.tolist()]


def _moving_topics(shares_table: xr.Dataset, most: int) -> list[int]:
    """Return the topics whose shares change most over the periods, at most ``most``, sorted by mean period."""
    shares = shares_table["share"].transpose("topic", "time").values
    spans = np.nanmax(shares, axis=1) - np.nanmin(shares, axis=1)
    largest_spans = np.sort(np.argsort(-spans, kind="stable")[:most])
    return (
        shares_table["topic"]
        .values[largest_spans[order_by_mean_year(shares[largest_spans])]]
        .tolist()
    )


def _time_axis(shares_table: xr.Dataset) -> dict[str, object]:
    """Return the options of a panel over the periods: ticks with as many names as fit, and room at both ends."""
    names = shares_table["period"].values.tolist()
    letters, n = len(str(names[0])), len(names)
    most = 5 if letters <= 4 else 4 if letters <= 7 else 3
    ticks = [
        (float(position), str(names[position])) for position in spaced_ticks(np.arange(n), most)
    ]
    room = max(0.03 * (n - 1), 0.05)
    return {"xticks": ticks, "xlim": (-room, n - 1 + room)}


def _words(
    run: xr.Dataset, corpus: Corpus | None, period: str, shares_table: xr.Dataset
) -> xr.Dataset | None:
    """Return the top words of each topic in each period; None without the corpus, or for too many periods."""
    if corpus is None or shares_table.sizes["time"] > MOST_WITH_WORDS:
        return None
    return words_by_group(run, corpus, periods_of(run, "time", period))


def _texts(shares_table: xr.Dataset, topic: int, name: str, words: xr.Dataset | None) -> list[str]:
    """Return the tooltip of each point of a topic's curve: period, share, documents, and the topic's words in that period."""
    texts, topic_shares = [], shares_table.sel(topic=topic)
    shares, lows, highs, n_documents = (
        topic_shares[key].values for key in ("share", "low", "high", "n_documents")
    )
    words_of_period = {}
    if words is not None:
        top = words["word"].sel(topic=topic).transpose("group", "rank")
        words_of_period = dict(zip(top["group"].values.tolist(), top.values.tolist(), strict=True))
    for period_name, share, low, high, n in zip(
        topic_shares["period"].values, shares, lows, highs, n_documents, strict=True
    ):
        if np.isfinite(share):
            text = f"{name}\n{period_name}: {share:.2%}{interval(low, high)} of the tokens, {n:,} documents"
            period_words = " ".join(filter(None, words_of_period.get(str(period_name), [])))
            texts.append(text if words is None else f"{text}\n{period_words}")
    return texts
