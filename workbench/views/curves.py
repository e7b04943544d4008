"""HoloViews elements of mean curves, one per label, with bands of ± one standard error."""

import re
from functools import partial

import numpy as np

from workbench.measures import DERIVED, Curve
from workbench.models import VARIABLES
from workbench.views.elements import GREY, Look, element, holoviews, panel

MOST_POINTS = 1000
"""Maximum of points of a drawn curve; longer ones are thinned evenly. Tables are never thinned."""
MARKERS_ACROSS = 0.17
"""Distance of markers along a curve, as a share of the diagonal of the picture."""
SHORT = {
    "test_perplexity": "held-out perplexity",
    "test_perplexity_state": "held-out perplexity",
    "test_perplexity_average": "held-out perplexity",
    "train_perplexity": "training perplexity",
    "log_joint": "log joint",
    "bound": "bound",
    "objective": "objective",
    "elapsed": "inference time",
    "cpu_time": "CPU time",
    "updates": "site updates",
    "n_k": "topic size",
    "phi": "probability",
    "steps": "iterations × topics",
    "log_likelihood": "log p of a held-out token",
    "bound_per_token": "bound per token",
    "n_active_topics": "topics with a token",
    "n_large_topics": "topics with at least 1 %",
    "effective_topics": "effective topics",
    "alpha_total": "alpha, sum over topics",
    "beta_total": "beta, sum over words",
    "top_concentration": "gamma",
    "alpha": "alpha of a topic",
    "beta": "beta of a word",
    "test_log_likelihood": "log p of a held-out item",
    "test_top_hits": "hits among the top 10",
    "test_bottom_hits": "hits among the bottom 10",
    "test_gain_joint_added": "gain, joint",
    "test_gain_joint_clipped": "gain, joint",
    "test_gain_joint_seen": "gain, joint",
    "test_gain_seen": "gain",
}
"""Short names for axes; captions use the sentences of VARIABLES."""


def dimension(name: str, attrs: dict | None = None):
    """Return the HoloViews dimension of a variable, with its short name and unit.

    ``attrs`` are the attributes of a variable that is not in VARIABLES.
    """
    hv = holoviews()
    variable = DERIVED.get(name) or VARIABLES.get(name)
    attrs = variable.attrs if variable else attrs or {}
    label, unit = re.split(r"[,:;] (?![^(]*\))", attrs.get("long_name", ""))[0], attrs.get("units")
    return hv.Dimension(
        name,
        label=SHORT.get(name) or label or name,
        unit=unit if unit and unit != "topics" else None,
    )


def overlay(
    curves: list[Curve],
    measure: str,
    against: str,
    looks: dict[str, Look],
    title: str = "",
    under: list = (),
    attrs: dict | None = None,
):
    """Return an overlay of one `hv.Curve` per label, over `hv.Area` bands of ± one standard error.

    ``under`` are elements drawn below them, such as `faint_curve` and `line_across`; ``attrs``: see `dimension`.
    """
    x, y = dimension(against), dimension(measure, attrs)
    bands, lines = [], []
    for number, curve in enumerate(curves):
        look, points = looks[curve.group], _thinned(len(curve.x))
        x_points, mean, error = curve.x[points], curve.y[points], curve.error[points]
        if np.isfinite(error).any():
            # HoloViews adds the current backend's `color`, which overrides `facecolor`: so both are set
            bands.append(
                element(
                    "Area",
                    (x_points, mean - error, mean + error),
                    x,
                    [y, f"{measure}_high"],
                    label=curve.label,
                    color=look.colour,
                    facecolor=look.colour,
                    edgecolor="none",
                    alpha=0.18,
                    linewidth=0,
                    show_legend=False,
                    show_grid=True,
                )
            )
        lines.append(
            element(
                "Curve",
                (x_points, mean),
                x,
                y,
                label=curve.label,
                color=look.colour,
                linestyle=look.line,
                linewidth=look.width,
                hooks=[partial(_mark, marker=look.marker, number=number)],
                show_grid=True,
            )
        )
    return panel(
        [*under, *bands, *lines],
        title=title,
        legend_position="best",
        show_legend=True,
        padding=0.02,
    )


def faint_curve(x: np.ndarray, y: np.ndarray, colour: str):
    """Draw recorded values as a faint `hv.Path` without legend entry, to be put below a smoothed curve."""
    points = _thinned(len(x))
    return element(
        "Path", [(x[points], y[points])], color=colour, alpha=0.35, linewidth=0.7, show_grid=True
    )


def line_across(height: float, left: float, right: float):
    """Draw a dotted horizontal line as `hv.Path`; it has no legend entry."""
    return element(
        "Path",
        [([left, right], [height, height])],
        color=GREY,
        linewidth=0.8,
        linestyle=":",
        show_grid=True,
    )


def point_at(x: float, y: float, colour: str):
    """Draw a diamond at a point as `hv.Scatter`; it has no legend entry."""
    return element(
        "Scatter", ([x], [y]), color=colour, marker="D", s=14, linewidth=0, show_legend=False
    )


def _thinned(n: int) -> np.ndarray:
    """Return the indices of at most MOST_POINTS evenly spaced points among n."""
    return (
        np.arange(n)
        if n <= MOST_POINTS
        else np.unique(np.linspace(0, n - 1, MOST_POINTS).round().astype(int))
    )


def _mark(plot, element, marker: str, number: int) -> None:
    """Put a few markers on a curve, at other positions than on the other curves (a HoloViews hook)."""
    line = plot.handles["artist"]
    line.set(
        marker=marker,
        markersize=3.5,
        markeredgewidth=0,
        markevery=(MARKERS_ACROSS * (0.3 + number % 5 / 6), MARKERS_ACROSS),
    )
