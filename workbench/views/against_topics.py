"""Runs with different numbers of topics: what each number is worth."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import DERIVED, each_run, quantity, runs_by_curve, spec_of
from workbench.measures import against_topics as curves_against_topics
from workbench.views.curves import SHORT, dimension
from workbench.views.elements import axis, element, panel
from workbench.views.picture import WHOSE, Picture, SideBySide, View, capital, has, rows_of
from workbench.views.style import looks

WORTH = ("log_likelihood", "bound_per_token")
"""What is drawn against the number of topics."""


def against_topics(runs, measure: str = "log_likelihood", title: str = ""):
    """The last value of a number against how many topics there are, a line for each label.

    ``measure`` is ``log_likelihood``, ``bound_per_token``, ``test_perplexity`` or another number of each iteration. An overlay
    of a `Curve` for each label, over `Segments` of one standard error to either side where there are several runs; empty
    where no run has the number. See `workbench.measures.against_topics`.
    """
    runs = each_run(runs)
    curves, style = curves_against_topics(runs, measure), looks(runs_by_curve(runs))
    x, y = axis("topics", "number of topics"), dimension(measure)
    errors, lines = [], []
    for curve in curves:
        look, known = style[curve.label], np.isfinite(curve.error)
        if known.any():
            ends = (
                values[known]
                for values in (curve.x, curve.y - curve.error, curve.x, curve.y + curve.error)
            )
            errors.append(
                element(
                    "Segments",
                    tuple(ends),
                    [x, y, "same topics", "high"],
                    color=look.colour,
                    linewidth=1.2,
                    show_grid=True,
                )
            )
        lines.append(
            element(
                "Curve",
                (curve.x, curve.y),
                x,
                y,
                label=curve.label,
                color=look.colour,
                linestyle=look.line,
                linewidth=1.3,
                marker=look.marker,
                ms=4.5,
                show_grid=True,
            )
        )
    return panel(
        errors + lines, title=title, legend_position="best", show_legend=True, padding=0.05
    )


def draw_against_topics(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Where runs differ in the number of topics that was asked for, the log likelihood and the bound for each token."""
    runs = [run for run in shown.runs if has(run, "model.n_topics")]
    asked_for = [spec_of(run).n_topics for run in runs]
    drawn = (
        {name: curves for name in WORTH if (curves := curves_against_topics(runs, name))}
        if len(set(asked_for)) > 1
        else {}
    )
    if not any(len(curve.x) > 1 for curves in drawn.values() for curve in curves):
        return
    meanings = "; ".join(
        f"{SHORT[name]}: {DERIVED[name].meaning} ({DERIVED[name].unit})" for name in drawn
    )
    rows = [
        row
        for label, own in runs_by_curve(runs).items()
        for run in own
        for row in rows_of(
            label,
            run,
            [
                [
                    spec_of(run).n_topics,
                    *(_last(run, name) for name in ("n_active_topics", *WORTH)),
                ]
            ],
        )
    ]
    yield view.picture(
        f"{capital(meanings)}. At the last iteration of each run, against the number of topics that was asked "
        "for; samplers of the HDP, which find it, stand at their mean number of topics with a token after burn-in. Marks are "
        "means over runs, with one standard error to either side.",
        [against_topics(runs, name) for name in drawn],
        [*WHOSE, "topics asked for", "n_active_topics", *WORTH],
        rows,
    )


def _last(run: xr.Dataset, name: str) -> float | str:
    values = quantity(run, name)
    return "" if values is None else float(values.values[-1])
