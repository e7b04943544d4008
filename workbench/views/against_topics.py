"""Runs with different numbers of topics: what each number is worth."""

from __future__ import annotations

import numpy as np

from workbench.measures import against_topics as curves_against_topics
from workbench.measures import each_run, runs_by_curve
from workbench.views.curves import dimension
from workbench.views.style import RC, looks


def against_topics(runs, measure: str = "log_likelihood", title: str = ""):
    """The last value of a number against how many topics there are, a line for each label.

    Parameters
    ----------
    runs : Dataset or list of Datasets
        Of a sweep over topics, or any runs; see `workbench.measures.against_topics`.
    measure : str
        ``log_likelihood``, ``bound_per_token``, ``test_perplexity`` or another number of each iteration.

    Returns
    -------
    holoviews.Overlay
        For each label a `Curve` with a mark at each number of topics, over `Segments` of one standard error to either side
        where there are several runs; empty where no run has the number.

    Raises
    ------
    MeasureError
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    runs = each_run(runs)
    curves, style = curves_against_topics(runs, measure), looks(runs_by_curve(runs))
    x, y = hv.Dimension("topics", label="number of topics"), dimension(measure)
    errors, lines = [], []
    for curve in curves:
        look, known = style[curve.label], np.isfinite(curve.error)
        if known.any():
            at, low, high = curve.x[known], (curve.y - curve.error)[known], (curve.y + curve.error)[known]
            errors.append(hv.Segments((at, low, at, high), [x, y, "same topics", "high"]).opts(
                color=look.colour, linewidth=1.2, show_grid=True, backend="matplotlib"
            ))
        lines.append(hv.Curve((curve.x, curve.y), x, y, label=curve.label).opts(
            color=look.colour, linestyle=look.line, linewidth=1.3, marker=look.marker, ms=4.5, show_grid=True,
            backend="matplotlib",
        ))
    return hv.Overlay(errors + lines).opts(
        aspect=1.5, fig_inches=3.4, title=title, legend_position="best", fig_rcparams=RC, show_legend=True, padding=0.05,
        backend="matplotlib",
    )
