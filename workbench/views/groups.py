"""Topics by group of documents: a heat map of all groups, and one group against another or against all other documents."""

import itertools
from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import group_differences, topics_by_group
from workbench.measures.groups import COLUMN, columns_of
from workbench.views.elements import ROW, axis, element, fitting, height_of, panel, rows_below
from workbench.views.picture import WHOSE, Menu, Picture, SideBySide, View, fitting_panels, rows_of
from workbench.views.style import COLOURS, GREY, RC
from workbench.views.topics import names_of_topics

SHARES = ("group", "topic", "share", "low", "high", "lift", "n_documents", "n_tokens")
DIFFERENCES = ("group", "other_group", "topic", "difference", "low", "high", "one", "other")
MOST_GROUPS, MOST_TOPICS, MOST_APART, FEWEST = 24, 60, 24, 9
"""Columns and rows of a heat map, and topics of a comparison; where several are on one column of a page, at least so many of
both topics. The table has all."""
ABOVE_MAP, ABOVE_APART = 1.7, 0.9
"""Inches of a heat map, and of a comparison, beside its rows."""
MOST_CHOICES = 200
OTHERS = "all other documents"
LIFT = 2.0
"""Powers of two to either side that the colours reach."""


def by_group_view(found: xr.Dataset, names: dict[int, str], title: str = ""):
    """A `QuadMesh` of the lifts of topics (rows, largest first) in groups (columns), as `holoviews.Overlay`.

    found : of `workbench.measures.topics_by_group`. Blank where a group has no token.
    """
    groups, numbers = found["group"].values.tolist(), found["topic"].values.tolist()
    with np.errstate(divide="ignore"):
        lifts = np.clip(np.log2(found["lift"].transpose("topic", "group").values), -LIFT, LIFT)
    x, y = axis("group", "group (documents)"), axis("topic", " ")
    mesh = element(
        "QuadMesh",
        (np.arange(len(groups)), -np.arange(len(numbers)), lifts),
        [x, y],
        vdims=axis("lift", "lift"),
        cmap="RdBu_r",
        clim=(-LIFT, LIFT),
    )
    called = [
        f"{fitting(str(one), 18)} ({n:,})"
        for one, n in zip(groups, found["n_documents"].values.tolist(), strict=True)
    ]
    return panel(
        [mesh],
        title=f"{title}, full colour: {2**LIFT:g} times".removeprefix(", "),
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, ABOVE_MAP + max(ROW * len(numbers), 0.8)),
        xrotation=90,
        xticks=list(enumerate(called)),
        yticks=[(-at, names[number]) for at, number in enumerate(numbers)],
        fig_rcparams=RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 6.5},
    )


def group_differences_view(found: xr.Dataset, names: dict[int, str], title: str = ""):
    """Differences of shares with their 95 % intervals, as `holoviews.Overlay`: a line and a point for each topic.

    found : of `workbench.measures.group_differences`.
    """
    places, apart = -np.arange(found.sizes["topic"]), 100 * found["difference"].values
    x, y = axis("difference", "difference of shares", "points"), axis("topic", " ")
    parts = [
        element("Curve", ([0.0, 0.0], [0.5 - len(places), 0.5]), x, y, color=GREY, linewidth=0.6)
    ]
    for place, low, high in zip(
        places, 100 * found["low"].values, 100 * found["high"].values, strict=True
    ):
        if np.isfinite(low):
            parts.append(
                element(
                    "Curve", ([low, high], [place, place]), x, y, color=COLOURS[0], linewidth=1.0
                )
            )
    parts.append(element("Points", (apart, places), [x, y], color=COLOURS[0], s=12))
    numbers = found["topic"].values.tolist()
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=(3.4, ABOVE_APART + max(ROW * len(numbers), 0.8)),
        ylim=(0.5 - len(numbers), 0.5),
        yticks=[(place, names[number]) for place, number in zip(places, numbers, strict=True)],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def group_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """The column by which documents are grouped, where there are several."""
    columns = columns_of(run)
    return (Menu("by", "Group by", tuple(columns), columns[0]),) if len(columns) > 1 else ()


