"""How far labels are from a reference: a dot and an interval each."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.views.style import GREY, RC


def difference_intervals(found: pd.DataFrame, colours: dict[str, str]):
    """Paired differences with their 95 % intervals, one label below the other, about a line at zero.

    Parameters
    ----------
    found : DataFrame
        Index ``label``; ``difference``, ``difference_low``, ``difference_high`` and ``reference`` as in
        `workbench.measures.paired_differences`.
    colours : dict
        Of each label.

    Returns
    -------
    holoviews.Overlay
        A `Path` at zero, and for each label that has a difference a `Segments` (where it has an interval) and a `Scatter`.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    reference = "; ".join(dict.fromkeys(found["reference"]))
    x = hv.Dimension("difference", label=f"held-out perplexity, difference from {reference}")
    y = hv.Dimension("place", label=" ")
    lowest = 0.6 - max(len(found), 1)
    drawn = [hv.Path([([0.0, 0.0], [lowest, 0.6])], [x, y]).opts(color=GREY, linewidth=0.8, backend="matplotlib")]
    for place, (label, one) in enumerate(found.iterrows()):
        if np.isfinite(one["difference_low"]):
            bar = (one["difference_low"], -place, one["difference_high"], -place)
            drawn.append(hv.Segments([bar], [x, y, "high", "end"]).opts(
                color=colours[label], linewidth=1.6, backend="matplotlib"))
        if np.isfinite(one["difference"]):
            drawn.append(hv.Scatter(([one["difference"]], [-place]), x, y, label=str(label)).opts(
                color=colours[label], s=26, linewidth=0, show_grid=True, backend="matplotlib"))
    return hv.Overlay(drawn).opts(
        yticks=[(-place, str(label)) for place, label in enumerate(found.index)], ylim=(lowest, 0.6), padding=0.05,
        show_legend=False, aspect=1.5, fig_inches=3.4, fig_rcparams=RC, backend="matplotlib",
    )
