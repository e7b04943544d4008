"""How inference itself gets on: bound, log joint or objective, what is learnt of the priors, topics and their sizes."""

from __future__ import annotations

import numpy as np

from workbench.measures import (
    TOPIC_NUMBERS,
    MeasureError,
    bound_of,
    each_run,
    labels_of,
    learnt_by,
    mean_curves,
    moves,
    one_run,
    quantity,
)
from workbench.views.curves import dimension, overlay
from workbench.views.style import INK, RC, looks

CONCENTRATIONS = ("alpha_total", "beta_total", "top_concentration", "beta")
"""Hyperparameters that are one number."""
OBJECTIVES = ("bound", "log_joint", "objective")


def objectives_of(runs) -> list[str]:
    """Which of bound, log_joint and objective the runs record; they are different quantities, so never on one axis."""
    runs = each_run(runs)
    return [name for name in OBJECTIVES if any(name in run for run in runs)]


def objective_curves(runs, which: str = "bound", against: str = "iteration"):
    """The bound, the log joint or the objective of the runs that record it: `holoviews.Overlay`, a `Curve` for each label.

    Raises
    ------
    MeasureError
    """
    if which not in OBJECTIVES:
        raise MeasureError(f"no objective '{which}'; there are {', '.join(OBJECTIVES)}")
    runs = each_run(runs)
    return overlay(mean_curves(runs, which, against), which, against, looks(labels_of(runs)))


def bound_curves(runs, against: str = "iteration"):
    """The bounds for each training token, nats, of whatever engines have one: `holoviews.Overlay`, a `Curve` for each label.

    Of engines that integrate theta and phi out it is the bound of the collapsed model, and the label says so.

    Raises
    ------
    MeasureError
    """
    runs = each_run(runs)
    labels = labels_of(runs)
    collapsed = {label for run, label in zip(runs, labels, strict=True) if bound_of(run) == "collapsed_bound"}
    curves = [
        curve._replace(label=f"{curve.label}, collapsed bound" if curve.group in collapsed else curve.label)
        for curve in mean_curves(runs, "bound_per_token", against)
    ]
    return overlay(curves, "bound_per_token", against, looks(labels))


def topic_number_curves(runs, which: str = "n_active_topics", against: str = "iteration"):
    """How many topics there are over the course of the runs: `holoviews.Overlay`, a `Curve` for each label.

    Raises
    ------
    MeasureError
    """
    if which not in TOPIC_NUMBERS:
        raise MeasureError(f"no number of topics '{which}'; there are {', '.join(TOPIC_NUMBERS)}")
    runs = each_run(runs)
    return overlay(mean_curves(runs, which, against), which, against, looks(labels_of(runs)))


def concentrations_of(runs) -> list[str]:
    """Which hyperparameters that are one number any of the runs learns."""
    learnt = {name for run in each_run(runs) for name in learnt_by(run)}
    return [name for name in CONCENTRATIONS if name in learnt]


def concentration_curves(runs, which: str, against: str = "iteration"):
    """A hyperparameter that is one number, of the runs that learn it: `holoviews.Overlay`, a `Curve` for each label.

    Raises
    ------
    MeasureError
    """
    if which not in CONCENTRATIONS:
        raise MeasureError(f"no hyperparameter '{which}' that is one number; there are {', '.join(CONCENTRATIONS)}")
    runs = each_run(runs)
    style = looks(labels_of(runs))
    learning = {label for run, label in zip(runs, labels_of(runs), strict=True) if which in learnt_by(run)}
    return overlay([curve for curve in mean_curves(runs, which, against) if curve.group in learning], which, against, style)


def move_curve(run, colour: str = "#0072B2", title: str = ""):
    """The bound for each token of one run with the splits and merges that it tried.

    Returns
    -------
    holoviews.Overlay
        A `Curve`, and three `Scatter` of the iterations after which something was tried: splits that were kept (triangles
        up), merges that were kept (triangles down), and whatever was taken back (crosses).
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    run = one_run(run)
    x, y = dimension("iteration"), dimension("bound_per_token")
    bound = quantity(run, "bound_per_token")
    kinds = {"split, kept": ("^", 34, colour), "merge, kept": ("v", 34, colour), "taken back": ("X", 14, INK)}
    at = {kind: [] for kind in kinds}
    for move in moves(run):
        at[f"{move.kind}, kept" if move.accepted else "taken back"].append(move.iteration)
    marks = [
        hv.Scatter((where, bound.sel(iteration=where).values), x, y, label=kind).opts(
            color=kinds[kind][2], marker=kinds[kind][0], s=kinds[kind][1], linewidth=0,
            alpha=0.35 if kind == "taken back" else 1, show_grid=True, backend="matplotlib",
        )
        for kind, where in at.items()
    ]
    line = hv.Curve((run["iteration"].values, bound.values), x, y, label="bound").opts(
        color=colour, linewidth=1.0, show_grid=True, backend="matplotlib"
    )
    return hv.Overlay([line, *marks]).opts(
        aspect=1.5, fig_inches=3.4, show_legend=False, title=title, fig_rcparams=RC, padding=0.04, backend="matplotlib",
    )


def topic_size_curves(run, colour: str = "#0072B2", title: str = "", which: str = "n_k"):
    """(Expected) tokens of each topic over the iterations of one run: `holoviews.Overlay`, a `Curve` for each topic.

    The topic that ends up largest is drawn darkest; topics that never have a token are left out where others have.
    ``which`` is another number of each topic, ``alpha``, drawn the same.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    run = one_run(run)
    x, y = dimension("iteration"), dimension(which)
    sizes = run["n_k"].values
    rank = np.argsort(np.argsort(-sizes[-1], kind="stable"))
    strength = 1 - 0.75 * rank / max(len(rank) - 1, 1)
    seen = np.flatnonzero((sizes >= 1 - 1e-9).any(axis=0))
    curves = [
        hv.Curve((run["iteration"].values, run[which].values[:, k]), x, y, label=f"topic {run['topic'].values[k]}").opts(
            color=colour, alpha=float(strength[k]), linewidth=1.0, show_grid=True, backend="matplotlib"
        )
        for k in (seen if len(seen) else range(len(rank)))
    ]
    return hv.Overlay(curves).opts(
        aspect=1.5, fig_inches=3.4, show_legend=False, title=title, fig_rcparams=RC, padding=0.02,
        backend="matplotlib",
    )
