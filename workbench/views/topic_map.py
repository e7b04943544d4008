"""The topics of one run as points of a plane, and how coherent they are."""

from __future__ import annotations

import numpy as np
import xarray as xr

from workbench.views.style import COLOURS, INK, RC

LARGEST = 2600.0
"""Area in points squared of a topic that has all tokens."""
SCORES = {"u_mass": "u_mass, nats", "npmi": "NPMI", "c_v": "c_v", "diversity": "diversity"}


def topic_map_view(topic_map: xr.Dataset, labels: dict[int, str] | None = None, colour: str = COLOURS[0], title: str = ""):
    """What `workbench.measures.topic_map` finds: a circle for each topic, its area the share of the tokens.

    labels : number → text below the point; none by default.

    Returns
    -------
    holoviews.Overlay
        `Points` with the dimension share, and `Labels` of numbers and of what people call them.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    labels = labels or {}
    x, y, share = (topic_map[name].values for name in ("x", "y", "share"))
    order = np.argsort(-share, kind="stable")  # the small ones are drawn over the large ones
    numbers, span = topic_map["topic"].values.tolist(), max(np.ptp(x), np.ptp(y), 1e-9)
    told = [(float(x[at]), float(y[at]), str(topic)) for at, topic in enumerate(numbers)]
    below = [
        (float(x[at]), float(y[at] - span * (0.025 + 0.15 * np.sqrt(share[at]))), labels[topic])
        for at, topic in enumerate(numbers) if topic in labels
    ]
    middle = (x.min() + x.max()) / 2, (y.min() + y.max()) / 2
    limits = [(at - 0.62 * span, at + 0.62 * span) for at in middle]
    return hv.Overlay([
        hv.Points((x[order], y[order], share[order]), ["x", "y"], "share").opts(
            s=hv.dim("share") * LARGEST + 12, color=colour, alpha=0.35, edgecolor=colour, linewidth=0.8, backend="matplotlib"
        ),
        hv.Labels(told, ["x", "y"], "topic").opts(size=6.5, color=INK, backend="matplotlib"),
        hv.Labels(below, ["x", "y"], "label").opts(size=6, color=INK, backend="matplotlib"),
    ]).opts(
        xlim=limits[0], ylim=limits[1], xlabel="first axis of the map", ylabel="second axis of the map", show_legend=False,
        show_grid=False, title=title, aspect=1, fig_inches=3.4, fig_rcparams=RC, backend="matplotlib",
    )


def coherence_view(scores: xr.Dataset, measure: str = "npmi", colour: str = COLOURS[0], title: str = ""):
    """A number of each topic (dim ``topic`` of what `coherence` or `diversity` finds), the highest first, with their mean.

    Returns
    -------
    holoviews.Overlay
        `Bars` with the run's own numbers of the topics along the axis, and an `HLine`.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    values = scores[measure].values
    order = [at for at in np.argsort(-values, kind="stable") if np.isfinite(values[at])]
    bars = [(str(scores["topic"].values[at]), float(values[at])) for at in order]
    few = len(bars) <= 20
    parts = [
        hv.Bars(bars, hv.Dimension("topic", label="topic, highest first"), hv.Dimension(measure, label=SCORES[measure])).opts(
            color=colour, edgecolor="none", show_grid=True, xrotation=0 if few else 90, backend="matplotlib"
        )
    ]
    if bars:
        mean = float(np.mean([value for _, value in bars]))
        parts.append(hv.HLine(mean).opts(color=INK, linewidth=0.8, linestyle=":", backend="matplotlib"))
    return hv.Overlay(parts).opts(
        aspect=2.4, fig_inches=3.4, title=title, show_legend=False, fig_rcparams=RC if few else RC | {"xtick.labelsize": 6},
        backend="matplotlib",
    )