def draw_by_group(view: View, shown: SideBySide, by: str | None = None) -> Iterator[Picture]:
    """One run of each label whose documents have a column; ``by`` is by default the first."""
    drawn_of, panels, rows, hover, hidden = {}, [], [], [], False
    for label, run in shown.first("n_dk", "phi").items():
        if not (columns := columns_of(run)):
            continue
        column = by if by in columns else columns[0]
        found = topics_by_group(run, column)
        rows += rows_of(label, run, found.to_dataframe().reset_index()[list(SHARES)])
        drawn_of[label] = run, column, found
    drawn, left_out = fitting_panels(drawn_of)
    most = (
        MOST_TOPICS
        if shown.columns == 2 or not drawn
        else rows_below(len(drawn), ABOVE_MAP, MOST_TOPICS, FEWEST)
    )
    for label, (run, column, found) in drawn.items():
        some = _largest(found, most)
        hidden = hidden or some.sizes != found.sizes
        panels.append(
            by_group_view(
                some, names_of_topics(run, 3, 28), f"{label}, by {column}".removeprefix(", ")
            )
        )
        hover.append(_cell_texts(some, names_of_topics(run, 6, 80)))
    if panels:
        fewer = " The largest groups and topics are drawn; the table has all." if hidden else ""
        yield view.picture(
            "How much more (red) or less (blue) common each topic is in the documents of a group than in all documents that "
            "have a group: its share of the group's tokens, divided by its share of all. Behind each group its number of "
            f"documents. Intervals of 95 % over documents are in the table.{fewer} One run of each label.{left_out}",
            panels,
            [*WHOSE, *SHARES],
            rows,
            legend=False,
            height=height_of(panels),
            runs=[run for run, *_ in drawn_of.values()],
            hover={"QuadMesh": hover},
        )


def against_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """The group that is compared, and what with: another group or all other documents."""
    groups = tuple(_groups(run))
    if not groups:
        return ()
    return Menu("group", "Group", groups, groups[0]), Menu(
        "other", "Compared with", (OTHERS, *groups), OTHERS
    )


def draw_group_differences(
    view: View,
    shown: SideBySide,
    group: str | None = None,
    other: str = OTHERS,
) -> Iterator[Picture]:
    """One run of each label whose documents have a column; ``group`` as "column: value", by default the largest.

    ``other`` is another group, or `OTHERS`, which stands in for one that has no token beside the first.
    """
    runs, panels, rows, hover, said = {}, [], [], [], {}
    for label, run in shown.first("n_dk", "phi").items():
        groups = _groups(run)
        if not groups:
            continue
        group = group if group in groups else next(iter(groups))
        beside, sides, said[label] = _compared(
            run, groups, group, other if other in groups else OTHERS
        )
        found = group_differences(run, sides, group, beside)
        rows += rows_of(
            label,
            run,
            [
                [group, beside, *row]
                for row in found.to_dataframe()
                .reset_index()[list(DIFFERENCES[2:])]
                .itertuples(index=False)
            ],
        )
        runs[label] = run, found, beside
    drawn, left_out = fitting_panels(runs)
    most = (
        MOST_APART
        if shown.columns == 2 or not drawn
        else rows_below(len(drawn), ABOVE_APART, MOST_APART, FEWEST)
    )
    for label, (run, every, beside) in drawn.items():
        found = _furthest(every, most)
        panels.append(group_differences_view(found, names_of_topics(run, 3, 28), label))
        hover.append(_point_texts(found, names_of_topics(run, 6, 80), group, beside))
    if panels:
        yield view.picture(
            f"How much larger the share of each topic is in the documents of the group {group!r} than in "
            f"{' or '.join(dict.fromkeys(said.values()))}, with Welch's 95 % intervals over documents, in percentage points: "
            f"the {most} topics at most that differ most; the table has all. An interval is of one topic by itself; of "
            f"many topics some differ by chance. One run of each label.{left_out}",
            panels,
            [*WHOSE, *DIFFERENCES],
            rows,
            legend=False,
            height=height_of(panels),
            runs=[run for run, *_ in runs.values()],
            hover={"Points": hover},
        )


