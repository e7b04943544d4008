"""What runs of each number of topics came to: small panels over K, with the K that is recommended."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np
import xarray as xr

from workbench.measures import (
    MeasureError,
    finds_topics,
    numbers_by_k,
    recommend_k,
    runs_by_curve,
    spec_of,
)
from workbench.views.elements import axis, element, panel
from workbench.views.picture import Picture, SideBySide, View, file_names, has
from workbench.views.style import INK, Look, looks

DRAWN = {
    "log_likelihood": "log p of a held-out token",
    "bound_per_token": "bound for each token",
    "npmi": "coherence (NPMI)",
    "diversity": "diversity",
    "stability": "stability across seeds",
    "n_active_topics": "topics with a token",
}
COLUMNS = [
    "n_topics",
    "n_runs",
    "n_finished",
    *(
        column
        for name in ("log_likelihood", "test_perplexity", *list(DRAWN)[1:])
        for column in (name, f"{name}_se")
    ),
    "difference",
    "difference_se",
    "n_pairs",
]
PANEL = {"aspect": 1.5, "fig_inches": 2.3}
FAR = 6
"""Ratio of the largest K to the smallest from which on their axis is logarithmic."""


def choose_k_view(
    table: xr.Dataset,
    name: str = "log_likelihood",
    recommended: int | None = None,
    look: Look | None = None,
):
    """One number of `workbench.measures.numbers_by_k` against K.

    A `Curve` over `Segments` of one standard error to either side, and a `VLine` at the K that is ``recommended``; empty where
    no run has the number.
    """
    look, ks = look or looks([table.attrs["label"]])[table.attrs["label"]], table["n_topics"].values
    values, errors = table[name].values, table[f"{name}_se"].values
    known, sure = np.isfinite(values), np.isfinite(values) & np.isfinite(errors)
    if not known.any():
        return panel([])
    x, y = (
        axis("n_topics", "number of topics K"),
        axis(name, DRAWN[name], table[name].attrs["units"] or None),
    )
    drawn = []
    if sure.any():
        ends = ks[sure], values[sure] - errors[sure], ks[sure], values[sure] + errors[sure]
        drawn.append(
            element(
                "Segments",
                ends,
                [x, y, "same K", "high"],
                color=look.colour,
                linewidth=1.2,
                show_grid=True,
            )
        )
    drawn.append(
        element(
            "Curve",
            (ks[known], values[known]),
            x,
            y,
            color=look.colour,
            linestyle=look.line,
            linewidth=1.3,
            marker=look.marker,
            ms=4.5,
            show_grid=True,
        )
    )
    if recommended is not None:
        drawn.append(element("VLine", recommended, color=INK, linewidth=0.8, linestyle=":"))
    far = len(ks) > 1 and ks[-1] >= FAR * ks[0]
    return panel(
        drawn,
        logx=bool(far),
        xticks=_ticks(ks.tolist(), far),
        padding=0.08,
        hooks=[_only_these_ticks],
        **PANEL,
    )


def choose_k_picture(
    table: xr.Dataset,
    view: View,
    look: Look | None = None,
    name: str = "",
    runs=(),
    coming: Iterable[int] = (),
) -> Picture:
    """All panels of a table that some run has, with the recommendation; ``coming``: the K that are still to come."""
    recommended, said = None, ""
    with suppress(MeasureError):
        found = recommend_k(table, coming)
        recommended, said = found.n_topics, f" {found}"
    panels = [
        choose_k_view(table, each, recommended, look)
        for each in DRAWN
        if np.isfinite(table[each].values).any()
    ]
    rows = table.to_dataframe().reset_index()[COLUMNS].to_numpy(object).tolist()
    caption = (
        f"Runs of {table.attrs['label']} by their number of topics K, at their last iterations: means over runs, with one "
        "standard error to either side, which is over seeds and splits. Stability is how alike the matched topics of two seeds "
        "are (1: the same). Coherence and stability often fall with K whatever the documents are."
        f"{' The dotted line is the K that is recommended.' if recommended else ''}{said}"
    )
    return Picture(
        name or view.name,
        view.title,
        caption,
        panels,
        COLUMNS,
        rows,
        legend=False,
        height=1.5,
        runs=list(runs),
    )


def draw_choose_k(view: View, shown: SideBySide) -> Iterator[Picture]:
    """A picture for each label whose runs differ in K."""
    having = [
        run for run in shown.runs if has(run, "model.n_topics") and not finds_topics(spec_of(run))
    ]
    found = {
        label: runs
        for label, runs in (runs_by_curve(having) if having else {}).items()
        if len({spec_of(run).n_topics for run in runs}) > 1
    }
    style = looks(found)
    for (label, runs), short in zip(found.items(), file_names(found), strict=True):
        name = view.name if len(found) == 1 else f"{view.name}-{short}"
        with suppress(MeasureError):  # two warm runs of one K and seed, each begun from another
            yield choose_k_picture(
                numbers_by_k(runs, shown.corpora), view, style[label], name, runs
            )


def _only_these_ticks(plot, drawn) -> None:
    """A logarithmic axis has ticks of its own between those that are given."""
    from matplotlib.ticker import NullLocator

    plot.handles["axis"].xaxis.set_minor_locator(NullLocator())


def _ticks(ks: list[int], far: bool) -> list[tuple[int, str]]:
    """K where there is room for it on the axis, from the smallest on."""
    place = np.log(ks) if far else np.array(ks, float)
    ticks, room = [], 0.09 * (place[-1] - place[0])
    for k, at in zip(ks, place, strict=True):
        if not ticks or at - np.log(ticks[-1][0]) * far - ticks[-1][0] * (not far) >= room:
            ticks.append((k, str(k)))
    return ticks
