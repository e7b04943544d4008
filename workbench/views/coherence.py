"""Coherence or another number of each topic."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from workbench.measures import MeasureError
from workbench.views.style import COLOURS, INK, RC

NAMES = {"npmi": ("NPMI", ""), "u_mass": ("u_mass", "nats"), "c_v": ("c_v", ""), "diversity": ("diversity", "")}
ROW = 0.135
"""Height of a topic, inches."""
MOST_TOPICS = 40


def coherence_view(
    scores: xr.Dataset, measure: str = "npmi", names: Mapping[int, str] | None = None, colour: str = COLOURS[0],
    marker: str = "o", title: str = "",
):
    """A number of each topic, the highest first, with a line at the mean over topics.

    Parameters
    ----------
    scores : Dataset
        Dim ``topic``: what `workbench.measures.coherence` or `workbench.measures.diversity` finds.
    measure : {"npmi", "u_mass", "c_v", "diversity"}
    names : mapping, optional
        What topics are called, see `workbench.views.names_of_topics`; by default their numbers.

    Returns
    -------
    holoviews.Overlay
        `Segments` from the mean to each topic, `Scatter` (coherence, place) and a `VLine` at the mean; topics without a
        number are named at the end. Of more than 40 topics the 20 best and the 20 worst. The option ``fig_inches`` says how
        high it is to be.

    Raises
    ------
    MeasureError
        An unknown measure.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    if measure not in NAMES:
        raise MeasureError(f"no coherence '{measure}'; there are {', '.join(NAMES)}")
    values, names = scores[measure].values, names or {}
    mean = float(np.mean(values[np.isfinite(values)])) if np.isfinite(values).any() else 0.0
    order = np.argsort(-values, kind="stable")  # NaN last
    if len(order) > MOST_TOPICS:
        order = np.concatenate([order[: MOST_TOPICS // 2], order[-MOST_TOPICS // 2 :]])
    x = hv.Dimension(measure, label=NAMES[measure][0], unit=NAMES[measure][1] or None)
    y = hv.Dimension("place", label=" ")
    at = -np.arange(len(order))
    known = np.isfinite(values[order])
    bars = [(mean, place, values[topic], place) for place, topic in zip(at[known], order[known], strict=True)]
    topics = scores["topic"].values.tolist()
    return hv.Overlay([
        hv.Segments(bars, [x, y, "coherence", "same place"]).opts(color=colour, linewidth=1.0, backend="matplotlib"),
        hv.Scatter((values[order][known], at[known]), x, y).opts(
            color=colour, marker=marker, s=16, linewidth=0, show_grid=True, backend="matplotlib"
        ),
        hv.VLine(mean).opts(color=INK, linewidth=0.8, linestyle=":", backend="matplotlib"),
    ]).opts(
        yticks=[(int(place), names.get(topics[topic], str(topics[topic])) + ("" if one else ", too few words"))
                for place, topic, one in zip(at, order, known, strict=True)],
        ylim=(0.5 - len(order), 0.5), padding=0.05, show_legend=False, title=title,
        fig_inches=(3.4, 0.45 + ROW * len(order)), aspect="auto",
        fig_rcparams=RC | {"ytick.labelsize": 6.5}, backend="matplotlib",
    )
