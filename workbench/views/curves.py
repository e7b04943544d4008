"""Mean curves → HoloViews elements: a line for each label, with a band of one standard error."""

import re
from functools import partial

import numpy as np

from workbench.measures import DERIVED, Curve
from workbench.models import VARIABLES
from workbench.views.elements import element, holoviews, panel
from workbench.views.style import GREY, Look

MOST_POINTS = 1000
"""Points of a drawn line; longer runs are thinned evenly, first and last kept. Tables are never thinned."""
MARKERS_ACROSS = 0.17
"""Distance of markers along a line, as a share of the diagonal of the picture."""
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
    "bound_per_token": "bound for each token",
    "n_active_topics": "topics with a token",
    "n_large_topics": "topics with 1 % each",
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
"""Names that fit an axis; the sentences of VARIABLES stand in the captions."""


def dimension(name: str, about: dict | None = None):
    """The HoloViews dimension of a variable: its short name (or its sentence up to the first comma) and its unit.

    ``about`` are the attributes of a variable that a run has of its own.
    """
    hv = holoviews()
    known = DERIVED.get(name) or VARIABLES.get(name)
    about = known.attrs if known else about or {}
    label, unit = re.split(r"[,:;] (?![^(]*\))", about.get("long_name", ""))[0], about.get("units")
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
    about: dict | None = None,
):
    """An overlay of `hv.Curve` (one a label) over `hv.Area` (mean ± one standard error, where there are several runs).

    ``under`` are elements below all of these, as of `faint_curve` and `line_across`; ``about``: see `dimension`.
    """
    x, y = dimension(against), dimension(measure, about)
    bands, lines = [], []
    for at, curve in enumerate(curves):
        look, kept = looks[curve.group], _thinned(len(curve.x))
        where, mean, error = curve.x[kept], curve.y[kept], curve.error[kept]
        if np.isfinite(error).any():
            # HoloViews mixes in the current backend's `color`, which would win over `facecolor`: so both are given
            bands.append(
                element(
                    "Area",
                    (where, mean - error, mean + error),
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
                (where, mean),
                x,
                y,
                label=curve.label,
                color=look.colour,
                linestyle=look.line,
                linewidth=look.width,
                hooks=[partial(_mark, marker=look.marker, at=at)],
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
    """What was recorded, under a smoothed curve, as `hv.Path`; without an entry in the legend."""
    kept = _thinned(len(x))
    return element(
        "Path", [(x[kept], y[kept])], color=colour, alpha=0.35, linewidth=0.7, show_grid=True
    )


def line_across(height: float, left: float, right: float):
    """A dotted line at a height, as `hv.Path`; without an entry in the legend."""
    return element(
        "Path",
        [([left, right], [height, height])],
        color=GREY,
        linewidth=0.8,
        linestyle=":",
        show_grid=True,
    )


def point_at(x: float, y: float, colour: str):
    """A diamond, as `hv.Scatter`; without an entry in the legend."""
    return element(
        "Scatter", ([x], [y]), color=colour, marker="D", s=14, linewidth=0, show_legend=False
    )


def _thinned(n: int) -> np.ndarray:
    return (
        np.arange(n)
        if n <= MOST_POINTS
        else np.unique(np.linspace(0, n - 1, MOST_POINTS).round().astype(int))
    )


def _mark(plot, element, marker: str, at: int) -> None:
    """A few markers along a line, shifted from line to line so that they do not hide each other."""
    line = plot.handles["artist"]
    line.set(
        marker=marker,
        markersize=3.5,
        markeredgewidth=0,
        markevery=(MARKERS_ACROSS * (0.3 + at % 5 / 6), MARKERS_ACROSS),
    )