def _compared(
    run: xr.Dataset,
    groups: dict[str, tuple[str, str]],
    group: str,
    other: str,
) -> tuple[str, list[str | None], str]:
    """What a group is compared with; (document,) which of the two it is in, None for neither or both; what it is called.

    All other documents stand in for another group that has no token beside the first.
    """
    own = _of_group(run, *groups[group])
    if other != OTHERS:
        beside = _of_group(run, *groups[other])
        if _tokens(run)[beside & ~own].sum() and _tokens(run)[own & ~beside].sum():
            both = (
                f" (documents of both, {np.count_nonzero(own & beside):,}, are left out)"
                if (own & beside).any()
                else ""
            )
            return (
                other,
                _named(own & ~beside, group, beside & ~own, other),
                f"those of the group {other!r}{both}",
            )
    there = run[COLUMN + groups[group][0]].values != ""
    instead = "" if other == OTHERS else f" ({other!r} has none beside it)"
    return OTHERS, _named(own, group, there & ~own, OTHERS), f"{OTHERS}{instead}"


def _of_group(run: xr.Dataset, column: str, value: str) -> np.ndarray:
    """(document,) whether it has this value in the column."""
    return np.array([str(entry) == value for entry in run[COLUMN + column].values.tolist()], bool)


def _named(own: np.ndarray, group: str, beside: np.ndarray, other: str) -> list[str | None]:
    return [
        group if one else other if two else None
        for one, two in zip(own.tolist(), beside.tolist(), strict=True)
    ]


def _tokens(run: xr.Dataset) -> np.ndarray:
    """(document,) (expected) training tokens at the last snapshot."""
    return run["n_dk"].isel(snapshot=-1).sum("topic").values


def _groups(run: xr.Dataset) -> dict[str, tuple[str, str]]:
    """What the menu calls each group with tokens → its column and value; of each column those of the most documents first."""
    found, columns = {}, columns_of(run)
    counted = _tokens(run) > 0 if columns else None
    for column in columns:
        entries = np.array([str(value) for value in run[COLUMN + column].values.tolist()], object)[
            counted
        ]
        values, counts = np.unique(entries[entries != ""].astype(str), return_counts=True)
        if len(values) > 1:
            for at in np.argsort(-counts, kind="stable").tolist():
                found[f"{column}: {values[at]}"] = column, str(values[at])
    return dict(itertools.islice(found.items(), MOST_CHOICES))


def _largest(found: xr.Dataset, most: int) -> xr.Dataset:
    """The groups of the most documents, in their order, and so many topics of the most tokens, largest first."""
    groups = np.sort(np.argsort(-found["n_documents"].values, kind="stable")[:MOST_GROUPS])
    sizes = (found["share"].fillna(0) * found["n_tokens"]).sum("group").values
    return found.isel(group=groups, topic=np.argsort(-sizes, kind="stable")[:most])


def _furthest(found: xr.Dataset, most: int) -> xr.Dataset:
    """So many topics that differ most, the largest difference first."""
    some = np.argsort(-np.abs(found["difference"].values), kind="stable")[:most]
    return found.isel(topic=np.sort(some))


def _cell_texts(found: xr.Dataset, names: dict[int, str]) -> list[str]:
    """What each cell says, from the lowest row up and from left to right."""
    shares, lows, highs, lifts = (
        found[name].transpose("topic", "group").values for name in ("share", "low", "high", "lift")
    )
    groups = [
        f"{group}: {n:,} documents"
        for group, n in zip(found["group"].values, found["n_documents"].values, strict=True)
    ]
    texts, topics = [], found["topic"].values.tolist()
    for row in range(len(topics) - 1, -1, -1):
        for at in np.flatnonzero(np.isfinite(shares[row])):
            share = f"{shares[row, at]:.2%}{interval(lows[row, at], highs[row, at])} of its tokens"
            texts.append(
                f"{groups[at]}\n{names[topics[row]]}\n{share}, {lifts[row, at]:.2f} times that of all"
            )
    return texts


def _point_texts(found: xr.Dataset, names: dict[int, str], group: str, other: str) -> list[str]:
    rows = zip(
        *(
            found[name].values.tolist()
            for name in ("topic", "one", "other", "difference", "low", "high")
        ),
        strict=True,
    )
    return [
        f"{names[topic]}\n{group}: {one:.2%}, {other}: {share:.2%}\ndifference {100 * apart:+.2f}{interval(low, high, '+')} "
        "percentage points"
        for topic, one, share, apart, low, high in rows
    ]


def interval(low: float, high: float, sign: str = "") -> str:
    """An interval in brackets, as percentages; empty where there is none."""
    return f" ({100 * low:{sign}.2f} to {100 * high:{sign}.2f})" if np.isfinite(low) else ""
