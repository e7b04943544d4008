"""Scores of runs against the number of topics K, one panel per score, with the recommended K."""

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
from workbench.views.elements import (
    INK,
    Look,
    axis,
    element,
    looks,
    mean_curve,
    no_minor_ticks,
    panel,
)
from workbench.views.picture import Picture, SideBySide, View, file_names, has

DRAWN = {
    "log_likelihood": "log p of a held-out token",
    "bound_per_token": "bound per token",
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
LOGARITHMIC_RATIO = 6
"""The axis of K is logarithmic if the largest K is at least so many times the smallest."""


def choose_k_view(
    table: xr.Dataset,
    name: str = "log_likelihood",
    recommended: int | None = None,
    look: Look | None = None,
):
    """Draw one score of `workbench.measures.numbers_by_k` against the number of topics K.

    Returns a `Curve` over `Segments` of ± one standard error, and a `VLine` at the ``recommended`` K; empty if no run has the
    score.
    """
    look, ks = look or looks([table.attrs["label"]])[table.attrs["label"]], table["n_topics"].values
    values, errors = table[name].values, table[f"{name}_se"].values
    has_value = np.isfinite(values)
    if not has_value.any():
        return panel([])
    x, y = (
        axis("n_topics", "number of topics K"),
        axis(name, DRAWN[name], table[name].attrs["units"] or None),
    )
    segments, curve = mean_curve(*(each[has_value] for each in (ks, values, errors)), x, y, look)
    drawn = [*segments, curve]
    if recommended is not None:
        drawn.append(element("VLine", recommended, color=INK, linewidth=0.8, linestyle=":"))
    logarithmic = len(ks) > 1 and ks[-1] >= LOGARITHMIC_RATIO * ks[0]
    return panel(
        drawn,
        logx=bool(logarithmic),
        xticks=_ticks(ks.tolist(), logarithmic),
        padding=0.08,
        hooks=[no_minor_ticks],
        **PANEL,
    )


def choose_k_picture(
    table: xr.Dataset,
    view: View,
    look: Look | None = None,
    name: str = "",
    runs: Iterable[xr.Dataset] = (),
    pending: Iterable[int] = (),
) -> Picture:
    """Return the picture of all scores against K, with the recommended K; ``pending``: K that are not run yet."""
    recommended, advice = None, ""
    with suppress(MeasureError):
        recommendation = recommend_k(table, pending)
        recommended, advice = recommendation.n_topics, f" {recommendation}"
    panels = [
        choose_k_view(table, score, recommended, look)
        for score in DRAWN
        if np.isfinite(table[score].values).any()
    ]
    rows = table.to_dataframe().reset_index()[COLUMNS].to_numpy(object).tolist()
    caption = (
        f"Runs of {table.attrs['label']} by their number of topics K, at their last iterations: means over runs ± one "
        "standard error, over seeds and splits. Stability is the similarity of the matched topics of two seeds (1: the same). "
        "Coherence and stability often fall with K for any documents."
        f"{' The dotted line is the recommended K.' if recommended else ''}{advice}"
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
    """Draw one picture per label with runs at several K."""
    runs_with_k = [
        run for run in shown.runs if has(run, "model.n_topics") and not finds_topics(spec_of(run))
    ]
    runs_by_label = {
        label: runs
        for label, runs in (runs_by_curve(runs_with_k) if runs_with_k else {}).items()
        if len({spec_of(run).n_topics for run in runs}) > 1
    }
    style = looks(runs_by_label)
    for (label, runs), short in zip(runs_by_label.items(), file_names(runs_by_label), strict=True):
        name = view.name if len(runs_by_label) == 1 else f"{view.name}-{short}"
        with suppress(MeasureError):  # two warm runs of one K and seed from different parents
            yield choose_k_picture(
                numbers_by_k(runs, shown.corpora), view, style[label], name, runs
            )


def _ticks(ks: list[int], logarithmic: bool) -> list[tuple[int, str]]:
    """Return axis ticks at the smallest K and at each larger K that is far enough from the last tick."""
    places = np.log(ks) if logarithmic else np.array(ks, float)
    ticks, distance = [], 0.09 * (places[-1] - places[0])
    for k, place in zip(ks, places, strict=True):
        if (
            not ticks
            or place - np.log(ticks[-1][0]) * logarithmic - ticks[-1][0] * (not logarithmic)
            >= distance
        ):
            ticks.append((k, str(k)))
    return ticks
