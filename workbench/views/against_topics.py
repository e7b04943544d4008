"""Final values of measures of runs against their number of topics."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import DERIVED, each_run, quantity, runs_by_curve, spec_of
from workbench.measures import against_topics as curves_against_topics
from workbench.measures.selection import Runs
from workbench.views.curves import SHORT, dimension
from workbench.views.elements import axis, element, panel
from workbench.views.picture import WHOSE, Picture, SideBySide, View, capital, has, rows_of
from workbench.views.style import looks

DRAWN_MEASURES = ("log_likelihood", "bound_per_token")
"""Measures that the view draws against the number of topics."""


def against_topics(runs: Runs, measure: str = "log_likelihood", title: str = ""):
    """Draw the final value of a measure against the number of topics, one curve per label.

    ``measure`` is ``log_likelihood``, ``bound_per_token``, ``test_perplexity`` or another number of each iteration. Returns an
    overlay of a `Curve` for each label over `Segments` of ± one standard error if there are several runs; empty if no run
    has the number. See `workbench.measures.against_topics`.
    """
    runs = each_run(runs)
    curves, style = curves_against_topics(runs, measure), looks(runs_by_curve(runs))
    x, y = axis("topics", "number of topics"), dimension(measure)
    errors, lines = [], []
    for curve in curves:
        look, has_error = style[curve.label], np.isfinite(curve.error)
        if has_error.any():
            segments = (
                values[has_error]
                for values in (curve.x, curve.y - curve.error, curve.x, curve.y + curve.error)
            )
            errors.append(
                element(
                    "Segments",
                    tuple(segments),
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
    """Draw log likelihood and bound per token against the requested number of topics, if runs differ in it."""
    runs = [run for run in shown.runs if has(run, "model.n_topics")]
    n_topics = [spec_of(run).n_topics for run in runs]
    drawn = (
        {name: curves for name in DRAWN_MEASURES if (curves := curves_against_topics(runs, name))}
        if len(set(n_topics)) > 1
        else {}
    )
    if not any(len(curve.x) > 1 for curves in drawn.values() for curve in curves):
        return
    meanings = "; ".join(
        f"{SHORT[name]}: {DERIVED[name].meaning} ({DERIVED[name].unit})" for name in drawn
    )
    rows = [
        row
        for label, members in runs_by_curve(runs).items()
        for run in members
        for row in rows_of(
            label,
            run,
            [
                [
                    spec_of(run).n_topics,
                    *(_last(run, name) for name in ("n_active_topics", *DRAWN_MEASURES)),
                ]
            ],
        )
    ]
    yield view.picture(
        f"{capital(meanings)}. At the last iteration of each run, against the requested number of topics; samplers of the "
        "HDP, which infer it, are at their mean number of topics with a token after burn-in. Marks are means over runs ± one "
        "standard error.",
        [against_topics(runs, name) for name in drawn],
        [*WHOSE, "topics requested", "n_active_topics", *DRAWN_MEASURES],
        rows,
    )


def _last(run: xr.Dataset, name: str) -> float | str:
    """Return a run's final value of a quantity; "" if the run lacks the quantity."""
    values = quantity(run, name)
    return "" if values is None else float(values.values[-1])
