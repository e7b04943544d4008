"""Effects of a column of the documents on topics: the mean share of each topic by the column's value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from workbench.measures import MeasureError
from workbench.measures.effects import columns_of_documents, curve_beside, is_numeric
from workbench.measures.groups import COLUMN, columns_of
from workbench.measures.prevalence import prevalence_curve
from workbench.runs.recorded import model_of
from workbench.views.elements import (
    COLOURS,
    RC,
    axis,
    band,
    element,
    panel,
    short_text,
    topic_colours,
)
from workbench.views.groups import PANEL, interval
from workbench.views.picture import (
    RUN_COLUMNS,
    Menu,
    Picture,
    RunsToDraw,
    View,
    numbered_picture,
    rows_of,
)
from workbench.views.topics import names_of_topics

if TYPE_CHECKING:
    import pandas as pd

HEADER = (
    "value",
    "topic",
    "share",
    "share_low",
    "share_high",
    "change",
    "change_low",
    "change_high",
)
MOST_DRAWN, MOST_LEVELS = 6, 24
"""Maximum of topics, and of values of a column that has no numbers."""
ALONE, ALL = "no other column", "all other columns"


def effect_view(curve: xr.Dataset, topic: int, title: str = "", colour: str = COLOURS[0]):
    """Draw the mean share of a topic by the value of a column, with 95 % intervals, as a `holoviews.Overlay`.

    curve : result of `workbench.measures.effect_curve`.
    """
    of_topic, column = curve.sel(topic=topic), curve.attrs["column"]
    share, low, high = (of_topic[name].values for name in ("share", "share_low", "share_high"))
    x, y = axis("value", column), axis("share", "mean share")
    values = curve["value"].values
    is_number = values.dtype.kind == "f"
    positions = values if is_number else np.arange(len(values), dtype=float)
    if is_number:
        elements = [band((positions, low, high), x, y, colour)]
        elements.append(element("Curve", (positions, share), x, y, color=colour, linewidth=1.2))
    else:
        elements = [
            element("Curve", ([position, position], ends), x, y, color=colour, linewidth=1.0)
            for position, *ends in zip(positions, low, high, strict=True)
            if np.isfinite(ends).all()
        ]
    elements.append(
        element("Points", (positions, share), [x, y], color=colour, s=4 if is_number else 12)
    )
    ticks = (
        {}
        if is_number
        else {
            "xticks": [
                (position, short_text(str(value), 14))
                for position, value in zip(positions, values, strict=True)
            ],
            "xrotation": 90 if len(values) > 5 else 0,
            "xlim": (-0.5, len(values) - 0.5),
        }
    )
    return panel(elements, title=title, aspect="auto", fig_inches=PANEL, fig_rcparams=RC, **ticks)


def effect_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """Return the controls that choose the metadata column, and whether the other columns are kept fixed."""
    columns = tuple(_columns(run))
    column_menu = (Menu("of", "Column", columns, columns[0]),) if len(columns) > 1 else ()
    adjustment_menu = (Menu("beside", "Adjusted for", (ALONE, ALL), ALONE),) if column_menu else ()
    return column_menu + adjustment_menu


def draw_effects(
    view: View, selection: RunsToDraw, of: str | None = None, beside: str = ALONE
) -> Iterator[Picture]:
    """Draw the shares of topics by the values of the metadata column ``of`` (default: the first) for one run per label."""
    runs = {label: (run, _columns(run)) for label, run in selection.first("n_dk", "phi").items()}
    runs = {label: (run, columns) for label, (run, columns) in runs.items() if len(columns.columns)}
    for number, (label, (run, columns)) in enumerate(runs.items(), start=1):
        column = of if of in columns else columns.columns[0]
        others = [name for name in columns if name != column and beside == ALL]
        try:
            curve = curve_beside(run, columns, [column, *others])
        except MeasureError:
            if of is None:
                continue  # too few documents, and nobody asked for this column
            raise
        of_topics = (
            ""
            if curve.attrs["n_draws"] > 1
            else " (not that of the topics, which takes several snapshots)"
        )
        adjustment = f" with {', '.join(others)} as they are" if others else ""
        picture = _picture(
            view,
            label,
            run,
            curve,
            f"Mean share of a topic in a document, by {column}{adjustment}, with 95 % intervals that carry the "
            f"uncertainty of the shares{of_topics}",
            f"A regression on {curve.attrs['n_documents']:,} documents; the intervals are not corrected for the number of "
            "topics.",
        )
        yield numbered_picture(picture, number, label) if len(runs) > 1 else picture


def prevalence_controls(run: xr.Dataset) -> tuple[Menu, ...]:
    """Return the control that chooses a column of the formula of prevalence, if it has several."""
    columns = _columns_of_formula(run)
    return (Menu("of", "Column", columns, columns[0]),) if len(columns) > 1 else ()


def draw_prevalence(view: View, selection: RunsToDraw, of: str | None = None) -> Iterator[Picture]:
    """Draw the expected shares by a column of the formula of prevalence (default: the first) for one run per label."""
    runs = {
        label: (run, columns)
        for label, run in selection.first("gamma", "phi").items()
        if (columns := _columns_of_formula(run)) and "edition" not in run.attrs
    }
    for number, (label, (run, columns)) in enumerate(runs.items(), start=1):
        curve = prevalence_curve(run, of if of in columns else columns[0])
        n_draws = curve.attrs["n_draws"]
        intervals = f", with 95 % intervals from {n_draws:,} draws" if n_draws > 1 else ""
        picture = _picture(
            view,
            label,
            run,
            curve,
            f"Expected share of a topic if all documents had one {curve.attrs['column']}, given the formula "
            f"{curve.attrs['formula']}{intervals}",
            f"Averaged over {curve.attrs['n_documents']:,} documents, whose other columns are as they are.",
        )
        yield numbered_picture(picture, number, label) if len(runs) > 1 else picture


def _columns_of_formula(run: xr.Dataset) -> tuple[str, ...]:
    """Return the columns that the formula of prevalence of a run names and that can be drawn."""
    design = getattr(model_of(run), "design", None)
    columns = {} if design is None else design.columns
    return tuple(name for name in columns if _can_be_drawn(columns[name]))


def _picture(
    view: View, label: str, run: xr.Dataset, curve: xr.Dataset, begin: str, end: str
) -> Picture:
    """Return the picture of the topics whose shares change most along a curve; ``begin`` and ``end`` are of its caption."""
    names, long_names = names_of_topics(run, 3, 34), names_of_topics(run, 6, 80)
    topics, colours = _changing_topics(curve), topic_colours(run)
    rows = curve[list(HEADER[2:])].to_dataframe().reset_index().sort_values(["topic", "value"])
    n_further = curve.sizes["topic"] - len(topics)
    return view.picture(
        f"{begin}: the {len(topics)} topics that change most beyond their errors"
        f"{f'; {n_further} more are in the table' if n_further else ''}. {end}",
        [effect_view(curve, topic, names[topic], colours(topic)) for topic in topics],
        [*RUN_COLUMNS, *HEADER],
        rows_of(label, run, rows[list(HEADER)]),
        legend=False,
        height=PANEL[1],
        runs=[run],
        hover={"Points": [_texts(curve, topic, long_names[topic]) for topic in topics]},
    )


def _columns(run: xr.Dataset) -> pd.DataFrame:
    """Return the columns of the documents whose effects can be drawn: of numbers, or with at most `MOST_LEVELS` values."""
    columns = columns_of_documents(run)
    names = [*columns_of(run), *(["year"] if f"{COLUMN}time" in run.coords else [])]
    return columns[[n for n in dict.fromkeys(names) if n in columns and _can_be_drawn(columns[n])]]


def _can_be_drawn(column: pd.Series) -> bool:
    return column.nunique() > 1 and (is_numeric(column) or column.nunique() <= MOST_LEVELS)


def _changing_topics(curve: xr.Dataset) -> list[int]:
    """Return the topics whose shares change most, in standard errors of the change, in the order of their numbers."""
    change, error = (
        curve[name].transpose("topic", "value").values for name in ("change", "change_error")
    )
    size = np.where(error > 0, np.abs(change) / np.maximum(error, 1e-12), 0.0).max(axis=1)
    return sorted(curve["topic"].values[np.argsort(-size, kind="stable")[:MOST_DRAWN]].tolist())


def _texts(curve: xr.Dataset, topic: int, name: str) -> list[str]:
    """Return the tooltip of each value: the share and the change, with their intervals."""
    of_topic = curve.sel(topic=topic)
    columns = (of_topic[each].values.tolist() for each in ("value", *HEADER[2:]))
    return [
        f"{name}\n{curve.attrs['column']} {value if isinstance(value, str) else f'{value:g}'}: {share:.2%}"
        f"{interval(low, high)}\n{100 * change:+.2f}{interval(change_low, change_high, '+')} percentage points from the first"
        for value, share, low, high, change, change_low, change_high in zip(*columns, strict=True)
    ]
