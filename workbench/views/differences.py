"""Paired differences with their intervals, a line for each label: a forest plot."""

from __future__ import annotations

import numpy as np

from workbench.measures import each_run, in_papers_order, paired_differences
from workbench.views.curves import SHORT
from workbench.views.style import INK, RC, looks

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
    import holoviews as hv
    import holoviews.plotting.mpl

    runs = in_papers_order(each_run(runs))
    found = paired_differences(runs, reference, measure, scored)
    references = set(found["reference"].values)
    style = looks(found["label"].values.tolist())
    shown = [label for label in found["label"].values if label not in references
             and np.isfinite(found["difference"].sel(label=label))]
    several = len(references) > 1
    x = hv.Dimension("difference", label=f"{SHORT.get(measure, measure)}, difference from "
                     + ("the reference" if several else found.attrs["reference"]))
    y = hv.Dimension("place", label=" ")
    drawn, ticks = [hv.VLine(0).opts(color=INK, linewidth=0.8, linestyle=":", backend="matplotlib")], []
    for place, label in enumerate(shown):
        one, look = found.sel(label=label), style[label]
        low, mean, high = (float(one[name]) for name in ("difference_low", "difference", "difference_high"))
        n_pairs = int(one["n_pairs"])
        ticks.append((-place, f"{label} ({n_pairs} {'pair' if n_pairs == 1 else 'pairs'})"))
        if np.isfinite(low):
            drawn.append(hv.Segments([(low, -place, high, -place)], [x, y, "high", "same place"]).opts(
                color=look.colour, linewidth=1.6, backend="matplotlib"
            ))
        drawn.append(hv.Scatter([(mean, -place)], x, y, label=label).opts(
            color=look.colour, marker=look.marker, s=30, linewidth=0, show_grid=True, backend="matplotlib"
        ))
    if not shown:
        return hv.Overlay([])
    return hv.Overlay(drawn).opts(
        xlabel=x.pprint_label, ylabel=" ", yticks=ticks, ylim=(0.5 - len(shown), 0.5), padding=0.08, show_legend=False,
        title=title, fig_inches=(3.4, 0.5 + ROW * len(shown)), aspect="auto", fig_rcparams=RC, backend="matplotlib",
    )
