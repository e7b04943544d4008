"""Paired differences with their intervals, a line for each label: a forest plot."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.measures import each_run, in_papers_order, paired_differences
from workbench.views.curves import SHORT
from workbench.views.style import INK, RC, Look, looks

ROW = 0.24
"""Height of a label, inches."""


def differences_view(runs, reference: str | None = None, measure: str = "test_perplexity", scored=None, title: str = ""):
    """How much higher a number is than the reference's, pair by pair (same split, same seed), with 95 % intervals.

    Parameters
    ----------
    runs : Dataset or list of Datasets
    reference, measure, scored
        See `workbench.measures.paired_differences`.

    Returns
    -------
    holoviews.Overlay
        A `VLine` at 0, and for each label but the references, in the papers' order from the top, a `Scatter` of the mean
        difference over `Segments` of its interval, where it has one. Empty where there is nothing to set apart. The option
        ``fig_inches`` says how high it is to be.

    Raises
    ------
    MeasureError
        See `workbench.measures.paired_differences`.
    """
    found = paired_differences(in_papers_order(each_run(runs)), reference, measure, scored).to_dataframe().reset_index("label")
    style, apart = looks(found["label"]), ~found["label"].isin(found["reference"]) & np.isfinite(found["difference"])
    pairs = found["n_pairs"].astype(int)
    found["said"] = [f"{label} ({n} {'pair' if n == 1 else 'pairs'})" for label, n in zip(found["label"], pairs, strict=True)]
    return forest(found[apart], style, found["reference"], measure, title)


def forest(found: pd.DataFrame, style: dict[str, Look], references, measure: str = "test_perplexity", title: str = ""):
    """Differences that are known already, one below the other.

    Parameters
    ----------
    found : DataFrame
        A row each: ``label``, ``said`` (what stands beside it), ``difference``, ``difference_low``, ``difference_high``.
    style : dict
        Label → its look.
    references : of str
        What they are set against.

    Returns
    -------
    holoviews.Overlay
        See `differences_view`.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    references = list(dict.fromkeys(references))
    against = references[0] if len(references) == 1 else "the reference"
    x = hv.Dimension("difference", label=f"{SHORT.get(measure, measure)}, difference from {against}")
    y = hv.Dimension("place", label=" ")
    drawn, ticks = [hv.VLine(0).opts(color=INK, linewidth=0.8, linestyle=":", backend="matplotlib")], []
    for place, one in enumerate(found.itertuples()):
        ticks.append((-place, one.said))
        if np.isfinite(one.difference_low):
            interval = (one.difference_low, -place, one.difference_high, -place)
            drawn.append(hv.Segments([interval], [x, y, "high", "same place"]).opts(
                color=style[one.label].colour, linewidth=1.6, backend="matplotlib"
            ))
        if np.isfinite(one.difference):
            drawn.append(hv.Scatter([(one.difference, -place)], x, y, label=one.label).opts(
                color=style[one.label].colour, marker=style[one.label].marker, s=30, linewidth=0, show_grid=True,
                backend="matplotlib",
            ))
    if not ticks:
        return hv.Overlay([])
    return hv.Overlay(drawn).opts(
        xlabel=x.pprint_label.replace(", ", ",\n"), ylabel=" ", yticks=ticks, ylim=(0.5 - len(ticks), 0.5), padding=0.08,
        show_legend=False, title=title, fig_inches=(3.4, 0.65 + ROW * len(ticks)), aspect="auto", fig_rcparams=RC,
        backend="matplotlib",
    )
